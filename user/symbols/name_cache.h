/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Texts by (file, address, style), for as long as there is room; then all over again. */
#ifndef NETSTALL_SYMBOLS_NAME_CACHE_H
#define NETSTALL_SYMBOLS_NAME_CACHE_H

#include <stdint.h>

#define NAME_CACHE_TEXTS (1u << 16)

struct name_cache;

struct name_key {
	uint64_t file; /* not 0 */
	uint64_t address;
	uint64_t style;
};

struct name_cache *name_cache__new(void);
void name_cache__free(struct name_cache *cache);
/* Until the next put; NULL: not there. */
const char *name_cache__get(const struct name_cache *cache, const struct name_key *key);
/* The text is copied. The key is not there. */
void name_cache__put(struct name_cache *cache, const struct name_key *key, const char *text);

#endif
