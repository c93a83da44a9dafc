// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as the memory of a process that runs CPython: its lists, code objects, names
 * and tables of lines, of every version. What comes of it must be frames that can be printed.
 *
 * libFuzzer options: -max_len=4096
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user/symbols/python/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Numbers in the bytes, near enough for pointers to hit them. */
static uint64_t word_at(const uint8_t *data, size_t size, size_t at)
{
	uint64_t word = 0;

	if (at + sizeof(word) <= size)
		memcpy(&word, data + at, sizeof(word));
	return word & 1 ? word : word % (size + 1);
}

static void join(const struct python *python, const uint8_t *data, size_t size)
{
	struct ns_python_frame frames[4];
	char stack[512] = "send+0x1 [libc.so.6];[python3.11]+0x12 [python3.11];main";

	for (size_t i = 0; i < 4; i++)
		frames[i] = (struct ns_python_frame){word_at(data, size, 16 * i),
						     word_at(data, size, 16 * i + 8)};
	python__join(python, frames, 4, stack, sizeof(stack));
	for (const char *at = stack; *at; at++)
		if ((unsigned char)*at < ' ')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char said[PYTHON_SAYS] = {0};
	struct python python = {.memory = memfd_create("fuzz", 0)};
	uint32_t tls;

	if (python.memory < 0 || write(python.memory, data, size) != (ssize_t)size)
		abort();
	for (uint32_t minor = 9; minor <= 13; minor++) {
		python.layout = *python_layout__of(minor);
		python__find_key(&python, word_at(data, size, 0), &tls);
		join(&python, data, size);
		python_layout__line(minor, data, size, (unsigned)size, size);
	}
	memcpy(said, data, size < sizeof(said) ? size : sizeof(said));
	if (python_layout__read(&python.layout, said))
		join(&python, data, size);
	close(python.memory);
	return 0;
}
