/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables and their bounds, and the words that all programs share. */
#ifndef NETSTALL_BPF_LIB_MAPS_BPF_H
#define NETSTALL_BPF_LIB_MAPS_BPF_H

/* Addresses and ports of one end. netns counts only between loopback addresses, see socket.bpf.h.
 */
struct tuple {
	__u32 laddr[4];
	__u32 raddr[4];
	__u16 lport;
	__u16 rport;
	__u32 netns;
};

/*
 * Sizes are defaults; the loader sets others. A full table costs what it does not
 * hold and says so in lost[]; only the LRU ones evict, the entry used longest ago.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} records SEC(".maps"), vital_records SEC(".maps");
NS_TABLE(conns, BPF_MAP_TYPE_HASH, __u64, struct ns_conn_state, 4096);
NS_TABLE(histories, BPF_MAP_TYPE_ARRAY, __u32, struct ns_history, NS_HISTORIES);
/* Numbers of those that were given back. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, NS_HISTORIES);
	__uint(key_size, 0);
	__uint(value_size, sizeof(__u32));
} free_histories SEC(".maps");
NS_TABLE(services, BPF_MAP_TYPE_HASH, struct ns_service_key, struct ns_service, NS_SERVICES);
NS_TABLE(tuples, BPF_MAP_TYPE_HASH, struct tuple, __u64, 4096);
NS_TABLE(active, BPF_MAP_TYPE_HASH, struct ns_active_key, __u8, NS_ACTIVES * 4096);
/* Its values are shorter where nothing is traced: the loader sets that. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct ns_thread_state));
} threads SEC(".maps");
NS_TABLE(procs, BPF_MAP_TYPE_HASH, __u32, struct ns_proc_state, 8192);
NS_TABLE(pythons, BPF_MAP_TYPE_HASH, __u32, struct ns_python, 1024);
__u32 pythons_known; /* 1: there may be some; user space alone writes it */
NS_TABLE(cgroups, BPF_MAP_TYPE_HASH, __u64, __u32, 1024);
/* Who listens on a port, and who called connect() on a socket: the owners of ends to come. */
NS_TABLE(listeners, BPF_MAP_TYPE_LRU_HASH, struct listener_key, struct listener, 4096);
/* Of targets alone. */
NS_TABLE(listener_drops, BPF_MAP_TYPE_HASH, __u64, struct ns_listener_drops, 1024);
NS_TABLE(queued, BPF_MAP_TYPE_HASH, __u32, struct ns_queued, 256);
NS_TABLE(connectors, BPF_MAP_TYPE_LRU_HASH, __u64, __u32, 4096);
/* The socket of the tcp_sendmsg_locked() that a thread is in: kprobe way only. */
NS_TABLE(sending, BPF_MAP_TYPE_LRU_HASH, __u32, struct ns_begun, 4096);

/* Of io_uring, see uring_state.h. */
NS_TABLE(rings, BPF_MAP_TYPE_HASH, __u64, struct ns_ring_state, NS_RINGS);
NS_TABLE(ops, BPF_MAP_TYPE_HASH, struct ns_op_key, struct ns_op_state, NS_URING_OPS);
NS_TABLE(uring_counts, BPF_MAP_TYPE_HASH, struct ns_uring_key, struct ns_uring_totals,
	 NS_URING_COUNTS);
NS_TABLE(uring_errors, BPF_MAP_TYPE_HASH, struct ns_uring_error_key, __u64, NS_URING_ERRORS);

/* Whose completions an eventfd is told of: struct io_ring_ctx by struct eventfd_ctx, 0 several. */
NS_TABLE(ring_eventfds, BPF_MAP_TYPE_LRU_HASH, __u64, __u64, NS_RINGS);

/* Of the threads that answer sampled requests. */
NS_TABLE(sleeps_of, BPF_MAP_TYPE_LRU_HASH, __u32, struct ns_sleeps, 2048);

const volatile struct ns_config settings = {};
const volatile struct ns_offcpu_config offcpu = {};

/*
 * Shared by all CPUs, and by user space where that is said. (+): written by atomic additions alone,
 * so that nothing is lost. (cpu): each CPU writes its own; what interrupts a program may write in
 * between. All others are words stored whole, of which any writer's will do.
 */
__u64 lost[NS_LOST_KINDS];     /* (+), by user space too */
__u64 delack_function;         /* address of tcp_delack_timer(), 0 until a socket was seen */
__u32 conns_numbered[NS_CPUS]; /* (+) and cpu_number() */
__u32 histories_made;          /* (+) those from here on were nobody's yet; */
__u32 histories_asked;         /* (+) which are asked for next whether their owners need them */
struct ns_slot spare_slot;     /* where a record is written that finds no history */
/* (+) and recoveries: while 0, transmits and receives are not looked at, see active.bpf.h; */
__s32 active_holds;
__u64 answers_until; /* but for a few round trips after a delayed ACK that may have freed data, */
__u64 answers_over;  /* unless that is its value: then they are over */
__u32 unsure_owners; /* (+) sockets adopted without being sure whose they are, ever */
/* (+) watched ones of the role NS_ROLE_CHAIN: CPUs that look at it at a time may exceed the bound
 */
