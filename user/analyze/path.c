// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/path.h"

#include <string.h>

const char *path_kind__name(enum path_kind kind)
{
	static const char *const names[PATH_KINDS] = {
		[PATH_UNKNOWN] = "unknown", [PATH_RUNS] = "computes", [PATH_READY] = "ready",
		[PATH_BLOCKED] = "blocked", [PATH_SHORTS] = "shorts", [PATH_HELD] = "held",
		[PATH_TRANSIT] = "transit", [PATH_UNREAD] = "unread",
	};

	return names[kind];
}

uint64_t path__total(const struct path *path, size_t part)
{
	uint64_t ns[PATH_PARTS];

	if (part >= path->count)
		return 0;
	/* A part stands behind its parent. */
	for (size_t i = 0; i < path->count; i++)
		ns[i] = path->parts[i].ns;
	for (size_t i = path->count; i-- > part + 1;)
		ns[path->parts[i].parent] += ns[i];
	return ns[part];
}

static size_t skip_number(const char comm[NS_COMM_LEN], size_t at)
{
	while (at < NS_COMM_LEN && comm[at] >= '0' && comm[at] <= '9')
		at++;
	return at;
}

/* The threads of a pool have a number each in their names. */
static bool have_one_name(const struct path_part *a, const struct path_part *b)
{
	size_t i = 0, k = 0;

	if (a->pid != b->pid)
		return !strncmp(a->comm, b->comm, sizeof(a->comm));
	while (i < NS_COMM_LEN && k < NS_COMM_LEN) {
		size_t past_a = skip_number(a->comm, i), past_b = skip_number(b->comm, k);

		if (past_a > i && past_b > k) {
			i = past_a;
			k = past_b;
		} else if (a->comm[i] != b->comm[k]) {
			return false;
		} else if (!a->comm[i++] || !b->comm[k++]) {
			return true;
		}
	}
	return i >= NS_COMM_LEN && k >= NS_COMM_LEN;
}

static bool are_alike(const struct path_part *a, const struct path_part *b)
{
	return a->parent == b->parent && a->kind == b->kind && a->cause == b->cause &&
	       a->syscall == b->syscall && ((a->tid && a->tid == b->tid) || have_one_name(a, b)) &&
	       !strncmp(a->waker_comm, b->waker_comm, sizeof(a->waker_comm));
}

static bool has_process(const struct path *path, uint32_t pid)
{
	for (size_t i = 0; path && i < path->count; i++)
		if (path->parts[i].pid == pid)
			return true;
	return false;
}

/*
 * One that is alike, of its process or of another of its name; 0: there is none. Not of a process
 * that has a part of its own in the other path: what two of them did in one stall is two things.
 */
static size_t find_alike(const struct path *path, const struct path_part *part,
			 const struct path *from)
{
	size_t other = 0;

	for (size_t i = 1; i < path->count; i++) {
		if (!are_alike(&path->parts[i], part))
			continue;
		if (path->parts[i].pid == part->pid)
			return i;
		if (!other && !has_process(from, path->parts[i].pid))
			other = i;
	}
	return other;
}

static size_t add(struct path *path, const struct path_part *part, size_t alike)
{
	struct path_part *other = &path->parts[alike];

	if (alike) {
		if (!other->comm[0])
			memcpy(other->comm, part->comm, sizeof(other->comm));
		other->ns += part->ns;
		other->count += part->count;
		return alike;
	}
	if (path->count == PATH_PARTS) {
		path->parts[part->parent].ns += part->ns;
		return part->parent;
	}
	path->parts[path->count] = *part;
	return path->count++;
}

size_t path__add(struct path *path, const struct path_part *part)
{
	/* Many processes of one name, one after the other, leave room for the rest. */
	return add(path, part,
		   find_alike(path, part, path->count < PATH_PARTS * 3 / 4 ? path : NULL));
}

void path__merge(struct path *path, const struct path *from)
{
	size_t at[PATH_PARTS] = {0};
	struct path_part part;

	if (!path->count) {
		*path = *from;
		return;
	}
	if (!from->count)
		return;
	path->parts[0].ns += from->parts[0].ns;
	path->parts[0].count += from->parts[0].count;
	for (size_t i = 1; i < from->count; i++) {
		part = from->parts[i];
		part.parent = (uint16_t)at[part.parent];
		at[i] = add(path, &part, find_alike(path, &part, from));
	}
}

/* ---- which of them are the others' ---- */

/* The wait of the delayed thread that the part is in; 0: it is the whole. */
static size_t outermost(const struct path *path, size_t part)
{
	while (part && path->parts[part].parent)
		part = path->parts[part].parent;
	return part;
}

/* It is what was done while a connection lay in the listen queue: a part of no thread. */
static bool is_in_queue(const struct path *path, size_t part)
{
	while (part && (path->parts[part].cause != CAUSE_ACCEPT_QUEUE || path->parts[part].tid))
		part = path->parts[part].parent;
	return part;
}

