// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/verdict.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/analyze/conns.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/advice.h"
#include "user/explain/context.h"
#include "user/explain/coverage.h"
#include "user/explain/explanation.h"
#include "user/explain/headline.h"
#include "user/explain/limited.h"
#include "user/explain/template.h"
#include "user/record/losses.h"

#define OTHERS 3 /* causes that are named behind the one that leads */

/* ---- nothing was found: how much that says ---- */

struct watched {
	uint64_t conns;
	uint64_t writes;
	uint64_t exchanges; /* 0: not counted */
	uint64_t operations;
	uint64_t threads;
};

static struct watched count_watched(const struct report *report)
{
	const struct conn_sums sums = conn_sums__of(report);
	/* One of which both ends are targets is one. */
	struct watched watched = {.conns = sums.traffic.connections + sums.traffic.attempts,
				  .writes = sums.writes,
				  .exchanges = sums.traffic.exchanges};

	for (size_t i = 0; i < report->uring_count; i++)
		watched.operations += report->uring[i].completed;
	for (size_t i = 0; i < report->thread_count; i++)
		watched.threads += !!(report->threads[i].role & NS_ROLE_TARGET);
	return watched;
}

static void add_watched(char **text, const struct report *report, const struct watched *watched)
{
	builder__add(text, "Watched %s: %s, ", duration_text(report->end_ts - report->start_ts),
		     counted_text(watched->conns, "connection"));
	builder__add(text, "%s, ",
		     watched->exchanges ? counted_text(watched->exchanges, "exchange")
					: counted_text(watched->writes, "write"));
	if (watched->operations)
		builder__add(text, "%s, ", counted_text(watched->operations, "io_uring operation"));
	builder__add(text, "%s", counted_text(watched->threads, "thread"));
	coverage__add_lost(text, report);
}

/* " It waited 4.20 s (42.0%) on sockets that netstall does not follow (ICMP)." */
static void add_unfollowed(char **text, const struct report *report)
{
	if (coverage__is_unfollowed(report))
		builder__add(text,
			     " It waited %s (%s of the time watched) on sockets that netstall "
			     "does not follow (%s), and what came of that was not seen.",
			     duration_text(report->unfollowed_ns),
			     part_text(report->unfollowed_ns, report->end_ts - report->start_ts),
			     report->unfollowed_kind);
}

/*
 * " git/1568 waited 5.01 s in read on fd 3 for what 127.0.0.1:9419 sends next, and that it had
 * asked for it was not seen: if it had, before this run began, look there: netstall trace -p 1567."
 */
static void add_not_asked(char **text, const struct report *report)
{
	const struct ns_wait *wait = &report->not_asked;
	const struct report_conn *conn, *peer;
	uint64_t length = wait->head.ts - wait->off_ts;

	if (!wait->head.type || 2 * length < report->end_ts - report->start_ts)
		return;
	conn = report__conn(report, wait->head.conn);
	peer = report__peer(report, conn);
	if (!conn)
		return;
	builder__add(text,
		     " %s waited %s in %s for what %s sends next; that it had asked for it was not "
		     "seen. If it had, before this run began, ",
		     thread_text(report, wait->head.tgid, wait->head.tid), duration_text(length),
		     call_text(report, wait),
		     address_text(conn->id.family, conn->id.raddr, conn->id.rport));
	if (peer && target_text(report, peer->id.head.tgid))
		builder__add(text, "that end knows why: netstall trace %s.",
			     target_text(report, peer->id.head.tgid));
	else
		builder__add(text, "that end knows why.");
}

static void add_why_no_evidence(char **text, const struct report *report,
				const struct watched *watched)
{
	if (coverage__is_unfollowed(report))
		; /* said behind */
	else if (!watched->conns && report->children)
		builder__add(text,
			     "This program had no TCP connection, and %s of its children had or "
			     "accept some: --children traces these too. ",
			     count_text(report->children));
	else if (!watched->conns && report->session.machine)
		builder__add(text, "No TCP connection was seen, so nothing can be said of any. ");
	else if (!watched->conns)
		builder__add(text,
			     "No TCP connection of the target was seen, so nothing can be "
			     "said of it. ");
	else if (losses__hiding(report->lost))
		builder__add(text, "Events were lost, and a stall may have been among them. ");
	else
		builder__add(text,
			     "Not everything was in sight, and a stall may have been where it was "
			     "not. ");
}

