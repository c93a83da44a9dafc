// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"

struct tasks {
	struct ns_task_entry *entries; /* sorted by tid */
	size_t count, room;
};

struct tasks *tasks__new(void)
{
	return xcalloc(1, sizeof(struct tasks));
}

void tasks__free(struct tasks *tasks)
{
	if (!tasks)
		return;
	free(tasks->entries);
	free(tasks);
}

static int by_tid(const void *a, const void *b)
{
	const struct ns_task_entry *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int tasks__read(struct tasks *tasks, int fd)
{
	size_t bytes = 0;
	ssize_t got;

	for (;;) {
		if (bytes + 4096 > tasks->room * sizeof(*tasks->entries)) {
			tasks->room = tasks->room ? tasks->room * 2 : 1024;
			tasks->entries =
				xreallocarray(tasks->entries, tasks->room, sizeof(*tasks->entries));
		}
		got = read(fd, (char *)tasks->entries + bytes,
			   tasks->room * sizeof(*tasks->entries) - bytes);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			break;
		bytes += got;
	}
	close(fd);
	if (got < 0)
		return -errno;
	tasks->count = bytes / sizeof(*tasks->entries);
	sort_array(tasks->entries, tasks->count, sizeof(*tasks->entries), by_tid);
	return 0;
}

size_t tasks__count(const struct tasks *tasks)
{
	return tasks->count;
}

const struct ns_task_entry *tasks__at(const struct tasks *tasks, size_t index)
{
	return &tasks->entries[index];
}

const struct ns_task_entry *tasks__by_tid(const struct tasks *tasks, uint32_t tid)
{
	struct ns_task_entry key = {.tid = tid};

	if (!tasks->count)
		return NULL;
	return bsearch(&key, tasks->entries, tasks->count, sizeof(key), by_tid);
}

const struct ns_task_entry *tasks__by_view(const struct tasks *tasks, uint32_t view_tid)
{
	size_t i;

	for (i = 0; i < tasks->count; i++)
		if (tasks->entries[i].view_tid == view_tid)
			return &tasks->entries[i];
	return NULL;
}

bool tasks__in_first_namespace(void)
{
	const ino_t first_namespace = 0xeffffffc; /* PROC_PID_INIT_INO, include/linux/proc_ns.h */
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == first_namespace;
}
