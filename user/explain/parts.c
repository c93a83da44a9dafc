// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/parts.h"

#include "user/base/text.h"
#include "user/record/syscalls.h"

#define PARTS_SAID  3  /* of a sentence */
#define PART_MATTER 20 /* what is less than such a part of the time is left out */

/* ---- which parts are the others' ---- */

/* The wait of the delayed thread that the part is in; 0: it is the whole. */
static size_t outermost(const struct path *path, size_t part)
{
	while (part && path->parts[part].parent)
		part = path->parts[part].parent;
	return part;
}

/* What the cause is to be looked for in: not what TCP and the network did, nor the delayed thread
 * itself, which is what `self` is about. */
static bool counts(const struct context *context, size_t number)
{
	const struct path *path = &context->path;
	const struct path_part *part = &path->parts[number];
	const struct path_part *wait = &path->parts[outermost(path, number)];

	if (context->tally->cause == CAUSE_SELF)
		return part->kind == PATH_RUNS && part->tid == path->parts[0].tid;
	if (part->kind == PATH_HELD || part->kind == PATH_TRANSIT)
		return false;
	return part == wait ? part->kind == PATH_BLOCKED : part->tid != wait->tid;
}

/* A thread's deed is known; what its wait was for besides its parts is not. */
static bool is_known(const struct context *context, size_t number)
{
	const struct path_part *part = &context->path.parts[number];

	if (context->tally->cause != CAUSE_SELF && (!number || !part->parent))
		return false;
	return part->kind != PATH_UNKNOWN &&
	       !(part->kind == PATH_BLOCKED && part->cause == CAUSE_UNKNOWN);
}

/* Of those that are not in the set yet. */
static const struct path_part *next_largest(const struct context *context, uint64_t *taken)
{
	const struct path *path = &context->path;
	size_t best = path->count;

	for (size_t i = 0; i < path->count; i++) {
		if (*taken >> i & 1 || !counts(context, i))
			continue;
		if (best == path->count || path->parts[i].ns > path->parts[best].ns)
			best = i;
	}
	if (best == path->count)
		return NULL;
	*taken |= 1ull << best;
	return &path->parts[best];
}

void parts__fold_unknown(struct path *path)
{
	for (size_t i = path->count; i-- > 1;) {
		struct path_part *part = &path->parts[i];

		if (part->kind != PATH_UNKNOWN)
			continue;
		path->parts[part->parent].ns += part->ns;
		part->ns = 0;
	}
}

const struct path_part *parts__largest(const struct context *context)
{
	uint64_t taken = 0;
	const struct path_part *part = next_largest(context, &taken);

	if (!part || !part->ns || !is_known(context, (size_t)(part - context->path.parts)))
		return NULL;
	return part;
}

uint64_t parts__of(const struct context *context, const struct path_part *part, uint64_t whole_ns)
{
	uint64_t all = path__total(&context->path, 0);

	return all ? (uint64_t)((double)part->ns / (double)all * (double)whole_ns + 0.5) : 0;
}

/* ---- in words ---- */

_Static_assert(PATH_PARTS <= 64, "the set of those that were said is 64 bits");

/* What a thread waits for, behind how long. */
static const char *const awaited[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = "for what was not seen",
	[CAUSE_RUNQUEUE] = "for a CPU",
	[CAUSE_PEER_APP] = "for the other end of a connection of its own",
	[CAUSE_IDLE] = "", /* somebody waits for it: it was not idle */
	[CAUSE_LOCK] = "for a lock, or a signal of another thread",
	[CAUSE_IPC] = "for another process or thread",
	[CAUSE_DISK] = "for block I/O",
	[CAUSE_TIMER] = "until its time-out ran out",
	[CAUSE_URING] = "for io_uring",
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
		     duration_text(parts__of(context, part, each(context))));
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
	const char *took = duration_text(parts__of(context, part, each(context)));

	switch (part->kind) {
	case PATH_RUNS:
		builder__add(text, "computes %s", took);
		return;
	case PATH_READY:
		builder__add(text, "waits %s for a CPU", took);
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
}

void parts__add(char **text, const struct context *context)
{
	const struct path_part *part = parts__largest(context), *before = NULL;
	uint64_t taken = 0, all = path__total(&context->path, 0);
	size_t said = 0;

	if (!part)
		return;
	while (said < PARTS_SAID && (part = next_largest(context, &taken)) &&
	       PART_MATTER * part->ns >= all) {
		if (!is_known(context, (size_t)(part - context->path.parts)))
			continue;
		if (!said++)
			builder__add(text, " Of %s%s", context->tally->count > 1 ? "each " : "the ",
				     duration_text(each(context)));
		else
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
