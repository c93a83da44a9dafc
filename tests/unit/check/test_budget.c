// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

#include "tests/unit/test.h"
#include "user/check/judge/budget.h"

#define DEFAULTS "nagle-delack=0 cork=0 rto=0 syn-retransmit=0"

static struct budgets defaults(void)
{
	struct budgets budgets;

	budgets__default(&budgets);
	return budgets;
}

/* "nagle-delack=0 cork=0 ..." */
static const char *all_of(const struct budgets *budgets)
{
	static char text[1024];
	char limit[64];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < budgets->count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%s=%s", i ? " " : "",
				 budget__name(&budgets->v[i]),
				 budget__limit(&budgets->v[i], limit, sizeof(limit)));
	return text;
}

static void assert_parsed(const char *text, const char *expected)
{
	struct budgets budgets = defaults();
	char why[1024] = "";

	if (!budgets__parse(&budgets, text, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	assert_string_equal(all_of(&budgets), expected);
}

static void refused(const char *text, const char *const *facts)
{
	struct budgets budgets = defaults();
	char why[1024] = "";

	assert_false(budgets__parse(&budgets, text, why, sizeof(why)));
	says__check(why, true, facts);
	/* Nothing of a text that is refused counts, what stood before the fault neither. */
	assert_string_equal(all_of(&budgets), DEFAULTS);
}

#define assert_refused(text, ...) refused(text, (const char *const[]){__VA_ARGS__, NULL})

static void test_defaults(void **state)
{
	struct budgets budgets = defaults();

	(void)state;
	assert_string_equal(all_of(&budgets), DEFAULTS);
	assert_true(budgets__gate(&budgets, CAUSE_RTO));
	assert_false(budgets__gate(&budgets, CAUSE_LOCK));
	assert_false(budgets__gate(&budgets, CAUSE_UNKNOWN));
	assert_parsed("throttled=0", DEFAULTS " throttled=0");
	assert_parsed("default", DEFAULTS);
}

static void test_names_replace_add_and_take_away(void **state)
{
	(void)state;
	assert_parsed("nagle-delack=0,rto=2,lock=100ms,total=5%",
		      "nagle-delack=0 cork=0 rto=2 syn-retransmit=0 lock=100 ms total=5%");
	assert_parsed("total=1,unknown=3", "unknown=3 " DEFAULTS " total=1");
	assert_parsed("cork=none,rto=none", "nagle-delack=0 syn-retransmit=0");
	assert_parsed("total=none", DEFAULTS);
	assert_parsed("none", "");
}

static void test_options_add_up(void **state)
{
	struct budgets budgets = defaults();
	char why[256];

	(void)state;
	assert_true(budgets__parse(&budgets, "none", why, sizeof(why)));
	assert_true(budgets__parse(&budgets, "cork=1", why, sizeof(why)));
	assert_true(budgets__parse(&budgets, "disk=2s", why, sizeof(why)));
	assert_true(budgets__parse(&budgets, "cork=7", why, sizeof(why)));
	assert_string_equal(all_of(&budgets), "cork=7 disk=2 s");
}

static void test_every_cause_and_total_at_once(void **state)
{
	struct budgets budgets;
	char text[1024] = "total=9", why[256];
	size_t used = strlen(text);

	(void)state;
	budgets__default(&budgets);
	for (int cause = CAUSE_COUNT - 1; cause >= 0; cause--) {
		if (cause != CAUSE_IDLE)
			used += snprintf(text + used, sizeof(text) - used, ",%s=%d",
					 cause__info(cause)->id, cause);
	}
	assert_true(budgets__parse(&budgets, text, why, sizeof(why)));
	assert_int_equal(budgets.count, CAUSE_COUNT - 1 + 1);
	for (size_t i = 1; i + 1 < budgets.count; i++)
		assert_true(budgets.v[i - 1].cause < budgets.v[i].cause);
	assert_int_equal(budgets.v[budgets.count - 1].of, BUDGET_OF_TOTAL);
	assert_int_equal(budgets.v[budgets.count - 1].count, 9);
}

static void test_units(void **state)
{
	struct budgets budgets = defaults();
	char why[256];

	(void)state;
	assert_true(budgets__parse(&budgets, "none", why, sizeof(why)));
	assert_true(budgets__parse(&budgets, "cork=1.5ms,rto=250us,lock=0.25s,disk=0.5%,tlp=0s",
				   why, sizeof(why)));
	assert_string_equal(all_of(&budgets),
			    "cork=1.5 ms rto=250 us tlp=0 ms lock=250 ms "
			    "disk=0.5%");
	assert_int_equal(budgets.v[0].kind, BUDGET_TIME);
	assert_int_equal(budgets.v[0].ns, 1500000);
	assert_int_equal(budgets.v[4].kind, BUDGET_SHARE);
	assert_true(budgets.v[4].share > 0.00499 && budgets.v[4].share < 0.00501);
	assert_parsed("rto=1000000", "nagle-delack=0 cork=0 rto=1,000,000 syn-retransmit=0");
	assert_parsed("requests.p99=20ms,requests.p50=1.5ms,total=9",
		      DEFAULTS " total=9 requests.p50=1.5 ms requests.p99=20 ms");
	/* Stalls overlap: a share may be above all of the time. */
	assert_parsed("total=250%", DEFAULTS " total=250%");
	/* More decimals than count. */
	assert_parsed("rto=0.0000000001234567890123s",
		      "nagle-delack=0 cork=0 rto=0 ms syn-retransmit=0");
}

/* It names the wrong one, and all that there are. */
static void assert_no_cause(const char *budgets, const char *name)
{
	assert_refused(budgets, name, "total");
	for (unsigned cause = 0; cause < CAUSE_COUNT; cause++) {
		if (cause != CAUSE_IDLE)
			assert_refused(budgets, cause__info((enum cause)cause)->id);
	}
}

static void test_refusals_of_causes(void **state)
{
	(void)state;
	assert_no_cause("nagel=0", "nagel");
	assert_refused("rto=1,idle=0", "idle", "never the cause of a stall");
	assert_refused("rto=1,cork=2,rto=1", "rto is given twice");
	assert_refused("rto=none,rto=1", "rto is given twice");
	assert_refused("total=1,total=2", "total is given twice");
	assert_refused("requests.p50=3", "requests.p50 is a time", "20ms");
	assert_refused("requests.p99=5%", "requests.p99 is a time");
	assert_refused("requests.p98=5ms", "requests.p50 and requests.p99");
	assert_refused("cork", "cork has no limit", "cork=0");
	assert_refused("cork=1,", "cause is missing", "comma");
	assert_refused("", "cause is missing", "comma");
	assert_refused(",cork=1", "cause is missing", "comma");
	assert_refused("=1", "cause is missing", "'='");
	assert_no_cause("default,rto=1", "default");
}

static void test_refusals_of_limits(void **state)
{
	(void)state;
	assert_refused("rto=-1", "negative", "'-1'");
	assert_refused("rto=", "number of stalls", "time", "share of the time", "none", "''");
	assert_refused("rto=many", "number of stalls", "time", "share of the time", "none",
		       "'many'");
	assert_refused("rto=+1", "number of stalls", "time", "share of the time", "none", "'+1'");
	assert_refused("rto= 1", "number of stalls", "time", "share of the time", "none", "' 1'");
	assert_refused("rto=inf", "number of stalls", "time", "share of the time", "none", "'inf'");
	assert_refused("rto=nan%", "number of stalls", "time", "share of the time", "none",
		       "'nan%'");
	assert_refused("rto=\x1b[2J", "number of stalls", "time", "share of the time", "none",
		       "'\\x1b[2J'");
	assert_refused("rto=1min", "unit", "'1min'", "us, ms, s");
	assert_refused("rto=1e3", "unit", "'1e3'", "us, ms, s");
	assert_refused("rto=0x10", "unit", "'0x10'", "us, ms, s");
	assert_refused("rto=5 ms", "unit", "'5 ms'", "us, ms, s");
	assert_refused("rto=1.s", "unit", "'1.s'", "us, ms, s");
	assert_refused("rto=2.5", "whole numbers", "'2.5'");
	assert_refused("rto=18446744073709551616", "'18446744073709551616'", "too large");
	assert_refused("rto=1000000000000001", "'1000000000000001'", "too large");
	assert_refused("rto=10000000000s", "'10000000000s'", "too large");
	assert_refused("total=1000001%", "'1000001%'", "too large");
	assert_refused("rto=99999999999999999999999999999999999999999999999999ms",
		       "'9999999999999999999999999999999999999999'", "too large");
}

static void test_a_long_text_is_refused_not_cut(void **state)
{
	char text[1000];

	(void)state;
	memset(text, '0', sizeof(text) - 1);
	memcpy(text, "rto=", 4);
	text[sizeof(text) - 1] = '\0';
	assert_refused(text, "no budget is as long as this");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_names_replace_add_and_take_away),
		cmocka_unit_test(test_options_add_up),
		cmocka_unit_test(test_every_cause_and_total_at_once),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_refusals_of_causes),
		cmocka_unit_test(test_refusals_of_limits),
		cmocka_unit_test(test_a_long_text_is_refused_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
