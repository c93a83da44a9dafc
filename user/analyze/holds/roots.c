// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/roots.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

struct roots {
	struct root *v; /* a ring */
	size_t count;   /* ever added */
	size_t untold[ROOTS_UNTOLD];
	size_t untold_count; /* ever */
};

struct roots *roots__new(void)
{
	struct roots *roots = xcalloc(1, sizeof(*roots));

	roots->v = xcalloc(ROOTS, sizeof(*roots->v));
	return roots;
}

static void drop_evidence(struct root *root)
{
	if (root->incident)
		incident__free(root->incident);
	free(root->finding);
	root->incident = NULL;
	root->finding = NULL;
}

void roots__free(struct roots *roots)
{
	if (!roots)
		return;
	for (size_t i = 0; i < ROOTS; i++)
		drop_evidence(&roots->v[i]);
	free(roots->v);
	free(roots);
}

static struct root *add(struct roots *roots, const struct stall *stall)
{
	struct root *root = &roots->v[roots->count++ % ROOTS];

	drop_evidence(root);
	memset(root, 0, sizeof(*root));
	root->span = (struct span){.start_ts = stall->start_ts,
				   .end_ts = stall->end_ts,
				   .conn = stall->conn,
				   .peer = stall->peer,
				   .writer_tid = stall->hold.head.tid};
	root->cause = stall->cause;
	root->slice_count = stall->slice_count;
	memcpy(root->slices, stall->slices, sizeof(root->slices));
	return root;
}

void roots__add(struct roots *roots, const struct stall *stall)
{
	add(roots, stall)->stall = stall->number;
}

void roots__add_untold(struct roots *roots, const struct finding *finding,
		       struct incident *incident)
{
	struct root *root = add(roots, &finding->stall);
	size_t *place = &roots->untold[roots->untold_count % ROOTS_UNTOLD];

	if (roots->untold_count >= ROOTS_UNTOLD)
		drop_evidence(&roots->v[*place % ROOTS]);
	roots->untold_count++;
	*place = roots->count - 1;
	root->incident = incident;
	root->finding = xmemdup(finding, sizeof(*finding));
}

struct root *roots__first(const struct roots *roots, uint32_t conn, uint64_t from, uint64_t to)
{
	size_t count = roots->count < ROOTS ? roots->count : ROOTS;
	struct root *first = NULL;

	for (size_t i = 0; conn && i < count; i++) {
		struct root *root = &roots->v[i];

		if (root->span.conn != conn && root->span.peer != conn)
			continue;
		if (root->span.end_ts <= from || root->span.start_ts >= to)
			continue;
		if (!first || root->span.start_ts < first->span.start_ts)
			first = root;
	}
	return first;
}

bool roots__extend(struct roots *roots, uint32_t stall, enum cause cause, uint64_t end_ts)
{
	size_t count = roots->count < ROOTS ? roots->count : ROOTS;

	for (size_t i = 0; i < count; i++) {
		struct root *root = &roots->v[i];

		if (root->stall != stall || root->cause != cause)
			continue;
		root->span.end_ts = end_ts;
		return true;
	}
	return false;
}

const struct root *roots__next(const struct roots *roots, size_t *cursor)
{
	size_t count = roots->count < ROOTS ? roots->count : ROOTS;

	return *cursor < count ? &roots->v[(*cursor)++] : NULL;
}

void root__told(struct root *root, uint32_t stall)
{
	root->stall = stall;
	drop_evidence(root);
}
