// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/syscalls.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "user/record/record.h"

#define NONE UINT32_MAX /* this machine does not have it */

struct syscall_row {
	const char *name;
	uint32_t x86_64; /* arch/x86/entry/syscalls/syscall_64.tbl */
	uint32_t arm64;  /* include/uapi/asm-generic/unistd.h */
	enum wait_kind kind;
};

/* clang-format off */
static const struct syscall_row rows[] = {
	{"read",             0,    63,   WAIT_RECEIVE},
	{"write",            1,    64,   WAIT_SEND},
	{"readv",            19,   65,   WAIT_RECEIVE},
	{"writev",           20,   66,   WAIT_SEND},
	{"preadv2",          327,  286,  WAIT_RECEIVE},
	{"pwritev2",         328,  287,  WAIT_SEND},
	{"sendfile",         40,   71,   WAIT_SEND},
	{"splice",           275,  76,   WAIT_RECEIVE},
	{"connect",          42,   203,  WAIT_CONNECT},
	{"sendto",           44,   206,  WAIT_SEND},
	{"recvfrom",         45,   207,  WAIT_RECEIVE},
	{"sendmsg",          46,   211,  WAIT_SEND},
	{"recvmsg",          47,   212,  WAIT_RECEIVE},
	{"recvmmsg",         299,  243,  WAIT_RECEIVE},
	{"sendmmsg",         307,  269,  WAIT_SEND},
	{"poll",             7,    NONE, WAIT_MANY},
	{"select",           23,   NONE, WAIT_MANY},
	{"epoll_wait",       232,  NONE, WAIT_MANY},
	{"pselect6",         270,  72,   WAIT_MANY},
	{"ppoll",            271,  73,   WAIT_MANY},
	{"epoll_pwait",      281,  22,   WAIT_MANY},
	{"epoll_pwait2",     441,  441,  WAIT_MANY},
	{"io_uring_enter",   426,  426,  WAIT_URING},
	{"accept",           43,   202,  WAIT_ACCEPT},
	{"accept4",          288,  242,  WAIT_ACCEPT},
	{"open",             2,    NONE, WAIT_UNKNOWN},
	{"close",            3,    57,   WAIT_UNKNOWN},
	{"openat",           257,  56,   WAIT_UNKNOWN},
	{"ioctl",            16,   29,   WAIT_UNKNOWN},
	{"pread64",          17,   67,   WAIT_UNKNOWN},
	{"pwrite64",         18,   68,   WAIT_UNKNOWN},
	{"preadv",           295,  69,   WAIT_UNKNOWN},
	{"pwritev",          296,  70,   WAIT_UNKNOWN},
	{"sched_yield",      24,   124,  WAIT_UNKNOWN},
	{"msync",            26,   227,  WAIT_UNKNOWN},
	{"pause",            34,   NONE, WAIT_PAUSE},
	{"nanosleep",        35,   101,  WAIT_SLEEP},
	{"clock_nanosleep",  230,  115,  WAIT_SLEEP},
	{"restart_syscall",  219,  128,  WAIT_SLEEP},
	{"setsockopt",       54,   208,  WAIT_UNKNOWN},
	{"shutdown",         48,   210,  WAIT_UNKNOWN},
	{"exit",             60,   93,   WAIT_UNKNOWN},
	{"clone",            56,   220,  WAIT_CHILD}, /* with CLONE_VFORK: until the child's exec */
	{"vfork",            58,   NONE, WAIT_CHILD},
	{"wait4",            61,   260,  WAIT_CHILD},
	{"semop",            65,   193,  WAIT_IPC},
	{"semtimedop",       220,  192,  WAIT_IPC},
	{"msgsnd",           69,   189,  WAIT_IPC},
	{"msgrcv",           70,   188,  WAIT_IPC},
	{"fcntl",            72,   25,   WAIT_UNKNOWN},
	{"flock",            73,   32,   WAIT_MUTEX},
	{"fsync",            74,   82,   WAIT_DISK},
	{"fdatasync",        75,   83,   WAIT_DISK},
	{"rt_sigtimedwait",  128,  137,  WAIT_PAUSE},
	{"rt_sigsuspend",    130,  133,  WAIT_PAUSE},
	{"sync",             162,  81,   WAIT_DISK},
	{"futex",            202,  98,   WAIT_UNKNOWN},
	{"io_getevents",     208,  4,    WAIT_DISK},
	{"exit_group",       231,  94,   WAIT_UNKNOWN},
	{"mq_timedreceive",  243,  183,  WAIT_IPC},
	{"waitid",           247,  95,   WAIT_CHILD},
	{"tee",              276,  77,   WAIT_UNKNOWN},
	{"fallocate",        285,  47,   WAIT_UNKNOWN},
	{"getrandom",        318,  278,  WAIT_UNKNOWN},
	{"copy_file_range",  326,  285,  WAIT_UNKNOWN},
	{"io_pgetevents",    333,  292,  WAIT_DISK},
	{"clone3",           435,  435,  WAIT_CHILD},
	{"futex_waitv",      449,  449,  WAIT_SIGNAL},
	{"futex_wait",       455,  455,  WAIT_SIGNAL},
};
/* clang-format on */

static const struct syscall_row *find(const char *arch, uint32_t number)
{
	bool x86 = !strcmp(arch, "x86_64");
	bool arm = !strcmp(arch, "aarch64") || !strcmp(arch, "arm64");

	if (number == NONE || (!x86 && !arm))
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((x86 ? rows[i].x86_64 : rows[i].arm64) == number)
			return &rows[i];
	}
	return NULL;
}

const char *syscall__name(const char *arch, uint32_t number)
{
	const struct syscall_row *row = find(arch, number);

	return row ? row->name : NULL;
}

enum wait_kind syscall__wait_kind(const char *arch, uint32_t number)
{
	const struct syscall_row *row = find(arch, number);

	return row ? row->kind : WAIT_UNKNOWN;
}

enum syscall_wait syscall__wait(const char *arch, uint32_t number)
{
	switch (syscall__wait_kind(arch, number)) {
	case WAIT_RECEIVE:
	case WAIT_SEND:
	case WAIT_CONNECT:
		return SYSCALL_WAIT_FD;
	case WAIT_MANY:
	case WAIT_URING:
		return SYSCALL_WAIT_MANY;
	default:
		return SYSCALL_WAIT_OTHER;
	}
}

bool syscall__is_for_none(const char *arch, const struct ns_wait *wait)
{
	const char *name = syscall__name(arch, wait->syscall);

	if (!name || (wait->head.conn && wait->conn_basis != NS_CONN_WRITTEN))
		return false;
	return (!wait->arg0 && (!strcmp(name, "select") || !strcmp(name, "pselect6"))) ||
	       (!wait->arg1 && (!strcmp(name, "poll") || !strcmp(name, "ppoll")));
}

enum syscall_wait syscall__wait_of(const char *arch, const struct ns_wait *wait)
{
	return syscall__is_for_none(arch, wait) ? SYSCALL_WAIT_OTHER
						: syscall__wait(arch, wait->syscall);
}

bool syscall__is_epoll(const char *arch, uint32_t number)
{
	const char *name = syscall__name(arch, number);

	return name && !strncmp(name, "epoll_", 6);
}
