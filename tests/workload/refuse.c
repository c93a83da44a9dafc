// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A kernel that refuses to attach some BPF programs, for netstall and others that use libbpf: a
 * library to be preloaded, which stands before bpf(2).
 *
 *	LD_PRELOAD=refuse.so REFUSE=tp_exit,tp_retrans [REFUSE_ERRNO=12] netstall ...
 *
 * REFUSE: the programs' names, as the kernel has them (15 bytes). REFUSE_ERRNO: EINVAL if not
 * given. REFUSE_SIGNALFD=1: nor does it have signalfd(2). REFUSE_MEMORY=FILE: once FILE.PID is
 * there, the process of that pid gets no memory from its next calloc(), once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long system_call(long number, ...);

static system_call *real(void)
{
	return (system_call *)dlsym(RTLD_NEXT, "syscall");
}

static int is_refused(uint32_t program)
{
	const char *names = getenv("REFUSE");
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};
	size_t len;

	attr.info.bpf_fd = program;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	if (!names || real()(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
		return 0;
	for (; *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (len == strlen(info.name) && !strncmp(names, info.name, len))
			return 1;
	}
	return 0;
}

static int is_attached(long command, const union bpf_attr *attr)
{
	switch (command) {
	case BPF_RAW_TRACEPOINT_OPEN:
		return is_refused(attr->raw_tracepoint.prog_fd);
	case BPF_LINK_CREATE:
		return is_refused(attr->link_create.prog_fd);
	default:
		return 0;
	}
}

/* No system call has more than six arguments, and what is there of them is handed on. */
long syscall(long number, ...)
{
	const char *error = getenv("REFUSE_ERRNO");
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && is_attached(args[0], (const void *)args[1])) {
		errno = error ? atoi(error) : EINVAL;
		return -1;
	}
	return real()(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	if (!getenv("REFUSE_SIGNALFD"))
		return (int)real()(SYS_signalfd4, fd, mask, 8, flags);
	errno = ENOSYS;
	return -1;
}

void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size)
{
	const char *name = getenv("REFUSE_MEMORY");
	char path[256];

	if (!name)
		return __libc_calloc(count, size);
	snprintf(path, sizeof(path), "%s.%d", name, (int)getpid());
	if (unlink(path))
		return __libc_calloc(count, size);
	errno = ENOMEM;
	return NULL;
}
