// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The kernel's sums as a profile: chains of places become entries with hops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "user/analyze/waits/wakers.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/source/offcpu_parts.h"

struct maker {
	struct offcpu *offcpu;
	struct profile *profile;
	struct offcpu_texts *texts;
	struct ns_offcpu_short shorts;  /* where some stand for others: all of the targets', */
	struct ns_offcpu_short passed;  /* of these, what had not ended with the window */
	struct ns_offcpu_short sampled; /* and what those come to by their weights */
};

/* ---- hops ---- */

static const char *kernel_of(const struct maker *maker, const char *kernel)
{
	return maker->offcpu->options.no_kernel_stacks ? NULL : kernel;
}

static void lost_hop(struct profile_entry *entry, bool *lost)
{
	*lost = true;
	entry->hops[entry->hop_count++] = (struct profile_hop){
		.kind = WAKER_IS_UNKNOWN, .name = PROFILE_LOST_STACK, .kernel = PROFILE_LOST_STACK};
}

/* By what a thread's own stack says; its texts live as long as the profile. */
static enum waker_kind add_hop(struct maker *maker, struct profile_entry *entry,
			       const struct offcpu_place *place, bool by_timer, bool *received)
{
	const bool nobody =
		place->key.kind == NS_OFFCPU_IRQ || place->key.kind == NS_OFFCPU_SEGMENT;
	const struct wake_context context = {
		.kernel = place->kernel, .comm = nobody ? NULL : place->comm, .by_timer = by_timer};
	struct profile_hop *hop = &entry->hops[entry->hop_count++];
	struct wake_judged judged;

	wake__judge(&context, &judged);
	*received = judged.received;
	memset(hop, 0, sizeof(*hop));
	hop->kind = judged.kind;
	if (judged.kind == WAKER_IS_THREAD) {
		hop->name = place->comm;
		hop->pid = place->pid;
		hop->tid = place->tid;
		hop->kernel = kernel_of(maker, place->kernel);
		hop->user = place->user;
		return judged.kind;
	}
	hop->name = profile__text(maker->profile, judged.name);
	if (place->kernel) {
		char *cut = xstrdup(place->kernel);

		cut[judged.kernel_length] = '\0';
		hop->kernel = kernel_of(maker, profile__text(maker->profile, cut));
		free(cut);
	}
	return judged.kind;
}

/* What the waker had slept in itself. False: the chain ends here. */
static bool add_waker_sleep(struct maker *maker, struct profile_hop *hop, uint32_t id, bool *lost)
{
	const struct offcpu_place *sleep = offcpu_texts__place(maker->texts, id);

	if (!id)
		return false;
	if (!sleep) {
		*lost = true;
		hop->wait_kernel = PROFILE_LOST_STACK;
		return true;
	}
	*lost |= sleep->lost;
	hop->wait_kernel = kernel_of(maker, sleep->kernel);
	hop->wait_user = sleep->user;
	return true;
}

static void add_hops(struct maker *maker, struct profile_entry *entry,
		     const struct ns_offcpu_chain *chain, bool *lost)
{
	unsigned depth = maker->offcpu->options.depth;

	for (unsigned i = 0; i < depth && entry->hop_count < PROFILE_HOPS; i++) {
		const struct ns_offcpu_hop *from = &chain->hops[i];
		const struct offcpu_place *wake = offcpu_texts__place(maker->texts, from->wake);
		const struct offcpu_place *via = offcpu_texts__place(maker->texts, from->via);
		struct profile_hop *hop = &entry->hops[entry->hop_count];
		bool received;

		if (!wake) {
			if (from->wake)
				lost_hop(entry, lost);
			else
				entry->hops[entry->hop_count++] =
					(struct profile_hop){.kind = WAKER_IS_UNKNOWN};
			return;
		}
		*lost |= wake->lost;
		if (add_hop(maker, entry, wake, via != NULL, &received) != WAKER_IS_THREAD) {
			if (received && via && entry->hop_count < PROFILE_HOPS)
				add_hop(maker, entry, via, false, &received);
			return;
		}
		if (!add_waker_sleep(maker, hop, from->sleep, lost))
			return;
	}
}

/* ---- entries ---- */

static void add_shares(struct maker *maker, struct profile_entry *entry, uint32_t id)
{
	const struct by_cause *by_cause = maker->offcpu->options.by_cause;
	struct cause_share shares[BY_CAUSE_SHARES];
	uint64_t runqueue = entry->runqueue_ns;
	size_t count, i;

	entry->has_cause = true;
	count = by_cause__shares(by_cause, id, entry->count, entry->ns, shares);
	for (i = 0; i < count; i++) {
		entry->cause = by_cause__refine(shares[i].cause, entry->kernel);
		entry->count = shares[i].count;
		entry->ns = shares[i].ns;
		entry->runqueue_ns = i ? 0 : runqueue;
		profile__add(maker->profile, entry);
	}
}

