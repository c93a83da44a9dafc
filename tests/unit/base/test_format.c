// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* user/base: words for values, the table, memory. */
#include <arpa/inet.h>

#include "tests/unit/test.h"
#include "user/base/array.h"
#include "user/base/table.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/record/syscalls.h"

static void test_duration(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0 ns"},
		{640, "640 ns"},
		{999, "999 ns"},
		{1000, "1 us"},
		{31000, "31 us"},
		{31499, "31 us"},
		{31500, "32 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{1230000, "1.23 ms"},
		{9994999, "9.99 ms"},
		{9995000, "10.0 ms"},
		{40560000, "40.6 ms"},
		{99949999, "99.9 ms"},
		{99950000, "100 ms"},
		{412345678, "412 ms"},
		{999499999, "999 ms"},
		{999500000, "1.00 s"},
		{4940000000, "4.94 s"},
		{1200000000000, "1,200 s"},
		{UINT64_MAX, "18,446,744,074 s"},
	};
	char text[TEXT_DURATION];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(text__duration(text, sizeof(text), rows[i].ns), rows[i].text);
}

static void test_nominal(void **state)
{
	char text[TEXT_DURATION];

	(void)state;
	assert_string_equal(text__nominal(text, sizeof(text), 10000000), "10 ms");
	assert_string_equal(text__nominal(text, sizeof(text), 2500000), "2.5 ms");
	assert_string_equal(text__nominal(text, sizeof(text), 100000000), "100 ms");
	assert_string_equal(text__nominal(text, sizeof(text), 5000000000), "5 s");
	assert_string_equal(text__nominal(text, sizeof(text), 500000), "500 us");
	assert_string_equal(text__nominal(text, sizeof(text), 0), "0 ns");
	assert_string_equal(text__nominal(text, sizeof(text), UINT64_MAX),
			    "18446744073.709551615 s");
}

static void test_ms(void **state)
{
	char text[40];

	(void)state;
	assert_string_equal(text__ms(text, sizeof(text), 40471000, 3), "40.471");
	assert_string_equal(text__ms(text, sizeof(text), -231000, 3), "-0.231");
	assert_string_equal(text__ms(text, sizeof(text), -400, 3), "0.000");
	assert_string_equal(text__ms(text, sizeof(text), 1234567, 6), "1.234567");
	assert_string_equal(text__ms(text, sizeof(text), 1500000, 0), "2");
	assert_string_equal(text__ms(text, sizeof(text), INT64_MIN, 6), "-9223372036854.775808");
}

static void test_counts(void **state)
{
	char text[TEXT_BYTES];

	(void)state;
	assert_string_equal(text__count(text, sizeof(text), 0), "0");
	assert_string_equal(text__count(text, sizeof(text), 999), "999");
	assert_string_equal(text__count(text, sizeof(text), 4211), "4,211");
	assert_string_equal(text__count(text, sizeof(text), UINT64_MAX),
			    "18,446,744,073,709,551,615");
	assert_string_equal(text__bytes(text, sizeof(text), 40), "40 B");
	assert_string_equal(text__bytes(text, sizeof(text), 65536), "65,536 B");
	assert_string_equal(text__bytes(text, sizeof(text), 1234567), "1.23 MB");
	assert_string_equal(text__bytes(text, sizeof(text), 12345678900), "12.3 GB");
	assert_string_equal(text__percent(text, sizeof(text), 0.988), "98.8%");
	assert_string_equal(text__percent(text, sizeof(text), 0), "0%");
	assert_string_equal(text__percent(text, sizeof(text), 0.0001), "<0.1%");
	assert_string_equal(text__percent(text, sizeof(text), 1.3), "130%");
	assert_string_equal(text__percent(text, sizeof(text), 1.0), "100%");
	assert_string_equal(text__percent(text, sizeof(text), 0.0 / 0.0), "0%");
	assert_string_equal(text__percent(text, sizeof(text), 1e300), ">999999999%");
}

