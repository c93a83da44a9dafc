// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/limited.h"

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/explain/builder.h"
#include "user/explain/context.h"

/* Of the window: who computes for as long as that is busy. */
#define BUSY 0.5

static uint64_t window_of(const struct report *report)
{
	return report->end_ts - report->start_ts;
}

static enum ns_limit main_limit(const struct report_conn *conn)
{
	const __u64 *limited_ns = conn->totals.limited_ns;

	return limited_ns[NS_LIMIT_SNDBUF] > limited_ns[NS_LIMIT_RWND] ? NS_LIMIT_SNDBUF
								       : NS_LIMIT_RWND;
}

static uint64_t longest_of(const struct report_conn *conn)
{
	return conn->totals.limited_ns[main_limit(conn)];
}

const struct report_conn *limited__longest(const struct report *report)
{
	const struct report_conn *longest = NULL;

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i];

		if (conn->id.role & NS_ROLE_TARGET &&
		    longest_of(conn) > (longest ? longest_of(longest) : 0))
			longest = conn;
	}
	return longest && 2 * longest_of(longest) >= window_of(report) ? longest : NULL;
}

/* Windows closed: what it was to read lay there. */
static bool does_not_read(const struct report_conn *conn)
{
	return 2 * conn->totals.holds[NS_HOLD_ZERO_WINDOW] >= conn->totals.holds[NS_HOLD_RWND];
}

void limited__add_title(char **text, const struct report *report, const struct report_conn *conn)
{
	uint32_t pid = conn->id.head.tgid;

	builder__add(text, "for %s of %s what %s writes waited for ",
		     part_text(longest_of(conn), window_of(report)),
		     duration_text(window_of(report)), thread_text(report, pid, pid));
	if (main_limit(conn) == NS_LIMIT_SNDBUF) {
		builder__add(text, "room in its own send buffer");
		return;
	}
	builder__add(text, does_not_read(conn) ? "%s to read" : "room in the window of %s",
		     other_end_text(report, conn));
}

/* Of the thread that was on a CPU for longest. */
static double busy_share(const struct report *report, uint32_t pid)
{
	uint64_t most = 0;

	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (thread->pid == pid && thread->on_cpu_ns > most)
			most = thread->on_cpu_ns;
	}
	return window_of(report) ? (double)most / (double)window_of(report) : 0;
}

void limited__add_why(char **text, const struct report *report, const struct report_conn *conn)
{
	const struct report_conn *peer = report__peer(report, conn);
	uint32_t pid = peer ? peer->id.head.tgid : 0;
	double busy = busy_share(report, pid);

	if (main_limit(conn) == NS_LIMIT_SNDBUF) {
		builder__add(text,
			     " All that fits there was under way: let it be larger (leave "
			     "SO_SNDBUF alone, or set net.ipv4.tcp_wmem).");
		return;
	}
	builder__add(text, " %s", other_end_text(report, conn));
	if (!pid)
		builder__add(text,
			     " reads more slowly than is written, or its receive buffer is "
			     "too small for the way there: trace it on its host.");
	else if (busy >= BUSY)
		builder__add(text,
			     " was on a CPU for %s of the time: it computes, and reads more slowly "
			     "than is written. No window and no buffer makes it faster.",
			     percent_text(busy));
	else
		builder__add(text,
			     " was on a CPU for %s of the time: netstall trace %s says what "
			     "it waits for.",
			     percent_text(busy), target_text(report, pid));
}
