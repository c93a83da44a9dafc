/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The file of a recording that a live run writes. */
#ifndef NETSTALL_CMD_RECORDED_H
#define NETSTALL_CMD_RECORDED_H

#include <stdio.h>

#include "user/record/recording.h"

struct recorded {
	const char *path; /* NULL: nothing is recorded */
	FILE *file;
	struct recording_writer *writer;
	bool last; /* a flight recorder: the file is written at its end */
};

/* Before anything is watched. path: NULL for none; host: NULL for this one. Returns 0 or -errno
 * after it has said why. */
int recorded__open(struct recorded *recorded, const char *path, const char *host);
/* A flight recorder of so long, and at most so many bytes in memory. */
int recorded__open_last(struct recorded *recorded, const char *path, uint64_t last_ns,
			uint64_t most_bytes);
/* All that there is goes into the file. */
void recorded__finish(struct recorded *recorded);
/* Likewise: not all of it could be written. */
int recorded__close(struct recorded *recorded);

#endif
