/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Threads off the CPU: how long blocked, how long runnable, and who woke them. Times
 * are added up in the kernel; only long waits become records (wait.bpf.h), and only for
 * these stacks are taken: the sleeper's when it is switched in again (its kernel stack
 * is the same then, and short waits pay nothing), the waker's when it wakes.
 *
 * At sched_switch current is still the thread that leaves, so the bodies get the task.
 */
#ifndef NETSTALL_BPF_THREAD_SCHED_BPF_H
#define NETSTALL_BPF_THREAD_SCHED_BPF_H

/* include/linux/sched.h, without the flags beside them (TASK_FREEZABLE, ...). */
#define NS_TASK_ASLEEP 3 /* TASK_INTERRUPTIBLE and TASK_UNINTERRUPTIBLE */
/* __TASK_STOPPED, __TASK_TRACED, and since Linux 6.1 TASK_FROZEN (f5d39b020809) */
#define NS_TASK_STOPPED 0x800c

/* ns_wait.state of a task state. */
static __always_inline __u32 sleep_state(__u32 state)
{
	return state & NS_TASK_STOPPED ? NS_STATE_STOPPED : state & NS_TASK_ASLEEP;
}

/*
 * The scheduler's own clock, which it has just read for this switch: plain loads, where
 * bpf_ktime_get_ns() takes 60 ns. From another zero than CLOCK_MONOTONIC and not as exact;
 * it tells short from long, and how short.
 */
static __always_inline __u64 switch_clock(struct task_struct *task)
{
	struct cfs_rq *queue = NULL;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(queue->rq))
		return 0;
	return task->se.cfs_rq->rq->clock;
}

/* Of a short absence by that clock; of all others, and when in doubt, by the exact one. */
static __always_inline __u64 time_of_return(struct task_struct *task,
					    const struct ns_thread_state *thread)
{
	__u64 away;

	if (settings.verbose || !thread->left_clock || !thread->off || thread->asked)
		return bpf_ktime_get_ns();
	away = switch_clock(task) - thread->left_clock;
	if (away >= settings.threshold_ns / 16)
		return bpf_ktime_get_ns();
	return thread->since + away;
}

/* It is over, and no wake of the wait to come. */
static __always_inline void forget_wake(struct ns_thread_state *thread)
{
	thread->wake_ts = 0;
	thread->waker.known = NS_WAKER_NONE;
	thread->began = 0;
	thread->throttled = 0;
}

/*
 * Of a wait whose end passed unseen, by what its call was as it began. A descriptor may have been
 * closed since, and be another's: not that of a connection that was there before.
 */
static __always_inline void find_slept_on(struct task_struct *task, struct ns_thread_state *thread,
					  struct waited_for *what)
{
	struct ns_conn_state *conn;

	if (call_kind(thread->slept.call) != NS_CALL_ON_FD) {
		what->conn = thread->conn;
		what->basis = NS_CONN_WRITTEN;
		return;
	}
	what->conn = (__u64)file_socket(task_file(task, thread->slept.arg0));
	what->basis = NS_CONN_FD;
	conn = conn_of_wait(what);
	if (conn && conn->first_ts > thread->since)
		what->conn = 0;
}

/*
 * It leaves its CPU or exits, and was not seen to come back (docs/limits.md: some tasks run no BPF
 * program). The wait ended with the wake, or at the latest now; its stack is overwritten.
 */
static __noinline int end_wait_unseen(struct task_struct *task, struct ns_thread_state *thread,
				      __u64 now)
{
	struct waited_for *what;
	__u64 end, asleep;
	__u32 place;

	if (!task || !thread)
		return 0;
	what = begin_wait_look(task->pid, NS_WAIT_WOKEN, &place);
	what->call.number = thread->slept.call;
	what->call.arg0 = thread->slept.arg0;
	what->call.arg1 = thread->slept.arg1;
	end = thread->wake_ts;
	if (end <= thread->since || end > now) { /* of none, or of the wait to come */
		end = now > thread->since ? now : thread->since;
		what->ended = NS_WAIT_BOUND;
	}
	asleep = ns_passed(thread->since, end);
	thread->blocked_ns += asleep;
	if (!worth_a_record(asleep)) {
		count_short(thread, asleep, 0);
	} else if (!is_io_worker(task)) {
		find_ring(thread, (__u64)BPF_CORE_READ(task, files, fdt), what);
		if (!what->has_op)
			find_slept_on(task, thread, what);
		note_wait(task, thread, place, end);
	}
	thread->ring.key = 0;
	forget_wake(thread);
	thread->since = end;
	thread->off = 0;
	return 0;
}

