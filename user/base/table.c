// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/table.h"

#include <stdlib.h>

#include "user/base/xalloc.h"

struct slot {
	uint32_t key;
	void *value; /* NULL: free */
};

/* Open addressing, linear probing, at most half full. */
struct table {
	struct slot *slots;
	size_t size; /* a power of two */
	size_t count;
	size_t bound;
};

#define FIRST_SIZE 16

struct table *table__new(size_t bound)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->bound = bound;
	table->size = FIRST_SIZE;
	table->slots = xcalloc(table->size, sizeof(*table->slots));
	return table;
}

void table__free(struct table *table, void (*drop)(void *value))
{
	if (!table)
		return;
	for (size_t i = 0; drop && i < table->size; i++) {
		if (table->slots[i].value)
			drop(table->slots[i].value);
	}
	free(table->slots);
	free(table);
}

/* Knuth's multiplicative hash: keys are small numbers in a row. */
static size_t home_of(const struct table *table, uint32_t key)
{
	return (key * 2654435769u) & (table->size - 1);
}

/* The slot of the key, or the free one where it belongs. */
static struct slot *find(const struct table *table, uint32_t key)
{
	size_t i = home_of(table, key);

	while (table->slots[i].value && table->slots[i].key != key)
		i = (i + 1) & (table->size - 1);
	return &table->slots[i];
}

void *table__get(const struct table *table, uint32_t key)
{
	return find(table, key)->value;
}

static void grow(struct table *table)
{
	struct slot *old = table->slots;
	size_t old_size = table->size;

	table->size *= 2;
	table->slots = xcalloc(table->size, sizeof(*table->slots));
	for (size_t i = 0; i < old_size; i++) {
		if (old[i].value)
			*find(table, old[i].key) = old[i];
	}
	free(old);
}

bool table__put(struct table *table, uint32_t key, void *value)
{
	struct slot *slot;

	if (table->count >= table->bound)
		return false;
	if (2 * (table->count + 1) > table->size)
		grow(table);
	slot = find(table, key);
	slot->key = key;
	slot->value = value;
	table->count++;
	return true;
}

void *table__take(struct table *table, uint32_t key)
{
	size_t mask = table->size - 1, hole = (size_t)(find(table, key) - table->slots);
	void *value = table->slots[hole].value;

	if (!value)
		return NULL;
	table->count--;
	/* Whoever probed past the hole on the way to its slot moves up. */
	for (size_t i = (hole + 1) & mask; table->slots[i].value; i = (i + 1) & mask) {
		size_t home = home_of(table, table->slots[i].key);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		table->slots[hole] = table->slots[i];
		hole = i;
	}
	table->slots[hole].value = NULL;
	return value;
}

size_t table__count(const struct table *table)
{
	return table->count;
}

void *table__next(const struct table *table, size_t *cursor)
{
	while (*cursor < table->size) {
		void *value = table->slots[(*cursor)++].value;

		if (value)
			return value;
	}
	return NULL;
}
