/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whether a change helps, by windows with and without it in one run: what `netstall prove` decides.
 *
 * A block is four windows in the order ABBA or BAAB, which one by chance: a drift that is linear
 * in time cancels within it. Of each block one number is kept, the logarithm of the ratio of its
 * windows with to those without; blocks are taken to be independent of each other and symmetric
 * about the effect, and nothing else is assumed of them. So the effect is the median of their
 * Walsh averages, and its interval goes from the k-th least of these to the k-th greatest
 * (J. L. Hodges and E. L. Lehmann, "Estimates of Location Based on Rank Tests", Annals of
 * Mathematical Statistics 34, 1963), k by the exact distribution of Wilcoxon's signed rank.
 *
 * Control blocks are the same, but for that nothing is changed in them: what they show is what the
 * machine makes up. An effect is only one beyond that.
 */
#ifndef NETSTALL_CHECK_JUDGE_EFFECT_H
#define NETSTALL_CHECK_JUDGE_EFFECT_H

#include <stdbool.h>
#include <stddef.h>

#define EFFECT_BLOCKS_LEAST 8 /* of each kind */
#define EFFECT_OTHERS_LEAST 6 /* of what was not changed: the fewest that have an interval */
#define EFFECT_BLOCKS_MOST  200
#define EFFECT_CONFIDENCE   0.95
#define EFFECT_LEAST        1.05 /* a smaller ratio is no change, however sure it is */

/* Four windows. Of a closed loop the rate, of an open one one over the latency: more is better. */
struct effect_block {
	double with[2];
	double without[2];
	bool is_control; /* `with` was without, too */
};

struct effect_ratio {
	double ratio, low, high; /* low..high: EFFECT_CONFIDENCE */
	size_t blocks;           /* that it is made of; 0: too few, and the others are 1 */
};

enum effect_outcome {
	EFFECT_PROVEN,       /* better by at least EFFECT_LEAST, and by more than the control */
	EFFECT_NONE,         /* within EFFECT_LEAST of 1, surely */
	EFFECT_WORSE,        /* the opposite of PROVEN */
	EFFECT_INCONCLUSIVE, /* too few blocks, or they differ too much */
};

struct effect {
	enum effect_outcome outcome;
	struct effect_ratio change, control;
	struct effect_ratio others; /* of what was not changed; blocks 0: not judged */
	bool moved_too;             /* INCONCLUSIVE: what was not changed moved as well */
	size_t blocks_used;         /* of both kinds, with requests in each of their windows */
	size_t blocks_wanted; /* INCONCLUSIVE: so many of each kind would be enough; 0: not known */
};

/* Blocks in which a window has no requests (0) do not count. Pure. */
void effect__judge(struct effect *effect, const struct effect_block *blocks, size_t count);
/*
 * Behind it: of what was not changed, in the same windows. Where that moved the same way, and by at
 * least half as much (of the logarithms), something else did it, and nothing is proven. Pure.
 */
void effect__judge_others(struct effect *effect, const struct effect_block *blocks, size_t count);

#endif
