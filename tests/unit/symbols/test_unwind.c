// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Unwinding a copied stack: this program's own, whole, cut short, and damaged. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/symbols/own_stack.h"

static struct file_broker *broker;
static struct unwinder *unwinder;
static struct symbols *symbols;

static int begin(void **state)
{
	(void)state;
	broker = file_broker__new();
	unwinder = unwinder__new(broker);
	symbols = symbols__new(broker);
	outer_request();
	return broker ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unwinder__free(unwinder);
	symbols__free(symbols);
	file_broker__free(broker);
	return 0;
}

static size_t frames_of(const char *text)
{
	size_t count = *text ? 1 : 0;

	for (; *text; text++)
		count += *text == ';';
	return count;
}

/* Whatever it is, it ends, and fits. */
static bool unwind(const struct ns_call_raw *raw, char *out, size_t size)
{
	bool cut;

	memset(out, 'x', size);
	cut = unwinder__call(unwinder, symbols, getpid(), raw, out, size);
	assert_non_null(memchr(out, '\0', size));
	return cut;
}

static void callers_are_named_leaf_first(void **state)
{
	char text[NS_STACK_TEXT_MAX], *inner, *middle, *outer;

	(void)state;
	unwind(&call, text, sizeof(text));
	inner = strstr(text, "inner_write+0x");
	middle = strstr(text, ";middle_helper+0x");
	outer = strstr(text, ";outer_request+0x");
	if (inner != text || !middle || !outer || middle > outer)
		fail_msg("%s", text);
}

static void a_stack_cut_short_gives_the_first_callers(void **state)
{
	static struct ns_call_raw cut;
	char whole[NS_STACK_TEXT_MAX], text[NS_STACK_TEXT_MAX];
	size_t most = 0, least = SIZE_MAX;

	(void)state;
	unwind(&call, whole, sizeof(whole));
	for (uint32_t len = 0; len <= call.stack_len; len += 4) {
		bool more;

		cut = call;
		cut.stack_len = len;
		memset(cut.stack + len, 0, NS_CALL_STACK - len);
		more = unwind(&cut, text, sizeof(text));
		assert_int_equal(strncmp(text, whole, strlen(text)), 0);
		if (strlen(text) < strlen(whole))
			assert_true(more);
		most = frames_of(text) > most ? frames_of(text) : most;
		least = frames_of(text) < least ? frames_of(text) : least;
	}
	assert_int_equal(least, 1); /* where it was: in the registers */
	assert_int_equal(most, frames_of(whole));
}

static void text_that_does_not_fit_ends_at_a_frame(void **state)
{
	char whole[NS_STACK_TEXT_MAX], text[NS_STACK_TEXT_MAX];

	(void)state;
	unwind(&call, whole, sizeof(whole));
	for (size_t size = 1; size < strlen(whole); size++) {
		assert_true(unwind(&call, text, size));
		assert_int_equal(strncmp(text, whole, strlen(text)), 0);
		assert_true(!text[0] || whole[strlen(text)] == ';');
	}
}

/* Nobody vouches for what a program has on its stack. */
static void damaged_stacks_do_no_harm(void **state)
{
	static struct ns_call_raw damaged;
	uint64_t random = 42;
	char text[NS_STACK_TEXT_MAX];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		damaged = call;
		for (int j = 0; j < 1 + i % 64; j++) {
			uint64_t value = random_next(&random);

			if (i & 1) /* an address that is mapped, not as an argument */
				value = call.regs[NS_REG_IP] + (value & 0xfffff) - 0x80000;
			memcpy(damaged.stack + random_below(&random, NS_CALL_STACK - 8), &value, 8);
		}
		if (i % 5 == 0)
			damaged.regs[random_below(&random, NS_REG_COUNT)] = random_next(&random);
		unwind(&damaged, text, sizeof(text));
	}
}

