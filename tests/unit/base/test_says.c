// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The tests' own question: does a text say this fact? */
#include "tests/unit/test.h"

static void facts_are_whole_words(void **state)
{
	static const char text[] = "3 of 1,300 replies wait\n    43.5 ms each: python3/14673.";

	(void)state;
	assert_says(text, "3 of 1,300 replies", "wait 43.5 ms", "python3/14673", "each:");
	assert_silent_on(text, "300", "13", "43", "5 ms", "python", "43.5 m", "replies  wait",
			 "1,30");
	assert_silent_on("", "3");
	assert_silent_on(NULL, "3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_whole_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