static void add_longest(char **text, const struct report *report)
{
	if (report->longest_wait_ns && report->longest_wait_cause != CAUSE_UNKNOWN)
		builder__add(text, "; longest wait for a reply: %s (%s).",
			     duration_text(report->longest_wait_ns),
			     cause__info(report->longest_wait_cause)->id);
	else if (report->longest_wait_ns)
		builder__add(text, "; longest wait for a reply: %s.",
			     duration_text(report->longest_wait_ns));
	else
		builder__add(text, "; no wait for a reply reached %s.",
			     nominal_text(report__threshold(report)));
}

static const char *failure_text(const struct report_failed *failed)
{
	switch (failed->error) {
	case 0:
		return "given up by the program before there was an answer";
	case ECONNREFUSED:
		return "refused: nobody listens there";
	case ETIMEDOUT:
		return "not answered: nobody is there, or what is sent is dropped on the way";
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "not possible: there is no way there";
	case ECONNRESET:
		return "reset";
	default:
		return "not possible";
	}
}

/* "12 connects to 127.0.0.1:5432 were refused: nobody listens there (ECONNREFUSED, 0.1 ms each)" */
static void add_failure(char **text, const struct report_failed *failed)
{
	builder__add(text, "%s to %s %s %s (", counted_text(failed->count, "connect"),
		     address_text(failed->family, failed->addr, failed->port),
		     failed->count == 1 ? "was" : "were", failure_text(failed));
	if (failed->error)
		builder__add(text, "%s, ", error_text(failed->error));
	builder__add(text, "%s%s)", duration_text(failed->total_ns / failed->count),
		     failed->count == 1 ? "" : " each");
}

/* Those that are not in the title. */
static void add_failures(char **text, const struct report *report, size_t from)
{
	for (size_t i = from; i < report->failed_count && i < from + OTHERS; i++) {
		builder__add(text, " ");
		add_failure(text, &report->failed[i]);
		builder__add(text, ".");
	}
}

/* "6 requests got no answer until the program closed their connection (1.50 s)" */
static void add_unanswered(char **text, const struct report *report)
{
	builder__add(text, "%s got no answer until the program closed %s connection (%s%s)",
		     counted_text(report->unanswered_count, "request"),
		     report->unanswered_count == 1 ? "its" : "their",
		     duration_text(report->unanswered_ns),
		     report->unanswered_count == 1 ? "" : " at the median");
}

/* " (in the window: peer-app 99.5%, network 0.5%)" */
static void add_made_of(char **text, const struct report_open *open)
{
	const struct request_view *view = &open->view;
	uint64_t ns[CAUSE_COUNT] = {0};

	for (size_t i = 0; i < view->slice_count; i++)
		ns[view->slices[i].cause] += view->slices[i].ns;
	builder__add(text, " (%s", open->is_older ? "in the window: " : "");
	for (size_t n = 0; n < OTHERS; n++) {
		size_t most = 0;

		for (size_t i = 1; i < CAUSE_COUNT; i++)
			most = ns[i] > ns[most] ? i : most;
		if (!ns[most])
			break;
		builder__add(text, "%s%s %s", n ? ", " : "", cause__info((enum cause)most)->id,
			     part_text(ns[most], view->total_ns));
		ns[most] = 0;
	}
	builder__add(text, ")");
}

