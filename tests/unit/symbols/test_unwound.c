// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Addresses of callers: where they end, what lies between, and which of two stacks to show. */
#include <signal.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "bpf/offcpu_sample.h"
#include "tests/unit/symbols/own_stack.h"
#include "tests/workload/kept.h"
#include "user/symbols/unwound.h"

static uint64_t interrupted_at, returns_to; /* of what the signal interrupted */

static uint64_t address_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	return context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return context->uc_mcontext.pc;
#endif
}

/* In a signal handler: below it stands what was interrupted, which called nothing. */
static void on_signal(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number;
	(void)info;
	interrupted_at = address_of(context);
	inner_write();
	work++;
}

KEPT static void raise_in_here(void)
{
	returns_to = (uint64_t)__builtin_return_address(0);
	raise(SIGUSR1);
	work++;
}

static unsigned long vdso; /* where the kernel's own code is mapped */
static volatile bool in_vdso;

static void on_alarm(int signal_number, siginfo_t *info, void *context)
{
	uint64_t at = address_of(context);

	if (in_vdso || at < vdso || at - vdso >= 0x4000)
		return;
	on_signal(signal_number, info, context);
	in_vdso = true;
}

KEPT static void ask_for_the_time(void)
{
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {0};
	struct timespec now, begin;

	returns_to = (uint64_t)__builtin_return_address(0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	setitimer(ITIMER_REAL, &often, NULL);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (!in_vdso && now.tv_sec - begin.tv_sec < 10);
	setitimer(ITIMER_REAL, &never, NULL);
	work++;
}

#define FOREVER 20000000000ull

static struct file_broker *broker;
static struct resolver *resolver;
static struct unwinder *unwinder;
static struct symbols *symbols;

static int begin(void **state)
{
	(void)state;
	broker = file_broker__new();
	resolver = resolver__new(NULL);
	unwinder = unwinder__new(broker);
	symbols = symbols__new(broker);
	return broker && resolver ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unwinder__free(unwinder);
	symbols__free(symbols);
	resolver__free(resolver); /* first: it has the other's descriptors */
	file_broker__free(broker);
	return 0;
}

/* What inner_write() took last. */
static struct unwind_copy last_copy(size_t len)
{
	return (struct unwind_copy){.regs = call.regs,
				    .stack = stack_copy,
				    .stack_len = len,
				    .base = call.regs[NS_REG_SP]};
}

static struct unwind_frames unwind_last(void)
{
	const struct unwind_copy copy = last_copy(stack_copied);
	struct unwind_frames frames;

	assert_null(unwinder__frames(unwinder, getpid(), &copy, &frames));
	assert_int_equal(frames.pcs[0], call.regs[NS_REG_IP]);
	return frames;
}

static size_t index_of(const struct unwind_frames *frames, uint64_t pc)
{
	for (size_t i = 0; i < frames->count; i++) {
		if (frames->pcs[i] == pc)
			return i;
	}
	fail_msg("0x%lx is not among the frames", (unsigned long)pc);
	return 0;
}

static void *start_here(void *argument)
{
	returns_to = (uint64_t)__builtin_return_address(0);
	outer_request();
	work++;
	return argument;
}

static void the_outermost_caller_is_known(void **state)
{
	struct unwind_copy nothing;
	struct unwind_frames frames;
	pthread_t thread;

	(void)state;
	outer_request();
	assert_int_equal(unwind_last().end, UNWIND_WHOLE); /* _start */
	assert_int_equal(pthread_create(&thread, NULL, start_here, NULL), 0);
	pthread_join(thread, NULL);
	frames = unwind_last();
	assert_int_equal(frames.end, UNWIND_WHOLE); /* clone */
	index_of(&frames, returns_to);
	nothing = last_copy(0);
	assert_null(unwinder__frames(unwinder, getpid(), &nothing, &frames));
	assert_int_equal(frames.end, UNWIND_BEYOND);
	assert_int_equal(frames.count, 1);
}

/* Handler, interrupted function (the address itself, no call), its caller, down to the first. */
static void check_interrupted(void)
{
	struct unwind_frames frames = unwind_last();

	assert_true(index_of(&frames, interrupted_at + 1) < index_of(&frames, returns_to));
	assert_int_equal(frames.end, UNWIND_WHOLE);
}

static void callers_beyond_a_signal_handler(void **state)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	raise_in_here();
	check_interrupted();
}

