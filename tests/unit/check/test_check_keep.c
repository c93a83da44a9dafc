// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Which stalls the flight recorder of a check keeps; command lines. */
#include "tests/unit/test.h"
#include "user/base/split.h"
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
		cmocka_unit_test(a_command_is_split_without_a_shell),
		cmocka_unit_test(a_command_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
