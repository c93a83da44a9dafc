/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The system calls in which a thread can sleep, by machine: their names, and what for. */
#ifndef NETSTALL_RECORD_SYSCALLS_H
#define NETSTALL_RECORD_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

struct ns_wait;

/* What a thread waited for. */
enum wait_kind {
	WAIT_UNKNOWN,
	WAIT_PREEMPTED, /* for nothing: it could have run on */
	WAIT_STOPPED,   /* by a signal or a tracer */
	WAIT_RECEIVE,   /* data of one socket */
	WAIT_SEND,      /* room in one socket's send buffer */
	WAIT_CONNECT,
	WAIT_ACCEPT,
	WAIT_MANY,   /* poll, select, epoll: any of several descriptors */
	WAIT_URING,  /* io_uring completions */
	WAIT_MUTEX,  /* a futex that is held, a lock of the kernel's */
	WAIT_SIGNAL, /* a futex that is to be signalled: condition, semaphore, thread's end */
	WAIT_IPC,    /* pipe, Unix socket, eventfd, message queue, semaphore */
	WAIT_CHILD,  /* its end, or its stop */
	WAIT_DISK,
	WAIT_SLEEP,  /* nanosleep() and the like */
	WAIT_PAUSE,  /* for a signal, with nothing else to do */
	WAIT_WORK,   /* a worker or submission thread of io_uring's that has nothing to do */
	WAIT_MEMORY, /* for pages to be freed, or as a brake: its cgroup has too many */
};

/* Which descriptors it concerns. */
enum syscall_wait {
	SYSCALL_WAIT_OTHER, /* sleeps, locks, files, other processes, accept() */
	SYSCALL_WAIT_FD, /* for the file descriptor in its first argument, which may be a socket */
	SYSCALL_WAIT_MANY, /* for any of several: poll, epoll, io_uring */
};

/* arch as uname -m says it; NULL when the machine or the number is not in the table. */
const char *syscall__name(const char *arch, uint32_t number);
/* WAIT_UNKNOWN as well for those that may wait for this or that. */
enum wait_kind syscall__wait_kind(const char *arch, uint32_t number);
enum syscall_wait syscall__wait(const char *arch, uint32_t number);
/* select() or poll() of no descriptor: the sleep of programs of old, which their clock ends. */
bool syscall__is_for_none(const char *arch, const struct ns_wait *wait);
/* What this wait's call is for, by its arguments as well. */
enum syscall_wait syscall__wait_of(const char *arch, const struct ns_wait *wait);
/* epoll_wait() and the like, in which event loops wait: for their next timer as well. */
bool syscall__is_epoll(const char *arch, uint32_t number);

#endif
