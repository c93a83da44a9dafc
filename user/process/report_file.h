/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What netstall writes its findings to: files that the user of the command line names, and
 * stdout. What cannot be opened or written is said here, one sentence each.
 *
 *   report_file__open    before anything is watched: a name that is no good is known at once
 *   report_file__close
 */
#ifndef NETSTALL_PROCESS_REPORT_FILE_H
#define NETSTALL_PROCESS_REPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Emptied, or made for its owner alone, as as_caller__open() has it; NULL after it has said why. */
FILE *report_file__open(const char *path);
/* To be written on at its end. */
FILE *report_file__append(const char *path);
/*
 * Returns 0; or -errno after it has said that not all could be written, and what is left of it
 * is dropped. -EPIPE of stdout or stderr is not said: whoever read it has seen enough.
 */
int report_file__flush(FILE *file, const char *name);
/* The same, and it is closed. err: 0, or -errno of what was written to it so far. */
int report_file__close(FILE *file, const char *name, int err);
/* Nothing more gets there: its reader has gone, or a write failed. */
bool report_file__is_lost(FILE *file);

#endif
