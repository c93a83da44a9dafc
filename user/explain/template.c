// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/template.h"

#include <string.h>

#include "user/base/text.h"
#include "user/record/syscalls.h"

/* ---- conditions ---- */

bool context__is_receiver(const struct context *context)
{
	const struct stall *stall = context->stall;

	return stall->fire.head.type && stall->fire.head.conn == stall->conn;
}

bool context__has_root(const struct context *context)
{
	const struct stall_link *root = context->stall->link_count > 1 ? context->root : NULL;

	return root && root->tid && root->wait.head.type;
}

bool context__has_waker(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;

	return wait->head.type && wait->waker_tgid &&
	       report__process(context->report, wait->waker_tgid);
}

bool context__is_for_a_child(const struct context *context)
{
	const char *name =
		syscall__name(context->report->session.arch, context->stall->wait.syscall);

	return name && (!strcmp(name, "wait4") || !strcmp(name, "waitid"));
}

bool context__is_time_out(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;
	const char *arch = context->report->session.arch;

	return wait->head.type && syscall__name(arch, wait->syscall) &&
	       syscall__wait(arch, wait->syscall) != SYSCALL_WAIT_OTHER;
}

bool context__is_msg_more(const struct context *context)
{
	return context->stall->reason == NS_HOLD_MSG_MORE;
}

uint64_t context__pieces(const struct context *context)
{
	return 2 + context->tally->joined.most;
}

/* ---- placeholders ---- */

#define NAME(field)                                                                                \
	static void add_##field(char **text, const void *of)                                       \
	{                                                                                          \
		builder__add(text, "%s", ((const struct context *)of)->field);                     \
	}

NAME(sender)
NAME(program)
NAME(waiter)
NAME(other)
NAME(other_program)
NAME(fd)
NAME(message)
NAME(a_message)

static void add_pieces(char **text, const void *of)
{
	char number[TEXT_COUNT];

	builder__add(text, "%s", builder__number(number, sizeof(number), context__pieces(of)));
}

/* "one more segment", "two more segments" */
static void add_more_segments(char **text, const void *of)
{
	uint64_t more = context__pieces(of) - 2;
	char number[TEXT_COUNT];

	builder__add(text, "%s more segment%s", builder__number(number, sizeof(number), more),
		     more == 1 ? "" : "s");
}

/* " (2.0 for each exchange)": as counted on this connection; nothing when exchanges were not */
static void add_segments_now(char **text, const void *of)
{
	const struct context *context = of;
	const struct ns_conn_totals *totals = context->conn ? &context->conn->totals : NULL;

	if (totals && totals->exchanges && totals->data_segs_out)
		builder__add(text, " (%.1f for each exchange)",
			     (double)totals->data_segs_out / totals->exchanges);
}

/* "saves 40.5 ms each time"; with less than nearly all "saves 12.0 ms of 40.5 ms each time" */
static void add_saves(char **text, const void *of)
{
	const struct context *context = of;
	const struct tally *tally = context->tally;
	char part[TEXT_DURATION], each[TEXT_DURATION];
	uint64_t saved = context__held(context), whole = context__each(context);

	text__duration(each, sizeof(each), whole);
	if (20 * saved >= 19 * whole)
		builder__add(text, "saves %s", each);
	else
		builder__add(text, "saves %s of %s", text__duration(part, sizeof(part), saved),
			     each);
	builder__add(text, "%s", tally->count == 1 ? "" : " each time");
}

static void add_thread(char **text, const struct context *context, uint32_t pid, uint32_t tid)
{
	char name[CONTEXT_NAME];

	builder__add(text, "%s", context__thread(name, sizeof(name), context->report, pid, tid));
}

static void add_call_of(char **text, const struct context *context, const struct ns_wait *wait)
{
	char call[64];

	if (context__call(call, sizeof(call), context->report, wait))
		builder__add(text, " in %s", call);
}

/* " in read on fd 7"; nothing when the call is not known */
static void add_call(char **text, const void *of)
{
	add_call_of(text, of, &((const struct context *)of)->stall->wait);
}

