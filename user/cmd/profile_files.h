/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The files that a profile goes to beside the command's output, readable for their owner alone. */
#ifndef NETSTALL_CMD_PROFILE_FILES_H
#define NETSTALL_CMD_PROFILE_FILES_H

#include <stdio.h>

#include "user/analyze/profile/profile.h"

struct profile_file {
	FILE *file; /* NULL: not wanted */
	const char *path;
};

struct profile_files {
	struct profile_file svg, pprof;
};

/* Before anything is watched: a name that cannot be written to is known at once. Paths may be
 * NULL. Returns 0 or -errno after it has said why. */
int profile_files__open(struct profile_files *files, const char *svg, const char *pprof);
/* Writes and closes all of them. Returns 0, or -errno after it has said what is not whole. */
int profile_files__write(struct profile_files *files, const struct profile *profile);

#endif
