// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/connections.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/terminal/grid.h"
#include "user/render/words/names.h"

#define ROWS_MOST  20
#define ROWS_SHORT 4 /* of a short report */
#define INDENT     2
#define BITS_LEAST 20 /* writes, before their sizes say anything */

/* A connection and what it is ranked by: those that stalled must not be cut. */
struct ranked {
	const struct report_conn *conn;
	uint64_t stalled_ns;
	uint64_t traffic;
};

static const struct report_conn *peer_of(const struct report *report,
					 const struct report_conn *conn)
{
	return conn->peer ? report__conn(report, conn->peer) : NULL;
}

static int compare(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->stalled_ns != right->stalled_ns)
		return left->stalled_ns > right->stalled_ns ? -1 : 1;
	if (left->traffic != right->traffic)
		return left->traffic > right->traffic ? -1 : 1;
	return left->conn->id.head.conn < right->conn->id.head.conn ? -1 : 1;
}

/* Append a piece of a list, with a comma when something stands there. */
static void append(char *dst, size_t size, const char *count, const char *what, const char *whose)
{
	size_t used = strlen(dst);

	snprintf(dst + used, size - used, "%s%s%s%s%s%s", used > 0 ? ", " : "", count,
		 what[0] ? " " : "", what, whose[0] ? " " : "", whose);
}

/* "122 nagle, 3 cork there": of this end, and of the other one */
static void describe_holds(const struct report_conn *conn, const char *whose, char *dst,
			   size_t size)
{
	for (uint32_t reason = 0; reason < NS_HOLD_REASONS; reason++) {
		char count[TEXT_COUNT];

		if (conn->totals.holds[reason] == 0)
			continue;
		text__count(count, sizeof(count), conn->totals.holds[reason]);
		append(dst, size, count, hold_reason__name(reason), whose);
	}
}

/* "122 of 246 there": timers that ran out of those armed, and at which end. */
static void describe_delacks(const struct report_conn *conn, const char *whose, char *dst,
			     size_t size)
{
	char fired[TEXT_COUNT], armed[TEXT_COUNT], both[2 * TEXT_COUNT + 8];

	if (conn->totals.delack_fired == 0)
		return; /* none fired: what was armed did no harm */
	text__count(fired, sizeof(fired), conn->totals.delack_fired);
	text__count(armed, sizeof(armed), conn->totals.delack_armed);
	if (conn->totals.delack_armed >= conn->totals.delack_fired)
		snprintf(both, sizeof(both), "%s of %s", fired, armed);
	else
		snprintf(both, sizeof(both), "%s", fired); /* arming is not visible everywhere */
	append(dst, size, both, "", whose);
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
	const struct report_conn *peer = peer_of(report, conn), *far_row;
	char addresses[2 * TEXT_ADDRESS + 4], fd[16] = "", each[TEXT_BYTES];
	char writes[TEXT_COUNT], segments[TEXT_COUNT], sent[TEXT_BYTES], received[TEXT_BYTES];
	char retrans[TEXT_COUNT] = "", holds[160] = "", delacks[2 * NAME_SIZE] = "";

	if (conn->id.fd != NS_FD_UNKNOWN)
		snprintf(fd, sizeof(fd), "%u", conn->id.fd);
	if (conn->totals.retrans > 0)
		text__count(retrans, sizeof(retrans), conn->totals.retrans);
	describe_holds(conn, "", holds, sizeof(holds));
	far_row = peer && !report__stands_for_itself(report, peer) ? peer : NULL;
	if (far_row)
		describe_holds(far_row, "there", holds, sizeof(holds));
	describe_delacks(conn, "here", delacks, sizeof(delacks));
	if (far_row)
		describe_delacks(far_row, "there", delacks, sizeof(delacks));
	grid__row(grid, COLOUR_PLAIN);
	grid__cell(grid, "%s", name__addresses(addresses, sizeof(addresses), &conn->id));
	grid__cell(grid, "%s", fd);
	grid__cell(grid, "%s", text__count(writes, sizeof(writes), conn->totals.writes));
	text__bytes(each, sizeof(each), per_write(&conn->totals));
	grid__cell(grid, "%s", writes_in_bits(&conn->totals) ? each : "");
	grid__cell(grid, "%s", text__count(segments, sizeof(segments), conn->totals.segs_out));
	grid__cell(grid, "%s", text__bytes(sent, sizeof(sent), conn->totals.bytes_out));
	grid__cell(grid, "%s", text__bytes(received, sizeof(received), conn->totals.bytes_in));
	grid__cell(grid, "%s", retrans);
	grid__cell(grid, "%s", holds);
	grid__cell(grid, "%s", delacks);
}

static size_t rank(const struct report *report, struct ranked *ranked)
{
	size_t count = 0;

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i], *peer = peer_of(report, conn);

		if (!report__stands_for_itself(report, conn))
			continue;
		ranked[count++] = (struct ranked){
			.conn = conn,
			.stalled_ns = conn->stalled_ns + (peer ? peer->stalled_ns : 0),
			.traffic = (uint64_t)conn->totals.segs_out + conn->totals.segs_in +
				   conn->totals.writes,
		};
	}
	qsort(ranked, count, sizeof(*ranked), compare);
	return count;
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
	struct ranked *ranked;
	struct grid *grid;
	size_t most = style->verbose ? ROWS_MOST : ROWS_SHORT, count, rows;

	if (report->conn_count == 0)
		return;
	ranked = xcalloc(report->conn_count, sizeof(*ranked));
	count = rank(report, ranked);
	rows = count < most ? count : most;
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < rows; i++)
		add_conn(grid, report, ranked[i].conn);
	grid__rest(grid, count - rows + report->past.conns, "connection");
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
	free(ranked);
}
