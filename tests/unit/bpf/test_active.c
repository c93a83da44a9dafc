// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel side's account of what goes on, as it is compiled for the kernel, under two hands that
 * begin and end the same holds: each is begun once, ended once, and as many are counted as there
 * are.
 */
#include <signal.h>

#include "tests/unit/bpf/history_kernel.h"

static bool begin_hold(struct ns_conn_state *conn)
{
	uint32_t number = number_hold(conn);

	if (!number)
		return false;
	barrier();
	conn->hold.number = number;
	return true;
}

/* ---- step by step ---- */

static void test_who_comes_late_ends_nothing(void **state)
{
	uint32_t number;

	(void)state;
	assert_false(is_held(&watched));
	assert_true(begin_hold(&watched));
	assert_true(is_held(&watched));
	assert_int_equal(active_holds, 1);
	number = watched.hold.number;
	assert_true(end_hold(&watched, number));
	assert_false(end_hold(&watched, number));
	assert_false(is_held(&watched));
	assert_int_equal(active_holds, 0);
	/* Another CPU saw the end of the first, and tells it when the second has begun. */
	assert_true(begin_hold(&watched));
	assert_false(end_hold(&watched, number));
	assert_true(is_held(&watched));
	assert_int_equal(active_holds, 1);
	assert_true(end_hold(&watched, watched.hold.number));
	assert_int_equal(active_holds, 0);
	assert_int_equal(active_count, 0);
}

static void test_two_begin(void **state)
{
	uint32_t number;

	(void)state;
	number = number_hold(&watched);
	assert_true(number);
	/* The other one has not seen it yet. */
	assert_int_equal(number_hold(&watched), 0);
	assert_int_equal(active_holds, 1);
	watched.hold.number = number;
	assert_true(end_hold(&watched, number));
	assert_int_equal(active_holds, 0);
	assert_int_equal(lost[NS_LOST_CONNS], 0);
}

static void test_numbers_wrap(void **state)
{
	(void)state;
	watched.hold.number = watched.hold.ended = UINT32_MAX;
	assert_true(begin_hold(&watched));
	assert_int_equal(watched.hold.number, 1);
	assert_true(is_held(&watched));
	assert_true(end_hold(&watched, 1));
	assert_false(is_held(&watched));
}

/* A connection that was not open when its SYN was lost was not counted, and is not when it is. */
static void test_a_recovery_is_counted_as_it_began(void **state)
{
	(void)state;
	watched.phase = NS_PHASE_OPENING;
	watched.recovery.ts = 1;
	count_recovery(&watched);
	assert_int_equal(active_holds, 0);
	watched.phase = NS_PHASE_OPEN;
	end_recovery(&watched);
	assert_int_equal(active_holds, 0);
	watched.recovery.ts = 1;
	count_recovery(&watched);
	assert_int_equal(active_holds, 1);
	end_recovery(&watched);
	end_recovery(&watched);
	assert_int_equal(active_holds, 0);
}

/* ---- another CPU, at every moment ---- */

/*
 * One CPU goes on instruction by instruction; before each of them in turn, the other one does all
 * that it has to do. Under the table's lock it waits.
 */
#if defined(__x86_64__)
#define TRAP_FLAG 0x100ull

static void (*other)(void);
static volatile long step, interrupted_at;
static volatile bool has_run;

static void on_step(int signal_number)
{
	(void)signal_number;
	if (step++ < interrupted_at || has_run || in_table)
		return;
	has_run = true;
	other();
}

/* Returns false when one was done before the other's turn came. */
static bool interleave(void (*one)(void), void (*another)(void), long at)
{
	struct sigaction action = {.sa_handler = on_step}, before;

	other = another;
	step = 0;
	interrupted_at = at;
	has_run = false;
	sigaction(SIGTRAP, &action, &before);
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
	one();
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
	sigaction(SIGTRAP, &before, NULL);
	return has_run;
}

#define STEPS_MOST 100000

static uint32_t ended, begun, number_seen;

static void add(uint32_t *count, bool one)
{
	__sync_fetch_and_add(count, one);
}

static __attribute__((noinline)) void end_it(void)
{
	uint32_t number = watched.hold.number;

	barrier();
	if (is_held(&watched))
		add(&ended, end_hold(&watched, number));
}

static __attribute__((noinline)) void begin_it(void)
{
	add(&begun, begin_hold(&watched));
}

static void begin_and_end(void)
{
	begin_it();
	end_it();
}

static void end_and_begin(void)
{
	end_it();
	begin_it();
}

static void assert_as_many_as_there_are(void)
{
	assert_int_equal(active_holds, active_count);
	assert_int_equal(begun - ended, active_count);
}