/*
 * A thread that reads is on its CPU. If it was not seen to come there (docs/limits.md: some tasks
 * run no BPF program), perhaps never before, what it does counts from now on.
 */
static __noinline int on_reader_unseen(__u64 key)
{
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	struct ns_thread_state *thread;
	struct task_struct *task;
	__u64 now;

	if (!conn || !NS_HAS_TASK_PT_REGS)
		return 0;
	task = bpf_get_current_task_btf();
	thread = watched_thread(task);
	if (!thread)
		return 0;
	now = conn->turn.reads.last_ts;
	if (!thread->since)
		thread->since = now;
	else if (thread->off && thread->state)
		end_wait_unseen(task, thread, now);
	note_who_reads(conn, now);
	return 0;
}

/* wake_ts and the waker are of the wait to come: on_waking() can be first, on another CPU. */
static __always_inline void on_switch_out(struct task_struct *task, struct ns_thread_state *thread,
					  __u64 now, bool preempted, __u32 state)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ns_last_send *last = &last_send[cpu & (NS_CPUS - 1)];

	if (thread->off && thread->state) {
		end_wait_unseen(task, thread, now);
	} else if (thread->off) {
		/* Of a preemption: it was back since, unseen, and soon as a rule. */
		forget_wake(thread);
		thread->off = 0;
	}
	if (thread->since && !thread->off)
		thread->on_cpu_ns += ns_passed(thread->since, now);
	thread->off = 1;
	thread->since = now;
	thread->state = preempted ? 0 : sleep_state(state);
	if (thread->state) {
		thread->voluntary++;
	} else {
		thread->wake_ts = now;
		thread->involuntary++;
		note_throttle(task, thread);
	}
	thread->cpu = cpu;
	thread->left_clock = switch_clock(task);
	if (last->awaits_tid == (__u32)task->pid) {
		thread->awaits = last->awaits;
		last->awaits_tid = 0;
	}
	if (last->tid == (__u32)task->pid) {
		thread->conn = last->sk;
		thread->named_sk = last->sk;
		thread->named_conn = last->conn;
		thread->wrote = 1;
		last->tid = 0;
	} else if (last->opened_tid == (__u32)task->pid) {
		thread->named_sk = last->opened_sk;
		thread->named_conn = last->opened_conn;
		last->opened_tid = 0;
	}
}

/* The system call that it sleeps in. */
static __always_inline __u32 note_call(struct task_struct *task, struct ns_thread_state *thread)
{
	/* A worker has a copy of the registers that its creator had. */
	__u32 call = is_io_worker(task) ? NS_SYSCALL_NONE : task_call(task);
	__u32 last = thread->slept.arg0;

	thread->slept.call = call;
	thread->slept.kind = kind_of_short(call, thread->state, thread->awaits);
	task_arguments(task, &thread->slept.arg0, &thread->slept.arg1);
	/* Another lock than it slept for. */
	if (thread->slept.many == NS_SYS_FUTEX &&
	    thread->slept.arg0 - last + NS_CONDITION_BYTES > 2 * NS_CONDITION_BYTES)
		thread->slept.many = 0;
	return call;
}

/* It may be short again. */
static __always_inline void note_wait_place(struct task_struct *task,
					    struct ns_thread_state *thread, __u32 call, __u64 now)
{
	if (user_sp(task_regs(task)) != thread->place.sp)
		return;
	if (!tell_wait_site(now, call, 0, now, NS_CALL_WAIT))
		return;
	thread->place.told++;
	thread->place.wanted = 0;
	thread->place.last_sp = thread->place.sp;
}

/* The current thread lets go on one of its process that has waited long for a lock. */
static __always_inline void note_release_place(struct task_struct *task,
					       struct ns_thread_state *thread, __u32 tgid,
					       __u64 now)
{
	struct syscall_args args;

	if (thread->slept.kind != NS_SHORT_LOCK || thread->tgid != tgid ||
	    thread->place.released >= NS_SITES_WAITS ||
	    ns_passed(thread->since, now) < settings.threshold_ns)
		return;
	read_syscall(current_regs(), &args);
	/* Else an interrupt of whatever runs there: the time that it would wait was up. */
	if (args.number != NS_SYS_FUTEX)
		return;
	if (tell_wait_site(thread->since, thread->slept.call, task->pid, now, NS_CALL_RELEASE))
		thread->place.released++;
}

