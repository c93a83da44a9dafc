// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waits that nothing held in TCP explains: programs, threads, timers, disks, CPUs. */
#include <stdio.h>
#include <string.h>

#include "user/base/text.h"
#include "user/explain/tale_parts.h"
#include "user/record/syscalls.h"

static bool is_known(const struct story *story, uint32_t pid)
{
	return pid && report__process(story->report, pid);
}

/* " in read on fd 7"; nothing when the call is not known. */
static void add_call(const struct story *story, char **text)
{
	char call[64];

	if (story__call(call, sizeof(call), story->report, &story->stall->wait))
		prose__add(text, " in %s", call);
}

static void add_waiter(const struct story *story, char **text)
{
	prose__add(text, "%s waited", story->waiter);
	add_call(story, text);
}

/* " (127.0.0.1:1 -> 127.0.0.1:2)", where the wait was for a connection */
static void add_for_other(const struct story *story, char **text)
{
	if (!story->conn)
		return;
	tale__connection(story, text);
	prose__add(text, " for %s", story->other);
}

/* " until worker/77 woke it"; nothing when the waker is no thread that is watched. */
static void add_waker(const struct story *story, char **text)
{
	const struct ns_wait *wait = &story->stall->wait;
	char name[STORY_NAME];

	if (!wait->head.type || !is_known(story, wait->waker_tgid))
		return;
	prose__add(text, " until %s woke it",
		   story__thread(name, sizeof(name), story->report, wait->waker_tgid,
				 wait->waker_tid));
}

static void add_round_trip(const struct story *story, char **text)
{
	const struct ns_wait *wait = &story->stall->wait;
	char rtt[TEXT_DURATION], least[TEXT_DURATION];

	if (!wait->head.type || !wait->srtt_us)
		return;
	prose__add(text, " A round trip takes %s here",
		   text__duration(rtt, sizeof(rtt), 1000ull * wait->srtt_us));
	if (wait->min_rtt_us)
		prose__add(text, ", and took %s at least",
			   text__duration(least, sizeof(least), 1000ull * wait->min_rtt_us));
	prose__add(text, ".");
}

static bool is_blind(const struct story *story, enum ns_fact fact)
{
	return story->report->session.missing >> fact & 1;
}

static uint64_t held_ever(const struct report_conn *conn)
{
	uint64_t holds = 0;

	for (uint32_t reason = 0; reason < NS_HOLD_REASONS; reason++)
		holds += conn->totals.holds[reason];
	return holds;
}

/*
 * Ruled out is only what this way of attaching would have shown, at either end, and what did
 * not happen on this connection in all the time that it was watched.
 */
static void add_ruled_out(const struct story *story, char **text)
{
	const struct report_conn *conn = story->conn, *peer = story->peer;
	bool holds, losses;

	if (!conn)
		return;
	holds = !is_blind(story, NS_FACT_SEND) && !held_ever(conn) && (!peer || !held_ever(peer));
	losses = !is_blind(story, NS_FACT_RETRANS) && !conn->totals.retrans &&
		 (!peer || !peer->totals.retrans);
	if (holds || losses)
		prose__add(text, " TCP %s%s%s on this connection.",
			   holds ? "held nothing back" : "", holds && losses ? " and " : "",
			   losses ? "sent nothing again" : "");
}

void tale__peer_app(const struct story *story, char **text)
{
	prose__add(text, "%s wrote on %s", story->conn ? story->sender : story->waiter, story->fd);
	tale__connection(story, text);
	prose__add(text, " and then waited");
	add_call(story, text);
	prose__add(text, " for %s to answer: the program there took that time.", story->other);
	add_ruled_out(story, text);
	tale__chain(story, text);
	if (!story->peer)
		add_round_trip(story, text);
}

void tale__network(const struct story *story, char **text)
{
	add_waiter(story, text);
	add_for_other(story, text);
	prose__add(text, ": the bytes were under way for that time.");
	add_ruled_out(story, text);
	add_round_trip(story, text);
}

/* How long a thread was ready to run in this wait, and did not. */
static uint64_t queued_ns(const struct ns_wait *wait)
{
	if (!wait->head.type)
		return 0;
	if (!wait->state)
		return wait->head.ts - wait->off_ts;
	return wait->wake_ts && wait->wake_ts < wait->head.ts ? wait->head.ts - wait->wake_ts : 0;
}

/* Of the threads of the chain, the delayed one among them, the one that waited longest for a CPU.
 */
static const struct ns_wait *longest_queued(const struct stall *stall)
{
	const struct ns_wait *longest = &stall->wait;

	for (size_t i = 0; i < stall->link_count; i++) {
		if (queued_ns(&stall->links[i].wait) > queued_ns(longest))
			longest = &stall->links[i].wait;
	}
	return longest;
}

