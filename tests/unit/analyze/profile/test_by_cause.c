// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What every long wait was for, and the profile's sums cut by that. */
#include "tests/unit/analyze/outcome.h"
#include "user/analyze/profile/by_cause.h"

#define MS 1000000ull

static struct wait_record told[64];
static size_t told_count;

static void on_wait(void *context, const struct wait_record *waited)
{
	uint64_t sum = 0;

	(void)context;
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		sum += waited->ns[i];
	assert_int_equal(sum, waited->end_ts - waited->off_ts);
	assert_true(told_count < sizeof(told) / sizeof(told[0]));
	told[told_count++] = *waited;
}

static void tell_waits(struct feed feed)
{
	const struct pipeline_sink sink = {.on_wait = on_wait};
	struct pipeline *pipeline = pipeline__new(&sink);

	told_count = 0;
	feed__run(&feed, pipeline);
	pipeline__finish(pipeline);
	pipeline__free(pipeline);
	feed__free(&feed);
}

static uint64_t told_ns(uint32_t tid, enum cause cause)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < told_count; i++)
		ns += told[i].tid == tid ? told[i].ns[cause] : 0;
	return ns;
}

/* Three requests, held for 40.3 ms each: their waits are that, but for what travelled. */
static void a_stall_covers_its_wait(void **state)
{
	uint64_t all = 0, stalled;

	(void)state;
	tell_waits(feed__golden("nagle-delack"));
	for (size_t i = 0; i < told_count; i++) {
		assert_int_equal(told[i].tid, 4242);
		assert_int_equal(wait_record__main_cause(&told[i]), CAUSE_NAGLE_DELACK);
		all += told[i].end_ts - told[i].off_ts;
	}
	assert_int_equal(told_count, 3);
	stalled = told_ns(4242, CAUSE_NAGLE_DELACK);
	assert_true(stalled * 100 >= all * 97 && stalled <= all);
}

/* Waits that are no stall are told as well: the report counts them as idle, or asked for. */
static void waits_that_are_no_stall_are_told(void **state)
{
	(void)state;
	tell_waits(feed__golden("idle-server"));
	assert_int_equal(told_count, 2); /* the client's is not a target's */
	for (size_t i = 0; i < told_count; i++)
		assert_int_equal(told[i].ns[CAUSE_IDLE] + told[i].ns[CAUSE_RUNQUEUE],
				 told[i].end_ts - told[i].off_ts);
	tell_waits(feed__golden("peer-app"));
	assert_int_equal(told_count, 2);
	assert_true(told_ns(4242, CAUSE_PEER_APP) > 78 * MS);
	assert_true(told_ns(4242, CAUSE_IDLE) > 99 * MS); /* after its answer */
}

/* The wait names no connection, its thread has another one open: the incident has it still. */
static void an_incident_that_the_chain_does_not_reach(void **state)
{
	static const char text[] =
		"0 conn conn=3 tgid=10 role=target local=127.0.0.1:5 remote=127.0.0.1:6 "
		"opener=self\n9 send conn=3 tgid=10 tid=10 bytes=1 write_seq=1\n" HEAD
	PEER FIRST SECOND FIRE LEFT ARRIVED GONE
		"50.6 wait conn=3 tgid=10 tid=10 off=10.1 wake=50.5 state=1 syscall=232 arg0=4\n";

	(void)state;
	tell_waits(feed__text(text));
	assert_int_equal(told_count, 1);
	assert_int_equal(told[0].ns[CAUSE_NAGLE_DELACK], 39900000);
	assert_int_equal(told[0].ns[CAUSE_RUNQUEUE], 100000);
}

/* A server that has answered, and is killed where it waits for the next request: nobody ended that
 * wait, and the profile has it. */
static void one_that_its_end_cut_off_is_told(void **state)
{
	static const char text[] =
		"0 session way=fentry threshold=10\n0 process tgid=10 role=target comm=srv\n"
		"0 conn conn=1 tgid=10 role=target local=127.0.0.1:5 remote=127.0.0.1:6 fd=4 "
		"opener=peer\n"
		"1 send conn=1 tgid=10 tid=10 bytes=90 fd=4 write_seq=90 snd_nxt=90 snd_una=0\n"
		"65 wait conn=1 tgid=10 tid=10 off=1.1 state=1 syscall=0 arg0=4 conn_basis=fd "
		"turn=wrote ended=killed turn_began=1\n65 exit tgid=10 tid=10\n70 end\n";

	(void)state;
	tell_waits(feed__text(text));
	assert_int_equal(told_count, 1);
	assert_int_equal(told[0].ns[CAUSE_IDLE], 63900000);
}

