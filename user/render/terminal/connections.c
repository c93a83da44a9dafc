// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>

#include "user/analyze/conns.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/tables.h"
#include "user/render/words/names.h"

#define LIST_TEXT  192
#define BITS_LEAST 20 /* writes, before their sizes say anything */

/* "122 nagle, 3 cork there": of this end, and of the other one */
static void add_holds(char list[LIST_TEXT], const struct report_conn *conn, const char *where)
{
	for (uint32_t reason = 0; reason < NS_HOLD_REASONS; reason++)
		if (conn->totals.holds[reason])
			text__add(list, LIST_TEXT, ", ", "%s %s%s",
				  count_text(conn->totals.holds[reason]), hold_reason__name(reason),
				  where);
}

/* "122 of 246 there": timers that ran out of those armed, and at which end. */
static void add_delacks(char list[LIST_TEXT], const struct report_conn *conn, const char *where)
{
	const struct ns_conn_totals *totals = &conn->totals;

	if (totals->delack_fired == 0)
		return; /* none fired: what was armed did no harm */
	text__add(list, LIST_TEXT, ", ", "%s", count_text(totals->delack_fired));
	if (totals->delack_armed >= totals->delack_fired) /* arming is not visible everywhere */
		text__add(list, LIST_TEXT, "", " of %s", count_text(totals->delack_armed));
	text__add(list, LIST_TEXT, "", "%s", where);
}

static uint64_t per_write(const struct ns_conn_totals *totals)
{
	return totals->writes ? totals->bytes_out / totals->writes : 0;
}

/* Small writes, many of which follow close upon one another: out of the ordinary. */
static bool writes_in_bits(const struct ns_conn_totals *totals)
{
	return totals->writes >= BITS_LEAST && 2 * totals->small_writes >= totals->writes &&
	       4 * totals->close_writes >= totals->writes;
}

static void add_conn(struct grid *grid, const struct report *report, const struct report_conn *conn)
{
	const struct report_conn *peer = report__peer(report, conn);
	const struct ns_conn_totals *totals = &conn->totals;
	char fd[16] = "", holds[LIST_TEXT] = "", delacks[LIST_TEXT] = "";

	if (conn->id.fd != NS_FD_UNKNOWN)
		print_to(fd, "%u", conn->id.fd);
	add_holds(holds, conn, "");
	add_delacks(delacks, conn, " here");
	if (peer && !report__stands_for_itself(report, peer)) {
		add_holds(holds, peer, " there");
		add_delacks(delacks, peer, " there");
	}
	grid__row(grid, COLOUR_PLAIN, addresses_text(&conn->id), fd, count_text(totals->writes),
		  writes_in_bits(totals) ? bytes_text(per_write(totals)) : "",
		  count_text(totals->segs_out), bytes_text(totals->bytes_out),
		  bytes_text(totals->bytes_in), totals->retrans ? count_text(totals->retrans) : "",
		  holds, delacks);
}

/* Those to be told of, in their order; returns how many. */
static size_t choose(const struct report *report, struct conn_rank *ranks, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct report_conn *conn = ranks[i].conn;

		/* One-way traffic has no other row. */
		if (ranks[i].found ||
		    (conn->id.role & NS_ROLE_TARGET && !conns__have_row(report, conn)))
			ranks[kept++] = ranks[i];
	}
	return kept;
}

static void add_rest(struct grid *grid, uint64_t cut, uint64_t others)
{
	grid__rest(grid, cut, "connection");
	if (others)
		grid__note(grid, COLOUR_DIM, 0,
			   "nothing found on %s %s (--connections=each lists them)",
			   count_text(others), others > 1 ? "others" : "other");
}

void connections__print(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"CONNECTION", false}, {"FD", true},
		{"WRITES", true},      {"PER WRITE", true},
		{"SEGMENTS", true},    {"OUT", true},
		{"IN", true},          {"RESENT", true},
		{"HELD", false},       {"DELAYED ACKS", false},
	};
	struct conn_rank *ranks;
	struct grid *grid;
	size_t all, count, rows;
	uint64_t past = report->past.conns;

	if (report->conn_count == 0)
		return;
	ranks = xcalloc(report->conn_count, sizeof(*ranks));
	all = count = conns__rank(report, ranks);
	if (!table__lists_each(style, all + past)) {
		count = choose(report, ranks, all);
		past = report->past.found;
	}
	rows = style->connections == CONNECTIONS_EACH ? count : table__rows(style, count);
	if (!rows) {
		free(ranks);
		return;
	}
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < rows; i++)
		add_conn(grid, report, ranks[i].conn);
	add_rest(grid, count - rows + past, all - count + report->past.conns - past);
	grid__finish(grid, out, style, TABLE_INDENT);
	free(ranks);
}
