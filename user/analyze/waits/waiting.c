// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/waiting.h"

#include <string.h>

#include "user/analyze/waits/awaited.h"
#include "user/analyze/waits/waiting_ring.h"
#include "user/record/syscalls.h"

#define TASK_STATE_STOPPED 4

/* include/uapi/linux/futex.h: the operation without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME. */
#define FUTEX_OPERATION   0x7f
#define FUTEX_WAIT        0
#define FUTEX_LOCK_PI     6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2    13

/* glibc takes a mutex by FUTEX_WAIT, and waits on conditions and semaphores by FUTEX_WAIT_BITSET.
 */
static enum waiting of_futex(const struct ns_wait *wait)
{
	switch (wait->arg1 & FUTEX_OPERATION) {
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return WAITING_MUTEX;
	default:
		return WAITING_SIGNAL;
	}
}

static enum waiting by_syscall(const struct model *model, const struct ns_wait *wait)
{
	static const struct {
		const char *syscall;
		enum waiting waiting;
	} rows[] = {
		{"connect", WAITING_CONNECT},
		{"accept", WAITING_ACCEPT},
		{"accept4", WAITING_ACCEPT},
		{"io_uring_enter", WAITING_URING},
		{"nanosleep", WAITING_SLEEP},
		{"clock_nanosleep", WAITING_SLEEP},
		{"restart_syscall", WAITING_SLEEP},
		{"wait4", WAITING_CHILD},
		{"waitid", WAITING_CHILD},
		{"msgrcv", WAITING_IPC},
		{"msgsnd", WAITING_IPC},
		{"semop", WAITING_IPC},
		{"semtimedop", WAITING_IPC},
		{"mq_timedreceive", WAITING_IPC},
		{"pause", WAITING_PAUSE},
		{"rt_sigsuspend", WAITING_PAUSE},
		{"rt_sigtimedwait", WAITING_PAUSE},
		{"flock", WAITING_MUTEX},
		{"futex_wait", WAITING_SIGNAL},
		{"futex_waitv", WAITING_SIGNAL},
		{"fsync", WAITING_DISK},
		{"fdatasync", WAITING_DISK},
		{"sync", WAITING_DISK},
		{"io_getevents", WAITING_DISK},
		{"io_pgetevents", WAITING_DISK},
		{"sendto", WAITING_SEND},
		{"sendmsg", WAITING_SEND},
		{"sendmmsg", WAITING_SEND},
		{"write", WAITING_SEND},
		{"writev", WAITING_SEND},
		{"pwritev2", WAITING_SEND},
		{"sendfile", WAITING_SEND},
	};
	const char *arch = model__session(model)->arch;
	const char *name = syscall__name(arch, wait->syscall);

	for (size_t i = 0; name && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strcmp(name, rows[i].syscall))
			return rows[i].waiting;
	}
	switch (syscall__wait(arch, wait->syscall)) {
	case SYSCALL_WAIT_MANY:
		return WAITING_MANY;
	case SYSCALL_WAIT_FD:
		return WAITING_RECEIVE;
	case SYSCALL_WAIT_OTHER:
		break;
	}
	/* Machines whose system calls have no table here: the connection tells what is left. */
	return !name && wait->head.conn ? WAITING_RECEIVE : WAITING_UNKNOWN;
}

static bool is_syscall(const struct model *model, const struct ns_wait *wait, const char *wanted)
{
	const char *name = syscall__name(model__session(model)->arch, wait->syscall);

	return name && !strcmp(name, wanted);
}

bool waiting__is_rings(const char comm[NS_COMM_LEN])
{
	return !strncmp(comm, "iou-wrk-", 8) || !strncmp(comm, "iou-sqp-", 8);
}

static enum waiting of_itself(const struct model *model, const struct ns_wait *wait)
{
	enum waiting found = waiting__by_stack(model__stack(model, wait->stack_id));

	if (found != WAITING_UNKNOWN)
		return found;
	/* Without a stack a thread of io_uring's is not told at work from one that has none. */
	if (waiting__is_rings(wait->comm))
		return model__stack(model, wait->stack_id) ? WAITING_UNKNOWN : WAITING_WORK;
	if (is_syscall(model, wait, "futex"))
		return of_futex(wait);
	/* The scheduler's own functions, io_schedule() among them, are not on these stacks. */
	if (waker__by_stack(wait, model__stack(model, wait->waker_stack_id)) == WAKER_DISK)
		return WAITING_DISK;
	return by_syscall(model, wait);
}

/* The kernel side names the operation where a ring's file or eventfd was slept on as well. */
static bool is_for_completions(const struct ns_wait *wait, enum waiting found)
{
	switch (found) {
	case WAITING_URING:
		return true;
	case WAITING_MANY:
	case WAITING_IPC:
	case WAITING_RECEIVE:
	case WAITING_UNKNOWN:
		return awaited__ended(wait);
	default:
		return false;
	}
}

bool waiting__for_completions(const struct model *model, const struct ns_wait *wait)
{
	return wait->state && wait->state != TASK_STATE_STOPPED &&
	       is_for_completions(wait, of_itself(model, wait));
}

enum waiting waiting__of(const struct model *model, const struct ns_wait *wait)
{
	enum waiting found;

	if (!wait->state)
		return WAITING_PREEMPTED;
	if (wait->state == TASK_STATE_STOPPED)
		return WAITING_STOPPED;
	found = of_itself(model, wait);
	return is_for_completions(wait, found) ? waiting__of_operation(model, wait) : found;
}

/* What a thread does for the kernel, task work of an operation or a worker's, is not by itself. */
static enum waker by_operation(const struct model *model, const struct ns_wait *wait,
			       enum waker found)
{
	if (found == WAKER_TIMER || found == WAKER_DISK || found == WAKER_ROOM)
		return found;
	switch (waiting__of(model, wait)) {
	case WAITING_RECEIVE:
	case WAITING_SEND:
	case WAITING_CONNECT:
		return WAKER_NETWORK;
	case WAITING_SLEEP:
		return WAKER_TIMER;
	default:
		return found;
	}
}

enum waker waker__of(const struct model *model, const struct ns_wait *wait)
{
	enum waker found = waker__by_stack(wait, model__stack(model, wait->waker_stack_id));

	return waiting__for_completions(model, wait) ? by_operation(model, wait, found) : found;
}
