/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Source lines and inlined functions of one ELF file, out of its debug information. */
#ifndef NETSTALL_SYMBOLS_IMAGES_IMAGE_LINES_H
#define NETSTALL_SYMBOLS_IMAGES_IMAGE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/symbols/images/image_names.h"

#define IMAGE_INLINED 16 /* functions inlined in one another at one address */

struct image_line {
	const char *function; /* mangled where the language does so; NULL not known */
	char path[256];       /* without "." and ".."; "" not known; longer ones lose their front */
	int line;
};

struct image_lines;

/* names must outlive it. NULL: there is no debug information. */
struct image_lines *image_lines__new(struct image_names *names);
void image_lines__free(struct image_lines *lines);
/*
 * The functions at address, the innermost inlined one first, the last is the one that stands
 * in the symbol table. Each with the line that it is at. Returns how many, 0 when the address
 * is in no unit.
 */
size_t image_lines__find(struct image_lines *lines, uint64_t address,
			 struct image_line out[IMAGE_INLINED + 1]);

#endif
