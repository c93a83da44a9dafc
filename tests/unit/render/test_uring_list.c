// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The list of io_uring's operations. */
#include "tests/unit/growth.h"
#include "tests/unit/render/render_fixture.h"
#include "user/render/terminal/uring_flying.h"
#include "user/render/terminal/uring_list.h"

struct listed {
	struct fixture *f;
	struct uring_list *list;
	FILE *out;
};

static struct listed begin(void **state)
{
	struct fixture *f = *state;
	struct listed listed = {.f = f, .out = open_output(f)};

	listed.list = uring_list__new(listed.out, &plain);
	return listed;
}

static void feed(struct listed *listed, const char *line)
{
	union record record;

	parse(line, &record);
	uring_list__record(listed->list, &listed->f->report, &record);
}

/* What has been printed up to now. */
static const char *so_far(struct listed *listed)
{
	fflush(listed->out);
	return listed->f->out;
}

static const char *end(struct listed *listed)
{
	uring_list__finish(listed->list, &listed->f->report);
	uring_list__free(listed->list);
	fclose(listed->out);
	return listed->f->out;
}

#define OP   "uring ring=1 tgid=4242 tid=4242 "
#define RECV "opcode=RECV fd=7 len=4096 user_data=0x2 submit=1.000 "

static void each_completion_is_a_line(void **state)
{
	struct listed listed = begin(state);
	const char *text;

	feed(&listed, "1.000 " OP "step=submitted opcode=SEND fd=7 len=136 user_data=0x1 submit=1");
	feed(&listed, "1.004 " OP
		      "step=done opcode=SEND fd=7 len=136 user_data=0x1 submit=1"
		      " result=136 how=inline shot=1");
	feed(&listed, "1.000 " OP "step=submitted " RECV);
	feed(&listed, "1.002 " OP "step=armed armed=1.002 " RECV);
	feed(&listed, "42.000 " OP "step=done armed=1.002 how=poll shot=1 result=136 " RECV);
	feed(&listed, "43 send conn=1 tgid=4242 tid=4242 bytes=40 fd=7");
	feed(&listed, "43 wait tgid=4242 tid=4242 off=2 wake=42 state=1 syscall=0 arg0=7");
	text = end(&listed);
	assert_string_equal(
		text,
		"           TIME  THREAD            OPERATION          ASKED        RESULT     TOOK"
		"     WOKE  RING  USER DATA  HOW\n"
		"       1.004 ms  client/4242       SEND fd 7          136 B           136     4 us"
		"              1  0x1        inline\n"
		"      42.000 ms  client/4242       RECV fd 7        4,096 B           136  41.0 ms"
		"              1  0x2        poll armed\n");
}

static void a_wake_belongs_to_its_completion(void **state)
{
	struct listed listed = begin(state);
	const char *text;

	/* Completed, then woken. */
	feed(&listed, "42 " OP "step=done how=poll shot=1 result=1 " RECV);
	assert_string_equal(so_far(&listed) ? so_far(&listed) : "", "");
	feed(&listed,
	     "42.018 wait tgid=4242 tid=4242 off=2 wake=42.010 state=1 syscall=426 ring=1"
	     " op_known=1 op_code=RECV op_user_data=0x2 op_submit=1 op_done=42");
	assert_in(so_far(&listed), "18 us");
	/* Woken because it was ready, then completed by the thread itself. */
	feed(&listed,
	     "50.070 wait tgid=4242 tid=4242 off=45 wake=50.000 state=1 syscall=426 ring=1"
	     " op_known=1 op_code=RECV op_user_data=0x2 op_submit=45");
	feed(&listed,
	     "50.090 " OP "step=done opcode=RECV user_data=0x2 submit=45 how=poll result=2");
	assert_in(so_far(&listed), "70 us");
	/* Another ring's, another operation's. */
	feed(&listed, "60 " OP "step=done opcode=RECV user_data=0x2 submit=55 how=poll result=3");
	feed(&listed,
	     "60.033 wait tgid=4242 tid=4242 off=52 wake=60 state=1 syscall=426 ring=2"
	     " op_known=1 op_code=RECV op_user_data=0x2 op_submit=55 op_done=60");
	feed(&listed,
	     "60.034 wait tgid=4242 tid=4242 off=52 wake=60 state=1 syscall=426 ring=1"
	     " op_known=1 op_code=RECV op_user_data=0x3 op_submit=55 op_done=60");
	text = end(&listed);
	assert_not_in(text, "33 us");
	assert_not_in(text, "34 us");
	assert_int_equal(occurrences(text, "RECV"), 3);
}

