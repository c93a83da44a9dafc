// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/verdict.h"

#include <stdio.h>
#include <string.h>

#include "user/analyze/tale.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"

/* ---- who is who ---- */

static void name_end(char *dst, size_t size, const struct model *model,
		     const struct model_conn *conn)
{
	const struct model_process *process = model__process(model, conn->id.head.tgid);
	const char *comm = process && process->comm[0] ? process->comm : conn->id.comm;
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	text__safe(safe, sizeof(safe), comm, NS_COMM_LEN);
	if (!conn->id.head.tgid)
		text__address(dst, size, conn->id.family, conn->id.laddr, conn->id.lport);
	else if (*safe)
		snprintf(dst, size, "%s/%u", safe, conn->id.head.tgid);
	else
		snprintf(dst, size, "pid %u", conn->id.head.tgid);
}

static void name_program(struct story *story, const struct model_conn *conn)
{
	const struct model_process *process = model__process(story->model, conn->id.head.tgid);
	const char *comm = process && process->comm[0] ? process->comm : conn->id.comm;

	if (*comm)
		text__safe(story->program, sizeof(story->program), comm, NS_COMM_LEN);
	else
		snprintf(story->program, sizeof(story->program), "%s", story->sender);
}

static void name_fd(struct story *story, const struct model_conn *conn)
{
	uint32_t fd = story->stall->hold.head.type ? story->stall->hold.fd : conn->id.fd;

	if (fd == NS_FD_UNKNOWN)
		fd = conn->id.fd;
	if (fd == NS_FD_UNKNOWN)
		snprintf(story->fd, sizeof(story->fd), "its socket");
	else
		snprintf(story->fd, sizeof(story->fd), "fd %u", fd);
}

static void name_message(struct story *story, uint32_t opener)
{
	story->message = "message";
	story->a_message = "a message";
	if (opener == NS_OPENER_SELF) {
		story->message = "request";
		story->a_message = "a request";
	} else if (opener == NS_OPENER_PEER) {
		story->message = "answer";
		story->a_message = "an answer";
	}
}

/* Returns false when nothing is known of the connection but its number. */
static bool name_all(struct story *story)
{
	const struct model_conn *conn = model__conn(story->model, story->tally->conn);
	const struct model_conn *peer = conn ? model__conn(story->model, conn->peer) : NULL;

	if (!conn || !conn->id.head.type)
		return false;
	name_end(story->sender, sizeof(story->sender), story->model, conn);
	if (peer && peer->id.head.type)
		name_end(story->other, sizeof(story->other), story->model, peer);
	else
		text__address(story->other, sizeof(story->other), conn->id.family, conn->id.raddr,
			      conn->id.rport);
	name_program(story, conn);
	name_fd(story, conn);
	story->sender_is_target = conn->id.role & NS_ROLE_TARGET;
	story->other_end = story->sender_is_target ? "The other end" : "This end";
	name_message(story, conn->id.opener);
	return true;
}

/* ---- what was seen ---- */

static uint64_t lost_events(const struct report *report)
{
	return report->lost[NS_LOST_RINGBUF] + report->lost[NS_LOST_DAMAGED] +
	       report->lost[NS_LOST_KEPT];
}

static void add_unwatched(char **text, const struct report *report)
{
	static const struct {
		enum ns_lost_kind kind;
		const char *one, *many;
	} kinds[] = {
		{NS_LOST_CONNS, "connection", "connections"},
		{NS_LOST_THREADS, "thread", "threads"},
		{NS_LOST_PROCESSES, "process", "processes"},
	};
	char count[TEXT_COUNT];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t lost = report->lost[kinds[i].kind];

		if (lost)
			prose__add(text, ", %s %s not watched for want of room",
				   text__count(count, sizeof(count), lost),
				   lost == 1 ? kinds[i].one : kinds[i].many);
	}
}

static void add_invisible(char **text, const struct report *report)
{
	static const struct {
		enum ns_fact fact;
		const char *what;
	} facts[] = {
		{NS_FACT_SEND, "sends"},
		{NS_FACT_TRANSMIT, "transmits"},
		{NS_FACT_SCHED, "waits of threads"},
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (report->session.missing >> facts[i].fact & 1)
			prose__add(text, ", %s not visible on this kernel", facts[i].what);
	}
}

/* "Evidence complete: 122 of 122 chains seen whole, 0 events lost." */
static char *evidence(const struct ledger *ledger, const struct report *report, enum cause cause)
{
	uint64_t count = report__cause(report, cause)->count, whole, inferred, lost;
	char seen[TEXT_COUNT], all[TEXT_COUNT], deduced[TEXT_COUNT], events[TEXT_COUNT];
	const char *word = "incomplete";
	char *text = NULL;

	ledger__chains(ledger, cause, &whole, &inferred);
	lost = lost_events(report);
	if (whole == count && report->complete)
		word = "complete";
	else if (inferred && whole + inferred == count && report->complete)
		word = "inferred";
	prose__add(&text, "Evidence %s: %s of %s chains seen whole", word,
		   text__count(seen, sizeof(seen), whole), text__count(all, sizeof(all), count));
	if (inferred)
		prose__add(&text, ", %s deduced", text__count(deduced, sizeof(deduced), inferred));
	prose__add(&text, ", %s event%s lost", text__count(events, sizeof(events), lost),
		   lost == 1 ? "" : "s");
	add_unwatched(&text, report);
	add_invisible(&text, report);
	prose__add(&text, ".");
	return text;
}

