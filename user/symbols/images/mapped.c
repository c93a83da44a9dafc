// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/mapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"

struct look {
	struct mapping *v; /* by start */
	size_t count;
};

struct mapped {
	struct look looks[MAPPED_LOOKS]; /* the newest first */
	size_t count;
};

struct mapped *mapped__new(void)
{
	return xcalloc(1, sizeof(struct mapped));
}

static void forget(struct look *look)
{
	for (size_t i = 0; i < look->count; i++)
		image_file__put(look->v[i].file);
	free(look->v);
	*look = (struct look){0};
}

void mapped__free(struct mapped *mapped)
{
	if (!mapped)
		return;
	for (size_t i = 0; i < mapped->count; i++)
		forget(&mapped->looks[i]);
	free(mapped);
}

struct mapped *mapped__copy(const struct mapped *mapped)
{
	struct mapped *copy = mapped__new();
	const struct look *from = &mapped->looks[0];
	struct look *to = &copy->looks[0];

	if (!mapped->count)
		return copy;
	to->v = xmemdup(from->v, from->count * sizeof(*from->v));
	to->count = from->count;
	for (size_t i = 0; i < to->count; i++)
		if (to->v[i].file)
			image_file__hold(to->v[i].file);
	copy->count = 1;
	return copy;
}

static void set_name(struct mapping *mapping, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(mapping->name, sizeof(mapping->name), "%s", slash ? slash + 1 : path);
}

static struct look read_look(struct image_files *files, pid_t pid, char *text)
{
	struct look look = {0};
	char *called = NULL;  /* the program, */
	uint64_t program = 0; /* which is mapped first: its inode */
	struct maps_line line;
	size_t room = 0;

	while (look.count < MAPPED_MOST && maps__next(&text, &line)) {
		struct mapping *mapping;

		if (!line.executable)
			continue;
		if (!look.count) {
			called = image_files__called(files, pid, &line);
			program = line.inode;
		}
		look.v = xgrow(look.v, look.count, &room, sizeof(*look.v));
		mapping = &look.v[look.count++];
		*mapping = (struct mapping){
			.start = line.start,
			.end = line.end,
			.offset = line.offset,
			.file = image_files__get(files, pid, &line,
						 line.inode == program ? called : NULL)};
		/* Also a heap that is executable, and what a run time writes through another
		 * mapping (Erlang's, .NET's). */
		mapping->generated = maps__is_memory(line.path) ||
				     (!mapping->file && strcmp(line.path, "[vsyscall]") != 0);
		if (line.inode || !mapping->generated)
			set_name(mapping, line.path);
	}
	free(called);
	return look;
}

static bool is_in(const struct look *look, const struct mapping *mapping)
{
	for (size_t i = 0; i < look->count; i++)
		if (look->v[i].start <= mapping->start && mapping->end <= look->v[i].end &&
		    look->v[i].file == mapping->file)
			return true;
	return false;
}

/* Everything that the older look knows, the newer one knows too. */
static bool covers(const struct look *newer, const struct look *older)
{
	for (size_t i = 0; i < older->count; i++)
		if (!is_in(newer, &older->v[i]))
			return false;
	return true;
}

void mapped__look(struct mapped *mapped, struct image_files *files, pid_t pid, char *text)
{
	struct look look = read_look(files, pid, text);

	if (!look.count)
		return;
	if (mapped->count && covers(&look, &mapped->looks[0])) {
		forget(&mapped->looks[0]);
		mapped->looks[0] = look;
		return;
	}
	if (mapped->count == MAPPED_LOOKS)
		forget(&mapped->looks[--mapped->count]);
	memmove(&mapped->looks[1], &mapped->looks[0], mapped->count * sizeof(look));
	mapped->looks[0] = look;
	mapped->count++;
}

static const struct mapping *find_in(const struct look *look, uint64_t pc)
{
	size_t low = count_up_to(look->v, look->count, sizeof(*look->v), pc);

	return low && pc < look->v[low - 1].end ? &look->v[low - 1] : NULL;
}

const struct mapping *mapped__find(const struct mapped *mapped, uint64_t pc)
{
	const struct mapping *found = NULL;

	for (size_t i = 0; i < mapped->count && !found; i++)
		found = find_in(&mapped->looks[i], pc);
	return found;
}

bool mapped__has_generated(const struct mapped *mapped)
{
	for (size_t i = 0; mapped->count && i < mapped->looks[0].count; i++)
		if (mapped->looks[0].v[i].generated)
			return true;
	return false;
}
