// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/perfetto/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/record/uring_ops.h"
#include "user/render/profile/protobuf.h"
#include "user/render/words/words.h"

/* ---- the numbers of its messages: perfetto/trace/ ---- */

enum {
	TRACE_PACKET = 1, /* of Trace, trace.proto */

	PACKET_CLOCK_SNAPSHOT = 6, /* of TracePacket, trace_packet.proto */
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK_DESCRIPTOR = 60,

	SNAPSHOT_CLOCK = 1, /* of ClockSnapshot, clock_snapshot.proto */
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_IS_REALTIME = 1,
	CLOCK_IS_BOOTTIME = 6,

	TRACK_UUID = 1, /* of TrackDescriptor, track_descriptor.proto */
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT = 3,
	UNIT_BYTES = 3,

	EVENT_TYPE = 9, /* of TrackEvent, track_event.proto */
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS = 48,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
};

/* ---- tracks ---- */

/* What a track is of; with a number of that it is a track's. */
enum of { OF_PROCESS = 1, OF_THREAD, OF_STALLS, OF_END, OF_TIMER, OF_FLIGHT, OF_RING, OF_MARKS };

#define RING_SLOTS 32 /* operations of a ring that are drawn beside each other */
#define TRACKS     1048576

struct track {
	enum of of;
	uint32_t number; /* pid, tid, connection, ring */
	uint32_t pid;    /* of a thread */
	uint32_t slot;
	uint64_t busy_ts; /* until then */
};

struct perfetto {
	struct protobuf events, event, packet;
	struct table *tracks; /* by a hash of what they are of */
	struct table *armed;  /* connections: when the delayed-ACK timer was armed */
	uint64_t left_out;
};

struct perfetto *perfetto__new(void)
{
	struct perfetto *perfetto = xcalloc(1, sizeof(*perfetto));

	perfetto->tracks = table__new(TRACKS);
	perfetto->armed = table__new(TRACKS);
	return perfetto;
}

void perfetto__free(struct perfetto *perfetto)
{
	if (!perfetto)
		return;
	protobuf__free(&perfetto->events);
	protobuf__free(&perfetto->event);
	protobuf__free(&perfetto->packet);
	table__free(perfetto->tracks, free);
	table__free(perfetto->armed, free);
	free(perfetto);
}

static uint64_t uuid_of(enum of of, uint32_t number, uint32_t slot)
{
	return (uint64_t)of << 56 | (uint64_t)slot << 40 | number;
}

/* As it is for the first time it is noted. */
static struct track *track_of(struct perfetto *perfetto, enum of of, uint32_t number, uint32_t pid,
			      uint32_t slot)
{
	uint32_t key = (number * 2654435761u ^ (uint32_t)of << 24) + slot;
	struct track *track;

	for (; (track = table__get(perfetto->tracks, key)); key++)
		if (track->of == of && track->number == number && track->slot == slot)
			return track;
	track = xcalloc(1, sizeof(*track));
	*track = (struct track){.of = of, .number = number, .pid = pid, .slot = slot};
	if (table__put(perfetto->tracks, key, track))
		return track;
	free(track);
	return NULL;
}

/* ---- events ---- */

static void fixed64(struct protobuf *buffer, unsigned field, uint64_t value)
{
	protobuf__varint(buffer, field << 3 | 1);
	protobuf__append(buffer, &value, sizeof(value)); /* little-endian, as all of ours */
}

struct track_event {
	unsigned type;
	uint64_t ts;
	enum of of;
	uint32_t number, pid, slot;
	const char *name;
	uint64_t flow, flow_ends; /* 0 none */
	uint64_t counter;
};

static void add(struct perfetto *perfetto, const struct track_event *event)
{
	struct protobuf *out = &perfetto->event;

	if (perfetto->events.size > PERFETTO_BYTES ||
	    !track_of(perfetto, event->of, event->number, event->pid, event->slot)) {
		perfetto->left_out++;
		return;
	}
	protobuf__clear(out);
	protobuf__number(out, EVENT_TYPE, event->type);
	protobuf__number(out, EVENT_TRACK, uuid_of(event->of, event->number, event->slot));
	if (event->name) {
		protobuf__bytes(out, EVENT_CATEGORY, "netstall", strlen("netstall"));
		protobuf__bytes(out, EVENT_NAME, event->name, strlen(event->name));
	}
	if (event->type == TYPE_COUNTER) {
		protobuf__varint(out, EVENT_COUNTER << 3);
		protobuf__varint(out, event->counter);
	}
	if (event->flow)
		fixed64(out, EVENT_FLOW, event->flow);
	if (event->flow_ends)
		fixed64(out, EVENT_FLOW_ENDS, event->flow_ends);
	protobuf__clear(&perfetto->packet);
	protobuf__number(&perfetto->packet, PACKET_TIMESTAMP, event->ts);
	protobuf__number(&perfetto->packet, PACKET_SEQUENCE, 1);
	protobuf__message(&perfetto->packet, PACKET_TRACK_EVENT, out);
	protobuf__message(&perfetto->events, TRACE_PACKET, &perfetto->packet);
}