/* ---- nothing found ---- */

struct watched {
	uint64_t conns;
	uint64_t writes;
	uint64_t threads;
};

static struct watched count_watched(const struct report *report)
{
	struct watched watched = {0};

	for (size_t i = 0; i < report->conn_count; i++) {
		if (!(report->conns[i].id.role & NS_ROLE_TARGET))
			continue;
		watched.conns++;
		watched.writes += report->conns[i].totals.writes;
	}
	for (size_t i = 0; i < report->thread_count; i++)
		watched.threads += !!(report->threads[i].role & NS_ROLE_TARGET);
	return watched;
}

static void add_watched(char **text, const struct report *report, const struct watched *watched)
{
	char window[TEXT_DURATION], conns[TEXT_COUNT], writes[TEXT_COUNT], threads[TEXT_COUNT],
		events[TEXT_COUNT];
	uint64_t lost = lost_events(report);

	prose__add(text, "Watched %s: %s connection%s, %s write%s, %s thread%s, %s event%s lost",
		   text__duration(window, sizeof(window), report->end_ts - report->start_ts),
		   text__count(conns, sizeof(conns), watched->conns),
		   watched->conns == 1 ? "" : "s",
		   text__count(writes, sizeof(writes), watched->writes),
		   watched->writes == 1 ? "" : "s",
		   text__count(threads, sizeof(threads), watched->threads),
		   watched->threads == 1 ? "" : "s", text__count(events, sizeof(events), lost),
		   lost == 1 ? "" : "s");
	add_unwatched(text, report);
	add_invisible(text, report);
}

static const char *why_silence_is_no_evidence(const struct report *report,
					      const struct watched *watched)
{
	if (!watched->conns)
		return "No TCP connection of this program was seen, so nothing can be said of it. ";
	if (lost_events(report))
		return "Events were lost, and a stall may have been among them. ";
	return "Not everything was in sight, and a stall may have been where it was not. ";
}

static void write_nothing(const struct model *model, struct report *report)
{
	struct watched watched = count_watched(report);
	struct verdict *verdict = &report->verdict;
	char longest[TEXT_DURATION];

	if (watched.conns && report->complete) {
		verdict->title = xstrdup("Nothing held this program back on the network.");
	} else {
		verdict->title = xstrdup("Nothing was found, but that is no evidence here.");
		prose__add(&verdict->text, "%s", why_silence_is_no_evidence(report, &watched));
	}
	add_watched(&verdict->text, report, &watched);
	if (report->longest_wait_ns)
		prose__add(&verdict->text, "; the longest wait with work owed was %s.",
			   text__duration(longest, sizeof(longest), report->longest_wait_ns));
	else
		prose__add(&verdict->text, "; no wait with work owed reached %s.",
			   text__nominal(longest, sizeof(longest), session__threshold(model)));
}

/* ---- something found ---- */

/* Causes come greatest total first; what cannot be explained stands behind what can. */
static enum cause choose(const struct report *report)
{
	for (size_t i = 0; i < report->cause_count; i++) {
		if (report->causes[i].cause != CAUSE_UNKNOWN)
			return report->causes[i].cause;
	}
	return CAUSE_UNKNOWN;
}

static void add_others(const struct story *story, const struct ledger *ledger, char **text)
{
	const struct report_cause *cause = report__cause(story->report, story->tally->cause);
	size_t conns = ledger__conns(ledger, story->tally->cause);
	uint32_t more = cause->count - story->tally->count;
	char count[TEXT_COUNT], where[TEXT_COUNT], total[TEXT_DURATION];
	const char *lead = "Besides";

	if (conns > 1)
		prose__add(text, " The same happened on %s more connection%s, %s time%s.",
			   prose__number(where, sizeof(where), conns - 1), conns == 2 ? "" : "s",
			   text__count(count, sizeof(count), more), more == 1 ? "" : "s");
	for (size_t i = 0; i < story->report->cause_count; i++) {
		cause = &story->report->causes[i];
		if (cause->cause == story->tally->cause)
			continue;
		prose__add(text, "%s %s %s stall%s, %s in all", *lead == 'B' ? " Besides:" : ",",
			   text__count(count, sizeof(count), cause->count),
			   cause__info(cause->cause)->id, cause->count == 1 ? "" : "s",
			   text__duration(total, sizeof(total), cause->total_ns));
		lead = ",";
	}
	if (*lead == ',')
		prose__add(text, ".");
}

void verdict__write(struct ledger *ledger, const struct model *model)
{
	struct report *report = ledger__report(ledger);
	struct verdict *verdict = &report->verdict;
	struct story story = {.report = report, .model = model};

	if (!report->cause_count) {
		write_nothing(model, report);
		return;
	}
	verdict->found = true;
	verdict->cause = choose(report);
	verdict->title = xasprintf("%s.", cause__info(verdict->cause)->title);
	verdict->evidence = evidence(ledger, report, verdict->cause);
	story.tally = ledger__main(ledger, verdict->cause);
	if (story.tally)
		story.stall = &story.tally->example;
	if (!story.tally || !name_all(&story)) {
		verdict->text =
			xstrdup("It was seen on a connection of which nothing else is "
				"known: its description was lost.");
		return;
	}
	tale__write(&story, &verdict->text);
	add_others(&story, ledger, &verdict->text);
	advice__write(&story, verdict);
}
