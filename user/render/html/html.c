// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/base/array.h"
#include "user/base/embed.h"
#include "user/base/xalloc.h"
#include "user/render/html/picture.h"
#include "user/render/json/json_values.h"
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
	json_t *addresses; /* "127.0.0.1:37640 -> 127.0.0.1:7000" */
};

static void note_cause(struct page *page, enum cause cause)
{
	const struct cause_info *info = cause__info(cause);
	json_t *known;

	if (json_object_get(page->known, info->id))
		return;
	known = put_object(page->known, info->id);
	put(known, "title", json_value__text(info->title));
	put(known, "meaning", json_value__text(info->meaning));
	put(known, "remedy", json_value__text(info->remedy));
	put(known, "colour", json_string(picture__colour(cause)));
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

	if (conn)
		put_number(page->addresses, number, json_value__text(addresses_text(&conn->id)));
}

static json_t *line_of(const struct stall *stall, const struct words *words)
{
	json_t *line = json_object();

	put(line, "ms", json_real(((double)words->ts - (double)stall->start_ts) / 1e6));
	put(line, "actor", json_value__text(words->actor));
	put(line, "what", json_value__text(words->what));
	put(line, "amount", json_value__text(words->amount));
	put(line, "note", json_value__text(words->note));
	return line;
}

/* Without what is not known, or 0. */
static void put_known(json_t *object, const char *key, json_t *value)
{
	if (json_is_null(value) || (json_is_integer(value) && !json_integer_value(value)))
		json_decref(value);
	else
		put(object, key, value);
}

static json_t *lane_of(const struct picture_lane *lane)
{
	json_t *object = json_object();

	put(object, "name", json_value__text(lane->name));
	put(object, "y", json_integer(lane->y));
	put(object, "line", json_boolean(lane->line));
	put(object, "absent", json_boolean(lane->absent));
	put_known(object, "dot", json_value__text(lane->dot));
	return object;
}

static json_t *mark_of(const struct report *report, const struct picture_mark *mark)
{
	json_t *object = json_object();

	put(object, "look", json_string(picture_look__info(mark->look)->name));
	put(object, "lane", json_value__count(mark->lane));
	put_known(object, "to", json_value__count(mark->to));
	put(object, "colour", json_string(mark->colour));
	put_known(object, "from_ms", json_value__time(report, mark->from_ts));
	put_known(object, "to_ms", json_value__time(report, mark->to_ts));
	put_known(object, "label", json_value__text(mark->label));
	put_known(object, "title", json_value__text(mark->title));
	return object;
}

static json_t *picture_of(const struct report *report, const struct stall *stall,
			  const struct lines *lines)
{
	struct picture *picture = picture__new(report, stall, lines);
	json_t *object = json_object();

	put(object, "height", json_integer(picture->height));
	put(object, "from_ms", json_value__time(report, picture->from_ts));
	put(object, "to_ms", json_value__time(report, picture->to_ts));
	put_each(object, "lanes", i, picture->lane_count, lane_of(&picture->lanes[i]));
	put_each(object, "marks", i, picture->mark_count, mark_of(report, &picture->marks[i]));
	picture__free(picture);
	return object;
}

static json_t *all_looks(void)
{
	static const char *const shapes[] = {
		[SHAPE_BAR] = "bar", [SHAPE_DOT] = "dot", [SHAPE_ARROW] = "arrow"};
	json_t *object = json_object();

	for (int i = 0; i < LOOKS; i++) {
		const struct picture_look_info *info = picture_look__info((enum picture_look)i);
		json_t *look = put_object(object, info->name);

		put(look, "shape", json_string(shapes[info->shape]));
		put(look, "height", json_integer(info->height));
		put(look, "down", json_integer(info->down));
		put(look, "radius", json_integer(info->radius));
		put(look, "least", json_integer(info->least));
		put(look, "dashed", json_boolean(info->dashed));
		put(look, "hollow", json_boolean(info->hollow));
		put(look, "beside", json_boolean(info->beside));
		put(look, "light", json_boolean(info->light));
	}
	return object;
}

static json_t *stall_of(struct page *page, const struct stall *stall)
{
	json_t *object = json_value__stall(page->report, stall);
	struct lines *lines = lines__new(page->report, stall);

	json_object_del(object, "evidence"); /* the picture and the lines are made of it */
	put_each(object, "lines", i, lines->count, line_of(stall, &lines->words[i]));
	put(object, "picture", picture_of(page->report, stall, lines));
	lines__free(lines);
	note_cause(page, stall->cause);
	note_slices(page, stall->slices, stall->slice_count);
	note_thread(page, stall->pid, stall->tid);
	note_conn(page, stall->conn);
	return object;
}

/* Those that have steps, and where they are few the others; first among them in any case. */
static json_t *stalls_of(struct page *page, const struct stall *first)
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
		if (stall < first && count == HTML_STALLS - 1)
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

static void print_places(FILE *out, const struct report *report, const struct verdict *verdict)
{
	(void)report;
	render__places(out, verdict, &(struct render_style){.verbose = true});
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
			    .addresses = json_object()};
	const struct stall *first = picture__first(report, verdict->cause);
	json_t *object = json_object();

	if (verdict->found)
		note_cause(&page, verdict->cause);
	put(object, "above", json_value__text(above));
	put(object, "about", about_of(report));
	put(object, "verdict", json_value__verdict(report, verdict));
	put(object, "places", printed(print_places, report, verdict));
	put(object, "stalls", stalls_of(&page, first));
	put(object, "first", json_value__count(first ? first->number : 0));
	put(object, "looks", all_looks());
	put(object, "stall_count",
	    json_value__count(report->stall_count + report->stalls_not_kept));
	put_each(object, "causes", i, report->cause_count, cause_of(&page, &report->causes[i]));
	put(object, "overview", overview_of(&page));
	put_each(object, "marks", i, report->mark_count,
		 json_value__mark(report, &report->marks[i]));
	put_each(object, "processes", i, report->program_count,
		 json_value__program(report, &report->programs[i]));
	put_each(object, "requests", i, report->requests_count,
		 requests_of(&page, &report->requests[i]));
	put_each(object, "threads", i, report->thread_count,
		 json_value__thread(&report->threads[i]));
	put(object, "text", printed(print_report, report, verdict));
	put(object, "known", page.known);
	put(object, "threads_by", page.threads);
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
	static const struct {
		const char *mark;
		const char *text; /* NULL: the document */
	} parts[] = {
		{"@COLOURS@", netstall_colours_css},
		{"@DATA@", NULL},
		{"@SCRIPT@", netstall_page_js},
	};
	const char *page = netstall_page_html;

	json_value__begin();
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		const char *mark = strstr(page, parts[i].mark);

		fwrite(page, 1, (size_t)(mark - page), out);
		if (parts[i].text)
			fputs(parts[i].text, out);
		else
			print_data(out, page_of(report, verdict, above));
		page = mark + strlen(parts[i].mark);
	}
	fputs(page, out);
}
