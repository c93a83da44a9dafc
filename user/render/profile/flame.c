// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/profile/flame.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/texts.h"
#include "user/base/xalloc.h"

#define FIRST_NODES 256

/* While it grows: nodes are found by their parent and their text, which is one pointer. */
struct growth {
	struct flame *flame;
	size_t room;
	size_t *slots; /* of nodes; 0: free. Twice as many as there is room for nodes */
	size_t at;     /* where the chain at hand has come to */
	const struct profile_entry *entry;
};

static size_t *find(const struct growth *growth, size_t parent, const char *text)
{
	uint64_t key = ((uint64_t)(uintptr_t)text >> 4) * 0x9e3779b97f4a7c15;
	size_t mask = 2 * growth->room - 1, i;

	/* Few texts have many parents, and few parents many texts: both must reach all bits. */
	key = (key ^ key >> 29 ^ parent) * 0xbf58476d1ce4e5b9;
	i = (size_t)(key ^ key >> 32) & mask;
	while (growth->slots[i]) {
		const struct flame_node *node = &growth->flame->nodes[growth->slots[i]];

		if (node->parent == parent && node->text == text)
			break;
		i = (i + 1) & mask;
	}
	return &growth->slots[i];
}

static void make_room(struct growth *growth)
{
	struct flame *flame = growth->flame;

	if (flame->count < growth->room)
		return;
	growth->room = growth->room ? 2 * growth->room : FIRST_NODES;
	flame->nodes = xreallocarray(flame->nodes, growth->room, sizeof(*flame->nodes));
	free(growth->slots);
	growth->slots = xcalloc(2 * growth->room, sizeof(*growth->slots));
	for (size_t i = 1; i < flame->count; i++)
		*find(growth, flame->nodes[i].parent, flame->nodes[i].text) = i;
}

static size_t add_node(struct growth *growth, size_t parent, const char *text)
{
	struct flame *flame = growth->flame;
	struct flame_node *node;

	make_room(growth);
	node = &flame->nodes[flame->count];
	*node = (struct flame_node){.text = text, .parent = parent};
	if (text) {
		node->depth = flame->nodes[parent].depth + 1;
		node->next = flame->nodes[parent].child;
		flame->nodes[parent].child = flame->count;
		*find(growth, parent, text) = flame->count;
	}
	if (node->depth > flame->depth)
		flame->depth = node->depth;
	return flame->count++;
}

static void count(struct growth *growth)
{
	struct flame_node *node = &growth->flame->nodes[growth->at];

	node->ns += growth->entry->ns;
	node->waits += growth->entry->count;
}

static void add_frame(void *context, enum frame_kind kind, unsigned hop, const char *text)
{
	struct growth *growth = context;
	const char *own = texts__keep(growth->flame->texts, text);
	size_t found = *find(growth, growth->at, own);

	if (!found) {
		found = add_node(growth, growth->at, own);
		growth->flame->nodes[found].kind = kind;
		growth->flame->nodes[found].hop = hop;
	}
	growth->at = found;
	count(growth);
}

static int by_text(const void *a, const void *b, void *context)
{
	const struct flame_node *nodes = context;

	return strcmp(nodes[*(const size_t *)a].text, nodes[*(const size_t *)b].text);
}

static void sort_children(struct flame *flame, struct flame_node *node, size_t *list)
{
	size_t n = 0;

	for (size_t i = node->child; i; i = flame->nodes[i].next)
		list[n++] = i;
	qsort_r(list, n, sizeof(*list), by_text, flame->nodes);
	node->child = n ? list[0] : 0;
	for (size_t i = 0; i < n; i++)
		flame->nodes[list[i]].next = i + 1 < n ? list[i + 1] : 0;
}

struct flame *flame__new(const struct profile *profile)
{
	struct flame *flame = xcalloc(1, sizeof(*flame));
	struct growth growth = {.flame = flame};
	size_t *list;

	flame->texts = texts__new();
	add_node(&growth, 0, NULL);
	for (size_t i = 0; i < profile->entry_count; i++) {
		growth.at = 0;
		growth.entry = &profile->entries[i];
		count(&growth);
		frames__of(profile, growth.entry, add_frame, &growth);
		flame->nodes[growth.at].own_ns += growth.entry->ns;
	}
	list = xcalloc(flame->count, sizeof(*list));
	for (size_t i = 0; i < flame->count; i++)
		sort_children(flame, &flame->nodes[i], list);
	free(list);
	free(growth.slots);
	return flame;
}

void flame__free(struct flame *flame)
{
	if (!flame)
		return;
	texts__free(flame->texts);
	free(flame->nodes);
	free(flame);
}

size_t flame__next(const struct flame *flame, size_t at)
{
	const struct flame_node *nodes = flame->nodes;

	if (nodes[at].child)
		return nodes[at].child;
	while (at && !nodes[at].next)
		at = nodes[at].parent;
	return nodes[at].next;
}
