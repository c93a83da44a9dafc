/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of the system calls in which a thread can sleep, by machine. */
#ifndef NETSTALL_RECORD_SYSCALLS_H
#define NETSTALL_RECORD_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

enum syscall_wait {
	SYSCALL_WAIT_OTHER, /* sleeps, locks, files, other processes, accept() */
	SYSCALL_WAIT_FD, /* for the file descriptor in its first argument, which may be a socket */
	SYSCALL_WAIT_MANY, /* for any of several: poll, epoll, io_uring */
};

/* arch as uname -m says it; NULL when the machine or the number is not in the table. */
const char *syscall__name(const char *arch, uint32_t number);
enum syscall_wait syscall__wait(const char *arch, uint32_t number);
bool syscall__waits_for_network(const char *arch, uint32_t number);

#endif
