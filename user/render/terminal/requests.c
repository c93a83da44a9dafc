// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 *   WHERE A REQUEST'S TIME GOES  MEDIAN   SHARE                           P99   SHARE
 *   nagle-delack                40.5 ms   91.8%  ##################   41.2 ms   89.6%
 *   peer-app                    3.20 ms    7.3%  #                    4.10 ms    8.9%
 *   network                      410 us    0.9%                        690 us    1.5%
 *   all                         44.1 ms                               46.0 ms
 *   122 requests, all analysed
 */
#include "user/render/terminal/requests.h"

#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/render/terminal/colour.h"
#include "user/render/terminal/grid.h"
#include "user/render/words/names.h"

#define INDENT      2
#define BAR         20 /* columns of the whole time */
#define ROWS_MOST   20 /* connections */
#define ROWS_SHORT  3  /* of a short report */
#define PARTS_SHORT 3

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
	char line[160];

	if (!median && !p99)
		return;
	snprintf(line, sizeof(line),
		 "%s: the other end was not seen; its part is the time left after the round "
		 "trip",
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
	grid__cell(grid, "all");
	grid__cell(grid, "%s", text__duration(median, sizeof(median), requests->median.total_ns));
	grid__cell(grid, "%s", "");
	grid__cell(grid, "%s", "");
	grid__cell(grid, "%s", text__duration(p99, sizeof(p99), requests->p99.total_ns));
	text__count(count, sizeof(count), requests->count);
	text__count(sampled, sizeof(sampled), requests->sampled);
	if (requests->sampled >= requests->count)
		snprintf(line, sizeof(line), "%s request%s, all analysed", count,
			 requests->count == 1 ? "" : "s");
	else
		snprintf(line, sizeof(line), "%s requests, %s of them analysed", count, sampled);
	grid__note(grid, COLOUR_DIM, 0, line);
	add_deduced(grid, requests);
}

static void print_parts(FILE *out, const struct report_requests *all,
			const struct render_style *style)
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
	struct grid *grid = grid__new(columns, COUNT_OF(columns));

	add_rows(grid, all);
	add_total(grid, all);
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
}

/* ---- short: a row for each connection ---- */

/* The parts that took most: "nagle-delack 91.8%, peer-app 7.3%, network 0.9%" */
static void add_made_of(struct grid *grid, const struct request_view *view)
{
	char made[256] = "", share[TEXT_PERCENT];
	bool listed[CAUSE_COUNT] = {false};
	size_t used = 0;

	for (size_t n = 0; n < PARTS_SHORT; n++) {
		enum cause most = CAUSE_COUNT;

		for (size_t i = 0; i < view->slice_count; i++) {
			enum cause cause = view->slices[i].cause;

			if (!listed[cause] &&
			    (most == CAUSE_COUNT || part_of(view, cause) > part_of(view, most)))
				most = cause;
		}
		if (most == CAUSE_COUNT)
			break;
		listed[most] = true;
		used += (size_t)snprintf(
			made + used, sizeof(made) - used, "%s%s %s", n ? ", " : "",
			cause__info(most)->id,
			text__percent(share, sizeof(share), share_of(view, part_of(view, most))));
	}
	grid__cell(grid, "%s", made);
}

static void add_requests(struct grid *grid, const struct report *report,
			 const struct report_requests *requests)
{
	const struct report_conn *conn =
		requests->conn ? report__conn(report, requests->conn) : NULL;
	char addresses[2 * TEXT_ADDRESS + 4] = "all connections", number[TEXT_COUNT];
	char median[TEXT_DURATION], p99[TEXT_DURATION];

	if (conn)
		name__addresses(addresses, sizeof(addresses), &conn->id);
	grid__row(grid, COLOUR_PLAIN);
	grid__cell(grid, "%s", addresses);
	grid__cell(grid, "%s", text__count(number, sizeof(number), requests->count));
	grid__cell(grid, "%s", text__duration(median, sizeof(median), requests->median.total_ns));
	grid__cell(grid, "%s", text__duration(p99, sizeof(p99), requests->p99.total_ns));
	add_made_of(grid, &requests->median);
}

/*
 *   REQUESTS ON                          COUNT   MEDIAN      P99  THE MEDIAN IS
 *   127.0.0.1:37640 -> 127.0.0.1:7000      122  44.1 ms  46.0 ms  nagle-delack 91.8%
 */
static void print_conns(FILE *out, const struct report *report, const struct render_style *style,
			size_t most)
{
	static const struct grid_column columns[] = {
		{"REQUESTS ON", false}, {"COUNT", true},          {"MEDIAN", true},
		{"P99", true},          {"THE MEDIAN IS", false},
	};
	const struct report_requests *all = report->requests;
	size_t count = report->requests_count - 1, rows = count < most ? count : most;
	struct grid *grid = grid__new(columns, COUNT_OF(columns));

	/* One connection's row is that of all. */
	if (count != 1)
		add_requests(grid, report, all);
	for (size_t i = 0; i < rows; i++)
		add_requests(grid, report, &all[i + 1]);
	grid__rest(grid, count - rows, "connection");
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
}

void requests__print(FILE *out, const struct report *report, const struct render_style *style)
{
	if (report->requests_count == 0 || report->requests->sampled == 0)
		return;
	if (!style->verbose) {
		print_conns(out, report, style, ROWS_SHORT);
		return;
	}
	print_parts(out, report->requests, style);
	/* One connection's would say the same again. */
	if (report->requests_count > 2)
		print_conns(out, report, style, ROWS_MOST);
}
