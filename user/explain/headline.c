// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/headline.h"

#include "user/analyze/conns.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/explain/limited.h"
#include "user/explain/template.h"

/* ---- the table: the first row that applies ---- */

#define NAGLES  FOR(NAGLE_DELACK) | FOR(NAGLE)
#define READERS FOR(RWND) | FOR(ZERO_WINDOW) | FOR(SNDBUF)

/* clang-format off */
static const struct template headlines[] = {
	{NAGLES, "{?receiver}{other} seems to write in small pieces"},
	{NAGLES, "{?by_ring}{?first_bytes}{?second_bytes}{sender} sends each {message} in {pieces} operations"},
	{NAGLES, "{?first_bytes}{?second_bytes}{sender} writes each {message} in {pieces} pieces"},
	{NAGLES, "{sender} writes in small pieces"},
	{FOR(CORK), "{?msg_more}{sender} writes with MSG_MORE, and TCP waits for more"},
	{FOR(CORK), "{sender} writes while {fd} is corked (TCP_CORK)"},
	{FOR(CWND), "the congestion window from {sender} to {other} is full"},
	{READERS, "{?reader_computes}{reader} reads more slowly than {sender} writes: it computes"},
	{FOR(RWND), "the receive window of {other} is full[{because}]"},
	{FOR(ZERO_WINDOW), "{other} does not read, and its window is closed[{because}]"},
	{FOR(PACING), "TCP paces what {sender} writes"},
	{FOR(TSQ), "the network device is behind with what {sender} wrote before"},
	{FOR(TSO_DEFER), "TCP waits to fill a larger burst of what {sender} writes"},
	{FOR(AUTOCORK), "TCP waits to join what {sender} writes with more (automatic corking)"},
	{FOR(SNDBUF), "{waiter} waits for room in the send buffer of {fd}[{because}]"},
	{FOR(RTO), "{other} does not acknowledge what {sender} sent, until a timer sends it again"},
	{FOR(TLP), "{other} does not acknowledge what {sender} sent, until a tail loss probe goes out"},
	{FOR(FAST_RETRANSMIT), "{other} misses segments of {sender}, which are sent again"},
	{FOR(SYN_RETRANSMIT), "{?is_queue_full}the listen queue of {other} is full, and the connection request of {sender} is dropped"},
	{FOR(SYN_RETRANSMIT), "{other} does not answer the connection request of {sender}"},
	{FOR(NETWORK), "the bytes between {waiter} and {other} are under way"},
	{FOR(PEER_APP), "{?acked}{pusher} sends that much later[{because}]"},
	{FOR(PEER_APP), "{?is_depending}an answer depends on what [{waker}|{other}] sends[{because}]"},
	{FOR(PEER_APP), "{?is_unfinished}{other} has not answered yet[{because}]"},
	{FOR(PEER_APP), "{other} takes that long to answer[{because}]"},
	{FOR(UDP), "{?is_unanswered}{other} does not answer the datagrams of {waiter}"},
	{FOR(UDP), "{answerer} takes that long to answer a datagram[{because}]"},
	{FOR(DNS), "{?is_unanswered}the name server {other} does not answer {waiter}"},
	{FOR(DNS), "{waiter} waits for the name service at {answerer}[{because}]"},
	{FOR(ACCEPT_QUEUE), "[{?once}its connection lies|their connections lie] in the listen queue of {acceptor}[{because}]"},
	{FOR(RUNQUEUE), "{?is_most_steal}{queued} is ready to run, and the host of this VM gives its CPU to other guests"},
	{FOR(RUNQUEUE), "{?is_most_irq}{queued} is ready to run, and CPU {ran_cpu} serves interrupts"},
	{FOR(RUNQUEUE), "{?has_ran}{queued} is ready to run, and {runner} has the CPU"},
	{FOR(RUNQUEUE), "{queued} is ready to run and has no CPU"},
	{FOR(THROTTLED), "{throttled} is ready to run, and its CPU quota is used up[: {quota} in each {period}]"},
	{FOR(LOCK), "{?is_interpreter_lock}{waiter} waits for CPython's interpreter lock (the GIL)[{because}]"},
	{FOR(LOCK), "{?is_collecting}{waiter} waits for [{waker}|its virtual machine][{because}]: garbage collection, or the like"},
	{FOR(LOCK), "{waiter} waits[ in {call}] for [{waker}|a lock, or a signal of another thread][{because}]"},
	{FOR(IPC), "{?is_for_a_child}{waiter} waits for a child to end[{because}]"},
	{FOR(IPC), "{?on_unix}{waiter} waits[ in {call}] for [{waker}|another process] through {other}[{because}]"},
	{FOR(IPC), "{waiter} waits[ in {call}] for [{waker}|another process or thread][{because}]"},
	{FOR(DISK), "{waiter} waits[ in {call}] for block I/O"},
	{FOR(STOPPED), "{?by_freezer}{waiter} is frozen, with its cgroup[, until {resumer} lets it go on]"},
	{FOR(STOPPED), "{waiter} is stopped[, until {resumer} lets it go on]"},
	{FOR(MEMORY), "{waiter} waits for memory"},
	{FOR(TIMER), "{?is_pace}[{?is_network_free}nothing held it back on the network; ]{waiter} "
	 "[{?is_signalled}waits[ in {call}] for [{waker}|another thread][{because}]|{?is_time_out}waits[ in {call}] until its own time-out"
	 "|sleeps[ in {call}] by its own timer] between its requests"},
	{FOR(TIMER), "{?is_signalled}{waiter} waits[ in {call}] for [{waker}|another thread][{because}]"},
	{FOR(TIMER), "{?is_time_out}a time-out of {waiter} runs out[ in {call}]"},
	{FOR(TIMER), "{waiter} sleeps[ in {call}]"},
	{FOR(URING), "{waiter} waits for the io_uring operation[ {operation}]"},
	{FOR(SELF), "[{doer}|{waiter}] is busy itself[{because}]"},
	{FOR(UNKNOWN), "{?is_held}TCP holds what {sender} writes, and why was not seen"},
	{FOR(UNKNOWN), "{?is_of_shorts}{waiter} waits again and again, each time shortly, and for what was not seen"},
	{FOR(UNKNOWN), "{waiter} waits[ in {call}], and for what was not seen"},
	/* A cause without a line of its own. */
	{UINT64_MAX, "{waiter} waits[ in {call}][ for {waker}][{because}]"},
};
/* clang-format on */

