// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Text traces: what is printed reads back the same, what is wrong is named. */
#include <errno.h>

#include <arpa/inet.h>

#include "tests/unit/feed.h"

static union record parse(const char *line)
{
	union record record;
	char error[256] = "";

	if (text__parse(line, &record, error, sizeof(error)) != 1)
		fail_msg("%s: %s", line, error);
	return record;
}

static void assert_error(const char *line, const char *part)
{
	union record record;
	char error[256] = "";

	assert_int_equal(text__parse(line, &record, error, sizeof(error)), -EINVAL);
	if (!strstr(error, part))
		fail_msg("'%s' does not say '%s'", error, part);
}

static void test_send(void **state)
{
	union record record =
		parse("12.345 send conn=1 tgid=4242 tid=4243 bytes=40 fd=7 "
		      "write_seq=41 snd_nxt=41 snd_una=1 msg_flags=0x8000 # why\n");

	(void)state;
	assert_int_equal(record.head.type, NS_SEND);
	assert_int_equal(record.head.len, sizeof(struct ns_send));
	assert_int_equal(record.head.ts, TEXT_TRACE_ORIGIN_NS + 12345000);
	assert_int_equal(record.head.conn, 1);
	assert_int_equal(record.head.tgid, 4242);
	assert_int_equal(record.head.tid, 4243);
	assert_int_equal(record.send.bytes, 40);
	assert_int_equal(record.send.fd, 7);
	assert_int_equal(record.send.msg_flags, 0x8000);
}

static void test_absent(void **state)
{
	union record record = parse("0 send conn=1");

	(void)state;
	assert_int_equal(record.send.fd, NS_FD_UNKNOWN);
	assert_int_equal(record.send.bytes, 0);
	assert_int_equal(parse("1 send conn=1 fd=-").send.fd, NS_FD_UNKNOWN);
	assert_int_equal(parse("1 wait tid=1").wait.syscall, NS_SYSCALL_NONE);
	assert_int_equal(parse("1 wait tid=1 syscall=0").wait.syscall, 0);
}

static void test_values(void **state)
{
	union record record;

	(void)state;
	record =
		parse("-0.000001 conn conn=3 role=target local=[::1]:7000 remote=[fe80::2]:80 "
		      "opener=self comm=\"a b\\x1b\\\"\\\\#\"");
	assert_int_equal(record.head.ts, TEXT_TRACE_ORIGIN_NS - 1);
	assert_int_equal(record.conn.family, 10);
	assert_int_equal(record.conn.lport, 7000);
	assert_int_equal(record.conn.rport, 80);
	assert_int_equal(record.conn.laddr[3], htonl(1));
	assert_int_equal(record.conn.opener, NS_OPENER_SELF);
	assert_string_equal(record.conn.comm, "a b\x1b\"\\#");
	record = parse("1 conn conn=3 role=1 local=10.0.0.1:1 remote=10.0.0.2:2");
	assert_int_equal(record.conn.family, 2);
	assert_int_equal(record.conn.role, NS_ROLE_TARGET);
	assert_int_equal(record.conn.raddr[0], htonl(0x0a000002));
	record = parse("1 release conn=1 held=0.5 reason=msg-more");
	assert_int_equal(record.release.held_ns, 500000);
	assert_int_equal(record.release.reason, NS_HOLD_MSG_MORE);
	record = parse("5 wait tid=1 off=-1.5 wake=4.25");
	assert_int_equal(record.wait.off_ts, TEXT_TRACE_ORIGIN_NS - 1500000);
	assert_int_equal(record.wait.wake_ts, TEXT_TRACE_ORIGIN_NS + 4250000);
}

static void test_nothing(void **state)
{
	union record record;
	char error[8];

	(void)state;
	assert_int_equal(text__parse("", &record, error, sizeof(error)), 0);
	assert_int_equal(text__parse("  \t\r\n", &record, error, sizeof(error)), 0);
	assert_int_equal(text__parse("# 1 send", &record, error, sizeof(error)), 0);
	assert_int_equal(text__parse("   # 1 send", &record, error, sizeof(error)), 0);
}

