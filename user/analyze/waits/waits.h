/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every wait of a target's thread of at least the threshold gets a cause: it belongs to an
 * incident that is told already, or it is explained by its chain and becomes a stall of its
 * own, or nobody owed the thread anything and it was idle.
 */
#ifndef NETSTALL_ANALYZE_WAITS_WAITS_H
#define NETSTALL_ANALYZE_WAITS_WAITS_H

#include "user/analyze/chain/blame.h"
#include "user/analyze/waits/waited.h"

#define WAITS_PENDING 1024 /* not yet judged; the oldest is judged early when there are more */
#define WAITS_TOLD    1024 /* links of stalls, which other waits may turn out to share */

enum judgement {
	JUDGED_NOTHING, /* idle, or no stall by another reason */
	JUDGED_STALL,   /* a stall of its own */
	JUDGED_JOINED,  /* it shows a stall that is told */
	JUDGED_EXTENDS, /* and is the continuation of it: finding has the slices */
};

struct judged {
	enum judgement judgement;
	uint32_t stall;            /* joined, extends: its number */
	struct stall_wait wait;    /* joined, extends: the wait */
	struct finding finding;    /* stall */
	struct incident *incident; /* stall: its evidence; the caller frees it */
	struct root *root;         /* stall: the untold incident that it comes from, NULL none */
	bool is_explained;         /* waits__explain_all() was asked for: waited is filled */
	struct waited waited;      /* the wait itself, whatever was judged */
};

struct waits;

struct waits *waits__new(const struct model *model, const struct incidents *incidents,
			 struct roots *roots);
void waits__free(struct waits *waits);
/* Tell of every wait what it was for, also of those that are no stall. */
void waits__explain_all(struct waits *waits);
/* The model has seen the record already. */
void waits__feed(struct waits *waits, const struct ns_wait *wait, uint64_t now);
/* Judge the wait that is due first, when it is at now (UINT64_MAX: it is). Returns false
 * when none is. */
bool waits__judge(struct waits *waits, uint64_t now, struct judged *judged);
/* The stall that was judged has got its number. */
void waits__told(struct waits *waits, const struct judged *judged, uint32_t number);
/* The longest wait with an answer owed that is no stall. */
uint64_t waits__longest(const struct waits *waits, enum cause *cause);
/* What the targets' waits of at least the threshold were for, in ns, by cause. */
const uint64_t *waits__by_cause(const struct waits *waits);

#endif
