// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Baselines as files, and from runs. Their comparison: test_rates.c. */
#include "tests/unit/test.h"
#include "user/check/judge/baseline.h"

static const struct baseline example = {
	.threshold_ns = 10000000,
	.exchanges = 4211,
	.stalls = {[CAUSE_CORK] = 2, [CAUSE_NAGLE_DELACK] = 118, [CAUSE_UNKNOWN] = 1},
};

static const char example_text[] =
	"{\n"
	"  \"causes\": {\n"
	"    \"cork\": 2,\n"
	"    \"nagle-delack\": 118,\n"
	"    \"unknown\": 1\n"
	"  },\n"
	"  \"exchanges\": 4211,\n"
	"  \"schema\": \"netstall.baseline/1\",\n"
	"  \"threshold_ns\": 10000000\n"
	"}\n";

/* ---- the file ---- */

static void test_text(void **state)
{
	char *text = baseline__text(&example);

	(void)state;
	assert_string_equal(text, example_text);
	free(text);
}

static void assert_survives(const struct baseline *baseline)
{
	struct baseline again;
	char *text = baseline__text(baseline), *second, why[256] = "";

	if (!baseline__parse(&again, text, strlen(text), why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	assert_memory_equal(&again, baseline, sizeof(again));
	second = baseline__text(&again);
	assert_string_equal(second, text);
	free(text);
	free(second);
}

static void test_text_is_stable_under_save_and_load(void **state)
{
	struct baseline baseline = {.threshold_ns = 1, .exchanges = 1};

	(void)state;
	assert_survives(&example);
	assert_survives(&baseline);
	baseline.exchanges = 1ull << 53;
	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		baseline.stalls[cause] = UINT32_MAX - (uint64_t)cause;
	assert_survives(&baseline);
	baseline.endpoint_count = ENDPOINTS_MOST;
	for (uint32_t i = 0; i < ENDPOINTS_MOST; i++)
		baseline.endpoints[i] = (struct endpoint_time){.role = i % REQUEST_ROLES,
							       .comm = "a \"program\"?",
							       .port = 65535 - i,
							       .count = 1ull << 53,
							       .median_ns = i};
	assert_survives(&baseline);
}

static void refused(const char *text, size_t bytes, const char *const *facts)
{
	struct baseline baseline = example;
	char why[256] = "";

	assert_false(baseline__parse(&baseline, text, bytes, why, sizeof(why)));
	says__check(why, true, facts);
	assert_memory_equal(&baseline, &example, sizeof(example));
}

#define assert_refused(text, bytes, ...)                                                           \
	refused(text, bytes, (const char *const[]){__VA_ARGS__, NULL})
#define REFUSED(text, ...) assert_refused(text, strlen(text), __VA_ARGS__)
#define REST               "\"schema\":\"netstall.baseline/1\",\"threshold_ns\":1}"

static void test_damaged_files_are_refused(void **state)
{
	(void)state;
	REFUSED("", "damaged", "line 1");
	REFUSED("{", "damaged", "line 1");
	REFUSED("\x80", "damaged");
	REFUSED("[]", "no JSON object");
	REFUSED("7", "damaged");
	REFUSED("{}", "no schema");
	REFUSED("{\"schema\":1}", "no schema");
	assert_refused(example_text, sizeof(example_text), "damaged"); /* its NUL too */
	for (size_t bytes = 0; bytes < strlen(example_text) - 2; bytes++)
		assert_refused(example_text, bytes, "damaged");
}

static void test_other_schemas_are_refused(void **state)
{
	(void)state;
	REFUSED("{\"schema\":\"netstall.baseline/2\",\"exchanges\":1}",
		"'netstall.baseline/2', not netstall.baseline/1");
	REFUSED("{\"schema\":\"\\u001b[2J\"}", "'\\x1b[2J'");
	REFUSED("{\"causes\":{},\"exchanges\":1,\"exchange\":2," REST, "'exchange'");
}

static void test_wrong_numbers_are_refused(void **state)
{
	(void)state;
	REFUSED("{\"causes\":{},\"exchanges\":0," REST, "exchanges is 0");
	REFUSED("{\"causes\":{},\"exchanges\":-1," REST, "-1");
	REFUSED("{\"causes\":{},\"exchanges\":9007199254740993," REST, "cannot be");
	REFUSED("{\"causes\":{},\"exchanges\":99999999999999999999," REST, "damaged");
	REFUSED("{\"causes\":{},\"exchanges\":1.0," REST, "exchanges is no whole number");
	REFUSED("{\"causes\":{},\"exchanges\":\"1\"," REST, "is no whole number");
	REFUSED("{\"causes\":{}," REST, "no number of exchanges");
	REFUSED("{\"causes\":{},\"exchanges\":1,\"schema\":\"netstall.baseline/1\"}",
		"no threshold_ns");
	REFUSED("{\"causes\":[],\"exchanges\":1," REST, "no object of causes");
	REFUSED("{\"exchanges\":1," REST, "no object of causes");
	REFUSED("{\"causes\":{\"cork\":-1},\"exchanges\":1," REST, "cork stalls is -1");
	REFUSED("{\"causes\":{\"cork\":4294967296},\"exchanges\":1," REST, "cannot be");
	REFUSED("{\"causes\":{\"cork\":null},\"exchanges\":1," REST, "is no whole number");
	REFUSED("{\"causes\":{\"cork\":1,\"cork\":2},\"exchanges\":1," REST, "damaged");
	REFUSED("{\"causes\":{\"nagel\":1},\"exchanges\":1," REST, "cause", "'nagel'");
}

#define ENDPOINT(role, program, port, ns)                                                          \
	"{\"causes\":{},\"exchanges\":1,\"requests\":[{\"role\":" role ",\"program\":" program     \
	",\"port\":" port ",\"count\":3,\"median_ns\":" ns "}]," REST

static void test_wrong_requests_are_refused(void **state)
{
	char *many = strdup("{\"causes\":{},\"exchanges\":1,\"requests\":[{}"), *more;

	(void)state;
	REFUSED("{\"causes\":{},\"exchanges\":1,\"requests\":{}," REST, "no list of requests");
	REFUSED("{\"causes\":{},\"exchanges\":1,\"requests\":[1]," REST, "neither");
	REFUSED(ENDPOINT("\"asks\"", "\"web\"", "80", "9"), "neither");
	REFUSED(ENDPOINT("\"makes\"", "7", "80", "9"), "of no program");
	REFUSED(ENDPOINT("\"makes\"", "\"sixteen-letters-\"", "80", "9"), "of no program");
	REFUSED(ENDPOINT("\"serves\"", "\"web\"", "65536", "9"), "port is 65536");
	REFUSED(ENDPOINT("\"serves\"", "\"web\"", "80", "-9"), "median_ns is -9");
	REFUSED(ENDPOINT("\"serves\"", "\"web\"", "80", "0.5"), "no whole number");
	for (int i = 0; i < ENDPOINTS_MOST; i++) {
		assert_true(asprintf(&more, "%s,{}", many) > 0);
		free(many);
		many = more;
	}
	assert_true(asprintf(&more, "%s]," REST, many) > 0);
	REFUSED(more, "too long");
	free(many);
	free(more);
}

static void test_a_large_file_is_refused(void **state)
{
	size_t bytes = BASELINE_BYTES + 1;
	char *text = malloc(bytes);

	(void)state;
	memset(text, ' ', bytes);
	memcpy(text, example_text, strlen(example_text));
	assert_refused(text, bytes, "65536 bytes");
	free(text);
}

/* ---- from a run ---- */

static struct report report = {.session = {.head = {.type = NS_SESSION}, .threshold_ns = 5000000}};

static struct outcome run(void)
{
	struct outcome outcome = {.report = &report, .exchanges = 100};

	outcome.gates[0] = (struct gate){.budget = {.cause = CAUSE_CORK}, .count = 3};
	outcome.gates[1] = (struct gate){.budget = {.of = BUDGET_OF_TOTAL}, .count = 7};
	outcome.gate_count = 2;
	outcome.others[0] = (struct gate){.budget = {.cause = CAUSE_LOCK}, .count = 4};
	outcome.other_count = 1;
	return outcome;
}

static void test_a_run_becomes_a_baseline(void **state)
{
	struct outcome outcome = run();
	struct baseline baseline;
	char why[256];

	(void)state;
	outcome.verdict = CHECK_OVER;
	assert_true(baseline__take(&baseline, &outcome, why, sizeof(why)));
	assert_int_equal(baseline.threshold_ns, 5000000);
	assert_int_equal(baseline.exchanges, 100);
	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		assert_int_equal(baseline.stalls[cause], cause == CAUSE_CORK   ? 3
							 : cause == CAUSE_LOCK ? 4
									       : 0);
}

static void assert_not_taken(const struct outcome *outcome, const char *expected)
{
	struct baseline baseline;
	char why[512] = "";

	assert_false(baseline__take(&baseline, outcome, why, sizeof(why)));
	assert_says(why, expected);
}

static void test_a_run_that_proves_nothing_is_no_baseline(void **state)
{
	struct outcome outcome = run();
	struct baseline baseline;
	char text[] = "events were lost: try again", why[512];

	(void)state;
	outcome.verdict = CHECK_PROGRAM_FAILED;
	assert_not_taken(&outcome, "the program failed");
	outcome = run();
	outcome.unable = text;
	assert_not_taken(&outcome, "could not do its work");
	outcome = run();
	outcome.report = NULL;
	assert_not_taken(&outcome, "could not do its work");
	outcome = run();
	outcome.exchanges = 0;
	assert_not_taken(&outcome, "no exchange was seen");
	outcome = run();
	outcome.traffic_of_warmup = true;
	assert_not_taken(&outcome, "without --warmup");
	outcome = run();
	outcome.verdict = CHECK_OVER;
	outcome.reasons[outcome.reason_count++] = (struct reason){REASON_LOST, text};
	assert_not_taken(&outcome, "events were lost");
	/* What failed by a baseline must not pass by itself the next time. */
	outcome = run();
	outcome.changes[0] = (struct change){.cause = CAUSE_LOCK, .worse = true};
	outcome.change_count = 1;
	assert_not_taken(&outcome, "worse than the baseline");
	outcome.changes[0].worse = false;
	outcome.reasons[outcome.reason_count++] = (struct reason){REASON_BASELINE, text};
	/* That the old baseline does not fit is no reason against a new one. */
	assert_true(baseline__take(&baseline, &outcome, why, sizeof(why)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_is_stable_under_save_and_load),
		cmocka_unit_test(test_damaged_files_are_refused),
		cmocka_unit_test(test_other_schemas_are_refused),
		cmocka_unit_test(test_wrong_numbers_are_refused),
		cmocka_unit_test(test_wrong_requests_are_refused),
		cmocka_unit_test(test_a_large_file_is_refused),
		cmocka_unit_test(test_a_run_becomes_a_baseline),
		cmocka_unit_test(test_a_run_that_proves_nothing_is_no_baseline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
