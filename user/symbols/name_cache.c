// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/name_cache.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

#define SLOTS (2 * NAME_CACHE_TEXTS) /* a power of two */

struct slot {
	struct name_key key;
	char *text; /* NULL: free */
};

struct name_cache {
	size_t count;
	struct slot slots[SLOTS];
};

struct name_cache *name_cache__new(void)
{
	return xcalloc(1, sizeof(struct name_cache));
}

static void clear(struct name_cache *cache)
{
	for (size_t i = 0; i < SLOTS; i++)
		free(cache->slots[i].text);
	memset(cache, 0, sizeof(*cache));
}

void name_cache__free(struct name_cache *cache)
{
	if (!cache)
		return;
	clear(cache);
	free(cache);
}

static size_t slot_of(const struct name_cache *cache, const struct name_key *key)
{
	uint64_t hash = (key->file * 31 + key->style) * 0x9e3779b97f4a7c15ull ^ key->address;
	size_t slot = (hash * 0x9e3779b97f4a7c15ull) >> 40 & (SLOTS - 1);

	while (cache->slots[slot].text && memcmp(&cache->slots[slot].key, key, sizeof(*key)))
		slot = (slot + 1) & (SLOTS - 1);
	return slot;
}

const char *name_cache__get(const struct name_cache *cache, const struct name_key *key)
{
	return cache->slots[slot_of(cache, key)].text;
}

void name_cache__put(struct name_cache *cache, const struct name_key *key, const char *text)
{
	struct slot *slot;

	if (cache->count == NAME_CACHE_TEXTS)
		clear(cache);
	slot = &cache->slots[slot_of(cache, key)];
	slot->key = *key;
	slot->text = xstrdup(text);
	cache->count++;
}
