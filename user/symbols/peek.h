/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What another process has in its memory, by a descriptor of its /proc/PID/mem. */
#ifndef NETSTALL_SYMBOLS_PEEK_H
#define NETSTALL_SYMBOLS_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: not all of it is there. */
bool peek__read(int memory, uint64_t at, void *out, size_t size);
/* 0: there is none, or it cannot be read. */
uint64_t peek__pointer(int memory, uint64_t at);
uint32_t peek__number(int memory, uint64_t at);
uint16_t peek__half(int memory, uint64_t at);
/* A text of C's, cut if need be. False: there is none. */
bool peek__text(int memory, uint64_t at, char *out, size_t size);

#endif