static void start(void **state, bool held)
{
	setup(state);
	ended = begun = 0;
	if (held)
		begin_it();
	number_seen = watched.hold.number;
}

static void test_each_hold_ends_once(void **state)
{
	long at = 0;

	do {
		start(state, true);
		assert_true(at < STEPS_MOST);
		if (interleave(end_it, end_it, at))
			assert_int_equal(ended, 1);
		assert_false(is_held(&watched));
		assert_as_many_as_there_are();
	} while (has_run && ++at);
	assert_true(at > 10);
}

static void test_each_hold_begins_once(void **state)
{
	long at = 0;

	do {
		start(state, false);
		assert_true(at < STEPS_MOST);
		interleave(begin_it, begin_it, at);
		assert_int_equal(begun, 1);
		assert_true(is_held(&watched));
		assert_as_many_as_there_are();
	} while (has_run && ++at);
	assert_true(at > 10);
}

/* One that is over before the other CPU has begun it does not count twice, nor for ever. */
static void test_a_short_one_is_not_counted_for_ever(void **state)
{
	long at = 0;

	do {
		start(state, false);
		assert_true(at < STEPS_MOST);
		interleave(begin_it, begin_and_end, at);
		assert_as_many_as_there_are();
		assert_int_equal(is_held(&watched), active_count);
	} while (has_run && ++at);
	assert_true(at > 10);
}

/* The next one begins while the end of the first is under way: it is held, and counted. */
static void test_the_next_one_is_counted(void **state)
{
	long at = 0;

	do {
		start(state, true);
		assert_true(at < STEPS_MOST);
		if (!interleave(end_it, end_and_begin, at))
			break;
		assert_as_many_as_there_are();
		assert_int_equal(is_held(&watched), active_count);
		assert_true(ended == 1 || watched.hold.number != number_seen);
	} while (++at);
	assert_true(at > 10);
}

/* ---- numbers ---- */

static uint32_t counter, taken[2];

static __attribute__((noinline)) void take_one(void)
{
	taken[0] = next_number(&counter);
}

static __attribute__((noinline)) void take_another(void)
{
	taken[1] = next_number(&counter);
}

static void test_no_number_twice(void **state)
{
	long at = 0;

	(void)state;
	for (;; at++) {
		counter = 5;
		assert_true(at < STEPS_MOST);
		if (!interleave(take_one, take_another, at))
			break;
		assert_int_not_equal(taken[0], taken[1]);
		assert_in_range(taken[0], 5, counter - 1);
		assert_in_range(taken[1], 5, counter - 1);
	}
	assert_true(at > 3);
}

/* ---- looks ---- */

static uint32_t looks, mixed;

/* What one look finds is its own until it is told. */
static void look(uint64_t figure)
{
	volatile __u64 *words = watched.hold.look.words;
	bool whole = true;

	if (!begin_look(&watched))
		return;
	for (size_t i = 0; i < NS_SLOT_WORDS; i++)
		words[i] = figure;
	for (size_t i = 0; i < NS_SLOT_WORDS; i++)
		whole &= words[i] == figure;
	looks++;
	mixed += !whole;
	end_look(&watched);
}

static __attribute__((noinline)) void look_by_one(void)
{
	look(1);
}

static __attribute__((noinline)) void look_by_another(void)
{
	look(2);
}

static void test_looks_do_not_mix(void **state)
{
	uint32_t alone = 0;
	long at = 0;

	do {
		start(state, true);
		assert_true(at < STEPS_MOST);
		looks = mixed = 0;
		interleave(look_by_one, look_by_another, at);
		assert_int_equal(mixed, 0);
		assert_in_range(looks, 1, 2);
		alone += looks == 1;
		assert_int_equal(active_count, 1); /* the hold */
	} while (has_run && ++at);
	assert_true(alone > NS_SLOT_WORDS);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_who_comes_late_ends_nothing, setup),
		cmocka_unit_test_setup(test_two_begin, setup),
		cmocka_unit_test_setup(test_numbers_wrap, setup),
		cmocka_unit_test_setup(test_a_recovery_is_counted_as_it_began, setup),
#if defined(__x86_64__)
		cmocka_unit_test_setup(test_each_hold_ends_once, setup),
		cmocka_unit_test_setup(test_each_hold_begins_once, setup),
		cmocka_unit_test_setup(test_a_short_one_is_not_counted_for_ever, setup),
		cmocka_unit_test_setup(test_the_next_one_is_counted, setup),
		cmocka_unit_test_setup(test_looks_do_not_mix, setup),
		cmocka_unit_test_setup(test_no_number_twice, setup),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
