// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/unwound.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/offcpu_sample.h"
#include "bpf/state.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"

_Static_assert(UNWIND_BLOCK == NS_OFFCPU_STACK_BLOCK, "a bit means the same on both sides");

struct place {
	struct unwound_spot spot;
	bool asked;   /* and not answered yet */
	bool whole;   /* the outermost caller is the last */
	size_t count; /* 0: it was not unwound */
	uint64_t *pcs;
};

struct unwound {
	enum unwind_way way;
	struct resolver *resolver;
	struct table *places;
	struct table *spots; /* the same ones, by where their thread stood */
	uint64_t lost;
};

struct unwound *unwound__new(enum unwind_way way, struct resolver *resolver)
{
	struct unwound *unwound = xcalloc(1, sizeof(*unwound));

	unwound->way = way;
	unwound->resolver = resolver;
	unwound->places = table__new(UNWOUND_PLACES);
	unwound->spots = table__new(UNWOUND_PLACES);
	return unwound;
}

static void drop(void *value)
{
	struct place *place = value;

	free(place->pcs);
	free(place);
}

void unwound__free(struct unwound *unwound)
{
	if (!unwound)
		return;
	resolver__forget(unwound->resolver, unwound);
	table__free(unwound->spots, NULL);
	table__free(unwound->places, drop);
	free(unwound);
}

static uint32_t key_of(const struct unwound_spot *spot)
{
	uint64_t hash = (spot->ip ^ spot->tgid) * 0xff51afd7ed558ccdull;

	hash = (hash ^ hash >> 32 ^ spot->sp) * 0xff51afd7ed558ccdull;
	return hash >> 32;
}

static void keep(void *context, uint64_t number, const struct resolver_answer *answer)
{
	struct unwound *unwound = context;
	struct place *place = table__get(unwound->places, number);

	place->asked = false;
	if (!answer || !answer->count) {
		unwound->lost++;
		return;
	}
	place->spot = (struct unwound_spot){answer->tgid, answer->ip, answer->sp};
	place->whole = answer->end == UNWIND_WHOLE;
	place->count = answer->count;
	place->pcs = xmemdup(answer->pcs, answer->count * sizeof(answer->pcs[0]));
	if (!table__get(unwound->spots, key_of(&place->spot)))
		table__put(unwound->spots, key_of(&place->spot), place);
}

/* The place of this number, which is not unwound yet and not being so; NULL: it is, or no room. */
static struct place *place_to_ask(struct unwound *unwound, uint32_t number)
{
	struct place *place = table__get(unwound->places, number);

	if (place)
		return place->asked || place->count ? NULL : place;
	place = xcalloc(1, sizeof(*place));
	if (table__put(unwound->places, number, place))
		return place;
	free(place);
	unwound->lost++;
	return NULL;
}

void unwound__sample(struct unwound *unwound, pid_t pid, const void *record, size_t len)
{
	const struct ns_offcpu_sample *sample = record;
	struct place *place = len < sizeof(*sample) ? NULL : place_to_ask(unwound, sample->place);

	if (!place)
		return;
	if (len > sizeof(*sample) + NS_OFFCPU_STACK_MOST)
		len = sizeof(*sample) + NS_OFFCPU_STACK_MOST;
	place->asked = true;
	if (pid)
		resolver__sample(unwound->resolver, pid, record, len, keep, unwound, sample->place);
	else
		keep(unwound, sample->place, NULL); /* it is in no pid namespace of ours */
}

bool unwound__has(const struct unwound *unwound, uint32_t place)
{
	const struct place *known = table__get(unwound->places, place);

	return known && known->count;
}

/*
 * Frame pointers skip the caller of a function that keeps none, as most of libc's, and end
 * where one is none. A stack that was unwound to its outermost caller is right.
 */
static bool is_better(const struct unwound *unwound, const struct place *place, size_t fp_count)
{
	switch (unwound->way) {
	case UNWIND_FP:
		return false;
	case UNWIND_DWARF:
		return true;
	case UNWIND_AUTO:
		break;
	}
	return place->whole || place->count > fp_count;
}

static const struct place *on_spot(const struct unwound *unwound, const struct unwound_spot *spot)
{
	const struct place *place = table__get(unwound->spots, key_of(spot));

	return place && place->spot.tgid == spot->tgid && place->spot.ip == spot->ip &&
			       place->spot.sp == spot->sp
		       ? place
		       : NULL;
}

size_t unwound__stack(const struct unwound *unwound, uint32_t number,
		      const struct unwound_spot *spot, const uint64_t *fp, size_t fp_count,
		      const uint64_t **out)
{
	const struct place *place = table__get(unwound->places, number);
	size_t count = 0;

	while (count < fp_count && fp[count])
		count++;
	*out = fp;
	if ((!place || !place->count) && count < 2)
		place = on_spot(unwound, spot);
	if (!place || !place->count || !is_better(unwound, place, count))
		return count;
	*out = place->pcs;
	return place->count;
}

uint64_t unwound__lost(const struct unwound *unwound)
{
	return unwound->lost;
}

bool unwind_way__parse(const char *text, enum unwind_way *way)
{
	static const char *const names[] = {
		[UNWIND_AUTO] = "auto", [UNWIND_FP] = "fp", [UNWIND_DWARF] = "dwarf"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*way = (enum unwind_way)i;
			return true;
		}
	}
	return false;
}
