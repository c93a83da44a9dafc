// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What the outputs say of one and the same run agrees, in every golden trace; no length of time in
 * them is beyond the window; and the ids of losses and facts are those of the published schema.
 */
#include <jansson.h>

#include "tests/unit/feed.h"
#include "user/base/xalloc.h"
#include "user/check/judge/gate.h"
#include "user/check/reports/reports.h"
#include "user/record/facts.h"
#include "user/record/losses.h"
#include "user/render/render.h"

static const struct render_style plain = {.width = 120};
static const struct render_style verbose = {.width = 120, .verbose = true};

/* ---- every golden trace ---- */

/* All that is written of it. */
struct outputs {
	const char *name;
	const struct report *report;
	json_t *json, *check_json;
	char *shortened, *whole, *check;
	const struct outcome *outcome;
};

typedef void outputs_test(const struct outputs *outputs);

static json_t *parsed(char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, 0, &error);

	if (!json)
		fail_msg("%s in %s", error.text, text);
	free(text);
	return json;
}

static void run_outputs(const char *name, outputs_test *test)
{
	struct pipeline *pipeline = feed__pipeline(feed__golden(name));
	const struct report *report = pipeline__finish(pipeline);
	struct budgets budgets;
	struct gate_options options = {.budgets = &budgets, .min_exchanges = 1};
	struct gate_facts facts = {.target = "client"};
	struct outputs outputs = {.name = name, .report = report};
	struct outcome *outcome;
	struct verdict verdict;

	budgets__default(&budgets);
	outputs.outcome = outcome = outcome__new(report, &options, &facts);
	verdict__write(&verdict, report);
	outputs.json =
		parsed(PRINTED(out, render__json(out, report, &verdict, 1, CONNECTIONS_FOUND)));
	outputs.check_json = parsed(PRINTED(out, check_json__write(out, outcome)));
	outputs.shortened = PRINTED(out, render__report(out, report, &verdict, &plain, true));
	outputs.whole = PRINTED(out, render__report(out, report, &verdict, &verbose, true));
	verdict__clear(&verdict);
	outputs.check = PRINTED(out, check_text__write(out, outcome, &plain));
	test(&outputs);
	free(outputs.shortened);
	free(outputs.whole);
	free(outputs.check);
	json_decref(outputs.json);
	json_decref(outputs.check_json);
	outcome__free(outcome);
	pipeline__free(pipeline);
}

static void every_trace(outputs_test *test)
{
	size_t count;
	const char *const *names = golden_names(&count);

	assert_true(count > 30);
	for (size_t i = 0; i < count; i++)
		run_outputs(names[i], test);
}

/* ---- losses ---- */

/* "1,234" before words, in whatever the line is broken; -1: the words are not there. */
static long long number_before(const char *text, const char *words)
{
	const char *at = strstr(text, words);
	long long number = 0;
	const char *from = at;

	if (!at)
		return -1;
	while (from > text && strchr("0123456789,", from[-1]))
		from--;
	for (; from < at; from++)
		number = *from == ',' ? number : 10 * number + (*from - '0');
	return number;
}

static long long events_lost(const char *text)
{
	char *unwrapped = xstrdup(text), *to = unwrapped;
	long long number;

	for (const char *from = text; *from; from++) {
		if (*from == '\n')
			from += strspn(from, "\n ") - 1;
		*to++ = *from < ' ' ? ' ' : *from;
	}
	*to = '\0';
	number = number_before(unwrapped, " events lost");
	if (number < 0)
		number = number_before(unwrapped, " event lost");
	free(unwrapped);
	return number;
}

/* Of the lines "LOST  41 records (ring buffer full)". */
static long long sum_of_lines(const char *summary)
{
	long long sum = 0;

	for (const char *at = summary; (at = strstr(at, "  LOST  "));) {
		at += strlen("  LOST  ");
		sum += number_before(at, strpbrk(at, " "));
	}
	return sum;
}

static long long count_in(const json_t *json, const char *object, const char *key)
{
	const json_t *count = json_object_get(json_object_get(json, object), key);

	assert_true(json_is_integer(count));
	return json_integer_value(count);
}