static void test_address(void **state)
{
	uint32_t addr[4] = {htonl(0x7f000001)};
	char text[TEXT_ADDRESS];

	(void)state;
	assert_string_equal(text__address(text, sizeof(text), 2, addr, 7000), "127.0.0.1:7000");
	memset(addr, 0, sizeof(addr));
	addr[3] = htonl(1);
	assert_string_equal(text__address(text, sizeof(text), 10, addr, 7000), "[::1]:7000");
	assert_string_equal(text__address(text, sizeof(text), 99, addr, 7000), "?:7000");
	memset(addr, 0xff, sizeof(addr));
	assert_string_equal(text__address(text, sizeof(text), 10, addr, 65535),
			    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}

static void assert_safe(const char *unsafe, const char *safe)
{
	char text[256];

	assert_string_equal(text__safe(text, sizeof(text), unsafe, 64), safe);
}

static void test_safe(void **state)
{
	(void)state;
	assert_safe("client", "client");
	assert_safe("", "");
	assert_safe("\x1b[31mred", "\\x1b[31mred");
	assert_safe("a\nb\rc\td\x7f", "a\\x0ab\\x0dc\\x09d\\x7f");
	assert_safe("back\\slash", "back\\\\slash");
	assert_safe("caf\xc3\xa9", "caf\xc3\xa9");
	assert_safe("\xe2\x82\xac\xf0\x9f\x99\x82", "\xe2\x82\xac\xf0\x9f\x99\x82");
	/* C1 controls, raw and as UTF-8; turners of the writing direction; a lone BOM. */
	assert_safe(
		"\x9b"
		"2J",
		"\\x9b2J");
	assert_safe(
		"\xc2\x9b"
		"2J",
		"\\xc2\\x9b2J");
	assert_safe("\xe2\x80\xae", "\\xe2\\x80\\xae");
	assert_safe("\xef\xbb\xbf", "\\xef\\xbb\\xbf");
	/* Overlong, a surrogate, beyond Unicode, cut off. */
	assert_safe("\xc0\x80", "\\xc0\\x80");
	assert_safe("\xed\xa0\x80", "\\xed\\xa0\\x80");
	assert_safe("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	assert_safe("x\xc3", "x\\xc3");
}

static void test_safe_bounds(void **state)
{
	char text[16], raw[16], room[TEXT_SAFE(16)];

	(void)state;
	/* No NUL within max, and no escape cut in two. */
	memset(raw, 0x1b, sizeof(raw));
	text__safe(room, sizeof(room), raw, sizeof(raw));
	assert_int_equal(strlen(room), 64);
	text__safe(text, sizeof(text), raw, sizeof(raw));
	assert_string_equal(text, "\\x1b\\x1b\\x1b");
	text__safe(text, 1, raw, sizeof(raw));
	assert_string_equal(text, "");
	assert_string_equal(text__safe(text, sizeof(text), "abcdef", 3), "abc");
	assert_string_equal(text__safe_line(text, sizeof(text), "\\x1b a\033b\n"),
			    "\\x1b a\\x1bb\\x0a");
	/* A character that max cuts off is no character. */
	assert_string_equal(text__safe(text, sizeof(text), "a\xc3\xa9", 2), "a\\xc3");
}

static void test_table(void **state)
{
	struct table *table = table__new(1000);
	uint64_t sum = 0;
	size_t cursor = 0;
	uint32_t *value;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		value = xmemdup(&i, sizeof(i));
		/* Far apart, so that slots collide after the hash wraps. */
		assert_true(table__put(table, i * 65536, value));
	}
	assert_false(table__put(table, 7, &sum));
	assert_int_equal(table__count(table), 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		value = table__get(table, i * 65536);
		assert_non_null(value);
		assert_int_equal(*value, i);
	}
	assert_null(table__get(table, 7));
	while ((value = table__next(table, &cursor)))
		sum += *value;
	assert_int_equal(sum, 999 * 1000 / 2);
	/* What is taken out leaves the others where they are found. */
	for (uint32_t i = 0; i < 1000; i += 3) {
		value = table__take(table, i * 65536);
		assert_int_equal(*value, i);
		free(value);
		assert_null(table__take(table, i * 65536));
	}
	assert_int_equal(table__count(table), 1000 - 334);
	for (uint32_t i = 0; i < 1000; i++) {
		value = table__get(table, i * 65536);
		assert_true(i % 3 ? value && *value == i : !value);
	}
	table__free(table, free);
	table__free(NULL, free);
}

static void test_memory(void **state)
{
	char *text = xasprintf("%s/%u", "client", 4242);
	int *grown = NULL;

	(void)state;
	assert_string_equal(text, "client/4242");
	free(text);
	grown = xreallocarray(grown, 4, sizeof(*grown));
	grown[3] = 7;
	grown = xreallocarray(grown, 400, sizeof(*grown));
	assert_int_equal(grown[3], 7);
	free(grown);
}

static void test_syscalls(void **state)
{
	(void)state;
	assert_string_equal(syscall__name("x86_64", 0), "read");
	assert_string_equal(syscall__name("x86_64", 232), "epoll_wait");
	assert_string_equal(syscall__name("aarch64", 63), "read");
	assert_string_equal(syscall__name("aarch64", 22), "epoll_pwait");
	assert_null(syscall__name("aarch64", UINT32_MAX));
	assert_null(syscall__name("x86_64", UINT32_MAX));
	assert_null(syscall__name("riscv64", 63));
	assert_null(syscall__name("x86_64", 1000000));
	assert_int_not_equal(syscall__wait("x86_64", 45), SYSCALL_WAIT_OTHER);
	assert_int_not_equal(syscall__wait("x86_64", 426), SYSCALL_WAIT_OTHER);
	assert_int_equal(syscall__wait("x86_64", 202), SYSCALL_WAIT_OTHER);
	assert_int_equal(syscall__wait("x86_64", 35), SYSCALL_WAIT_OTHER);
	assert_int_equal(syscall__wait("x86_64", 43), SYSCALL_WAIT_OTHER);
	assert_int_equal(syscall__wait("x86_64", 0), SYSCALL_WAIT_FD);
	assert_int_equal(syscall__wait("x86_64", 7), SYSCALL_WAIT_MANY);
}

static void test_errors(void **state)
{
	char text[TEXT_ERROR];

	(void)state;
	assert_string_equal(text__error(text, sizeof(text), 62), "ETIME");
	assert_string_equal(text__error(text, sizeof(text), 125), "ECANCELED");
	/* None has that number, and none is it. */
	assert_string_equal(text__error(text, sizeof(text), 0), "error 0");
	assert_string_equal(text__error(text, sizeof(text), 512), "error 512");
	assert_string_equal(text__error(text, sizeof(text), UINT32_MAX), "error 4294967295");
}

static void test_nearest(void **state)
{
	static const char *const names[] = {"trace", "record", "report", "check", "nagle-delack"};
	static const struct {
		const char *word, *nearest;
	} rows[] = {
		{"trac", "trace"},   {"tarce", "trace"},  {"recrod", "record"},
		{"repor", "report"}, {"chek", "check"},   {"nagle-delak", "nagle-delack"},
		{"", NULL},          {"strace", "trace"}, {"offwake", NULL},
		{"x", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *found = text__nearest(rows[i].word, names, COUNT_OF(names));

		if (!found != !rows[i].nearest || (found && strcmp(found, rows[i].nearest)))
			fail_msg("%s: %s", rows[i].word, found ? found : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),  cmocka_unit_test(test_duration),
		cmocka_unit_test(test_nominal),  cmocka_unit_test(test_ms),
		cmocka_unit_test(test_counts),   cmocka_unit_test(test_address),
		cmocka_unit_test(test_safe),     cmocka_unit_test(test_safe_bounds),
		cmocka_unit_test(test_table),    cmocka_unit_test(test_memory),
		cmocka_unit_test(test_syscalls), cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
