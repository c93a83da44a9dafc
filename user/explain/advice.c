// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"

/* One more line, behind those that are there; none when there are VERDICT_ADVICE. */
static void __attribute__((format(printf, 2, 3)))
advice__give(struct verdict *verdict, const char *format, ...)
{
	va_list args;

	if (verdict->advice_count == VERDICT_ADVICE)
		return;
	va_start(args, format);
	verdict->advice[verdict->advice_count++] = xvasprintf(format, args);
	va_end(args);
}

/* "saves 40.5 ms each time, 4.94 s over the 122 times seen here"; to be freed */
static char *advice__saving(const struct context *context)
{
	char each[TEXT_DURATION], all[TEXT_DURATION], count[TEXT_COUNT];

	text__duration(each, sizeof(each), context__held(context));
	text__duration(all, sizeof(all), context->tally->held_ns);
	if (context->tally->count == 1)
		return xasprintf("saves %s", each);
	return xasprintf("saves %s each time, %s over the %s times seen here", each, all,
			 text__count(count, sizeof(count), context->tally->count));
}

/* ---- Nagle's algorithm ---- */

/* " (2.0 for each exchange)": as counted on this connection; "" when exchanges were not */
static char *segments_now(const struct context *context, char *dst, size_t size)
{
	const struct ns_conn_totals *totals = context->conn ? &context->conn->totals : NULL;

	dst[0] = '\0';
	if (totals && totals->exchanges && totals->data_segs_out)
		snprintf(dst, size, " (%.1f for each exchange)",
			 (double)totals->data_segs_out / totals->exchanges);
	return dst;
}

/* Each piece is an operation of its own there. */
static void advise_one_operation(const struct context *context, struct verdict *verdict,
				 uint64_t pieces, const char *saves)
{
	char number[TEXT_COUNT];

	builder__number(number, sizeof(number), pieces);
	advice__give(verdict,
		     "In %s, submit %s pieces as one operation (one buffer, or one "
		     "IORING_OP_SENDMSG with an iovec for each): %s, and one segment fewer.",
		     context->program, pieces == 2 ? "both" : number, saves);
	advice__give(verdict,
		     "Or set MSG_MORE in sqe->msg_flags of %s, and link them (IOSQE_IO_LINK) so "
		     "that they stay in order: the same saving.",
		     pieces == 2 ? "the first SEND" : "all SENDs but the last");
}

static void advise_coalescing(const struct context *context, struct verdict *verdict,
			      uint64_t pieces, const char *saves)
{
	char number[TEXT_COUNT];

	if (pieces == 2)
		advice__give(verdict,
			     "In %s, write both pieces at once (one buffer, writev(), or "
			     "MSG_MORE on the first): %s, and one segment fewer.",
			     context->program, saves);
	else
		advice__give(verdict,
			     "In %s, write all %s pieces at once (one buffer, writev(), or "
			     "MSG_MORE on all but the last): %s, and one segment fewer.",
			     context->program, builder__number(number, sizeof(number), pieces),
			     saves);
}

static void advise_nodelay(const struct context *context, struct verdict *verdict, uint64_t pieces,
			   const char *saves)
{
	const char *once = context->by_ring ? " (setsockopt(), once, no ring needed)" : "";
	char now[48], more[TEXT_COUNT];

	segments_now(context, now, sizeof(now));
	/* With TCP_NODELAY each write is a segment; held ones left together in one. */
	if (pieces == 2)
		advice__give(verdict,
			     "Set TCP_NODELAY on %s in %s%s: %s, with as many segments as now%s.",
			     context->fd, context->sender, once, saves, now);
	else
		advice__give(verdict,
			     "Set TCP_NODELAY on %s in %s%s: %s, at the price of up to %s more "
			     "segment%s for %s than now%s.",
			     context->fd, context->sender, once, saves,
			     builder__number(more, sizeof(more), pieces - 2),
			     pieces == 3 ? "" : "s", context->a_message, now);
}