/* "2 requests have no answer yet, the oldest, to 10.0.0.2:80, after at least 18.7 s (...)" */
static void add_open(char **text, const struct report *report)
{
	const struct report_open *oldest = &report->open[0];
	bool is_one = report->open_count == 1;

	for (size_t i = 1; i < report->open_count && i < REPORT_OPEN; i++)
		oldest = report->open[i].age_ns > oldest->age_ns ? &report->open[i] : oldest;
	builder__add(text, "%s", counted_text(report->open_count, "request"));
	if (!is_one)
		builder__add(text, " have no answer yet, the oldest,");
	if (oldest->end.family)
		builder__add(text, " to %s",
			     address_text(oldest->end.family, oldest->end.addr, oldest->end.port));
	else if (oldest->end.port)
		builder__add(text, " at :%u", oldest->end.port);
	builder__add(text, "%s after %s%s", is_one ? " has no answer yet," : ",",
		     oldest->is_older ? "at least " : "", duration_text(oldest->age_ns));
	add_made_of(text, oldest);
}

static void add_those_open(char **text, const struct report *report)
{
	if (!report->open_count)
		return;
	builder__add(text, " ");
	add_open(text, report);
	builder__add(text, ".");
}

/*
 * "3 connection attempts found the listen queue of :7000 full and were dropped (backlog 4,
 * net.core.somaxconn 4096): accept sooner, or set a larger backlog in listen()"
 */
static void add_full_queue(char **text, const struct report_listener *listener)
{
	builder__add(text, "%s found the listen queue of :%u full and %s dropped (backlog %u, ",
		     counted_text(listener->drops, "connection attempt"), listener->port,
		     listener->drops == 1 ? "was" : "were", listener->backlog);
	builder__add(text,
		     "net.core.somaxconn %u): accept sooner, or set a larger backlog in listen()%s",
		     listener->somaxconn,
		     listener->backlog >= listener->somaxconn ? " and a larger somaxconn" : "");
}

/* Those that are not in the title. */
static void add_full_queues(char **text, const struct report *report, size_t from)
{
	for (size_t i = from; i < report->listener_count && i < from + OTHERS; i++) {
		builder__add(text, " ");
		add_full_queue(text, &report->listeners[i]);
		builder__add(text, ".");
	}
}

static void add_those_unanswered(char **text, const struct report *report)
{
	if (!report->unanswered_count)
		return;
	builder__add(text, " ");
	add_unanswered(text, report);
	builder__add(text, ".");
}

/* " On 1 connection the 4 B that its client writes each time acknowledge what came: no reply to
 * them is due." */
static void add_acks(char **text, const struct report *report)
{
	struct range bytes = {.least = UINT64_MAX};
	uint64_t conns = 0;

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i];

		if (!conn->acks.is_sure || !report__stands_for_itself(report, conn))
			continue;
		bytes.least = min_u64(bytes.least, conn->acks.bytes);
		if (conn->acks.bytes > bytes.most)
			bytes.most = conn->acks.bytes;
		conns++;
	}
	if (conns)
		builder__add(
			text,
			" On %s the %s that its client writes each time acknowledge what came: no reply to them is due.",
			counted_text(conns, "connection"),
			builder__bytes((char[2 *TEXT_BYTES + 8]){""}, 2 * TEXT_BYTES + 8, &bytes));
}

/* ": worker/77 was on a CPU for 99.2% of the time", of who did not wait. */
static void add_busy(char **title, const struct report *report)
{
	uint64_t window = report->end_ts - report->start_ts;

	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (!(thread->role & NS_ROLE_TARGET) || 10 * thread->on_cpu_ns < 9 * window)
			continue;
		builder__add(title, ": %s was on a CPU for %s of the time",
			     thread_text(report, thread->pid, thread->tid),
			     part_text(thread->on_cpu_ns, window));
		return;
	}
}

/* What the first line is about; what else was found is said behind it. */
enum title {
	TITLE_FAILURE,
	TITLE_UNANSWERED,
	TITLE_LIMITED,
	TITLE_OPEN,
	TITLE_QUEUE,
	TITLE_NOTHING,
};

static enum title title_of(const struct report *report, const struct report_conn *limited)
{
	if (report->failed_count)
		return TITLE_FAILURE;
	if (report->unanswered_count)
		return TITLE_UNANSWERED;
	if (limited)
		return TITLE_LIMITED;
	if (report->open_count)
		return TITLE_OPEN;
	return report->listener_count ? TITLE_QUEUE : TITLE_NOTHING;
}

