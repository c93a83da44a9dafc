/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where a program or library keeps what is known by name: the data that run times are found by. */
#ifndef NETSTALL_SYMBOLS_IMAGES_DATA_SYMBOLS_H
#define NETSTALL_SYMBOLS_IMAGES_DATA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/symbols/file_broker.h"
#include "user/symbols/images/maps.h"

/*
 * values[i]: where the process has the object names[i] of the file whose first byte is mapped in
 * that line; 0: the file has none. False: the first of them is not there.
 */
bool data_symbols__find(struct file_broker *broker, pid_t pid, const struct maps_line *line,
			const char *const *names, size_t count, uint64_t *values);

#endif
