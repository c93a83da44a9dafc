// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waits that nothing held in TCP explains: programs, threads, timers, disks, CPUs. */
#include <stdio.h>
#include <string.h>

#include "user/analyze/waits/uring_wait.h"
#include "user/base/text.h"
#include "user/explain/explain_parts.h"
#include "user/explain/template.h"
#include "user/record/syscalls.h"

/* ---- the waker chain: whom the delayed thread waited for, and what that one did ---- */

/* What a thread did in its link: followed by how long, and in which call. */
struct deed {
	const char *did;  /* "waited" */
	const char *last; /* behind it, when nothing further back was seen */
};

/* clang-format off */
static const struct deed deeds[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = {"waited", ", for what was not seen"},
	[CAUSE_NETWORK] = {"waited", " for the network"},
	[CAUSE_RUNQUEUE] = {"was ready to run and waited", " for a CPU"},
	[CAUSE_PEER_APP] = {"waited", " for the other end of a connection of its own"},
	[CAUSE_IDLE] = {"waited", " for something to do"},
	[CAUSE_LOCK] = {"waited", " for a lock, or a signal of another thread"},
	[CAUSE_IPC] = {"waited", " for another process or thread of this host"},
	[CAUSE_DISK] = {"waited", " for block I/O"},
	[CAUSE_TIMER] = {"slept", ", as long as it had asked for"},
	[CAUSE_URING] = {"waited", " for a completion of io_uring"},
};
/* clang-format on */

/* A link whose thread was not off the CPU by any wait that was seen. */
static void add_busy(const struct stall_link *link, char **text)
{
	char took[TEXT_DURATION];

	builder__add(text, " took %s, in no wait that was seen",
		     text__duration(took, sizeof(took), link->end_ts - link->start_ts));
}

/* Without the time that it was ready to run again, unless that is what it waited for. */
static uint64_t blocked_ns(const struct stall_link *link)
{
	uint64_t end = link->end_ts;

	if (link->cause != CAUSE_RUNQUEUE && link->wait.wake_ts > link->start_ts &&
	    link->wait.wake_ts < end)
		end = link->wait.wake_ts;
	return end - link->start_ts;
}

static void add_deed(const struct context *context, const struct stall_link *link, bool is_last,
		     char **text)
{
	const struct deed *deed = &deeds[link->cause];
	char took[TEXT_DURATION], call[64], waker[CONTEXT_NAME];

	if (!link->wait.head.type) {
		add_busy(link, text);
		return;
	}
	builder__add(text, " %s %s", deed->did ? deed->did : "waited",
		     text__duration(took, sizeof(took), blocked_ns(link)));
	if (context__call(call, sizeof(call), context->report, &link->wait))
		builder__add(text, " in %s", call);
	if (!is_last)
		return;
	builder__add(text, "%s", deed->last ? deed->last : "");
	if (!deed->did)
		builder__add(text, ", and that was %s", cause__info(link->cause)->id);
	else if ((link->cause == CAUSE_LOCK || link->cause == CAUSE_IPC) && link->wait.waker_tgid &&
		 report__process(context->report, link->wait.waker_tgid))
		builder__add(text, ", until %s woke it",
			     context__thread(waker, sizeof(waker), context->report,
					     link->wait.waker_tgid, link->wait.waker_tid));
}

/* " The same in 88 of the 91 stalls.", where that chain is not the only one seen */
static void add_alike(const struct context *context, char **text)
{
	const struct stall_link *last = context->root;
	char count[TEXT_COUNT], all[TEXT_COUNT];

	for (size_t i = 0; i < TALLY_ROOTS && context->tally->count > 1; i++) {
		const struct tally_root *root = &context->tally->roots[i];

		if (root->count < 2 || root->cause != last->cause || root->tid != last->tid ||
		    root->syscall != last->wait.syscall)
			continue;
		if (root->count == context->tally->count) {
			builder__add(text, " The same each time.");
			return;
		}
		builder__add(text, " The same in %s of the %s stalls.",
			     text__count(count, sizeof(count), root->count),
			     text__count(all, sizeof(all), context->tally->count));
		return;
	}
}

void explain__chain(const struct context *context, char **text)
{
	const struct stall *stall = context->stall;
	char name[CONTEXT_NAME];
	bool begun = false;

	for (size_t i = 1; i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		if (!link->pid && !link->tid)
			continue; /* the network, of which the cause tells */
		context__thread(name, sizeof(name), context->report, link->pid, link->tid);
		builder__add(text, begun ? " for %s, which" : " %s", name);
		add_deed(context, link, i + 1 == stall->link_count, text);
		begun = true;
	}
	if (!begun)
		return;
	builder__add(text, ".");
	add_alike(context, text);
}

/* ---- the operation of io_uring that ended a wait ---- */

/* When it was completed, or became ready, as far as that was before the thread ran again. */
static uint64_t done_ts(const struct ns_wait *wait)
{
	return wait->op_done_ts ? wait->op_done_ts : wait->head.ts;
}

