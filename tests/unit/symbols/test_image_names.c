// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names as their files have them: mangled, exploding, damaged. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/symbols/workloads.h"
#include "user/symbols/demangle.h"
#include "user/symbols/images/image_lines.h"
#include "user/symbols/read_budget.h"

static void assert_demangled(const char *name, const char *wanted)
{
	char text[DEMANGLE_NAME];

	assert_string_equal(demangle(name, text, sizeof(text)), wanted);
}

static void mangled_names_are_read(void **state)
{
	char long_name[5000], text[DEMANGLE_NAME];

	(void)state;
	assert_demangled("main", "main");
	assert_demangled("memcpy@@GLIBC_2.14", "memcpy");
	assert_demangled("_ZN3net6Client4sendEi", "net::Client::send");
	assert_demangled("_ZN12_GLOBAL__N_14helpEv", "(anonymous namespace)::help");
	assert_demangled("_RNvNtCs1234_4demo3net4recv", "demo::net::recv");
	assert_demangled("_ZN4demo3net4send17h0123456789abcdefE", "demo::net::send");
	assert_demangled("_Z", "_Z");
	assert_demangled("_Rubbish", "_Rubbish");
	assert_demangled("odd;\n\x7fname", "odd:??name");
	assert_demangled("", "");
	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	demangle(long_name, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
}

/* Each part names the one before twice: thirty of them would make a thousand million words. */
static void names_that_explode_are_cut(void **state)
{
	char name[1024] = "_Z1fI1AIiiE", text[DEMANGLE_NAME];

	(void)state;
	for (int i = 1; i < 30; i++) {
		char digit = i < 10 ? '0' + i : 'A' + i - 10;

		snprintf(name + strlen(name), sizeof(name) - strlen(name), "S0_IS%c_S%c_E", digit,
			 digit);
	}
	strcat(name, "Evv");
	demangle(name, text, sizeof(text));
	assert_int_equal(strncmp(text, "f<A<int, int>, A<A<int, int>, A<int, int> >, ", 45), 0);
	assert_int_equal(strlen(text), sizeof(text) - 1);
}

static void damage(char *bytes, size_t size, uint64_t *random, int how_often)
{
	for (int i = 0; i < how_often; i++)
		bytes[4 + random_below(random, size - 4)] = (char)random_next(random);
}

static void look_everywhere(struct image_names *names)
{
	struct image_lines *lines = image_lines__new(names);
	struct image_line found[IMAGE_INLINED + 1];
	char text[DEMANGLE_NAME];
	uint64_t offset;

	for (uint64_t address = 0x1000; address < 0x3000; address += 61) {
		const char *name = image_names__find(names, address, &offset);

		if (name)
			demangle(name, text, sizeof(text));
		if (lines)
			image_lines__find(lines, address, found);
	}
	image_lines__free(lines);
}

/* Anybody may have written them. */
static void damaged_files_do_no_harm(void **state)
{
	static const char *const files[] = {"names", "names-mini"};
	static char whole[1 << 18], copy[1 << 18];
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct image_names *names;
		char path[600];
		size_t size;
		FILE *file;
		int fd;

		snprintf(path, sizeof(path), "%s/%s", folder, files[i & 1]);
		file = fopen(path, "r");
		size = fread(whole, 1, sizeof(whole), file);
		fclose(file);
		assert_true(size > 1000 && size < sizeof(whole));
		memcpy(copy, whole, size);
		damage(copy, size, &random, i % 3 ? 1 + i % 40 : 1000);
		if (i % 7 == 0)
			size = random_below(&random, size);
		fd = memfd_create("damaged", MFD_CLOEXEC);
		assert_int_equal(write(fd, copy, size), size);
		read_budget__begin();
		names = image_names__new(fd, -1, NULL, NULL);
		if (names)
			look_everywhere(names);
		image_names__free(names);
	}
}

/* 4.8 GB of symbols, which take no room on the disk. */
static void a_table_without_end_is_read_in_part(void **state)
{
	const size_t entries = 200000000, most = READ_BUDGET_BYTES / 24;
	char path[] = "/tmp/netstall-bulk-XXXXXX", command[1600];
	struct image_names *names;
	uint32_t before = read_budget__book()->exceeded;
	int fd = mkstemp(path);

	(void)state;
	snprintf(command, sizeof(command), "cp '%s/names' '%s' && '%s/bulk' symbols '%s' %zu",
		 folder, path, folder, path, entries);
	assert_int_equal(system(command), 0);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	read_budget__begin();
	names = image_names__new(fd, -1, NULL, NULL);
	assert_non_null(names);
	assert_in_range(image_names__refused(names), entries - most - 1, entries);
	assert_int_equal(read_budget__book()->exceeded, before + 1);
	image_names__free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mangled_names_are_read),
		cmocka_unit_test(names_that_explode_are_cut),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(a_table_without_end_is_read_in_part),
	};

	return cmocka_run_group_tests(tests, find_folder, NULL);
}