static void write_nothing(struct verdict *verdict, const struct report *report,
			  const struct watched *watched)
{
	bool is_followed = watched->conns && !coverage__is_unfollowed(report);
	const char *who = report->session.machine ? "any process" : "this program";

	if (is_followed && report->complete) {
		builder__add(&verdict->title, "Nothing held %s back on the network", who);
		add_busy(&verdict->title, report);
	} else if (is_followed && report__is_nearly_complete(report)) {
		builder__add(&verdict->title,
			     "Nothing held %s back on the network; of %s, %s were not seen whole",
			     who, duration_text(report->end_ts - report->start_ts),
			     duration_text(report->blind_ns));
	} else {
		builder__add(
			&verdict->title,
			"Nothing was found, but this run is no evidence that nothing was there");
		add_why_no_evidence(&verdict->text, report, watched);
	}
}

static void write_nothing_found(struct verdict *verdict, const struct report *report)
{
	const struct report_conn *limited = limited__longest(report);
	const struct watched watched = count_watched(report);
	enum title title = title_of(report, limited);

	switch (title) {
	case TITLE_FAILURE:
		add_failure(&verdict->title, &report->failed[0]);
		break;
	case TITLE_UNANSWERED:
		add_unanswered(&verdict->title, report);
		break;
	case TITLE_LIMITED:
		builder__add(&verdict->title, "In short waits: ");
		limited__add_title(&verdict->title, report, limited);
		break;
	case TITLE_OPEN:
		add_open(&verdict->title, report);
		break;
	case TITLE_QUEUE:
		add_full_queue(&verdict->title, &report->listeners[0]);
		break;
	case TITLE_NOTHING:
		write_nothing(verdict, report, &watched);
		break;
	}
	builder__add(&verdict->title, ".");
	add_watched(&verdict->text, report, &watched);
	add_longest(&verdict->text, report);
	if (limited)
		limited__add_why(&verdict->text, report, limited);
	add_acks(&verdict->text, report);
	add_not_asked(&verdict->text, report);
	add_unfollowed(&verdict->text, report);
	add_failures(&verdict->text, report, 1);
	if (title != TITLE_UNANSWERED)
		add_those_unanswered(&verdict->text, report);
	if (title != TITLE_OPEN)
		add_those_open(&verdict->text, report);
	add_full_queues(&verdict->text, report, title == TITLE_QUEUE);
	if (coverage__has_waits(report)) {
		builder__add(&verdict->text, " ");
		coverage__add_waits(&verdict->text, report);
	}
}

/* ---- a cause leads ---- */

/*
 * "Records are missing in 1.46 s of 2.55 s: 80 of 91 lock stalls were seen from start to end; 11
 * are worked out from the rest, 12 events lost."; which cause's, where there are others.
 */
static char *evidence(const struct report *report, const struct report_cause *cause)
{
	uint64_t count = cause->count, whole = cause->whole, inferred = cause->inferred;
	char *text = NULL;

	if (!report->complete && report->blind_ns)
		builder__add(&text, "Records are missing in %s%s of %s: ",
			     report__is_nearly_complete(report) ? "no more than " : "",
			     duration_text(report->blind_ns),
			     duration_text(report->end_ts - report->start_ts));
	else if (!report->complete)
		builder__add(&text, losses__hiding(report->lost) ? "Records are missing: "
								 : "Not everything was in sight: ");
	if (whole < count && count > 1)
		builder__add(&text, "%s of %s", count_text(whole), count_text(count));
	else
		builder__add(&text, count > 1 ? "all %s" : "the", count_text(count));
	if (report->cause_count > 1)
		builder__add(&text, " %s", cause__info(cause->cause)->id);
	builder__add(&text, " stall%s%s seen from start to end", count == 1 ? " was" : "s were",
		     whole || count > 1 ? "" : " not");
	if (inferred)
		builder__add(&text, "; %s %s worked out from the rest",
			     count == 1 ? "it" : words_text(inferred),
			     inferred == 1 ? "is" : "are");
	coverage__add_lost(&text, report);
	builder__add(&text, ".");
	text[0] = (char)toupper((unsigned char)text[0]);
	return text;
}

