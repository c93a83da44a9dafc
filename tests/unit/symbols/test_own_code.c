// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Whose code a file is, by where it lies and what it is called. */
#include "tests/unit/test.h"
#include "user/symbols/images/own_code.h"

static void programs_are_own(void **state)
{
	(void)state;
	assert_true(own_code__is("/usr/sbin/nginx"));
	assert_true(own_code__is("/home/me/server"));
	assert_true(own_code__is("/opt/shop/bin/python-service"));
	assert_true(own_code__is("/usr/lib/postgresql/15/bin/postgres"));
	assert_true(own_code__is("server"));
}

static void interpreters_are_not(void **state)
{
	(void)state;
	assert_false(own_code__is("/usr/bin/python3.11"));
	assert_false(own_code__is("/home/me/venv/bin/python"));
	assert_false(own_code__is("/usr/bin/node"));
	assert_false(own_code__is("/opt/jdk-21/lib/server/libjvm.so"));
	assert_false(own_code__is("/usr/local/lib/libpython3.12.so.1.0"));
	assert_true(own_code__is("/usr/bin/node-exporter"));
	assert_true(own_code__is("/srv/perlite"));
}

static void libraries_are_own_where_no_package_is(void **state)
{
	(void)state;
	assert_false(own_code__is("/usr/lib/x86_64-linux-gnu/libpq.so.5.15"));
	assert_false(own_code__is("/lib64/libz.so.1"));
	assert_false(own_code__is("/root/libc.so.6"));
	assert_false(own_code__is("/home/me/venv/lib/python3.11/site-packages/_x.so"));
	assert_false(own_code__is("[vdso]"));
	assert_true(own_code__is("/home/me/build/libshop.so"));
	assert_true(own_code__is("/opt/shop/lib/libshop.so.1"));
}

static void what_is_asked_for_is_own(void **state)
{
	(void)state;
	own_code__add("/usr/lib/shop/");
	assert_true(own_code__is("/usr/lib/shop/libshop.so"));
	assert_false(own_code__is("/usr/lib/libshop.so"));
	own_code__add(NULL);
	assert_false(own_code__is("/usr/lib/shop/libshop.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_own),
		cmocka_unit_test(interpreters_are_not),
		cmocka_unit_test(libraries_are_own_where_no_package_is),
		cmocka_unit_test(what_is_asked_for_is_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