static void test_errors(void **state)
{
	(void)state;
	assert_error("soon send conn=1", "'soon' is no time");
	assert_error("1.2345678 send conn=1", "no time");
	assert_error("-1000000000 send conn=1", "no time");
	assert_error("1", "is no record");
	assert_error("1 shout conn=1", "'shout' is no record");
	assert_error("1 send conn", "'conn' is no field=value");
	assert_error("1 send conn=1 size=4", "no field 'size'");
	assert_error("1 send conn=one", "'one' is no good value for conn");
	assert_error("1 send conn=4294967296", "no good value for conn");
	assert_error("1 send conn=-1", "no good value for conn");
	assert_error("1 send", "names no connection");
	assert_error("1 release conn=1 reason=magic", "'magic' is no good value for reason");
	assert_error("1 release conn=1 held=-1", "no good value for held");
	assert_error("1 conn conn=1 role=target local=1.2.3:5", "no good value for local");
	assert_error("1 conn conn=1 role=target local=1.2.3.4:65536", "no good value for local");
	assert_error("1 conn conn=1 role=target local=[::1]:1 remote=1.2.3.4:1",
		     "no good value for remote");
	assert_error("1 conn conn=1 comm=abcdefghijklmnop", "no good value for comm");
	assert_error("1 session target=\"pid", "lacks its closing quote");
	assert_error("1 session target=a\\q", "backslash");
	assert_error("1 session target=a\\x0", "backslash");
	assert_error("1 session target=a\\x00", "backslash");
	assert_error("1 wait tid=1 off=2", "it ended before it began");
	/* What it quotes is made safe. */
	assert_error("1 sh\x1b[2J conn=1", "'sh\\x1b[2J' is no record");
}

static void test_long_words(void **state)
{
	char *line = calloc(1, 20000), error[64];
	union record record;

	(void)state;
	strcpy(line, "1 session target=");
	memset(line + strlen(line), 'a', 10000);
	assert_int_equal(text__parse(line, &record, error, sizeof(error)), -EINVAL);
	assert_true(strlen(error) < sizeof(error));
	free(line);
}

/* Print, read back, compare. */
static void assert_same_again(const union record *record)
{
	char *line = PRINTED(out, text__print(out, record, TEXT_TRACE_ORIGIN_NS));
	size_t size = strlen(line);
	union record again;

	assert_int_equal(line[size - 1], '\n');
	assert_null(memchr(line, '\n', size - 1));
	again = parse(line);
	if (memcmp(&again, record, record->head.len))
		fail_msg("not the same again: %s", line);
	free(line);
}

static void fill_field(union record *record, const struct field *field, uint64_t *random)
{
	uint32_t number = (uint32_t)random_next(random);
	uint64_t big = random_below(random, 1000000000000000ull);
	char *at = (char *)record + field->offset;

	switch (field->kind) {
	case FIELD_STRING:
		for (size_t i = 0; i + 1 < field->size; i++)
			at[i] = (char)(1 + random_below(random, 255));
		at[random_below(random, field->size)] = '\0';
		/* Nothing behind the NUL, as parsing leaves it. */
		memset(at + strlen(at), 0, field->size - strlen(at));
		break;
	case FIELD_ADDRESS:
		*field__family(record) = 10;
		for (size_t i = 0; i < 16; i++)
			at[i] = (char)random_next(random);
		number &= 0xffff;
		memcpy((char *)record + field->size, &number, sizeof(number));
		break;
	case FIELD_OPCODE:
		number &= 0xff;
		memcpy(at, &number, sizeof(number));
		break;
	case FIELD_U64:
	case FIELD_HEX64:
		big = random_next(random);
		/* fallthrough */
	case FIELD_MS:
	case FIELD_TIME:
		memcpy(at, &big, sizeof(big));
		break;
	case FIELD_NAME:
		number %= 2;
		/* fallthrough */
	default:
		memcpy(at, &number, sizeof(number));
		break;
	}
}

/* What random fields say must fit together, or they are damaged and nothing is tried. */
static void fit_operation(struct ns_uring *uring, uint64_t *random)
{
	uring->submit_ts = uring->queued_ts = uring->armed_ts = uring->head.ts / 2 + 1;
	uring->step = 1 + (uint32_t)random_below(random, NS_URING_DONE);
	if (uring->step != NS_URING_DONE)
		memset(&uring->result, 0, sizeof(*uring) - offsetof(struct ns_uring, result));
}

static void test_round_trip(void **state)
{
	bool tried[NS_TYPE_MAX] = {false};
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t type = 1 + (uint32_t)i % (NS_TYPE_MAX - 1);
		const struct record_type *known = record_type__by_number(type);
		union record record;

		memset(&record, 0, sizeof(record));
		record.head.type = type;
		record.head.len = (uint32_t)known->size;
		record.head.ts = 1 + random_below(&random, 1000000000000000ull);
		for (const struct field *field = record_head_fields; field->name; field++)
			fill_field(&record, field, &random);
		for (const struct field *field = known->fields; field->name; field++)
			fill_field(&record, field, &random);
		if (type == NS_WAIT)
			record.wait.off_ts = record.head.ts / 2 + 1;
		if (type == NS_WAIT)
			record.wait.op_known = 1 + record.wait.op_known % NS_OP_PENDING;
		if (type == NS_URING)
			fit_operation(&record.uring, &random);
		if (type == NS_WAIT && record.wait.op_known)
			record.wait.op_submit_ts = record.wait.op_done_ts = record.head.ts / 2 + 1;
		if (type == NS_LISTENER)
			record.listener.listen_port &= 0xffff;
		if (type == NS_TX)
			record.segment.end = record.segment.seq + 1;
		if (type == NS_ACK)
			record.segment.end = record.segment.seq;
		if (record__damage(&record))
			continue;
		assert_same_again(&record);
		tried[type] = true;
	}
	for (uint32_t type = 1; type < NS_TYPE_MAX; type++)
		if (!tried[type])
			fail_msg("no %s came through", record_type__by_number(type)->name);
}

