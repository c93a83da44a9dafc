/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files in one directory, written by a small process of ours as the user who called sudo. What is
 * handed over waits in memory until that process takes it: nobody waits for a disk.
 */
#ifndef NETSTALL_PROCESS_WRITER_H
#define NETSTALL_PROCESS_WRITER_H

#include <stdbool.h>
#include <stddef.h>

struct writer;

/*
 * Make the directory (0700) unless it is there. Returns 0, or -errno after it has said why. A
 * file in it that is_old says is one of ours of an earlier run is refused (-EEXIST).
 */
int writer__open(const char *dir, bool (*is_old)(const char *name), struct writer **out);
/*
 * A file (0600) that must not be there yet. text is copied; name is at most WRITER_NAME bytes.
 * replaced: one of ours that goes once this one is written; NULL: none does.
 */
void writer__put(struct writer *writer, const char *name, const char *replaced, const char *text,
		 size_t size);
void writer__push(struct writer *writer);
/*
 * All of it, in 10 s at most. Returns 0, or -errno of the first file that could not be written
 * after it has said which and why; a file that could not be written whole is not left there.
 */
int writer__finish(struct writer *writer);
/* Files that are there. */
size_t writer__count(const struct writer *writer);
/* Takes NULL. */
void writer__free(struct writer *writer);

#define WRITER_NAME 60

#endif
