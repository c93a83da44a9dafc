// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/wait_kind.h"

#include <string.h>

#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wakers.h"
#include "user/base/array.h"

/* include/uapi/linux/futex.h: the operation without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME. */
#define FUTEX_OPERATION   0x7f
#define FUTEX_WAIT        0
#define FUTEX_LOCK_PI     6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2    13

/* glibc takes a mutex by FUTEX_WAIT, and waits on conditions and semaphores by FUTEX_WAIT_BITSET.
 */
static enum wait_kind of_futex(const struct ns_wait *wait)
{
	switch (wait->arg1 & FUTEX_OPERATION) {
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return WAIT_MUTEX;
	default:
		return WAIT_SIGNAL;
	}
}

static enum wait_kind by_syscall(const struct model *model, const struct ns_wait *wait)
{
	const char *arch = model__session(model)->arch;

	/* Machines whose system calls have no table here: the connection is what is left. */
	if (!syscall__name(arch, wait->syscall))
		return wait->head.conn ? WAIT_RECEIVE : WAIT_UNKNOWN;
	return syscall__wait_kind(arch, wait->syscall);
}

static bool is_syscall(const struct model *model, const struct ns_wait *wait, const char *wanted)
{
	const char *name = syscall__name(model__session(model)->arch, wait->syscall);

	return name && !strcmp(name, wanted);
}

bool uring_thread__is(const char comm[NS_COMM_LEN])
{
	return !strncmp(comm, "iou-wrk-", 8) || !strncmp(comm, "iou-sqp-", 8);
}

uint32_t process__only_thread(const struct model *model, uint32_t tgid)
{
	const struct model_thread *thread = model__threads_of(model, tgid);
	uint32_t tid = 0;

	for (; thread; thread = thread->next_of_owner) {
		if (uring_thread__is(thread->comm))
			continue;
		if (tid)
			return 0;
		tid = thread->tid;
	}
	return tid;
}

/* ---- what a stack says, looked for once ---- */

enum { HAS_BEEN_READ = 1, HAS_THAW = 2, HAS_SIGNAL = 4, HAS_TIMERFD = 8 };

static const struct {
	uint8_t bit;
	const char *functions;
} marks[] = {
	{HAS_THAW, "__thaw_task"},
	{HAS_SIGNAL, "complete_signal|signal_wake_up_state"},
	{HAS_TIMERFD, "timerfd_tmrproc"},
};

static struct stack_notes read_stack(const char *stack)
{
	struct stack_notes notes = {.kind = (uint8_t)wait_kind__by_stack(stack),
				    .waker = (uint8_t)waker__by_stack_alone(stack),
				    .has = HAS_BEEN_READ};

	for (size_t i = 0; i < COUNT_OF(marks); i++)
		notes.has |= stack__has(stack, marks[i].functions) ? marks[i].bit : 0;
	return notes;
}

/* NULL: there is none. */
static const struct stack_notes *notes_of(const struct model *model, uint32_t id)
{
	const char *stack = model__stack(model, id);
	struct stack_notes *notes = stack ? model__stack_notes(model, id) : NULL;

	if (notes && !notes->has)
		*notes = read_stack(stack);
	return notes;
}

/* Its waker's stack has this. */
static bool woken_with(const struct model *model, const struct ns_wait *wait, uint8_t what)
{
	const struct stack_notes *notes = notes_of(model, wait->waker_stack_id);

	return notes && notes->has & what;
}

static enum waker waker_of(const struct model *model, const struct ns_wait *wait)
{
	const struct stack_notes *notes = notes_of(model, wait->waker_stack_id);

	if (!notes)
		return waker__by_stack(wait, NULL);
	return waker__of(wait, (enum waker)notes->waker);
}

static enum wait_kind by_itself(const struct model *model, const struct ns_wait *wait,
				enum waker waker)
{
	const struct stack_notes *stack = notes_of(model, wait->stack_id);
	enum wait_kind found = stack ? (enum wait_kind)stack->kind : WAIT_UNKNOWN;

	if (syscall__is_for_none(model__session(model)->arch, wait))
		return found == WAIT_MANY || found == WAIT_UNKNOWN ? WAIT_SLEEP : found;
	/* UDP sleeps in the same function as Unix datagrams. */
	if (found == WAIT_IPC && socket__is_udp(&wait->socket))
		return WAIT_RECEIVE;
	if (found != WAIT_UNKNOWN)
		return found;
	/* Without a stack, an io_uring thread at work looks like one that has none. */
	if (uring_thread__is(wait->comm))
		return stack ? WAIT_UNKNOWN : WAIT_WORK;
	if (is_syscall(model, wait, "futex"))
		return of_futex(wait);
	/* The scheduler's own functions, io_schedule() among them, are not on these stacks. */
	if (waker == WAKER_DISK)
		return WAIT_DISK;
	found = by_syscall(model, wait);
	/* A write to a file: for room in a socket it would have another stack. */
	return found == WAIT_SEND && stack && !wait->head.conn ? WAIT_UNKNOWN : found;
}

/* The kernel side names what ended the wait where a ring's file or eventfd was slept on as well. */
static bool is_for_completions(const struct ns_wait *wait, enum wait_kind found)
{
	switch (found) {
	case WAIT_URING:
		return true;
	case WAIT_MANY:
	case WAIT_IPC:
	case WAIT_RECEIVE:
	case WAIT_UNKNOWN:
		return uring_wait__ended_by_operation(wait);
	default:
		return false;
	}
}

