// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel side's view of a stack, as it is compiled for the kernel: the tracers' own frames are
 * no part of it, however many they are.
 */
#include "bpf/offcpu.h"
#include "tests/unit/test.h"

/* ---- what the kernel gives, as far as bpf/offcpu/stack.bpf.h asks for it ---- */

#undef __always_inline
#define __always_inline  inline __attribute__((always_inline))
#define __noinline       __attribute__((noinline, unused))
#define barrier_var(var) __asm__ volatile("" : "+r"(var))
#define SKIP_MASK        0xffu /* BPF_F_SKIP_FIELD_MASK */

struct scratch {
	struct ns_offcpu_stack stack;
};

static struct ns_offcpu_range irq_entries[NS_OFFCPU_RANGES], hooked[NS_OFFCPU_HOOKS];
static struct ns_offcpu_range scheduler;
static __u32 own_frames[NS_OFFCPU_HOOKS];
static const struct ns_offcpu_config offcpu = {.on = 1};
static struct scratch only;

static struct scratch *scratch_for(__u32 use)
{
	(void)use;
	return &only;
}

/* The stack at the hook. */
static __u64 frames[NS_OFFCPU_FRAMES];
static size_t frame_count;
static unsigned stacks_taken;

static long bpf_get_stack(void *ctx, void *out, __u32 size, __u64 flags)
{
	size_t skip = flags & SKIP_MASK, bytes;

	(void)ctx;
	stacks_taken++;
	if (skip > frame_count)
		return -14; /* -EFAULT */
	bytes = (frame_count - skip) * sizeof(frames[0]);
	assert_true(bytes <= size);
	memcpy(out, frames + skip, bytes);
	return (long)bytes;
}

/* Of clang, which makes BPF. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "bpf/offcpu/stack.bpf.h"

/* ---- stacks ---- */

#define KERNEL    0xffffffff81000000ull
#define SCHEDULE  (KERNEL + 0x1000)
#define INTERRUPT (KERNEL + 0x100000)
#define TRACER    (KERNEL + 0x40000000)
#define CALLERS   6

static int setup(void **state)
{
	(void)state;
	memset(hooked, 0, sizeof(hooked));
	memset(own_frames, 0, sizeof(own_frames));
	memset(&only, 0, sizeof(only));
	hooked[NS_OFFCPU_AT_SWITCH] = (struct ns_offcpu_range){SCHEDULE, SCHEDULE + 0x800};
	irq_entries[0] = (struct ns_offcpu_range){INTERRUPT, INTERRUPT + 0x100};
	stacks_taken = 0;
	return 0;
}

/* A sleep's stack, below so many frames of tracers. */
static void sleep_below(size_t own)
{
	frame_count = 0;
	for (size_t i = 0; i < own; i++)
		frames[frame_count++] = TRACER + 0x10 * i;
	frames[frame_count++] = SCHEDULE + 0x618;
	for (size_t i = 1; i < CALLERS; i++)
		frames[frame_count++] = KERNEL + 0x2000 * i + 0x23;
}

static __u32 take(void)
{
	return take_kernel_frames(NULL, &only, NS_OFFCPU_AT_SWITCH);
}

static void expect_the_sleep(void)
{
	assert_int_equal(take(), CALLERS);
	assert_true(only.stack.frames[0] == SCHEDULE + 0x618);
	assert_true(only.stack.frames[CALLERS - 1] == KERNEL + 0x2000 * (CALLERS - 1) + 0x23);
}

static void test_tracers_come_and_go(void **state)
{
	static const size_t own[] = {2, 3, 3, 2, 7, 0, 1, 2};

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		sleep_below(own[i]);
		expect_the_sleep();
	}
}