static void callers_beyond_the_kernels_own_code(void **state)
{
	struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO};

	(void)state;
	vdso = getauxval(AT_SYSINFO_EHDR);
	if (!vdso)
		skip();
	sigaction(SIGALRM, &action, NULL);
	ask_for_the_time();
	assert_true(in_vdso);
	check_interrupted();
}

/* Pages that were never touched are not in memory, and hold nobody's callers. */
static void holes_are_nobodys_callers(void **state)
{
	struct unwind_frames whole, holed;
	struct unwind_copy copy;
	__u64 there[2] = {0};
	size_t before = 1, steps = 0;

	(void)state;
	outer_request();
	whole = unwind_last();
	copy = last_copy(stack_copied);
	copy.there = there;
	for (int blocks = 0; blocks < 32; blocks++) {
		there[0] = (1ull << blocks) - 1;
		assert_null(unwinder__frames(unwinder, getpid(), &copy, &holed));
		assert_true(holed.count >= before && holed.count <= whole.count);
		assert_memory_equal(whole.pcs, holed.pcs, holed.count * sizeof(holed.pcs[0]));
		if (holed.count < whole.count)
			assert_int_equal(holed.end, UNWIND_BEYOND);
		steps += holed.count > before;
		before = holed.count;
	}
	assert_true(steps > 1);
	there[0] = there[1] = ~0ull;
	assert_null(unwinder__frames(unwinder, getpid(), &copy, &holed));
	assert_int_equal(holed.count, whole.count);
}

/* Its maps and files were taken while it was there. */
static void a_process_that_was_noted_may_end(void **state)
{
	struct unwind_frames own, of_child;
	struct unwind_copy copy;
	int block[2];
	pid_t child;

	(void)state;
	outer_request();
	copy = last_copy(stack_copied);
	assert_int_equal(pipe(block), 0);
	child = fork();
	if (!child) {
		char byte;

		close(block[1]);
		_exit(read(block[0], &byte, 1) < 0);
	}
	unwinder__note(unwinder, child);
	close(block[0]);
	close(block[1]);
	waitpid(child, NULL, 0);
	assert_null(unwinder__frames(unwinder, getpid(), &copy, &own));
	assert_null(unwinder__frames(unwinder, child, &copy, &of_child));
	assert_true(own.count > 3);
	assert_int_equal(of_child.count, own.count);
	assert_memory_equal(own.pcs, of_child.pcs, own.count * sizeof(own.pcs[0]));
}

/* ---- stacks of places ---- */

#define SAMPLE_MOST (sizeof(struct ns_offcpu_sample) + NS_OFFCPU_STACK_MOST)

static union {
	struct ns_offcpu_sample head;
	unsigned char bytes[SAMPLE_MOST];
} sample;

/* Of what inner_write() took last; returns the record's length. */
static size_t make_sample(uint32_t place)
{
	uint64_t sp = call.regs[NS_REG_SP], at;
	size_t before;

	memset(&sample, 0, sizeof(sample));
	sample.head.place = place;
	sample.head.tgid = 7;
	sample.head.base = sp & ~(uint64_t)(NS_OFFCPU_STACK_BLOCK - 1);
	before = sp - sample.head.base;
	memcpy(sample.head.regs, call.regs, sizeof(call.regs));
	at = stack_copied < NS_OFFCPU_STACK_MOST - before ? stack_copied
							  : NS_OFFCPU_STACK_MOST - before;
	memcpy(sample.head.stack + before, stack_copy, at);
	for (size_t i = 0; i < (before + at) / NS_OFFCPU_STACK_BLOCK; i++)
		sample.head.there[i / 64] |= 1ull << (i & 63);
	return SAMPLE_MOST;
}

