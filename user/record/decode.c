// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "bpf/times.h"
#include "user/record/record.h"

#define AF_INET_WIRE  2
#define AF_INET6_WIRE 10
#define OPCODE_MOST   255          /* struct io_uring_sqe has a byte for it */
#define TIME_MOST     (1ull << 62) /* 146 years up; twice of it is a number yet */

size_t record__size(uint32_t type)
{
	const struct record_type *known = record_type__by_number(type);

	return known ? known->size : 0;
}

bool record__is_event(uint32_t type)
{
	const struct record_type *known = record_type__by_number(type);

	return known && known->traits & RECORD_EVENT;
}

bool record__is_told_ahead(uint32_t type)
{
	return type == NS_PROCESS || type == NS_LOST || type == NS_END;
}

/* Strings come from other programs: cut them where their field ends. */
static void end_strings(union record *record, const struct record_type *type)
{
	for (const struct field *field = type->fields; field->name; field++) {
		if (field->kind == FIELD_STRING)
			((char *)record)[field->offset + field->size - 1] = '\0';
	}
}

static bool is_role(uint32_t role)
{
	return role && !(role & ~(uint32_t)(NS_ROLE_TARGET | NS_ROLE_PEER | NS_ROLE_CHAIN));
}

static const char *address_damage(uint32_t family, uint32_t lport, uint32_t rport)
{
	if (family != AF_INET_WIRE && family != AF_INET6_WIRE)
		return "its address family is neither IPv4 nor IPv6";
	if (lport > 65535 || rport > 65535)
		return "a port is beyond 65535";
	return NULL;
}

static const char *conn_damage(const struct ns_conn *conn)
{
	if (!is_role(conn->role))
		return "its role is none";
	return address_damage(conn->family, conn->lport, conn->rport);
}

static const char *failed_damage(const struct ns_failed *failed)
{
	if (failed->began_ts > failed->head.ts)
		return "it ended before it began";
	return address_damage(failed->family, 0, failed->rport);
}

static const char *segment_damage(const struct ns_segment *segment)
{
	bool data = segment->seq != segment->end;

	if (segment->head.type == NS_TX && !data)
		return "a tx without data is an ack";
	if (segment->head.type == NS_ACK && data)
		return "an ack with data is a tx";
	return NULL;
}

static const char *hold_damage(const struct ns_hold *hold)
{
	if (hold->reason >= NS_HOLD_REASONS)
		return "its reason is beyond the table";
	/* A full send buffer may be all in flight. */
	if (hold->seq == hold->end && hold->reason != NS_HOLD_SNDBUF)
		return "nothing is held: seq and end are the same";
	return NULL;
}

static const char *release_damage(const struct ns_release *release)
{
	if (release->reason >= NS_HOLD_REASONS)
		return "its reason is beyond the table";
	if (release->held_ns >= release->head.ts)
		return "it was held for longer than the clock runs";
	return NULL;
}

/* Of the one that ended the wait. */
static const char *operation_damage(const struct ns_wait *wait)
{
	if (wait->op_known > NS_OP_PENDING)
		return "what it says of its operation is beyond the table (op_known=)";
	if (wait->op_code > OPCODE_MOST)
		return "its operation is beyond 255 (op_code=)";
	if (wait->op_file > NS_URING_OTHER)
		return "its operation's file is beyond the table (op_file=)";
	if (wait->op_how >= NS_URING_HOWS)
		return "its operation's how is beyond the table (op_how=)";
	if (wait->op_submit_ts > wait->head.ts || wait->op_done_ts > wait->head.ts)
		return "a time of its operation is after its own";
	return NULL;
}

static const char *wait_damage(const struct ns_wait *wait)
{
	if (!wait->head.tid)
		return "it names no thread";
	if (wait->off_ts > wait->head.ts)
		return "it ended before it began";
	return wait->op_known ? operation_damage(wait) : NULL;
}

static const char *exchange_damage(const struct ns_exchange *exchange)
{
	if (exchange->ended > NS_EXCHANGE_OPEN)
		return "its end is beyond the table";
	if (exchange->side != NS_EXCHANGE_ASKED && exchange->side != NS_EXCHANGE_SERVED)
		return "its side is none";
	if (exchange->begin_ts > exchange->head.ts)
		return "it ended before it began";
	if (exchange->connect_ts && (exchange->connect_ts > exchange->connected_ts ||
				     exchange->connected_ts > exchange->begin_ts))
		return "it began before its connection was made";
	if (exchange->since_ts > exchange->begin_ts)
		return "it was open after it began (since=)";
	return NULL;
}