/* The program to be changed is at the other end, of which nothing else is known. */
static void advise_other_end(const struct context *context, struct verdict *verdict,
			     const char *saves)
{
	advice__give(verdict,
		     "In the program at %s, write all pieces of a message at once (one buffer, "
		     "writev(), or MSG_MORE on all but the last): %s.",
		     context->other, saves);
	advice__give(verdict, "Or set TCP_NODELAY there: %s, with a segment for each piece.",
		     saves);
}

static void advise_cork(const struct context *context, struct verdict *verdict)
{
	advice__give(verdict,
		     "Where the pieces come from code that cannot be joined: set TCP_CORK on %s "
		     "before the first and clear it after the last: the same saving, one segment "
		     "fewer, two system calls more.",
		     context->fd);
}

static void advise__nagle(const struct context *context, struct verdict *verdict)
{
	uint64_t pieces = 2 + context->tally->joined.most;
	char *saves = advice__saving(context);

	if (context->stall->fire.head.type &&
	    context->stall->fire.head.conn == context->stall->conn) {
		advise_other_end(context, verdict, saves);
		free(saves);
		return;
	}
	if (context->by_ring)
		advise_one_operation(context, verdict, pieces, saves);
	else
		advise_coalescing(context, verdict, pieces, saves);
	advise_nodelay(context, verdict, pieces, saves);
	if (!context->by_ring)
		advise_cork(context, verdict);
	free(saves);
}

/* ---- other holds ---- */

static void advise__cork(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	if (context->stall->reason == NS_HOLD_MSG_MORE)
		advice__give(verdict,
			     "In %s, leave MSG_MORE out of %s of %s on %s: %s, with as many "
			     "segments as now.",
			     context->program,
			     context->by_ring ? "sqe->msg_flags of the last SEND"
					      : "the last write",
			     context->a_message, context->fd, saves);
	else
		advice__give(verdict,
			     "In %s, clear TCP_CORK on %s right after the last write of %s: %s, "
			     "with as many segments as now.",
			     context->program, context->fd, context->a_message, saves);
	advice__give(verdict,
		     "Write the whole %s with one %s and hold nothing back: the same saving, with "
		     "as many segments as now.",
		     context->message, context->by_ring ? "IORING_OP_SENDMSG" : "writev()");
	free(saves);
}

static void advise__cwnd(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	if (context->conn && context->conn->totals.retrans)
		advice__give(verdict,
			     "Find the loss on the way to %s first: it is what keeps the window "
			     "small (%s at most).",
			     context->other, saves);
	advice__give(verdict,
		     "Keep one connection to %s open and in use rather than new ones: its window "
		     "has grown already. A pause makes it small again unless "
		     "net.ipv4.tcp_slow_start_after_idle is 0. At most this %s.",
		     context->other_program, saves);
	advice__give(verdict,
		     "Send less, or let the route begin with a larger window (ip route change ... "
		     "initcwnd N), if the path can bear that.");
	free(saves);
}

/* Did somebody at the other end sleep instead of reading, as far as the chain shows? */
static bool reader_was_away(const struct context *context)
{
	for (size_t i = 1; i < context->stall->link_count; i++) {
		const struct stall_link *link = &context->stall->links[i];

		if (link->tid && link->wait.head.type && link->cause != CAUSE_PEER_APP &&
		    link->cause != CAUSE_IDLE)
			return true;
	}
	return false;
}

static void advise_reading(const struct context *context, struct verdict *verdict,
			   const char *saves)
{
	advice__give(verdict,
		     "Let %s read sooner: in a thread of its own, or before it does other work: "
		     "at most this %s.",
		     context->other, saves);
}

static void advise__rwnd(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	if (reader_was_away(context)) {
		advise_reading(context, verdict, saves);
	} else {
		advice__give(verdict,
			     "Give the receiver (%s) a larger window: set no SO_RCVBUF there, so "
			     "that the kernel adapts it, or a larger one; or raise the third "
			     "number of net.ipv4.tcp_rmem: at most this %s.",
			     context->other, saves);
		advice__give(verdict,
			     "If the program there reads too slowly, no buffer helps for long: "
			     "see with netstall at that end what it waits for.");
	}
	free(saves);
}

