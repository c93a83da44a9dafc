/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory of a process that runs CPython, and what its interpreter keeps there. */
#ifndef NETSTALL_SYMBOLS_PYTHON_MEMORY_H
#define NETSTALL_SYMBOLS_PYTHON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/event.h"
#include "user/symbols/python/layout.h"

struct python {
	pid_t pid;
	int memory;    /* /proc/PID/mem, as the process was then */
	uint64_t used; /* when it was asked for last, by a count */
	struct python_layout layout;
};

/*
 * Where each thread has the pointer to its state, from its thread pointer on. False: no thread has
 * it there, so this is not what it is taken for. runtime: the address of _PyRuntime.
 */
bool python__find_key(const struct python *python, uint64_t runtime, uint32_t *tls);

/* pythons__join() of one that is known. */
void python__join(const struct python *python, const struct ns_python_frame *frames, size_t count,
		  char *stack, size_t size);

#endif
