// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/base/array.h"
#include "user/base/embed.h"
#include "user/base/xalloc.h"
#include "user/render/json/json_values.h"
#include "user/render/terminal/timeline_lines.h"
#include "user/render/words/names.h"

EMBED(netstall_page_html, "user/render/html/page.html");
EMBED(netstall_page_js, "user/render/html/page.js");

/* ---- what the page shows ---- */

static void put_number(json_t *object, uint32_t key, json_t *value)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", key);
	put(object, name, value);
}

struct page {
	const struct report *report;
	json_t *known;     /* causes, by id: what they mean */
	json_t *threads;   /* names, by tid */
	json_t *ends;      /* names of connections' ends, by connection */
	json_t *peers;     /* the other ends */
	json_t *addresses; /* "127.0.0.1:37640 -> 127.0.0.1:7000" */
};

static void note_cause(struct page *page, enum cause cause)
{
	static const char *const groups[CAUSE_GROUPS] = {
		[CAUSE_GROUP_UNKNOWN] = "unknown", [CAUSE_GROUP_WRITES] = "writes",
		[CAUSE_GROUP_TCP] = "tcp",         [CAUSE_GROUP_LOSS] = "loss",
		[CAUSE_GROUP_PEER] = "peer",       [CAUSE_GROUP_MACHINE] = "machine",
		[CAUSE_GROUP_PROGRAM] = "program",
	};
	const struct cause_info *info = cause__info(cause);
	json_t *known;

	if (json_object_get(page->known, info->id))
		return;
	known = put_object(page->known, info->id);
	put(known, "title", json_value__text(info->title));
	put(known, "meaning", json_value__text(info->meaning));
	put(known, "remedy", json_value__text(info->remedy));
	put(known, "group", json_string(groups[info->group] ? groups[info->group] : "unknown"));
}

static void note_slices(struct page *page, const struct slice *slices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		note_cause(page, slices[i].cause);
}

static void note_thread(struct page *page, uint32_t pid, uint32_t tid)
{
	if (tid)
		put_number(page->threads, tid,
			   json_value__text(thread_text(page->report, pid, tid)));
}

static void note_conn(struct page *page, uint32_t number)
{
	const struct report_conn *conn = number ? report__conn(page->report, number) : NULL;

	if (!conn)
		return;
	put_number(page->ends, number, json_value__text(end_text(page->report, number)));
	put_number(page->peers, number, json_value__count(conn->peer));
	put_number(page->addresses, number, json_value__text(addresses_text(&conn->id)));
	if (conn->peer)
		put_number(page->ends, conn->peer,
			   json_value__text(end_text(page->report, conn->peer)));
}

static json_t *line_of(const struct stall *stall, const struct words *words)
{
	json_t *line = json_object();

	put(line, "ms", json_real(((double)words->ts - (double)stall->start_ts) / 1e6));
	put(line, "actor", json_value__text(words->actor));
	put(line, "what", json_value__text(words->what));
	put(line, "amount", json_value__text(words->amount));
	put(line, "note", json_value__text(words->note));
	put(line, "step",
	    words->step ? json_value__count((uint64_t)(words->step - stall->steps)) : json_null());
	return line;
}

static json_t *stall_of(struct page *page, const struct stall *stall)
{
	json_t *object = json_value__stall(page->report, stall);
	struct lines *lines = lines__new(page->report, stall);

	put_each(object, "lines", i, lines->count, line_of(stall, &lines->words[i]));
	lines__free(lines);
	note_cause(page, stall->cause);
	note_slices(page, stall->slices, stall->slice_count);
	note_thread(page, stall->pid, stall->tid);
	note_conn(page, stall->conn);
	note_conn(page, stall->peer);
	for (size_t i = 0; i < stall->step_count; i++) {
		union record record;

		event__to_record(&record, &stall->steps[i]);
		note_conn(page, record.head.conn);
		/* Of segments and timers it is whoever was interrupted. */
		if (record.head.type == NS_SEND || record.head.type == NS_RECV ||
		    record.head.type == NS_WAIT)
			note_thread(page, record.head.tgid, record.head.tid);
		if (record.head.type == NS_WAIT)
			note_thread(page, record.wait.waker_tgid, record.wait.waker_tid);
	}
	return object;
}

/* Those that have steps, and where they are few the others. */
static json_t *stalls_of(struct page *page)
{
	const struct report *report = page->report;
	size_t with_steps = 0, others, count = 0;
	json_t *stalls = json_array();

	for (size_t i = 0; i < report->stall_count; i++)
		with_steps += report->stalls[i].step_count > 0;
	others = with_steps < HTML_STALLS ? HTML_STALLS - with_steps : 0;
	for (size_t i = 0; i < report->stall_count && count < HTML_STALLS; i++) {
		const struct stall *stall = &report->stalls[i];

		if (!stall->step_count && !others)
			continue;
		others -= !stall->step_count;
		json_array_append_new(stalls, stall_of(page, stall));
		count++;
	}
	return stalls;
}

static json_t *cause_of(struct page *page, const struct report_cause *cause)
{
	note_cause(page, cause->cause);
	return json_value__cause(cause);
}

static json_t *requests_of(struct page *page, const struct report_requests *requests)
{
	note_slices(page, requests->median.slices, requests->median.slice_count);
	note_slices(page, requests->p99.slices, requests->p99.slice_count);
	for (size_t i = 0; i < requests->bin_count; i++)
		note_slices(page, requests->bins[i].slices, requests->bins[i].slice_count);
	return json_value__requests(requests);
}

static json_t *printed(void (*print)(FILE *, const struct report *, const struct verdict *),
		       const struct report *report, const struct verdict *verdict)
{
	char *text;
	size_t size;
	FILE *out = xmemstream(&text, &size);
	json_t *value;

	print(out, report, verdict);
	fclose(out);
	value = json_value__text(text + strspn(text, "\n"));
	free(text);
	return value;
}

