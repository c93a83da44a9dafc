// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Thousands of exchanges under way: each is found by its thread and by its connection. */
#include "tests/unit/feed.h"
#include "user/model/exchanges.h"

static struct ns_exchange exchange_of(uint32_t side, uint32_t tid, uint32_t conn, uint64_t ts)
{
	return (struct ns_exchange){
		.head = {.type = NS_EXCHANGE, .ts = ts, .tid = tid, .conn = conn},
		.side = side,
		.begin_ts = ts - 10,
	};
}

static void add(struct exchanges *exchanges, uint32_t tid, uint32_t conn, uint64_t ts)
{
	struct ns_exchange exchange = exchange_of(NS_EXCHANGE_ASKED, tid, conn, ts);

	exchanges__add(exchanges, &exchange, conn + 1);
}

static void assert_found(const struct exchanges *exchanges, uint32_t tid, uint32_t conn,
			 const uint64_t *times)
{
	struct exchange_walk walk = exchanges__of(exchanges, tid, conn);
	const struct ns_exchange *found;

	for (; *times; times++) {
		found = exchanges__next(exchanges, &walk);
		assert_non_null(found);
		assert_int_equal(found->head.ts, *times);
	}
	assert_null(exchanges__next(exchanges, &walk));
}

/* Of a thread or on a connection, each once, the last first. */
static void test_walk(void **state)
{
	struct exchanges *exchanges = exchanges__new();

	(void)state;
	add(exchanges, 7, 1, 100);
	add(exchanges, 7, 3, 200);
	add(exchanges, 8, 1, 300);
	add(exchanges, 9, 5, 400);
	add(exchanges, 7, 1, 500);
	assert_found(exchanges, 7, 0, (uint64_t[]){500, 200, 100, 0});
	assert_found(exchanges, 0, 1, (uint64_t[]){500, 300, 100, 0});
	assert_found(exchanges, 7, 1, (uint64_t[]){500, 300, 200, 100, 0});
	assert_found(exchanges, 9, 1, (uint64_t[]){500, 400, 300, 100, 0});
	assert_found(exchanges, 10, 0, (uint64_t[]){0});
	assert_found(exchanges, 0, 0, (uint64_t[]){0});
	exchanges__free(exchanges);
}

/* More than are kept, of as many threads: the last ones are found, the others are not. */
static void test_many(void **state)
{
	struct exchanges *exchanges = exchanges__new();
	const uint32_t count = 3 * EXCHANGES_KEPT;

	(void)state;
	for (uint32_t i = 1; i <= count; i++)
		add(exchanges, i, 2 * i, 1000 + i);
	for (uint32_t i = 1; i <= count; i++) {
		bool kept = i + EXCHANGES_KEPT > count;

		assert_found(exchanges, i, 0, (uint64_t[]){kept ? 1000 + i : 0, 0});
		assert_found(exchanges, 0, 2 * i, (uint64_t[]){kept ? 1000 + i : 0, 0});
	}
	exchanges__free(exchanges);
}

/* Both sides of each, whichever comes first, a thousand others between them. */
static void test_sides(void **state)
{
	const uint32_t count = 1000;

	(void)state;
	for (unsigned asked_first = 0; asked_first < 2; asked_first++) {
		struct exchanges *exchanges = exchanges__new();

		for (unsigned turn = 0; turn < 2; turn++) {
			for (uint32_t i = 1; i <= count; i++) {
				struct ns_exchange asked =
					exchange_of(NS_EXCHANGE_ASKED, i, 2 * i, 1000 + i);
				struct ns_exchange served = exchange_of(
					NS_EXCHANGE_SERVED, count + i, 2 * i + 1, 998 + i);

				if (turn == asked_first)
					exchanges__add_served(exchanges, &served, 2 * i);
				else
					exchanges__add(exchanges, &asked, 2 * i + 1);
			}
		}
		for (uint32_t i = 1; i <= count; i++) {
			struct ns_exchange asked =
				exchange_of(NS_EXCHANGE_ASKED, i, 2 * i, 1000 + i);
			const struct ns_exchange *served =
				exchanges__served_side(exchanges, &asked);

			assert_non_null(served);
			assert_int_equal(served->head.tid, count + i);
		}
		exchanges__free(exchanges);
	}
}

/* An answer of another time, or none, is not its other side. */
static void test_other_side(void **state)
{
	struct exchanges *exchanges = exchanges__new();
	struct ns_exchange asked = exchange_of(NS_EXCHANGE_ASKED, 7, 1, 100);
	struct ns_exchange before = exchange_of(NS_EXCHANGE_SERVED, 8, 2, 80);
	struct ns_exchange behind = exchange_of(NS_EXCHANGE_SERVED, 8, 2, 120);

	(void)state;
	exchanges__add_served(exchanges, &before, 1);
	exchanges__add(exchanges, &asked, 2);
	exchanges__add_served(exchanges, &behind, 1);
	assert_null(exchanges__served_side(exchanges, &asked));
	exchanges__free(exchanges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_other_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
