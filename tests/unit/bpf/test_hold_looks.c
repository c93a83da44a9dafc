// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Why a hold began and how its reason changed is told, whatever else the socket's history lost. */
#include "tests/unit/bpf/history_kernel.h"

/* The hold's record is looked at by its turn alone. */
static void write_look(uint32_t number)
{
	struct ns_segment *out = history_slot(&watched, NS_HOLD, sizeof(*out), number);

	fill(out, number);
	keep_look(&watched, (const struct ns_slot *)out, this_cpu);
	history_commit(&watched, out, sizeof(*out));
}

static uint32_t times_told_of(uint32_t number)
{
	uint32_t times = 0;

	for (size_t i = 0; i < told_count; i++)
		times += told_segment(i)->seq == number;
	return times;
}

/* Why it began and what changed last, whatever else came by. */
static void test_looks_outlast_the_history(void **state)
{
	(void)state;
	watched.hold.number = 1;
	write_look(100);
	write_look(101);
	for (uint32_t i = 0; i < 3 * NS_HISTORY; i++)
		write_record(i);
	history_flush(&watched);
	assert_int_equal(times_told_of(100), 1);
	assert_int_equal(times_told_of(101), 1);
	assert_int_equal(told_count, NS_HISTORY + 2);
	/* Nothing twice. */
	for (uint32_t i = 0; i < 3 * NS_HISTORY; i++)
		write_record(1000 + i);
	history_flush(&watched);
	assert_int_equal(times_told_of(100) + times_told_of(101), 2);
	assert_int_equal(lost[NS_LOST_TORN], 0);
}

/* As long as the history has them it tells them. */
static void test_looks_in_the_history_are_told_once(void **state)
{
	(void)state;
	watched.hold.number = 1;
	for (uint32_t i = 0; i < NS_HISTORY; i++)
		write_look(i);
	history_flush(&watched);
	assert_int_equal(told_count, NS_HISTORY);
	for (uint32_t i = 0; i < NS_HISTORY; i++)
		assert_int_equal(times_told_of(i), 1);
}

/* Of many changes the first and the last four are kept. */
static void test_the_first_look_and_the_last(void **state)
{
	(void)state;
	watched.hold.number = 1;
	for (uint32_t i = 0; i < 12; i++)
		write_look(100 + i);
	for (uint32_t i = 0; i < NS_HISTORY; i++)
		write_record(i);
	history_flush(&watched);
	assert_int_equal(told_count, NS_HISTORY + 1 + NS_HOLD_LAST);
	assert_int_equal(times_told_of(100), 1);
	for (uint32_t i = 12 - NS_HOLD_LAST; i < 12; i++)
		assert_int_equal(times_told_of(100 + i), 1);
}

/* A hold that was too short to be told leaves nothing to the next. */
static void test_looks_of_an_earlier_hold(void **state)
{
	(void)state;
	watched.hold.number = 1;
	for (uint32_t i = 0; i < 5; i++)
		write_look(100 + i);
	watched.hold.kept = 0; /* as note_release() and open_hold() have it */
	write_look(200);
	for (uint32_t i = 0; i < NS_HISTORY; i++)
		write_record(i);
	history_flush(&watched);
	assert_int_equal(told_count, NS_HISTORY + 1);
	assert_int_equal(times_told_of(200), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_looks_outlast_the_history, setup),
		cmocka_unit_test_setup(test_looks_in_the_history_are_told_once, setup),
		cmocka_unit_test_setup(test_the_first_look_and_the_last, setup),
		cmocka_unit_test_setup(test_looks_of_an_earlier_hold, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
