/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that is there: every allocation of netstall comes through here. The first one that fails
 * gets back what was kept for that, so that a command can write what it has and end: whoever loops
 * asks xalloc__is_short(). The next one that fails ends the program with a sentence and status 2.
 */
#ifndef NETSTALL_BASE_XALLOC_H
#define NETSTALL_BASE_XALLOC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Keep so many bytes for the first allocation that fails; without, that one ends the program. */
void xalloc__reserve(size_t bytes);
/* An allocation has failed, and what was kept is in use. */
bool xalloc__is_short(void);

/* Zeroed. */
void *xcalloc(size_t count, size_t size);
/* New bytes are not zeroed. */
void *xreallocarray(void *old, size_t count, size_t size);
/* Of an array with room for *room elements of that size: room for one more than count. */
void *xgrow(void *old, size_t count, size_t *room, size_t size);
void *xmemdup(const void *src, size_t size);
char *xstrdup(const char *src);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* A stream into memory: after fclose() *text is the caller's, with a NUL behind its size bytes. */
FILE *xmemstream(char **text, size_t *size);

#endif