static const char *uring_damage(const struct ns_uring *uring)
{
	if (!uring->ring)
		return "it names no ring (ring=)";
	if (!uring->step || uring->step > NS_URING_DONE)
		return "its step is beyond the table";
	if (uring->opcode > OPCODE_MOST)
		return "its opcode is beyond 255";
	if (uring->file > NS_URING_OTHER)
		return "its file is beyond the table";
	if (uring->how >= NS_URING_HOWS)
		return "its how is beyond the table";
	if (uring->turn > NS_TURN_READ)
		return "its turn is beyond the table";
	if (uring->submit_ts > uring->head.ts || uring->queued_ts > uring->head.ts ||
	    uring->armed_ts > uring->head.ts)
		return "a time of it is after its own";
	return NULL;
}

static const char *call_damage(const struct ns_call *call)
{
	switch (call->what) {
	case NS_CALL_WRITE:
	case NS_CALL_READ:
	case NS_CALL_ANSWER:
		return call->head.conn ? NULL : "it names no connection (conn=)";
	case NS_CALL_WAIT:
	case NS_CALL_BUSY:
		return call->head.tid ? NULL : "it names no thread (tid=)";
	case NS_CALL_RELEASE:
		return call->slept ? NULL : "it names no thread that had waited (slept=)";
	}
	return "its kind is beyond the table";
}

const char *record__damage(const union record *record)
{
	const struct record_type *type = record_type__by_number(record->head.type);

	if (record->head.ts > TIME_MOST)
		return "its time is beyond 146 years";
	if (type && type->traits & RECORD_ON_CONN && !record->head.conn)
		return "it names no connection (conn=)";
	switch (record->head.type) {
	case NS_PROCESS:
		if (!is_role(record->process.role))
			return "its role is none";
		return record->head.tgid ? NULL : "it names no process (tgid=)";
	case NS_CONN:
		return conn_damage(&record->conn);
	case NS_PEER:
		if (record->peer.peer == record->head.conn)
			return "it is its own other end (peer=)";
		return record->peer.peer ? NULL : "it names no other end (peer=)";
	case NS_HOLD:
		return hold_damage(&record->hold);
	case NS_TX:
	case NS_ACK:
		return segment_damage(&record->segment);
	case NS_RELEASE:
		return release_damage(&record->release);
	case NS_WAIT:
		return wait_damage(&record->wait);
	case NS_RAN:
		if (record->ran.from_ts > record->head.ts)
			return "it ended before it began";
		return record->head.tid ? NULL : "it names no thread (tid=)";
	case NS_THROTTLE:
		if (record->throttle.since_ts > record->head.ts)
			return "it ended before it began";
		return record->head.tid ? NULL : "it names no thread (tid=)";
	case NS_FAILED:
		return failed_damage(&record->failed);
	case NS_LISTENER:
		return record->listener.listen_port > 65535 ? "a port is beyond 65535" : NULL;
	case NS_SERVICE:
		return address_damage(record->service.family, 0, record->service.port);
	case NS_RETRANS:
		return record->retrans.kind < NS_RETRANS_KINDS ? NULL
							       : "its kind is beyond the table";
	case NS_EXCHANGE:
		return exchange_damage(&record->exchange);
	case NS_THREAD_TOTALS:
		return record->head.tid ? NULL : "it names no thread (tid=)";
	case NS_CALL:
		return call_damage(&record->call);
	case NS_LOST:
		return record->lost.kind && record->lost.kind < NS_LOST_KINDS
			       ? NULL
			       : "its kind is beyond the table";
	case NS_STACK:
		return record->stack.id ? NULL : "it has no number (id=)";
	case NS_PROFILE_TEXT:
		return record->profile_text.id ? NULL : "it has no number (id=)";
	case NS_PROFILE_WAKE:
		return record->profile_wake.kind <= NS_PROFILE_WAKER_IRQ
			       ? NULL
			       : "its kind is beyond the table";
	case NS_RING:
		return record->ring.ring ? NULL : "it names no ring (ring=)";
	case NS_REAP:
		return record->reap.ring ? NULL : "it names no ring (ring=)";
	case NS_URING:
		return uring_damage(&record->uring);
	case NS_URING_TOTALS:
		return record->uring_totals.opcode > OPCODE_MOST ? "its opcode is beyond 255"
								 : NULL;
	case NS_URING_ERROR:
		if (record->uring_error.opcode > OPCODE_MOST)
			return "its opcode is beyond 255";
		return record->uring_error.error ? NULL : "it names no error (error=)";
	default:
		return NULL;
	}
}

