// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/full_queues.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/xalloc.h"

#define PROCESSES 64
#define TEXT_SIZE 16384 /* the file has about 4 KiB */

struct counted {
	pid_t pid;
	int fd; /* held open: the last record of a process may be read when that is gone */
	uint64_t seen;
};

struct full_queues {
	struct counted counted[PROCESSES]; /* in the order in which they began */
	size_t count;
};

struct full_queues *full_queues__new(void)
{
	return xcalloc(1, sizeof(struct full_queues));
}

void full_queues__free(struct full_queues *queues)
{
	if (!queues)
		return;
	for (size_t i = 0; i < queues->count; i++)
		close(queues->counted[i].fd);
	free(queues);
}

/* Of "TcpExt: NAME NAME ..." and "TcpExt: VALUE VALUE ...", the lines that follow each other. */
static uint64_t sum_of(char *names, char *values)
{
	static const char *const wanted[] = {"ListenOverflows", "TCPReqQFullDrop"};
	char *next_name, *next_value, *name, *value;
	uint64_t sum = 0;

	name = strtok_r(names, " \n", &next_name);
	value = strtok_r(values, " \n", &next_value);
	while (name && value) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			sum += strcmp(name, wanted[i]) ? 0 : strtoull(value, NULL, 10);
		name = strtok_r(NULL, " \n", &next_name);
		value = strtok_r(NULL, " \n", &next_value);
	}
	return sum;
}

static bool read_counters(int fd, uint64_t *sum)
{
	static char text[TEXT_SIZE];
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
	char *values, *end;

	if (length <= 0)
		return false;
	text[length] = '\0';
	values = strncmp(text, "TcpExt:", 7) ? NULL : strchr(text, '\n');
	if (!values || strncmp(values + 1, "TcpExt:", 7))
		return false;
	*values++ = '\0';
	end = strchr(values, '\n');
	if (!end)
		return false;
	*end = '\0';
	*sum = sum_of(text, values);
	return true;
}

static struct counted *find(struct full_queues *queues, pid_t pid)
{
	for (size_t i = 0; i < queues->count; i++) {
		if (queues->counted[i].pid == pid)
			return &queues->counted[i];
	}
	return NULL;
}

void full_queues__forget(struct full_queues *queues, pid_t pid)
{
	struct counted *known = find(queues, pid);
	size_t behind;

	if (!known)
		return;
	close(known->fd);
	behind = (size_t)(queues->counted + queues->count - known) - 1;
	memmove(known, known + 1, behind * sizeof(*known));
	queues->count--;
}

static void begin(struct full_queues *queues, pid_t pid)
{
	struct counted *fresh;
	char path[64];

	if (queues->count == PROCESSES)
		full_queues__forget(queues, queues->counted[0].pid);
	fresh = &queues->counted[queues->count];
	snprintf(path, sizeof(path), "/proc/%d/net/netstat", pid);
	*fresh = (struct counted){.pid = pid, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (fresh->fd < 0)
		return;
	if (read_counters(fresh->fd, &fresh->seen))
		queues->count++;
	else
		close(fresh->fd);
}

uint32_t full_queues__drops(struct full_queues *queues, pid_t pid, uint32_t drops)
{
	struct counted *known = find(queues, pid);
	uint64_t now, full;

	if (!known) {
		begin(queues, pid);
		return 0;
	}
	if (!drops || !read_counters(known->fd, &now))
		return 0;
	full = now - known->seen;
	known->seen = now;
	return full < drops ? full : drops;
}
