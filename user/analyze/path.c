// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/path.h"

#include <string.h>

const char *path_kind__name(enum path_kind kind)
{
	static const char *const names[PATH_KINDS] = {
		[PATH_UNKNOWN] = "unknown", [PATH_RUNS] = "computes", [PATH_READY] = "ready",
		[PATH_BLOCKED] = "blocked", [PATH_SHORTS] = "shorts", [PATH_HELD] = "held",
		[PATH_TRANSIT] = "transit", [PATH_UNREAD] = "unread",
	};

	return names[kind];
}

uint64_t path__total(const struct path *path, size_t part)
{
	uint64_t ns[PATH_PARTS];

	if (part >= path->count)
		return 0;
	/* A part stands behind its parent. */
	for (size_t i = 0; i < path->count; i++)
		ns[i] = path->parts[i].ns;
	for (size_t i = path->count; i-- > part + 1;)
		ns[path->parts[i].parent] += ns[i];
	return ns[part];
}

const struct path_part *path__largest(const struct path *path)
{
	const struct path_part *largest = NULL;

	for (size_t i = 0; i < path->count; i++) {
		if (!largest || path->parts[i].ns > largest->ns)
			largest = &path->parts[i];
	}
	return largest;
}

static bool are_alike(const struct path_part *a, const struct path_part *b)
{
	return a->parent == b->parent && a->kind == b->kind && a->cause == b->cause &&
	       a->syscall == b->syscall && !strncmp(a->comm, b->comm, sizeof(a->comm));
}

size_t path__add(struct path *path, const struct path_part *part)
{
	struct path_part *other;

	for (size_t i = 1; i < path->count; i++) {
		other = &path->parts[i];
		if (!are_alike(other, part))
			continue;
		other->ns += part->ns;
		other->count += part->count;
		return i;
	}
	if (path->count == PATH_PARTS) {
		path->parts[part->parent].ns += part->ns;
		return part->parent;
	}
	path->parts[path->count] = *part;
	return path->count++;
}

void path__merge(struct path *path, const struct path *from)
{
	size_t at[PATH_PARTS] = {0};
	struct path_part part;

	if (!path->count) {
		*path = *from;
		return;
	}
	if (!from->count)
		return;
	path->parts[0].ns += from->parts[0].ns;
	path->parts[0].count += from->parts[0].count;
	for (size_t i = 1; i < from->count; i++) {
		part = from->parts[i];
		part.parent = (uint16_t)at[part.parent];
		at[i] = path__add(path, &part);
	}
}
