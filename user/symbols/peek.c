// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/peek.h"

#include <string.h>
#include <unistd.h>

bool peek__read(int memory, uint64_t at, void *out, size_t size)
{
	return at < INT64_MAX && pread(memory, out, size, (off_t)at) == (ssize_t)size;
}

uint64_t peek__pointer(int memory, uint64_t at)
{
	uint64_t pointer = 0;

	return peek__read(memory, at, &pointer, sizeof(pointer)) ? pointer : 0;
}

uint32_t peek__number(int memory, uint64_t at)
{
	uint32_t number = 0;

	return peek__read(memory, at, &number, sizeof(number)) ? number : 0;
}

uint16_t peek__half(int memory, uint64_t at)
{
	uint16_t half = 0;

	return peek__read(memory, at, &half, sizeof(half)) ? half : 0;
}

bool peek__text(int memory, uint64_t at, char *out, size_t size)
{
	ssize_t got = at && at < INT64_MAX ? pread(memory, out, size - 1, (off_t)at) : -1;

	if (got <= 0)
		return false;
	out[got] = '\0';
	return true;
}
