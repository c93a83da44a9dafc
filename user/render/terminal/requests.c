// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 *   WHERE A REQUEST'S TIME GOES  MEDIAN   SHARE                           P99   SHARE
 *   nagle-delack                40.5 ms   91.8%  ##################   41.2 ms   89.6%
 *   peer-app                    3.20 ms    7.3%  #                    4.10 ms    8.9%
 *   network                      410 us    0.9%                        690 us    1.5%
 *   all                         44.1 ms                               46.0 ms
 *   122 requests, all looked at closely
 */
#include <string.h>

#include "user/analyze/tally.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/render/terminal/colour.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/tables.h"
#include "user/render/words/names.h"

#define BAR         20 /* columns of the whole time */
#define PARTS_SHORT 3

static double share_of(const struct request_view *view, uint64_t ns)
{
	return view->total_ns ? (double)ns / (double)view->total_ns : 0;
}

/* "-": the exchange has nothing of this cause. */
static void add_row(struct grid *grid, const struct report_requests *requests, enum cause cause)
{
	const struct request_view *median = &requests->median, *p99 = &requests->p99;
	uint64_t of_median = request_view__part(median, cause),
		 of_p99 = request_view__part(p99, cause);
	size_t length = (size_t)(share_of(median, of_median) * BAR + 0.5);
	char bar[BAR + 1] = "";

	memset(bar, '#', length < BAR ? length : BAR);
	grid__row(grid, COLOUR_PLAIN, cause__info(cause)->id,
		  of_median ? duration_text(of_median) : "-",
		  of_median ? percent_text(share_of(median, of_median)) : "-", bar,
		  of_p99 ? duration_text(of_p99) : "-",
		  of_p99 ? percent_text(share_of(p99, of_p99)) : "-");
}

/* A row for each cause, in the order in which they come in the median, then in the p99. */
static void add_rows(struct grid *grid, const struct report_requests *requests)
{
	const struct request_view *views[] = {&requests->median, &requests->p99};
	bool listed[CAUSE_COUNT] = {false};

	for (size_t v = 0; v < COUNT_OF(views); v++) {
		for (size_t i = 0; i < views[v]->slice_count; i++) {
			enum cause cause = views[v]->slices[i].cause;

			if (listed[cause])
				continue;
			listed[cause] = true;
			add_row(grid, requests, cause);
		}
	}
}

/* Which of the two had an end out of sight. */
static void add_deduced(struct grid *grid, const struct report_requests *requests)
{
	bool median = requests->median.confidence == CONFIDENCE_INFERRED;
	bool p99 = requests->p99.confidence == CONFIDENCE_INFERRED;

	if (median || p99)
		grid__note(grid, COLOUR_DIM, 0,
			   "%s: the other end was not seen; its part is the time left after the "
			   "round trip",
			   median && p99 ? "both"
			   : median      ? "median"
					 : "p99");
}

static void add_total(struct grid *grid, const struct report_requests *requests)
{
	grid__row(grid, COLOUR_STRONG, "all", duration_text(requests->median.total_ns), "", "",
		  duration_text(requests->p99.total_ns));
	if (requests->sampled >= requests->count)
		grid__note(grid, COLOUR_DIM, 0, "%s, all looked at closely",
			   counted_text(requests->count, "request"));
	else
		grid__note(grid, COLOUR_DIM, 0, "%s of %s requests were looked at closely%s",
			   count_text(requests->sampled), count_text(requests->count),
			   2 * requests->sampled < requests->count ? ": a sample, and all slow ones"
								   : "");
	add_deduced(grid, requests);
}

static void print_parts(FILE *out, const struct report_requests *all,
			const struct render_style *style)
{
	const struct grid_column columns[] = {
		{all->role == REQUEST_MADE ? "WHERE A REQUEST'S TIME GOES"
					   : "WHERE A SERVED REQUEST'S TIME GOES",
		 false},
		{"MEDIAN", true},
		{"SHARE", true},
		{"", false},
		{"P99", true},
		{"SHARE", true},
		{"", false},
	};
	struct grid *grid = grid__new(columns, COUNT_OF(columns));

	add_rows(grid, all);
	add_total(grid, all);
	grid__finish(grid, out, style, TABLE_INDENT);
}

/* ---- short: a row for each endpoint, or each connection ---- */

