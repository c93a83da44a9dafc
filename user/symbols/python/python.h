/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CPython's own functions: where the kernel side finds those that a thread runs, and what they are
 * called. All of it is read from the process's memory: names of functions and files, tables of
 * lines, and the interpreter's lists; nothing that a program works with. What does not check has no
 * name.
 */
#ifndef NETSTALL_SYMBOLS_PYTHON_PYTHON_H
#define NETSTALL_SYMBOLS_PYTHON_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bpf/event.h"
#include "bpf/state.h"
#include "user/symbols/file_broker.h"

#define PYTHONS_MOST                                                                               \
	64 /* processes that are known at a time; the one used longest ago makes room */

struct pythons;

struct pythons *pythons__new(struct file_broker *broker);
void pythons__free(struct pythons *pythons);

/* False: it runs none that is known, or one that has not begun yet. */
bool pythons__find(struct pythons *pythons, pid_t pid, struct ns_python *out);

/*
 * To a stack as symbols__stack() has it: its frames from the interpreter's own on become those of
 * the functions that it runs, "send (/srv/app.py:21)", leaf first; "[python]" for what does not
 * check.
 */
void pythons__join(struct pythons *pythons, pid_t pid, const struct ns_python_frame *frames,
		   size_t count, char *stack, size_t size);

/*
 * The same, by the functions' own text. A last frame that is "[unknown]" says nothing: it goes.
 */
void python_text__join(char *stack, size_t size, const char *functions);

#endif
