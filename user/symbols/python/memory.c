// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/python/memory.h"

#include <unistd.h>

#define THREADS 64 /* of an interpreter that are looked at */

/* struct pthread of glibc on x86-64, which the thread pointer points to: its first keys' data. */
#define TLS_FIRST 0x318
#define TLS_EACH  16
#define TLS_KEYS  32

bool python__read(const struct python *python, uint64_t at, void *out, size_t size)
{
	return at < INT64_MAX && pread(python->memory, out, size, (off_t)at) == (ssize_t)size;
}

uint64_t python__pointer(const struct python *python, uint64_t at)
{
	uint64_t pointer = 0;

	return python__read(python, at, &pointer, sizeof(pointer)) ? pointer : 0;
}

uint32_t python__number(const struct python *python, uint64_t at)
{
	uint32_t number = 0;

	return python__read(python, at, &number, sizeof(number)) ? number : 0;
}

/* The thread's state is where each thread is to have it: by the one that is first in the list. */
bool python__find_key(const struct python *python, uint64_t runtime, uint32_t *tls)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter = python__pointer(python, runtime + layout->interpreters);
	uint64_t state = python__pointer(python, interpreter + layout->threads), self;
	uint32_t made = python__number(python, runtime + layout->key);
	uint32_t key = python__number(python, runtime + layout->key + sizeof(made));

	if (!interpreter || !made || key >= TLS_KEYS)
		return false;
	*tls = TLS_FIRST + key * TLS_EACH;
	for (size_t i = 0; i < THREADS && state; i++) {
		self = python__pointer(python, state + layout->thread_id);
		if (self && python__pointer(python, self + *tls) == state)
			return true;
		state = python__pointer(python, state + layout->next);
	}
	return false;
}
