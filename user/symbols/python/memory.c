// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/python/memory.h"

#include "user/symbols/peek.h"

#define THREADS 64 /* of an interpreter that are looked at */

/* struct pthread of glibc on x86-64, which the thread pointer points to: its first keys' data. */
#define TLS_FIRST 0x318
#define TLS_EACH  16
#define TLS_KEYS  32

/* The thread's state is where each thread is to have it: by the one that is first in the list. */
bool python__find_key(const struct python *python, uint64_t runtime, uint32_t *tls)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter = peek__pointer(python->memory, runtime + layout->interpreters);
	uint64_t state = peek__pointer(python->memory, interpreter + layout->threads), self;
	uint32_t made = peek__number(python->memory, runtime + layout->key);
	uint32_t key = peek__number(python->memory, runtime + layout->key + sizeof(made));

	if (!interpreter || !made || key >= TLS_KEYS)
		return false;
	*tls = TLS_FIRST + key * TLS_EACH;
	for (size_t i = 0; i < THREADS && state; i++) {
		self = peek__pointer(python->memory, state + layout->thread_id);
		if (self && peek__pointer(python->memory, self + *tls) == state)
			return true;
		state = peek__pointer(python->memory, state + layout->next);
	}
	return false;
}
