// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Of however many pieces a request has: what each cause takes in all is kept. */
#include "tests/unit/test.h"
#include "user/analyze/stall.h"
#include "user/base/array.h"

#define PIECES 1000

static uint64_t in_all(const struct slice *slices, size_t count, enum cause cause)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += slices[i].cause == cause ? slices[i].ns : 0;
	return ns;
}

static void test_sums_are_kept(void **state)
{
	static const enum cause causes[] = {CAUSE_IPC, CAUSE_SELF, CAUSE_RUNQUEUE, CAUSE_TIMER};
	struct slice slices[STALL_SLICES];
	uint64_t random = 3, ns[COUNT_OF(causes)] = {0};
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < PIECES; i++) {
		size_t which = random_below(&random, COUNT_OF(causes));
		uint64_t piece = random_below(&random, 1000000);

		ns[which] += piece;
		slices__add(slices, &count, STALL_SLICES, causes[which], piece);
		for (size_t j = 1; j < count; j++)
			assert_int_not_equal(slices[j - 1].cause, slices[j].cause);
	}
	assert_true(count <= STALL_SLICES && count >= STALL_SLICES / 2);
	for (size_t i = 0; i < COUNT_OF(causes); i++)
		assert_int_equal(in_all(slices, count, causes[i]), ns[i]);
}

/* Only of more causes than slices one has another's. */
static void test_more_causes_than_slices(void **state)
{
	struct slice slices[2];
	size_t count = 0;

	(void)state;
	slices__add(slices, &count, 2, CAUSE_IPC, 3);
	slices__add(slices, &count, 2, CAUSE_SELF, 5);
	slices__add(slices, &count, 2, CAUSE_TIMER, 7);
	assert_int_equal(count, 2);
	assert_int_equal(slices[0].ns + slices[1].ns, 15);
	assert_int_equal(slices[1].cause, CAUSE_TIMER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_are_kept),
		cmocka_unit_test(test_more_causes_than_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
