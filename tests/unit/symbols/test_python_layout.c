// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The tables of lines of one function, as the compiler of each version wrote them. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
#include "user/symbols/python/layout.h"
#include "user/symbols/python/python.h"

/*
 *  1 def f(a,
 *  2       b=1):
 *  3     x = (a +
 *  4          b)
 *  6     if x:
 *  7         for i in range(3):
 *  8             x += i
 * 10     return g(
 * 11         x,
 * 12         i)
 */
static const unsigned char by_3_9[] = {0,  2, 2,  1, 2, 255, 4, 3, 4, 1,
				       12, 1, 10, 2, 2, 1,   2, 1, 2, 254};
static const unsigned char by_3_10[] = {2,  2, 2, 1, 4, 255, 4, 3, 12, 1,
					10, 1, 2, 2, 2, 1,   2, 1, 4,  254};
static const unsigned char by_3_11[] = {
	128, 0,  224, 9,   10,  216, 9,   10, 241, 3,   1,   10,  11,  128, 65, 240, 6,
	0,   8,  9,   240, 0,   2,   5,   19, 221, 17,  22,  144, 113, 145, 24, 148, 24,
	240, 0,  1,   9,   19,  240, 0,   1,  9,   19,  136, 65,  216, 12,  13, 144, 17,
	137, 70, 136, 65,  136, 65,  229, 11, 12,  216, 8,   9,   216, 8,   9,  241, 5,
	2,   12, 11,  244, 0,   2,   12,  11, 240, 0,   2,   5,   11};
static const unsigned char by_3_12[] = {
	128, 0,   224, 9,   10, 216, 9,   10,  241, 3,   1,   10, 11,  128, 65,  241, 6,   0,
	8,   9,   220, 17,  22, 144, 113, 147, 24,  242, 0,   1,  9,   19,  136, 65,  216, 12,
	13,  144, 17,  137, 70, 137, 65,  240, 3,   1,   9,   19, 244, 6,   0,   12,  13,  216,
	8,   9,   216, 8,   9,  243, 5,   2,   12,  11,  240, 0,  2,   5,   11};
static const unsigned char by_3_13[] = {
	128, 0,   224, 9,  10,  216, 9,  10,  241, 3,   1,  10,  11, 128, 65,  246,
	6,   0,   8,   9,  220, 17,  22, 144, 113, 150, 24, 136, 65, 216, 12,  13,
	137, 70,  138, 65, 241, 3,   0,  18,  26,  244, 6,  0,   12, 13,  216, 8,
	9,   216, 8,   9,  243, 5,   2,  12,  11,  240, 0,  2,   5,  11};

struct expected {
	uint64_t at;
	unsigned line;
};

static void check(uint32_t minor, const unsigned char *table, size_t size,
		  const struct expected *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(python_layout__line(minor, table, size, 1, expected[i].at),
				 expected[i].line);
}

