/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What happened on a socket lately: records that wait until a stall ends, in which case they leave,
 * or are overwritten by later ones.
 *
 * The socket's lock orders most of its events, not all, and who flushes a history holds another
 * socket's lock or none. So each slot says whose turn it holds and whether it is whole (a sequence
 * lock; old kernels have no atomic operation that gives a value back). What is being written is
 * looked at again when the rest is told. If it is not whole by then (its writer is interrupted, or
 * its processor is a virtual one that does not run), it is left to its writer, who tells it at
 * once. What two CPUs wrote at a time is nobody's record, and counted as such. What a later record
 * has overwritten meanwhile has gone the way of all old ones.
 */
#ifndef NETSTALL_BPF_LIB_HISTORY_BPF_H
#define NETSTALL_BPF_LIB_HISTORY_BPF_H

enum ns_slot_is {
	NS_SLOT_WHOLE,
	NS_SLOT_AGED,    /* a later record has taken its place */
	NS_SLOT_MIXED,   /* two CPUs wrote at a time */
	NS_SLOT_UNREADY, /* it is being written */
};

/* ns_mark.by, where it is no CPU. */
#define NS_BY_NOBODY  0u
#define NS_BY_SEVERAL 0xffffffffu

/* Before anything else of the slot is written. */
static __always_inline void mark__begin(struct ns_mark *mark, __u32 turn, __u32 cpu)
{
	__u32 by = mark->by;

	/* Who still writes there would spoil it: no matter who is done first, it is nobody's. */
	if (by == NS_BY_SEVERAL && mark->turn != turn)
		by = NS_BY_NOBODY;
	mark->by = by == NS_BY_NOBODY ? cpu + 1 : NS_BY_SEVERAL;
	mark->turn = turn;
	barrier();
}

/*
 * All of it is written, by the same cpu. True: it was wanted meanwhile, and its writer has to tell
 * it. An atomic addition is a full barrier as well: who wants it either finds it whole, or is seen
 * here.
 */
static __always_inline bool mark__end(struct ns_mark *mark, __u32 cpu)
{
	__u32 by = mark->by, end = by == cpu + 1 ? NS_BY_NOBODY : NS_BY_SEVERAL;

	barrier();
	__sync_fetch_and_add(&mark->by, end - by);
	barrier();
	return mark->wanted == mark->turn && mark->told != mark->wanted;
}

static __always_inline enum ns_slot_is mark__read(const struct ns_mark *mark, __u32 turn)
{
	__u32 now, by;

	barrier();
	now = mark->turn;
	by = mark->by;
	barrier();
	if (now != turn)
		return (__s32)(now - turn) > 0 ? NS_SLOT_AGED : NS_SLOT_UNREADY;
	if (by == NS_BY_SEVERAL)
		return NS_SLOT_MIXED;
	return by == NS_BY_NOBODY ? NS_SLOT_WHOLE : NS_SLOT_UNREADY;
}

/*
 * Is it still being written? Then its writer will tell it: mark__end(). If he is done just now, he
 * may tell it as well: who reads drops the second (user/analyze/order.h).
 */
static __always_inline bool mark__leave(struct ns_mark *mark, __u32 turn)
{
	__u32 nothing = 0;

	if (mark__read(mark, turn) != NS_SLOT_UNREADY)
		return false;
	mark->wanted = turn;
	barrier_var(nothing); /* the compiler would find a cheaper nothing */
	__sync_fetch_and_add(&mark->by, nothing);
	return mark__read(mark, turn) == NS_SLOT_UNREADY;
}

/* A copy of record leaves if it was whole before and after. size is a constant. */
static __always_inline enum ns_slot_is stream_marked(const struct ns_mark *mark, __u32 turn,
						     const void *record, __u32 size)
{
	enum ns_slot_is is = mark__read(mark, turn);
	void *out;

	if (is != NS_SLOT_WHOLE)
		return is;
	out = bpf_ringbuf_reserve(&records, size, 0);
	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return NS_SLOT_WHOLE;
	}
	__builtin_memcpy(out, record, size);
	is = mark__read(mark, turn);
	if (is == NS_SLOT_WHOLE)
		bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard(out, BPF_RB_NO_WAKEUP);
	return is;
}

/*
 * What is not ready is tried again, and at last left to its writer; what was told is not told
 * again.
 */
static __always_inline void tell_marked(struct ns_mark *mark, __u32 turn, const void *record,
					__u32 size, bool last)
{
	enum ns_slot_is is;

	if (mark->told == turn || (last && mark__leave(mark, turn)))
		return;
	is = stream_marked(mark, turn, record, size);
	if (is == NS_SLOT_MIXED)
		count_lost(NS_LOST_TORN);
	/* Its place may have been taken, and that told, meanwhile. */
	if (is != NS_SLOT_UNREADY && (__s32)(turn - mark->told) > 0)
		mark->told = turn;
}

