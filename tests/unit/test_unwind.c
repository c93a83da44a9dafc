// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Unwinding a copied stack: this program's own, whole, cut short, and damaged. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "bpf/state.h"
#include "tests/unit/feed.h"
#include "user/collect/unwind.h"

static struct ns_call_raw call;
static volatile int work; /* behind each call, so that none becomes a jump */
/* The same stack, as much of it as there is: a signal's frame alone may have 12 KiB. */
static unsigned char stack_copy[1 << 16];
static size_t stack_copied;

/* Until the end of the stack at most; byte by byte, for the sanitizers know better. */
__attribute__((no_sanitize("address", "undefined"))) static void copy_stack(void)
{
	const unsigned char *from = (void *)call.regs[NS_REG_SP];
	pthread_attr_t attributes;
	void *stack;
	size_t size;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &stack, &size);
	pthread_attr_destroy(&attributes);
	for (stack_copied = 0; stack_copied < sizeof(stack_copy); stack_copied++) {
		if (from + stack_copied == (unsigned char *)stack + size)
			break;
		stack_copy[stack_copied] = ((volatile const unsigned char *)from)[stack_copied];
	}
	call.stack_len = stack_copied < NS_CALL_STACK ? stack_copied : NS_CALL_STACK;
	memcpy(call.stack, stack_copy, call.stack_len);
}

/* As the kernel side does: registers, then the stack from its pointer on. */
__attribute__((noipa)) static void inner_write(void)
{
	ucontext_t here;

	memset(&call, 0, sizeof(call));
	call.call.head.tid = getpid();
	getcontext(&here);
#if defined(__x86_64__)
	static const int from[] = {REG_RIP, REG_RSP, REG_RBP, REG_RBX,
				   REG_R12, REG_R13, REG_R14, REG_R15};

	for (size_t i = 0; i < NS_REG_COUNT; i++)
		call.regs[i] = here.uc_mcontext.gregs[from[i]];
#elif defined(__aarch64__)
	call.regs[NS_REG_IP] = here.uc_mcontext.pc;
	call.regs[NS_REG_SP] = here.uc_mcontext.sp;
	call.regs[NS_REG_FP] = here.uc_mcontext.regs[29];
	call.regs[NS_REG_LR] = here.uc_mcontext.regs[30];
	for (size_t i = 0; i < 10; i++)
		call.regs[NS_REG_X19 + i] = here.uc_mcontext.regs[19 + i];
#endif
	copy_stack();
	work++;
}

__attribute__((noipa)) static void middle_helper(void)
{
	volatile char room[200];

	room[0] = 1;
	inner_write();
	work += room[0];
}

__attribute__((noipa)) static void outer_request(void)
{
	middle_helper();
	work++;
}

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

__attribute__((noipa)) static void raise_in_here(void)
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

__attribute__((noipa)) static void ask_for_the_time(void)
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

static struct opener *opener;
static struct unwinder *unwinder;
static struct symbols *symbols;

static int begin(void **state)
{
	(void)state;
	opener = opener__new();
	unwinder = unwinder__new(opener);
	symbols = symbols__new(opener);
	outer_request();
	return opener ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unwinder__free(unwinder);
	symbols__free(symbols);
	opener__free(opener);
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
static void the_opener_hands_out_programs_alone(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(opener__image(opener, getpid(), "/etc/passwd"), -ENOEXEC);
	assert_int_equal(opener__image(opener, getpid(), "/etc"), -ENOEXEC);
	assert_int_equal(opener__image(opener, getpid(), "/dev/null"), -ENOEXEC);
	assert_int_equal(opener__image(opener, getpid(), "/no/such/file"), -ENOENT);
	assert_true(opener__image(opener, getpid(), "/proc/self/exe") < 0);
	assert_true(opener__maps(opener, -1) < 0);
	fd = opener__program(opener, getpid());
	assert_true(fd >= 0);
	close(fd);
	fd = opener__maps(opener, getpid());
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_named_leaf_first),
		cmocka_unit_test(a_stack_cut_short_gives_the_first_callers),
		cmocka_unit_test(text_that_does_not_fit_ends_at_a_frame),
		cmocka_unit_test(damaged_stacks_do_no_harm),
		cmocka_unit_test(lengths_and_pointers_are_not_trusted),
		cmocka_unit_test(the_outermost_caller_is_known),
		cmocka_unit_test(callers_beyond_a_signal_handler),
		cmocka_unit_test(callers_beyond_the_kernels_own_code),
		cmocka_unit_test(holes_are_nobodys_callers),
		cmocka_unit_test(a_process_that_was_noted_may_end),
		cmocka_unit_test(what_cannot_be_had_is_said),
		cmocka_unit_test(the_opener_hands_out_programs_alone),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
