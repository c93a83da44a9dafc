// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/profile/flame.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"
#include "user/base/texts.h"
#include "user/base/xalloc.h"

/* While it grows: a node's number is that of "PARENT;TEXT" among the texts. */
struct growth {
	struct flame *flame;
	size_t room;
	size_t at; /* where the chain at hand has come to */
	const struct profile_entry *entry;
};

/* A first child of its parent. */
static struct flame_node *add_node(struct growth *growth, size_t parent)
{
	struct flame *flame = growth->flame;
	struct flame_node *node;

	flame->nodes = xgrow(flame->nodes, flame->count, &growth->room, sizeof(*flame->nodes));
	node = &flame->nodes[flame->count];
	*node = (struct flame_node){.parent = parent};
	if (flame->count > 0) {
		node->depth = flame->nodes[parent].depth + 1;
		node->next = flame->nodes[parent].child;
		flame->nodes[parent].child = flame->count;
	}
	flame->count++;
	return node;
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
	struct flame *flame = growth->flame;
	size_t parent = growth->at;
	char key[FRAME_TEXT + 24];
	const char *own;

	print_to(key, "%zu;%s", parent, text);
	own = texts__keep(flame->texts, key);
	growth->at = texts__number(flame->texts, own);
	if (growth->at == flame->count) {
		struct flame_node *node = add_node(growth, parent);

		node->text = strchr(own, ';') + 1;
		node->kind = kind;
		node->hop = hop;
	}
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
	add_node(&growth, 0); /* the root */
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
