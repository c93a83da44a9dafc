// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Of more stalls than files which ones are kept: the last, or the worst. */
#include <dirent.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "user/cmd/flight.h"

#define S  1000000000ull
#define MS 1000000ull

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static char folder[64];

static int begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/netstall-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

/* The names in the folder, in order, with a space behind each; they are removed. */
static const char *kept(void)
{
	static char names[512];
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);

	names[0] = '\0';
	for (int i = 0; i < count; i++) {
		char path[400];

		if (entries[i]->d_name[0] != '.') {
			strcat(strcat(names, entries[i]->d_name), " ");
			snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
			unlink(path);
		}
		free(entries[i]);
	}
	free(entries);
	return names;
}

static int end(void **state)
{
	(void)state;
	kept();
	return rmdir(folder);
}

struct happening {
	unsigned s; /* when it ends */
	unsigned ms;
	enum cause cause;
};

#define ASKED CAUSE_COUNT

static size_t fly(bool worst, const struct happening *happenings, size_t count)
{
	struct recording_writer *last = recording__begin_last("host", "test", 1, 10 * S, 1 << 20);
	struct flight *flight;
	size_t there;

	assert_int_equal(flight__open(folder, 2, worst, last, &flight), 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t end_ts = happenings[i].s * S;
		struct stall stall = {.cause = happenings[i].cause,
				      .start_ts = end_ts - happenings[i].ms * MS,
				      .end_ts = end_ts};

		flight__poll(flight, end_ts);
		if (happenings[i].cause == ASKED)
			flight__ask(flight, end_ts);
		else
			flight__stall(flight, &stall);
	}
	assert_int_equal(flight__finish(flight), 0);
	there = flight__kept(flight);
	flight__free(flight);
	recording__end(last);
	return there;
}

#define FLY(worst, ...)                                                                            \
	fly(worst, (struct happening[]){__VA_ARGS__},                                              \
	    sizeof((struct happening[]){__VA_ARGS__}) / sizeof(struct happening))

static void the_last_are_kept(void **state)
{
	(void)state;
	assert_int_equal(FLY(false, {100, 90, CAUSE_RTO}, {101, 40, CAUSE_CORK}), 2);
	assert_string_equal(kept(), "001-rto.nsr 002-cork.nsr ");
	assert_int_equal(FLY(false, {100, 90, CAUSE_RTO}, {110, 50, CAUSE_CORK},
			     {120, 20, CAUSE_RTO}, {130, 30, CAUSE_LOCK}),
			 2);
	assert_string_equal(kept(), "003-rto.nsr 004-lock.nsr ");
}

static void of_a_cause_one_in_ten_seconds(void **state)
{
	(void)state;
	assert_int_equal(
		FLY(false, {100, 40, CAUSE_RTO}, {105, 400, CAUSE_RTO}, {112, 40, CAUSE_RTO}), 2);
	assert_string_equal(kept(), "001-rto.nsr 002-rto.nsr ");
}

static void the_worst_are_kept(void **state)
{
	(void)state;
	assert_int_equal(FLY(true, {100, 90, CAUSE_RTO}, {110, 50, CAUSE_CORK},
			     {120, 20, CAUSE_RTO}, {130, 70, CAUSE_LOCK}),
			 2);
	assert_string_equal(kept(), "001-rto.nsr 003-lock.nsr ");
	/* Within ten seconds, but twice as long; what was asked for is no stall that is short. */
	assert_int_equal(FLY(true, {100, 40, CAUSE_RTO}, {104, 60, CAUSE_RTO},
			     {105, 400, CAUSE_RTO}, {110, 0, ASKED}),
			 2);
	assert_string_equal(kept(), "002-rto.nsr 003-asked.nsr ");
}

/* Somebody has taken it away: it makes room all the same. */
static void one_that_is_gone_makes_room(void **state)
{
	struct recording_writer *last = recording__begin_last("host", "test", 1, 10 * S, 1 << 20);
	struct stall stall = {.cause = CAUSE_RTO, .start_ts = 100 * S, .end_ts = 101 * S};
	struct flight *flight;

	(void)state;
	assert_int_equal(flight__open(folder, 1, false, last, &flight), 0);
	flight__stall(flight, &stall);
	flight__poll(flight, 103 * S);
	for (int i = 0; i < 500 && !flight__kept(flight); i++) {
		usleep(10000);
		flight__poll(flight, 103 * S);
	}
	assert_string_equal(kept(), "001-rto.nsr ");
	flight__ask(flight, 104 * S);
	assert_int_equal(flight__finish(flight), 0);
	assert_string_equal(kept(), "002-asked.nsr ");
	flight__free(flight);
	recording__end(last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_are_kept),
		TEST(of_a_cause_one_in_ten_seconds),
		TEST(the_worst_are_kept),
		TEST(one_that_is_gone_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
