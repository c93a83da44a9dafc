/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Chains of wakes. A thread keeps that of its last whole wait; who it wakes takes it over,
 * behind the wake itself. Only if that wait ended while the other slept: one that was over
 * before had no part in it, the waker has worked since.
 */
#ifndef NETSTALL_BPF_OFFCPU_CHAIN_BPF_H
#define NETSTALL_BPF_OFFCPU_CHAIN_BPF_H

static __always_inline void clear_hops(struct ns_offcpu_chain *chain)
{
	__builtin_memset(chain->hops, 0, sizeof(chain->hops));
}

/* to's first hop is the wake; the waker's own chain follows, as far as the depth goes. */
static __always_inline void take_over(struct ns_offcpu_chain *to,
				      const struct ns_offcpu_chain *from)
{
	__u32 i;

	to->hops[0].sleep = from->sleep;
#pragma unroll
	for (i = 1; i < NS_OFFCPU_DEPTH; i++) {
		if (i >= offcpu.depth)
			break;
		to->hops[i] = from->hops[i - 1];
		if (i == offcpu.depth - 1)
			to->hops[i].sleep = 0;
	}
}

static __always_inline void chain_of_waker(struct scratch *scratch, struct ns_offcpu_thread *thread,
					   __u64 slept_since)
{
	__u32 id = bpf_get_current_pid_tgid();
	struct ns_offcpu_thread *waker = known_thread(id);
	__u32 level = thread->level + 1;

	if (!waker) {
		if (level < offcpu.depth)
			follow(scratch, id, level);
		return;
	}
	waker->woke_ts = thread->wake_ts;
	if (waker->level > level)
		waker->level = level;
	if (waker->woken_ts && waker->woken_ts >= slept_since && waker->chain.sleep)
		take_over(&thread->chain, &waker->chain);
}

/*
 * By a copy: who wakes the thread on another CPU writes to its chain, and a key that changes
 * between its hash and its copy is in the table for ever without being found: user space goes round
 * in circles there.
 */
static __noinline struct ns_offcpu_sum *sum_of(struct ns_offcpu_chain *chain)
{
	struct ns_offcpu_sum fresh = {};
	struct ns_offcpu_chain key;
	struct ns_offcpu_sum *sum;

	if (!chain)
		return NULL;
	key = *chain;
	sum = bpf_map_lookup_elem(&sums, &key);
	if (sum)
		return sum;
	fresh.id = cpu_number(sums_numbered);
	bpf_map_update_elem(&sums, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sums, &key);
}

static __always_inline void tell_wait(struct ns_offcpu_sum *sum, __u32 tid, __u64 off_ts, __u64 ns)
{
	struct ns_offcpu_told *out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);

	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return;
	}
	out->type = NS_OFFCPU_TOLD;
	out->sum = sum->id;
	out->tid = tid;
	out->pad = 0;
	out->off_ts = off_ts;
	out->ns = ns;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
}

/* A wait that was asked for: by its length and its state. */
static __always_inline bool is_counted(__u32 state, __u64 ns)
{
	if (ns < offcpu.least_ns || (offcpu.most_ns && ns > offcpu.most_ns))
		return false;
	if (!offcpu.state_given)
		return state;
	return offcpu.state ? state & offcpu.state : !state;
}

static __always_inline void add_short(struct ns_offcpu_sum *sum, __u64 weight, __u64 blocked,
				      __u64 runnable)
{
	struct ns_offcpu_cpu *cpu = this_cpu();

	__sync_fetch_and_add(&sum->sample.ns, weight * blocked);
	__sync_fetch_and_add(&sum->sample.runqueue_ns, weight * runnable);
	__sync_fetch_and_add(&sum->sample.count, weight);
	cpu->sample.ns += blocked;
	cpu->sample.runqueue_ns += runnable;
	cpu->sample.count++;
}

static __always_inline void add_wait(struct ns_offcpu_thread *thread, __u32 tid, __u64 blocked,
				     __u64 runnable, __u64 now)
{
	__u32 state = thread->state;
	__u64 weight = state && blocked < NS_OFFCPU_SHORT_NS ? thread->weight : 1;
	struct ns_offcpu_sum *sum;

	if (!is_counted(state, state ? blocked : runnable)) {
		if (!state)
			__sync_fetch_and_add(&preempted_ns, runnable);
		return;
	}
	sum = sum_of(&thread->chain);
	if (!sum) {
		__sync_fetch_and_add(&lost_sums.count, weight);
		__sync_fetch_and_add(&lost_sums.ns, weight * (state ? blocked : runnable));
		return;
	}
	if (weight > 1) {
		add_short(sum, weight, blocked, runnable);
		return;
	}
	__sync_fetch_and_add(&sum->ns, blocked);
	__sync_fetch_and_add(&sum->runqueue_ns, runnable);
	__sync_fetch_and_add(&sum->count, 1);
	if (offcpu.tell_ns && ns_passed(thread->off_ts, now) >= offcpu.tell_ns)
		tell_wait(sum, tid, thread->off_ts, state ? blocked : runnable);
}

#endif