/* From event->ts to end_ts. */
static void add_slice(struct perfetto *perfetto, const struct track_event *event, uint64_t end_ts)
{
	struct track_event begin = *event, end = *event;

	begin.type = TYPE_BEGIN;
	add(perfetto, &begin);
	end = (struct track_event){.type = TYPE_END,
				   .ts = end_ts > event->ts ? end_ts : event->ts,
				   .of = event->of,
				   .number = event->number,
				   .pid = event->pid,
				   .slot = event->slot};
	add(perfetto, &end);
}

/* One that nobody else has: of a wake, or of a segment by where it ends. */
static uint64_t flow_of(uint64_t a, uint32_t b, uint32_t c)
{
	uint64_t hash = (a ^ (uint64_t)b << 32 ^ c) * 0xff51afd7ed558ccdull;

	hash ^= hash >> 33;
	return hash ? hash : 1;
}

static void add_wait(struct perfetto *perfetto, const struct report *report,
		     const struct ns_wait *wait)
{
	uint64_t wake_ts = wait->wake_ts > wait->off_ts && wait->wake_ts <= wait->head.ts
				   ? wait->wake_ts
				   : wait->head.ts;
	uint64_t flow = wait->waker_tid ? flow_of(wake_ts, wait->head.tid, wait->waker_tid) : 0;
	char *name = xasprintf("waits: %s", syscall_text(report, wait));
	struct track_event event = {.ts = wait->off_ts,
				    .of = OF_THREAD,
				    .number = wait->head.tid,
				    .pid = wait->head.tgid,
				    .name = name};

	add_slice(perfetto, &event, wake_ts);
	event.ts = wake_ts;
	event.name = "waits for a CPU";
	event.flow_ends = flow;
	if (wait->head.ts > wake_ts)
		add_slice(perfetto, &event, wait->head.ts);
	free(name);
	if (!flow || wait->head.ts <= wake_ts)
		return;
	name = xasprintf("wakes %s", thread_text(report, wait->head.tgid, wait->head.tid));
	add(perfetto, &(struct track_event){.type = TYPE_INSTANT,
					    .ts = wake_ts,
					    .of = OF_THREAD,
					    .number = wait->waker_tid,
					    .pid = wait->waker_tgid,
					    .name = name,
					    .flow = flow});
	free(name);
}

static void add_operation(struct perfetto *perfetto, const struct ns_uring *op)
{
	struct track *track = NULL;
	char name[64];
	uint32_t slot;

	if (op->step != NS_URING_DONE || !op->submit_ts)
		return;
	for (slot = 0; slot < RING_SLOTS; slot++) {
		track = track_of(perfetto, OF_RING, op->ring, 0, slot);
		if (!track || track->busy_ts <= op->submit_ts)
			break;
	}
	if (!track || slot == RING_SLOTS) {
		perfetto->left_out++;
		return;
	}
	track->busy_ts = op->head.ts;
	uring_op__text(name, sizeof(name), op->opcode);
	add_slice(perfetto,
		  &(struct track_event){.ts = op->submit_ts,
					.of = OF_RING,
					.number = op->ring,
					.slot = slot,
					.name = name},
		  op->head.ts);
}

static void add_segment(struct perfetto *perfetto, const struct report *report,
			const struct ns_segment *segment)
{
	const struct report_conn *conn = report__conn(report, segment->head.conn);
	uint32_t peer = conn ? conn->peer : 0, number = segment->head.conn;
	uint64_t flow = peer ? flow_of((uint64_t)segment->end << 32 | segment->ack,
				       number < peer ? number : peer, segment->seq)
			     : 0;
	bool arrives = segment->head.type == NS_RX;
	char *name = xasprintf("%s %s", arrives ? "receives" : "sends",
			       segment->end != segment->seq
				       ? bytes_text((uint64_t)(segment->end - segment->seq))
				       : "an ACK");

	add(perfetto, &(struct track_event){.type = TYPE_INSTANT,
					    .ts = segment->head.ts,
					    .of = OF_END,
					    .number = number,
					    .name = name,
					    .flow = arrives ? 0 : flow,
					    .flow_ends = arrives ? flow : 0});
	free(name);
}

