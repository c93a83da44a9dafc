// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The profile as JSON; docs/profile-schema.json describes it. */
#include "user/base/array.h"
#include "user/render/json/json_values.h"
#include "user/render/profile/frames.h"
#include "user/render/profile/profile.h"

#define PROFILE_SCHEMA "netstall.profile/1"

static json_t *tool_of(const struct profile *profile)
{
	json_t *tool = json_object();

	put(tool, "version", json_string(NETSTALL_VERSION));
	put(tool, "kernel",
	    json_value__name(profile->kernel_release, sizeof(profile->kernel_release)));
	put(tool, "arch", json_value__name(profile->arch, sizeof(profile->arch)));
	return tool;
}

static json_t *options_of(const struct profile *profile)
{
	json_t *options = json_object();

	put(options, "depth", json_value__count(profile->depth));
	put(options, "wakers", json_boolean(!profile->no_waker));
	put(options, "per_thread", json_boolean(profile->per_thread));
	put(options, "by_cause", json_boolean(profile->by_cause));
	put(options, "least_ms", json_value__ms_or_null(profile->least_ns));
	put(options, "most_ms", json_value__ms_or_null(profile->most_ns));
	return options;
}

static json_t *totals_of(const struct profile *profile)
{
	json_t *totals = json_object(), *sample;

	put(totals, "blocked_ms", json_value__ms(profile->total_ns));
	put(totals, "runqueue_ms", json_value__ms(profile->runqueue_ns));
	put(totals, "waits", json_value__count(profile->waits));
	put(totals, "chains", json_value__count(profile->entry_count));
	if (profile->sample.waits) {
		sample = put_object(totals, "sampled");
		put(sample, "waits", json_value__count(profile->sample.waits));
		put(sample, "ms", json_value__ms(profile->sample.ns));
		put(sample, "looked_at", json_value__count(profile->sample.looked_at));
	}
	return totals;
}

static json_t *completeness_of(const struct profile *profile)
{
	static const char *const kinds[PROFILE_LOST_KINDS] = {
		[PROFILE_LOST_STACKS] = "stacks",   [PROFILE_LOST_KEYS] = "chains",
		[PROFILE_LOST_THREADS] = "threads", [PROFILE_LOST_UNWINDS] = "unwinds",
		[PROFILE_LOST_RECORDS] = "records",
	};
	json_t *object = json_object(), *by_kind = put_object(object, "lost"), *loss;
	bool complete = true;

	for (size_t kind = 0; kind < PROFILE_LOST_KINDS; kind++) {
		if (!profile->lost[kind].count)
			continue;
		complete = false;
		loss = put_object(by_kind, kinds[kind]);
		put(loss, "count", json_value__count(profile->lost[kind].count));
		put(loss, "ms", json_value__ms_or_null(profile->lost[kind].ns));
	}
	put(object, "frames", json_value__count(profile->frames));
	put(object, "unknown_frames", json_value__count(profile->unknown_frames));
	put(object, "hidden", json_value__text(profile->hidden));
	put(object, "complete", json_boolean(complete));
	return object;
}

static json_t *state_of(uint32_t state)
{
	static const struct {
		uint32_t state;
		const char *name;
	} states[] = {
		{0, "runnable"}, {1, "interruptible"}, {2, "uninterruptible"},
		{4, "stopped"},  {8, "traced"},
	};

	for (size_t i = 0; i < COUNT_OF(states); i++) {
		if (states[i].state == state)
			return json_string(states[i].name);
	}
	return json_string("other");
}

static json_t *waker_of(const struct profile_hop *hop)
{
	static const char *const kinds[] = {
		[WAKER_IS_UNKNOWN] = "unknown",
		[WAKER_IS_THREAD] = "thread",
		[WAKER_IS_SOFTIRQ] = "softirq",
		[WAKER_IS_IRQ] = "irq",
	};
	json_t *waker = json_object(), *wait;

	put(waker, "kind", json_string(kinds[hop->kind]));
	put(waker, "name", json_value__name(hop->name, SIZE_MAX));
	put(waker, "pid", json_value__number_or_null(hop->pid, 0));
	put(waker, "tid", json_value__number_or_null(hop->tid, 0));
	put(waker, "kernel", json_value__stack(hop->kernel));
	put(waker, "user", json_value__stack(hop->user));
	put(waker, "waited", json_null());
	if (hop->wait_kernel || hop->wait_user) {
		wait = put_object(waker, "waited");
		put(wait, "kernel", json_value__stack(hop->wait_kernel));
		put(wait, "user", json_value__stack(hop->wait_user));
	}
	return waker;
}

static json_t *chain_of(const struct profile_entry *entry)
{
	json_t *chain = json_object();

	put(chain, "comm", json_value__name(entry->comm, SIZE_MAX));
	put(chain, "pid", json_value__number_or_null(entry->pid, 0));
	put(chain, "tid", json_value__number_or_null(entry->tid, 0));
	put(chain, "blocked_ms", json_value__ms(entry->ns));
	put(chain, "runqueue_ms", json_value__ms(entry->runqueue_ns));
	put(chain, "waits", json_value__count(entry->count));
	put(chain, "state", state_of(entry->state));
	put(chain, "cause",
	    entry->has_cause ? json_string(profile__cause(entry->cause)) : json_null());
	put(chain, "kernel", json_value__stack(entry->kernel));
	put(chain, "user", json_value__stack(entry->user));
	put_each(chain, "wakers", i,
		 entry->hop_count < PROFILE_HOPS ? entry->hop_count : PROFILE_HOPS,
		 waker_of(&entry->hops[i]));
	return chain;
}

void render__profile_json(FILE *out, const struct profile *profile)
{
	json_t *document;

	json_value__begin();
	document = json_object();
	put(document, "schema", json_string(PROFILE_SCHEMA));
	put(document, "tool", tool_of(profile));
	put(put_object(document, "target"), "description",
	    json_value__name(profile->target, sizeof(profile->target)));
	put(document, "window",
	    json_value__window(profile->start_ts, profile->end_ts, profile->wall_offset_ns));
	put(document, "options", options_of(profile));
	put(document, "totals", totals_of(profile));
	put(document, "completeness", completeness_of(profile));
	put_each(document, "chains", i, profile->entry_count, chain_of(&profile->entries[i]));
	json_value__dump(out, document, 2);
}
