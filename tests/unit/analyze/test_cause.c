// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The rows of causes and facts are whole. With --dump the
 * rows as JSON: scripts/docs.py makes of it what documents and schemas say of them.
 */
#include <jansson.h>

#include "tests/unit/feed.h"
#include "user/analyze/cause.h"
#include "user/kernel/plan.h"
#include "user/record/facts.h"
#include "user/record/losses.h"

static const char *id_of(unsigned cause)
{
	return cause__info((enum cause)cause)->id;
}

static void assert_sentence(const char *text)
{
	assert_non_null(text);
	assert_true(strlen(text) > 10);
	assert_int_equal(text[strlen(text) - 1], '.');
}

static void test_rows_of_causes_are_whole(void **state)
{
	(void)state;
	for (unsigned cause = 0; cause < CAUSE_COUNT; cause++) {
		const struct cause_info *info = cause__info((enum cause)cause);

		assert_non_null(info->id);
		assert_non_null(info->title);
		assert_true(strlen(info->id) < 20);
		assert_int_equal(info->group == CAUSE_GROUP_UNKNOWN, cause == CAUSE_UNKNOWN);
		assert_sentence(info->meaning);
		assert_sentence(info->remedy);
		assert_sentence(info->known_by);
		assert_int_equal(!info->needs, info->never_of_stall);
		assert_false(info->needs >> NS_FACT_COUNT);
		assert_false(info->is_gated && info->never_of_stall);
		for (unsigned other = 0; other < cause; other++)
			assert_string_not_equal(info->id, id_of(other));
	}
	for (unsigned group = 0; group < CAUSE_GROUPS; group++) {
		assert_non_null(cause_group__name((enum cause_group)group));
		assert_non_null(cause_group__meaning((enum cause_group)group));
	}
}

static bool gives(uint32_t fact, enum way way)
{
	for (size_t i = 0; i < plan_variant_count; i++) {
		if (plan_variants[i].fact == fact && plan_variants[i].ways >> way & 1)
			return true;
	}
	return false;
}

static bool is_needed(uint32_t fact)
{
	for (unsigned cause = 0; cause < CAUSE_COUNT; cause++)
		if (cause__info((enum cause)cause)->needs >> fact & 1)
			return true;
	return false;
}

static void test_rows_of_facts_are_whole(void **state)
{
	(void)state;
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		const struct fact *row = fact__row(fact);

		assert_non_null(row->id);
		assert_non_null(row->words);
		assert_non_null(row->loss);
		/* Names of kernel functions come from /proc/kallsyms. */
		assert_int_equal(fact != NS_FACT_NAMES,
				 gives(fact, WAY_FENTRY) || gives(fact, WAY_TRACEPOINT));
		/* What no stall can be found without is needed, or makes some cause doubtful. */
		assert_true(!row->finds_stalls || row->is_essential || is_needed(fact));
	}
	assert_string_equal(fact__row(NS_FACT_COUNT)->id, "unknown");
}

/* ---- the rows as JSON ---- */

static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *cause_row(const struct cause_info *info)
{
	json_t *row = json_object(), *facts = json_array();

	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		if (info->needs >> fact & 1)
			json_array_append_new(facts, json_string(fact__row(fact)->id));
	}
	put(row, "id", json_string(info->id));
	put(row, "title", json_string(info->title));
	put(row, "group", json_string(cause_group__name(info->group)));
	put(row, "meaning", json_string(info->meaning));
	put(row, "remedy", json_string(info->remedy));
	put(row, "known_by", json_string(info->known_by));
	put(row, "facts", facts);
	put(row, "gated", json_boolean(info->is_gated));
	put(row, "never_of_stall", json_boolean(info->never_of_stall));
	return row;
}

/* What the fact's programs hang on, the preferred variant first. */
static json_t *hooks_of(uint32_t fact)
{
	json_t *hooks = json_array();

	for (size_t i = 0; i < plan_variant_count; i++) {
		const struct variant *variant = &plan_variants[i];

		for (size_t j = 0; variant->fact == fact && j < VARIANT_HOOKS; j++) {
			if (variant->hooks[j].program)
				json_array_append_new(hooks, json_string(variant->hooks[j].name));
		}
	}
	return hooks;
}

static json_t *fact_row(uint32_t fact)
{
	json_t *row = json_object(), *ways = json_array();

	for (int way = 0; way < WAY_COUNT; way++) {
		if (gives(fact, (enum way)way))
			json_array_append_new(ways, json_string(way__name((enum way)way)));
	}
	put(row, "id", json_string(fact__row(fact)->id));
	put(row, "words", json_string(fact__row(fact)->words));
	put(row, "essential", json_boolean(fact__row(fact)->is_essential));
	put(row, "ways", ways);
	put(row, "hooks", hooks_of(fact));
	return row;
}

static int dump(void)
{
	json_t *rows = json_object(), *causes = json_array(), *groups = json_object(),
	       *facts = json_array(), *losses = json_array();

	for (unsigned cause = 0; cause < CAUSE_COUNT; cause++)
		json_array_append_new(causes, cause_row(cause__info((enum cause)cause)));
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++)
		json_array_append_new(facts, fact_row(fact));
	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++) {
		if (loss_kind(kind))
			json_array_append_new(losses, json_string(loss_kind(kind)->id));
	}
	for (unsigned group = 0; group < CAUSE_GROUPS; group++)
		put(groups, cause_group__name((enum cause_group)group),
		    json_string(cause_group__meaning((enum cause_group)group)));
	put(rows, "causes", causes);
	put(rows, "groups", groups);
	put(rows, "facts", facts);
	put(rows, "losses", losses);
	json_dumpf(rows, stdout, JSON_INDENT(1));
	json_decref(rows);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_of_causes_are_whole),
		cmocka_unit_test(test_rows_of_facts_are_whole),
	};

	if (argc == 2 && !strcmp(argv[1], "--dump"))
		return dump();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
