// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/syscalls.h"

#include <stddef.h>
#include <string.h>

#define NONE UINT32_MAX /* this machine does not have it */

struct syscall_row {
	const char *name;
	uint32_t x86_64; /* arch/x86/entry/syscalls/syscall_64.tbl */
	uint32_t arm64;  /* include/uapi/asm-generic/unistd.h */
	enum syscall_wait wait;
};

/* clang-format off */
static const struct syscall_row rows[] = {
	{"read",             0,    63,   SYSCALL_WAIT_FD},
	{"write",            1,    64,   SYSCALL_WAIT_FD},
	{"readv",            19,   65,   SYSCALL_WAIT_FD},
	{"writev",           20,   66,   SYSCALL_WAIT_FD},
	{"preadv2",          327,  286,  SYSCALL_WAIT_FD},
	{"pwritev2",         328,  287,  SYSCALL_WAIT_FD},
	{"sendfile",         40,   71,   SYSCALL_WAIT_FD},
	{"splice",           275,  76,   SYSCALL_WAIT_FD},
	{"connect",          42,   203,  SYSCALL_WAIT_FD},
	{"sendto",           44,   206,  SYSCALL_WAIT_FD},
	{"recvfrom",         45,   207,  SYSCALL_WAIT_FD},
	{"sendmsg",          46,   211,  SYSCALL_WAIT_FD},
	{"recvmsg",          47,   212,  SYSCALL_WAIT_FD},
	{"recvmmsg",         299,  243,  SYSCALL_WAIT_FD},
	{"sendmmsg",         307,  269,  SYSCALL_WAIT_FD},
	{"poll",             7,    NONE, SYSCALL_WAIT_MANY},
	{"select",           23,   NONE, SYSCALL_WAIT_MANY},
	{"epoll_wait",       232,  NONE, SYSCALL_WAIT_MANY},
	{"pselect6",         270,  72,   SYSCALL_WAIT_MANY},
	{"ppoll",            271,  73,   SYSCALL_WAIT_MANY},
	{"epoll_pwait",      281,  22,   SYSCALL_WAIT_MANY},
	{"epoll_pwait2",     441,  441,  SYSCALL_WAIT_MANY},
	{"io_uring_enter",   426,  426,  SYSCALL_WAIT_MANY},
	{"accept",           43,   202,  SYSCALL_WAIT_OTHER},
	{"accept4",          288,  242,  SYSCALL_WAIT_OTHER},
	{"open",             2,    NONE, SYSCALL_WAIT_OTHER},
	{"close",            3,    57,   SYSCALL_WAIT_OTHER},
	{"openat",           257,  56,   SYSCALL_WAIT_OTHER},
	{"ioctl",            16,   29,   SYSCALL_WAIT_OTHER},
	{"pread64",          17,   67,   SYSCALL_WAIT_OTHER},
	{"pwrite64",         18,   68,   SYSCALL_WAIT_OTHER},
	{"preadv",           295,  69,   SYSCALL_WAIT_OTHER},
	{"pwritev",          296,  70,   SYSCALL_WAIT_OTHER},
	{"sched_yield",      24,   124,  SYSCALL_WAIT_OTHER},
	{"msync",            26,   227,  SYSCALL_WAIT_OTHER},
	{"pause",            34,   NONE, SYSCALL_WAIT_OTHER},
	{"nanosleep",        35,   101,  SYSCALL_WAIT_OTHER},
	{"clock_nanosleep",  230,  115,  SYSCALL_WAIT_OTHER},
	{"restart_syscall",  219,  128,  SYSCALL_WAIT_OTHER},
	{"setsockopt",       54,   208,  SYSCALL_WAIT_OTHER},
	{"shutdown",         48,   210,  SYSCALL_WAIT_OTHER},
	{"exit",             60,   93,   SYSCALL_WAIT_OTHER},
	{"wait4",            61,   260,  SYSCALL_WAIT_OTHER},
	{"semop",            65,   193,  SYSCALL_WAIT_OTHER},
	{"semtimedop",       220,  192,  SYSCALL_WAIT_OTHER},
	{"msgsnd",           69,   189,  SYSCALL_WAIT_OTHER},
	{"msgrcv",           70,   188,  SYSCALL_WAIT_OTHER},
	{"fcntl",            72,   25,   SYSCALL_WAIT_OTHER},
	{"flock",            73,   32,   SYSCALL_WAIT_OTHER},
	{"fsync",            74,   82,   SYSCALL_WAIT_OTHER},
	{"fdatasync",        75,   83,   SYSCALL_WAIT_OTHER},
	{"rt_sigtimedwait",  128,  137,  SYSCALL_WAIT_OTHER},
	{"rt_sigsuspend",    130,  133,  SYSCALL_WAIT_OTHER},
	{"sync",             162,  81,   SYSCALL_WAIT_OTHER},
	{"futex",            202,  98,   SYSCALL_WAIT_OTHER},
	{"io_getevents",     208,  4,    SYSCALL_WAIT_OTHER},
	{"exit_group",       231,  94,   SYSCALL_WAIT_OTHER},
	{"mq_timedreceive",  243,  183,  SYSCALL_WAIT_OTHER},
	{"waitid",           247,  95,   SYSCALL_WAIT_OTHER},
	{"tee",              276,  77,   SYSCALL_WAIT_OTHER},
	{"fallocate",        285,  47,   SYSCALL_WAIT_OTHER},
	{"getrandom",        318,  278,  SYSCALL_WAIT_OTHER},
	{"copy_file_range",  326,  285,  SYSCALL_WAIT_OTHER},
	{"io_pgetevents",    333,  292,  SYSCALL_WAIT_OTHER},
	{"futex_waitv",      449,  449,  SYSCALL_WAIT_OTHER},
	{"futex_wait",       455,  455,  SYSCALL_WAIT_OTHER},
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

enum syscall_wait syscall__wait(const char *arch, uint32_t number)
{
	const struct syscall_row *row = find(arch, number);

	return row ? row->wait : SYSCALL_WAIT_OTHER;
}

bool syscall__waits_for_network(const char *arch, uint32_t number)
{
	return syscall__wait(arch, number) != SYSCALL_WAIT_OTHER;
}
