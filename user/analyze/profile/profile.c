// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/texts.h"
#include "user/base/xalloc.h"

const char *profile__cause(enum cause cause)
{
	return cause < CAUSE_COUNT ? cause__info(cause)->id : PROFILE_NOT_EXPLAINED;
}

struct profile *profile__new(void)
{
	struct profile *profile = xcalloc(1, sizeof(*profile));

	profile->texts = texts__new();
	return profile;
}

void profile__free(struct profile *profile)
{
	if (!profile)
		return;
	texts__free(profile->texts);
	free(profile->entries);
	free(profile);
}

const char *profile__text(struct profile *profile, const char *text)
{
	return texts__keep(profile->texts, text);
}

void profile__add(struct profile *profile, const struct profile_entry *entry)
{
	struct profile_entry *own;

	profile->entries = xgrow(profile->entries, profile->entry_count, &profile->entry_room,
				 sizeof(*profile->entries));
	own = &profile->entries[profile->entry_count++];
	*own = *entry;
	if (own->hop_count > PROFILE_HOPS)
		own->hop_count = PROFILE_HOPS;
	own->comm = profile__text(profile, entry->comm);
	own->kernel = profile__text(profile, entry->kernel);
	own->user = profile__text(profile, entry->user);
	for (size_t i = 0; i < own->hop_count; i++) {
		struct profile_hop *hop = &own->hops[i];

		hop->name = profile__text(profile, hop->name);
		hop->kernel = profile__text(profile, hop->kernel);
		hop->user = profile__text(profile, hop->user);
		hop->wait_kernel = profile__text(profile, hop->wait_kernel);
		hop->wait_user = profile__text(profile, hop->wait_user);
	}
}

static int compare_texts(const char *a, const char *b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return a ? 1 : -1;
	return strcmp(a, b);
}

static int compare_hops(const struct profile_hop *a, const struct profile_hop *b)
{
	int order;

	if ((order = compare_u64(a->kind, b->kind)) || (order = compare_texts(a->name, b->name)) ||
	    (order = compare_u64(a->pid, b->pid)) || (order = compare_u64(a->tid, b->tid)) ||
	    (order = compare_texts(a->kernel, b->kernel)) ||
	    (order = compare_texts(a->user, b->user)) ||
	    (order = compare_texts(a->wait_kernel, b->wait_kernel)))
		return order;
	return compare_texts(a->wait_user, b->wait_user);
}

int profile__compare(const struct profile_entry *a, const struct profile_entry *b)
{
	int order;

	if ((order = compare_texts(a->comm, b->comm)) || (order = compare_u64(a->pid, b->pid)) ||
	    (order = compare_u64(a->tid, b->tid)) || (order = compare_u64(a->state, b->state)) ||
	    (order = compare_u64(a->has_cause, b->has_cause)) ||
	    (order = a->has_cause ? compare_u64(a->cause, b->cause) : 0) ||
	    (order = compare_texts(a->user, b->user)) ||
	    (order = compare_texts(a->kernel, b->kernel)) ||
	    (order = compare_u64(a->hop_count, b->hop_count)))
		return order;
	for (size_t i = 0; i < a->hop_count && order == 0; i++)
		order = compare_hops(&a->hops[i], &b->hops[i]);
	return order;
}

static int by_content(const void *a, const void *b)
{
	return profile__compare(a, b);
}

static int by_time(const void *a, const void *b)
{
	const struct profile_entry *left = a, *right = b;
	int order = -compare_u64(left->ns, right->ns);

	return order ? order : profile__compare(left, right);
}

static void sort(struct profile *profile, int (*compare)(const void *, const void *))
{
	if (profile->entry_count > 1)
		sort_array(profile->entries, profile->entry_count, sizeof(*profile->entries),
			   compare);
}

static void join_equal(struct profile *profile)
{
	struct profile_entry *entries = profile->entries;
	size_t kept = 0;

	sort(profile, by_content);
	for (size_t i = 0; i < profile->entry_count; i++) {
		if (kept > 0 && profile__compare(&entries[kept - 1], &entries[i]) == 0) {
			entries[kept - 1].count += entries[i].count;
			entries[kept - 1].ns += entries[i].ns;
			entries[kept - 1].runqueue_ns += entries[i].runqueue_ns;
		} else {
			entries[kept++] = entries[i];
		}
	}
	profile->entry_count = kept;
}

static void count_frames(struct profile *profile, const char *stack)
{
	while (stack && *stack) {
		size_t bytes = strcspn(stack, ";");

		profile->frames++;
		profile->unknown_frames += bytes == strlen(PROFILE_UNKNOWN_FRAME) &&
					   !strncmp(stack, PROFILE_UNKNOWN_FRAME, bytes);
		stack += bytes + (stack[bytes] == ';');
	}
}

void profile__finish(struct profile *profile)
{
	join_equal(profile);
	sort(profile, by_time);
	profile->total_ns = profile->waits = 0;
	profile->frames = profile->unknown_frames = 0;
	for (size_t i = 0; i < profile->entry_count; i++) {
		profile->total_ns += profile->entries[i].ns;
		profile->runqueue_ns += profile->entries[i].runqueue_ns;
		profile->waits += profile->entries[i].count;
		count_frames(profile, profile->entries[i].user);
	}
}