static void print_verdict(FILE *out, const struct report *report, const struct verdict *verdict)
{
	(void)report;
	render__verdict(out, verdict, &(struct render_style){0});
}

static void print_report(FILE *out, const struct report *report, const struct verdict *verdict)
{
	render__report(out, report, verdict, &(struct render_style){.verbose = true}, false);
}

static json_t *about_of(const struct report *report)
{
	const struct ns_session *session = &report->session;
	char safe[TEXT_SAFE(sizeof(session->target))];
	char *text =
		xasprintf("netstall %s: %s, watched %s; Linux %.64s, %.16s, by %.16s; %s events",
			  NETSTALL_VERSION,
			  text__safe(safe, sizeof(safe), session->target, sizeof(session->target)),
			  duration_text(report->end_ts - report->start_ts), session->kernel,
			  session->arch, session->way, count_text(report->events));
	json_t *value = json_value__text(text);

	free(text);
	return value;
}

/* ---- the whole run ---- */

#define OVERVIEW_BINS 240

struct overview {
	const struct report *report;
	uint64_t bin_ns;
	uint64_t *ns[CAUSE_COUNT]; /* stalled, by bin; NULL: no stall of it */
};

static void add_to_overview(struct overview *overview, enum cause cause, uint64_t start_ts,
			    uint64_t ns)
{
	uint64_t from = ns_passed(overview->report->start_ts, start_ts), end = from + ns;
	uint64_t **bins = &overview->ns[cause];

	if (!*bins)
		*bins = xcalloc(OVERVIEW_BINS, sizeof(**bins));
	for (uint64_t bin = from / overview->bin_ns; from < end && bin < OVERVIEW_BINS; bin++) {
		uint64_t upto = min_u64(end, (bin + 1) * overview->bin_ns);

		(*bins)[bin] += upto - from;
		from = upto;
	}
}

static json_t *overview_of(struct page *page)
{
	const struct report *report = page->report;
	uint64_t window_ns = ns_passed(report->start_ts, report->end_ts);
	struct overview overview = {.report = report, .bin_ns = window_ns / OVERVIEW_BINS + 1};
	json_t *object = json_object(), *by_cause = put_object(object, "by_cause");

	for (size_t i = 0; i < report->stall_count; i++)
		add_to_overview(&overview, report->stalls[i].cause, report->stalls[i].start_ts,
				ns_passed(report->stalls[i].start_ts, report->stalls[i].end_ts));
	for (size_t i = 0; i < report->brief_count; i++)
		add_to_overview(&overview, (enum cause)report->briefs[i].cause,
				report->briefs[i].start_ts, report->briefs[i].ns);
	put(object, "bin_ms", json_value__ms(overview.bin_ns));
	put(object, "window_ms", json_value__ms(window_ns));
	for (size_t cause = 0; cause < CAUSE_COUNT; cause++) {
		if (!overview.ns[cause])
			continue;
		put_each(by_cause, cause__info((enum cause)cause)->id, i, OVERVIEW_BINS,
			 json_value__ms(overview.ns[cause][i]));
		free(overview.ns[cause]);
	}
	return object;
}

static json_t *page_of(const struct report *report, const struct verdict *verdict,
		       const char *above)
{
	struct page page = {.report = report,
			    .known = json_object(),
			    .threads = json_object(),
			    .ends = json_object(),
			    .peers = json_object(),
			    .addresses = json_object()};
	json_t *object = json_object();

	if (verdict->found)
		note_cause(&page, verdict->cause);
	put(object, "above", json_value__text(above));
	put(object, "about", about_of(report));
	put(object, "verdict", json_value__verdict(report, verdict));
	put(object, "verdict_text", printed(print_verdict, report, verdict));
	put(object, "stalls", stalls_of(&page));
	put(object, "stall_count",
	    json_value__count(report->stall_count + report->stalls_not_kept));
	put_each(object, "causes", i, report->cause_count, cause_of(&page, &report->causes[i]));
	put(object, "overview", overview_of(&page));
	put_each(object, "marks", i, report->mark_count,
		 json_value__mark(report, &report->marks[i]));
	put_each(object, "requests", i, report->requests_count,
		 requests_of(&page, &report->requests[i]));
	put_each(object, "threads", i, report->thread_count,
		 json_value__thread(&report->threads[i]));
	put(object, "text", printed(print_report, report, verdict));
	put(object, "known", page.known);
	put(object, "threads_by", page.threads);
	put(object, "ends", page.ends);
	put(object, "peers", page.peers);
	put(object, "addresses", page.addresses);
	return object;
}

/* ---- the page ---- */

/* Within a script element nothing of it may look like an end of that. */
static void print_data(FILE *out, json_t *data)
{
	char *text = json_dumps(data, json_value__flags(0));

	for (const char *at = text; at && *at; at++) {
		if (*at == '<')
			fputs("\\u003c", out);
		else
			fputc(*at, out);
	}
	free(text);
	json_decref(data);
}

void render__html(FILE *out, const struct report *report, const struct verdict *verdict,
		  const char *above)
{
	static const char data_mark[] = "@DATA@", script_mark[] = "@SCRIPT@";
	const char *data = strstr(netstall_page_html, data_mark);
	const char *script = strstr(netstall_page_html, script_mark);

	json_value__begin();
	fwrite(netstall_page_html, 1, (size_t)(data - netstall_page_html), out);
	print_data(out, page_of(report, verdict, above));
	data += strlen(data_mark);
	fwrite(data, 1, (size_t)(script - data), out);
	fputs(netstall_page_js, out);
	fputs(script + strlen(script_mark), out);
}
