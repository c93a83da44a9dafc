// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Habits: each is told when it is out of the ordinary, and not when one fact of it is missing. */
#include "tests/unit/analyze/outcome.h"
#include "user/analyze/requests/habits.h"
#include "user/explain/habits.h"

#define FORWARDER                                                                                  \
	"0 session threshold=10 arch=x86_64\n"                                                     \
	"0 process tgid=10 role=target comm=forwarder\n"                                           \
	"0 conn conn=1 tgid=10 role=target local=127.0.0.1:1 remote=127.0.0.1:2 fd=7 opener=self\n"
#define END_1S "1000 end\n"

static const struct report_habit *find(const struct outcome *outcome, const char *id)
{
	for (size_t i = 0; i < outcome->report->habit_count; i++) {
		if (!strcmp(habit__id(outcome->report->habits[i].habit), id))
			return &outcome->report->habits[i];
	}
	return NULL;
}

static void told(const char *lines, const char *id, const char *const *facts)
{
	struct outcome outcome = analyze(feed__text(lines));
	const struct report_habit *habit = find(&outcome, id);
	char *text;

	if (!habit)
		fail_msg("%s is not told of: %s", id, lines);
	text = habit__sentence(outcome.report, habit);
	says__check(text, true, facts);
	free(text);
	done(&outcome);
}

#define assert_told(lines, id, ...) told(lines, id, (const char *const[]){__VA_ARGS__, NULL})

static void assert_silent(const char *lines)
{
	struct outcome outcome = analyze(feed__text(lines));

	if (outcome.report->habit_count)
		fail_msg("%s is told of: %s", habit__id(outcome.report->habits[0].habit), lines);
	done(&outcome);
}

#define THREAD FORWARDER "1000 thread-totals tgid=10 tid=11 comm=worker "
#define CONN   FORWARDER "1000 conn-totals conn=1 mss=32768 "

static void test_small_writes(void **state)
{
	(void)state;
	assert_told(CONN "writes=1000 bytes_out=88000 small_writes=1000 close_writes=500\n" END_1S,
		    "small-writes", "forwarder/10", "fd 7 (127.0.0.1:1 -> 127.0.0.1:2)",
		    "1,000 writes of 88 B");
	/* One write for each request; large pieces; few of them. */
	assert_silent(CONN
		      "writes=1000 bytes_out=88000 small_writes=1000 close_writes=10\n" END_1S);
	assert_silent(CONN
		      "writes=1000 bytes_out=8000000 small_writes=1000 close_writes=500\n" END_1S);
	assert_silent(CONN "writes=20 bytes_out=880 small_writes=20 close_writes=10\n" END_1S);
}

static void test_empty_wakes(void **state)
{
	(void)state;
	assert_told(THREAD "wakes=1000 empty_wakes=700 voluntary=1000 on_cpu=8\n" END_1S,
		    "empty-wakes", "1000 wakes a second", "70.0%");
	/* Few are empty; it computes; it is seldom woken at all. */
	assert_silent(THREAD "wakes=1000 empty_wakes=300 voluntary=1000 on_cpu=8\n" END_1S);
	assert_silent(THREAD "wakes=1000 empty_wakes=700 voluntary=1000 on_cpu=500\n" END_1S);
	assert_silent(THREAD "wakes=60 empty_wakes=60 voluntary=60 on_cpu=1\n" END_1S);
}

/* Away from its CPU for 2 ms each time, with others on it. */
static void test_preempted(void **state)
{
	(void)state;
	assert_told(THREAD "voluntary=10 involuntary=200 on_cpu=550 runqueue=450\n" END_1S,
		    "preempted", "worker/11", "200 times a second", "45.0%");
	/* It goes by itself; a thread that it wakes answers at once; seldom; for next to nothing.
	 */
	assert_silent(THREAD "voluntary=300 involuntary=200 on_cpu=550 runqueue=450\n" END_1S);
	assert_silent(THREAD "voluntary=10 involuntary=9000 on_cpu=550 runqueue=450\n" END_1S);
	assert_silent(THREAD "voluntary=1 involuntary=8 on_cpu=980 runqueue=8\n" END_1S);
	assert_silent(THREAD "voluntary=10 involuntary=100 on_cpu=900 runqueue=90\n" END_1S);
}

#define SECOND_THREAD "1000 thread-totals tgid=10 tid=12 comm=worker voluntary=2500 on_cpu=100\n"

static void test_switches(void **state)
{
	(void)state;
	assert_told(THREAD "voluntary=2500 on_cpu=900\n" SECOND_THREAD
			   "1000 conn-totals conn=1 exchanges=1000 bytes_out=1000\n" END_1S,
		    "switches-per-exchange", "5.0 context switches", "2 threads");
	assert_silent(THREAD
		      "voluntary=1000 on_cpu=900\n"
		      "1000 conn-totals conn=1 exchanges=1000 bytes_out=1000\n" END_1S);
	/* One that waits in steps for each answer hands nothing around. */
	assert_silent(THREAD
		      "voluntary=9000 on_cpu=900\n"
		      "1000 conn-totals conn=1 exchanges=1000 bytes_out=1000\n" END_1S);
}

