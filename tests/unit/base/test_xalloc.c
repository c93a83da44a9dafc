// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* user/base/xalloc: what happens when memory runs out, in a child whose address space is bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "user/base/xalloc.h"

#define RESERVE (8u << 20)
#define ROOM    (32u << 20)
#define PIECE   (1u << 20)

/* Bytes of address space that are used. */
static size_t used(void)
{
	char text[64] = "";
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || !fgets(text, sizeof(text), file))
		_exit(10);
	fclose(file);
	return strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void bound(void)
{
	const struct rlimit limit = {used() + ROOM, used() + ROOM};

	/* What the test expects is said on stderr. */
	if (setrlimit(RLIMIT_AS, &limit) || !freopen("/dev/null", "w", stderr))
		_exit(11);
}

/* The status of a child that does this. */
static int status_of(void (*work)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void take_until_short(void)
{
	size_t taken = 0;

	xalloc__reserve(RESERVE);
	bound();
	while (!xalloc__is_short()) {
		memset(xcalloc(1, PIECE), 1, PIECE);
		taken += PIECE;
	}
	/* The piece that was refused first was had from the reserve. */
	if (taken + RESERVE < ROOM)
		_exit(12);
	for (size_t left = RESERVE / PIECE - 2; left; left--)
		memset(xcalloc(1, PIECE), 1, PIECE);
}

static void grow_until_short(void)
{
	char *text = NULL;
	size_t size = 0;

	xalloc__reserve(RESERVE);
	bound();
	while (!xalloc__is_short()) {
		size += PIECE;
		text = xreallocarray(text, size, 1);
		text[size - 1] = 'x';
	}
	if (text[PIECE - 1] != 'x' || text[size - 1] != 'x')
		_exit(13);
}

static void take_all(void)
{
	xalloc__reserve(RESERVE);
	bound();
	for (;;)
		xcalloc(1, PIECE);
}

static void take_all_without_reserve(void)
{
	bound();
	for (;;)
		xcalloc(1, PIECE);
}

static void test_the_reserve_lets_the_work_be_finished(void **state)
{
	(void)state;
	assert_false(xalloc__is_short());
	assert_int_equal(status_of(take_until_short), 0);
	assert_int_equal(status_of(grow_until_short), 0);
}

static void test_without_more_it_ends_with_status_2(void **state)
{
	(void)state;
	assert_int_equal(status_of(take_all), 2);
	assert_int_equal(status_of(take_all_without_reserve), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_reserve_lets_the_work_be_finished),
		cmocka_unit_test(test_without_more_it_ends_with_status_2),
	};

#if defined(__SANITIZE_ADDRESS__)
	/* Its shadow is larger than any bound. */
	(void)tests;
	return 0;
#else
	return cmocka_run_group_tests_name("xalloc", tests, NULL, NULL);
#endif
}