/* ---- the sums ---- */

static struct wait_record explained(uint32_t tid, uint64_t off_ms, uint64_t end_ms,
				    enum cause cause)
{
	struct wait_record waited = {.tid = tid, .off_ts = off_ms * MS, .end_ts = end_ms * MS};

	waited.ns[cause] = (end_ms - off_ms) * MS - MS;
	waited.ns[CAUSE_NETWORK] = MS;
	return waited;
}

static void profile_wait(struct by_cause *by_cause, uint32_t key, uint32_t tid, uint64_t off_ms,
			 uint64_t end_ms)
{
	by_cause__wait(by_cause, &(struct by_cause_wait){.key = key,
							 .tid = tid,
							 .off_ts = off_ms * MS,
							 .ns = (end_ms - off_ms) * MS});
}

static void either_side_may_come_first(void **state)
{
	struct cause_share shares[BY_CAUSE_SHARES];
	struct wait_record waited;

	(void)state;
	for (int order = 0; order < 2; order++) {
		struct by_cause *by_cause = by_cause__new();

		for (uint64_t i = 0; i < 100; i++) {
			waited = explained(7, 100 * i, 100 * i + 40,
					   i % 2 ? CAUSE_NAGLE_DELACK : CAUSE_IDLE);
			if (order)
				by_cause__explain(by_cause, &waited);
			profile_wait(by_cause, 5, 7, 100 * i, 100 * i + 40);
			if (!order)
				by_cause__explain(by_cause, &waited);
		}
		by_cause__finish(by_cause);
		/* And 900 waits of 0.1 ms that nobody told one by one. */
		assert_int_equal(by_cause__shares(by_cause, 5, 1000, 4090 * MS, shares), 4);
		assert_int_equal(shares[0].cause, CAUSE_NAGLE_DELACK);
		assert_int_equal(shares[0].ns, 50 * 39 * MS);
		assert_int_equal(shares[0].count, 50);
		assert_int_equal(shares[1].cause, CAUSE_IDLE);
		assert_int_equal(shares[2].cause, CAUSE_NETWORK);
		assert_int_equal(shares[2].count, 0);
		assert_int_equal(shares[2].ns, 100 * MS);
		assert_int_equal(shares[3].cause, CAUSE_COUNT);
		assert_int_equal(shares[3].count, 900);
		assert_int_equal(shares[3].ns, 90 * MS);
		/* A sum without long waits, and one that has no key. */
		assert_int_equal(by_cause__shares(by_cause, 6, 3, 9, shares), 1);
		assert_int_equal(shares[0].cause, CAUSE_COUNT);
		assert_int_equal(by_cause__shares(by_cause, 0, 3, 9, shares), 1);
		assert_int_equal(by_cause__shares(by_cause, 6, 0, 0, shares), 0);
		by_cause__free(by_cause);
	}
}

static void waits_of_others_are_not_joined(void **state)
{
	struct by_cause *by_cause = by_cause__new();
	struct cause_share shares[BY_CAUSE_SHARES];
	struct wait_record waited = explained(7, 100, 140, CAUSE_LOCK);

	(void)state;
	by_cause__explain(by_cause, &waited);
	profile_wait(by_cause, 1, 8, 100, 140); /* another thread */
	profile_wait(by_cause, 2, 7, 101, 141); /* another time */
	by_cause__finish(by_cause);
	for (uint32_t key = 1; key <= 2; key++) {
		assert_int_equal(by_cause__shares(by_cause, key, 1, 40 * MS, shares), 1);
		assert_int_equal(shares[0].cause, CAUSE_UNKNOWN);
		assert_int_equal(shares[0].count, 1);
	}
	by_cause__free(by_cause);
}