static __always_inline void look_at_place(struct task_struct *task, __u32 call, __u64 now)
{
	__u32 *looks = looks_at_call(call), left = *looks;

	if (!left)
		return;
	*looks = left - 1;
	note_place_of_any(task, call, now);
}

static __always_inline void on_sleep(struct task_struct *task, struct ns_thread_state *thread,
				     __u64 now)
{
	__u32 call = note_call(task, thread);

	if (thread->place.wanted && thread->place.call == call && !is_io_worker(task))
		note_wait_place(task, thread, call, now);
	else if (!is_io_worker(task))
		look_at_place(task, call, now);
	if (waits_to_read(call))
		note_input_sleep(task, thread, call);
	else if (call == NS_SYS_IO_URING_ENTER) /* its completions may be all the work it does */
		thread->habits.call = 0;
	on_writer_sleeps(task, thread, call, now);
}

/*
 * It slept long for one of several descriptors, or for a lock, has written nothing, and sleeps in
 * that call again: its time-out may have ended the long sleep, and what it waits for this one,
 * however short.
 */
static __always_inline bool waits_on(const struct ns_thread_state *thread)
{
	return thread->slept.many && thread->slept.many == thread->slept.call && !thread->conn &&
	       thread->state & 1;
}

static __always_inline void on_switch_in(struct task_struct *task, struct ns_thread_state *thread,
					 __u64 now)
{
	__u64 wake_ts = thread->wake_ts, since = thread->since, asleep, ready;
	bool is_long;

	if (now < wake_ts)
		now = wake_ts;
	if (now < since) /* it was found asleep just now, by seed_thread() on another CPU */
		now = since;
	if (since && thread->off) {
		count_return(task, thread);
		if (wake_ts && wake_ts < since) /* woken on its way off the CPU */
			wake_ts = since;
		thread->wake_ts = wake_ts;
		if (!wake_ts)
			wake_ts = now;
		asleep = ns_passed(since, wake_ts);
		ready = ns_passed(wake_ts, now);
		thread->blocked_ns += asleep;
		thread->runqueue_ns += ready;
		thread->woke_ts = wake_ts;
		look_for_answers(thread, task->pid, now); /* before this sleep is in its sums */
		/* The list of operations says how soon each was waited for no longer. */
		is_long = worth_a_record(ns_passed(since, now));
		if (settings.verbose || is_long || waits_on(thread) ||
		    (settings.uring_events && rings_watched > 0 && thread->state))
			end_wait(task, thread, now);
		else
			count_short(thread, asleep, ready);
		/* What it wrote before this sleep is not what the next one is about. */
		if (thread->state) {
			bool many = is_long && (call_kind(thread->slept.call) >= NS_CALL_ON_EPOLL ||
						thread->slept.call == NS_SYS_FUTEX);

			thread->slept.many = many ? thread->slept.call : 0;
			thread->conn = 0;
			thread->awaits = 0;
			thread->place.awake_ts = now;
		}
	}
	forget_wake(thread);
	thread->since = now;
	thread->ran_from = thread->came_ts;
	thread->came_ts = now;
	thread->off = 0;
}

/*
 * One body for both views: what is not asked for is removed when it is loaded. The clock is read
 * once, it is the dearest part; so a wait begins and ends at the same instants in both. What the
 * profile has of a thread is looked up behind the other view's part: the verifier goes through that
 * once for all that is known by then.
 */
