// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/headline.h"

#include "user/analyze/conns.h"
#include "user/base/text.h"
#include "user/explain/template.h"

/* ---- conditions ---- */

static bool has_pieces(const struct context *context)
{
	return context->tally->first_bytes.most && context->tally->second_bytes.most;
}

static bool has_pieces_by_ring(const struct context *context)
{
	return has_pieces(context) && context->by_ring;
}

static bool is_held(const struct context *context)
{
	return context->stall->held_bytes;
}

/* ---- the table: the first row that applies ---- */

#define NAGLES FOR(NAGLE_DELACK) | FOR(NAGLE)

/* clang-format off */
static const struct template headlines[] = {
	{NAGLES, context__is_receiver, "{other} seems to write in small pieces"},
	{NAGLES, has_pieces_by_ring, "{sender} sends each {message} in {pieces} operations"},
	{NAGLES, has_pieces, "{sender} writes each {message} in {pieces} pieces"},
	{NAGLES, NULL, "{sender} writes in small pieces"},
	{FOR(CORK), context__is_msg_more, "{sender} writes with MSG_MORE, and TCP waits for more"},
	{FOR(CORK), NULL, "{sender} writes while {fd} is corked (TCP_CORK)"},
	{FOR(CWND), NULL, "the congestion window from {sender} to {other} is full"},
	{FOR(RWND), NULL, "the receive window of {other} is full{because}"},
	{FOR(ZERO_WINDOW), NULL, "{other} does not read, and its window is closed{because}"},
	{FOR(PACING), NULL, "TCP paces what {sender} writes"},
	{FOR(TSQ), NULL, "the network device is behind with what {sender} wrote before"},
	{FOR(TSO_DEFER), NULL, "TCP waits to fill a larger burst of what {sender} writes"},
	{FOR(AUTOCORK), NULL, "TCP waits to join what {sender} writes with more (automatic corking)"},
	{FOR(SNDBUF), NULL, "{waiter} waits for room in the send buffer of {fd}{because}"},
	{FOR(RTO), NULL, "{other} does not acknowledge what {sender} sent, until a timer sends it again"},
	{FOR(TLP), NULL, "{other} does not acknowledge what {sender} sent, until a tail loss probe goes out"},
	{FOR(FAST_RETRANSMIT), NULL, "{other} misses segments of {sender}, which are sent again"},
	{FOR(SYN_RETRANSMIT), NULL, "{other} does not answer the connection request of {sender}"},
	{FOR(NETWORK), NULL, "the bytes between {waiter} and {other} are under way"},
	{FOR(PEER_APP), NULL, "{other} takes that long to answer{because}"},
	{FOR(RUNQUEUE), NULL, "{queued} is ready to run and has no CPU"},
	{FOR(LOCK), context__has_waker, "{waiter} waits{call} for {waker}{because}"},
	{FOR(LOCK), NULL, "{waiter} waits{call} for a lock, or a signal of another thread{because}"},
	{FOR(IPC), context__is_for_a_child, "{waiter} waits for a child to end{because}"},
	{FOR(IPC), context__has_waker, "{waiter} waits{call} for {waker}{because}"},
	{FOR(IPC), NULL, "{waiter} waits{call} for another process or thread{because}"},
	{FOR(DISK), NULL, "{waiter} waits{call} for block I/O"},
	{FOR(TIMER), context__is_time_out, "a time-out of {waiter} runs out{call}"},
	{FOR(TIMER), NULL, "{waiter} sleeps{call}"},
	{FOR(URING), NULL, "{waiter} waits for the io_uring operation{operation}"},
	{FOR(UNKNOWN), is_held, "TCP holds what {sender} writes, and why was not seen"},
	{FOR(UNKNOWN), NULL, "{waiter} waits{call}, and for what was not seen"},
	/* A cause without a line of its own. */
	{UINT64_MAX, context__has_waker, "{waiter} waits{call} for {waker}{because}"},
	{UINT64_MAX, NULL, "{waiter} waits{call}{because}"},
};
/* clang-format on */