__s32 chain_conns;
__u32 chain_children;     /* (+) ever; CPUs that look at it at a time, likewise */
__u32 closing;            /* the window closes: what is held may still be released, no more begins.
			   * User space alone writes it, only_tids, self_tgid, scan_mode, scan_from and the
			   * keys in hand, and resets what an iterator run counts */
__u32 only_tids[NS_TIDS]; /* the first 0: all threads of the targets */
__u32 self_tgid;          /* netstall's own process: neither it nor its helpers are targets */
__u32 children_seen; /* of targets, no targets themselves, with connections: an iterator run counts
		      */
__u32 child_seen;    /* the last of them */
__u32 conns_found;   /* the targets' open connections that were there: the first scan counts */
__u32 scan_mode;     /* enum ns_scan: what the next iter_files or each_ring_files does */
__u32 scan_from;     /* the first registered file of each ring that it looks at, */
__u32 scan_most;     /* and what it found: files of the ring that has most */
/* Of a table, for the each_* program that the reader runs next. */
struct ns_key_in_hand in_hand[NS_KEYS_IN_HAND];
__u32 keys_in_hand;
struct ns_proc_hint proc_hints[NS_PROC_HINTS];
struct ns_site_place site_places[NS_SITE_PLACES];
__u32 site_looks[NS_SITE_CALLS]; /* in calls of the bucket; CPUs may race for the last ones */
struct ns_last_send last_send[NS_CPUS]; /* (cpu) */
struct ns_turns turns[NS_CPUS];         /* (cpu) */
__s32 samples_open; /* (+) while 0, only the threads of proc_hints are looked at */
/* (+) Samples that wait for an answer of a process in the bucket. */
__s32 answering[NS_PROC_HINTS];
__s32 queued_processes;         /* (+) entries of the table queued */
__u32 queued_in[NS_PROC_HINTS]; /* a process in the bucket is one of them */
/* (+) Samples on connections of the bucket, of which the answering end's reads are all timed. */
__s32 timed_reads[NS_READ_HINTS];
__u32 sample_every = 16; /* mean distance of samples, in requests: user space keeps it up to date */
__u64 slow_exchange_ns;  /* answers that were slept for so long are all told; likewise */
__u64 slow_noted;        /* (+) how many */
__u32 waits_lasting;     /* an iterator run counts */
__u32 exchanges_told;    /* (+) since user space looked last, and stored 0 */
__u32 waits_told;        /* (+) likewise */
__u32 stalls_told;       /* (+) of these, as long as a stall */
__s32 readers_wanted;    /* (+) connections whose reader's call site is to be taken */
__u64 long_wait_ns;      /* NS_LONG_TIMES thresholds or more; user space keeps it up to date */
struct ns_service zero_service;     /* never written */
struct ns_conn_state zero_conn;     /* never written: what a new entry starts from */
struct ns_thread_state zero_thread; /* likewise */

__s32 rings_watched;           /* (+), by user space too: while 0, operations are not looked at */
__u32 rings_full;              /* the table is: rings are no longer taken in when they are used */
__u32 rings_numbered[NS_CPUS]; /* (+), likewise */
__u32 sweep_done;              /* each_op: entries of what is done are swept out as well */
__u32 uring_told; /* (+) completions told in the quiet volume since user space looked last */
struct ns_op_slot op_slots[NS_OP_SLOTS];
struct ns_ring_state zero_ring;     /* never written, as above */
struct ns_op_state zero_op;         /* likewise */
struct ns_uring_totals zero_counts; /* likewise */

static __always_inline void count_lost(__u32 kind)
{
	if (kind < NS_LOST_KINDS)
		__sync_fetch_and_add(&lost[kind], 1);
}

/* Connections behind those of the targets: some of a table that is there for these. */
static __always_inline bool chain_has_room(void)
{
	if (chain_conns < NS_CHAIN_CONNS)
		return true;
	count_lost(NS_LOST_CONNS);
	return false;
}

static __always_inline __u32 jiffies_to_us(__u64 jiffies)
{
	return settings.hz && jiffies < 1000 * settings.hz ? jiffies * (1000000 / settings.hz) : 0;
}

static __always_inline bool seq_after(__u32 a, __u32 b)
{
	return (__s32)(b - a) < 0;
}

#endif