static void add_sum(struct maker *maker, const struct ns_offcpu_chain *chain,
		    const struct ns_offcpu_sum *sum)
{
	const struct offcpu_place *sleep = offcpu_texts__place(maker->texts, chain->sleep);
	struct profile *profile = maker->profile;
	struct profile_entry entry = {.count = sum->count, .ns = sum->ns};
	bool lost = !sleep;

	entry.runqueue_ns = sum->runqueue_ns;
	if (sleep) {
		lost = sleep->lost;
		entry.pid = sleep->pid;
		entry.tid = sleep->tid;
		entry.comm = sleep->comm;
		entry.state = sleep->key.state;
		entry.kernel = kernel_of(maker, sleep->kernel);
		entry.user = sleep->user;
	} else {
		entry.comm = "[unknown]";
		entry.kernel = PROFILE_LOST_STACK;
	}
	/* What waits for a CPU alone is all run queue. */
	if (sleep && !sleep->key.state) {
		entry.ns = sum->runqueue_ns;
		entry.runqueue_ns = 0;
	} else {
		add_hops(maker, &entry, chain, &lost);
	}
	if (lost) {
		profile->lost[PROFILE_LOST_STACKS].count += entry.count;
		profile->lost[PROFILE_LOST_STACKS].ns += entry.ns;
	}
	if (maker->offcpu->options.by_cause)
		add_shares(maker, &entry, sum->id);
	else
		profile__add(profile, &entry);
}

static void add_shorts(struct ns_offcpu_short *to, const struct ns_offcpu_short *shorts)
{
	to->ns += shorts->ns;
	to->runqueue_ns += shorts->runqueue_ns;
	to->count += shorts->count;
}

static void count_shorts(struct maker *maker)
{
	const struct netstall_bpf *skel = maker->offcpu->session->skel;
	struct profile_sample *sample = &maker->profile->sample;
	struct ns_offcpu_short looked_at = {0};

	add_shorts(&maker->shorts, &maker->passed);
	for (uint32_t i = 0; i < skel->rodata->settings.cpus && i < NS_CPUS; i++) {
		add_shorts(&maker->shorts, &skel->bss->segment_cpus[i].others);
		add_shorts(&looked_at, &skel->bss->segment_cpus[i].sample);
	}
	if (maker->shorts.count)
		*sample = (struct profile_sample){maker->shorts.count + looked_at.count,
						  maker->shorts.ns + looked_at.ns, looked_at.count};
	add_shorts(&maker->shorts, &looked_at);
}

static uint64_t part_of(uint64_t whole, uint64_t share, uint64_t shares)
{
	return shares ? (uint64_t)((double)whole * (double)share / (double)shares + 0.5) : 0;
}

/* A sum's part of them, by its part of those that were looked at. */
static void settle_shorts(const struct maker *maker, struct ns_offcpu_sum *sum)
{
	const struct ns_offcpu_short *all = &maker->shorts, *sampled = &maker->sampled;

	sum->ns += part_of(all->ns, sum->sample.ns, sampled->ns);
	sum->runqueue_ns +=
		part_of(all->runqueue_ns, sum->sample.runqueue_ns, sampled->runqueue_ns);
	sum->count += part_of(all->count, sum->sample.count, sampled->count);
}

static void add_sums(struct maker *maker)
{
	int fd = bpf_map__fd(maker->offcpu->session->skel->maps.sums);
	struct ns_offcpu_chain chain, *last = NULL;
	struct ns_offcpu_sum sum;

	memset(&chain, 0, sizeof(chain));
	while (!bpf_map_get_next_key(fd, last, &chain)) {
		last = &chain;
		if (bpf_map_lookup_elem(fd, &chain, &sum))
			break; /* none is ever taken out: behind such a one it would begin anew */
		add_shorts(&maker->sampled, &sum.sample);
	}
	for (last = NULL; !bpf_map_get_next_key(fd, last, &chain);) {
		last = &chain;
		if (bpf_map_lookup_elem(fd, &chain, &sum))
			break;
		settle_shorts(maker, &sum);
		add_sum(maker, &chain, &sum);
	}
}

/* ---- waits that last beyond the window's end ---- */

static bool counts(const struct offcpu_options *options, uint32_t state, uint64_t ns)
{
	if (ns < options->least_ns || (options->most_ns && ns > options->most_ns))
		return false;
	if (!options->state_given)
		return state;
	return options->state ? state & options->state : !state;
}

/* What a thread's wait comes to by the window's end. False: it is in none. */
static bool measure_unfinished(const struct maker *maker, const struct ns_offcpu_thread *thread,
			       struct ns_offcpu_short *out)
{
	uint64_t end = maker->offcpu->session->end_ts, wake;

