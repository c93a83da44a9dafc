// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names from a process of its own, which files may end; and records that wait for them. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/symbols/workloads.h"
#include "tests/workload/kept.h"
#include "user/source/call_queue.h"
#include "user/symbols/resolver.h"

#define LIBRARY "callsites_library.so"

/* ---- the process ---- */

/* The process that reads has 5 s of a CPU for a file, and three files use all of them: here it has
 * a tenth of that. The kernel's timer ends it as before. */
int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old)
{
	struct itimerval sooner = *new;

	if (which == ITIMER_PROF && new->it_value.tv_sec)
		sooner.it_value = (struct timeval){.tv_usec = new->it_value.tv_sec * 100000};
	return syscall(SYS_setitimer, which, &sooner, old);
}

KEPT static void known_function(void)
{
}

/* A library with more lines than can be read, made once: packing them takes most of a second. */
static char bulk_file[] = "/tmp/netstall-bulk-XXXXXX";

static void run(const char *format, const char *first, const char *second)
{
	char command[1600];

	snprintf(command, sizeof(command), format, first, second);
	assert_int_equal(system(command), 0);
}

static int make_bulk(void **state)
{
	int fd = mkstemp(bulk_file);

	if (fd < 0 || find_folder(state))
		return -1;
	close(fd);
	run("cp '%s/" LIBRARY "' '%s'", folder, bulk_file);
	run("'%s/bulk' lines '%s' 200000000", folder, bulk_file);
	return 0;
}

static int remove_bulk(void **state)
{
	(void)state;
	return unlink(bulk_file);
}

/* A copy of it, which this process has mapped as code. */
static uint64_t map_bulk(char *path)
{
	int fd = mkstemp(path);
	off_t size;
	void *at;

	run("cp '%s' '%s'", bulk_file, path);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = lseek(fd, 0, SEEK_END);
	at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	close(fd);
	return (uint64_t)at;
}

static const char *name_at(struct resolver *resolver, uint64_t pc)
{
	static char text[256];

	assert_int_equal(resolver__stack(resolver, getpid(), &pc, 1, SYMBOLS_LINES | SYMBOLS_SHORT,
					 text, sizeof(text)),
			 1);
	text[strcspn(text, " ")] = '\0';
	return text;
}

/* Reading them ends the process, for its time or for its memory: once for the first one's lines,
 * and twice for those of two more, at one question. */
static void files_that_end_the_reader_cost_their_own_lines(void **state)
{
	struct resolver *resolver = resolver__new(NULL);
	char paths[][32] = {"/tmp/netstall-bulk-XXXXXX", "/tmp/netstall-bulk-XXXXXX",
			    "/tmp/netstall-bulk-XXXXXX"};
	uint64_t bulk[3], known = (uint64_t)known_function;
	char nameless[64], text[256];

	(void)state;
	assert_non_null(resolver);
	for (int i = 0; i < 3; i++)
		bulk[i] = map_bulk(paths[i]) + 0x1100;
	known_function();
	assert_string_equal(name_at(resolver, known), "known_function");
	snprintf(nameless, sizeof(nameless), "[%s]", strrchr(paths[0], '/') + 1);
	assert_string_equal(name_at(resolver, bulk[0]), nameless);
	assert_string_equal(name_at(resolver, known), "known_function");
	assert_string_equal(name_at(resolver, bulk[0]), nameless);
	resolver__stack(resolver, getpid(), bulk + 1, 2, SYMBOLS_LINES | SYMBOLS_SHORT, text,
			sizeof(text));
	assert_string_equal(text, "[unread]");
	snprintf(nameless, sizeof(nameless), "[%s]", strrchr(paths[2], '/') + 1);
	assert_string_equal(name_at(resolver, bulk[2]), nameless); /* it is not tried again */
	assert_true(resolver__poll(resolver, 0));
	resolver__free(resolver);
	for (int i = 0; i < 3; i++)
		unlink(paths[i]);
}

static void nobody_knows_nothing(void **state)
{
	(void)state;
	resolver__note(NULL, getpid(), true);
	assert_string_equal(name_at(NULL, 1), "[unread]");
	assert_true(resolver__poll(NULL, 0));
	resolver__free(NULL);
}

/* ---- records that wait ---- */

static char seen[4096]; /* what came out: the numbers of records, and the texts of calls */

static void take(void *context, const void *record, size_t len, const char *text)
{
	const struct ns_head *head = record;
	size_t used = strlen(seen);

	(void)context;
	(void)len;
	snprintf(seen + used, sizeof(seen) - used, "%d%s%s ", (int)head->ts, text ? "=" : "",
		 text ? text : "");
}

static void add(struct call_queue *queue, uint64_t number)
{
	const struct ns_head head = {.ts = number, .len = sizeof(head)};

	call_queue__record(queue, &head, sizeof(head));
}

static uint64_t add_call(struct call_queue *queue, uint64_t number)
{
	const struct ns_call call = {.head = {.ts = number, .len = sizeof(call)}};

	return call_queue__call(queue, &call);
}

static void expect_seen(const char *wanted)
{
	assert_string_equal(seen, wanted);
	seen[0] = '\0';
}

static void what_is_behind_a_call_waits_with_it(void **state)
{
	struct call_queue *queue = call_queue__new(take, NULL);
	uint64_t second, fourth;

	(void)state;
	add(queue, 1);
	expect_seen("1 ");
	second = add_call(queue, 2);
	add(queue, 3);
	fourth = add_call(queue, 4);
	add(queue, 5);
	expect_seen("");
	call_queue__answer(queue, fourth, "d", false);
	expect_seen("");
	call_queue__answer(queue, second, "b", false);
	expect_seen("2=b 3 4=d 5 ");
	assert_true(call_queue__empty(queue));
	add_call(queue, 6);
	add(queue, 7);
	call_queue__flush(queue);
	expect_seen("6=[its programs and libraries could not be read] 7 ");
	call_queue__answer(queue, fourth + 1, "late", false);
	add(queue, 8);
	expect_seen("8 ");
	call_queue__free(queue);
}

/* A reader that does not come to an end must not cost memory without end. */
static void too_much_behind_a_call_goes_on(void **state)
{
	struct call_queue *queue = call_queue__new(take, NULL);
	static unsigned char big[1 << 16];
	struct ns_head *head = (void *)big;

	(void)state;
	add_call(queue, 1);
	for (int i = 0; i < (int)(CALL_QUEUE_BYTES / sizeof(big)) - 1; i++)
		call_queue__record(queue, big, sizeof(big));
	expect_seen("");
	head->ts = 2;
	call_queue__record(queue, big, sizeof(big));
	assert_true(call_queue__empty(queue));
	assert_int_equal(strncmp(seen, "1=[its", 6), 0);
	assert_string_equal(seen + strlen(seen) - 2, "2 ");
	call_queue__free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_end_the_reader_cost_their_own_lines),
		cmocka_unit_test(nobody_knows_nothing),
		cmocka_unit_test(what_is_behind_a_call_waits_with_it),
		cmocka_unit_test(too_much_behind_a_call_goes_on),
	};

	return cmocka_run_group_tests(tests, make_bulk, remove_bulk);
}
