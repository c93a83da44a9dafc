// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/advice.h"

#include "user/base/xalloc.h"
#include "user/explain/template.h"

/* ---- conditions ---- */

static bool is_ring_sender(const struct context *context)
{
	return context->by_ring && !context__is_receiver(context);
}

static bool is_caller(const struct context *context)
{
	return !context->by_ring && !context__is_receiver(context);
}

static bool has_two(const struct context *context)
{
	return context__pieces(context) == 2;
}

static bool sends_two(const struct context *context)
{
	return is_ring_sender(context) && has_two(context);
}

static bool sends_more(const struct context *context)
{
	return is_ring_sender(context) && !has_two(context);
}

static bool writes_two(const struct context *context)
{
	return is_caller(context) && has_two(context);
}

static bool writes_more(const struct context *context)
{
	return is_caller(context) && !has_two(context);
}

static bool is_msg_more_call(const struct context *context)
{
	return context__is_msg_more(context) && !context->by_ring;
}

static bool is_msg_more_ring(const struct context *context)
{
	return context__is_msg_more(context) && context->by_ring;
}

static bool is_corked(const struct context *context)
{
	return !context__is_msg_more(context);
}

static bool is_by_ring(const struct context *context)
{
	return context->by_ring;
}

static bool is_by_call(const struct context *context)
{
	return !context->by_ring;
}

