/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who runs on a CPU while a watched thread is ready to run there and waits. Of each CPU one such
 * thread at a time is looked after; while there is none, a switch costs one load.
 */
#ifndef NETSTALL_BPF_THREAD_RAN_BPF_H
#define NETSTALL_BPF_THREAD_RAN_BPF_H

struct ns_cpu_runs {
	__u32 tid; /* whose wait this is about */
	__u32 others_us;
	__u64 from_ts;
	__u64 last_ts; /* counted up to here */
	struct ns_runner_raw runners[NS_RUNNERS_RAW];
};

struct ns_cpu_wait cpu_waits[NS_CPUS]; /* (cpu) */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ns_cpu_runs);
} cpu_runs SEC(".maps");

/* It was preempted, or is woken and will come to the CPU that it left, as a rule. */
static __always_inline void begin_cpu_wait(__u32 cpu, struct task_struct *task, __u64 now)
{
	struct ns_cpu_wait *wait = &cpu_waits[cpu & (NS_CPUS - 1)];

	if (wait->tid)
		return;
	note_taken(task, &wait->taken);
	wait->from_ts = now;
	wait->tid = task->pid;
}

/* It runs, there or elsewhere. */
static __always_inline void end_cpu_wait(__u32 cpu, __u32 tid)
{
	struct ns_cpu_wait *wait = &cpu_waits[cpu & (NS_CPUS - 1)];

	if (wait->tid == tid)
		wait->tid = 0;
}

/* The runner has run until now; of two in one place the one that ran longer stays. */
static __noinline int note_run(struct task_struct *task, struct ns_cpu_runs *runs,
			       const struct ns_cpu_wait *wait, __u64 now)
{
	struct ns_runner_raw *runner;
	__u32 us;

	if (!task || !runs || !wait)
		return 0;
	if (runs->tid != wait->tid || runs->from_ts != wait->from_ts) {
		__builtin_memset(runs, 0, sizeof(*runs));
		runs->tid = wait->tid;
		runs->from_ts = runs->last_ts = wait->from_ts;
	}
	us = ns_passed(runs->last_ts, now) / 1000;
	runs->last_ts = now;
	if (!task->pid || task->pid == (int)wait->tid)
		return 0;
	runner = &runs->runners[task->pid & (NS_RUNNERS_RAW - 1)];
	if (runner->tid == (__u32)task->pid) {
		runner->us += us;
		return 0;
	}
	if (runner->us >= us) {
		runs->others_us += us;
		return 0;
	}
	runs->others_us += runner->us;
	runner->tid = task->pid;
	runner->tgid = task->tgid;
	runner->prio = task->prio;
	runner->us = us;
	return 0;
}

static __always_inline void on_run(struct task_struct *task)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct ns_cpu_runs *runs = bpf_map_lookup_elem(&cpu_runs, &zero);

	if (runs)
		note_run(task, runs, &cpu_waits[cpu & (NS_CPUS - 1)], bpf_ktime_get_ns());
}

/*
 * What the wait lost to interrupts and to other guests. When a thread is woken, the clock of its
 * run queue can be behind: interrupts from before are then taken off as if they came evenly. Stolen
 * time is not, as a CPU that has nothing to run loses none.
 */
static __always_inline void tell_taken(struct ns_ran *ran, const struct ns_taken *from,
				       struct task_struct *task)
{
	__u64 waited = ns_passed(ran->from_ts, ran->head.ts) / 1000, span, irq, steal;
	struct ns_taken to = {};

	note_taken(task, &to);
	if (!to.queue || to.queue != from->queue)
		return;
	span = ns_passed(from->clock, to.clock) / 1000;
	irq = ns_passed(from->irq_ns, to.irq_ns) / 1000;
	steal = ns_passed(from->steal_ns, to.steal_ns) / 1000;
	if (span > waited)
		irq = irq * waited / span;
	if (irq > waited)
		irq = waited;
	if (steal > waited - irq)
		steal = waited - irq;
	ran->irq_us = irq;
	ran->steal_us = steal;
	if (NS_COUNTS_IRQ)
		ran->taken_known |= NS_TAKEN_IRQ;
	if (NS_STEAL_IN_CLOCK || NS_STEAL_AT_TICKS)
		ran->taken_known |= NS_TAKEN_STEAL;
}

/* The waiting thread comes to its CPU after prev: a record, in front of that of its wait. */
static __noinline int tell_ran(struct task_struct *prev, struct task_struct *next, __u64 now)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct ns_cpu_runs *runs = bpf_map_lookup_elem(&cpu_runs, &zero);
	const struct ns_cpu_wait *wait;
	struct ns_ran_raw *out;

	if (!prev || !next || !runs)
		return 0;
	wait = &cpu_waits[cpu & (NS_CPUS - 1)];
	note_run(prev, runs, wait, now);
	out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return 0;
	}
	__builtin_memset(out, 0, sizeof(*out));
	out->ran.head.type = NS_RAN;
	out->ran.head.len = sizeof(*out);
	out->ran.head.ts = now;
	out->ran.head.cpu = cpu;
	out->ran.head.tgid = next->tgid;
	out->ran.head.tid = next->pid;
	out->ran.from_ts = runs->from_ts;
	out->ran.allowed = next->nr_cpus_allowed;
	out->ran.nice = next->static_prio - NS_NICE_0;
	out->ran.policy = next->policy;
	out->ran.others_us = runs->others_us;
	tell_taken(&out->ran, &wait->taken, next);
	__builtin_memcpy(out->runners, runs->runners, sizeof(out->runners));
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