/* ---- the cost ---- */

/* Of the connection, with several of all the target's; 0: not counted, or not so often. */
static uint64_t exchanges_of(const struct report *report, const struct report_cause *cause,
			     const struct context *context)
{
	uint64_t exchanges = 0;

	if (!context || !context->conn)
		return 0;
	if (cause->conns > 1)
		exchanges = conn_sums__of(report).traffic.exchanges;
	else
		exchanges = context->conn->totals.exchanges;
	return exchanges >= cause->count ? exchanges : 0;
}

static const char *name_exchanges(const struct report_cause *cause, const struct context *context,
				  bool is_one)
{
	if (cause->conns <= 1 && context->conn->id.opener == NS_OPENER_SELF)
		return is_one ? "request" : "requests";
	if (cause->conns <= 1 && context->conn->id.opener == NS_OPENER_PEER)
		return is_one ? "reply" : "replies";
	return is_one ? "exchange" : "exchanges";
}

/* "40.4 ms", "at most 40.4 ms" */
static void add_time(char **text, const struct report_cause *cause, const struct context *context)
{
	bool is_one = cause->count == 1 && context;
	uint64_t ns = cause->p50_ns ? cause->p50_ns : cause->total_ns / cause->count;
	char each[TEXT_DURATION];

	builder__add(text, "%s%s%s",
		     is_one && !context->stall->exact && !context->stall->open ? "at most " : "",
		     text__duration(each, sizeof(each), ns),
		     is_one && context->stall->open ? " so far" : "");
}

/* "91 of 92 replies wait 43.0 ms each", "1 wait of 80.3 ms", "4 waits of 40.4 ms each" */
static void add_occurrence(char **text, const struct report *report,
			   const struct report_cause *cause, const struct context *context)
{
	uint64_t exchanges = exchanges_of(report, cause, context);
	char count[TEXT_COUNT], all[TEXT_COUNT];
	bool is_one = cause->count == 1;

	text__count(count, sizeof(count), cause->count);
	if (exchanges)
		builder__add(text, "%s of %s %s wait%s ", count,
			     text__count(all, sizeof(all), exchanges),
			     name_exchanges(cause, context, exchanges == 1), is_one ? "s" : "");
	else
		builder__add(text, "%s wait%s of ", count, is_one ? "" : "s");
	add_time(text, cause, context);
	if (!is_one)
		builder__add(text, "%s", cause__each_word(cause));
	if (cause->conns > 1)
		builder__add(text, " on %s connections",
			     text__count(count, sizeof(count), cause->conns));
}

/* " (97.0% of 4.05 s)"; of stalls that overlap, and are more than all of it, the sum */
static void add_share(char **text, const struct report *report, const struct report_cause *cause)
{
	char share[TEXT_PERCENT], window[TEXT_DURATION], total[TEXT_DURATION];

	text__duration(window, sizeof(window), report->end_ts - report->start_ts);
	if (cause->share > 1)
		builder__add(text, " (%s in all, in %s)",
			     text__duration(total, sizeof(total), cause->total_ns), window);
	else if (cause->share > 0)
		builder__add(text, " (%s of %s)", text__percent(share, sizeof(share), cause->share),
			     window);
}

static const struct template *find_template(const struct context *context)
{
	for (size_t i = 0; i < sizeof(headlines) / sizeof(headlines[0]); i++) {
		if (template__applies(&headlines[i], context))
			return &headlines[i];
	}
	return NULL;
}

char *headline__write(const struct report *report, const struct report_cause *cause,
		      const struct context *context)
{
	const struct template *template = context ? find_template(context) : NULL;
	char *text = NULL;

	builder__add(&text, "%s: ", cause__info(cause->cause)->id);
	add_occurrence(&text, report, cause, context);
	add_share(&text, report, cause);
	if (template) {
		builder__add(&text, ": ");
		template__add(&text, template, context);
	}
	return text;
}
