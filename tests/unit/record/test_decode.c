// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The decoder trusts nothing: every type, every length, every byte. */
#include <errno.h>

#include "tests/unit/feed.h"

/* A record of the type that the decoder takes; fields that must be something are. */
static void make(uint32_t type, union record *record)
{
	memset(record, 0, sizeof(*record));
	record->head.type = type;
	record->head.len = (uint32_t)record__size(type);
	record->head.ts = 5000;
	record->head.conn = 1;
	record->head.tgid = 2;
	record->head.tid = 3;
	switch (type) {
	case NS_PROCESS:
		record->process.role = NS_ROLE_TARGET;
		break;
	case NS_CONN:
		record->conn.role = NS_ROLE_PEER;
		record->conn.family = 10;
		break;
	case NS_PEER:
		record->peer.peer = 2;
		break;
	case NS_HOLD:
		record->hold.end = 1;
		break;
	case NS_TX:
		record->segment.end = 1;
		break;
	case NS_LOST:
		record->lost.kind = NS_LOST_RINGBUF;
		break;
	case NS_STACK:
		record->stack.id = 1;
		break;
	case NS_PROFILE_TEXT:
		record->profile_text.id = 1;
		break;
	case NS_FAILED:
		record->failed.family = 10;
		break;
	case NS_SERVICE:
		record->service.family = 10;
		break;
	case NS_EXCHANGE:
		record->exchange.side = NS_EXCHANGE_ASKED;
		break;
	case NS_RING:
		record->ring.ring = 1;
		break;
	case NS_URING:
		record->uring.ring = 1;
		record->uring.step = NS_URING_DONE;
		break;
	case NS_REAP:
		record->reap.ring = 1;
		break;
	case NS_URING_ERROR:
		record->uring_error.error = 1;
		break;
	default:
		break;
	}
}

/* Decode a heap copy of exactly len bytes, so that the sanitizer sees a read beyond it. */
static int decode(const union record *record, size_t len, union record *out)
{
	void *copy = malloc(len ? len : 1);
	int ret;

	memcpy(copy, record, len);
	ret = record__decode(copy, len, out);
	free(copy);
	return ret;
}

static void test_every_type(void **state)
{
	union record record, out;

	(void)state;
	for (uint32_t type = 1; type < NS_TYPE_MAX; type++) {
		const struct record_type *known = record_type__by_number(type);

		assert_non_null(known);
		assert_int_equal(known->type, type);
		assert_ptr_equal(record_type__by_name(known->name), known);
		make(type, &record);
		assert_int_equal(decode(&record, record.head.len, &out), 0);
		assert_memory_equal(&record, &out, record.head.len);
	}
	assert_int_equal(record__size(0), 0);
	assert_int_equal(record__size(NS_TYPE_MAX), 0);
	assert_int_equal(record__size(UINT32_MAX), 0);
	assert_null(record_type__by_name("no such record"));
}

static void test_every_length(void **state)
{
	union record record, out;

	(void)state;
	for (uint32_t type = 1; type < NS_TYPE_MAX; type++) {
		make(type, &record);
		for (size_t len = 0; len < record__size(type); len++) {
			/* The bytes end early, and the head knows it, or not. */
			assert_int_equal(decode(&record, len, &out), -EBADMSG);
			record.head.len = (uint32_t)len;
			assert_int_equal(decode(&record, len, &out), -EBADMSG);
			assert_int_equal(decode(&record, record__size(type), &out), -EBADMSG);
			record.head.len = (uint32_t)record__size(type);
		}
	}
}

static void test_longer_records(void **state)
{
	char bytes[sizeof(struct ns_wait_raw)] = {0};
	union record record, out;

	(void)state;
	make(NS_WAIT, &record);
	record.head.len = sizeof(bytes);
	memcpy(bytes, &record, sizeof(record.wait));
	assert_int_equal(record__decode(bytes, sizeof(bytes), &out), 0);
	/* What it is longer than its type is left, also in its head. */
	assert_int_equal(out.head.len, sizeof(struct ns_wait));
}

