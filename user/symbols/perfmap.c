// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/perfmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/symbols/read_budget.h"

#define CHUNK   (1u << 16)
#define OVERLAP 16 /* entries that may have been generated over one another, looked through */

struct entry {
	uint64_t start, size;
	uint32_t number; /* in the order of the file */
	uint32_t name;   /* offset in names */
};

struct perfmap {
	int fd;
	uint64_t read; /* bytes of the file, whole lines */
	struct entry *entries;
	size_t count, room;
	char *names;
	size_t names_used, names_room;
};

struct perfmap *perfmap__new(int fd)
{
	struct perfmap *perfmap = xcalloc(1, sizeof(*perfmap));

	perfmap->fd = fd;
	perfmap__refresh(perfmap);
	return perfmap;
}

void perfmap__free(struct perfmap *perfmap)
{
	if (!perfmap)
		return;
	close(perfmap->fd);
	free(perfmap->entries);
	free(perfmap->names);
	free(perfmap);
}

static void add(struct perfmap *perfmap, uint64_t start, uint64_t size, const char *name)
{
	size_t len = strlen(name) + 1;

	if (perfmap->count == PERFMAP_ENTRIES)
		return;
	perfmap->entries =
		xgrow(perfmap->entries, perfmap->count, &perfmap->room, sizeof(struct entry));
	if (perfmap->names_used + len > perfmap->names_room) {
		perfmap->names_room = (perfmap->names_used + len) * 2;
		perfmap->names = xreallocarray(perfmap->names, perfmap->names_room, 1);
	}
	memcpy(perfmap->names + perfmap->names_used, name, len);
	perfmap->entries[perfmap->count] = (struct entry){.start = start,
							  .size = size,
							  .number = perfmap->count,
							  .name = perfmap->names_used};
	perfmap->names_used += len;
	perfmap->count++;
}

static void take_line(struct perfmap *perfmap, char *line)
{
	char *at;
	uint64_t start = strtoull(line, &at, 16), size = strtoull(at, &at, 16);

	at += strspn(at, " \t");
	if (size && start + size > start && *at)
		add(perfmap, start, size, at);
}

/* Whole lines alone: the last may still be in the making. Returns the bytes taken. */
static size_t take_lines(struct perfmap *perfmap, char *text)
{
	char *line = text, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		take_line(perfmap, line);
	}
	return line - text;
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void perfmap__refresh(struct perfmap *perfmap)
{
	char *chunk = xcalloc(CHUNK + 1, 1);
	size_t before = perfmap->count;
	ssize_t got;

	while (perfmap->read < PERFMAP_BYTES && read_budget__take(CHUNK) &&
	       (got = pread(perfmap->fd, chunk, CHUNK, perfmap->read)) > 0) {
		size_t taken;

		for (ssize_t i = 0; i < got; i++)
			chunk[i] = chunk[i] ? chunk[i] : '?';
		chunk[got] = '\0';
		taken = take_lines(perfmap, chunk);
		if (!taken && got < CHUNK)
			break;
		perfmap->read += taken ? taken : CHUNK; /* no name is so long */
	}
	free(chunk);
	if (perfmap->count != before)
		sort_array(perfmap->entries, perfmap->count, sizeof(struct entry), by_start);
}

const char *perfmap__find(const struct perfmap *perfmap, uint64_t pc, uint64_t *offset)
{
	const struct entry *found = NULL;
	size_t low = count_up_to(perfmap->entries, perfmap->count, sizeof(*perfmap->entries), pc);

	for (size_t i = 0; i < OVERLAP && i < low; i++) {
		const struct entry *entry = &perfmap->entries[low - 1 - i];

		if (pc - entry->start < entry->size && (!found || entry->number > found->number))
			found = entry;
	}
	if (!found)
		return NULL;
	*offset = pc - found->start;
	return perfmap->names + found->name;
}