/* ", 41.0 ms after client/4242 had submitted it" */
static void add_submission(const struct context *context, const struct ns_wait *wait, char **text)
{
	char took[TEXT_DURATION], name[CONTEXT_NAME];

	if (!wait->op_submit_ts || wait->op_submit_ts > done_ts(wait)) {
		builder__add(text, "; when it had been submitted was not seen");
		return;
	}
	if (wait->op_tid && wait->op_tid != wait->head.tid)
		context__thread(name, sizeof(name), context->report, wait->head.tgid, wait->op_tid);
	else
		snprintf(name, sizeof(name), "this thread");
	builder__add(text, ", %s after %s had submitted it",
		     text__duration(took, sizeof(took), done_ts(wait) - wait->op_submit_ts), name);
}

void explain__operation(const struct context *context, char **text)
{
	const struct ns_wait *wait = &context->stall->wait;
	char operation[48], worker[CONTEXT_NAME];

	if (!context__operation(operation, sizeof(operation), wait))
		return;
	if (!wait->ring) {
		builder__add(text, " It is a worker thread of io_uring, at the operation %s.",
			     operation);
		return;
	}
	builder__add(text, " What ended the wait was the io_uring operation %s of ring %u",
		     operation, wait->ring);
	if (wait->op_how == NS_URING_WORKER && wait->op_by_tid)
		builder__add(text, ", which worker thread %s did",
			     context__thread(worker, sizeof(worker), context->report,
					     wait->head.tgid, wait->op_by_tid));
	add_submission(context, wait, text);
	builder__add(text, ".");
}

bool explain__clock_of_ring(const struct context *context, char **text)
{
	const struct ns_wait *wait = &context->stall->wait;
	char operation[48], took[TEXT_DURATION];

	if (!wait->ring || !context__operation(operation, sizeof(operation), wait))
		return false;
	text__duration(took, sizeof(took), wait->head.ts - wait->off_ts);
	if (uring_op__act(wait->op_code) == ACT_TIMES)
		builder__add(
			text,
			"%s waited %s for completions of ring %u, until a %s that was submitted "
			"there ran out: nothing else that it waited for completed.",
			context->waiter, took, wait->ring, operation);
	else
		builder__add(
			text,
			"%s waited %s for completions of ring %u, until a timer ended %s there "
			"before what it waited for came.",
			context->waiter, took, wait->ring, operation);
	return true;
}

/* ---- the causes ---- */

static bool is_known(const struct context *context, uint32_t pid)
{
	return pid && report__process(context->report, pid);
}

/* " in read on fd 7"; nothing when the call is not known. */
static void add_call(const struct context *context, char **text)
{
	char call[64];

	if (context__call(call, sizeof(call), context->report, &context->stall->wait))
		builder__add(text, " in %s", call);
}

static void add_waiter(const struct context *context, char **text)
{
	builder__add(text, "%s waited", context->waiter);
	add_call(context, text);
}

/* " (127.0.0.1:1 -> 127.0.0.1:2)", where the wait was for a connection */
static void add_for_other(const struct context *context, char **text)
{
	if (!context->conn)
		return;
	explain__connection(context, text);
	builder__add(text, " for %s", context->other);
}

/* " until worker/77 woke it"; nothing when the waker is no thread that is watched. */
static void add_waker(const struct context *context, char **text)
{
	const struct ns_wait *wait = &context->stall->wait;
	char name[CONTEXT_NAME];

	if (!wait->head.type || !is_known(context, wait->waker_tgid))
		return;
	builder__add(text, " until %s woke it",
		     context__thread(name, sizeof(name), context->report, wait->waker_tgid,
				     wait->waker_tid));
}

static void add_round_trip(const struct context *context, char **text)
{
	const struct ns_wait *wait = &context->stall->wait;
	char rtt[TEXT_DURATION], least[TEXT_DURATION];

	if (!wait->head.type || !wait->srtt_us)
		return;
	builder__add(text, " A round trip takes %s here",
		     text__duration(rtt, sizeof(rtt), 1000ull * wait->srtt_us));
	if (wait->min_rtt_us)
		builder__add(text, ", and took %s at least",
			     text__duration(least, sizeof(least), 1000ull * wait->min_rtt_us));
	builder__add(text, ".");
}

