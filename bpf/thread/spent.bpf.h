/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running sums of what a thread does between its long waits: computing, ready, and the short sleeps
 * by kind. They cost a few additions at a switch, and no clock.
 */
#ifndef NETSTALL_BPF_THREAD_SPENT_BPF_H
#define NETSTALL_BPF_THREAD_SPENT_BPF_H

/* By the call that it goes to sleep in, its state (ns_wait.state), and what it awaits since its
 * sleep before: 0 nothing. */
static __always_inline enum ns_short kind_of_short(__u32 call, __u32 state, enum ns_short awaits)
{
	if (state & 2) /* a parent is until its child lives by itself */
		return makes_child(call) ? NS_SHORT_OTHER : NS_SHORT_DISK;
	if (!(state & 1))
		return NS_SHORT_OTHER; /* stopped */
	switch (call) {
	case NS_SYS_NANOSLEEP:
	case NS_SYS_CLOCK_NANOSLEEP:
		return NS_SHORT_TIMER;
	case NS_SYS_FUTEX:
		return NS_SHORT_LOCK;
	case NS_SYS_IO_URING_ENTER:
		return NS_SHORT_URING;
	}
	if (!waits_to_read(call))
		return NS_SHORT_OTHER;
	return awaits ? awaits : NS_SHORT_INPUT;
}

/* The current thread sends something: what it waits for in its next sleep, if that is for input. */
static __always_inline void note_asked(struct ns_last_send *last, __u32 tid, enum ns_short awaits)
{
	last->awaits = awaits;
	last->awaits_tid = tid;
}

/*
 * From here on a wait may matter: the parts of a chain may each be far shorter than the stall that
 * they make up together.
 */
static __always_inline bool may_matter(__u64 length)
{
	return length >= settings.threshold_ns / 8;
}

/* A whole machine has more of them. */
#define STALLS_TOLD (settings.everything ? 4 * NS_STALLS_TOLD : NS_STALLS_TOLD)

/*
 * Of each half second the first waits are told, and all that belongs to them. Behind them those
 * that are no stalls by themselves are in the sums alone, which say the same with less detail.
 * Where thousands of stalls a second are found, that goes for the stalls too, but for longer ones:
 * what is not told then is lost, and said.
 */
static __always_inline bool is_paced(__u32 told, __u32 most)
{
	return told >= most && !settings.verbose && !offcpu.on;
}

static __always_inline bool worth_a_record(__u64 length)
{
	if (length < settings.threshold_ns)
		return may_matter(length) && !is_paced(waits_told, NS_WAITS_TOLD);
	return !is_paced(stalls_told, STALLS_TOLD) || length >= long_wait_ns;
}

/* It was off its CPU, asleep (unless preempted) and then ready, and that becomes no record. */
static __always_inline void count_short(struct ns_thread_state *thread, __u64 asleep, __u64 ready)
{
	__u32 kind = thread->slept.kind;

	if (asleep + ready >= settings.threshold_ns)
		count_lost(NS_LOST_WAITS);
	thread->shorts.ready_ns += ready;
	if (!thread->state || kind >= NS_SHORTS)
		return;
	thread->shorts.ns[kind] += asleep;
	thread->shorts.count[kind]++;
}

/* From here on each exchange is told. */
static __always_inline __u64 stall_from(void)
{
	return is_paced(stalls_told, STALLS_TOLD) ? long_wait_ns : settings.threshold_ns;
}

static __always_inline __u64 slow_from(void)
{
	return is_paced(stalls_told, STALLS_TOLD) ? long_wait_ns : slow_exchange_ns;
}

/*
 * The sums of a watched thread that is on its CPU, as of now; of one that is off it they are those
 * of the moment when it left. From one look to the next the difference is what it did in between,
 * but for its waits that are records of their own.
 */
static __always_inline void spent_now(const struct ns_thread_state *thread, __u64 now,
				      struct ns_spent *out)
{
	__u64 run_ns = thread->on_cpu_ns;
	__u32 i;

	if (thread->since && !thread->off)
		run_ns += ns_passed(thread->since, now);
	out->run_us = run_ns / 1000;
	out->ready_us = thread->shorts.ready_ns / 1000;
#pragma unroll
	for (i = 0; i < NS_SHORTS; i++) {
		out->short_us[i] = thread->shorts.ns[i] / 1000;
		out->shorts[i] = thread->shorts.count[i];
	}
}

/*
 * The sums of a thread that is on its CPU as of a time in the call that it is in, which may be
 * before it was preempted there: a kernel with CONFIG_PREEMPT_LAZY does that in a write, between
 * TCP's look at its clock and our program at the end. Returns whether they are known.
 */
static __always_inline bool spent_at(const struct ns_thread_state *thread, __u64 at,
				     struct ns_spent *out)
{
	__u64 away = ns_passed(thread->woke_ts, thread->came_ts);

	if (thread->off)
		return false;
	spent_now(thread, at, out);
	if (at >= thread->came_ts)
		return true;
	if (thread->state || at > thread->woke_ts || at < thread->ran_from)
		return false;
	out->run_us -= ns_passed(at, thread->woke_ts) / 1000;
	if (!settings.verbose && !worth_a_record(away))
		out->ready_us -= away / 1000;
	return true;
}

/* The current thread wakes one that has slept long. */
static __noinline int tell_sums(__u64 now)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct ns_thread_state *thread = bpf_map_lookup_elem(&threads, &tid);
	struct ns_sums *out;

	if (!thread || thread->off || !thread->since)
		return 0;
	out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return 0;
	}
	fill_head(&out->head, NS_SUMS, sizeof(*out), now, 0);
	out->on_ts = thread->since;
	spent_now(thread, now, &out->spent);
	bpf_get_current_comm(out->comm, sizeof(out->comm));
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
