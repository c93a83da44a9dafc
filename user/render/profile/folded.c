// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Folded stacks: a line for each place where chains end in the tree of them all. */
#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/render/profile/flame.h"
#include "user/render/profile/profile.h"

struct line {
	const struct flame_node *end;
	size_t number; /* in the order of the tree */
	uint64_t us;
};

/* What rounding down has taken, most of it first. */
static int by_remainder(const void *a, const void *b)
{
	const struct line *left = a, *right = b;
	uint64_t one = left->end->own_ns % 1000, two = right->end->own_ns % 1000;

	if (one != two)
		return one > two ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int by_time(const void *a, const void *b)
{
	const struct line *left = a, *right = b;

	if (left->us != right->us)
		return left->us > right->us ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* The lines' sum is that of their ns, rounded once. */
static void round_to_us(struct line *lines, size_t count)
{
	uint64_t rest = 0;

	for (size_t i = 0; i < count; i++) {
		lines[i].us = lines[i].end->own_ns / 1000;
		rest += lines[i].end->own_ns % 1000;
	}
	rest = (rest + 500) / 1000;
	sort_array(lines, count, sizeof(*lines), by_remainder);
	for (size_t i = 0; i < count && i < rest; i++)
		lines[i].us++;
}

static void print_stack(FILE *out, const struct flame *flame, const struct flame_node *node)
{
	if (flame->nodes[node->parent].text) {
		print_stack(out, flame, &flame->nodes[node->parent]);
		fputc(';', out);
	}
	fputs(node->text, out);
}

void render__folded(FILE *out, const struct profile *profile)
{
	struct flame *flame = flame__new(profile);
	struct line *lines = xcalloc(flame->count, sizeof(*lines));
	size_t count = 0;

	for (size_t at = flame__next(flame, 0); at; at = flame__next(flame, at)) {
		if (flame->nodes[at].own_ns) {
			lines[count] = (struct line){.end = &flame->nodes[at], .number = count};
			count++;
		}
	}
	round_to_us(lines, count);
	sort_array(lines, count, sizeof(*lines), by_time);
	for (size_t i = 0; i < count && lines[i].us; i++) {
		print_stack(out, flame, lines[i].end);
		fprintf(out, " %llu\n", (unsigned long long)lines[i].us);
	}
	free(lines);
	flame__free(flame);
}
