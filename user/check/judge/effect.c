// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/effect.h"

#include <math.h>
#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Of one block; false: a window of it is empty. */
static bool log_ratio(const struct effect_block *block, double *out)
{
	double product = 1;

	for (size_t i = 0; i < 2; i++) {
		if (!(block->with[i] > 0) || !(block->without[i] > 0))
			return false;
		product *= block->with[i] / block->without[i];
	}
	*out = log(product) / 2;
	return true;
}

/*
 * How many of the least and of the greatest Walsh averages of n blocks lie outside the interval:
 * the greatest number k for which the signed rank is below k with a chance of at most half of what
 * the confidence leaves. P(W = w) is the part of all sets of ranks 1..n whose sum is w.
 */
static size_t outside(size_t n)
{
	size_t most = n * (n + 1) / 2, k = 0;
	double *chance = xcalloc(most + 1, sizeof(*chance)), below = 0;

	chance[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		for (size_t w = most + 1; w-- > 0;)
			chance[w] = (chance[w] + (w >= rank ? chance[w - rank] : 0)) / 2;
	}
	while (k <= most && below + chance[k] <= (1 - EFFECT_CONFIDENCE) / 2)
		below += chance[k++];
	free(chance);
	return k;
}

static struct effect_ratio ratio_of(const struct effect_block *blocks, size_t count,
				    bool of_control, size_t least)
{
	struct effect_ratio out = {.ratio = 1, .low = 1, .high = 1};
	double *logs = xcalloc(count + 1, sizeof(*logs)), *averages;
	size_t n = 0, pairs = 0, k;

	for (size_t i = 0; i < count && n < EFFECT_BLOCKS_MOST; i++)
		if (blocks[i].is_control == of_control)
			n += log_ratio(&blocks[i], &logs[n]);
	k = n >= least ? outside(n) : 0;
	if (!k) {
		free(logs);
		return out;
	}
	averages = xcalloc(n * (n + 1) / 2, sizeof(*averages));
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			averages[pairs++] = (logs[i] + logs[j]) / 2;
	sort_array(averages, pairs, sizeof(*averages), compare_doubles);
	out.ratio = exp((averages[(pairs - 1) / 2] + averages[pairs / 2]) / 2);
	out.low = exp(averages[k - 1]);
	out.high = exp(averages[pairs - k]);
	out.blocks = n;
	free(averages);
	free(logs);
	return out;
}

/* By EFFECT_LEAST, surely better at all, and more than all that the control may be. */
static bool is_better(const struct effect_ratio *change, const struct effect_ratio *control)
{
	return change->ratio >= EFFECT_LEAST && change->low > 1 && change->low > control->high;
}

static bool is_none(const struct effect_ratio *change)
{
	return change->low > 1 / EFFECT_LEAST && change->high < EFFECT_LEAST;
}

static size_t count_used(const struct effect_block *blocks, size_t count)
{
	size_t used = 0;
	double ignored;

	for (size_t i = 0; i < count; i++)
		used += log_ratio(&blocks[i], &ignored);
	return used;
}

static struct effect_ratio turned(const struct effect_ratio *ratio)
{
	return (struct effect_ratio){1 / ratio->ratio, 1 / ratio->high, 1 / ratio->low,
				     ratio->blocks};
}

/* The width of an interval goes with one over the root of the blocks. */
static size_t wanted(const struct effect *effect)
{
	double half = log(effect->change.high / effect->change.low) / 2;
	double of_control = log(effect->control.high / effect->control.low) / 2;
	double apart = fabs(log(effect->change.ratio) - log(effect->control.ratio));
	double least = log(EFFECT_LEAST), goal = apart > least ? apart : least, factor;

	factor = (half + of_control) / goal;
	factor *= factor;
	if (!isfinite(factor) || factor * (double)effect->change.blocks > EFFECT_BLOCKS_MOST)
		return 0;
	return (size_t)ceil(fmax(factor, 1) * (double)effect->change.blocks) + 1;
}

static void judge(struct effect *effect, const struct effect_block *blocks, size_t count,
		  size_t least)
{
	struct effect_ratio change, control;

	*effect = (struct effect){.outcome = EFFECT_INCONCLUSIVE,
				  .change = ratio_of(blocks, count, false, least),
				  .control = ratio_of(blocks, count, true, least),
				  .blocks_used = count_used(blocks, count)};
	if (!effect->change.blocks || !effect->control.blocks) {
		effect->blocks_wanted = least;
		return;
	}
	change = turned(&effect->change);
	control = turned(&effect->control);
	if (is_better(&effect->change, &effect->control))
		effect->outcome = EFFECT_PROVEN;
	else if (is_better(&change, &control))
		effect->outcome = EFFECT_WORSE;
	else if (is_none(&effect->change))
		effect->outcome = EFFECT_NONE;
	else
		effect->blocks_wanted = wanted(effect);
}

void effect__judge(struct effect *effect, const struct effect_block *blocks, size_t count)
{
	judge(effect, blocks, count, EFFECT_BLOCKS_LEAST);
}

void effect__judge_others(struct effect *effect, const struct effect_block *blocks, size_t count)
{
	struct effect others;

	judge(&others, blocks, count, EFFECT_OTHERS_LEAST);
	effect->others = others.change;
	if ((effect->outcome != EFFECT_PROVEN && effect->outcome != EFFECT_WORSE) ||
	    others.outcome != effect->outcome ||
	    2 * fabs(log(others.change.ratio)) < fabs(log(effect->change.ratio)))
		return;
	effect->outcome = EFFECT_INCONCLUSIVE;
	effect->moved_too = true;
}
