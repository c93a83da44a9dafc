// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/template.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"
#include "user/explain/chain.h"
#include "user/explain/clauses.h"
#include "user/record/syscalls.h"
#include "user/record/uring_ops.h"

/* ---- figures and names ---- */

static void add_number(char **text, uint32_t number)
{
	builder__add(text, "%u", number);
}

static void add_in_words(char **text, uint64_t number)
{
	char words[TEXT_COUNT];

	builder__add(text, "%s", builder__number(words, sizeof(words), number));
}

static void add_count(char **text, uint64_t number)
{
	char count[TEXT_COUNT];

	builder__add(text, "%s", text__count(count, sizeof(count), number));
}

static void add_ratio(char **text, uint64_t of, uint64_t each)
{
	builder__add(text, "%.1f", (double)of / (double)each);
}

static void add_bytes(char **text, uint64_t bytes)
{
	char number[TEXT_BYTES];

	builder__add(text, "%s", text__bytes(number, sizeof(number), bytes));
}

static void add_byte_range(char **text, const struct range *range)
{
	char bytes[2 * TEXT_BYTES + 8];

	builder__add(text, "%s", builder__bytes(bytes, sizeof(bytes), range));
}

static void add_time(char **text, uint64_t ns)
{
	char time[TEXT_DURATION];

	builder__add(text, "%s", text__duration(time, sizeof(time), ns));
}

static void add_us(char **text, uint64_t us)
{
	add_time(text, 1000 * us);
}

/* A time that was set: "200 ms" */
static void add_nominal_us(char **text, uint64_t us)
{
	char time[TEXT_DURATION];

	builder__add(text, "%s", text__nominal(time, sizeof(time), 1000 * us));
}

static void add_address(char **text, const struct ns_conn *id, bool is_local)
{
	char address[TEXT_ADDRESS];

	builder__add(text, "%s",
		     text__address(address, sizeof(address), id->family,
				   is_local ? id->laddr : id->raddr,
				   is_local ? id->lport : id->rport));
}

static void add_thread(char **text, const struct context *context, uint32_t pid, uint32_t tid)
{
	char name[CONTEXT_NAME];

	builder__add(text, "%s", context__thread(name, sizeof(name), context->report, pid, tid));
}

/* "read on fd 7" */
static void add_call(char **text, const struct context *context, const struct ns_wait *wait)
{
	char call[64];

	if (context__call(call, sizeof(call), context->report, wait))
		builder__add(text, "%s", call);
}

/* ---- conditions ---- */

/* The other end, which is out of sight, wrote the pieces: see remote_nagle.h. */
static bool is_receiver(const struct stall *stall)
{
	return stall->fire.head.type && stall->fire.head.conn == stall->conn;
}

/* Whom the delayed thread waited for is known, and what that one waited for. */
static bool has_root(const struct context *context)
{
	return context->stall->link_count > 1;
}

static bool ends_in(const struct context *context, enum cause cause)
{
	return has_root(context) && context->root->cause == cause;
}

/* The thread that ended the wait is watched. */
static bool has_waker(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;

	return wait->head.type && wait->waker_tgid &&
	       report__process(context->report, wait->waker_tgid);
}

static const char *name_call(const struct context *context)
{
	return syscall__name(context->report->session.arch, context->stall->wait.syscall);
}

static bool is_for_a_child(const struct context *context)
{
	const char *name = name_call(context);

	return name && (!strcmp(name, "wait4") || !strcmp(name, "waitid"));
}

/* A call ended that gives a time-out, not one that sleeps. */
static bool is_time_out(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;

	return wait->head.type && name_call(context) &&
	       syscall__wait(context->report->session.arch, wait->syscall) != SYSCALL_WAIT_OTHER;
}