static const char *printed(const union record *record, char *line, size_t size)
{
	FILE *out = fmemopen(line, size, "w");

	text__print(out, record, TEXT_TRACE_ORIGIN_NS);
	fclose(out);
	return line;
}

/* Signed results, errors and opcodes by name, user_data as the pointer that it mostly is. */
static void test_uring(void **state)
{
	union record record = parse(
		"44.5 uring ring=1 step=done opcode=RECV flags=0x30 fd=7 len=4096 "
		"user_data=0xffffffffffffffff submit=1 armed=1.25 result=-104 how=poll shot=1");
	char line[4096];

	(void)state;
	assert_int_equal(record.uring.opcode, 27);
	assert_int_equal(record.uring.user_data, UINT64_MAX);
	assert_int_equal((int32_t)record.uring.result, -104);
	assert_non_null(strstr(printed(&record, line, sizeof(line)), " result=-104 "));
	assert_non_null(strstr(line, " user_data=0xffffffffffffffff "));
	assert_int_equal(parse("1 uring ring=1 step=done result=4294967192").uring.result,
			 record.uring.result);
	assert_int_equal(parse("1 uring ring=1 step=done result=-2147483648").uring.result,
			 0x80000000);
	record = parse("1 uring ring=1 step=done opcode=OP_77");
	assert_int_equal(record.uring.opcode, 77);
	assert_non_null(strstr(printed(&record, line, sizeof(line)), " opcode=OP_77"));
	assert_int_equal(parse("1 uring ring=1 step=done opcode=77").uring.opcode, 77);
	assert_int_equal(parse("1 uring ring=1 step=done opcode=unknown").uring.opcode,
			 NS_OPCODE_UNKNOWN);
	record = parse("1 uring-error tgid=1 opcode=TIMEOUT error=ETIME count=3");
	assert_int_equal(record.uring_error.error, ETIME);
	assert_non_null(strstr(printed(&record, line, sizeof(line)), " error=ETIME "));
	assert_int_equal(parse("1 uring-error error=512").uring_error.error, 512);
	assert_error("1 uring ring=1 step=done result=-2147483649", "no good value for result");
	assert_error("1 uring ring=1 step=done result=--1", "no good value for result");
	assert_error("1 uring ring=1 step=done opcode=OP_256", "opcode is beyond 255");
	assert_error("1 uring ring=1 step=done opcode=OP_", "no good value for opcode");
	assert_error("1 uring ring=1 step=done opcode=DANCE", "no good value for opcode");
	assert_error("1 uring-error error=ENOTHING", "no good value for error");
	assert_error("1 uring ring=1", "step is beyond the table");
}

/* What says nothing is not written: 192 empty buckets, the operation of a wait that none ended. */
static void test_nothing_said(void **state)
{
	union record record = parse("9 uring-totals tgid=5 opcode=READ bucket_191=2");
	char line[4096];

	(void)state;
	assert_string_equal(printed(&record, line, sizeof(line)),
			    "9.000 uring-totals tgid=5 opcode=READ bucket_191=2\n");
	record = parse("9 wait tid=5 off=1 ring=2");
	record.wait.op_fd = 0; /* as the kernel side leaves it */
	assert_string_equal(printed(&record, line, sizeof(line)),
			    "9.000 wait tid=5 off=1.000 ring=2\n");
}

static void test_random_lines(void **state)
{
	static const char letters[] = "0123456789.-=\\x\" #send hold conn tgid \t[]:";
	uint64_t random = 3;
	union record record;
	char error[64];

	(void)state;
	for (int i = 0; i < 50000; i++) {
		char line[64] = "1 conn ";
		size_t at = i % 2 ? strlen(line) : 0, end = at + random_below(&random, 50);

		for (; at < end; at++)
			line[at] = i % 3 ? letters[random_below(&random, sizeof(letters) - 1)]
					 : (char)(1 + random_below(&random, 255));
		line[at] = '\0';
		text__parse(line, &record, error, sizeof(error));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send),       cmocka_unit_test(test_absent),
		cmocka_unit_test(test_values),     cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_errors),     cmocka_unit_test(test_long_words),
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_random_lines),
		cmocka_unit_test(test_uring),      cmocka_unit_test(test_nothing_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
