// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

#define FIRST_SLOTS 64

struct slot {
	char *text;    /* NULL: free */
	size_t number; /* from 1 on, in the order in which they came */
};

/* Open addressing, linear probing, at most half full. */
struct texts {
	struct slot *slots;
	size_t size; /* a power of two */
	size_t count;
	size_t bytes; /* of all texts, each with its NUL */
};

struct texts *texts__new(void)
{
	struct texts *texts = xcalloc(1, sizeof(*texts));

	texts->size = FIRST_SLOTS;
	texts->slots = xcalloc(FIRST_SLOTS, sizeof(*texts->slots));
	return texts;
}

void texts__free(struct texts *texts)
{
	if (!texts)
		return;
	for (size_t i = 0; i < texts->size; i++)
		free(texts->slots[i].text);
	free(texts->slots);
	free(texts);
}

/* FNV-1a */
static size_t hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 0x100000001b3;
	return (size_t)(value ^ value >> 32);
}

static struct slot *find(const struct texts *texts, const char *text)
{
	size_t i = hash(text) & (texts->size - 1);

	while (texts->slots[i].text && strcmp(texts->slots[i].text, text) != 0)
		i = (i + 1) & (texts->size - 1);
	return &texts->slots[i];
}

static void grow(struct texts *texts)
{
	struct slot *old = texts->slots;
	size_t old_size = texts->size;

	texts->size *= 2;
	texts->slots = xcalloc(texts->size, sizeof(*texts->slots));
	for (size_t i = 0; i < old_size; i++) {
		if (old[i].text)
			*find(texts, old[i].text) = old[i];
	}
	free(old);
}

const char *texts__keep(struct texts *texts, const char *text)
{
	return texts__keep_within(texts, text, SIZE_MAX);
}

const char *texts__keep_within(struct texts *texts, const char *text, size_t most)
{
	struct slot *slot;
	size_t bytes;

	if (!text)
		return NULL;
	slot = find(texts, text);
	if (slot->text)
		return slot->text;
	bytes = strlen(text) + 1;
	if (bytes > most - texts->bytes)
		return NULL;
	if (2 * (texts->count + 1) > texts->size) {
		grow(texts);
		slot = find(texts, text);
	}
	texts->bytes += bytes;
	slot->number = ++texts->count;
	slot->text = xstrdup(text);
	return slot->text;
}

size_t texts__number(const struct texts *texts, const char *text)
{
	return find(texts, text)->number;
}
