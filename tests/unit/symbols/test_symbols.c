// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names of a process's addresses: tests/workload/names.c, built in several ways, tells the truth.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/symbols/workloads.h"
#include "user/symbols/symbols.h"

#define ADDRESSES 32
#define STYLE     (SYMBOLS_LINES | SYMBOLS_SHORT)

struct address {
	uint64_t pc;
	bool returns;
	char text[256];
};

struct program {
	pid_t pid;
	int input;
	size_t count;
	struct address v[ADDRESSES];
};

static struct file_broker *broker;

static int begin(void **state)
{
	if (find_folder(state))
		return -1;
	signal(SIGPIPE, SIG_IGN);
	broker = file_broker__new();
	return broker ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	file_broker__free(broker);
	return 0;
}

static void read_truth(struct program *program, FILE *output)
{
	char line[512];

	program->count = 0;
	while (fgets(line, sizeof(line), output) && strcmp(line, "ready\n")) {
		struct address *address = &program->v[program->count++];
		unsigned long long pc;
		int returns, text;

		assert_int_equal(sscanf(line, "%llx %d %n", &pc, &returns, &text), 2);
		line[strcspn(line, "\n")] = '\0';
		snprintf(address->text, sizeof(address->text), "%s", line + text);
		address->pc = pc;
		address->returns = returns;
		assert_true(program->count < ADDRESSES);
	}
	assert_true(program->count > 8);
}

