// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"

struct text {
	struct text *next; /* of the same hash */
	size_t number;     /* from 1 on, in the order in which they came */
	char *bytes;
};

struct texts {
	struct table *by_hash;
	size_t count;
	size_t bytes; /* of all texts, each with its NUL */
};

struct texts *texts__new(void)
{
	struct texts *texts = xcalloc(1, sizeof(*texts));

	texts->by_hash = table__new(SIZE_MAX);
	return texts;
}

static void drop(void *value)
{
	struct text *text, *next;

	for (text = value; text; text = next) {
		next = text->next;
		free(text->bytes);
		free(text);
	}
}

void texts__free(struct texts *texts)
{
	if (!texts)
		return;
	table__free(texts->by_hash, drop);
	free(texts);
}

/* FNV-1a */
static uint32_t hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 0x100000001b3;
	return (uint32_t)(value ^ value >> 32);
}

static struct text *find(const struct texts *texts, const char *bytes)
{
	struct text *text = table__get(texts->by_hash, hash(bytes));

	while (text && strcmp(text->bytes, bytes) != 0)
		text = text->next;
	return text;
}

const char *texts__keep(struct texts *texts, const char *text)
{
	return texts__keep_within(texts, text, SIZE_MAX);
}

const char *texts__keep_within(struct texts *texts, const char *text, size_t most)
{
	struct text *kept;
	size_t bytes;

	if (!text)
		return NULL;
	kept = find(texts, text);
	if (kept)
		return kept->bytes;
	bytes = strlen(text) + 1;
	if (bytes > most - texts->bytes)
		return NULL;
	kept = xcalloc(1, sizeof(*kept));
	*kept = (struct text){.next = table__take(texts->by_hash, hash(text)),
			      .number = ++texts->count,
			      .bytes = xstrdup(text)};
	table__put(texts->by_hash, hash(text), kept);
	texts->bytes += bytes;
	return kept->bytes;
}

size_t texts__number(const struct texts *texts, const char *text)
{
	const struct text *kept = find(texts, text);

	return kept ? kept->number : 0;
}

size_t texts__count(const struct texts *texts)
{
	return texts->count;
}
