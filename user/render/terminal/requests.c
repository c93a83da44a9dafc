// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 *   WHERE A REQUEST'S TIME GOES  MEDIAN   SHARE                           P99   SHARE
 *   nagle-delack                40.5 ms   91.8%  ##################   41.2 ms   89.6%
 *   peer-app                    3.20 ms    7.3%  #                    4.10 ms    8.9%
 *   network                      410 us    0.9%                        690 us    1.5%
 *   all of it                   44.1 ms                               46.0 ms
 *   of 122 requests, all taken apart
 */
#include "user/render/terminal/requests.h"

#include <string.h>

#include "user/base/text.h"
#include "user/render/terminal/colour.h"
#include "user/render/terminal/grid.h"
#include "user/render/words/names.h"

#define INDENT      2
#define BAR         20 /* columns of the whole time */
#define ROWS_MOST   5  /* connections */
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t part_of(const struct request_view *view, enum cause cause)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < view->slice_count; i++)
		ns += view->slices[i].cause == cause ? view->slices[i].ns : 0;
	return ns;
}

static double share_of(const struct request_view *view, uint64_t ns)
{
	return view->total_ns ? (double)ns / (double)view->total_ns : 0;
}

/* Two cells; empty ones when the exchange has nothing of this cause. */
static void add_part(struct grid *grid, const struct request_view *view, uint64_t ns)
{
	char time[TEXT_DURATION], share[TEXT_PERCENT];

	if (!ns) {
		grid__cell(grid, "-");
		grid__cell(grid, "-");
		return;
	}
	grid__cell(grid, "%s", text__duration(time, sizeof(time), ns));
	grid__cell(grid, "%s", text__percent(share, sizeof(share), share_of(view, ns)));
}

static void add_bar(struct grid *grid, double share)
{
	char bar[BAR + 1];
	size_t length = (size_t)(share * BAR + 0.5);

	length = length < BAR ? length : BAR;
	memset(bar, '#', length);
	bar[length] = '\0';
	grid__cell(grid, "%s", bar);
}

static void add_row(struct grid *grid, const struct report_requests *requests, enum cause cause)
{
	uint64_t median = part_of(&requests->median, cause), p99 = part_of(&requests->p99, cause);

	grid__row(grid, COLOUR_PLAIN);
	grid__cell(grid, "%s", cause__info(cause)->id);
	add_part(grid, &requests->median, median);
	add_bar(grid, share_of(&requests->median, median));
	add_part(grid, &requests->p99, p99);
}

/* A row for each cause, in the order in which they come in the median, then in the p99. */
static void add_rows(struct grid *grid, const struct report_requests *requests)
{
	const struct request_view *views[] = {&requests->median, &requests->p99};
	bool told[CAUSE_COUNT] = {false};

	for (size_t v = 0; v < COUNT_OF(views); v++) {
		for (size_t i = 0; i < views[v]->slice_count; i++) {
			enum cause cause = views[v]->slices[i].cause;

			if (told[cause])
				continue;
			told[cause] = true;
			add_row(grid, requests, cause);
		}
	}
}

/* Which of the two had an end out of sight. */
static void add_deduced(struct grid *grid, const struct report_requests *requests)
{
	bool median = requests->median.confidence == CONFIDENCE_INFERRED;
	bool p99 = requests->p99.confidence == CONFIDENCE_INFERRED;
	char line[160];

	if (!median && !p99)
		return;
	snprintf(line, sizeof(line),
		 "%s: the other end's part was not seen itself, but told from the way's by the "
		 "round trip",
		 median && p99 ? "both"
		 : median      ? "median"
			       : "p99");
	grid__note(grid, COLOUR_DIM, 0, line);
}