static void advise__zero_window(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advise_reading(context, verdict, saves);
	if (!reader_was_away(context))
		advice__give(verdict,
			     "See with netstall at that end what %s does instead of reading.",
			     context->other);
	free(saves);
}

static void advise__pacing(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "In %s, raise or drop SO_MAX_PACING_RATE on %s, if it is set there: %s.",
		     context->program, context->fd, saves);
	advice__give(verdict,
		     "If the congestion control paces by itself (bbr does), the rate is what it "
		     "measured of the path: ss -ti shows it as pacing_rate.");
	free(saves);
}

static void advise__tsq(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "Look why the device is behind: its queue (tc -s qdisc), a rate limit there, "
		     "a virtual device whose host is busy: at most this %s.",
		     saves);
	free(saves);
}

static void advise__tso_defer(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "Write the end of %s together with what goes before it, so that TCP sees "
		     "that nothing follows: at most this %s.",
		     context->a_message, saves);
	free(saves);
}

static void advise__autocork(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict, "In %s, write each %s at once (one buffer, or writev()): %s.",
		     context->program, context->message, saves);
	advice__give(verdict,
		     "Or turn automatic corking off for the whole machine "
		     "(net.ipv4.tcp_autocorking=0): the same saving, more segments.");
	free(saves);
}

static void advise__sndbuf(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "In %s, set no SO_SNDBUF on %s, so that the kernel adapts it, or a larger "
		     "one; or raise the third number of net.ipv4.tcp_wmem. That helps as long as "
		     "%s reads as fast as is written: at most this %s.",
		     context->program, context->fd, context->other, saves);
	advice__give(verdict,
		     "Write without blocking (O_NONBLOCK and poll), so that a slow receiver does "
		     "not stop this thread: the same saving for what else it has to do.");
	free(saves);
}

/* ---- loss ---- */

static void advise__loss(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "Find where segments between here and %s are dropped: counters of the "
		     "devices (ip -s link, ethtool -S), of queues (tc -s qdisc) and of the kernel "
		     "(nstat) at both ends, firewalls on the way: without the loss this %s.",
		     context->other, saves);
	if (context->tally->cause == CAUSE_RTO)
		advice__give(verdict,
			     "If the round trip is far below 200 ms and loss cannot be avoided, a "
			     "shorter least time-out on the route (ip route change ... rto_min "
			     "20ms) shortens each such wait. It does not mend the loss.");
	free(saves);
}

static void advise__syn_retransmit(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "At %s, look whether the listen queue overflows (nstat -az TcpExtListenDrops "
		     "TcpExtListenOverflows; ss -ltn shows queue and limit): accept() sooner, or "
		     "a larger backlog in listen() and net.core.somaxconn: this %s.",
		     context->other, saves);
	advice__give(verdict,
		     "If these counters stand still, look for a firewall or for loss on the way.");
	advice__give(verdict,
		     "Keep connections open and use them again: each new one can meet this.");
	free(saves);
}

/* ---- waits that TCP has no part in: whom to look at. What a program does with its own time is not
 * for netstall to mend; it names the thread and the call. ---- */

static void advise_at_the_other_end(const struct context *context, struct verdict *verdict)
{
	if (context->peer && context->peer->id.head.tgid)
		advice__give(verdict,
			     "Trace the other end while this happens: netstall trace -p %u",
			     context->peer->id.head.tgid);
	else
		advice__give(verdict, "Run netstall at the other end (%s) while this happens.",
			     context->other);
}

/* When the thread at the root must not dawdle. */
static const char *while_what(const struct context *context)
{
	switch (context->tally->cause) {
	case CAUSE_LOCK:
		return "while another thread waits for its lock or signal";
	case CAUSE_IPC:
		return "while another thread waits for what it is to write";
	default:
		return "between the request and its answer";
	}
}