static void test_unknown_types(void **state)
{
	union record record, out;

	(void)state;
	make(NS_EXIT, &record);
	record.head.type = NS_TYPE_MAX;
	assert_int_equal(decode(&record, 32, &out), -ENOMSG);
	record.head.type = 0;
	assert_int_equal(decode(&record, 32, &out), -ENOMSG);
	/* Skipped by its length, so that must be right. */
	record.head.type = 999;
	record.head.len = 33;
	assert_int_equal(decode(&record, 32, &out), -EBADMSG);
	record.head.len = 31;
	assert_int_equal(decode(&record, 32, &out), -EBADMSG);
}

static void assert_damaged(const union record *record)
{
	union record out;

	assert_non_null(record__damage(record));
	assert_int_equal(decode(record, record->head.len, &out), -EBADMSG);
}

static void test_ranges(void **state)
{
	union record record;

	(void)state;
	make(NS_SEND, &record);
	record.head.conn = 0;
	assert_damaged(&record);
	make(NS_CONN, &record);
	record.conn.role = 4;
	assert_damaged(&record);
	make(NS_CONN, &record);
	record.conn.family = 1;
	assert_damaged(&record);
	make(NS_CONN, &record);
	record.conn.rport = 65536;
	assert_damaged(&record);
	make(NS_PROCESS, &record);
	record.head.tgid = 0;
	assert_damaged(&record);
	make(NS_PROFILE_TEXT, &record);
	record.profile_text.id = 0;
	assert_damaged(&record);
	make(NS_PROFILE_WAKE, &record);
	record.profile_wake.kind = NS_PROFILE_WAKER_IRQ + 1;
	assert_damaged(&record);
	make(NS_PEER, &record);
	record.peer.peer = 0;
	assert_damaged(&record);
	make(NS_HOLD, &record);
	record.hold.reason = NS_HOLD_REASONS;
	assert_damaged(&record);
	make(NS_HOLD, &record);
	record.hold.seq = record.hold.end;
	assert_damaged(&record);
	make(NS_TX, &record);
	record.segment.seq = record.segment.end;
	assert_damaged(&record);
	make(NS_ACK, &record);
	record.segment.end = 7;
	assert_damaged(&record);
	make(NS_RELEASE, &record);
	record.release.held_ns = 5001;
	assert_damaged(&record);
	make(NS_WAIT, &record);
	record.wait.off_ts = 5001;
	assert_damaged(&record);
	make(NS_WAIT, &record);
	record.head.tid = 0;
	assert_damaged(&record);
	make(NS_LOST, &record);
	record.lost.kind = NS_LOST_KINDS;
	assert_damaged(&record);
}

static void test_ranges_of_uring(void **state)
{
	static const size_t small[] = {
		offsetof(struct ns_uring, opcode), offsetof(struct ns_uring, step),
		offsetof(struct ns_uring, file), offsetof(struct ns_uring, how),
		offsetof(struct ns_uring, turn)};
	static const size_t times[] = {offsetof(struct ns_uring, submit_ts),
				       offsetof(struct ns_uring, queued_ts),
				       offsetof(struct ns_uring, armed_ts)};
	const uint32_t much = 256;
	const uint64_t late = 5001;
	union record record;

	(void)state;
	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		make(NS_URING, &record);
		memcpy((char *)&record + small[i], &much, sizeof(much));
		assert_damaged(&record);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		make(NS_URING, &record);
		memcpy((char *)&record + times[i], &late, sizeof(late));
		assert_damaged(&record);
	}
	make(NS_URING, &record);
	record.uring.ring = 0;
	assert_damaged(&record);
	make(NS_RING, &record);
	record.ring.ring = 0;
	assert_damaged(&record);
	make(NS_REAP, &record);
	record.reap.ring = 0;
	assert_damaged(&record);
	make(NS_URING_TOTALS, &record);
	record.uring_totals.opcode = 256;
	assert_damaged(&record);
	make(NS_URING_ERROR, &record);
	record.uring_error.opcode = 256;
	assert_damaged(&record);
	make(NS_URING_ERROR, &record);
	record.uring_error.error = 0;
	assert_damaged(&record);
}