/* 100 MiB in a second, with few wakes or many, busy or not. */
#define BULK "1000 conn-totals conn=1 writes=800 bytes_out=52428800 bytes_in=52428800\n" END_1S

static void test_bulk(void **state)
{
	(void)state;
	assert_told(THREAD "voluntary=20000 on_cpu=300 runqueue=100\n" BULK, "wake-bound",
		    "5,242 B", "200 switches a MiB");
	/* Hardly busy: something else sets the pace. Large pieces; it computes for each. */
	assert_silent(THREAD "voluntary=20000 on_cpu=100\n" BULK);
	assert_silent(THREAD "voluntary=500 on_cpu=900\n" BULK);
	assert_silent(THREAD "voluntary=20000 on_cpu=900\n" BULK);
	/* The same bytes in a hundred thousand answers are no bulk. */
	assert_silent(THREAD
		      "voluntary=20000 on_cpu=300\n"
		      "1000 conn-totals conn=1 exchanges=100000 bytes_out=104857600\n" END_1S);
}

#define SPLIT                                                                                      \
	CONN "writes=400 bytes_out=17600 small_writes=400 close_writes=200 exchanges=200 "         \
	     "holds_nagle=198"
#define SPLIT_TO(peers)                                                                            \
	FORWARDER                                                                                  \
	"0 process tgid=20 role=peer comm=srv\n"                                                   \
	"0 conn conn=2 tgid=20 role=peer local=127.0.0.1:2 remote=127.0.0.1:1 fd=8 opener=peer\n"  \
	"0 peer conn=1 peer=2\n"                                                                   \
	"1000 conn-totals conn=2 " peers                                                           \
	"\n"                                                                                       \
	"1000 conn-totals conn=1 mss=32768 writes=400 bytes_out=17600 small_writes=400 "           \
	"close_writes=200 exchanges=200 holds_nagle=198\n" END_1S

static void test_latent(void **state)
{
	(void)state;
	assert_told(SPLIT "\n" END_1S, "latent", "99.0% of the exchanges", "198 times",
		    "or answers, at once");
	assert_told(SPLIT_TO("segs_out=400 data_segs_out=200"), "latent",
		    "acknowledges the piece before at once");
	assert_told(SPLIT_TO("segs_out=200 data_segs_out=200"), "latent", "answers carry");
	/* Not held: TCP_NODELAY, or one piece. Rarely; in a stream; of pieces written apart. */
	assert_silent(CONN "writes=200 bytes_out=17600 small_writes=200 exchanges=200\n" END_1S);
	assert_silent(CONN
		      "writes=220 bytes_out=17600 small_writes=220 close_writes=20 "
		      "exchanges=200 holds_nagle=20\n" END_1S);
	assert_silent(CONN
		      "writes=4000 bytes_out=8000000 small_writes=4000 close_writes=3900 "
		      "exchanges=2 holds_nagle=1500\n" END_1S);
	assert_silent(CONN
		      "writes=400 bytes_out=17600 small_writes=400 close_writes=10 "
		      "exchanges=200 holds_nagle=198\n" END_1S);
}

/* What does stall is no longer latent. */
static void test_stalls(void **state)
{
	struct outcome outcome =
		analyze(feed__text(HEAD PEER FIRST SECOND FIRE LEFT ARRIVED GONE
				   "1000 conn-totals conn=1 mss=32768 writes=400 bytes_out=17600 "
				   "small_writes=400 close_writes=200 exchanges=200 "
				   "holds_nagle=198\n" END_1S));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_null(find(&outcome, "latent"));
	assert_non_null(find(&outcome, "small-writes"));
	done(&outcome);
}

/* A peer's habits are not the target's. */
static void test_targets_only(void **state)
{
	(void)state;
	assert_silent(
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=20 role=peer comm=srv\n"
		"0 conn conn=1 tgid=20 role=peer local=127.0.0.1:1 remote=127.0.0.1:2\n"
		"1000 thread-totals tgid=20 tid=20 voluntary=10 involuntary=200 on_cpu=550 runqueue=450\n"
		"1000 conn-totals conn=1 writes=1000 bytes_out=88000 small_writes=1000 "
		"close_writes=500\n" END_1S);
}

static void test_bounded(void **state)
{
	struct feed feed = feed__text(
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=10 role=target comm=c\n");
	struct outcome outcome;
	char line[256];

	(void)state;
	for (unsigned tid = 11; tid < 60; tid++) {
		snprintf(line, sizeof(line),
			 "1000 thread-totals tgid=10 tid=%u voluntary=10 involuntary=200 "
			 "wakes=1000 empty_wakes=900 on_cpu=15 runqueue=400",
			 tid);
		feed__add_line(&feed, line);
	}
	feed__add_line(&feed, "1000 end");
	outcome = analyze(feed);
	/* Four of each kind speak for the others. */
	assert_int_equal(outcome.report->habit_count, 8);
	done(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_writes), cmocka_unit_test(test_empty_wakes),
		cmocka_unit_test(test_switches),     cmocka_unit_test(test_preempted),
		cmocka_unit_test(test_latent),       cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_bulk),         cmocka_unit_test(test_targets_only),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