/* Its writer tells it, when all of it is written. */
static __always_inline void tell_own(struct ns_mark *mark, void *record, __u32 size)
{
	mark->told = mark->turn;
	if (mark->by == NS_BY_NOBODY)
		stream(record, size);
	else
		count_lost(NS_LOST_TORN);
}

/* ---- whose it is ---- */

#define NS_HISTORY_TRIES 16
/* Within this time a stall may be told in which it has a part: TCP_DELACK_MAX, net/tcp.h. */
#define NS_HISTORY_YOUNG 200000000

/* NULL: it has none, or another connection has it by now. */
static __always_inline struct ns_history *history_of(const struct ns_conn_state *conn)
{
	__u32 at = conn->history - 1;
	struct ns_history *history = conn->history ? bpf_map_lookup_elem(&histories, &at) : NULL;

	return history && history->owner == conn->key ? history : NULL;
}

/*
 * Does its owner need it: the records of a hold or a recovery that goes on, or young ones? Global,
 * as history_tell() is.
 */
__noinline int keeps_history(__u32 at)
{
	const struct ns_history *history =
		settings.trace ? bpf_map_lookup_elem(&histories, &at) : NULL;
	struct ns_conn_state *conn;
	const struct ns_head *last;
	__u64 owner;

	if (!history)
		return true;
	owner = history->owner;
	conn = owner ? bpf_map_lookup_elem(&conns, &owner) : NULL;
	if (!conn || conn->history != at + 1)
		return false;
	last = (const struct ns_head *)&history->slots[history->next & (NS_HISTORY - 1)];
	return is_held(conn) || conn->recovery.ts ||
	       ns_passed(last->ts, bpf_ktime_get_ns()) < NS_HISTORY_YOUNG;
}

/*
 * Two CPUs that come to the same number both take it; the last one has it, and the other takes
 * another at its next record.
 */
static __always_inline __u32 count_on(__u32 *counter)
{
	__u32 number = *counter;

	__sync_fetch_and_add(counter, 1);
	return number;
}

/* One that is nobody's. */
static __always_inline bool find_free_history(__u32 *at)
{
	if (!bpf_map_pop_elem(&free_histories, at))
		return true;
	if (histories_made >= settings.histories)
		return false;
	*at = count_on(&histories_made);
	return *at < settings.histories;
}

/* One whose owner does not need it. They are asked in turn. */
static __always_inline bool find_idle_history(__u32 *at)
{
	for (int i = 0; i < NS_HISTORY_TRIES; i++) {
		*at = count_on(&histories_asked) & (settings.histories - 1);
		if (!keeps_history(*at))
			return true;
	}
	return false;
}

/* Global, as history_tell() is. */
__noinline int take_history(__u64 key)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct ns_history *history = NULL;
	__u32 at = 0;

	if (!conn)
		return 0;
	if (find_free_history(&at) || find_idle_history(&at))
		history = bpf_map_lookup_elem(&histories, &at);
	if (!history) {
		count_lost(NS_LOST_HISTORIES);
		return 0;
	}
	/* In this order: until it is the owner's, it does not keep it, and needs none of it. */
	conn->hold.kept = 0;
	conn->history = at + 1;
	history->flushed = history->next;
	history->owner = conn->key;
	return 0;
}

/* NULL: all that were asked for are needed. */
static __always_inline struct ns_history *own_history(struct ns_conn_state *conn)
{
	struct ns_history *history = history_of(conn);

	if (history)
		return history;
	take_history(conn->key);
	return history_of(conn);
}

static __always_inline void give_history_back(struct ns_conn_state *conn)
{
	struct ns_history *history = history_of(conn);
	__u32 at = conn->history - 1;

	if (!history)
		return;
	history->owner = 0;
	bpf_map_push_elem(&free_histories, &at, BPF_ANY);
}

/* ---- writing ---- */

/* Something of it leaves: user space has to know which it is. socket.bpf.h. */
int know_conn(__u64 key);
static __always_inline void make_known(const struct ns_conn_state *conn)
{
	if (conn->untold)
		know_conn(conn->key);
}

/* Where the stack has no room for that (MAX_BPF_STACK), and in the end where it has. */
static __always_inline void want_known(struct ns_conn_state *conn)
{
	conn->wanted = conn->untold;
}
static __always_inline void make_wanted_known(struct ns_conn_state *conn)
{
	if (conn->wanted)
		know_conn(conn->key);
}