/* A stack is dear: it is looked through when their number changes, else taken once. */
static void test_taken_once(void **state)
{
	(void)state;
	sleep_below(2);
	expect_the_sleep();
	stacks_taken = 0;
	expect_the_sleep();
	expect_the_sleep();
	assert_int_equal(stacks_taken, 2);
	sleep_below(3);
	expect_the_sleep();
	stacks_taken = 0;
	expect_the_sleep();
	assert_int_equal(stacks_taken, 1);
}

/* Its functions on top are left out, one further down is not, and one frame stays in any case. */
static void test_scheduler(void **state)
{
	(void)state;
	sleep_below(0);
	assert_int_equal(scheduler_frames(&only, take()), 0); /* nobody knows where it is */
	scheduler = (struct ns_offcpu_range){KERNEL + 0x1000, KERNEL + 0x3000};
	assert_int_equal(scheduler_frames(&only, take()), 2);
	frames[3] = KERNEL + 0x1800;
	assert_int_equal(scheduler_frames(&only, take()), 2);
	frame_count = 2;
	assert_int_equal(scheduler_frames(&only, take()), 1);
	memset(&scheduler, 0, sizeof(scheduler));
}

/* Each hook has its own number of them. */
static void test_hooks_do_not_share(void **state)
{
	(void)state;
	hooked[NS_OFFCPU_AT_WAKING] = hooked[NS_OFFCPU_AT_SWITCH];
	sleep_below(3);
	expect_the_sleep();
	sleep_below(2);
	assert_int_equal(take_kernel_frames(NULL, &only, NS_OFFCPU_AT_WAKING), CALLERS);
	sleep_below(3);
	stacks_taken = 0;
	expect_the_sleep();
	assert_int_equal(stacks_taken, 1);
}

static void test_all_of_it_where_the_function_is_not_found(void **state)
{
	(void)state;
	/* Names are hidden. */
	memset(hooked, 0, sizeof(hooked));
	sleep_below(2);
	stacks_taken = 0;
	assert_int_equal(take(), 2 + CALLERS);
	assert_int_equal(stacks_taken, 1);
	/* It is another function. */
	hooked[NS_OFFCPU_AT_SWITCH] = (struct ns_offcpu_range){INTERRUPT, INTERRUPT + 0x100};
	assert_int_equal(take(), 2 + CALLERS);
	assert_true(only.stack.frames[0] == TRACER);
	/* More tracers than are looked for. */
	setup(NULL);
	sleep_below(NS_OFFCPU_OWN);
	assert_int_equal(take(), NS_OFFCPU_OWN + CALLERS);
	assert_true(only.stack.frames[0] == TRACER);
}

/* What an earlier stack has left behind the end of this one is no frame. */
static void test_short_stacks(void **state)
{
	(void)state;
	sleep_below(3);
	expect_the_sleep();
	frame_count = 0;
	assert_int_equal(take(), 0);
	frame_count = 2;
	assert_int_equal(take(), 2);
	sleep_below(0);
	frame_count = 1;
	assert_int_equal(take(), 1);
	assert_true(only.stack.frames[0] == SCHEDULE + 0x618);
}

static void test_interrupts(void **state)
{
	(void)state;
	sleep_below(2);
	assert_int_equal(interrupt_depth(0, take()), 0);
	frames[4] = INTERRUPT;
	assert_int_equal(interrupt_depth(0, take()), 3);
	/* The outermost. */
	frames[6] = INTERRUPT + 0xff;
	assert_int_equal(interrupt_depth(0, take()), 5);
	frames[7] = INTERRUPT + 0x100;
	assert_int_equal(interrupt_depth(0, take()), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_tracers_come_and_go, setup),
		cmocka_unit_test_setup(test_taken_once, setup),
		cmocka_unit_test_setup(test_scheduler, setup),
		cmocka_unit_test_setup(test_hooks_do_not_share, setup),
		cmocka_unit_test_setup(test_all_of_it_where_the_function_is_not_found, setup),
		cmocka_unit_test_setup(test_short_stacks, setup),
		cmocka_unit_test_setup(test_interrupts, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
