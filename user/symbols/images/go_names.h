/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The functions of a Go program, out of the table that its run time needs itself (.gopclntab),
 * which stays when the program is stripped. Layouts of Go 1.16, 1.18 and 1.20 on, by their magic
 * numbers; see src/internal/abi and src/debug/gosym of Go.
 */
#ifndef NETSTALL_SYMBOLS_IMAGES_GO_NAMES_H
#define NETSTALL_SYMBOLS_IMAGES_GO_NAMES_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name is the file's, as long as elf is. */
typedef void go_names_take(void *context, uint64_t start, uint64_t end, const char *name);

/* Tells every function, addresses as in the file. Returns how many, 0 for what is no Go program. */
size_t go_names__read(Elf *elf, go_names_take *take, void *context);

/*
 * The line at address, and the path of its source (cut at its front to fit): of code that was
 * inlined there, the innermost. False: it is not known.
 */
bool go_names__line(Elf *elf, uint64_t address, char *path, size_t size, int *line);

#endif