/* The next slot of the socket's history, with its head filled. Never NULL. */
static __always_inline void *history_slot(struct ns_conn_state *conn, __u32 type, __u32 len,
					  __u64 ts)
{
	struct ns_history *history = own_history(conn);
	__u32 cpu = bpf_get_smp_processor_id(), turn;
	struct ns_slot *slot = &spare_slot;

	if (history) {
		turn = ++history->next;
		slot = &history->slots[turn & (NS_HISTORY - 1)];
	} else {
		turn = slot->mark.turn + 1;
	}
	mark__begin(&slot->mark, turn, cpu);
	fill_head_on(cpu, (struct ns_head *)slot, type, len, ts, conn->id);
	return slot;
}

/* The slot is written: with --all it goes out now. */
static __always_inline void history_commit(struct ns_conn_state *conn, void *record, __u32 len)
{
	struct ns_slot *slot = record;
	struct ns_history *history;

	/* The head may be another CPU's by now. */
	if (!mark__end(&slot->mark, bpf_get_smp_processor_id()) && !settings.verbose)
		return;
	want_known(conn);
	tell_own(&slot->mark, slot, len);
	history = settings.verbose ? history_of(conn) : NULL;
	if (history)
		history->flushed = history->next;
}

/* A copy of what is in a slot of the history, under the same turn. */
static __always_inline void keep_look(struct ns_conn_state *conn, const struct ns_slot *slot,
				      __u32 cpu)
{
	struct ns_history *history = history_of(conn);
	struct ns_slot *kept;
	__u32 before, at;

	if (!history)
		return;
	before = conn->hold.kept++;
	at = before ? before & (NS_HOLD_LAST - 1) : NS_HOLD_LAST;
	kept = &history->looks[at];
	mark__begin(&kept->mark, slot->mark.turn, cpu);
	__builtin_memcpy(kept->words, slot->words, sizeof(kept->words));
	mark__end(&kept->mark, cpu);
}

/*
 * One record of the socket's. Global, and so verified once in each program, whatever the paths that
 * lead to it: its argument is the struct sock, for the verifier of 5.10 takes no pointer there. It
 * stands outside of the loop, where the verifier would go through it each time round.
 */
__noinline int history_tell(__u64 key, __u32 turn, __u32 last)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct ns_history *history = conn ? history_of(conn) : NULL;
	struct ns_slot *slot;

	if (!history)
		return 0;
	slot = &history->slots[turn & (NS_HISTORY - 1)];
	tell_marked(&slot->mark, turn, slot->words, sizeof(slot->words), last);
	return 0;
}

/* One that is kept of its hold, unless it is in the history too. Global as well. */
__noinline int look_tell(__u64 key, __u32 at)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct ns_history *history = conn ? history_of(conn) : NULL;
	struct ns_slot *kept;
	__u32 turn;

	if (!history || at > NS_HOLD_LAST)
		return 0;
	kept = &history->looks[at];
	turn = kept->mark.turn;
	/* Before the first: of an earlier hold. */
	if ((__s32)(turn - history->looks[NS_HOLD_LAST].mark.turn) >= 0 &&
	    history->next - turn >= NS_HISTORY)
		tell_marked(&kept->mark, turn, kept->words, sizeof(kept->words), false);
	return 0;
}

/*
 * What the history has lost meanwhile of the hold that goes on: why it began, and how the reason
 * changed. Whatever is being written is younger than that.
 */
static __always_inline void hold_tell(struct ns_conn_state *conn)
{
	for (__u32 i = 0; i <= NS_HOLD_LAST; i++)
		look_tell(conn->key, i);
	conn->hold.kept = 0;
}

/* Global as well. */
__noinline int history_tell_many(__u64 key, __u32 first, __u32 count, __u32 last)
{
	for (__u32 i = 0; i < NS_HISTORY; i++)
		if (i < count)
			history_tell(key, first + i, last);
	return 0;
}

/* All that was not told. Global as well. */
__noinline int history_flush_of(__u64 key)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct ns_history *history = conn ? history_of(conn) : NULL;
	__u32 end, count, first;

	if (!conn || !history)
		return 0;
	make_known(conn);
	if (conn->hold.kept)
		hold_tell(conn);
	end = history->next;
	count = end - history->flushed;
	if (count > NS_HISTORY)
		count = NS_HISTORY;
	first = end - count + 1;
	/* Twice: by then another CPU has most often finished what it was writing. */
	history_tell_many(key, first, count, false);
	history_tell_many(key, first, count, true);
	history->flushed = end;
	conn->hold.told = is_held(conn);
	return 0;
}

static __always_inline void history_flush(const struct ns_conn_state *conn)
{
	history_flush_of(conn->key);
}

/* What led to a stall on this connection: both ends' histories. */
static __always_inline void flush_both(const struct ns_conn_state *conn)
{
	history_flush_of(conn->key);
	if (conn->peer)
		history_flush_of(conn->peer);
}

#endif