static void a_line_waits_for_its_wake_but_not_for_ever(void **state)
{
	struct listed listed = begin(state);

	feed(&listed, "42 " OP "step=done how=poll shot=1 result=1 " RECV);
	/* What was done at once goes behind it all the same. */
	feed(&listed, "42.1 " OP "step=done opcode=NOP user_data=0x9 submit=42.09 how=inline");
	uring_list__idle(listed.list, &listed.f->report, ORIGIN + 100 * MS);
	assert_null(so_far(&listed) && *so_far(&listed) ? so_far(&listed) : NULL);
	uring_list__idle(listed.list, &listed.f->report, ORIGIN + 200 * MS);
	assert_in(so_far(&listed), "RECV");
	assert_true(strstr(so_far(&listed), "RECV") < strstr(so_far(&listed), "NOP"));
	end(&listed);
}

static void many_lines_that_nobody_woke_for(void **state)
{
	struct listed listed = begin(state);

	for (unsigned i = 0; i < 3 * URING_LIST_PENDING; i++)
		feed(&listed, "42 " OP "step=done how=poll shot=1 result=1 " RECV);
	assert_int_equal(occurrences(end(&listed), "RECV"), 3 * URING_LIST_PENDING);
}

static void what_is_not_done_is_in_flight(void **state)
{
	struct listed listed = begin(state);
	const char *text;

	feed(&listed, "1 " OP "step=submitted opcode=ACCEPT fd=3 user_data=0xa submit=1");
	feed(&listed, "1.1 " OP "step=armed opcode=ACCEPT fd=3 user_data=0xa submit=1 armed=1.1");
	feed(&listed, "2 " OP
		      "step=done opcode=ACCEPT fd=3 user_data=0xa submit=1 armed=1.1 result=9"
		      " cqe_flags=0x2 how=poll shot=1");
	/* The kernel may end it without a word. */
	feed(&listed, "3 " OP "step=submitted opcode=WRITE fd=4 user_data=0xb submit=3 flags=0x40");
	/* Two of equal user_data: the older one is left. */
	feed(&listed, "4 " OP "step=submitted opcode=READ fd=5 user_data=0xc submit=4");
	feed(&listed, "5 " OP "step=submitted opcode=READ fd=6 user_data=0xc submit=5");
	feed(&listed, "6 " OP "step=done opcode=READ fd=6 user_data=0xc submit=5 result=1");
	/* Of the same number in another ring. */
	feed(&listed,
	     "7 uring ring=2 tgid=4242 tid=4242 step=submitted opcode=NOP user_data=0xa "
	     "submit=7");
	feed(&listed,
	     "7.1 uring ring=2 tgid=4242 tid=4242 step=done opcode=NOP user_data=0xa "
	     "submit=7 how=inline");
	/* A zero-copy send is in flight until the kernel is done with its buffer. */
	feed(&listed, "8 " OP "step=submitted opcode=SEND_ZC fd=8 user_data=0xd submit=8");
	feed(&listed, "8.1 " OP
		      "step=done opcode=SEND_ZC fd=8 user_data=0xd submit=8 result=1"
		      " cqe_flags=0x2 how=inline shot=1");
	feed(&listed, "9 " OP "step=submitted opcode=SEND_ZC fd=8 user_data=0xe submit=9");
	feed(&listed, "9.1 " OP
		      "step=done opcode=SEND_ZC fd=8 user_data=0xe submit=9 result=1"
		      " cqe_flags=0x2 how=inline shot=1");
	feed(&listed, "9.5 " OP
		      "step=done opcode=SEND_ZC fd=8 user_data=0xe submit=9 result=0"
		      " cqe_flags=0x8 how=later shot=2");
	listed.f->report.end_ts = ORIGIN + 101 * MS;
	text = end(&listed);
	assert_int_equal(occurrences(text, "in flight"), 3);
	assert_in(text,
		  "ACCEPT fd 3                  in flight   100 ms              1  0xa        "
		  "poll armed, 1 completion so far\n");
	assert_in(text, "READ fd 5                    in flight  97.0 ms");
	assert_in(text,
		  "SEND_ZC fd 8                 in flight  93.0 ms              1  0xd        "
		  "1 completion so far\n");
	/* Behind all that was completed. */
	assert_true(strstr(text, "in flight") > strstr(text, "notification"));
}

