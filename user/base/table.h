/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hash table from u32 to a pointer, with a bound: it never holds more than that. */
#ifndef NETSTALL_BASE_TABLE_H
#define NETSTALL_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;

struct table *table__new(size_t bound);
/* drop is called for every value that is left; may be NULL. */
void table__free(struct table *table, void (*drop)(void *value));
/* NULL when the key is not there. */
void *table__get(const struct table *table, uint32_t key);
/* The key must not be there, the value not be NULL. Returns false when the table is full. */
bool table__put(struct table *table, uint32_t key, void *value);
/* Take the key out; returns its value, NULL when it is not there. */
void *table__take(struct table *table, uint32_t key);
size_t table__count(const struct table *table);
/* Walk, in no order: start with *cursor 0; NULL ends it. The table must not change meanwhile. */
void *table__next(const struct table *table, size_t *cursor);

#endif
