// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The workload's table of modes, and the figures it makes of its samples. */
#include "tests/unit/test.h"
#include "user/demo/workload.h"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct workload_result));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void add(struct workload_result *r, uint64_t latency_us)
{
	uint64_t n = r->exchanges++;

	r->samples[n % WORKLOAD_SAMPLES].latency_ns = latency_us * 1000;
	if (latency_us * 1000 > r->max_ns)
		r->max_ns = latency_us * 1000;
}

static void every_mode_has_a_script(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < WORKLOAD_MODES; mode++) {
		const struct workload_script *s = workload__script(mode);

		assert_non_null(s);
		assert_int_equal(s->mode, mode);
		assert_non_null(s->description);
		assert_true(s->first_bytes > 0);
		assert_ptr_equal(workload__find(s->name), s);
	}
	assert_null(workload__script(WORKLOAD_MODES));
	assert_null(workload__find("no such mode"));
	assert_null(workload__find(""));
}

static void parts_fit_together(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < WORKLOAD_MODES; mode++) {
		const struct workload_script *s = workload__script(mode);

		/* A pause comes before a second write, or before what is held is let go. */
		assert_true(!s->gap_us || s->rest_bytes || s->cork || s->more);
		/* What MSG_MORE holds, TCP_NODELAY pushes out, and nothing else did before. */
		assert_true(!s->more || (!s->rest_bytes && !s->cork && !s->nodelay));
		/* An early reply comes between two writes. */
		assert_true(!s->early_reply_bytes || s->rest_bytes);
		/* Without a reply nothing but a clock paces the client. */
		assert_true(s->reply_bytes);
		assert_int_equal(!s->burst, !s->interval_us);
	}
}

static void no_exchange_gives_zeros(void **state)
{
	struct workload_summary s;

	memset(&s, 0xff, sizeof(s));
	workload__summarize(*state, &s);
	assert_int_equal(s.exchanges, 0);
	assert_true(s.median_us == 0 && s.p99_us == 0 && s.max_us == 0);
	assert_true(s.cpu_us_per_exchange == 0 && s.seconds == 0);
}

static void one_exchange_is_every_percentile(void **state)
{
	struct workload_summary s;

	add(*state, 17);
	workload__summarize(*state, &s);
	assert_int_equal(s.exchanges, 1);
	assert_true(s.median_us == 17 && s.p99_us == 17 && s.max_us == 17);
}

static void percentiles_are_nearest_ranks(void **state)
{
	struct workload_result *r = *state;
	struct workload_summary s;

	for (unsigned int us = 200; us > 0; us--)
		add(r, us);
	r->stalls = 3;
	r->client_cpu_ns = 1500000;
	r->server_cpu_ns = 500000;
	r->window_ns = 2500000000;
	workload__summarize(r, &s);
	assert_true(s.median_us == 100 && s.p99_us == 198 && s.max_us == 200);
	assert_int_equal(s.stalls, 3);
	assert_true(s.cpu_us_per_exchange == 10 && s.seconds == 2.5);
}

static void odd_counts_have_a_middle(void **state)
{
	struct workload_summary s;

	add(*state, 30);
	add(*state, 10);
	add(*state, 20);
	workload__summarize(*state, &s);
	assert_true(s.median_us == 20 && s.p99_us == 30);
}

static void a_full_ring_counts_on(void **state)
{
	struct workload_result *r = *state;
	struct workload_summary s;

	for (unsigned int i = 0; i < WORKLOAD_SAMPLES; i++)
		add(r, 5000);
	for (unsigned int i = 0; i < WORKLOAD_SAMPLES; i++)
		add(r, 7);
	workload__summarize(r, &s);
	assert_int_equal(s.exchanges, 2 * WORKLOAD_SAMPLES);
	assert_true(s.median_us == 7 && s.p99_us == 7); /* the older half has been overwritten */
	assert_true(s.max_us == 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mode_has_a_script),
		cmocka_unit_test(parts_fit_together),
		cmocka_unit_test_setup_teardown(no_exchange_gives_zeros, setup, teardown),
		cmocka_unit_test_setup_teardown(one_exchange_is_every_percentile, setup, teardown),
		cmocka_unit_test_setup_teardown(percentiles_are_nearest_ranks, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_counts_have_a_middle, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_ring_counts_on, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
