// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/habits.h"

#include "user/base/text.h"
#include "user/explain/builder.h"

/* clang-format off */
static const char *const templates[HABIT_KINDS] = {
	[HABIT_WAKE_BOUND] =
		"wake-bound: {per_s} MiB/s, but only {bytes} for each time that it was woken ({whole_switches} switches a "
		"MiB): waking costs more than copying; let more gather first (larger reads, SO_RCVLOWAT).",
	[HABIT_SWITCHES] =
		"{switches} context switches an exchange, by {count} threads: a request that one of them served from end to end "
		"would take one.",
	[HABIT_LATENT] =
		"latent: Nagle's algorithm holds a piece back in {share} of the exchanges ({count} times, writes of {bytes} on "
		"average), each time shortly. That it is not for longer is the other end's doing, "
		"[{?by_acks}which acknowledges the piece before at once|{?is_local}whose answers carry the acknowledgement"
		"|which acknowledges the piece before, or answers, at once]; "
		"wherever it delays an acknowledgement instead, an exchange takes 40 ms more: write each message at once, or set "
		"TCP_NODELAY.",
	[HABIT_SMALL_WRITES] =
		"{count} writes of {bytes} on average: {share} are under a quarter of the mss, and {close_share} follow the "
		"one before within 1 ms with nothing read in between; gather them in one buffer or one writev().",
	[HABIT_EMPTY_WAKES] =
		"{per_s} wakes a second, and after {share} of them it slept again without having read or written anything.",
	[HABIT_PREEMPTED] =
		"taken off its CPU {per_s} times a second though it had work, and without one for {share} of the time that it had "
		"some: more threads than CPUs want to run.",
};
/* clang-format on */

#define SLOT(name, form, ...)                                                                      \
	static void add_##name(char **text, const void *subject)                                   \
	{                                                                                          \
		const struct report_habit *habit = subject;                                        \
                                                                                                   \
		builder__add(text, form, __VA_ARGS__);                                             \
	}

SLOT(count, "%s", count_text(habit->count))
SLOT(bytes, "%s", bytes_text(habit->bytes))
SLOT(per_s, "%.0f", habit->per_s)
SLOT(share, "%s", percent_text(habit->share))
SLOT(close_share, "%s", percent_text(habit->close_share))
SLOT(switches, "%.1f", habit->switches)
SLOT(whole_switches, "%.0f", habit->switches)

static bool is_by_acks(const void *subject)
{
	return ((const struct report_habit *)subject)->by_acks;
}

static bool is_local(const void *subject)
{
	return ((const struct report_habit *)subject)->is_local;
}

static const struct slot slots[] = {
	{.name = "by_acks", .holds = is_by_acks},
	{.name = "is_local", .holds = is_local},
	{.name = "count", .add = add_count},
	{.name = "bytes", .add = add_bytes},
	{.name = "per_s", .add = add_per_s},
	{.name = "share", .add = add_share},
	{.name = "close_share", .add = add_close_share},
	{.name = "switches", .add = add_switches},
	{.name = "whole_switches", .add = add_whole_switches},
	{.name = NULL},
};

/* "forwarder/812", "client/812 on fd 7 (127.0.0.1:7 -> 127.0.0.1:8)" */
static void add_who(char **text, const struct report *report, const struct report_habit *habit)
{
	const struct report_conn *conn = report__conn(report, habit->conn);
	uint32_t tid = habit->tid ? habit->tid : habit->pid;
	const char *called = report__comm(report, habit->pid, tid);

	builder__add(text, "%s/%u", safe_text(called ? called : "?", NS_COMM_LEN),
		     conn ? habit->pid : tid);
	if (!conn)
		return;
	if (conn->id.fd != NS_FD_UNKNOWN)
		builder__add(text, " on fd %u", conn->id.fd);
	builder__add(text, " (%s -> %s)",
		     address_text(conn->id.family, conn->id.laddr, conn->id.lport),
		     address_text(conn->id.family, conn->id.raddr, conn->id.rport));
}

char *habit__sentence(const struct report *report, const struct report_habit *habit)
{
	char *text = NULL;

	add_who(&text, report, habit);
	builder__add(&text, ": ");
	builder__expand(&text, templates[habit->habit], slots, habit);
	return text;
}