/* "srv/4243 waits in futex for srv/4250, called in work (srv.py)" */
static void add_doer(char **text, const struct context *context)
{
	headline__add_why(text, context);
	template__add(text, "[, called in {sleep_place}]", context);
}

static void add_gain(const struct context *context, char **text)
{
	if (context__saving(context).ns && !cause__info(context->tally->cause)->is_given)
		template__add(text, "[; at most {saved} to gain[{!once} each time]]", context);
}

/* " Likewise with orders/4250 (127.0.0.1:7401), 37 times, 20.2 ms each, 750 ms in all: ...; at most
 * 20.0 ms to gain each time." */
static void add_ends(const struct report *report, const struct report_cause *cause, char **text)
{
	struct context context;
	uint64_t count = cause->count, total_ns = cause->total_ns;

	for (size_t i = 0; i < cause->end_count; i++) {
		count -= cause->ends[i].count;
		total_ns -= cause->ends[i].total_ns;
		if (!i || !context__make(&context, report, cause->ends[i].main))
			continue;
		builder__add(text, " Likewise ");
		headline__add_end(text, &context, &cause->ends[i]);
		builder__add(text, ", %s in all: ", duration_text(cause->ends[i].total_ns));
		add_doer(text, &context);
		add_gain(&context, text);
		builder__add(text, ".");
	}
	if (cause->end_count && count)
		builder__add(text, " And elsewhere %s, %s in all.", counted_text(count, "time"),
			     duration_text(total_ns));
}

/* " The same happened on two more connections, 5 times, 203 ms in all."; or "in other waits", which
 * were on none. */
static void add_elsewhere(const struct context *context, char **text)
{
	const struct report_cause *cause = report__cause(context->report, context->tally->cause);
	const struct cause_end *at = context__end(context);
	uint64_t conns = at ? at->conns : cause->conns;
	uint64_t more = (at ? at->count : cause->count) - context->tally->count;
	uint64_t total_ns = at ? at->total_ns : cause->total_ns;

	conns -= conns && context->tally->conn;
	if (!more)
		return;
	builder__add(text, " The same happened ");
	if (conns)
		builder__add(text, "on %s more connection%s", words_text(conns),
			     conns == 1 ? "" : "s");
	else
		builder__add(text, "in other waits");
	builder__add(text, ", %s, %s in all.", counted_text(more, "time"),
		     duration_text(total_ns - context->tally->total_ns));
}

/* For these the remedy is to look at who did what: that is said of each of them. */
#define OF_OTHERS (FOR(PEER_APP) | FOR(UDP) | FOR(IPC) | FOR(URING) | FOR(UNKNOWN))

/* "; hold the lock for shorter, ..." */
static void add_remedy(const struct report_cause *cause, char **text)
{
	const char *remedy = tally__serves_others(cause->main)
				     ? "Let more processes or threads answer, or each sooner."
				     : cause__info(cause->cause)->remedy;

	if (!(OF_OTHERS >> cause->cause & 1))
		builder__add(text, "; %c%.*s", tolower((unsigned char)remedy[0]),
			     (int)strlen(remedy) - 2, remedy + 1);
}

/*
 * " 12 lock stalls (480 ms, 12.0%): srv/4243 waits in futex for srv/4250, called in work (srv.py);
 * hold the lock for shorter, ...; at most 40.0 ms to gain each time."; of what is next to nothing
 * no more is said than how much it is.
 */
static void add_other(const struct report *report, const struct report_cause *cause,
		      const struct report_cause *leading, char **text)
{
	struct context context;

	builder__add(text, " %s %s stall%s (%s, %s)", count_text(cause->count),
		     cause__info(cause->cause)->id, cause->count == 1 ? "" : "s",
		     duration_text(cause->total_ns), percent_text(cause->share));
	if (20 * cause->covered_ns >= leading->covered_ns && cause->main &&
	    context__make(&context, report, cause->main)) {
		builder__add(text, ": ");
		add_doer(text, &context);
		add_remedy(cause, text);
		add_gain(&context, text);
		headline__add_ends(text, report, cause);
	}
	builder__add(text, ".");
}