/* ---- io_uring ---- */

/* Of a file that takes or gives bytes. */
static enum wait_kind of_file(const struct ns_wait *wait, enum wait_kind socket)
{
	switch (wait->op_file) {
	case NS_URING_TCP:
		return socket;
	case NS_URING_DISK:
		return WAIT_DISK;
	case NS_URING_SOCKET:
		return socket__is_udp(&wait->socket) ? socket : WAIT_IPC;
	case NS_URING_PIPE:
	case NS_URING_OTHER:
		return WAIT_IPC;
	default:
		return wait->head.conn ? socket : WAIT_URING;
	}
}

/* Nothing, of an operation that is done when it is asked for; by a worker thread: whatever. */
static enum wait_kind of_immediate(const struct ns_wait *wait)
{
	if (wait->op_how == NS_URING_WORKER)
		return WAIT_IPC;
	return uring_wait__done_by(wait) ? WAIT_SIGNAL : WAIT_URING;
}

static enum wait_kind by_opcode(const struct ns_wait *wait, enum waker waker)
{
	switch (uring_op__act(wait->op_code)) {
	case ACT_RECEIVES:
		return of_file(wait, WAIT_RECEIVE);
	case ACT_POLLS:
		return of_file(wait, waker == WAKER_ROOM ? WAIT_SEND : WAIT_RECEIVE);
	case ACT_SENDS:
	case ACT_PASSES_ON:
		return of_file(wait, WAIT_SEND);
	case ACT_CONNECTS:
		return wait->op_file == NS_URING_SOCKET ? WAIT_IPC : WAIT_CONNECT;
	case ACT_ACCEPTS:
		return WAIT_ACCEPT;
	case ACT_TIMES:
		return WAIT_SLEEP;
	case ACT_STORES:
		return WAIT_DISK;
	case ACT_IMMEDIATE:
		return of_immediate(wait);
	case ACT_POLLS_MANY:
		return WAIT_MANY;
	case ACT_LOCKS:
		return WAIT_SIGNAL;
	case ACT_REAPS:
		return WAIT_CHILD;
	case ACT_UNKNOWN:
		break;
	}
	return wait->head.conn ? of_file(wait, WAIT_RECEIVE) : WAIT_URING;
}

/*
 * For completions: what its operation waited for. A timer ended it where it was no operation but
 * the time-out of the call, where one ran out that was linked to the operation, or a timerfd.
 */
static enum wait_kind of_operation(const struct model *model, const struct ns_wait *wait,
				   enum waker waker)
{
	const struct ns_uring *done = uring_wait__completion(model, wait);
	enum wait_kind found = WAIT_URING;

	if (waker == WAKER_TIMER || woken_with(model, wait, HAS_TIMERFD) ||
	    (done && uring_wait__timed_out(model, done)))
		return WAIT_SLEEP;
	if (uring_wait__is_for_any(wait))
		return WAIT_MANY;
	if (uring_wait__has_operation(wait))
		found = by_opcode(wait, waker);
	return found == WAIT_URING && waker == WAKER_DISK ? WAIT_DISK : found;
}

/* What a thread does for the kernel, task work of an operation or a worker's, is not by itself. */
static enum waker by_operation(enum wait_kind kind, enum waker waker)
{
	if (waker == WAKER_TIMER || waker == WAKER_DISK || waker == WAKER_ROOM)
		return waker;
	switch (kind) {
	case WAIT_RECEIVE:
	case WAIT_SEND:
	case WAIT_CONNECT:
		return WAKER_NETWORK;
	case WAIT_SLEEP:
		return WAKER_TIMER;
	default:
		return waker;
	}
}

/* On this host a datagram arrives within the call of the thread that sends it. */
static bool is_woken_by_sender(const struct model *model, const struct ns_wait *wait)
{
	const struct wake_context context = {
		.kernel = model__stack(model, wait->waker_stack_id),
		.comm = wait->waker_comm,
	};

	return wait->waker_tid && context.kernel && wake__is_by_sender(&context);
}

struct wait_view wait_view__of(const struct model *model, const struct ns_wait *wait)
{
	enum waker waker = waker_of(model, wait);
	struct wait_view view = {.wait = wait, .waker = waker};

	if (!wait->state) {
		view.kind = WAIT_PREEMPTED;
		return view;
	}
	/* Frozen in its sleep (cgroup v1), it stays there until it is thawed, whatever it waited
	 * for. */
	if (wait->state == NS_STATE_STOPPED || woken_with(model, wait, HAS_THAW)) {
		view.kind = WAIT_STOPPED;
		return view;
	}
	view.kind = by_itself(model, wait, waker);
	/* Whoever sent a signal, to end its process above all, is not who was to let it go on. */
	if ((view.kind == WAIT_MUTEX || view.kind == WAIT_SIGNAL) &&
	    woken_with(model, wait, HAS_SIGNAL)) {
		view.waker = WAKER_UNSEEN;
		view.is_by_signal = true;
	}
	view.is_completion = is_for_completions(wait, view.kind);
	if (view.is_completion) {
		view.kind = of_operation(model, wait, waker);
		view.waker = by_operation(view.kind, waker);
	}
	if (view.waker == WAKER_NETWORK && socket__is_udp(&wait->socket) &&
	    is_woken_by_sender(model, wait))
		view.waker = WAKER_TASK;
	return view;
}