static bool lost_segments(const struct context *context)
{
	return context->conn && context->conn->totals.retrans;
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

static bool reader_was_not_away(const struct context *context)
{
	return !reader_was_away(context);
}

static bool ends_in(const struct context *context, enum cause cause)
{
	return context__has_root(context) && context->root->cause == cause;
}

static bool root_sleeps(const struct context *context)
{
	return ends_in(context, CAUSE_TIMER);
}

static bool root_is_locked(const struct context *context)
{
	return ends_in(context, CAUSE_LOCK);
}

static bool root_does_io(const struct context *context)
{
	return ends_in(context, CAUSE_DISK);
}

static bool root_has_no_cpu(const struct context *context)
{
	return ends_in(context, CAUSE_RUNQUEUE);
}

/* The chain shows nothing to act on. */
static bool is_open_ended(const struct context *context)
{
	return !root_sleeps(context) && !root_is_locked(context) && !root_does_io(context) &&
	       !root_has_no_cpu(context);
}

static bool look_at_waker(const struct context *context)
{
	return is_open_ended(context) && context__has_waker(context);
}

static bool look_for_waker(const struct context *context)
{
	return is_open_ended(context) && !context__has_waker(context);
}

/* Nothing else can be said that would not be a guess. */
static bool look_at_the_other_end(const struct context *context)
{
	switch (context->tally->cause) {
	case CAUSE_PEER_APP:
		return is_open_ended(context);
	case CAUSE_URING:
		return context->conn;
	default:
		return context->conn && !context->stall->held_bytes;
	}
}

static bool is_other_end_here(const struct context *context)
{
	return context->peer && context->peer->id.head.tgid;
}

static bool look_here(const struct context *context)
{
	return look_at_the_other_end(context) && is_other_end_here(context);
}

static bool look_there(const struct context *context)
{
	return look_at_the_other_end(context) && !is_other_end_here(context);
}

static bool has_wait(const struct context *context)
{
	return context->stall->wait.head.type;
}

static bool waits_on_ring(const struct context *context)
{
	return has_wait(context) && context->stall->wait.ring;
}

/*
 * ---- the table: of each cause what is to be recommended first comes first ----
 *
 * For a cause without a row it is what the row of the cause says.
 */

#define NAGLES FOR(NAGLE_DELACK) | FOR(NAGLE)
#define LOSSES FOR(RTO) | FOR(TLP) | FOR(FAST_RETRANSMIT)
#define ROOTED FOR(PEER_APP) | FOR(LOCK) | FOR(IPC)

/* clang-format off */
static const struct template advice[] = {
	{NAGLES, context__is_receiver,
	 "In the program at {other}, write all pieces of a message at once (one buffer, writev(), or MSG_MORE on all but "
	 "the last): {saves}."},
	{NAGLES, context__is_receiver,
	 "Or set TCP_NODELAY there: {saves}, with a segment for each piece."},
	{NAGLES, sends_two,
	 "In {program}, submit both pieces as one operation (one buffer, or one IORING_OP_SENDMSG with an iovec for "
	 "each): {saves}, and one segment fewer."},
	{NAGLES, sends_two,
	 "Or set MSG_MORE in sqe->msg_flags of the first SEND, and link them (IOSQE_IO_LINK) so that they stay in order: "
	 "the same saving."},
	{NAGLES, sends_more,
	 "In {program}, submit {pieces} pieces as one operation (one buffer, or one IORING_OP_SENDMSG with an iovec for "
	 "each): {saves}, and one segment fewer."},
	{NAGLES, sends_more,
	 "Or set MSG_MORE in sqe->msg_flags of all SENDs but the last, and link them (IOSQE_IO_LINK) so that they stay "
	 "in order: the same saving."},
	{NAGLES, writes_two,
	 "In {program}, write both pieces at once (one buffer, writev(), or MSG_MORE on the first): {saves}, and one "
	 "segment fewer."},
	{NAGLES, writes_more,
	 "In {program}, write all {pieces} pieces at once (one buffer, writev(), or MSG_MORE on all but the last): "
	 "{saves}, and one segment fewer."},
	/* With TCP_NODELAY each write is a segment; held ones left together in one. */
	{NAGLES, writes_two,
	 "Set TCP_NODELAY on {fd} in {sender}: {saves}, with as many segments as now{segments_now}."},
	{NAGLES, sends_two,
	 "Set TCP_NODELAY on {fd} in {sender} (setsockopt(), once, no ring needed): {saves}, with as many segments as "
	 "now{segments_now}."},
	{NAGLES, writes_more,
	 "Set TCP_NODELAY on {fd} in {sender}: {saves}, at the price of up to {more_segments} for {a_message} than "
	 "now{segments_now}."},
	{NAGLES, sends_more,
	 "Set TCP_NODELAY on {fd} in {sender} (setsockopt(), once, no ring needed): {saves}, at the price of up to "
	 "{more_segments} for {a_message} than now{segments_now}."},
	{NAGLES, is_caller,
	 "Where the pieces come from code that cannot be joined: set TCP_CORK on {fd} before the first and clear it after "
	 "the last: the same saving, one segment fewer, two system calls more."},

	{FOR(CORK), is_msg_more_ring,
	 "In {program}, leave MSG_MORE out of sqe->msg_flags of the last SEND of {a_message} on {fd}: {saves}, with as "
	 "many segments as now."},
	{FOR(CORK), is_msg_more_call,
	 "In {program}, leave MSG_MORE out of the last write of {a_message} on {fd}: {saves}, with as many segments as "
	 "now."},
	{FOR(CORK), is_corked,
	 "In {program}, clear TCP_CORK on {fd} right after the last write of {a_message}: {saves}, with as many segments "
	 "as now."},
	{FOR(CORK), is_by_call,
	 "Write the whole {message} with one writev() and hold nothing back: the same saving, with as many segments as "
	 "now."},
	{FOR(CORK), is_by_ring,
	 "Write the whole {message} with one IORING_OP_SENDMSG and hold nothing back: the same saving, with as many "
	 "segments as now."},

	{FOR(CWND), lost_segments,
	 "Find the loss on the way to {other} first: it is what keeps the window small ({saves} at most)."},
	{FOR(CWND), NULL,
	 "Keep one connection to {other_program} open and in use rather than new ones: its window has grown already. A "
	 "pause makes it small again unless net.ipv4.tcp_slow_start_after_idle is 0. At most this {saves}."},
	{FOR(CWND), NULL,
	 "Send less, or let the route begin with a larger window (ip route change ... initcwnd N), if the path can bear "
	 "that."},

	{FOR(RWND), reader_was_not_away,
	 "Give the receiver ({other}) a larger window: set no SO_RCVBUF there, so that the kernel adapts it, or a larger "
	 "one; or raise the third number of net.ipv4.tcp_rmem: at most this {saves}."},
	{FOR(RWND), reader_was_not_away,
	 "If the program there reads too slowly, no buffer helps for long: see with netstall at that end what it waits "
	 "for."},
	{FOR(RWND), reader_was_away,
	 "Let {other} read sooner: in a thread of its own, or before it does other work: at most this {saves}."},
	{FOR(ZERO_WINDOW), NULL,
	 "Let {other} read sooner: in a thread of its own, or before it does other work: at most this {saves}."},
	{FOR(ZERO_WINDOW), reader_was_not_away,
	 "See with netstall at that end what {other} does instead of reading."},

	{FOR(PACING), NULL,
	 "In {program}, raise or drop SO_MAX_PACING_RATE on {fd}, if it is set there: {saves}."},
	{FOR(PACING), NULL,
	 "If the congestion control paces by itself (bbr does), the rate is what it measured of the path: ss -ti shows it "
	 "as pacing_rate."},
	{FOR(TSQ), NULL,
	 "Look why the device is behind: its queue (tc -s qdisc), a rate limit there, a virtual device whose host is "
	 "busy: at most this {saves}."},
	{FOR(TSO_DEFER), NULL,
	 "Write the end of {a_message} together with what goes before it, so that TCP sees that nothing follows: at most "
	 "this {saves}."},
	{FOR(AUTOCORK), NULL,
	 "In {program}, write each {message} at once (one buffer, or writev()): {saves}."},
	{FOR(AUTOCORK), NULL,
	 "Or turn automatic corking off for the whole machine (net.ipv4.tcp_autocorking=0): the same saving, more "
	 "segments."},
	{FOR(SNDBUF), NULL,
	 "In {program}, set no SO_SNDBUF on {fd}, so that the kernel adapts it, or a larger one; or raise the third "
	 "number of net.ipv4.tcp_wmem. That helps as long as {other} reads as fast as is written: at most this {saves}."},
	{FOR(SNDBUF), NULL,
	 "Write without blocking (O_NONBLOCK and poll), so that a slow receiver does not stop this thread: the same "
	 "saving for what else it has to do."},

	{LOSSES, NULL,
	 "Find where segments between here and {other} are dropped: counters of the devices (ip -s link, ethtool -S), of "
	 "queues (tc -s qdisc) and of the kernel (nstat) at both ends, firewalls on the way: without the loss this "
	 "{saves}."},
	{FOR(RTO), NULL,
	 "If the round trip is far below 200 ms and loss cannot be avoided, a shorter least time-out on the route (ip "
	 "route change ... rto_min 20ms) shortens each such wait. It does not mend the loss."},
	{FOR(SYN_RETRANSMIT), NULL,
	 "At {other}, look whether the listen queue overflows (nstat -az TcpExtListenDrops TcpExtListenOverflows; ss -ltn "
	 "shows queue and limit): accept() sooner, or a larger backlog in listen() and net.core.somaxconn: this {saves}."},
	{FOR(SYN_RETRANSMIT), NULL,
	 "If these counters stand still, look for a firewall or for loss on the way."},
	{FOR(SYN_RETRANSMIT), NULL,
	 "Keep connections open and use them again: each new one can meet this."},

	/* What a program does with its own time is not for netstall to mend; it names the thread and the call. */
	{ROOTED, root_sleeps,
	 "In {root}, do not sleep{root_call} {while_what}; wait for the event itself: at most this {saves}."},
	{ROOTED, root_is_locked,
	 "Shorten what is done under the lock that {root} waits for, or take it for less: at most this {saves}."},
	{ROOTED, root_does_io,
	 "Take the block I/O of {root}{root_call} out of what others wait for (cache, another thread, a faster disk): at "
	 "most this {saves}."},
	{ROOTED, root_has_no_cpu,
	 "Give {root} a CPU sooner: see the quota of its cgroup (cpu.max, cpu.stat), priorities, and the load of its "
	 "CPUs: at most this {saves}."},
	{FOR(URING), has_wait,
	 "See the operations of its rings one by one while this happens: netstall trace --events=uring -p {wait_pid}"},
	{FOR(PEER_APP) | FOR(URING) | FOR(UNKNOWN), look_here,
	 "Trace the other end while this happens: netstall trace -p {peer_pid}"},
	{FOR(PEER_APP) | FOR(URING) | FOR(UNKNOWN), look_there,
	 "Run netstall at the other end ({other}) while this happens."},
	{FOR(PEER_APP), NULL,
	 "If {other_program} cannot answer sooner: send further requests meanwhile (pipelining, or more connections) "
	 "rather than wait for each in turn."},
	{FOR(LOCK), look_at_waker,
	 "Look at what {waker} does before it wakes {waiter}: a lock that is held for too long, or work that it waits to "
	 "be handed: at most this {saves}."},
	{FOR(LOCK), look_for_waker,
	 "Look for the lock that {waiter} waits for, and for who holds it: at most this {saves}."},
	{FOR(IPC), look_at_waker,
	 "Look at what {waker} does before it writes or signals to {waiter}: at most this {saves}."},
	{FOR(IPC), look_for_waker,
	 "Look at who writes to what {waiter} waits for: at most this {saves}."},
	{FOR(NETWORK), NULL,
	 "Fewer round trips: ask for more at once, send requests without waiting for each answer, keep connections open. "
	 "Nothing in this host makes the way to {other} shorter."},
	{FOR(RUNQUEUE), NULL,
	 "Look for a shortage of CPU: a quota of its cgroup (cpu.max; nr_throttled in cpu.stat), more runnable threads "
	 "than CPUs (vmstat, column r), an affinity that puts several on one CPU: at most this {saves}."},
	{FOR(RUNQUEUE), NULL,
	 "If {program} matters more than what else runs here: a higher weight (cpu.weight, nice), or CPUs of its own."},
	{FOR(DISK), waits_on_ring,
	 "{waiter} submits its block I/O to a ring and then waits for it all the same: submit it earlier, or go on with "
	 "other completions meanwhile: at most this {saves}."},
	{FOR(DISK), NULL,
	 "Take block I/O off the way of {waiter}: a thread of its own for it, a cache, fewer fsync(), a faster disk: at "
	 "most this {saves}."},
	{FOR(TIMER), NULL,
	 "If {waiter} need not wait that long: shorten the time that it asks for, or let what it waits for wake it: at "
	 "most this {saves}."},
};
/* clang-format on */

void advice__write(const struct context *context, struct verdict *verdict)
{
	enum cause cause = context->tally->cause;
	bool is_listed = false;

	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		is_listed |= advice[i].causes >> cause & 1;
		if (template__applies(&advice[i], context) &&
		    verdict->advice_count < VERDICT_ADVICE)
			template__add(&verdict->advice[verdict->advice_count++], &advice[i],
				      context);
	}
	if (!is_listed && !cause__info(cause)->never_of_stall)
		verdict->advice[verdict->advice_count++] = xstrdup(cause__info(cause)->remedy);
}
