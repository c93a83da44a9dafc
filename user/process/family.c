// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/family.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

struct process {
	pid_t pid;
	pid_t parent;
};

/*
 * The name in /proc/PID/stat may hold anything, blanks and brackets too: what counts is behind
 * its last bracket. Returns 0 when it is gone, or waits to be reaped.
 */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512], *behind;
	size_t len;
	FILE *file;
	pid_t parent;
	char state;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	behind = strrchr(text, ')');
	if (!behind || sscanf(behind + 1, " %c %d", &state, &parent) != 2 || state == 'Z' ||
	    state == 'X')
		return 0;
	return parent;
}

static struct process *list_processes(size_t *count)
{
	struct process *list = NULL;
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t room = 0;

	*count = 0;
	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name), parent = pid > 0 ? parent_of(entry->d_name) : 0;

		if (parent <= 0)
			continue;
		list = xgrow(list, *count, &room, sizeof(*list));
		list[(*count)++] = (struct process){pid, parent};
	}
	if (dir)
		closedir(dir);
	return list;
}

size_t family__find(pid_t pid, pid_t out[FAMILY_MOST])
{
	size_t count, found = 0, next = 0, i;
	struct process *list = list_processes(&count);

	while (true) {
		for (i = 0; i < count && found < FAMILY_MOST; i++)
			if (list[i].parent == pid)
				out[found++] = list[i].pid;
		if (next == found)
			break;
		pid = out[next++];
	}
	free(list);
	return found;
}
