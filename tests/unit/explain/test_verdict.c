// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the verdict says, and that it never says more than was seen. */
#include "tests/unit/feed.h"
#include "user/explain/verdict.h"

/* Of a golden trace, until verdict__clear(). Its call sites are gone. */
static struct verdict *verdict_of(struct verdict *verdict, const char *name)
{
	struct pipeline *pipeline = feed__pipeline(feed__golden(name));

	verdict__write(verdict, pipeline__finish(pipeline));
	pipeline__free(pipeline);
	return verdict;
}

/* One line each, nothing that acts on a terminal, and no advice that does not last. */
static void test_all_are_clean(void **state)
{
	struct verdict written;
	size_t count;
	const char *const *names = golden_names(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct verdict *verdict = verdict_of(&written, names[i]);

		assert_non_null(verdict->title);
		assert_non_null(verdict->text);
		assert_null(strpbrk(verdict->title, "\n\x1b"));
		assert_null(strpbrk(verdict->text, "\n\x1b"));
		for (size_t line = 0; line < verdict->advice_count; line++) {
			assert_null(strpbrk(verdict->advice[line], "\n\x1b"));
			assert_null(strstr(verdict->advice[line], "QUICKACK"));
		}
		verdict__clear(&written);
	}
}

static void test_nagle_delack(void **state)
{
	struct verdict written;
	const struct verdict *verdict = verdict_of(&written, "nagle-delack");

	(void)state;
	assert_true(verdict->found);
	assert_int_equal(verdict->cause, CAUSE_NAGLE_DELACK);
	assert_string_equal(verdict->headline,
			    "nagle-delack: 3 waits of 40.4 ms each (60.6% of 200 ms): client/4242 "
			    "writes each request in two pieces");
	assert_string_equal(verdict->title, "Nagle's algorithm against a delayed ACK.");
	/* The headline has these figures. */
	assert_null(strstr(verdict->brief, "This happened"));
	assert_says(verdict->text, "client/4242", "in two pieces, 40 B and 136 B", "231 us apart",
		    "fd 7 (127.0.0.1:37640 -> 127.0.0.1:7000)", "srv/4243",
		    "acknowledgement by 40 ms", "3 times in 6 writes", "40.4 ms each", "121 ms",
		    "60.6%");
	assert_int_equal(verdict->advice_count, 3);
	assert_says(verdict->advice[0], "one segment fewer");
	assert_says(verdict->advice[1], "TCP_NODELAY", "fd 7", "client/4242", "40.3 ms each time");
	assert_string_equal(verdict->evidence,
			    "All 3 stalls were seen from start to end, 0 events lost.");
	verdict__clear(&written);
	verdict = verdict_of(&written, "three-pieces");
	assert_says(verdict->text, "three pieces", "40 B", "136 B");
	assert_says(verdict->advice[1], "one more segment");
	verdict__clear(&written);
}

static void test_whose_fault(void **state)
{
	struct verdict written;
	const struct verdict *verdict = verdict_of(&written, "server-side");

	(void)state;
	assert_says(verdict->text, "at the other end: client/4242", "This end (srv/4243)");
	assert_says(verdict->advice[0], "client");
	assert_silent_on(verdict->advice[0], "srv");
	verdict__clear(&written);
	/* Whoever traces both ends has no "other end". */
	verdict = verdict_of(&written, "both-sides");
	assert_says(verdict->text, "receiving end");
	assert_silent_on(verdict->text, "other end", "This end");
	verdict__clear(&written);
	verdict = verdict_of(&written, "remote-inferred");
	assert_says(verdict->text, "other end (10.0.0.2:5432)", "out of sight", "deduced",
		    "carried no data");
	assert_says(verdict->evidence, "0 of 2 stalls", "two are worked out", "0 events lost");
	verdict__clear(&written);
}

static void test_the_rest_is_counted(void **state)
{
	struct verdict written;
	const struct verdict *verdict = verdict_of(&written, "many-connections");

	(void)state;
	assert_int_equal(verdict->cause, CAUSE_NAGLE_DELACK);
	assert_says(
		verdict->text, "fd 7 (127.0.0.1:37640", "2 times in 4 writes",
		"two more connections, 2 times, 80.8 ms",
		"1 cork stall (30.0 ms, 15.0%): client/4242 writes while fd 15 is corked (TCP_CORK); clear TCP_CORK",
		"; at most 30.0 ms to gain.");
	assert_says(verdict->evidence, "All 4", "0 events lost");
	verdict__clear(&written);
}

static void test_nothing(void **state)
{
	struct verdict written;
	const struct verdict *verdict = verdict_of(&written, "idle-server");

	(void)state;
	assert_false(verdict->found);
	assert_string_equal(verdict->headline, verdict->title);
	assert_string_equal(verdict->title, "Nothing held this program back on the network.");
	assert_says(verdict->text, "1.00 s", "1 connection", "1 write", "2 threads",
		    "0 events lost", "10 ms", "idle 100%");
	verdict__clear(&written);
	verdict = verdict_of(&written, "harmless-timer");
	assert_says(verdict->text, "120 us", "peer-app");
	verdict__clear(&written);
	verdict = verdict_of(&written, "no-connection");
	assert_says(verdict->title, "no evidence");
	assert_says(verdict->text, "No TCP connection");
	verdict__clear(&written);
}

/* What was asked first is answered also when the program itself was slow. */
static void test_the_network_is_cleared(void **state)
{
	struct verdict written;
	const struct verdict *verdict = verdict_of(&written, "lock");

	(void)state;
	assert_int_equal(verdict->cause, CAUSE_LOCK);
	assert_says(verdict->headline, "lock", "2 waits", "20.2 ms", "25.2% of 200 ms",
		    "worker/4251", "futex", "holder/4250", "clock_nanosleep");
	assert_says(verdict->text, "network nothing held it back", "10 ms");
	verdict__clear(&written);
	verdict = verdict_of(&written, "rto");
	assert_silent_on(verdict->text, "nothing held it back");
	assert_says(verdict->headline, "rto", "1 of 1 request", "612 ms", "76.6% of 800 ms",
		    "10.0.0.2:7000");
	verdict__clear(&written);
}

/* Nothing was lost, but this kernel hides what other stalls are found by. */
static void test_what_is_hidden(void **state)
{
	struct feed feed = feed__golden("nagle-delack");
	struct pipeline *pipeline;
	struct verdict written;

	(void)state;
	for (size_t i = 0; i < feed.count; i++) {
		if (feed.v[i].head.type == NS_SESSION)
			feed.v[i].session.missing |= 1u << NS_FACT_OPEN_WAITS;
	}
	pipeline = feed__pipeline(feed);
	verdict__write(&written, pipeline__finish(pipeline));
	assert_says(written.evidence, "Not everything was in sight", "3 stalls", "0 events lost");
	verdict__clear(&written);
	pipeline__free(pipeline);
}

static void test_losses(void **state)
{
	struct verdict written;
	const struct verdict *verdict = verdict_of(&written, "lost-events");

	(void)state;
	assert_says(verdict->evidence, "Records are missing", "stall was seen from",
		    "43 events lost", "41 records", "2 connections");
	verdict__clear(&written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_clean), cmocka_unit_test(test_nagle_delack),
		cmocka_unit_test(test_whose_fault),   cmocka_unit_test(test_the_rest_is_counted),
		cmocka_unit_test(test_nothing),       cmocka_unit_test(test_what_is_hidden),
		cmocka_unit_test(test_losses),        cmocka_unit_test(test_the_network_is_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