#define CHECK(minor, table, ...)                                                                   \
	check(minor, table, sizeof(table), (const struct expected[]){__VA_ARGS__},                 \
	      sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

static void lines_of_each_version(void **state)
{
	(void)state;
	CHECK(9, by_3_9, {0, 3}, {2, 4}, {4, 3}, {8, 6}, {12, 7}, {22, 7}, {24, 8}, {34, 10},
	      {36, 11}, {38, 12}, {40, 10});
	CHECK(10, by_3_10, {0, 3}, {2, 4}, {6, 3}, {8, 6}, {23, 7}, {24, 8}, {34, 10}, {36, 11},
	      {38, 12}, {42, 10}, {44, 0});
	CHECK(11, by_3_11, {0, 1}, {2, 3}, {4, 4}, {6, 3}, {12, 6}, {16, 7}, {49, 7}, {50, 8},
	      {62, 10}, {74, 11}, {76, 12}, {78, 10}, {92, 10}, {94, 0});
	CHECK(12, by_3_12, {0, 1}, {2, 3}, {4, 4}, {6, 3}, {12, 6}, {16, 7}, {44, 8}, {56, 7},
	      {58, 10}, {68, 11}, {70, 12}, {72, 10}, {82, 0});
	CHECK(13, by_3_13, {0, 1}, {2, 3}, {4, 4}, {12, 6}, {26, 7}, {54, 8}, {66, 7}, {70, 10},
	      {80, 11}, {82, 12}, {84, 10}, {94, 0});
}

static void damage_has_no_line(void **state)
{
	static const unsigned char endless[] = {0xf0, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};

	(void)state;
	for (uint32_t minor = 9; minor <= 13; minor++) {
		for (size_t size = 0; size <= sizeof(endless); size++)
			python_layout__line(minor, endless, size, 0xffffffff, 1000);
		assert_int_equal(python_layout__line(minor, by_3_12, 0, 0, 5), 0);
	}
}

static void versions_are_known(void **state)
{
	(void)state;
	assert_null(python_layout__of(8));
	for (uint32_t minor = 9; minor <= 13; minor++)
		assert_int_equal(python_layout__of(minor)->minor, minor);
	assert_null(python_layout__of(14));
}

static void what_the_interpreter_says_is_checked(void **state)
{
	struct python_layout layout = *python_layout__of(13);
	unsigned char said[PYTHON_SAYS] = "xdebugpy";
	uint64_t words[PYTHON_SAYS / 8];

	(void)state;
	memcpy(words, said, sizeof(words));
	for (size_t i = 3; i < PYTHON_SAYS / 8; i++)
		words[i] = 8 * i;
	memcpy(said, words, sizeof(said));
	assert_true(python_layout__read(&layout, said));
	assert_int_equal(layout.frames.frame, 8 * 23);
	assert_int_equal(layout.code, 8 * 43);
	words[2] = 1; /* free-threaded */
	memcpy(said, words, sizeof(said));
	assert_false(python_layout__read(&layout, said));
	words[2] = 0;
	words[23] = 1 << 16;
	memcpy(said, words, sizeof(said));
	assert_false(python_layout__read(&layout, said));
	said[0] = 'y';
	assert_false(python_layout__read(&layout, said));
}

static void check_join(const char *stack, size_t size, const char *functions, const char *joined)
{
	char text[96];

	snprintf(text, sizeof(text), "%s", stack);
	memset(text + size, 'x', sizeof(text) - size);
	python_text__join(text, size, functions);
	assert_string_equal(text, joined);
	assert_int_equal(text[size], 'x');
}

static void functions_stand_for_the_interpreter(void **state)
{
	static const char native[] = "read [libc.so.6];sock_recv [python3.11];main [python3.11]";
	static const char functions[] = "ask (a.py:1);<module> (a.py:9)";

	(void)state;
	check_join(native, 95, functions, "read [libc.so.6];ask (a.py:1);<module> (a.py:9)");
	check_join("poll [libpython3.9.so.1.0]", 95, "ask (a.py:1)", "ask (a.py:1)");
	check_join("", 95, "ask (a.py:1)", "ask (a.py:1)");
	/* Frame pointers led astray before they came to it. */
	check_join("read [libc.so.6];[unknown]", 95, "ask", "read [libc.so.6];ask");
	check_join("[unknown]", 95, "ask", "ask");
	/* What finds no room ends before a frame. */
	check_join(native, 58, functions, "read [libc.so.6];ask (a.py:1);<module> (a.py:9)");
	check_join("a;poll [python3]", 20, functions, "a;ask (a.py:1)");
	check_join("a;poll [python3]", 17, functions, "a;ask (a.py:1)");
	check_join("a;poll [python3]", 17, "one-that-is-too-long", "a;poll [python3]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_each_version),
		cmocka_unit_test(damage_has_no_line),
		cmocka_unit_test(versions_are_known),
		cmocka_unit_test(what_the_interpreter_says_is_checked),
		cmocka_unit_test(functions_stand_for_the_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