static __always_inline void on_switch(void *ctx, struct task_struct *prev, struct task_struct *next,
				      bool preempted, __u32 state)
{
	struct ns_thread_state *thread = watched_thread(prev);
	struct ns_offcpu_thread *sleeper;
	__u64 now = thread ? bpf_ktime_get_ns() : 0;
	__u32 cpu = bpf_get_smp_processor_id() & (NS_CPUS - 1);
	bool waits = false; /* prev, for a CPU */

	if (settings.trace && cpu_waits[cpu].tid && cpu_waits[cpu].tid != (__u32)next->pid)
		on_run(prev);
	if (settings.trace && samples_open > 0)
		note_answerers_switch(prev, next, preempted || !sleep_state(state));
	if (settings.trace && queued_processes > 0)
		look_at_queues(prev);
	if (settings.trace && thread) {
		on_switch_out(prev, thread, now, preempted, state);
		if (thread->state)
			on_sleep(prev, thread, now);
		waits = !thread->state && !thread->throttled;
	}
	sleeper = profiled_thread(prev, thread);
	if (sleeper) {
		now = now ? now : bpf_ktime_get_ns();
		begin_sleep(ctx, prev, sleeper, now, preempted ? 0 : state);
	}

	thread = watched_thread(next);
	if (offcpu.on && thread && !now)
		now = bpf_ktime_get_ns();
	if (settings.trace && thread) {
		__u64 back = now ? now : time_of_return(next, thread);

		if (cpu_waits[cpu].tid == (__u32)next->pid) {
			if (worth_a_record(ns_passed(cpu_waits[cpu].from_ts, back)))
				tell_ran(prev, next, back);
			cpu_waits[cpu].tid = 0;
		}
		end_cpu_wait(thread->cpu, next->pid);
		on_switch_in(next, thread, back);
	}
	if (settings.trace && waits)
		begin_cpu_wait(cpu, prev, now);
	sleeper = profiled_thread(next, thread);
	if (sleeper)
		end_sleep(next, sleeper, now ? now : bpf_ktime_get_ns(), false);
}

/* current is whatever runs where the wake-up happens: the stack tells on whose behalf. */
static __always_inline void note_wake(void *ctx, struct task_struct *task,
				      struct ns_thread_state *thread, __u64 now)
{
	__u64 id = bpf_get_current_pid_tgid();

	thread->wake_ts = now;
	if (NS_THROTTLES_QUEUES)
		note_throttle(task, thread);
	thread->waker.tgid = id >> 32;
	thread->waker.tid = id;
	thread->waker.known = NS_WAKER_IDS;
	if (thread->off)
		begin_cpu_wait(thread->cpu, task, now);
	if (!thread->off || (!worth_a_record(ns_passed(thread->since, now)) && !waits_on(thread)))
		return;
	thread->waker.known = NS_WAKER_STACK;
	bpf_get_current_comm(thread->waker.comm, sizeof(thread->waker.comm));
	__builtin_memset(thread->waker.stack, 0, sizeof(thread->waker.stack));
	bpf_get_stack(ctx, thread->waker.stack, sizeof(thread->waker.stack), 0);
	note_release_place(task, thread, thread->waker.tgid, now);
	if (proc_hint(thread->waker.tgid)->threads)
		tell_sums(now);
	if (rings_watched > 0)
		note_ring_wake(task, thread, now);
}

/* What the thread that the clock of its CPU interrupts computes, if it has not slept for long. */
static __always_inline void note_busy(__u64 id)
{
	__u32 tid = id;
	struct ns_thread_state *thread;
	__u64 now;

	if (!proc_hint(id >> 32)->threads || !in_window())
		return;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread || thread->off || !thread->place.awake_ts)
		return;
	now = bpf_ktime_get_ns();
	if (ns_passed(thread->place.awake_ts, now) < settings.threshold_ns / 4 ||
	    ns_passed(thread->place.busy_ts, now) < NS_SITES_BUSY_NS)
		return;
	if (tell_wait_site(thread->place.awake_ts, 0, 0, now, NS_CALL_BUSY))
		thread->place.busy_ts = now;
}

/* One that is on its CPU has only prepared to sleep, and will not. */
static __always_inline bool ends_wait(struct task_struct *task,
				      const struct ns_thread_state *thread)
{
	return !thread->wake_ts && (thread->off || leaves_cpu(task));
}

static __always_inline void on_waking(void *ctx, struct task_struct *task)
{
	struct ns_thread_state *thread = watched_thread(task);
	struct ns_offcpu_thread *sleeper = profiled_thread(task, thread);
	bool traced = settings.trace && thread && ends_wait(task, thread);
	bool profiled = sleeper && ends_sleep(task, sleeper);
	__u64 now;

	if (settings.trace && samples_open > 0)
		note_answerers_wake(task);
	if (!traced && !profiled)
		return;
	now = bpf_ktime_get_ns();
	if (traced)
		note_wake(ctx, task, thread, now);
	if (profiled)
		note_sleep_wake(ctx, sleeper, now);
}

