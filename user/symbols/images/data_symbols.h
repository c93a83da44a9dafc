/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where a program or library keeps what is known by name: the data that run times are found by. */
#ifndef NETSTALL_SYMBOLS_IMAGES_DATA_SYMBOLS_H
#define NETSTALL_SYMBOLS_IMAGES_DATA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * values[i]: the address, as the file has it, of the object names[i]; 0: it has none. base: the
 * address of its first byte. False: the first of them is not there.
 */
bool data_symbols__find(int fd, const char *const *names, size_t count, uint64_t *values,
			uint64_t *base);

#endif
