// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Patterns of records, by a number: some records of a text trace come thousands of times, with
 * other connections, processes or threads each time, each kind by itself or in turn. None of them
 * may take a millisecond a record: that is some square of their number.
 *
 *	test_growth_random [FIRST COUNT]     in place of those that are always played
 *
 * NIGHTLY=1: a thousand that nobody has played.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/growth.h"
#include "user/analyze/pipeline.h"
#include "user/record/text.h"
#include "user/render/render.h"

#define RECORDS 128 /* of a trace */
#define KINDS   4   /* of records that come many times, at most */
#define FEWEST  1000
#define MOST    8000
/* Of a record. Where none of so many takes that long, more of them are not tried. */
#define CHEAP_NS 20000
#define DEAR_NS  1000000
#ifdef __SANITIZE_ADDRESS__
#define SLOWER 6
#else
#define SLOWER 1
#endif

enum how { IN_TURN = 1, OTHER_CONN = 2, OTHER_PROCESS = 4, OTHER_THREAD = 8, HOWS = 16 };

struct pattern {
	const char *trace;
	union record records[RECORDS];
	size_t count;
	size_t from; /* the records that come many times */
	size_t to;
	uint64_t step_ns;
	unsigned how; /* enum how */
};

static FILE *nowhere;
static glob_t traces;
static uint32_t first = 1, played = 40;

static void read_trace(struct pattern *pattern)
{
	FILE *in = fopen(pattern->trace, "r");
	char line[4096], error[256];

	assert_non_null(in);
	pattern->count = 0;
	while (pattern->count < RECORDS && fgets(line, sizeof(line), in)) {
		if (text__parse(line, &pattern->records[pattern->count], error, sizeof(error)) == 1)
			pattern->count++;
	}
	fclose(in);
	assert_true(pattern->count);
}

static void make(struct pattern *pattern, uint32_t number)
{
	static const uint64_t steps[] = {0, 100, 10000, 1000000};
	uint64_t state = number * 0x9e3779b97f4a7c15ull + 1;

	pattern->trace = traces.gl_pathv[random_below(&state, traces.gl_pathc)];
	read_trace(pattern);
	pattern->from = random_below(&state, pattern->count);
	pattern->to = pattern->from + 1 + random_below(&state, KINDS);
	if (pattern->to > pattern->count)
		pattern->to = pattern->count;
	pattern->step_ns = steps[random_below(&state, 4)];
	pattern->how = random_below(&state, HOWS);
}

static void feed_number(struct pipeline *pipeline, const struct pattern *pattern, size_t which,
			uint32_t number)
{
	union record record = pattern->records[which];
	const struct record_type *type = record_type__by_number(record.head.type);
	uint64_t later = number * pattern->step_ns;

	record.head.ts += later;
	for (const struct field *field = type->fields; field->name; field++) {
		if (field->kind == FIELD_TIME && field__number(&record, field))
			field__set_number(&record, field, field__number(&record, field) + later);
	}
	if (pattern->how & OTHER_CONN && record.head.conn)
		record.head.conn += 2 * number;
	if (pattern->how & OTHER_PROCESS && record.head.tgid)
		record.head.tgid += number;
	if (pattern->how & OTHER_THREAD && record.head.tid)
		record.head.tid += number;
	pipeline__feed(pipeline, &record, record.head.len);
}

static void feed_many(struct pipeline *pipeline, const struct pattern *pattern, uint32_t many)
{
	size_t kinds = pattern->to - pattern->from;
	uint32_t times = many / kinds;

	for (uint32_t i = 0; i < times * kinds; i++) {
		size_t kind = pattern->how & IN_TURN ? i % kinds : i / times;

		feed_number(pipeline, pattern, pattern->from + kind,
			    pattern->how & IN_TURN ? i / kinds : i % times);
	}
}

/* The CPU time of `report -v` of it. */
static uint64_t time_of(const struct pattern *pattern, uint32_t many)
{
	const struct render_style style = {.verbose = true, .connections = CONNECTIONS_EACH};
	struct pipeline *pipeline;
	const struct report *report;
	struct verdict verdict;
	uint64_t begin = clock__ns(CLOCK_PROCESS_CPUTIME_ID);

	pipeline = pipeline__new(&(struct pipeline_sink){0});
	for (size_t i = 0; i < pattern->from; i++)
		feed_number(pipeline, pattern, i, 0);
	feed_many(pipeline, pattern, many);
	report = pipeline__finish(pipeline);
	verdict__write(&verdict, report);
	render__report(nowhere, report, &verdict, &style, true);
	render__json(nowhere, report, &verdict, 0, CONNECTIONS_EACH);
	verdict__clear(&verdict);
	pipeline__free(pipeline);
	return clock__ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static void say(const struct pattern *pattern, uint32_t number, uint32_t many, uint64_t ns)
{
	fprintf(stderr, "pattern %u: %u records take %.0f ms:", number, many, (double)ns / 1e6);
	for (size_t i = pattern->from; i < pattern->to; i++)
		fprintf(stderr, " %s", record_type__by_number(pattern->records[i].head.type)->name);
	fprintf(stderr, " of %s%s%s%s%s, %.4f ms apart\n", pattern->trace,
		pattern->how & IN_TURN ? ", in turn" : ", one kind after the other",
		pattern->how & OTHER_CONN ? ", other connections" : "",
		pattern->how & OTHER_PROCESS ? ", other processes" : "",
		pattern->how & OTHER_THREAD ? ", other threads" : "",
		(double)pattern->step_ns / 1e6);
}

/* False: too long. */
static bool play(uint32_t number)
{
	static struct pattern pattern;

	make(&pattern, number);
	for (uint32_t many = FEWEST; many <= MOST; many *= 2) {
		uint64_t ns = time_of(&pattern, many);

		if (ns > (uint64_t)many * DEAR_NS * SLOWER) /* other programs disturb */
			ns = min_u64(ns, time_of(&pattern, many));
		if (ns > (uint64_t)many * DEAR_NS * SLOWER) {
			say(&pattern, number, many, ns);
			return false;
		}
		if (ns < (uint64_t)many * CHEAP_NS)
			break;
	}
	return true;
}

/* Each was one once. */
static void test_findings(void **state)
{
	(void)state;
	assert_true(play(342)); /* an incident went through all threads of its process */
	assert_true(play(401));
}

static void test_patterns(void **state)
{
	uint32_t failed = 0;

	(void)state;
	for (uint32_t number = first; number < first + played; number++)
		failed += !play(number);
	assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_findings),
					   cmocka_unit_test(test_patterns)};

	if (getenv("NIGHTLY")) {
		first = (uint32_t)time(NULL);
		played = 1000;
		printf("# patterns from %u on\n", first);
	}
	if (argc == 3) {
		first = strtoul(argv[1], NULL, 10);
		played = strtoul(argv[2], NULL, 10);
	}
	nowhere = fopen("/dev/null", "w");
	if (!nowhere || glob("tests/golden/*.trace", 0, NULL, &traces))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
