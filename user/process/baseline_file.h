/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Baselines as files (check/judge/baseline.h). They are made to be committed: readable as the umask
 * says, the property of the user who called sudo, and replaced as a whole or not at all, so that
 * a full disk leaves the old one as it was.
 *
 * Because netstall gives its right to write up after the attach, a small process of ours that is
 * started before, as that user, does the writing:
 *
 *   baseline_file__open   before the session drops its privileges (live__run)
 *   baseline_file__save   once, or not at all
 *   baseline_file__free
 */
#ifndef NETSTALL_PROCESS_BASELINE_FILE_H
#define NETSTALL_PROCESS_BASELINE_FILE_H

#include "user/check/judge/baseline.h"

/*
 * Returns NULL and the baseline; else what is wrong, a sentence with the remedy, malloc()ed.
 * Regular files alone: anything else could keep us waiting. Before privileges__drop().
 */
char *baseline_file__load(const char *path, struct baseline *baseline);

struct baseline_file;

/* path must live as long. Returns 0; or -errno after it has said why: it cannot be written there.
 */
int baseline_file__open(const char *path, struct baseline_file **out);
/* Returns 0 or -errno, says nothing; the file is the old one still then. */
int baseline_file__save(struct baseline_file *file, const struct baseline *baseline);
/* NULL: none was asked for. Without a save the file is as it was, and none is made. */
void baseline_file__free(struct baseline_file *file);

#endif
