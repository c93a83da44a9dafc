/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What goes on: holds and recoveries, and how many; and open samples. The socket's lock orders most
 * of what begins and ends them, not all: a writer that goes to sleep is looked at without it, and a
 * send's end is where tracepoints tell it. Two CPUs may come to the same end, so one thing decides,
 * once, who ends what: the entry in `active`, which only one of them deletes. (Old kernels have no
 * atomic operation that gives a value back; a table's lock is what there is.) Each hold of a socket
 * has a number of its own, so that who comes late to the end of one does not end the next.
 */
#ifndef NETSTALL_BPF_LIB_ACTIVE_BPF_H
#define NETSTALL_BPF_LIB_ACTIVE_BPF_H

/*
 * For global functions, which are verified by themselves, called or not: the off-CPU profile alone
 * has no such table.
 */
static __always_inline struct ns_conn_state *conn_traced(__u64 key)
{
	return settings.trace ? bpf_map_lookup_elem(&conns, &key) : NULL;
}

/* True for one of those who come to it. */
static __always_inline bool enter_active(const struct ns_active_key *key)
{
	__u8 one = 1;
	long refused = bpf_map_update_elem(&active, key, &one, BPF_NOEXIST);

	if (refused && refused != -NS_EEXIST)
		count_lost(NS_LOST_CONNS);
	return !refused;
}

static __always_inline bool leave_active(const struct ns_active_key *key)
{
	return !bpf_map_delete_elem(&active, key);
}

/* Counted before it is there and until it is gone: never fewer than there are. */
static __always_inline bool begin_active(const struct ns_active_key *key)
{
	__sync_fetch_and_add(&active_holds, 1);
	if (enter_active(key))
		return true;
	__sync_fetch_and_add(&active_holds, -1);
	return false;
}

static __always_inline bool end_active(const struct ns_active_key *key)
{
	if (!leave_active(key))
		return false;
	__sync_fetch_and_add(&active_holds, -1);
	return true;
}

/* ---- holds ---- */

static __always_inline bool is_held(const struct ns_conn_state *conn)
{
	return conn->hold.number != conn->hold.ended;
}

static __always_inline struct ns_active_key hold_key(const struct ns_conn_state *conn, __u32 number)
{
	return (struct ns_active_key){.sk = conn->key, .number = number, .what = NS_ACTIVE_HOLD};
}

/* Is that number's time over? */
static __always_inline bool has_ended(const struct ns_conn_state *conn, __u32 number)
{
	return (__s32)(number - conn->hold.ended) <= 0;
}

/* The number of a hold that begins now, 0: another CPU has just begun one. */
/* A function of its own, as end_hold(): the stacks of its callers have no room for the key. */
static __noinline __u32 number_hold(const struct ns_conn_state *conn)
{
	struct ns_active_key key;
	__u32 number;

	if (!conn)
		return 0;
	number = conn->hold.number + 1;
	barrier();
	number += !number; /* 0 is none */
	key = hold_key(conn, number);
	if (is_held(conn) || !begin_active(&key))
		return 0;
	/* Another one that had this number is over by now. */
	if (has_ended(conn, number)) {
		end_active(&key);
		return 0;
	}
	return number;
}

/* It is over. True for one CPU alone, who tells it. */
static __noinline bool end_hold(struct ns_conn_state *conn, __u32 number)
{
	struct ns_active_key key;

	if (!conn)
		return false;
	key = hold_key(conn, number);
	/* Whoever comes here knows it, so it does not matter who writes. */
	if (!has_ended(conn, number))
		conn->hold.ended = number;
	return end_active(&key);
}

/* ---- looks ---- */

/*
 * One look at a socket's hold at a time: what is found lies in conn->hold.look until it is told.
 * False: another CPU looks just now, and finds the same.
 */
static __noinline bool begin_look(const struct ns_conn_state *conn)
{
	struct ns_active_key key = {.what = NS_ACTIVE_LOOK};

	if (!conn)
		return false;
	key.sk = conn->key;
	return enter_active(&key);
}

static __noinline int end_look(const struct ns_conn_state *conn)
{
	struct ns_active_key key = {.what = NS_ACTIVE_LOOK};

	if (!conn)
		return 0;
	key.sk = conn->key;
	return leave_active(&key);
}

/* ---- recoveries ---- */

/* Those of a connection that does not stand yet are no reason to look at segments. */
static __always_inline void count_recovery(const struct ns_conn_state *conn)
{
	struct ns_active_key key = {.sk = conn->key, .what = NS_ACTIVE_RECOVERY};

	if (conn->phase == NS_PHASE_OPEN)
		begin_active(&key);
}

static __always_inline void end_recovery(struct ns_conn_state *conn)
{
	struct ns_active_key key = {.sk = conn->key, .what = NS_ACTIVE_RECOVERY};

	if (!conn->recovery.ts)
		return;
	conn->recovery.ts = 0;
	end_active(&key);
}

#endif