static void losses_agree(const struct outputs *outputs)
{
	const json_t *completeness = json_object_get(outputs->json, "completeness");
	long long lost = count_in(outputs->json, "completeness", "lost");
	bool complete = json_is_true(json_object_get(completeness, "complete")), doubted = false;

	print_message("%s\n", outputs->name);
	assert_int_equal(lost, losses__events(outputs->report->lost));
	assert_int_equal(sum_of_lines(outputs->whole), lost);
	assert_int_equal(sum_of_lines(outputs->shortened), lost);
	assert_int_equal(events_lost(outputs->whole), lost);
	assert_int_equal(events_lost(outputs->shortened), lost);
	assert_int_equal(events_lost(outputs->check), lost);
	assert_int_equal(count_in(outputs->check_json, "watched", "lost"), lost);
	for (size_t i = 0; i < outputs->outcome->reason_count; i++)
		doubted |= outputs->outcome->reasons[i].kind == REASON_LOST;
	assert_true(!doubted || !complete);
	assert_true(doubted || complete || outputs->report->session.missing);
	assert_true(complete || !strstr(outputs->whole, "from start to end") ||
		    strstr(outputs->whole, "Records are missing"));
}

static void test_losses_agree(void **state)
{
	(void)state;
	every_trace(losses_agree);
}

/* ---- lengths of time ---- */

static bool is_length(const char *key)
{
	static const char *const keys[] = {
		"duration_ms", "on_cpu_ms", "blocked_ms", "runqueue_ms",     "p50_ms", "p90_ms",
		"p99_ms",      "max_ms",    "held_ms",    "longest_owed_ms", "ms",     NULL};

	for (size_t i = 0; keys[i]; i++) {
		if (!strcmp(key, keys[i]))
			return true;
	}
	return false;
}

/* Returns how many there were. */
static size_t expect_within(const json_t *json, double window_ms)
{
	const char *key;
	json_t *value;
	size_t i, count = 0;

	json_array_foreach ((json_t *)json, i, value) {
		count += expect_within(value, window_ms);
	}
	json_object_foreach ((json_t *)json, key, value) {
		count += expect_within(value, window_ms);
		if (!json_is_number(value) || !is_length(key))
			continue;
		count++;
		if (json_number_value(value) < 0 || json_number_value(value) > window_ms + 1e-6)
			fail_msg("%s is %f ms in a window of %f", key, json_number_value(value),
				 window_ms);
	}
	return count;
}

static void lengths_are_within(const struct outputs *outputs)
{
	const struct report *report = outputs->report;

	print_message("%s\n", outputs->name);
	expect_within(outputs->json, (double)(report->end_ts - report->start_ts) / 1e6);
	assert_null(strstr(outputs->shortened, "18,446,744"));
	assert_null(strstr(outputs->whole, "18,446,744"));
	assert_null(strstr(outputs->check, "18,446,744"));
}

/* "netstall: tracing ..." and an empty line stand above the report of a terminal. */
static void fits_on_a_screen(const struct outputs *outputs)
{
	size_t lines = 0;

	print_message("%s\n", outputs->name);
	for (const char *at = outputs->shortened; (at = strchr(at, '\n')); at++)
		lines++;
	if (outputs->report->cause_count <= 1)
		assert_in_range(lines, 1, REPORT_LINES + 1);
}

static void test_a_report_fits_on_a_screen(void **state)
{
	(void)state;
	every_trace(fits_on_a_screen);
}

static void test_lengths_are_within_the_window(void **state)
{
	(void)state;
	every_trace(lengths_are_within);
}

static void on_record(void *context, const struct report *report, const union record *record)
{
	render__record(context, report, record, &plain);
	render__json_record(context, report, record);
}

