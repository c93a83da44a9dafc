/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The threads of this machine and their numbers. The kernel side counts pids as the
 * first pid namespace does; the user, and everything netstall prints, as netstall's own
 * does. Inside a container the two differ, and a process in a container below has a
 * third number, its own.
 */
#ifndef NETSTALL_KERNEL_TASKS_H
#define NETSTALL_KERNEL_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/state.h"

struct tasks;

/* Reads entries from an iterator's file descriptor, any number of times. */
struct tasks *tasks__new(void);
void tasks__free(struct tasks *tasks);
/* Replace what is known by what fd gives, until its end; fd is closed. -errno on failure. */
int tasks__read(struct tasks *tasks, int fd);

size_t tasks__count(const struct tasks *tasks);
const struct ns_task_entry *tasks__at(const struct tasks *tasks, size_t index);
/* By the kernel's number of a thread; NULL when it is not known. */
const struct ns_task_entry *tasks__by_tid(const struct tasks *tasks, uint32_t tid);
/* By netstall's own number. */
const struct ns_task_entry *tasks__by_view(const struct tasks *tasks, uint32_t view_tid);

/* netstall lives in the first pid namespace: all numbers are the kernel's. */
bool tasks__in_first_namespace(void);

#endif