/* What the cause is to be looked for in: not what TCP and the network did; for `self`, who runs, of
 * the delayed threads themselves or of a target that they wait for; for what is unknown, waits of
 * which the sum is known. */
static bool is_others(const struct path *path, enum cause cause, size_t number)
{
	const struct path_part *part = &path->parts[number];
	const struct path_part *wait = &path->parts[outermost(path, number)];

	if (cause == CAUSE_SELF)
		return part->kind == PATH_RUNS;
	if (cause == CAUSE_UNKNOWN)
		return part->kind == PATH_SHORTS && part->cause == CAUSE_UNKNOWN;
	if (part->kind == PATH_HELD || part->kind == PATH_TRANSIT ||
	    is_in_queue(path, number) != (cause == CAUSE_ACCEPT_QUEUE))
		return false;
	return part == wait ? part->kind == PATH_BLOCKED : part->tid != wait->tid;
}

bool path__is_known(const struct path *path, enum cause cause, const struct path_part *part)
{
	if (cause != CAUSE_SELF && cause != CAUSE_UNKNOWN && (part == path->parts || !part->parent))
		return false;
	if (part->cause == CAUSE_ACCEPT_QUEUE) /* by whom is not known */
		return false;
	return part->kind != PATH_UNKNOWN &&
	       !(part->kind == PATH_BLOCKED && part->cause == CAUSE_UNKNOWN);
}

bool path__is_seen(const struct path *path)
{
	uint64_t unseen = 0;

	for (size_t i = 0; i < path->count; i++)
		if (path->parts[i].kind == PATH_UNKNOWN)
			unseen += path->parts[i].ns;
	return unseen <= path__total(path, 0) / 2;
}

_Static_assert(PATH_PARTS <= 64, "the set of those that were taken is 64 bits");

const struct path_part *path__next_largest(const struct path *path, enum cause cause,
					   uint64_t *taken)
{
	size_t best = path->count;

	for (size_t i = 0; i < path->count; i++) {
		if (*taken >> i & 1 || !is_others(path, cause, i))
			continue;
		if (best == path->count || path->parts[i].ns > path->parts[best].ns)
			best = i;
	}
	if (best == path->count)
		return NULL;
	*taken |= 1ull << best;
	return &path->parts[best];
}

/* Who answers its own requests, as a test does with a server beside its client in one event loop:
 * most of the time the delayed thread itself computes. NULL: it does not. */
static const struct path_part *own_answer(const struct path *path)
{
	const struct path_part *part;

	for (size_t i = 1; i < path->count; i++) {
		part = &path->parts[i];
		if (part->kind == PATH_RUNS && part->parent && part->tid == path->parts[0].tid &&
		    part->ns > path__total(path, 0) / 2)
			return part;
	}
	return NULL;
}

const struct path_part *path__main(const struct path *path, enum cause cause)
{
	uint64_t taken = 0;
	const struct path_part *part = path__next_largest(path, cause, &taken);

	if (part && part->ns && path__is_known(path, cause, part))
		return part;
	return cause == CAUSE_PEER_APP ? own_answer(path) : NULL;
}

void path__fold_unknown(struct path *path)
{
	for (size_t i = path->count; i-- > 1;) {
		struct path_part *part = &path->parts[i];

		if (part->kind != PATH_UNKNOWN)
			continue;
		path->parts[part->parent].ns += part->ns;
		part->ns = 0;
	}
}

static uint64_t share(const struct path *path, uint64_t ns, uint64_t whole_ns)
{
	uint64_t all = path__total(path, 0);

	return all ? (uint64_t)((double)ns / (double)all * (double)whole_ns + 0.5) : 0;
}

uint64_t path__share(const struct path *path, const struct path_part *part, uint64_t whole_ns)
{
	return share(path, part->ns, whole_ns);
}

static bool do_the_same(const struct path_part *a, const struct path_part *b)
{
	return a->kind == PATH_BLOCKED && b->kind == PATH_BLOCKED && a->pid == b->pid &&
	       a->cause == b->cause && a->syscall == b->syscall && have_one_name(a, b);
}

uint64_t path__share_of_alike(const struct path *path, const struct path_part *part,
			      uint64_t whole_ns, uint32_t *threads)
{
	uint64_t ns = part->ns;
	bool is_seen;

	*threads = 1;
	for (size_t i = 1; i < path->count; i++) {
		const struct path_part *other = &path->parts[i];

		if (other == part || !other->ns || !do_the_same(other, part))
			continue;
		ns += other->ns;
		is_seen = other->tid == part->tid;
		for (size_t k = 1; k < i; k++)
			is_seen |= path->parts[k].ns && path->parts[k].tid == other->tid &&
				   do_the_same(&path->parts[k], part);
		*threads += !is_seen;
	}
	return share(path, ns, whole_ns);
}