/* Before Linux 6.1 operations of equal user_data are one to the kernel side. */
static void the_oldest_ends_when_none_fits(void **state)
{
	struct listed listed = begin(state);
	const char *text;

	feed(&listed, "4 " OP "step=submitted opcode=READ fd=5 user_data=0xc submit=4");
	feed(&listed, "5 " OP "step=submitted opcode=READ fd=6 user_data=0xc submit=5");
	feed(&listed, "6 " OP "step=done opcode=READ fd=6 user_data=0xc submit=5 result=1");
	feed(&listed, "7 " OP "step=done opcode=READ fd=6 user_data=0xc submit=5 result=1");
	text = end(&listed);
	assert_not_in(text, "in flight");
	assert_int_equal(occurrences(text, "READ fd"), 2);
}

static void the_table_has_a_bound(void **state)
{
	struct listed listed = begin(state);
	union record record;
	const char *text;

	parse("1 " OP "step=submitted opcode=NOP submit=1", &record);
	for (uint64_t i = 0; i < URING_LIST_FLYING + 1234; i++) {
		record.uring.user_data = i * 64;
		uring_list__record(listed.list, &listed.f->report, &record);
	}
	listed.f->report.lost[NS_LOST_RINGBUF] = 1;
	text = end(&listed);
	assert_int_equal(occurrences(text, "in flight"), URING_LIST_FLYING + 1);
	assert_in(text, "and 1,234 more");
	assert_in(text,
		  "Records were lost: some operations listed as in flight may have completed.");
}