/* The parts that took most: "nagle-delack 91.8%, peer-app 7.3%, network 0.9%" */
static char *made_of(char *dst, size_t size, const struct request_view *view)
{
	bool listed[CAUSE_COUNT] = {false};

	dst[0] = '\0';
	for (size_t n = 0; n < PARTS_SHORT; n++) {
		enum cause most = CAUSE_COUNT;

		for (size_t i = 0; i < view->slice_count; i++) {
			enum cause cause = view->slices[i].cause;

			if (!listed[cause] &&
			    (most == CAUSE_COUNT ||
			     request_view__part(view, cause) > request_view__part(view, most)))
				most = cause;
		}
		if (most == CAUSE_COUNT)
			break;
		listed[most] = true;
		text__add(dst, size, ", ", "%s %s", cause__info(most)->id,
			  percent_text(share_of(view, request_view__part(view, most))));
	}
	return dst;
}

/* Of which of them a row is; the first one of all. */
static const char *name_row(char *dst, size_t size, const struct report *report,
			    const struct report_requests *requests, bool is_first)
{
	const struct report_conn *conn =
		requests->conn ? report__conn(report, requests->conn) : NULL;

	if (conn)
		snprintf(dst, size, "%s", addresses_text(&conn->id));
	else if (is_first || !requests->end.port)
		snprintf(dst, size, "all connections");
	else
		name__endpoint(dst, size, &requests->end);
	return dst;
}

static void add_requests(struct grid *grid, const struct report *report,
			 const struct report_requests *requests, bool is_first)
{
	char name[2 * TEXT_ADDRESS + TEXT_SAFE(NS_COMM_LEN)], parts[256];

	grid__row(grid, COLOUR_PLAIN, name_row(name, sizeof(name), report, requests, is_first),
		  count_text(requests->count),
		  requests->conn ? "" : count_text(requests->connections),
		  duration_text(requests->median.total_ns), duration_text(requests->p99.total_ns),
		  made_of(parts, sizeof(parts), &requests->median));
}

/*
 *   REQUESTS IT SERVES    COUNT  CONNECTIONS  MEDIAN     P99  THE MEDIAN IS
 *   nginx :443        1,021,400    1,021,400   41 us  180 us  self 88.0%, runqueue 9.1%,
 * network 2.9%
 */
static void print_rows(FILE *out, const struct report *report, const struct report_requests *all,
		       const struct report_requests *rows, size_t count,
		       const struct render_style *style)
{
	const struct grid_column columns[] = {
		{all->role == REQUEST_MADE ? "REQUESTS IT MAKES" : "REQUESTS IT SERVES", false},
		{"COUNT", true},
		{"CONNECTIONS", true},
		{"MEDIAN", true},
		{"P99", true},
		{"THE MEDIAN IS", false},
	};
	/* In a short report the row of all is one of those for which there is room. */
	size_t shown = rows->conn       ? count
		       : style->verbose ? table__rows(style, count)
					: table__rows(style, count + 1) - 1;
	struct grid *grid = grid__new(columns, COUNT_OF(columns));

	/* What a service costs is one row. One connection's row is that of all. */
	if (rows->conn && !table__lists_each(style, count)) {
		add_requests(grid, report, all, false);
		count = shown = 0;
	} else if (count != 1 || all->connections > 1) {
		add_requests(grid, report, all, true);
	}
	for (size_t i = 0; i < shown; i++)
		add_requests(grid, report, &rows[i], false);
	grid__rest(grid, count - shown, rows->conn ? "connection" : "endpoint");
	if (all->several && rows == &all[1])
		grid__note(grid, COLOUR_PLAIN, 0,
			   "On %s of these connections several requests are under way at a time: "
			   "there not the requests are explained, but the waits for them.",
			   count_text(all->several));
	grid__finish(grid, out, style, TABLE_INDENT);
}

/* Those of one role: all together, endpoints if there are several, then connections. */
static void print_role(FILE *out, const struct report *report, const struct report_requests *all,
		       size_t count, const struct render_style *style)
{
	size_t ends = 0, conns;
	bool each = style->connections == CONNECTIONS_EACH;

	if (!all->sampled)
		return;
	while (1 + ends < count && !all[1 + ends].conn)
		ends++;
	if (style->verbose)
		print_parts(out, all, style);
	/* Two services have nothing in common; of one its connections are shown. */
	if (ends)
		print_rows(out, report, all, &all[1], ends, style);
	conns = count - 1 - ends;
	if (ends && !table__lists_each(style, conns))
		return;
	/* With all parts one connection's would say the same again. */
	if (style->verbose ? conns > 1 || all->several : each || !ends)
		print_rows(out, report, all, &all[1 + ends], conns, style);
}

void requests__print(FILE *out, const struct report *report, const struct render_style *style)
{
	const struct report_requests *all = report->requests;
	size_t made = 0, served;

	while (made < report->requests_count && all[made].role == REQUEST_MADE)
		made++;
	served = report->requests_count - made;
	if (made)
		print_role(out, report, all, made, style);
	if (served)
		print_role(out, report, &all[made], served, style);
}