static bool is_blind(const struct context *context, enum ns_fact fact)
{
	return context->report->session.missing >> fact & 1;
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
static void add_ruled_out(const struct context *context, char **text)
{
	const struct report_conn *conn = context->conn, *peer = context->peer;
	bool holds, losses;

	if (!conn)
		return;
	holds = !is_blind(context, NS_FACT_SEND) && !held_ever(conn) && (!peer || !held_ever(peer));
	losses = !is_blind(context, NS_FACT_RETRANS) && !conn->totals.retrans &&
		 (!peer || !peer->totals.retrans);
	if (holds || losses)
		builder__add(text, " TCP %s%s%s on this connection.",
			     holds ? "held nothing back" : "", holds && losses ? " and " : "",
			     losses ? "sent nothing again" : "");
}

void explain__peer_app(const struct context *context, char **text)
{
	builder__add(text, "%s wrote on %s", context->conn ? context->sender : context->waiter,
		     context->fd);
	explain__connection(context, text);
	builder__add(text, " and then waited");
	add_call(context, text);
	builder__add(text, " for %s to answer: the program there took that time.", context->other);
	add_ruled_out(context, text);
	explain__chain(context, text);
	if (!context->peer)
		add_round_trip(context, text);
}

void explain__network(const struct context *context, char **text)
{
	add_waiter(context, text);
	add_for_other(context, text);
	builder__add(text, ": the bytes were under way for that time.");
	add_ruled_out(context, text);
	add_round_trip(context, text);
}

void explain__runqueue(const struct context *context, char **text)
{
	const struct ns_wait *wait = context__longest_queued(context->stall);
	char waited[TEXT_DURATION], name[CONTEXT_NAME];

	builder__add(text, "%s was ready to run and waited for a CPU",
		     wait->head.type ? context__thread(name, sizeof(name), context->report,
						       wait->head.tgid, wait->head.tid)
				     : context->waiter);
	if (context__queued_ns(wait))
		builder__add(text, ": %s passed until it ran",
			     text__duration(waited, sizeof(waited), context__queued_ns(wait)));
	builder__add(text, ". Which threads had the CPUs meanwhile was not recorded.");
	if (wait->head.tid != context->stall->wait.head.tid && context->stall->wait.head.type)
		builder__add(text, " %s waited for it.", context->waiter);
}

void explain__lock(const struct context *context, char **text)
{
	add_waiter(context, text);
	add_waker(context, text);
	builder__add(text,
		     ": for a lock that another thread held, or for a signal between threads.");
	explain__operation(context, text);
	explain__chain(context, text);
}

void explain__ipc(const struct context *context, char **text)
{
	add_waiter(context, text);
	add_waker(context, text);
	builder__add(text,
		     context__is_for_a_child(context)
			     ? ": for a child's end, not for the network."
			     : ": for a pipe, a Unix socket, an eventfd or the like, not for the "
			       "network.");
	explain__operation(context, text);
	explain__chain(context, text);
}

void explain__disk(const struct context *context, char **text)
{
	add_waiter(context, text);
	builder__add(text, " for block I/O.");
	explain__operation(context, text);
	explain__chain(context, text);
}

/* " of 40 ms", where the call has its time-out in an argument that is recorded. */
static char *time_out_of(const struct context *context, char *dst, size_t size)
{
	const struct ns_wait *wait = &context->stall->wait;
	const char *name = syscall__name(context->report->session.arch, wait->syscall);
	char asked[TEXT_DURATION];
	bool has_one = name && (!strcmp(name, "poll") || !strncmp(name, "epoll_", 6)) &&
		       strcmp(name, "epoll_pwait2") != 0; /* there it is a pointer */

	dst[0] = '\0';
	if (has_one && wait->arg2 > 0 && wait->arg2 <= INT32_MAX)
		snprintf(dst, size, " of %s",
			 text__nominal(asked, sizeof(asked), 1000000ull * wait->arg2));
	return dst;
}

void explain__timer(const struct context *context, char **text)
{
	const struct ns_wait *wait = &context->stall->wait;
	char call[64], asked[TEXT_DURATION + 8];
	const char *where = context__call(call, sizeof(call), context->report, wait);

	if (explain__clock_of_ring(context, text))
		explain__operation(context, text);
	else if (context__is_time_out(context))
		builder__add(text,
			     "%s waited in %s until the time-out%s that it had set itself ran out: "
			     "nothing that it waited for came.",
			     context->waiter, where, time_out_of(context, asked, sizeof(asked)));
	else
		builder__add(text, "%s slept%s%s, as long as it had asked for.", context->waiter,
			     where ? " in " : "", where ? where : "");
	explain__chain(context, text);
}

void explain__uring(const struct context *context, char **text)
{
	add_waiter(context, text);
	builder__add(text, " for a completion of io_uring");
	if (context->stall->wait.ring)
		builder__add(text, ", on ring %u", context->stall->wait.ring);
	builder__add(text, ".");
	explain__operation(context, text);
	explain__chain(context, text);
}

static void add_held(const struct context *context, char **text)
{
	char bytes[TEXT_BYTES];

	builder__add(text, "%s wrote on %s", context->sender, context->fd);
	explain__connection(context, text);
	builder__add(text, ", and TCP held %s of it back.",
		     text__bytes(bytes, sizeof(bytes), context->stall->held_bytes));
}

void explain__unknown(const struct context *context, char **text)
{
	if (context->stall->held_bytes) {
		add_held(context, text);
		return;
	}
	if (!context->conn) {
		add_waiter(context, text);
		builder__add(text, ".");
		explain__chain(context, text);
		return;
	}
	builder__add(text, "%s wrote on %s", context->sender, context->fd);
	explain__connection(context, text);
	builder__add(text, " and then waited");
	add_call(context, text);
	builder__add(text, " for %s.", context->other);
	explain__chain(context, text);
}
