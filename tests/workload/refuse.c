// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A kernel that refuses some BPF programs or their tables, for netstall and others that use
 * libbpf: a library to be preloaded, which stands before bpf(2).
 *
 *	LD_PRELOAD=refuse.so REFUSE=tp_exit,tp_retrans [REFUSE_ERRNO=12] netstall ...
 *
 * Programs and tables go by their names as the kernel has them (15 bytes).
 * REFUSE           programs that do not attach
 * REFUSE_LOAD      that do not load
 * REFUSE_RUN       that are not run (BPF_PROG_TEST_RUN)
 * MISS             that attach, and are run for nobody
 * REFUSE_MAP       tables that are not made
 * REFUSE_ERRNO     EINVAL if not given
 * REFUSE_LIST      a file: what could be refused is listed there, the variable and the name
 * REFUSE_SIGNALFD  =1: nor does it have signalfd(2)
 * REFUSE_MEMORY    a file: once FILE.PID is there, the process of that pid gets no memory from its
 *                  next calloc(), once
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

static void note(const char *list, const char *name)
{
	const char *path = getenv("REFUSE_LIST");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%s %s\n", list, name);
	fclose(file);
}

static int is_listed(const char *list, const char *name)
{
	const char *names = getenv(list);
	size_t len;

	note(list, name);
	for (; names && *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (len == strlen(name) && !strncmp(names, name, len))
			return 1;
	}
	return 0;
}

static int is_listed_program(const char *list, uint32_t program)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};

	attr.info.bpf_fd = program;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	return !real()(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) &&
	       is_listed(list, info.name);
}

/* A program that is to be attached. */
static int is_listed_attachment(const char *list, long command, const union bpf_attr *attr)
{
	if (command == BPF_RAW_TRACEPOINT_OPEN)
		return is_listed_program(list, attr->raw_tracepoint.prog_fd);
	return command == BPF_LINK_CREATE && is_listed_program(list, attr->link_create.prog_fd);
}

static int is_refused(long command, const union bpf_attr *attr)
{
	switch (command) {
	case BPF_MAP_CREATE:
		return is_listed("REFUSE_MAP", attr->map_name);
	case BPF_PROG_LOAD:
		return is_listed("REFUSE_LOAD", attr->prog_name);
	case BPF_PROG_TEST_RUN:
		return is_listed_program("REFUSE_RUN", attr->test.prog_fd);
	default:
		return is_listed_attachment("REFUSE", command, attr);
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
	if (number == SYS_bpf && is_refused(args[0], (const void *)args[1])) {
		errno = error ? atoi(error) : EINVAL;
		return -1;
	}
	if (getenv("MISS") && number == SYS_bpf &&
	    is_listed_attachment("MISS", args[0], (const void *)args[1]))
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
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