static void add_send(struct perfetto *perfetto, const struct ns_send *send)
{
	char *name = xasprintf("write %s", bytes_text(send->bytes));

	add(perfetto, &(struct track_event){.type = TYPE_INSTANT,
					    .ts = send->head.ts,
					    .of = OF_END,
					    .number = send->head.conn,
					    .name = name});
	add(perfetto, &(struct track_event){.type = TYPE_COUNTER,
					    .ts = send->head.ts,
					    .of = OF_FLIGHT,
					    .number = send->head.conn,
					    .counter = (uint32_t)(send->snd_nxt - send->snd_una)});
	free(name);
}

static void add_release(struct perfetto *perfetto, const struct ns_release *release)
{
	char *name = xasprintf("%s held: %s", bytes_text((uint64_t)(release->end - release->seq)),
			       hold_reason__name(release->reason));

	add_slice(perfetto,
		  &(struct track_event){.ts = release->head.ts - release->held_ns,
					.of = OF_END,
					.number = release->head.conn,
					.name = name},
		  release->head.ts);
	free(name);
}

static void add_timer(struct perfetto *perfetto, const struct ns_delack *delack)
{
	uint64_t *armed_ts = table__get(perfetto->armed, delack->head.conn);
	struct track_event event = {.of = OF_TIMER,
				    .number = delack->head.conn,
				    .name = "delayed ACK: the timer runs, and fires"};

	if (!armed_ts) {
		armed_ts = xcalloc(1, sizeof(*armed_ts));
		if (!table__put(perfetto->armed, delack->head.conn, armed_ts)) {
			free(armed_ts);
			return;
		}
	}
	if (delack->head.type == NS_DELACK_ARM) {
		*armed_ts = delack->head.ts;
		return;
	}
	event.ts = *armed_ts ? *armed_ts : delack->head.ts - 1000ull * delack->ato_us;
	add_slice(perfetto, &event, delack->head.ts);
	*armed_ts = 0;
}

void perfetto__record(struct perfetto *perfetto, const struct report *so_far,
		      const union record *record)
{
	switch (record->head.type) {
	case NS_WAIT:
		add_wait(perfetto, so_far, &record->wait);
		break;
	case NS_URING:
		add_operation(perfetto, &record->uring);
		break;
	case NS_TX:
	case NS_ACK:
	case NS_RX:
		add_segment(perfetto, so_far, &record->segment);
		break;
	case NS_SEND:
		add_send(perfetto, &record->send);
		break;
	case NS_RELEASE:
		add_release(perfetto, &record->release);
		break;
	case NS_DELACK_ARM:
	case NS_DELACK_FIRE:
		add_timer(perfetto, &record->delack);
		break;
	case NS_MARK:
		add(perfetto, &(struct track_event){.type = TYPE_INSTANT,
						    .ts = record->head.ts,
						    .of = OF_MARKS,
						    .name = safe_text(record->mark.text,
								      sizeof(record->mark.text))});
		break;
	case NS_RETRANS:
		add(perfetto, &(struct track_event){.type = TYPE_INSTANT,
						    .ts = record->head.ts,
						    .of = OF_END,
						    .number = record->head.conn,
						    .name = "RETRANSMISSION"});
		break;
	default:
		break;
	}
}

/* Two of one thread may overlap: the later one has a track of its own. */
void perfetto__stall(struct perfetto *perfetto, const struct stall *stall)
{
	uint32_t number = stall->tid ? stall->tid : stall->pid, slot = 0;
	struct track *track = track_of(perfetto, OF_STALLS, number, stall->pid, 0);
	char *name;

	while (track && track->busy_ts > stall->start_ts && ++slot < RING_SLOTS)
		track = track_of(perfetto, OF_STALLS, number, stall->pid, slot);
	if (!track || slot == RING_SLOTS) {
		perfetto->left_out++;
		return;
	}
	track->busy_ts = stall->end_ts;
	name = xasprintf("stall %u: %s", stall->number, cause__info(stall->cause)->id);
	add_slice(perfetto,
		  &(struct track_event){.ts = stall->start_ts,
					.of = OF_STALLS,
					.number = number,
					.pid = stall->pid,
					.slot = slot,
					.name = name},
		  stall->end_ts);
	free(name);
}

