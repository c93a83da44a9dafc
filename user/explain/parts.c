// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/parts.h"

#include "user/base/text.h"
#include "user/record/syscalls.h"

#define SAFE_COMM   TEXT_SAFE(NS_COMM_LEN)
#define PARTS_SAID  3  /* of a sentence */
#define PART_MATTER 20 /* what is less than such a part of the time is left out */

/* What a thread waits for, behind how long. */
static const char *const awaited[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = "for what was not seen",
	[CAUSE_RUNQUEUE] = "for a CPU",
	[CAUSE_THROTTLED] = "for its CPU quota",
	[CAUSE_PEER_APP] = "for the other end of a connection of its own",
	[CAUSE_IDLE] = "", /* somebody waits for it: it was not idle */
	[CAUSE_LOCK] = "for a lock, or a signal of another thread",
	[CAUSE_IPC] = "for another process or thread",
	[CAUSE_DISK] = "for block I/O",
	[CAUSE_MEMORY] = "for memory",
	[CAUSE_TIMER] = "until its time-out ran out",
	[CAUSE_URING] = "for io_uring",
	[CAUSE_UDP] = "for the answer to a datagram",
	[CAUSE_DNS] = "for a name server",
};

/* How long a stall of those is that the parts are of: where it is a single one, itself. */
static uint64_t each(const struct context *context)
{
	return context->tally->count == 1 ? context->tally->total_ns : context__each(context);
}

static bool sleeps(const struct context *context, const struct path_part *part)
{
	return part->cause == CAUSE_TIMER &&
	       syscall__wait(context->report->session.arch, part->syscall) == SYSCALL_WAIT_OTHER;
}

static void add_shorts(char **text, const struct context *context, const struct path_part *part)
{
	uint32_t stalls = context->tally->followed, count = stalls ? part->count / stalls : 0;

	builder__add(text, "%s %s", part->cause == CAUSE_TIMER ? "sleeps" : "waits",
		     duration_text(path__share(&context->path, part, each(context))));
	if (count > 1)
		builder__add(text, " in %s %s of %s", count_text(count),
			     part->cause == CAUSE_TIMER ? "sleeps" : "waits",
			     duration_text(part->ns / part->count));
	if (part->cause != CAUSE_TIMER && awaited[part->cause] && awaited[part->cause][0])
		builder__add(text, " %s", awaited[part->cause]);
}

void parts__add_deed(char **text, const struct context *context, const struct path_part *part)
{
	const char *call = syscall__name(context->report->session.arch, part->syscall);
	const char *took = duration_text(path__share(&context->path, part, each(context)));
	char safe[SAFE_COMM];

	switch (part->kind) {
	case PATH_RUNS:
		builder__add(text, "computes %s", took);
		return;
	case PATH_READY:
		builder__add(text, "waits %s for %s", took,
			     part->cause == CAUSE_THROTTLED ? "its CPU quota" : "a CPU");
		return;
	case PATH_SHORTS:
		add_shorts(text, context, part);
		return;
	case PATH_UNREAD:
		builder__add(text, "leaves what arrived unread for %s", took);
		return;
	case PATH_BLOCKED:
		break;
	default:
		builder__add(text, "does what was not seen for %s", took);
		return;
	}
	if (part->cause == CAUSE_STOPPED) {
		builder__add(text, "is stopped, or frozen, for %s", took);
		return;
	}
	if (sleeps(context, part)) {
		builder__add(text, "sleeps %s", took);
	} else {
		builder__add(text, "waits %s", took);
		if (!awaited[part->cause])
			builder__add(text, " (%s)", cause__info(part->cause)->id);
		else if (awaited[part->cause][0])
			builder__add(text, " %s", awaited[part->cause]);
	}
	if (call)
		builder__add(text, " in %s", call);
	if (part->waker_tid && part->cause == CAUSE_IDLE)
		builder__add(text, " for %s/%u",
			     text__safe(safe, sizeof(safe), part->waker_comm, NS_COMM_LEN),
			     part->waker_tid);
}

/* Who waits for its lock or signal: the nearest part above it that is such a wait, of another
 * thread; NULL: none. */
static const struct path_part *held_up(const struct path *path, const struct path_part *part)
{
	const struct path_part *above = part;

	while (above != path->parts) {
		above = &path->parts[above->parent];
		if (above->kind == PATH_BLOCKED && above->tid && above->tid != part->tid)
			return above->cause == CAUSE_LOCK ? above : NULL;
	}
	return NULL;
}

void parts__add_held_up(char **text, const struct context *context, const struct path_part *part)
{
	const struct path_part *waits = held_up(&context->path, part);

	if (waits && waits->tid != context->stall->tid && context->tally->cause != CAUSE_LOCK)
		builder__add(text, ", while %s waits for its lock or signal",
			     thread_text(context->report, waits->pid, waits->tid));
}

/* The main one first, which may be the delayed thread's own. */
void parts__add(char **text, const struct context *context)
{
	const enum cause cause = context->tally->cause;
	const struct path_part *main = path__main(&context->path, cause), *part = main, *before;
	uint64_t taken = 0, all = path__total(&context->path, 0);
	size_t said = 0;

	if (!main || PART_MATTER * main->ns < all)
		return;
	builder__add(text, " Of %s%s", context->tally->count > 1 ? "each " : "the ",
		     duration_text(each(context)));
	for (before = NULL; part && said < PARTS_SAID && PART_MATTER * part->ns >= all;
	     part = path__next_largest(&context->path, cause, &taken)) {
		if ((said && part == main) || !path__is_known(&context->path, cause, part))
			continue;
		if (said++)
			builder__add(text, ",");
		if (!before || before->tid != part->tid)
			builder__add(text, " %s",
				     thread_text(context->report, part->pid, part->tid));
		builder__add(text, " ");
		parts__add_deed(text, context, part);
		before = part;
	}
	builder__add(text, ".");
}