/* So many steps, each of another operation. */
static uint64_t time_of_steps(struct flying *flying, uint32_t step, uint64_t first, uint64_t count)
{
	uint64_t begin = clock__ns(CLOCK_PROCESS_CPUTIME_ID);
	struct ns_uring op = {.step = step, .ring = 1, .submit_ts = 1};

	for (uint64_t i = 0; i < count; i++) {
		op.user_data = first + i;
		flying__learn(flying, &op);
	}
	return clock__ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/* The ends of those for which there was no room do not take a search of the whole table each. */
static void a_full_table_takes_no_longer(void **state)
{
	struct flying *flying = flying__new(URING_LIST_FLYING);
	const uint64_t more = URING_LIST_FLYING / 8;
	uint64_t begins, ends;

	(void)state;
	begins = time_of_steps(flying, NS_URING_SUBMITTED, 0, URING_LIST_FLYING + more);
	ends = time_of_steps(flying, NS_URING_DONE, URING_LIST_FLYING, more);
	assert_int_equal(flying__refused(flying), more);
	assert_true(ends < 10 * begins);
	time_of_steps(flying, NS_URING_DONE, 0, URING_LIST_FLYING);
	time_of_steps(flying, NS_URING_SUBMITTED, 0, more);
	assert_int_equal(flying__refused(flying), more);
	flying__free(flying);
}

static void nothing_is_said(void **state)
{
	struct listed listed = begin(state);

	feed(&listed, "1 send conn=1 tgid=4242 tid=4242 bytes=40 fd=7");
	feed(&listed, "1 reap ring=1 tgid=4242 upto=4 taken=4");
	assert_string_equal(end(&listed), "No operation of io_uring was seen.\n");
}

/* A name of the greatest length moves the columns once, and no cursor ever. */
static void long_and_hostile_names(void **state)
{
	struct listed listed = begin(state);
	const char *text, *first, *second;

	memset(listed.f->threads[1].comm, '\033', NS_COMM_LEN - 1);
	feed(&listed,
	     "1 " OP
	     "step=done opcode=SYNC_FILE_RANGE flags=1 fd=2147483647 len=4294967295"
	     " user_data=0xffffffffffffffff submit=1 result=-2147483648 how=inline by_tid=3"
	     " by_comm=\"\\x9b2J\\xff\"");
	feed(&listed, "2 " OP "step=done opcode=NOP submit=2 how=inline");
	feed(&listed,
	     "3 " OP "step=done opcode=NOP submit=3 how=worker by_tid=3 by_comm=\"\\x9b2J\\xff\"");
	text = end(&listed);
	assert_not_in(text, "\033");
	assert_not_in(text, "\x9b");
	assert_in(text, "done by \\x9b2J\\xff/3");
	first = strstr(text, "SYNC_FILE_RANGE");
	second = strstr(text, "NOP");
	assert_non_null(first);
	assert_non_null(second);
	/* Both stand in the same column of their lines. */
	while (first > text && first[-1] != '\n')
		first--;
	assert_int_equal(strstr(first, "SYNC") - first, second - (strchr(first, '\n') + 1));
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Small numbers mostly, so that tables are hit, and now and then any bits. */
static void fill_randomly(union record *record, size_t size, uint64_t *random)
{
	uint32_t *words = (uint32_t *)(void *)record;

	for (size_t i = sizeof(struct ns_head) / 4; i < size / 4; i++) {
		uint64_t value = next_random(random);

		words[i] = (uint32_t)(value & 3 ? value >> 8 & 7 : value >> 32);
	}
}

/* Whatever the decoder lets pass gets a line, of the list, of --all and of JSON. */
static void any_record_has_a_line(void **state)
{
	static const uint32_t types[] = {NS_RING, NS_URING, NS_URING,        NS_URING,
					 NS_WAIT, NS_REAP,  NS_URING_TOTALS, NS_URING_ERROR};
	struct listed listed = begin(state);
	struct report *report = &listed.f->report;
	uint64_t random = 0x9e3779b97f4a7c15ull;
	size_t passed = 0;
	const char *text;

	for (uint64_t i = 0; i < 10000; i++) {
		uint32_t type = types[next_random(&random) % (sizeof(types) / sizeof(types[0]))];
		union record record = {.head = {.type = type,
						.len = (uint32_t)record__size(type),
						.ts = ORIGIN + i * 1000,
						.tgid = 4242,
						.tid = (uint32_t)(random >> 60)}};
		union record decoded;

		fill_randomly(&record, record__size(type), &random);
		if (type == NS_URING && next_random(&random) % 8)
			record.uring.submit_ts = record.uring.queued_ts = record.uring.armed_ts =
				ORIGIN + (i & ~15ull) * 1000;
		if (type == NS_WAIT)
			record.wait.off_ts = record.wait.wake_ts = record.wait.op_submit_ts =
				record.wait.op_done_ts = ORIGIN + (i & ~15ull) * 1000;
		if (record__decode(&record, record.head.len, &decoded))
			continue;
		passed++;
		uring_list__record(listed.list, report, &decoded);
		render__record(listed.out, report, &decoded, &plain);
		render__json_record(listed.out, report, &decoded);
	}
	report->end_ts = ORIGIN + 100 * 1000 * MS;
	text = end(&listed);
	assert_true(passed > 2000);
	assert_true(strlen(text) == listed.f->size);
	for (size_t i = 0; i < listed.f->size; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
			fail_msg("the byte 0x%02x is printed", text[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_completion_is_a_line),
		TEST(a_wake_belongs_to_its_completion),
		TEST(a_line_waits_for_its_wake_but_not_for_ever),
		TEST(many_lines_that_nobody_woke_for),
		TEST(what_is_not_done_is_in_flight),
		TEST(the_oldest_ends_when_none_fits),
		TEST(the_table_has_a_bound),
		TEST(a_full_table_takes_no_longer),
		TEST(nothing_is_said),
		TEST(long_and_hostile_names),
		TEST(any_record_has_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