void tale__runqueue(const struct story *story, char **text)
{
	const struct ns_wait *wait = longest_queued(story->stall);
	char waited[TEXT_DURATION], name[STORY_NAME];

	prose__add(text, "%s was ready to run and waited for a CPU",
		   wait->head.type ? story__thread(name, sizeof(name), story->report,
						   wait->head.tgid, wait->head.tid)
				   : story->waiter);
	if (queued_ns(wait))
		prose__add(text, ": %s passed until it ran",
			   text__duration(waited, sizeof(waited), queued_ns(wait)));
	prose__add(text, ". Which threads had the CPUs meanwhile was not recorded.");
	if (wait->head.tid != story->stall->wait.head.tid && story->stall->wait.head.type)
		prose__add(text, " %s waited for it.", story->waiter);
}

void tale__lock(const struct story *story, char **text)
{
	add_waiter(story, text);
	add_waker(story, text);
	prose__add(text, ": for a lock that another thread held, or for a signal between threads.");
	tale__operation(story, text);
	tale__chain(story, text);
}

static bool is_for_a_child(const struct story *story)
{
	const char *name = syscall__name(story->report->session.arch, story->stall->wait.syscall);

	return name && (!strcmp(name, "wait4") || !strcmp(name, "waitid"));
}

void tale__ipc(const struct story *story, char **text)
{
	add_waiter(story, text);
	add_waker(story, text);
	prose__add(text,
		   is_for_a_child(story)
			   ? ": for a child's end, not for the network."
			   : ": for a pipe, a Unix socket, an eventfd or the like, not for the "
			     "network.");
	tale__operation(story, text);
	tale__chain(story, text);
}

void tale__disk(const struct story *story, char **text)
{
	add_waiter(story, text);
	prose__add(text, " for block I/O.");
	tale__operation(story, text);
	tale__chain(story, text);
}

/* " of 40 ms", where the call has its time-out in an argument that is recorded. */
static char *time_out_of(const struct story *story, char *dst, size_t size)
{
	const struct ns_wait *wait = &story->stall->wait;
	const char *name = syscall__name(story->report->session.arch, wait->syscall);
	char asked[TEXT_DURATION];
	bool has_one = name && (!strcmp(name, "poll") || !strncmp(name, "epoll_", 6)) &&
		       strcmp(name, "epoll_pwait2") != 0; /* there it is a pointer */

	dst[0] = '\0';
	if (has_one && wait->arg2 > 0 && wait->arg2 <= INT32_MAX)
		snprintf(dst, size, " of %s",
			 text__nominal(asked, sizeof(asked), 1000000ull * wait->arg2));
	return dst;
}

void tale__timer(const struct story *story, char **text)
{
	const struct ns_wait *wait = &story->stall->wait;
	char call[64], asked[TEXT_DURATION + 8];
	const char *where = story__call(call, sizeof(call), story->report, wait);

	if (tale__clock_of_ring(story, text))
		tale__operation(story, text);
	else if (where &&
		 syscall__wait(story->report->session.arch, wait->syscall) != SYSCALL_WAIT_OTHER)
		prose__add(text,
			   "%s waited in %s until the time-out%s that it had set itself ran out: "
			   "nothing that it waited for came.",
			   story->waiter, where, time_out_of(story, asked, sizeof(asked)));
	else
		prose__add(text, "%s slept%s%s, as long as it had asked for.", story->waiter,
			   where ? " in " : "", where ? where : "");
	tale__chain(story, text);
}

void tale__uring(const struct story *story, char **text)
{
	add_waiter(story, text);
	prose__add(text, " for a completion of io_uring");
	if (story->stall->wait.ring)
		prose__add(text, ", on ring %u", story->stall->wait.ring);
	prose__add(text, ".");
	tale__operation(story, text);
	tale__chain(story, text);
}

static void add_held(const struct story *story, char **text)
{
	char bytes[TEXT_BYTES];

	prose__add(text, "%s wrote on %s", story->sender, story->fd);
	tale__connection(story, text);
	prose__add(text, ", and TCP held %s of it back.",
		   text__bytes(bytes, sizeof(bytes), story->stall->held_bytes));
}

void tale__unknown(const struct story *story, char **text)
{
	if (story->stall->held_bytes) {
		add_held(story, text);
		return;
	}
	if (!story->conn) {
		add_waiter(story, text);
		prose__add(text, ".");
		tale__chain(story, text);
		return;
	}
	prose__add(text, "%s wrote on %s", story->sender, story->fd);
	tale__connection(story, text);
	prose__add(text, " and then waited");
	add_call(story, text);
	prose__add(text, " for %s.", story->other);
	tale__chain(story, text);
}