/* Times that two CPUs wrote behind each other's back, or a difference that fell below zero. */
static void test_impossible_times(void **state)
{
	static const char *const lines[] = {
		/* Woken on its way off the CPU; when the wake came of the wait to come. */
		"50 wait tgid=10 tid=10 off=20 wake=19.999 state=1 syscall=0 arg0=5",
		"70 wait tgid=10 tid=10 off=60 wake=70.001 state=1 syscall=0 arg0=5",
		"90 thread-totals tgid=10 tid=10",
		"99 thread-totals tgid=10 tid=11 on_cpu=5 blocked=123 runqueue=100.5",
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct pipeline_sink sink = {.context = out, .on_record = on_record};
	struct pipeline *pipeline = pipeline__new(&sink);
	struct ns_thread_totals *totals = NULL;
	const struct report *report;
	struct feed feed = feed__text(
		"5 session threshold=10 arch=x86_64\n"
		"5 process tgid=10 role=target comm=client\n"
		"5 conn conn=1 tgid=10 role=target local=127.0.0.1:1 "
		"remote=127.0.0.1:2 fd=7 opener=self\n");
	struct verdict verdict;
	json_t *json;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		feed__add_line(&feed, lines[i]);
	feed__add_line(&feed, "100 end");
	for (size_t i = 0; i < feed.count; i++) {
		if (feed.v[i].head.type == NS_THREAD_TOTALS && feed.v[i].head.tid == 10)
			totals = &feed.v[i].thread_totals;
	}
	totals->on_cpu_ns = totals->blocked_ns = totals->runqueue_ns = 0ull - 1000;
	feed__run(&feed, pipeline);
	feed__free(&feed);
	report = pipeline__finish(pipeline);
	assert_int_equal(report->lost[NS_LOST_DAMAGED], 4);
	assert_false(report->complete);
	assert_int_equal(report->thread_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(report->threads[i].blocked_ns <= 94 * 1000000ull);
	verdict__write(&verdict, report);
	json = parsed(PRINTED(file, render__json(file, report, &verdict, 1, CONNECTIONS_FOUND)));
	verdict__clear(&verdict);
	assert_true(expect_within(json, 95) > 10);
	json_decref(json);
	fclose(out);
	assert_non_null(strstr(text, "blocked 0 ns, waited 30.0 ms for a CPU"));
	assert_non_null(strstr(text, "blocked 10.0 ms, waited 0 ns for a CPU"));
	assert_null(strstr(text, "18,446,744"));
	assert_null(strstr(text, "18446744"));
	free(text);
	pipeline__free(pipeline);
}

/* ---- ids ---- */

static json_t *at_path(json_t *json, const char *const *keys)
{
	for (; *keys; keys++)
		json = json_object_get(json, *keys);
	assert_non_null(json);
	return json;
}

static bool has(const json_t *names, const char *id)
{
	const json_t *name;
	size_t i;

	json_array_foreach ((json_t *)names, i, name) {
		if (!strcmp(json_string_value(name), id))
			return true;
	}
	return false;
}

static void test_ids_are_those_of_the_schema(void **state)
{
	static const char *const losses[] = {
		"properties",    "completeness", "properties", "lost_by_kind",
		"propertyNames", "enum",         NULL};
	static const char *const facts[] = {"properties", "completeness", "properties", "missing",
					    "items",      "enum",         NULL};
	json_t *schema = json_load_file("docs/report-schema.json", 0, NULL), *names;

	(void)state;
	assert_non_null(schema);
	names = at_path(schema, losses);
	assert_int_equal(json_array_size(names), NS_LOST_KINDS - 1);
	for (uint32_t kind = 1; kind < NS_LOST_KINDS; kind++) {
		assert_true(has(names, loss_kind(kind)->id));
		assert_string_equal(loss_ids[kind], loss_kind(kind)->id);
	}
	assert_null(loss_ids[NS_LOST_KINDS]);
	names = at_path(schema, facts);
	assert_int_equal(json_array_size(names), NS_FACT_COUNT);
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++)
		assert_true(has(names, fact__row(fact)->id));
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_agree),
		cmocka_unit_test(test_lengths_are_within_the_window),
		cmocka_unit_test(test_a_report_fits_on_a_screen),
		cmocka_unit_test(test_impossible_times),
		cmocka_unit_test(test_ids_are_those_of_the_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
