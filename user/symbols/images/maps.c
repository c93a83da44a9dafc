// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/xalloc.h"

char *maps__read(struct file_broker *broker, pid_t pid)
{
	int fd = file_broker__open(broker, FILE_BROKER_MAPS, pid, NULL);
	size_t used = 0, room = 1 << 16;
	char *text;
	ssize_t got;

	if (fd < 0)
		return NULL;
	text = xcalloc(room, 1);
	while (used < MAPS_SIZE && (got = read(fd, text + used, room - used - 1)) > 0) {
		used += got;
		if (used == room - 1)
			text = xreallocarray(text, room *= 2, 1);
	}
	close(fd);
	text[used] = '\0';
	if (used)
		return text;
	free(text); /* a process that ended has none */
	return NULL;
}

/* The kernel writes a line feed in a name as \012. */
static void unescape(char *path)
{
	char *to = path;

	for (; *path; path++) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 3;
		} else {
			*to++ = *path;
		}
	}
	*to = '\0';
}

/* 7f65d8c00000-7f65d8c26000 r-xp 00000000 fe:01 1234    /lib/x86_64-linux-gnu/libc.so.6 */
static bool parse(char *text, struct maps_line *line)
{
	unsigned major, minor;
	char rights[5], *name;
	int path = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n",
		   &line->start, &line->end, rights, &line->offset, &major, &minor, &line->inode,
		   &path) != 7)
		return false;
	line->device = (uint64_t)major << 32 | minor;
	line->executable = strlen(rights) == 4 && rights[2] == 'x';
	name = text + path + strspn(text + path, " ");
	unescape(name);
	line->path = name;
	return line->start < line->end;
}

bool maps__next(char **at, struct maps_line *line)
{
	while (**at) {
		char *text = *at, *end = strchrnul(text, '\n');

		*at = end + (*end == '\n');
		*end = '\0';
		if (parse(text, line))
			return true;
	}
	return false;
}

bool maps__is_memory(const char *path)
{
	return !strncmp(path, "/memfd:", strlen("/memfd:"));
}
