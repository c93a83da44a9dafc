// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Which stalls the flight recorder keeps, and what of the seconds around; command lines. */
#include "tests/unit/test.h"
#include "user/base/split.h"
#include "user/check/judge/around.h"
#include "user/check/judge/beyond.h"

#define MS     1000000ull
#define SECOND (1000 * MS)
#define START  (100 * SECOND)

static struct stall stall_of(enum cause cause, uint64_t at_ms, uint64_t ms)
{
	return (struct stall){.cause = cause,
			      .start_ts = START + at_ms * MS,
			      .end_ts = START + (at_ms + ms) * MS,
			      .exact = true};
}

static const struct report report = {.start_ts = START};

static struct budgets budgets_of(const char *text)
{
	struct budgets budgets;
	char why[200];

	budgets__default(&budgets);
	assert_true(budgets__parse(&budgets, text, why, sizeof(why)));
	return budgets;
}

/* The name of the budget that a stall of so long is beyond, "-": none. */
static const char *next_stall(struct beyond *beyond, enum cause cause, uint64_t at_ms, uint64_t ms)
{
	struct stall stall = stall_of(cause, at_ms, ms);
	const struct budget *budget = beyond__stall(beyond, &report, &stall);

	return budget ? budget__name(budget) : "-";
}

static void a_count_is_beyond_from_the_next_on(void **state)
{
	struct budgets budgets = budgets_of("rto=2");
	struct beyond beyond;

	(void)state;
	beyond__init(&beyond, &budgets);
	assert_string_equal(next_stall(&beyond, CAUSE_RTO, 0, 200), "-");
	assert_string_equal(next_stall(&beyond, CAUSE_LOCK, 0, 200), "-");
	assert_string_equal(next_stall(&beyond, CAUSE_RTO, 300, 200), "-");
	assert_string_equal(next_stall(&beyond, CAUSE_RTO, 600, 200), "rto");
	assert_string_equal(next_stall(&beyond, CAUSE_NAGLE_DELACK, 900, 8), "nagle-delack");
}

static void a_time_is_beyond_once_it_is_over(void **state)
{
	struct budgets budgets = budgets_of("lock=100ms");
	struct beyond beyond;

	(void)state;
	beyond__init(&beyond, &budgets);
	assert_string_equal(next_stall(&beyond, CAUSE_LOCK, 0, 60), "-");
	assert_string_equal(next_stall(&beyond, CAUSE_LOCK, 100, 40), "-");
	assert_string_equal(next_stall(&beyond, CAUSE_LOCK, 200, 10), "lock");
}

static void a_share_is_of_the_time_so_far(void **state)
{
	struct budgets budgets = budgets_of("nagle-delack=none,total=10%");
	struct beyond beyond;

	(void)state;
	beyond__init(&beyond, &budgets);
	assert_string_equal(next_stall(&beyond, CAUSE_NAGLE_DELACK, 950, 50), "-");
	assert_string_equal(next_stall(&beyond, CAUSE_LOCK, 1000, 60), "total");
	assert_string_equal(next_stall(&beyond, CAUSE_LOCK, 9950, 50), "-");
}

static void an_end_that_was_not_seen_proves_nothing(void **state)
{
	struct budgets budgets = budgets_of("default");
	struct stall stall = stall_of(CAUSE_CORK, 0, 40);
	struct beyond beyond;

	(void)state;
	beyond__init(&beyond, &budgets);
	stall.held_bytes = 136;
	stall.exact = false;
	assert_null(beyond__stall(&beyond, &report, &stall));
	/* Its chain proves it, as the gate has it. */
	stall.cause = CAUSE_NAGLE_DELACK;
	assert_non_null(beyond__stall(&beyond, &report, &stall));
	stall.cause = CAUSE_CORK;
	stall.exact = true;
	assert_non_null(beyond__stall(&beyond, &report, &stall));
}

/* ---- the seconds around ---- */

static void add(struct around *around, uint64_t ts, uint32_t type, uint32_t conn, uint32_t tid)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.head.type = type;
	record.head.len = (uint32_t)record__size(type);
	record.head.ts = ts;
	record.head.conn = conn;
	record.head.tid = tid;
	around__add(around, &record);
}