/* The sums are of blocked time: what a thread then waited for a CPU is not in them. */
static void the_run_queue_is_apart(void **state)
{
	struct by_cause *by_cause = by_cause__new();
	struct cause_share shares[BY_CAUSE_SHARES];
	struct wait_record waited = {.tid = 7, .off_ts = 100 * MS, .end_ts = 130 * MS};
	struct by_cause_wait wait = {1, 7, 100 * MS, 10 * MS};

	(void)state;
	waited.ns[CAUSE_RUNQUEUE] = 20 * MS;
	waited.ns[CAUSE_LOCK] = 10 * MS;
	by_cause__wait(by_cause, &wait);
	by_cause__explain(by_cause, &waited);
	assert_int_equal(by_cause__shares(by_cause, 1, 1, 10 * MS, shares), 1);
	assert_int_equal(shares[0].cause, CAUSE_LOCK);
	assert_int_equal(shares[0].ns, 10 * MS);
	assert_int_equal(shares[0].count, 1);
	/* Unless it was nothing else, which is in a sum when that was asked for (--state 0). */
	wait = (struct by_cause_wait){2, 7, 200 * MS, 30 * MS};
	waited = (struct wait_record){.tid = 7, .off_ts = 200 * MS, .end_ts = 230 * MS};
	waited.ns[CAUSE_RUNQUEUE] = 30 * MS;
	by_cause__wait(by_cause, &wait);
	by_cause__explain(by_cause, &waited);
	assert_int_equal(by_cause__shares(by_cause, 2, 1, 30 * MS, shares), 1);
	assert_int_equal(shares[0].cause, CAUSE_RUNQUEUE);
	by_cause__free(by_cause);
}

/* However odd the two sides are, the parts are the sum. */
static void shares_sum_to_the_sum(void **state)
{
	uint64_t random = 42;

	(void)state;
	for (int turn = 0; turn < 200; turn++) {
		struct by_cause *by_cause = by_cause__new();
		struct cause_share shares[BY_CAUSE_SHARES];

		for (int i = 0; i < 50; i++) {
			uint64_t off = random_below(&random, 500);
			struct wait_record waited =
				explained((uint32_t)random_below(&random, 3), off,
					  off + 2 + random_below(&random, 50),
					  (enum cause)random_below(&random, CAUSE_NETWORK));

			by_cause__explain(by_cause, &waited);
			profile_wait(by_cause, 1 + (uint32_t)random_below(&random, 2),
				     (uint32_t)random_below(&random, 3), off,
				     off + random_below(&random, 60));
		}
		by_cause__finish(by_cause);
		for (uint32_t key = 1; key <= 2; key++) {
			uint64_t count = random_below(&random, 60), ns = random_below(&random, MS);
			uint64_t counts = 0, sum = 0;
			size_t n = by_cause__shares(by_cause, key, count, ns, shares);

			for (size_t i = 0; i < n; i++) {
				counts += shares[i].count;
				sum += shares[i].ns;
			}
			assert_int_equal(counts, count);
			assert_int_equal(sum, ns);
		}
		by_cause__free(by_cause);
	}
}

static void memory_is_bounded(void **state)
{
	struct by_cause *by_cause = by_cause__new();
	struct cause_share shares[BY_CAUSE_SHARES];
	uint64_t many = 3 * BY_CAUSE_PENDING;

	(void)state;
	for (uint64_t i = 0; i < many; i++)
		profile_wait(by_cause, 1, (uint32_t)i % 999, 10 * i, 10 * i + 5);
	assert_int_equal(by_cause__lost(by_cause), many - 2 * BY_CAUSE_PENDING);
	by_cause__finish(by_cause);
	assert_int_equal(by_cause__shares(by_cause, 1, many, 5 * many * MS, shares), 1);
	assert_int_equal(shares[0].cause, CAUSE_UNKNOWN);
	assert_int_equal(shares[0].count, many);
	by_cause__free(by_cause);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stall_covers_its_wait),
		cmocka_unit_test(waits_that_are_no_stall_are_told),
		cmocka_unit_test(an_incident_that_the_chain_does_not_reach),
		cmocka_unit_test(one_that_its_end_cut_off_is_told),
		cmocka_unit_test(either_side_may_come_first),
		cmocka_unit_test(waits_of_others_are_not_joined),
		cmocka_unit_test(the_run_queue_is_apart),
		cmocka_unit_test(shares_sum_to_the_sum),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