	if (!thread->off_ts || thread->off_ts >= end)
		return false;
	wake = thread->wake_ts && thread->wake_ts < end ? thread->wake_ts : end;
	if (!thread->state || wake < thread->off_ts)
		wake = thread->off_ts;
	*out = (struct ns_offcpu_short){
		.ns = wake - thread->off_ts,
		.runqueue_ns = end - wake,
		.count = 1,
	};
	return true;
}

static void add_unfinished(struct maker *maker, const struct ns_offcpu_thread *thread)
{
	struct offcpu *offcpu = maker->offcpu;
	struct ns_offcpu_chain chain = thread->chain;
	struct ns_offcpu_short wait;

	if (!measure_unfinished(maker, thread, &wait))
		return;
	if (!thread->wake_ts)
		memset(chain.hops, 0, sizeof(chain.hops));
	if (!counts(&offcpu->options, thread->state, thread->state ? wait.ns : wait.runqueue_ns)) {
		if (!thread->state)
			maker->profile->runqueue_ns += wait.runqueue_ns;
		return;
	}
	/* Another one stands for it, as the kernel side has it (pass_over()). */
	if (!thread->weight && thread->state && wait.ns < NS_OFFCPU_SHORT_NS) {
		if (!thread->level)
			add_shorts(&maker->passed, &wait);
		return;
	}
	add_sum(maker, &chain,
		&(struct ns_offcpu_sum){.count = wait.count,
					.ns = wait.ns,
					.runqueue_ns = wait.runqueue_ns});
}

static void add_all_unfinished(struct maker *maker)
{
	int fd = bpf_map__fd(maker->offcpu->session->skel->maps.threads);
	struct ns_thread_state thread;
	__u32 tid, *last = NULL;

	while (!bpf_map_get_next_key(fd, last, &tid)) {
		last = &tid;
		if (!bpf_map_lookup_elem(fd, &tid, &thread) && thread.profiled)
			add_unfinished(maker, &thread.offcpu);
	}
}

/* ---- the whole ---- */

static void fill_head(struct offcpu *offcpu, struct profile *profile)
{
	struct utsname uts;

	if (offcpu->options.everything)
		snprintf(profile->target, sizeof(profile->target), "all %sthreads",
			 offcpu->options.user_threads     ? "user "
			 : offcpu->options.kernel_threads ? "kernel "
							  : "");
	else
		target__describe(offcpu->session->target, profile->target, sizeof(profile->target));
	if (!uname(&uts)) {
		snprintf(profile->kernel_release, sizeof(profile->kernel_release), "%.63s",
			 uts.release);
		snprintf(profile->arch, sizeof(profile->arch), "%.15s", uts.machine);
	}
	profile->wall_offset_ns = clock__wall_offset();
	profile->start_ts = offcpu->start_ts;
	profile->end_ts = offcpu->session->end_ts;
	profile->depth = offcpu->options.depth;
	profile->per_thread = offcpu->session->skel->rodata->offcpu.per_thread;
	profile->by_cause = offcpu->options.by_cause != NULL;
	profile->least_ns = offcpu->options.least_ns;
	profile->most_ns = offcpu->options.most_ns;
	profile->hidden = kallsyms__hidden(offcpu->session->kallsyms);
}

static void fill_losses(const struct maker *maker)
{
	const struct offcpu *offcpu = maker->offcpu;
	const struct netstall_bpf__bss *kernel = offcpu->session->skel->bss;
	struct profile_loss *lost = maker->profile->lost;

	lost[PROFILE_LOST_KEYS] =
		(struct profile_loss){kernel->lost_sums.count, kernel->lost_sums.ns};
	lost[PROFILE_LOST_THREADS].count =
		kernel->lost[NS_LOST_THREADS] + kernel->lost[NS_LOST_PROCESSES];
	/* With causes the report counts what the ring buffer lost: it hides these too. */
	lost[PROFILE_LOST_RECORDS].count = offcpu->options.by_cause
						   ? by_cause__lost(offcpu->options.by_cause)
						   : kernel->lost[NS_LOST_RINGBUF];
	if (!offcpu->unwound)
		return;
	/* A copy that the ring buffer refused is taken at the next wait there. */
	lost[PROFILE_LOST_UNWINDS].count = unwound__lost(offcpu->unwound);
	if (kernel->samples_refused)
		lost[PROFILE_LOST_UNWINDS].count += offcpu_texts__not_unwound(maker->texts);
}

struct profile *offcpu__profile(struct offcpu *offcpu)
{
	struct maker maker = {.offcpu = offcpu, .profile = profile__new()};

	if (offcpu->options.by_cause)
		by_cause__finish(offcpu->options.by_cause);
	maker.texts = offcpu_texts__read(offcpu);
	fill_head(offcpu, maker.profile);
	fill_losses(&maker);
	maker.profile->runqueue_ns = offcpu->session->skel->bss->preempted_ns;
	add_all_unfinished(&maker);
	count_shorts(&maker);
	add_sums(&maker);
	profile__finish(maker.profile);
	offcpu_texts__free(maker.texts);
	return maker.profile;
}