static void the_seconds_have_borders(void **state)
{
	struct stall stall = stall_of(CAUSE_NAGLE_DELACK, 5000, 40);
	struct around *around = around__new();
	struct seconds seconds;

	(void)state;
	add(around, stall.start_ts - 2 * SECOND - 1, NS_SEND, 1, 1);
	add(around, stall.start_ts - 2 * SECOND, NS_SEND, 1, 1);
	add(around, stall.start_ts, NS_HOLD, 1, 1);
	add(around, stall.start_ts + 1, NS_STACK, 0, 0); /* nothing that happens */
	add(around, stall.end_ts + SECOND, NS_RX, 1, 0);
	add(around, stall.end_ts + SECOND + 1, NS_RX, 1, 0);
	around__find(around, &stall, &seconds);
	assert_int_equal(seconds.count, 3);
	assert_int_equal(seconds.v[0]->head.ts, stall.start_ts - 2 * SECOND);
	assert_int_equal(seconds.v[2]->head.ts, stall.end_ts + SECOND);
	assert_int_equal(seconds.left_out, 0);
	assert_false(seconds.begins_late);
	seconds__clear(&seconds);
	around__free(around);
}

static void others_are_left_out_first(void **state)
{
	struct stall stall = stall_of(CAUSE_NAGLE_DELACK, 5000, 40);
	struct around *around = around__new();
	struct seconds seconds;

	(void)state;
	stall.conn = 1;
	stall.peer = 2;
	stall.tid = 77;
	for (unsigned i = 0; i < AROUND_SHOWN; i++)
		add(around, stall.start_ts - SECOND + i, NS_SEND, 9, 5);
	add(around, stall.start_ts, NS_HOLD, 1, 5);
	add(around, stall.start_ts, NS_ACK, 2, 0);
	add(around, stall.start_ts, NS_WAIT, 0, 77);
	add(around, stall.start_ts, NS_WAIT, 0, 78);
	around__find(around, &stall, &seconds);
	assert_int_equal(seconds.count, 3);
	assert_int_equal(seconds.left_out, AROUND_SHOWN + 1);
	seconds__clear(&seconds);
	around__free(around);
}

static void a_full_ring_says_that_it_begins_late(void **state)
{
	struct stall stall = stall_of(CAUSE_NAGLE_DELACK, 5000, 40);
	struct around *around = around__new();
	struct seconds seconds;

	(void)state;
	stall.conn = 1;
	for (unsigned i = 0; i < AROUND_EVENTS + 10; i++)
		add(around, stall.start_ts - SECOND + i, NS_SEND, 1, 5);
	around__find(around, &stall, &seconds);
	assert_true(seconds.begins_late);
	assert_int_equal(seconds.count, AROUND_SHOWN);
	assert_int_equal(seconds.count + seconds.left_out, AROUND_EVENTS);
	seconds__clear(&seconds);
	around__free(around);
}

/* ---- command lines ---- */

static void splits(const char *text, const char *wanted)
{
	char joined[256] = "", why[64];
	char **words = split__words(text, why, sizeof(why));

	if (!wanted) {
		assert_null(words);
		assert_true(why[0]);
		return;
	}
	assert_non_null(words);
	for (size_t i = 0; words[i]; i++) {
		strcat(joined, "[");
		strcat(joined, words[i]);
		strcat(joined, "]");
	}
	assert_string_equal(joined, wanted);
	split__free(words);
}

static void a_command_is_split_without_a_shell(void **state)
{
	(void)state;
	splits("gcore -o core 1", "[gcore][-o][core][1]");
	splits("  a\t'b c' \"d \\\" e\" f\\ g ", "[a][b c][d \" e][f g]");
	splits("a'b'\"c\"d '' x", "[abcd][][x]");
	splits("a 'b\\' \\\\ c\\", "[a][b\\][\\][c\\]");
	splits("a $HOME `b` *; c | d", "[a][$HOME][`b`][*;][c][|][d]");
}

static void a_command_that_is_none_is_refused(void **state)
{
	(void)state;
	splits("", NULL);
	splits(" \t\n", NULL);
	splits("''", NULL);
	splits("a 'b", NULL);
	splits("a \"b\\\"", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_is_beyond_from_the_next_on),
		cmocka_unit_test(a_time_is_beyond_once_it_is_over),
		cmocka_unit_test(a_share_is_of_the_time_so_far),
		cmocka_unit_test(an_end_that_was_not_seen_proves_nothing),
		cmocka_unit_test(the_seconds_have_borders),
		cmocka_unit_test(others_are_left_out_first),
		cmocka_unit_test(a_full_ring_says_that_it_begins_late),
		cmocka_unit_test(a_command_is_split_without_a_shell),
		cmocka_unit_test(a_command_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