/* ---- the cost ---- */

#define LITTLE 0.1 /* of the window */
#define MOST   0.5

/* Is it on connections of this kind alone? */
static bool is_all(const struct report_cause *cause, const struct context *context,
		   enum ns_opener opener)
{
	return context->conn->id.opener == opener &&
	       !(opener == NS_OPENER_PEER ? cause->made : cause->served);
}

/* Of the connection that the cause is on; when it is on several, of all the target's: of those that
 * it opened, or has accepted, if the cause is on these alone. */
static struct traffic traffic_of(const struct report *report, const struct report_cause *cause,
				 const struct context *context)
{
	if (!context || !context->conn)
		return (struct traffic){0};
	if (cause->conns > 1) {
		const struct conn_sums sums = conn_sums__of(report);

		if (is_all(cause, context, NS_OPENER_SELF))
			return (struct traffic){.connections = sums.targets - sums.accepted,
						.exchanges = sums.asked};
		if (is_all(cause, context, NS_OPENER_PEER))
			return (struct traffic){.connections = sums.accepted,
						.exchanges = sums.exchanges - sums.asked};
		return sums.traffic;
	}
	return (struct traffic){.connections = 1, .exchanges = context->conn->totals.exchanges};
}

static const char *name_exchanges(const struct report_cause *cause, const struct context *context,
				  bool is_one)
{
	if (is_all(cause, context, NS_OPENER_SELF))
		return is_one ? "request" : "requests";
	if (is_all(cause, context, NS_OPENER_PEER))
		return is_one ? "reply" : "replies";
	return is_one ? "exchange" : "exchanges";
}

/* "40.4 ms", "at most 40.4 ms" */
static void add_time(char **text, const struct report_cause *cause, const struct context *context)
{
	bool is_one = cause->count == 1 && context;
	uint64_t ns = cause->p50_ns ? cause->p50_ns : cause->total_ns / cause->count;

	builder__add(text, "%s%s%s",
		     is_one && !context->stall->exact && !context->stall->open ? "at most " : "",
		     duration_text(ns), is_one && context->stall->open ? " so far" : "");
}

/*
 * "91 of 92 replies wait 43.0 ms each", "1 wait of 80.3 ms", "4 waits of 40.4 ms each", and
 * "9 of 300 exchanges wait 40.4 ms each on 2 of 5 connections": the exchanges are of all five.
 */
