/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that is there: every allocation of netstall comes through here, and the
 * one that fails ends the program with a sentence (see xalloc.c).
 */
#ifndef NETSTALL_BASE_XALLOC_H
#define NETSTALL_BASE_XALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Zeroed. */
void *xcalloc(size_t count, size_t size);
/* New bytes are not zeroed. */
void *xreallocarray(void *old, size_t count, size_t size);
void *xmemdup(const void *src, size_t size);
char *xstrdup(const char *src);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* A stream into memory: after fclose() *text is the caller's, with a NUL behind its size bytes. */
FILE *xmemstream(char **text, size_t *size);

#endif