/* For the last thing that the chain shows. Returns false when it shows none to act on. */
static bool advise_root(const struct context *context, struct verdict *verdict, const char *saves)
{
	const struct stall_link *root = context->stall->link_count > 1 ? context->root : NULL;
	char name[CONTEXT_NAME], call[64];
	const char *where;

	if (!root || !root->tid || !root->wait.head.type)
		return false;
	context__thread(name, sizeof(name), context->report, root->pid, root->tid);
	where = context__call(call, sizeof(call), context->report, &root->wait);
	switch (root->cause) {
	case CAUSE_TIMER:
		advice__give(verdict,
			     "In %s, do not sleep%s%s %s; wait for the event itself: at most "
			     "this %s.",
			     name, where ? " in " : "", where ? where : "", while_what(context),
			     saves);
		return true;
	case CAUSE_LOCK:
		advice__give(
			verdict,
			"Shorten what is done under the lock that %s waits for, or take it for "
			"less: at most this %s.",
			name, saves);
		return true;
	case CAUSE_DISK:
		advice__give(verdict,
			     "Take the block I/O of %s%s%s out of what others wait for (cache, "
			     "another thread, a faster disk): at most this %s.",
			     name, where ? " in " : "", where ? where : "", saves);
		return true;
	case CAUSE_RUNQUEUE:
		advice__give(verdict,
			     "Give %s a CPU sooner: see the quota of its cgroup (cpu.max, "
			     "cpu.stat), priorities, and the load of its CPUs: at most this %s.",
			     name, saves);
		return true;
	default:
		return false;
	}
}

static void advise__peer_app(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	if (!advise_root(context, verdict, saves))
		advise_at_the_other_end(context, verdict);
	advice__give(verdict,
		     "If %s cannot answer sooner: send further requests meanwhile (pipelining, or "
		     "more connections) rather than wait for each in turn.",
		     context->other_program);
	free(saves);
}

static void advise__network(const struct context *context, struct verdict *verdict)
{
	advice__give(verdict,
		     "Fewer round trips: ask for more at once, send requests without waiting for "
		     "each answer, keep connections open. Nothing in this host makes the way to "
		     "%s shorter.",
		     context->other);
}

static void advise__runqueue(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "Look for a shortage of CPU: a quota of its cgroup (cpu.max; nr_throttled in "
		     "cpu.stat), more runnable threads than CPUs (vmstat, column r), an affinity "
		     "that puts several on one CPU: at most this %s.",
		     saves);
	advice__give(verdict,
		     "If %s matters more than what else runs here: a higher weight (cpu.weight, "
		     "nice), or CPUs of its own.",
		     context->program);
	free(saves);
}

static void advise__lock(const struct context *context, struct verdict *verdict)
{
	const struct ns_wait *wait = &context->stall->wait;
	char *saves = advice__saving(context);
	char name[CONTEXT_NAME];

	if (advise_root(context, verdict, saves))
		;
	else if (wait->head.type && report__process(context->report, wait->waker_tgid))
		advice__give(verdict,
			     "Look at what %s does before it wakes %s: a lock that is held for "
			     "too long, or work that it waits to be handed: at most this %s.",
			     context__thread(name, sizeof(name), context->report, wait->waker_tgid,
					     wait->waker_tid),
			     context->waiter, saves);
	else
		advice__give(verdict,
			     "Look for the lock that %s waits for, and for who holds it: at most "
			     "this %s.",
			     context->waiter, saves);
	free(saves);
}