/* ---- the file ---- */

static void put_text(struct protobuf *buffer, unsigned field, const char *text)
{
	protobuf__bytes(buffer, field, text, strlen(text));
}

static void put_thread(struct protobuf *descriptor, const struct report *report,
		       const struct track *track)
{
	struct protobuf thread = {0};

	protobuf__number(&thread, THREAD_PID, track->pid ? track->pid : track->number);
	protobuf__number(&thread, THREAD_TID, track->number);
	put_text(&thread, THREAD_NAME, thread_text(report, track->pid, track->number));
	protobuf__message(descriptor, TRACK_THREAD, &thread);
	protobuf__free(&thread);
}

static void put_counter(struct protobuf *descriptor)
{
	struct protobuf counter = {0};

	protobuf__number(&counter, COUNTER_UNIT, UNIT_BYTES);
	protobuf__message(descriptor, TRACK_COUNTER, &counter);
	protobuf__free(&counter);
}

static char *name_of(const struct report *report, const struct track *track)
{
	const struct report_conn *conn = report__conn(report, track->number);
	const char *addresses = conn ? addresses_text(&conn->id) : "";

	switch (track->of) {
	case OF_STALLS:
		return xasprintf("stalls of %s", thread_text(report, track->pid, track->number));
	case OF_END:
		return xasprintf("%s's TCP, %s", end_text(report, track->number), addresses);
	case OF_TIMER:
		return xasprintf("%s's delayed-ACK timer, %s", end_text(report, track->number),
				 addresses);
	case OF_FLIGHT:
		return xasprintf("%s's bytes in flight, %s", end_text(report, track->number),
				 addresses);
	case OF_RING:
		return xasprintf("io_uring ring %u", track->number);
	case OF_MARKS:
		return xstrdup("marks");
	default:
		return NULL;
	}
}

static void write_packet(FILE *out, struct protobuf *trace)
{
	if (trace->size)
		fwrite(trace->bytes, 1, trace->size, out);
	protobuf__clear(trace);
}

static void write_track(FILE *out, const struct report *report, const struct track *track)
{
	struct protobuf descriptor = {0}, packet = {0}, trace = {0};
	char *name = name_of(report, track);

	protobuf__number(&descriptor, TRACK_UUID, uuid_of(track->of, track->number, track->slot));
	if (name)
		put_text(&descriptor, TRACK_NAME, name);
	if (track->of == OF_THREAD)
		put_thread(&descriptor, report, track);
	if (track->of == OF_FLIGHT)
		put_counter(&descriptor);
	protobuf__number(&packet, PACKET_SEQUENCE, 1);
	protobuf__message(&packet, PACKET_TRACK_DESCRIPTOR, &descriptor);
	protobuf__message(&trace, TRACE_PACKET, &packet);
	write_packet(out, &trace);
	protobuf__free(&descriptor);
	protobuf__free(&packet);
	protobuf__free(&trace);
	free(name);
}

static void put_clock(struct protobuf *snapshot, unsigned id, uint64_t ts)
{
	struct protobuf clock = {0};

	protobuf__number(&clock, CLOCK_ID, id);
	protobuf__number(&clock, CLOCK_TIMESTAMP, ts);
	protobuf__message(snapshot, SNAPSHOT_CLOCK, &clock);
	protobuf__free(&clock);
}

/* Times without a clock of their own are of this one, whatever it is called; and what time it was.
 */
static void write_clocks(FILE *out, const struct report *report)
{
	struct protobuf snapshot = {0}, packet = {0}, trace = {0};

	put_clock(&snapshot, CLOCK_IS_BOOTTIME, report->start_ts);
	put_clock(&snapshot, CLOCK_IS_REALTIME, report->start_ts + report->session.wall_offset_ns);
	protobuf__number(&packet, PACKET_TIMESTAMP, report->start_ts);
	protobuf__number(&packet, PACKET_SEQUENCE, 1);
	protobuf__message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	protobuf__message(&trace, TRACE_PACKET, &packet);
	write_packet(out, &trace);
	protobuf__free(&snapshot);
	protobuf__free(&packet);
	protobuf__free(&trace);
}

uint64_t perfetto__write(struct perfetto *perfetto, FILE *out, const struct report *report)
{
	const struct track *track;
	size_t cursor = 0;

	write_clocks(out, report);
	while ((track = table__next(perfetto->tracks, &cursor)))
		write_track(out, report, track);
	write_packet(out, &perfetto->events);
	return perfetto->left_out;
}
