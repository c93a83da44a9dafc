/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The names of one ELF file: its symbol table, that of its separate debug file, the small one
 * in .gnu_debugdata, and the dynamic one, whichever there is (docs/symbols.md). Addresses
 * are those in the file (p_vaddr), so that processes share it.
 */
#ifndef NETSTALL_SYMBOLS_IMAGES_IMAGE_NAMES_H
#define NETSTALL_SYMBOLS_IMAGES_IMAGE_NAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_SYMBOLS (2u << 20) /* of one file; counted beyond */

struct image_names;

/* Opens what a debug file says that it shares with others (.gnu_debugaltlink); -errno. */
typedef int image_open(void *context, const char *path);

/*
 * fd is the file, debug_fd its separate debug file (-1: none): both become the result's, also
 * when it is NULL, for what is no ELF file of this machine. open serves as long as this lives.
 */
struct image_names *image_names__new(int fd, int debug_fd, image_open *open, void *context);
void image_names__free(struct image_names *names);

/* Where in the file's own addresses its byte at offset is mapped to. False: nowhere. */
bool image_names__address(const struct image_names *names, uint64_t offset, uint64_t *address);

/* The symbol at address, mangled, until image_names__free(); NULL: none. *offset: in it. */
const char *image_names__find(const struct image_names *names, uint64_t address, uint64_t *offset);

/* Bytes of its files. */
uint64_t image_names__size(const struct image_names *names);
size_t image_names__count(const struct image_names *names);
/* Symbols that IMAGE_SYMBOLS left out. */
size_t image_names__refused(const struct image_names *names);

/* For lines; NULL: no debug information. *bias: an address there plus it is one of ours. */
Dwarf *image_names__dwarf(struct image_names *names, Dwarf_Addr *bias);

/* go_names__line() of a program that Go made. */
bool image_names__go_line(struct image_names *names, uint64_t address, char *path, size_t size,
			  int *line);

#endif