static void test_ranges_of_what_ended_a_wait(void **state)
{
	union record record, out;

	(void)state;
	make(NS_WAIT, &record);
	record.wait.op_code = 256;
	record.wait.op_done_ts = 5001;
	/* They mean nothing where no operation ended it. */
	assert_int_equal(decode(&record, record.head.len, &out), 0);
	record.wait.op_known = 1;
	assert_damaged(&record);
	record.wait.op_code = 27;
	assert_damaged(&record);
	record.wait.op_done_ts = 0;
	assert_int_equal(decode(&record, record.head.len, &out), 0);
	record.wait.op_submit_ts = 5001;
	assert_damaged(&record);
	record.wait.op_submit_ts = 4000;
	record.wait.op_file = NS_URING_OTHER + 1;
	assert_damaged(&record);
	record.wait.op_file = NS_URING_TCP;
	record.wait.op_how = NS_URING_HOWS;
	assert_damaged(&record);
	record.wait.op_how = NS_URING_POLLED;
	record.wait.op_known = NS_OP_PENDING;
	assert_int_equal(decode(&record, record.head.len, &out), 0);
	record.wait.op_known = NS_OP_PENDING + 1;
	assert_damaged(&record);
}

static void test_strings_end(void **state)
{
	union record record, out;

	(void)state;
	make(NS_SESSION, &record);
	memset(record.session.way, 'x', sizeof(record.session.way));
	memset(record.session.target, 'y', sizeof(record.session.target));
	assert_int_equal(decode(&record, record.head.len, &out), 0);
	assert_int_equal(strlen(out.session.way), sizeof(out.session.way) - 1);
	assert_int_equal(strlen(out.session.target), sizeof(out.session.target) - 1);
	make(NS_STACK, &record);
	memset(record.stack.text, 'z', sizeof(record.stack.text));
	assert_int_equal(decode(&record, record.head.len, &out), 0);
	assert_int_equal(strlen(out.stack.text), NS_STACK_TEXT_MAX - 1);
}

static void test_random_bytes(void **state)
{
	uint64_t random = 1;
	union record record, out;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t *words = (uint64_t *)&record;
		size_t len = random_below(&random, sizeof(record) + 1);
		int ret;

		for (size_t word = 0; word < sizeof(record) / sizeof(*words); word++)
			words[word] = random_next(&random);
		if (i % 2) {
			/* A head that is nearly right reaches the deeper checks. */
			record.head.type = (uint32_t)random_below(&random, NS_TYPE_MAX + 2);
			record.head.len = (uint32_t)random_below(&random, sizeof(record) + 8);
		}
		ret = decode(&record, len, &out);
		assert_true(ret == 0 || ret == -ENOMSG || ret == -EBADMSG);
		if (!ret)
			assert_null(record__damage(&out));
	}
}

static void test_field_tables(void **state)
{
	(void)state;
	for (uint32_t type = 1; type < NS_TYPE_MAX; type++) {
		const struct record_type *known = record_type__by_number(type);

		for (const struct field *field = known->fields; field->name; field++) {
			size_t size = field->kind == FIELD_STRING    ? field->size
				      : field->kind == FIELD_ADDRESS ? 16
				      : field->kind == FIELD_U64 || field->kind == FIELD_HEX64 ||
						      field->kind == FIELD_MS ||
						      field->kind == FIELD_TIME
					      ? 8
					      : 4;

			assert_true(field->offset >= sizeof(struct ns_head));
			assert_true(field->offset + size <= known->size);
			assert_true((field->kind == FIELD_NAME) == !!field->values);
			for (const struct field *other = known->fields; other != field; other++)
				assert_string_not_equal(field->name, other->name);
		}
	}
	assert_string_equal(hold_reason__name(NS_HOLD_NAGLE), "nagle");
	assert_string_equal(hold_reason__name(NS_HOLD_SNDBUF), "sndbuf");
	assert_string_equal(hold_reason__name(12), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_longer_records),
		cmocka_unit_test(test_unknown_types),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_strings_end),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_field_tables),
		cmocka_unit_test(test_ranges_of_uring),
		cmocka_unit_test(test_ranges_of_what_ended_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