static void add_waker(char **text, const void *of)
{
	const struct context *context = of;

	add_thread(text, context, context->stall->wait.waker_tgid, context->stall->wait.waker_tid);
}

static void add_root(char **text, const void *of)
{
	const struct context *context = of;

	add_thread(text, context, context->root->pid, context->root->tid);
}

static void add_root_call(char **text, const void *of)
{
	add_call_of(text, of, &((const struct context *)of)->root->wait);
}

/*
 * What the chain ends in, behind whom the sentence names last: "; srv/4243 sleeps in nanosleep",
 * or of the same thread ", which sleeps in nanosleep", or ": it sleeps ..." of the other end.
 */
static void add_because(char **text, const void *of)
{
	static const char *const deeds[CAUSE_COUNT] = {
		[CAUSE_RUNQUEUE] = "waits for a CPU",
		[CAUSE_LOCK] = "waits for a lock",
		[CAUSE_IPC] = "waits for another process or thread",
		[CAUSE_DISK] = "waits for block I/O",
		[CAUSE_TIMER] = "sleeps",
		[CAUSE_URING] = "waits for io_uring",
	};
	const struct context *context = of;
	char name[CONTEXT_NAME];
	size_t len, used;

	if (!context__has_root(context) || !deeds[context->root->cause])
		return;
	context__thread(name, sizeof(name), context->report, context->root->pid,
			context->root->tid);
	len = strlen(name);
	used = *text ? strlen(*text) : 0;
	if (used >= len && !strcmp(*text + used - len, name))
		builder__add(text, ", which");
	else if (!strcmp(name, context->other))
		builder__add(text, ": it");
	else
		builder__add(text, "; %s", name);
	builder__add(text, " %s", deeds[context->root->cause]);
	add_root_call(text, of);
}

/* When the thread at the root must not dawdle. */
static void add_while_what(char **text, const void *of)
{
	switch (((const struct context *)of)->tally->cause) {
	case CAUSE_LOCK:
		builder__add(text, "while another thread waits for its lock or signal");
		break;
	case CAUSE_IPC:
		builder__add(text, "while another thread waits for what it is to write");
		break;
	default:
		builder__add(text, "between the request and its answer");
	}
}

static void add_queued(char **text, const void *of)
{
	const struct context *context = of;
	const struct ns_wait *wait = context__longest_queued(context->stall);

	if (wait->head.type)
		add_thread(text, context, wait->head.tgid, wait->head.tid);
	else
		builder__add(text, "%s", context->waiter);
}

static void add_operation(char **text, const void *of)
{
	char operation[48];

	if (context__operation(operation, sizeof(operation),
			       &((const struct context *)of)->stall->wait))
		builder__add(text, " %s", operation);
}

static void add_peer_pid(char **text, const void *of)
{
	builder__add(text, "%u", ((const struct context *)of)->peer->id.head.tgid);
}

static void add_wait_pid(char **text, const void *of)
{
	builder__add(text, "%u", ((const struct context *)of)->stall->wait.head.tgid);
}

static const struct placeholder placeholders[] = {
	{"sender", add_sender},
	{"program", add_program},
	{"waiter", add_waiter},
	{"other", add_other},
	{"other_program", add_other_program},
	{"fd", add_fd},
	{"message", add_message},
	{"a_message", add_a_message},
	{"pieces", add_pieces},
	{"more_segments", add_more_segments},
	{"segments_now", add_segments_now},
	{"saves", add_saves},
	{"call", add_call},
	{"waker", add_waker},
	{"root", add_root},
	{"root_call", add_root_call},
	{"because", add_because},
	{"while_what", add_while_what},
	{"queued", add_queued},
	{"operation", add_operation},
	{"peer_pid", add_peer_pid},
	{"wait_pid", add_wait_pid},
	{NULL, NULL},
};

bool template__applies(const struct template *template, const struct context *context)
{
	return template->causes >> context->tally->cause & 1 &&
	       (!template->applies || template->applies(context));
}

void template__add(char **text, const struct template *template, const struct context *context)
{
	builder__expand(text, template->text, placeholders, context);
}