static void the_better_stack_is_shown(void **state)
{
	static const uint64_t few[4] = {1, 2},
			      many[UNWIND_FRAMES + 1] = {[0 ... UNWIND_FRAMES - 1] = 7};
	static const struct {
		enum unwind_way way;
		bool cut; /* of the copy only the first block is there */
		const uint64_t *fp;
		size_t room;
		bool unwound;
	} rows[] = {
		{UNWIND_FP, false, few, 4, false},
		{UNWIND_DWARF, false, few, 4, true},
		{UNWIND_DWARF, true, many, UNWIND_FRAMES + 1, true},
		{UNWIND_AUTO, false, few, 4, true},
		/* It ends in the outermost caller: those beyond are made up. */
		{UNWIND_AUTO, false, many, UNWIND_FRAMES + 1, true},
		{UNWIND_AUTO, true, many, UNWIND_FRAMES + 1, false},
		{UNWIND_AUTO, true, few, 1, true},
	};
	const struct unwound_spot elsewhere = {7, 1, 2};
	struct unwound_spot spot;
	const uint64_t *pcs;

	(void)state;
	outer_request();
	spot = (struct unwound_spot){7, call.regs[NS_REG_IP], call.regs[NS_REG_SP]};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unwound *unwound = unwound__new(rows[i].way, resolver);
		size_t len = make_sample(5), count;

		if (rows[i].cut)
			sample.head.there[0] = 0xf, sample.head.there[1] = 0;
		unwound__sample(unwound, getpid(), &sample, len);
		assert_true(resolver__poll(resolver, FOREVER));
		assert_true(unwound__has(unwound, 5));
		count = unwound__stack(unwound, 5, &elsewhere, rows[i].fp, rows[i].room, &pcs);
		if (rows[i].unwound) {
			assert_true(count > 1);
			assert_int_equal(pcs[0], call.regs[NS_REG_IP]);
		} else {
			assert_ptr_equal(pcs, rows[i].fp);
			assert_int_equal(count, rows[i].fp == few ? 2 : UNWIND_FRAMES);
		}
		/* Another place has none. */
		assert_int_equal(unwound__stack(unwound, 6, &spot, few, 4, &pcs), 2);
		assert_ptr_equal(pcs, few);
		/* But where its frame pointers tell nothing, that of the same spot will do. */
		assert_int_equal(unwound__stack(unwound, 6, &elsewhere, few, 1, &pcs), 1);
		count = unwound__stack(unwound, 6, &spot, few, 1, &pcs);
		assert_int_equal(count > 1, rows[i].way != UNWIND_FP);
		assert_int_equal(unwound__lost(unwound), 0);
		unwound__free(unwound);
	}
}

static void damaged_samples_do_no_harm(void **state)
{
	struct unwound *unwound = unwound__new(UNWIND_AUTO, resolver);
	uint64_t random = 7;

	(void)state;
	outer_request();
	for (uint32_t place = 1; place < 300; place++) {
		size_t len = make_sample(place);

		for (size_t i = 0; i < 64; i++)
			sample.bytes[random_below(&random, 1024)] =
				(unsigned char)random_below(&random, 256);
		sample.head.place = place;
		if (place % 2)
			len = random_below(&random, len);
		unwound__sample(unwound, getpid(), &sample, len);
	}
	unwound__sample(unwound, 0, &sample, make_sample(400)); /* in no namespace of ours */
	assert_true(resolver__poll(resolver, FOREVER));
	assert_false(unwound__has(unwound, 400));
	assert_true(unwound__lost(unwound) > 0);
	unwound__free(unwound);
}

static void ways_have_names(void **state)
{
	enum unwind_way way = UNWIND_AUTO;

	(void)state;
	assert_true(unwind_way__parse("dwarf", &way));
	assert_int_equal(way, UNWIND_DWARF);
	assert_true(unwind_way__parse("fp", &way));
	assert_true(unwind_way__parse("auto", &way));
	assert_int_equal(way, UNWIND_AUTO);
	assert_false(unwind_way__parse("lbr", &way));
	assert_false(unwind_way__parse("", &way));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outermost_caller_is_known),
		cmocka_unit_test(callers_beyond_a_signal_handler),
		cmocka_unit_test(callers_beyond_the_kernels_own_code),
		cmocka_unit_test(holes_are_nobodys_callers),
		cmocka_unit_test(a_process_that_was_noted_may_end),
		cmocka_unit_test(the_better_stack_is_shown),
		cmocka_unit_test(damaged_samples_do_no_harm),
		cmocka_unit_test(ways_have_names),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
