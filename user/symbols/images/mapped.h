/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What one process has mapped to execute, as it was at several moments: an exec or a dlclose()
 * takes away mappings that addresses of before lie in. The newest look that knows an address
 * holds.
 */
#ifndef NETSTALL_SYMBOLS_IMAGES_MAPPED_H
#define NETSTALL_SYMBOLS_IMAGES_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "user/symbols/images/image_files.h"

#define MAPPED_LOOKS 4    /* older ones are forgotten */
#define MAPPED_MOST  4096 /* executable mappings of a process; further ones are not known */

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;         /* in the file */
	struct image_file *file; /* NULL: none, or none that can be opened */
	bool generated;          /* code, by the program itself, as far as one can see */
	char name[24];           /* without a file: "[vsyscall]"; what its path ends in */
};

struct mapped;

struct mapped *mapped__new(void);
/* Of another process: the newest look. */
struct mapped *mapped__copy(const struct mapped *mapped);
void mapped__free(struct mapped *mapped);
/* A look at text, as maps__read() has it; the text is changed. */
void mapped__look(struct mapped *mapped, struct image_files *files, pid_t pid, char *text);
/* NULL: nothing was mapped there. */
const struct mapping *mapped__find(const struct mapped *mapped, uint64_t pc);
/* There is generated code. */
bool mapped__has_generated(const struct mapped *mapped);

#endif