static void lengths_and_pointers_are_not_trusted(void **state)
{
	static struct ns_call_raw odd;
	char text[NS_STACK_TEXT_MAX];

	(void)state;
	odd = call;
	odd.stack_len = UINT32_MAX;
	unwind(&odd, text, sizeof(text));
	for (uint64_t i = 0; i < 16; i++) {
		odd.regs[NS_REG_SP] = UINT64_MAX - i;
		unwind(&odd, text, sizeof(text));
		odd.regs[NS_REG_SP] = i;
		unwind(&odd, text, sizeof(text));
	}
	odd.regs[NS_REG_IP] = 0x1234;
	unwind(&odd, text, sizeof(text));
	assert_string_equal(text, "[unknown]");
}

static void what_cannot_be_had_is_said(void **state)
{
	struct unwinder *blind = unwinder__new(NULL);
	char text[NS_STACK_TEXT_MAX];
	pid_t gone = fork();

	(void)state;
	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_true(unwinder__call(unwinder, symbols, gone, &call, text, sizeof(text)));
	assert_string_equal(text, "[the process was gone, or may not be looked at]");
	assert_true(unwinder__call(blind, symbols, getpid(), &call, text, sizeof(text)));
	assert_int_equal(text[0], '[');
	unwinder__free(blind);
}

/* What it opens it opens with rights that its asker has given up. */
static void the_file_broker_hands_out_programs_alone(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(file_broker__open(broker, FILE_BROKER_IMAGE, getpid(), "/etc/passwd"),
			 -ENOEXEC);
	assert_int_equal(file_broker__open(broker, FILE_BROKER_IMAGE, getpid(), "/etc"), -ENOEXEC);
	assert_int_equal(file_broker__open(broker, FILE_BROKER_IMAGE, getpid(), "/dev/null"),
			 -ENOEXEC);
	assert_int_equal(file_broker__open(broker, FILE_BROKER_IMAGE, getpid(), "/no/such/file"),
			 -ENOENT);
	assert_true(file_broker__open(broker, FILE_BROKER_IMAGE, getpid(), "/proc/self/exe") < 0);
	assert_true(file_broker__open(broker, FILE_BROKER_MAPS, -1, NULL) < 0);
	fd = file_broker__open(broker, FILE_BROKER_PROGRAM, getpid(), NULL);
	assert_true(fd >= 0);
	close(fd);
	fd = file_broker__open(broker, FILE_BROKER_MAPS, getpid(), NULL);
	assert_true(fd >= 0);
	close(fd);
}

/* To open a FIFO lets its writer go on, to open a device may do anything: neither is opened. */
static void the_file_broker_opens_no_fifo(void **state)
{
	static const enum file_broker_what ways[] = {FILE_BROKER_IMAGE, FILE_BROKER_FILE};
	char folder[] = "/tmp/netstall-test-XXXXXX", fifo[64], link[64];
	struct pollfd ready = {.events = POLLIN};
	int pipes[2];
	pid_t writer;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(mkfifo(fifo, 0600) | symlink(fifo, link) | pipe(pipes), 0);
	writer = fork();
	if (!writer) {
		close(pipes[0]);
		_exit(open(fifo, O_WRONLY) < 0);
	}
	close(pipes[1]); /* its end is that of the writer alone */
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		assert_int_equal(file_broker__open(broker, ways[i], getpid(), fifo), -ENOEXEC);
		assert_int_equal(file_broker__open(broker, ways[i], getpid(), link), -ENOEXEC);
	}
	ready.fd = pipes[0];
	assert_int_equal(poll(&ready, 1, 300), 0);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	close(pipes[0]);
	assert_int_equal(unlink(fifo) | unlink(link) | rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_named_leaf_first),
		cmocka_unit_test(a_stack_cut_short_gives_the_first_callers),
		cmocka_unit_test(text_that_does_not_fit_ends_at_a_frame),
		cmocka_unit_test(damaged_stacks_do_no_harm),
		cmocka_unit_test(lengths_and_pointers_are_not_trusted),
		cmocka_unit_test(what_cannot_be_had_is_said),
		cmocka_unit_test(the_file_broker_hands_out_programs_alone),
		cmocka_unit_test(the_file_broker_opens_no_fifo),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
