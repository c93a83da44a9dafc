// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/python/memory.h"

#include "user/symbols/peek.h"

#define INTERPRETERS 16 /* that are looked at */
#define THREADS      64 /* and of each */

/* struct pthread of glibc on x86-64, which the thread pointer points to: its first keys' data. */
#define TLS_FIRST 0x318
#define TLS_EACH  16
#define TLS_KEYS  32

/* One of its threads has its state there. */
static bool has_key(const struct python *python, uint64_t interpreter, uint32_t tls)
{
	const struct python_layout *layout = &python->layout;
	uint64_t state = peek__pointer(python->memory, interpreter + layout->threads), self;

	for (size_t i = 0; i < THREADS && state; i++) {
		self = peek__pointer(python->memory, state + layout->thread_id);
		if (self && peek__pointer(python->memory, self + tls) == state)
			return true;
		state = peek__pointer(python->memory, state + layout->next);
	}
	return false;
}

bool python__find_key(const struct python *python, uint64_t runtime, uint32_t *tls)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter = peek__pointer(python->memory, runtime + layout->interpreters);
	uint32_t made = peek__number(python->memory, runtime + layout->key);
	uint32_t key = peek__number(python->memory, runtime + layout->key + sizeof(made));

	if (!made || key >= TLS_KEYS)
		return false;
	*tls = TLS_FIRST + key * TLS_EACH;
	/* The newest first: of one within another's thread, no thread has its state there. */
	for (size_t i = 0; i < INTERPRETERS && interpreter; i++) {
		if (has_key(python, interpreter, *tls))
			return true;
		interpreter = peek__pointer(python->memory, interpreter + layout->another);
	}
	return false;
}