/*
 * When it fell asleep: the scheduler noted its own clock then. That clock's now is of this CPU's
 * last tick, so it may come out later than it was, never earlier; and the time in interrupts that
 * the one clock counts and the other does not is taken off as it is by now. 0: not known.
 */
static __always_inline __u64 sleep_began(struct task_struct *task, __u64 now)
{
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct cfs_rq *queue = NULL;
	__u64 left, clock;
	struct rq *rq;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(queue->rq))
		return 0;
	left = BPF_CORE_READ(task, se.exec_start);
	if (!left)
		return 0;
	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	left += BPF_CORE_READ(rq, clock) - BPF_CORE_READ(rq, clock_task);
	clock = BPF_CORE_READ(self, se.cfs_rq, rq, clock);
	return ns_passed(ns_passed(left, clock), now);
}

/* The window's part of the sleep is all that counts. */
static __always_inline void note_began(struct task_struct *task, struct ns_thread_state *thread,
				       __u64 now)
{
	__u64 began = sleep_began(task, now);

	if (!began)
		return;
	thread->since = began;
	if (began >= window_begin)
		return;
	thread->since = window_begin;
	thread->began = began;
}

/* It is in a connect() that was under way when we came: the socket may be gone at its end. */
static __always_inline void name_opening(struct task_struct *task, struct ns_thread_state *thread)
{
	struct ns_conn_state *conn;
	__u64 key;

	if (!thread->off || thread->slept.call != NS_SYS_CONNECT || thread->named_sk)
		return;
	key = (__u64)task_file(task, thread->slept.arg0);
	key = key ? sock_in_file(key) : 0;
	conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;
	if (!conn)
		return;
	thread->named_conn = conn->id;
	thread->named_sk = key;
}

/*
 * A watched thread that sleeps since before we came never passes a switch-out: it starts here, and
 * its sleep with the window, or when it fell asleep in that unseen. As a whole, for it may be
 * switched or woken meanwhile; one that was already is known better.
 */
static __always_inline void seed_thread(struct bpf_iter__task *ctx, struct task_struct *task)
{
	struct scratch *scratch = scratch_for(SCRATCH_ITER);
	__u32 state = task_state(task), tid = task->pid;
	bool traced = is_traced(task) && !settings.stopped, profiled = is_profiled(task);
	struct ns_thread_state *fresh, *known;
	bool sleeps = false;
	__u64 now;

	if (!scratch || (!traced && !profiled) || task->flags & NS_PF_EXITING || !in_window())
		return;
	/* Of a peer, unless it owes an answer: it is watched when that is wanted. */
	if (!profiled && !proc_hint(task->tgid)->threads)
		return;
	known = bpf_map_lookup_elem(&threads, &tid);
	if (known) {
		if (traced)
			name_opening(task, known);
		if (offcpu.on && known->profiled)
			find_sleeper(task, &known->offcpu);
		return;
	}
	now = bpf_ktime_get_ns();
	fresh = &scratch->thread;
	/* clang makes no more than 1 KiB of stores of one, nor of two that it may join. */
	__builtin_memset(fresh, 0, NS_THREAD_SHORTS);
	barrier_var(fresh);
	__builtin_memset(&fresh->shorts, 0, sizeof(*fresh) - NS_THREAD_SHORTS);
	fresh->tgid = task->tgid;
	BPF_CORE_READ_STR_INTO(&fresh->comm, task, comm);
	/* A program that waits for its release has not begun: that is no wait of its. */
	if (traced) {
		fresh->since = now;
		fresh->state = sleep_state(state);
		fresh->off = fresh->state != 0;
		if (fresh->off) {
			note_call(task, fresh);
			note_began(task, fresh, now);
		}
	}
	if (offcpu.on && profiled) {
		fresh->profiled = 1;
		/* One begin for both sides: they find a wait's other half by it. */
		sleeps = seed_sleeper(task, scratch, state, fresh->off ? fresh->since : now);
	}
	if (!sleeps && !settings.trace)
		return;
	if (!bpf_map_update_elem(&threads, &tid, fresh, BPF_NOEXIST)) {
		if (sleeps)
			tell_seed(ctx, task, fresh->offcpu.chain.sleep);
	} else if (!bpf_map_lookup_elem(&threads, &tid)) {
		count_lost(NS_LOST_THREADS);
	}
}

#endif