static void advise__ipc(const struct context *context, struct verdict *verdict)
{
	const struct ns_wait *wait = &context->stall->wait;
	char *saves = advice__saving(context);
	char name[CONTEXT_NAME];

	if (advise_root(context, verdict, saves))
		;
	else if (wait->head.type && report__process(context->report, wait->waker_tgid))
		advice__give(verdict,
			     "Look at what %s does before it writes or signals to %s: at most "
			     "this %s.",
			     context__thread(name, sizeof(name), context->report, wait->waker_tgid,
					     wait->waker_tid),
			     context->waiter, saves);
	else
		advice__give(verdict, "Look at who writes to what %s waits for: at most this %s.",
			     context->waiter, saves);
	free(saves);
}

static void advise__disk(const struct context *context, struct verdict *verdict)
{
	bool is_rings = context->stall->wait.head.type && context->stall->wait.ring;
	char *saves = advice__saving(context);

	if (is_rings)
		advice__give(verdict,
			     "%s submits its block I/O to a ring and then waits for it all the "
			     "same: submit it earlier, or go on with other completions meanwhile: "
			     "at most this %s.",
			     context->waiter, saves);
	advice__give(verdict,
		     "Take block I/O off the way of %s: a thread of its own for it, a cache, "
		     "fewer fsync(), a faster disk: at most this %s.",
		     context->waiter, saves);
	free(saves);
}

static void advise__timer(const struct context *context, struct verdict *verdict)
{
	char *saves = advice__saving(context);

	advice__give(verdict,
		     "If %s need not wait that long: shorten the time that it asks for, or let "
		     "what it waits for wake it: at most this %s.",
		     context->waiter, saves);
	free(saves);
}

static void advise__uring(const struct context *context, struct verdict *verdict)
{
	const struct ns_wait *wait = &context->stall->wait;

	if (wait->head.type)
		advice__give(verdict,
			     "See the operations of its rings one by one while this happens: "
			     "netstall trace --events=uring -p %u",
			     wait->head.tgid);
	if (context->conn)
		advise_at_the_other_end(context, verdict);
}

static void advise__unknown(const struct context *context, struct verdict *verdict)
{
	if (context->stall->held_bytes || !context->conn)
		return; /* nothing that would not be a guess */
	advise_at_the_other_end(context, verdict);
}

/* ---- the table ---- */

typedef void advise_fn(const struct context *context, struct verdict *verdict);

/* Without an entry: what the cause's row says. */
static advise_fn *const advisers[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = advise__unknown,
	[CAUSE_NAGLE_DELACK] = advise__nagle,
	[CAUSE_NAGLE] = advise__nagle,
	[CAUSE_CORK] = advise__cork,
	[CAUSE_NETWORK] = advise__network,
	[CAUSE_RUNQUEUE] = advise__runqueue,
	[CAUSE_CWND] = advise__cwnd,
	[CAUSE_RWND] = advise__rwnd,
	[CAUSE_ZERO_WINDOW] = advise__zero_window,
	[CAUSE_PACING] = advise__pacing,
	[CAUSE_TSQ] = advise__tsq,
	[CAUSE_TSO_DEFER] = advise__tso_defer,
	[CAUSE_AUTOCORK] = advise__autocork,
	[CAUSE_SNDBUF] = advise__sndbuf,
	[CAUSE_RTO] = advise__loss,
	[CAUSE_TLP] = advise__loss,
	[CAUSE_FAST_RETRANSMIT] = advise__loss,
	[CAUSE_SYN_RETRANSMIT] = advise__syn_retransmit,
	[CAUSE_PEER_APP] = advise__peer_app,
	[CAUSE_IDLE] = advise__unknown, /* never of a stall */
	[CAUSE_LOCK] = advise__lock,
	[CAUSE_IPC] = advise__ipc,
	[CAUSE_DISK] = advise__disk,
	[CAUSE_TIMER] = advise__timer,
	[CAUSE_URING] = advise__uring,
	[CAUSE_SELF] = advise__unknown, /* likewise */
};

void advice__write(const struct context *context, struct verdict *verdict)
{
	enum cause cause = context->tally->cause;

	if (advisers[cause])
		advisers[cause](context, verdict);
	else
		advice__give(verdict, "%s", cause__info(cause)->remedy);
}
