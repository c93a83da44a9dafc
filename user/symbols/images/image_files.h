/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The programs and libraries that noted processes have mapped, each once, whoever maps it. A
 * file is opened when it is first seen (its process may end at any time), and read when the
 * first address in it is asked for. The one used longest ago makes room.
 */
#ifndef NETSTALL_SYMBOLS_IMAGES_IMAGE_FILES_H
#define NETSTALL_SYMBOLS_IMAGES_IMAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/symbols/file_broker.h"
#include "user/symbols/images/maps.h"
#include "user/symbols/symbols.h"

#define IMAGE_FILES      2048       /* known */
#define IMAGE_FILES_OPEN 256        /* opened and not yet read: two descriptors each */
#define IMAGE_FILES_READ (4u << 20) /* symbols of all that are read */

struct image_files;
struct image_file;

struct image_files *image_files__new(struct file_broker *broker);
void image_files__free(struct image_files *files);

/*
 * The file behind a line of PID's maps, for image_file__put(); NULL: no room, or no file. called:
 * as below; NULL: by its path.
 */
struct image_file *image_files__get(struct image_files *files, pid_t pid,
				    const struct maps_line *line, const char *called);
/*
 * A program of several names, as redis-server, which is a link to redis-check-rdb: the one that PID
 * has, if the file of that name beside it is the same. The caller's to free; NULL: it has no other.
 */
char *image_files__called(struct image_files *files, pid_t pid, const struct maps_line *line);
void image_file__put(struct image_file *file);
/* One more image_file__put() will come. */
void image_file__hold(struct image_file *file);

/*
 * The frames at the byte at offset of the file, leaf first, ';' between: one, or more with
 * inlined functions. returns: a call returns to there. counts: frames, nameless are counted.
 */
void image_file__describe(struct image_files *files, struct image_file *file, uint64_t offset,
			  bool returns, unsigned style, char *out, size_t size,
			  struct symbols_counts *counts);

/* Adds what was refused. */
void image_files__counts(const struct image_files *files, struct symbols_counts *counts);

#endif
