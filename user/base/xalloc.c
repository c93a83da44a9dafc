// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/xalloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

static void *reserve;
static bool is_short;

void xalloc__reserve(size_t bytes)
{
	reserve = malloc(bytes);
}

bool xalloc__is_short(void)
{
	return is_short;
}

/* True: it was still there, so that another try may succeed. */
static bool use_reserve(void)
{
	if (!reserve)
		return false;
	free(reserve);
	reserve = NULL;
	return is_short = true;
}

/* Exit status 2: netstall could not do its work. */
static _Noreturn void die(size_t count, size_t size)
{
	fprintf(stderr, "netstall: out of memory: %zu x %zu bytes were refused\n", count, size);
	exit(2);
}

void *xcalloc(size_t count, size_t size)
{
	void *memory;

	do
		memory = calloc(count ? count : 1, size ? size : 1);
	while (!memory && use_reserve());
	if (!memory)
		die(count, size);
	return memory;
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	void *memory;

	if (size && count > SIZE_MAX / size)
		die(count, size);
	do
		memory = realloc(old, count && size ? count * size : 1);
	while (!memory && use_reserve());
	if (!memory)
		die(count, size);
	return memory;
}

void *xgrow(void *old, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return old;
	*room = *room ? 2 * *room : FIRST_ROOM;
	return xreallocarray(old, *room, size);
}

void *xmemdup(const void *src, size_t size)
{
	void *copy = xcalloc(1, size);

	if (size)
		memcpy(copy, src, size);
	return copy;
}

char *xstrdup(const char *src)
{
	return xmemdup(src, strlen(src) + 1);
}

char *xvasprintf(const char *format, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	if (len < 0)
		die(1, SIZE_MAX); /* vsnprintf() of a good format fails only so */
	text = xcalloc(1, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	return text;
}

FILE *xmemstream(char **text, size_t *size)
{
	FILE *stream;

	do
		stream = open_memstream(text, size);
	while (!stream && use_reserve());
	if (!stream)
		die(1, BUFSIZ);
	return stream;
}
