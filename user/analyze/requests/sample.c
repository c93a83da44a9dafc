// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/sample.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"

void sample__thin_out(struct sample *sample)
{
	size_t kept = 0;

	for (size_t i = 1; i < sample->count; i += 2)
		free(sample->list[i].slices);
	for (size_t i = 0; i < sample->count; i += 2) {
		sample->list[kept] = sample->list[i];
		sample->list[kept++].weight *= 2;
	}
	sample->count = kept;
}

uint64_t request__duration(const struct request *request)
{
	return request->end_ts - request->begin_ts;
}

int request__by_duration(const void *a, const void *b)
{
	const struct request *x = a, *y = b;
	int by = compare_u64(request__duration(x), request__duration(y));

	return by ? by : compare_u64(x->end_ts, y->end_ts);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * The others were not chosen: they are all there, and stand for themselves alone. So those chosen
 * stand for the rest of what was counted, however much one of a few may weigh. total: 0, or fewer
 * than were seen, is not counted.
 */
struct shares sample__shares(const struct request *list, size_t count, uint64_t total)
{
	struct shares shares = {0};
	uint64_t chosen = 0, others;

	for (size_t i = 0; i < count; i++) {
		if (list[i].weight == 1)
			continue;
		shares.weight += list[i].weight;
		chosen++;
	}
	others = count - chosen;
	shares.stands_for = total < count ? shares.weight : total - others;
	return shares;
}

uint64_t sample__rank_behind(struct ranked *ranked, const struct request *next,
			     const struct shares *shares)
{
	uint64_t weight = next->weight;

	if (weight == 1)
		ranked->others++;
	else
		ranked->weight += weight;
	if (!shares->weight)
		return ranked->others;
	return ranked->others + (uint64_t)((double)ranked->weight * (double)shares->stands_for /
					   (double)shares->weight);
}

const struct request *sample__at_rank(const struct request *sorted, size_t count, uint64_t total,
				      unsigned hundredths)
{
	struct shares shares = sample__shares(sorted, count, total);
	uint64_t all = 0, seen, rank, room, best_distance = UINT64_MAX;
	const struct request *best = NULL, *exact = NULL;
	struct ranked ranked = {0};

	for (size_t i = 0; i < count; i++)
		all = sample__rank_behind(&ranked, &sorted[i], &shares);
	rank = (all * hundredths + 99) / 100;
	room = all * (hundredths > 50 ? 100 - hundredths : hundredths) / 1000;
	ranked = (struct ranked){0};
	for (size_t i = 0; i < count; i++) {
		seen = sample__rank_behind(&ranked, &sorted[i], &shares);
		if (!exact && seen >= rank)
			exact = &sorted[i];
		if (sorted[i].is_whole && distance(seen, rank) <= room &&
		    distance(seen, rank) < best_distance) {
			best = &sorted[i];
			best_distance = distance(seen, rank);
		}
	}
	return exact && exact->is_whole ? exact : best ? best : exact;
}

struct request_view request__view(const struct request *request)
{
	struct request_view view = {.total_ns = request__duration(request),
				    .confidence = request->is_inferred ? CONFIDENCE_INFERRED
								       : CONFIDENCE_OBSERVED,
				    .slice_count = request->slice_count};

	memcpy(view.slices, request->slices, request->slice_count * sizeof(*view.slices));
	return view;
}
