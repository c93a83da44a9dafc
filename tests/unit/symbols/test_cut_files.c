// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A library that is overwritten in place while its names are read costs names, not the tracer. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/symbols/workloads.h"
#include "user/symbols/images/cut_files.h"
#include "user/symbols/symbols.h"

#define LIBRARY "callsites_library.so"

static char original[600];

/* Where the function stands in the file, which is where it stands in memory from its begin. */
static uint64_t offset_of(const char *function)
{
	void *library = dlopen(original, RTLD_NOW);
	void *address = library ? dlsym(library, function) : NULL;
	Dl_info info;

	assert_non_null(address);
	assert_true(dladdr(address, &info));
	return (uint64_t)address - (uint64_t)info.dli_fbase;
}

/* A copy that this process has mapped as code. Returns its beginning. */
static uint64_t map_copy(char *path)
{
	static char bytes[1 << 20];
	int from = open(original, O_RDONLY | O_CLOEXEC), to = mkstemp(path);
	ssize_t length = read(from, bytes, sizeof(bytes));
	void *at;

	assert_in_range(length, 1, sizeof(bytes) - 1);
	assert_int_equal(write(to, bytes, length), length);
	at = mmap(NULL, length, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	close(from);
	close(to);
	return (uint64_t)at;
}

static void names_outlive_a_file_that_is_cut(void **state)
{
	struct file_broker *broker = file_broker__new();
	struct symbols *symbols = symbols__new(broker);
	char path[] = "/tmp/netstall-cut-XXXXXX", text[256];
	uint64_t function = map_copy(path) + offset_of("library_body");

	(void)state;
	assert_true(symbols__note(symbols, getpid()));
	symbols__name(symbols, getpid(), function, false, SYMBOLS_LINES, text, sizeof(text));
	assert_non_null(strstr(text, "library_body"));
	assert_false(cut_files__seen());
	assert_int_equal(truncate(path, 0), 0);
	/* Of a place that was not asked for: nothing has remembered it. */
	symbols__name(symbols, getpid(), function + 1, false, SYMBOLS_LINES, text, sizeof(text));
	assert_true(cut_files__seen());
	symbols__free(symbols);
	file_broker__free(broker);
	unlink(path);
}

/* Any other SIGBUS is a fault of ours, and no file's. */
static void another_bus_error_ends_us(void **state)
{
	int status = 0;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		cut_files__survive();
		raise(SIGBUS);
		raise(SIGBUS);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_outlive_a_file_that_is_cut),
		cmocka_unit_test(another_bus_error_ends_us),
	};

	if (find_folder(NULL))
		return 1;
	snprintf(original, sizeof(original), "%s/" LIBRARY, folder);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