static void add_total(struct grid *grid, const struct report_requests *requests)
{
	char median[TEXT_DURATION], p99[TEXT_DURATION], count[TEXT_COUNT], sampled[TEXT_COUNT];
	char line[160];

	grid__row(grid, COLOUR_STRONG);
	grid__cell(grid, "all of it");
	grid__cell(grid, "%s", text__duration(median, sizeof(median), requests->median.total_ns));
	grid__cell(grid, "%s", "");
	grid__cell(grid, "%s", "");
	grid__cell(grid, "%s", text__duration(p99, sizeof(p99), requests->p99.total_ns));
	text__count(count, sizeof(count), requests->count);
	text__count(sampled, sizeof(sampled), requests->sampled);
	if (requests->sampled >= requests->count)
		snprintf(line, sizeof(line), "of %s request%s, all taken apart", count,
			 requests->count == 1 ? "" : "s");
	else
		snprintf(line, sizeof(line), "of %s requests, %s of them taken apart", count,
			 sampled);
	grid__note(grid, COLOUR_DIM, 0, line);
	add_deduced(grid, requests);
}

/* What took most of the median one: "nagle-delack 91.8%" */
static void add_mostly(struct grid *grid, const struct request_view *view)
{
	enum cause most = CAUSE_UNKNOWN;
	char share[TEXT_PERCENT];

	for (size_t i = 0; i < view->slice_count; i++)
		if (part_of(view, view->slices[i].cause) > part_of(view, most))
			most = view->slices[i].cause;
	if (view->slice_count)
		grid__cell(
			grid, "%s %s", cause__info(most)->id,
			text__percent(share, sizeof(share), share_of(view, part_of(view, most))));
}

/* "127.0.0.1:37640 -> 127.0.0.1:7000   122  44.1 ms  46.0 ms  nagle-delack 91.8%" */
static void print_conns(FILE *out, const struct report *report, const struct render_style *style,
			const struct report_requests *requests, size_t count)
{
	static const struct grid_column columns[] = {
		{"REQUESTS ON", false}, {"COUNT", true},           {"MEDIAN", true},
		{"P99", true},          {"MEDIAN, MOSTLY", false},
	};
	struct grid *grid = grid__new(columns, COUNT_OF(columns));

	for (size_t i = 0; i < count && i < ROWS_MOST; i++) {
		const struct report_conn *conn = report__conn(report, requests[i].conn);
		char addresses[2 * TEXT_ADDRESS + 4] = "?", number[TEXT_COUNT];
		char median[TEXT_DURATION], p99[TEXT_DURATION];

		if (conn)
			name__addresses(addresses, sizeof(addresses), &conn->id);
		grid__row(grid, COLOUR_PLAIN);
		grid__cell(grid, "%s", addresses);
		grid__cell(grid, "%s", text__count(number, sizeof(number), requests[i].count));
		grid__cell(grid, "%s",
			   text__duration(median, sizeof(median), requests[i].median.total_ns));
		grid__cell(grid, "%s", text__duration(p99, sizeof(p99), requests[i].p99.total_ns));
		add_mostly(grid, &requests[i].median);
	}
	if (count > ROWS_MOST) {
		char line[64];

		snprintf(line, sizeof(line), "and %zu more connection%s", count - ROWS_MOST,
			 count - ROWS_MOST > 1 ? "s" : "");
		grid__note(grid, COLOUR_DIM, 0, line);
	}
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
}

void requests__print(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"WHERE A REQUEST'S TIME GOES", false},
		{"MEDIAN", true},
		{"SHARE", true},
		{"", false},
		{"P99", true},
		{"SHARE", true},
		{"", false},
	};
	const struct report_requests *all = report->requests;
	struct grid *grid;

	if (report->requests_count == 0 || all->sampled == 0)
		return;
	grid = grid__new(columns, COUNT_OF(columns));
	add_rows(grid, all);
	add_total(grid, all);
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
	/* One connection's would say the same again. */
	if (report->requests_count > 2)
		print_conns(out, report, style, all + 1, report->requests_count - 1);
}