/* Did somebody at the other end sleep instead of reading, as far as the chain shows? */
static bool reader_was_away(const struct stall *stall)
{
	for (size_t i = 1; i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		if (link->cause != CAUSE_PEER_APP && link->cause != CAUSE_IDLE)
			return true;
	}
	return false;
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
static bool had_no_holds(const struct context *context)
{
	return context->conn && !is_blind(context, NS_FACT_SEND) && !held_ever(context->conn) &&
	       (!context->peer || !held_ever(context->peer));
}

static bool had_no_losses(const struct context *context)
{
	return context->conn && !is_blind(context, NS_FACT_RETRANS) &&
	       !context->conn->totals.retrans && (!context->peer || !context->peer->totals.retrans);
}

/* ---- slots of several kinds of words ---- */

/* How many pieces are written for a message, at most. */
static uint64_t pieces(const struct tally *tally)
{
	return 2 + tally->joined.most;
}

/* "one more segment", "two more segments" */
static void add_more_segments(char **text, const struct context *context)
{
	uint64_t more = pieces(context->tally) - 2;

	add_in_words(text, more);
	builder__add(text, " more segment%s", more == 1 ? "" : "s");
}

/* "0.2 ms", "0.2 ms to 3 ms" */
static void add_gap(char **text, const struct context *context)
{
	const struct range *gap = &context->tally->gap_ns;

	if (gap->most <= 2 * gap->least) {
		add_time(text, (gap->least + gap->most) / 2); /* one figure to the reader */
		return;
	}
	add_time(text, gap->least);
	builder__add(text, " to ");
	add_time(text, gap->most);
}

/* " each", " at the median" */
static void add_each_word(char **text, const struct context *context)
{
	const struct report_cause *cause = report__cause(context->report, context->tally->cause);

	builder__add(text, "%s", cause ? cause__each_word(cause) : " each");
}

/* "122 exchanges", "246 writes"; nothing when neither was counted. */
static void add_occasions(char **text, const struct context *context)
{
	const struct ns_conn_totals *totals = context->conn ? &context->conn->totals : NULL;
	bool by_exchange = totals && totals->exchanges >= context->tally->count;
	uint32_t number = !totals ? 0 : by_exchange ? totals->exchanges : totals->writes;
	char count[TEXT_COUNT];

	if (number)
		builder__add(text, "%s %s%s", text__count(count, sizeof(count), number),
			     by_exchange ? "exchange" : "write", number == 1 ? "" : "s");
}

static void add_share(char **text, const struct context *context)
{
	uint64_t window = context->report->end_ts - context->report->start_ts;
	char share[TEXT_PERCENT];

	if (window)
		builder__add(text, "%s",
			     text__percent(share, sizeof(share),
					   (double)context->tally->total_ns / (double)window));
}

/*
 * What the chain ends in, behind whom the sentence names last: "; srv/4243 sleeps in nanosleep",
 * or of the same thread ", which sleeps in nanosleep", or ": it sleeps ..." of the other end.
 */
static void add_because(char **text, const struct context *context)
{
	static const char *const deeds[CAUSE_COUNT] = {
		[CAUSE_RUNQUEUE] = "waits for a CPU",
		[CAUSE_LOCK] = "waits for a lock",
		[CAUSE_IPC] = "waits for another process or thread",
		[CAUSE_DISK] = "waits for block I/O",
		[CAUSE_TIMER] = "sleeps",
		[CAUSE_URING] = "waits for io_uring",
	};
	char name[CONTEXT_NAME];
	size_t len, used;

	if (!has_root(context) || !deeds[context->root->cause])
		return;
	context__thread(name, sizeof(name), context->report, context->root->wait.head.tgid,
			context->root->wait.head.tid);
	len = strlen(name);
	used = *text ? strlen(*text) : 0;
	if (used >= len && !strcmp(*text + used - len, name))
		builder__add(text, ", which");
	else if (!strcmp(name, context->other))
		builder__add(text, ": it");
	else
		builder__add(text, "; %s", name);
	builder__add(text, " %s", deeds[context->root->cause]);
	template__add(text, "[ in {root_call}]", context);
}

/* The thread that waited longest for a CPU. */
static void add_queued(char **text, const struct context *context)
{
	const struct ns_wait *wait = context__longest_queued(context->stall);

	if (wait->head.type)
		add_thread(text, context, wait->head.tgid, wait->head.tid);
	else
		builder__add(text, "%s", context->waiter);
}

/* "40 ms", where the call has its time-out in an argument that is recorded. */
static void add_time_out(char **text, const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;
	const char *name = name_call(context);
	bool has_one = name && (!strcmp(name, "poll") || !strncmp(name, "epoll_", 6)) &&
		       strcmp(name, "epoll_pwait2") != 0; /* there it is a pointer */

	if (has_one && wait->arg2 > 0 && wait->arg2 <= INT32_MAX)
		add_nominal_us(text, 1000ull * wait->arg2);
}

static void add_operation(char **text, const struct context *context)
{
	char operation[48];

	if (context__operation(operation, sizeof(operation), &context->stall->wait))
		builder__add(text, "%s", operation);
}

static void add_submitter(char **text, const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;

	if (wait->op_tid && wait->op_tid != wait->head.tid)
		add_thread(text, context, wait->head.tgid, wait->op_tid);
	else
		builder__add(text, "this thread");
}

/* Until it was completed, or became ready, as far as that was before the thread ran again. */
static void add_operation_took(char **text, const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;
	uint64_t done_ts = wait->op_done_ts ? wait->op_done_ts : wait->head.ts;

	if (wait->op_submit_ts && wait->op_submit_ts <= done_ts)
		add_time(text, done_ts - wait->op_submit_ts);
}

/* ---- the slots, as slots.def has them ---- */

#define SUBJECT                                                                                    \
	const struct context *context = of;                                                        \
	const struct stall *stall = context->stall;                                                \
	const struct tally *tally = context->tally;                                                \
                                                                                                   \
	(void)stall, (void)tally

#define SLOT(name, known, add)                                                                     \
	static void slot_##name(char **text, const void *of)                                       \
	{                                                                                          \
		SUBJECT;                                                                           \
		if (known)                                                                         \
			add;                                                                       \
	}
#define NAME(name) SLOT(name, true, builder__add(text, "%s", context->name))
#define OWN(name)  SLOT(name, true, add_##name(text, context))
#define PART(name, text)
#define ASKED(name, condition)                                                                     \
	static bool slot_##name(const void *of)                                                    \
	{                                                                                          \
		SUBJECT;                                                                           \
		return condition;                                                                  \
	}
#include "user/explain/slots.def"
#undef SLOT
#undef NAME
#undef OWN
#undef PART
#undef ASKED

static const struct slot slots[] = {
#define SLOT(slot, known, call) {.name = #slot, .add = slot_##slot},
#define NAME(slot)              SLOT(slot, , )
#define OWN(slot)               SLOT(slot, , )
#define PART(slot, text)        {.name = #slot, .template = text},
#define ASKED(slot, condition)  {.name = #slot, .holds = slot_##slot},
#include "user/explain/slots.def"
	{.name = NULL},
};

bool template__add(char **text, const char *template, const struct context *context)
{
	char *added = NULL;
	bool applies = builder__expand(&added, template, slots, context);

	if (applies)
		builder__add(text, "%s", added);
	free(added);
	return applies;
}

bool template__add_row(char **text, const struct template *row, const struct context *context)
{
	return row->causes >> context->tally->cause & 1 && template__add(text, row->text, context);
}
