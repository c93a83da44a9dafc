/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The chains of a profile as one tree: chains that begin alike share their first frames. A node
 * is the place of a frame; its children are in the order of their texts, so that the same
 * profile always gives the same tree.
 */
#ifndef NETSTALL_RENDER_PROFILE_FLAME_H
#define NETSTALL_RENDER_PROFILE_FLAME_H

#include "user/render/profile/frames.h"

struct flame_node {
	const char *text; /* the tree's; NULL for the root */
	enum frame_kind kind;
	unsigned hop;
	unsigned depth;     /* 0: the root */
	uint64_t ns, waits; /* of all chains through it */
	uint64_t own_ns;    /* of those that end here */
	size_t parent;      /* index; the root's own */
	size_t child, next; /* first child, next sibling; 0: none */
};

struct flame {
	size_t count;
	struct flame_node *nodes; /* nodes[0] is the root; a parent stands before its children */
	struct texts *texts;
};

struct flame *flame__new(const struct profile *profile);
void flame__free(struct flame *flame);

/* The node after this one, parents before their children; 0 behind the last. */
size_t flame__next(const struct flame *flame, size_t at);

#endif
