// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Records come out in order, each once. */
#include "tests/unit/test.h"
#include "user/analyze/order.h"

#define ALL UINT64_MAX

static union record segment(uint64_t ts, uint32_t seq)
{
	union record record;
	struct ns_segment *out = (struct ns_segment *)&record;

	memset(&record, 0, sizeof(record));
	out->head.type = NS_TX;
	out->head.len = sizeof(*out);
	out->head.ts = ts;
	out->seq = seq;
	return record;
}

static void push(struct order *order, uint64_t ts, uint32_t seq)
{
	union record record = segment(ts, seq);

	order__push(order, &record);
}

static void expect(struct order *order, uint64_t until, uint32_t seq)
{
	const union record *record = order__pop(order, until);

	assert_non_null(record);
	assert_int_equal(((const struct ns_segment *)record)->seq, seq);
}

static void test_by_time(void **state)
{
	struct order *order = order__new();

	(void)state;
	push(order, 30, 3);
	push(order, 10, 1);
	push(order, 20, 2);
	expect(order, 20, 1);
	expect(order, 20, 2);
	assert_null(order__pop(order, 20));
	expect(order, ALL, 3);
	assert_null(order__pop(order, ALL));
	order__free(order);
}

static void test_equal_times_as_they_came(void **state)
{
	struct order *order = order__new();

	(void)state;
	for (uint32_t i = 0; i < 9; i++)
		push(order, 10, i);
	for (uint32_t i = 0; i < 9; i++)
		expect(order, ALL, i);
	order__free(order);
}

static void test_overfull(void **state)
{
	struct order *order = order__new();

	(void)state;
	for (uint32_t i = 0; i <= ORDER_RECORDS; i++)
		push(order, 100 + i, i);
	expect(order, 0, 0);
	assert_null(order__pop(order, 0));
	order__free(order);
}

/* Its writer and another CPU told it; one that only resembles it is another. */
static void test_told_twice(void **state)
{
	struct order *order = order__new();

	(void)state;
	push(order, 20, 2);
	push(order, 10, 1);
	push(order, 20, 2);
	push(order, 20, 3);
	push(order, 21, 3);
	expect(order, ALL, 1);
	expect(order, ALL, 2);
	expect(order, ALL, 3);
	expect(order, ALL, 3);
	/* Also when the first has gone already. */
	push(order, 21, 3);
	assert_null(order__pop(order, ALL));
	order__free(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_time),
		cmocka_unit_test(test_equal_times_as_they_came),
		cmocka_unit_test(test_overfull),
		cmocka_unit_test(test_told_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
