/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What /proc/PID/maps says. */
#ifndef NETSTALL_SYMBOLS_IMAGES_MAPS_H
#define NETSTALL_SYMBOLS_IMAGES_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/symbols/file_broker.h"

#define MAPS_SIZE (8u << 20) /* bytes of the file that are read: 80,000 mappings */

struct maps_line {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file */
	uint64_t device; /* major << 32 | minor */
	uint64_t inode;  /* 0: no file */
	bool executable;
	const char *path; /* "" for none; in the text */
};

/* The whole text, NUL-terminated, the caller's; NULL: the process is gone, or may not be seen. */
char *maps__read(struct file_broker *broker, pid_t pid);
/* The line at *at, which goes on to the next; the text is changed. False: there is none. */
bool maps__next(char **at, struct maps_line *line);

/* A file in memory alone (memfd_create()): of run times that generate code, most often. */
bool maps__is_memory(const char *path);

#endif