static void add_occurrence(char **text, const struct report *report,
			   const struct report_cause *cause, const struct context *context)
{
	const struct traffic traffic = traffic_of(report, cause, context);
	/* Else they were not counted, or not so often. */
	uint64_t times = cause->requests ? cause->requests : cause->count;
	bool by_exchange = traffic.exchanges && traffic.exchanges >= times;
	bool is_one = (by_exchange ? times : cause->count) == 1;

	if (report->lost[NS_LOST_WAITS])
		builder__add(text, "at least ");
	if (by_exchange)
		builder__add(text, "%s of %s %s wait%s ", count_text(times),
			     count_text(traffic.exchanges),
			     name_exchanges(cause, context, traffic.exchanges == 1),
			     is_one ? "s" : "");
	else
		builder__add(text, "%s wait%s of ", count_text(cause->count), is_one ? "" : "s");
	add_time(text, cause, context);
	if (!is_one)
		builder__add(text, "%s",
			     context__each_word(cause->p50_ns, cause->count, cause->total_ns));
	if (!by_exchange && cause->requests)
		builder__add(text, " hold%s up %s requests", is_one ? "s" : "",
			     count_text(cause->requests));
	if (cause->conns < 2)
		return;
	builder__add(text, " on %s", count_text(cause->conns));
	if (by_exchange && traffic.connections > cause->conns)
		builder__add(text, " of %s", count_text(traffic.connections));
	builder__add(text, " connections");
}

/* " (97.0% of 4.05 s)" */
static void add_share(char **text, const struct report *report, const struct report_cause *cause)
{
	uint64_t window = report->end_ts - report->start_ts;

	if (cause->share > 0)
		builder__add(text, " (%s of %s)", percent_text(cause->share),
			     duration_text(window));
}

/*
 * What leads may be next to nothing of the whole, as it is in requests or can be changed: who mends
 * it gains so little. NULL: that is not so, or nothing has most of the time.
 */
static const struct report_cause *most_beside(const struct report *report,
					      const struct report_cause *leading)
{
	for (size_t i = 0; i < report->cause_count; i++) {
		if (leading->share < LITTLE && report->causes[i].share >= MOST)
			return &report->causes[i];
	}
	return NULL;
}

static void add_most_beside(char **text, const struct report_cause *most)
{
	builder__add(text, "; most of the time, %s, ", percent_text(most->share));
	if (most->is_pace)
		builder__add(text, "it sleeps by its own timer between its requests");
	else
		builder__add(text, "is lost to %s", cause__info(most->cause)->id);
}

static void add_limited_beside(char **text, const struct report *report)
{
	const struct report_conn *limited = limited__longest(report);

	if (!limited)
		return;
	builder__add(text, "; ");
	limited__add_title(text, report, limited);
}

void headline__add_why(char **text, const struct context *context)
{
	for (size_t i = 0; i < COUNT_OF(headlines); i++) {
		if (template__add_row(text, &headlines[i], context))
			break;
	}
}

/* "62 times, 20.4 ms each" */
static void add_end_times(char **text, const struct cause_end *at)
{
	builder__add(text, "%s, %s%s", counted_text(at->count, "time"), duration_text(at->p50_ns),
		     at->count == 1 ? "" : context__each_word(at->p50_ns, at->count, at->total_ns));
}

void headline__add_end(char **text, const struct context *context, const struct cause_end *at)
{
	const struct ns_conn *conn = &context->conn->id;
	char address[TEXT_ADDRESS];

	if (conn->opener == NS_OPENER_PEER)
		builder__add(text, "at port %u", conn->lport);
	else if (cause__info(context->tally->cause)->group == CAUSE_GROUP_WRITES)
		builder__add(text, "%s to %s",
			     thread_text(context->report, conn->head.tgid, conn->head.tgid),
			     text__address(address, sizeof(address), conn->family, conn->raddr,
					   conn->rport));
	else if (context->peer)
		builder__add(text, "with %s (%s)", context->other,
			     text__address(address, sizeof(address), conn->family, conn->raddr,
					   conn->rport));
	else
		builder__add(text, "with %s", context->other);
	builder__add(text, ", ");
	add_end_times(text, at);
}

void headline__add_ends(char **text, const struct report *report, const struct report_cause *cause)
{
	struct context context;

	for (size_t i = 1; i < cause->end_count; i++) {
		if (!context__make(&context, report, cause->ends[i].main))
			continue;
		builder__add(text, i == 1 ? "; likewise " : ", and ");
		headline__add_end(text, &context, &cause->ends[i]);
	}
}

char *headline__write(const struct report *report, const struct report_cause *cause,
		      const struct context *context)
{
	const struct report_cause *most = most_beside(report, cause);
	char *text = NULL;

	builder__add(&text, "%s: ", cause__info(cause->cause)->id);
	add_occurrence(&text, report, cause, context);
	add_share(&text, report, cause);
	if (!context)
		return text;
	builder__add(&text, ": ");
	/* The figures before are of all ends, and what follows is of the first. */
	if (cause->end_count > 1) {
		add_end_times(&text, &cause->ends[0]);
		builder__add(&text, ", ");
	}
	headline__add_why(&text, context);
	headline__add_ends(&text, report, cause);
	template__add(
		&text,
		"[; perhaps nothing was due: the {acked} of {acker} may acknowledge what came before]",
		context);
	if (most)
		add_most_beside(&text, most);
	else if (cause->share < LITTLE)
		add_limited_beside(&text, report);
	return text;
}
