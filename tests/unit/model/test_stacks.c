// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* More different stacks than there is room for: what comes after them is named all the same. */
#include "tests/unit/feed.h"
#include "user/model/model.h"
#include "user/source/stack_ids.h"

#define HEAD                                                                                       \
	"0 session threshold=10 arch=x86_64\n"                                                     \
	"0 process tgid=10 role=target comm=client\n"

#define READS_A_PAGE "io_schedule;folio_wait_bit_common;filemap_read"
#define READS_A_PIPE "schedule;pipe_read;vfs_read;ksys_read"
#define PIPE_WRITTEN "try_to_wake_up;__wake_up_sync_key;pipe_write;vfs_write"
#define PAGE_READ    "try_to_wake_up;folio_wake_bit;blk_update_request"

#define MANY (10 * 3000) /* more than three times MODEL_STACKS */
_Static_assert(MANY > 3 * MODEL_STACKS, "many stacks");

/* A program's stacks on their way to the analysis, as the live source numbers them. */
struct program {
	struct pipeline *pipeline;
	struct stack_ids *ids;
	unsigned told;
};

static struct program program_new(void)
{
	return (struct program)
	{
		.pipeline = feed__pipeline(feed__text(HEAD)), .ids = stack_ids__new()
	};
}

static void program_free(struct program *program)
{
	stack_ids__free(program->ids);
	pipeline__free(program->pipeline);
}

static void line(struct program *program, const char *format, ...)
{
	struct feed feed;
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	feed = feed__text(text);
	feed__run(&feed, program->pipeline);
	feed__free(&feed);
}

static uint32_t stack(struct program *program, const char *text, unsigned at_ms)
{
	uint64_t hash = 1;
	const struct stack_id *id;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
	id = stack_ids__find(program->ids, hash);
	assert_true(id->id > 0);
	if (id->is_new) {
		line(program, "%u stack id=%u text=%s\n", at_ms, id->id, text);
		program->told++;
	}
	return id->id;
}

/* Different ones, each of a wait that was too short for a stall. */
static void other_stacks(struct program *program, unsigned count, unsigned at_ms)
{
	static unsigned number;
	char text[64];

	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "schedule;f%u;g", number++);
		line(program,
		     "%u wait tgid=10 tid=11 off=%u wake=%u state=1 syscall=202 stack_id=%u\n",
		     at_ms, at_ms - 1, at_ms, stack(program, text, at_ms));
	}
}

/* 40 ms in a read() of something: the stacks alone tell of what. */
static void reads(struct program *program, const char *in, const char *woken_by, unsigned at_ms)
{
	uint32_t id = stack(program, in, at_ms);

	line(program,
	     "%u wait tgid=10 tid=10 off=%u wake=%u state=1 syscall=0 arg0=5 stack_id=%u "
	     "waker_stack_id=%u waker_tgid=10 waker_tid=11\n",
	     at_ms, at_ms - 40, at_ms, id, stack(program, woken_by, at_ms));
}

static const struct stall *last_stall(const struct report *report)
{
	return &report->stalls[report->stall_count - 1];
}

static void a_stall_behind_many_stacks(void **state)
{
	struct program program = program_new();
	const struct report *report;

	(void)state;
	reads(&program, READS_A_PAGE, PAGE_READ, 100);
	for (unsigned i = 0; i < 10; i++)
		other_stacks(&program, MANY / 10, 200 + 100 * i);
	reads(&program, READS_A_PAGE, PAGE_READ, 2000);
	reads(&program, READS_A_PIPE, PIPE_WRITTEN, 2500);
	line(&program, "3000 end\n");
	report = pipeline__finish(program.pipeline);
	assert_int_equal(report->stall_count, 3);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(report->stalls[i].cause, CAUSE_DISK);
		/* Equal texts are one, however often they were told. */
		assert_ptr_equal(report->stalls[i].wait_stack, report->stalls[0].wait_stack);
		assert_string_equal(report->stalls[i].waker_stack, PAGE_READ);
	}
	assert_int_equal(last_stall(report)->cause, CAUSE_IPC);
	assert_string_equal(last_stall(report)->wait_stack, READS_A_PIPE);
	assert_true(program.told >= MANY + 6);
	assert_true(report->complete);
	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++)
		assert_int_equal(report->lost[kind], 0);
	program_free(&program);
}

/* Between a wait and its judgement many more may come. */
static void a_wait_that_is_still_to_be_judged(void **state)
{
	struct program program = program_new();
	const struct report *report;

	(void)state;
	reads(&program, READS_A_PAGE, PAGE_READ, 100);
	other_stacks(&program, MODEL_STACKS - STACK_IDS, 101);
	line(&program, "3000 end\n");
	report = pipeline__finish(program.pipeline);
	assert_int_equal(report->stall_count, 1);
	assert_int_equal(last_stall(report)->cause, CAUSE_DISK);
	assert_true(report->complete);
	program_free(&program);
}

/* Beyond that its cause is not known, and the report says so. */
static void what_is_gone_is_counted(void **state)
{
	struct program program = program_new();
	const struct report *report;

	(void)state;
	reads(&program, READS_A_PAGE, PAGE_READ, 100);
	other_stacks(&program, MANY, 101);
	line(&program, "3000 end\n");
	report = pipeline__finish(program.pipeline);
	assert_int_equal(report->lost[NS_LOST_STACKS], 2);
	assert_false(report->complete);
	program_free(&program);
}

/* What no stack record ever told is no loss: nothing was taken. */
static void what_never_came_is_no_loss(void **state)
{
	struct program program = program_new();
	const struct report *report;

	(void)state;
	line(&program, "50 wait tgid=10 tid=10 off=1 wake=50 state=1 syscall=0 stack_id=77\n");
	line(&program, "3000 end\n");
	report = pipeline__finish(program.pipeline);
	assert_int_equal(report->lost[NS_LOST_STACKS], 0);
	assert_true(report->complete);
	program_free(&program);
}

/* Texts that stalls show have a bound of their own. */
static void no_room_for_what_is_shown(void **state)
{
	struct model *model = model__new();
	union record record = {.stack = {.head = {.type = NS_STACK, .len = sizeof(record.stack)}}};
	const char *first = NULL;
	uint32_t most = MODEL_STACK_BYTES / NS_STACK_TEXT_MAX;

	(void)state;
	memset(record.stack.text, 'f', NS_STACK_TEXT_MAX - 1);
	for (uint32_t id = 1; id <= most + 3; id++) {
		char number[12];
		int length = snprintf(number, sizeof(number), "%u", id);

		memcpy(record.stack.text, number, (size_t)length);
		record.stack.id = id;
		model__feed(model, &record);
		if (id == 1)
			first = model__kept_stack(model, 1);
		else if (id % 2)
			assert_int_equal(!model__kept_site(model, id), id > most);
		else
			assert_int_equal(!model__kept_stack(model, id), id > most);
	}
	assert_true(!strncmp(first, "1f", 2) && strlen(first) == NS_STACK_TEXT_MAX - 1);
	assert_int_equal(model__lost(model, NS_LOST_STACKS) + model__lost(model, NS_LOST_SITES), 3);
	assert_false(model__is_whole(model));
	model__free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stall_behind_many_stacks),
		cmocka_unit_test(a_wait_that_is_still_to_be_judged),
		cmocka_unit_test(what_is_gone_is_counted),
		cmocka_unit_test(what_never_came_is_no_loss),
		cmocka_unit_test(no_room_for_what_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