/* " Between its requests it slept by its own timer: 224 times, 2.26 s in all (56.7%)." */
static void add_pace(const struct report_cause *pace, char **text)
{
	builder__add(text, " Between its requests it slept by its own timer: %s, %s in all (%s).",
		     counted_text(pace->count, "time"), duration_text(pace->total_ns),
		     percent_text(pace->share));
}

static void add_others(const struct context *context, char **text)
{
	const struct report *report = context->report;
	const struct report_cause *leading = report__cause(report, context->tally->cause);
	const struct report_cause *pace = NULL;
	size_t others = 0;

	for (size_t i = 0; i < report->cause_count; i++) {
		if (&report->causes[i] == leading)
			continue;
		if (report->causes[i].is_pace) {
			pace = &report->causes[i];
			continue;
		}
		if (!others)
			builder__add(text, " Besides:");
		if (others++ < OTHERS)
			add_other(report, &report->causes[i], leading, text);
	}
	if (others > OTHERS)
		builder__add(text, " And %s more cause%s.", words_text(others - OTHERS),
			     others == OTHERS + 1 ? "" : "s");
	if (pace)
		add_pace(pace, text);
}

/* What was asked first, when all that was found is the machine's or the program's own doing. */
static void add_network(const struct report *report, char **text)
{
	if (coverage__is_network_free(report))
		builder__add(text, " On the network nothing held it back for %s or longer.",
			     nominal_text(report__threshold(report)));
}

static void write_texts(struct verdict *verdict, const struct context *context)
{
	char *besides = NULL;

	add_ends(context->report, report__cause(context->report, context->tally->cause), &besides);
	add_others(context, &besides);
	add_network(context->report, &besides);
	add_unfollowed(&besides, context->report);
	add_failures(&besides, context->report, 0);
	add_those_unanswered(&besides, context->report);
	add_those_open(&besides, context->report);
	add_full_queues(&besides, context->report, 0);
	explanation__write(context, &verdict->text);
	builder__add(&verdict->brief, "%s%s", verdict->text, besides ? besides : "");
	explanation__add_frequency(context, &verdict->text);
	add_elsewhere(context, &verdict->text);
	builder__add(&verdict->text, "%s", besides ? besides : "");
	free(besides);
}

void verdict__write(struct verdict *verdict, const struct report *report)
{
	const struct report_cause *leading = report__leading(report);
	const struct tally *tally;
	struct context context;

	*verdict = (struct verdict){0};
	if (!leading) {
		write_nothing_found(verdict, report);
		verdict->headline = xstrdup(verdict->title);
		verdict->brief = xstrdup(verdict->text);
		return;
	}
	tally = leading->main;
	verdict->found = true;
	verdict->cause = leading->cause;
	verdict->title = xasprintf("%s.", cause__info(leading->cause)->title);
	verdict->evidence = evidence(report, leading);
	if (!tally || !context__make(&context, report, tally)) {
		verdict->headline = headline__write(report, leading, NULL);
		verdict->text =
			xstrdup("It was seen on a connection of which nothing else is "
				"known: its description was lost.");
		verdict->brief = xstrdup(verdict->text);
		return;
	}
	verdict->headline = headline__write(report, leading, &context);
	verdict->path = &tally->path;
	verdict->sites = tally->sites;
	write_texts(verdict, &context);
	advice__write(&context, verdict);
}

char *verdict__of_program(const struct report *report, const struct report_program *program)
{
	struct context context;
	char *text = NULL;

	if (!program->main || !context__make(&context, report, program->main))
		return NULL;
	headline__add_why(&text, &context);
	template__add(&text, "[, in {both_in}][, called in {sleep_place}][, in {busy_place}]",
		      &context);
	return text;
}

void verdict__clear(struct verdict *verdict)
{
	free(verdict->headline);
	free(verdict->title);
	free(verdict->text);
	free(verdict->brief);
	free(verdict->evidence);
	for (size_t i = 0; i < verdict->advice_count; i++)
		free(verdict->advice[i]);
	*verdict = (struct verdict){0};
}