/* path: of the program; a name alone is one of the workload's. */
static void start(struct program *program, const char *path, const char *library)
{
	int input[2], output[2];
	char whole[600];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", path[0] == '/' ? "" : folder, path);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	program->pid = fork();
	if (!program->pid) {
		dup2(input[0], 0);
		dup2(output[1], 1);
		execl(whole, "names", library ? "--library" : NULL, library, NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	program->input = input[1];
	file = fdopen(output[0], "r");
	read_truth(program, file);
	fclose(file);
}

static void stop(struct program *program)
{
	close(program->input);
	waitpid(program->pid, NULL, 0);
}

/* "inlined (f:1);name (f:2)" without debug information is "name". */
static const char *bare(char *text)
{
	char *last = strrchr(text, ';'), *place;

	last = last ? last + 1 : text;
	place = strstr(last, " (names.c:");
	if (place)
		*place = '\0';
	return last;
}

static bool is_generated(const char *text)
{
	return !strncmp(text, "LazyCompile:", 12) || !strcmp(text, "[jit]");
}

enum knows { KNOWS_LINES, KNOWS_NAMES, KNOWS_NOTHING };

/* file: what a program without names is called. Returns how many were compared. */
static size_t compare(struct symbols *symbols, pid_t pid, const struct program *program,
		      enum knows knows, const char *file)
{
	size_t compared = 0;

	for (size_t i = 0; i < program->count; i++) {
		struct address address = program->v[i];
		const char *wanted = address.text;
		char text[1024];
		bool own = strstr(address.text, "(names.c:");

		if (own && knows == KNOWS_NAMES)
			wanted = bare(address.text);
		if (own && knows == KNOWS_NOTHING)
			wanted = file;
		symbols__name(symbols, pid, address.pc, address.returns, STYLE, text, sizeof(text));
		/* What is not the program's own may have debug information on this machine. */
		if (!own && !is_generated(wanted))
			*strchrnul(text, ' ') = '\0';
		assert_string_equal(text, wanted);
		compared++;
	}
	return compared;
}

static void check(const char *name, enum knows knows, const char *file)
{
	struct symbols *symbols = symbols__new(broker);
	struct program program;

	start(&program, name, NULL);
	assert_true(symbols__note(symbols, program.pid));
	compare(symbols, program.pid, &program, knows, file);
	stop(&program);
	/* Once more, from what is known of it. */
	compare(symbols, program.pid, &program, knows, file);
	symbols__free(symbols);
}

static void debug_information_gives_lines_and_inlined_functions(void **state)
{
	(void)state;
	check("names", KNOWS_LINES, NULL);
}

static void a_debug_file_is_known_by_its_build_id(void **state)
{
	(void)state;
	check("names-link", KNOWS_LINES, NULL);
}

static void a_debug_file_is_known_by_its_checksum(void **state)
{
	(void)state;
	check("names-crc", KNOWS_LINES, NULL);
}

static void a_small_symbol_table_may_be_packed_in_the_file(void **state)
{
	(void)state;
	check("names-mini", KNOWS_NAMES, NULL);
}

static void a_stripped_file_gives_its_own_name(void **state)
{
	(void)state;
	check("names-bare", KNOWS_NOTHING, "[names-bare]");
}

static void copy_file(const char *name, const char *to)
{
	char command[1400];

	snprintf(command, sizeof(command), "cp '%s/%s' '%s'", folder, name, to);
	assert_int_equal(system(command), 0);
}

static void flip_a_byte(const char *path)
{
	int fd = open(path, O_RDWR);
	off_t middle = lseek(fd, 0, SEEK_END) / 2;
	unsigned char byte;

	assert_int_equal(pread(fd, &byte, 1, middle), 1);
	byte = ~byte;
	assert_int_equal(pwrite(fd, &byte, 1, middle), 1);
	close(fd);
}

static void another_programs_debug_file_is_not_taken(void **state)
{
	char directory[] = "/tmp/netstall-symbols-XXXXXX", program[128], debug[128];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(program, sizeof(program), "%s/names-crc", directory);
	snprintf(debug, sizeof(debug), "%s/names-crc.debug", directory);
	copy_file("names-crc", program);
	copy_file("names-crc.debug", debug);
	check(program, KNOWS_LINES, NULL);
	flip_a_byte(debug);
	check(program, KNOWS_NOTHING, "[names-crc]");
	unlink(debug);
	copy_file("names-link", program);
	snprintf(debug, sizeof(debug), "%s/names-link.debug", directory);
	copy_file("names-crc.debug", debug);
	check(program, KNOWS_NOTHING, "[names-crc]");
	unlink(program);
	unlink(debug);
	rmdir(directory);
}

static void a_file_that_is_gone_still_has_names(void **state)
{
	char directory[] = "/tmp/netstall-symbols-XXXXXX", path[128], library[128];
	struct symbols *symbols = symbols__new(broker);
	struct program program;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/names", directory);
	snprintf(library, sizeof(library), "%s/library.so", directory);
	copy_file("names", path);
	copy_file("callsites_library.so", library);
	start(&program, path, library);
	unlink(path);
	if (!geteuid()) { /* to see the one behind the mapping needs a right */
		unlink(library);
		copy_file("names-bare", library); /* another takes its name */
	}
	compare(symbols, program.pid, &program, KNOWS_LINES, NULL);
	stop(&program);
	symbols__free(symbols);
	unlink(library);
	rmdir(directory);
}

/* Each address only after the end: what was noted has to do. */
static void a_process_that_was_noted_may_end(void **state)
{
	struct symbols *symbols = symbols__new(broker);
	struct symbols_counts counts;
	struct program program;
	char text[256];

	(void)state;
	start(&program, "names", NULL);
	assert_true(symbols__note(symbols, program.pid));
	stop(&program);
	assert_false(symbols__note(symbols, program.pid));
	compare(symbols, program.pid, &program, KNOWS_LINES, NULL);
	symbols__counts(symbols, &counts);
	assert_int_equal(counts.unknown, 0);
	assert_int_equal(counts.nameless, 1); /* the name that was not written to its end */
	/* One that was not noted has none. */
	symbols__name(symbols, program.pid + 1000000, program.v[0].pc, true, 0, text, sizeof(text));
	assert_string_equal(text, "[unknown]");
	symbols__free(symbols);
}

static void a_child_has_what_its_parent_had(void **state)
{
	struct symbols *symbols = symbols__new(broker);
	struct program program;
	char text[256];
	pid_t child = 5000000; /* gone before it was looked at */

	(void)state;
	start(&program, "names", NULL);
	symbols__note(symbols, program.pid);
	symbols__fork(symbols, program.pid, child);
	symbols__name(symbols, child, program.v[0].pc, true, 0, text, sizeof(text));
	assert_string_equal(text, "plain_function");
	stop(&program);
	symbols__free(symbols);
}

static void a_stack_is_written_leaf_first(void **state)
{
	struct symbols *symbols = symbols__new(broker);
	struct program program;
	uint64_t pcs[4] = {0};
	char text[256], cut[256];

	(void)state;
	start(&program, "names", NULL);
	for (int i = 0; i < 3; i++)
		pcs[i] = program.v[i].pc;
	assert_int_equal(symbols__stack(symbols, program.pid, pcs, 4, 0, text, sizeof(text)), 3);
	assert_string_equal(text, "plain_function;around_inlined;net::Client::send");
	for (size_t size = 1; size < strlen(text); size++) {
		size_t written = symbols__stack(symbols, program.pid, pcs, 3, 0, cut, size);

		assert_true(written < 3);
		assert_int_equal(strncmp(cut, text, strlen(cut)), 0);
		assert_true(!cut[0] || text[strlen(cut)] == ';');
	}
	pcs[1] = 0x1234; /* no code is there: frame pointers went astray */
	assert_int_equal(symbols__stack(symbols, program.pid, pcs, 3, 0, text, sizeof(text)), 2);
	assert_string_equal(text, "plain_function;[unknown]");
	symbols__stack(symbols, program.pid, pcs, 1, SYMBOLS_OFFSETS, text, sizeof(text));
	assert_int_equal(strncmp(text, "plain_function+0x", 17), 0);
	stop(&program);
	symbols__free(symbols);
}

/* The names in there are the process's own file's, or nobody's. */
static void names_of_generated_code_are_the_processs_own(void **state)
{
	struct symbols *symbols = symbols__new(broker);
	struct program program;
	char path[64], text[256];
	size_t generated = 0;

	(void)state;
	if (geteuid())
		skip();
	start(&program, "names", NULL);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", program.pid);
	assert_int_equal(chown(path, 12345, 12345), 0);
	for (size_t i = 0; i < program.count; i++) {
		if (!is_generated(program.v[i].text))
			continue;
		symbols__name(symbols, program.pid, program.v[i].pc, false, 0, text, sizeof(text));
		assert_string_equal(text, "[jit]");
		generated++;
	}
	assert_int_equal(generated, 2);
	assert_int_equal(file_broker__open(broker, FILE_BROKER_NAMES, program.pid, NULL), -EACCES);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(file_broker__open(broker, FILE_BROKER_NAMES, program.pid, NULL), -EACCES);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_true(file_broker__open(broker, FILE_BROKER_NAMES, program.pid, NULL) < 0);
	stop(&program);
	symbols__free(symbols);
}

static void without_a_file_broker_all_is_unknown(void **state)
{
	struct symbols *symbols = symbols__new(NULL);
	char text[64];

	(void)state;
	assert_false(symbols__note(symbols, getpid()));
	assert_int_equal(symbols__name(symbols, getpid(), 0x1234, false, 0, text, sizeof(text)), 9);
	assert_string_equal(text, "[unknown]");
	symbols__free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, when nothing else has made ready what it needs. */
		cmocka_unit_test(a_debug_file_is_known_by_its_build_id),
		cmocka_unit_test(debug_information_gives_lines_and_inlined_functions),
		cmocka_unit_test(a_debug_file_is_known_by_its_checksum),
		cmocka_unit_test(a_small_symbol_table_may_be_packed_in_the_file),
		cmocka_unit_test(a_stripped_file_gives_its_own_name),
		cmocka_unit_test(another_programs_debug_file_is_not_taken),
		cmocka_unit_test(a_file_that_is_gone_still_has_names),
		cmocka_unit_test(a_process_that_was_noted_may_end),
		cmocka_unit_test(a_child_has_what_its_parent_had),
		cmocka_unit_test(a_stack_is_written_leaf_first),
		cmocka_unit_test(names_of_generated_code_are_the_processs_own),
		cmocka_unit_test(without_a_file_broker_all_is_unknown),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
