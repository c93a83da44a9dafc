// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The parts of sentences that stand for facts: each fact has one, and none has another's. */
#include "tests/unit/test.h"
#include "user/explain/clauses.h"

static void assert_own_words(const char *const *texts, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (!texts[i] || !*texts[i])
			fail_msg("%zu has no words", i);
		for (size_t other = 1; other < i; other++)
			assert_string_not_equal(texts[i], texts[other]);
	}
}

static void each_fact_has_words_of_its_own(void **state)
{
	const char *missing[MISSING_KINDS], *inferred[INFERRED_KINDS], *released[RELEASE_KINDS];

	(void)state;
	for (size_t i = 0; i < MISSING_KINDS; i++)
		missing[i] = missing__text((enum stall_missing)i);
	for (size_t i = 0; i < INFERRED_KINDS; i++)
		inferred[i] = inferred__text((enum stall_inferred)i);
	for (size_t i = 0; i < RELEASE_KINDS; i++)
		released[i] = release__text((enum stall_release)i);
	assert_own_words(missing, MISSING_KINDS);
	assert_own_words(inferred, INFERRED_KINDS);
	assert_own_words(released, RELEASE_KINDS);
}

/* Nothing missing is nothing to say. */
static void no_fact_has_no_words(void **state)
{
	(void)state;
	assert_null(missing__text(MISSING_NOTHING));
	assert_null(inferred__text(INFERRED_FROM_NOTHING));
	assert_null(release__text(RELEASE_UNSEEN));
	assert_null(missing__text(MISSING_KINDS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fact_has_words_of_its_own),
		cmocka_unit_test(no_fact_has_no_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