int record__decode(const void *data, size_t len, union record *out)
{
	const struct record_type *type;
	struct ns_head head;

	if (len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, data, sizeof(head));
	if (head.len < sizeof(head) || head.len > len)
		return -EBADMSG;
	type = record_type__by_number(head.type);
	if (!type)
		return -ENOMSG;
	if (head.len < type->size)
		return -EBADMSG;
	/* Only the bytes of its type: the rest of the union, up to 1000, is not touched. */
	memcpy(out, data, type->size);
	out->head.len = (uint32_t)type->size;
	end_strings(out, type);
	return record__damage(out) ? -EBADMSG : 0;
}

/* Short sleeps end by the scheduler's own clock: sums may be so much beyond the window. */
#define SKEW_NS 10000000ull

/* What is below zero is, as an unsigned number, beyond every window. */
static bool correct_length(__u64 *length, uint64_t most)
{
	bool below_zero = (int64_t)*length<0, beyond = *length> most;
	bool is_wrong = below_zero || (beyond && *length - most > SKEW_NS);

	if (below_zero)
		*length = 0;
	else if (beyond)
		*length = most;
	return is_wrong;
}

/* A request is written between its begin and its answer. */
static bool correct_request_end(struct ns_exchange *exchange)
{
	if (exchange->side != NS_EXCHANGE_ASKED ||
	    (exchange->ready_ts >= exchange->begin_ts && exchange->ready_ts <= exchange->head.ts))
		return false;
	exchange->ready_ts =
		exchange->ready_ts < exchange->begin_ts ? exchange->begin_ts : exchange->head.ts;
	return true;
}

/* What no clock has said is not known. */
static bool correct_times(union record *record)
{
	const struct field *field = record_type__by_number(record->head.type)->fields;
	bool is_wrong = false;

	for (; field->name; field++) {
		if (field->kind != FIELD_TIME || field__number(record, field) <= TIME_MOST)
			continue;
		field__set_number(record, field, 0);
		is_wrong = true;
	}
	return is_wrong;
}

bool record__correct(union record *record, uint64_t start_ts)
{
	uint64_t ts = record->head.ts;
	uint64_t most = start_ts ? ns_passed(start_ts, ts) : UINT64_MAX;
	struct ns_thread_totals *thread = &record->thread_totals;
	struct ns_wait *wait = &record->wait;
	bool is_wrong = false;

	switch (record->head.type) {
	case NS_WAIT:
		is_wrong = wait->wake_ts && (wait->wake_ts < wait->off_ts || wait->wake_ts > ts);
		if (is_wrong)
			wait->wake_ts = wait->wake_ts > ts ? ts : wait->off_ts;
		break;
	case NS_THREAD_TOTALS:
		is_wrong |= correct_length(&thread->on_cpu_ns, most);
		is_wrong |= correct_length(&thread->blocked_ns, most);
		is_wrong |= correct_length(&thread->runqueue_ns, most);
		break;
	case NS_CALL:
		is_wrong = record->call.off_ts > ts;
		if (is_wrong)
			record->call.off_ts = ts;
		break;
	case NS_LOST:
		is_wrong = record->lost.from_ts > ts;
		if (is_wrong)
			record->lost.from_ts = 0;
		break;
	case NS_RETRANS:
		is_wrong = record->retrans.sent_ts > ts;
		if (is_wrong)
			record->retrans.sent_ts = ts;
		break;
	case NS_EXCHANGE:
		/* Of an answer, behind its last write. */
		if (record->exchange.side == NS_EXCHANGE_SERVED)
			most = ns_passed(ts, TIME_MOST);
		is_wrong = correct_length(&record->exchange.held_ns, most);
		is_wrong |= correct_request_end(&record->exchange);
		/* It may have lain unread already: as of a wait, what was before does not count. */
		if (record->exchange.arrived_ts && record->exchange.arrived_ts < start_ts)
			record->exchange.arrived_ts = start_ts;
		break;
	case NS_URING_TOTALS:
		/* An operation may have begun while the programs attached one by one. */
		is_wrong = (int64_t)record->uring_totals.max_ns < 0;
		correct_length(&record->uring_totals.max_ns, most);
		break;
	default:
		break;
	}
	is_wrong |= correct_times(record);
	return is_wrong;
}
