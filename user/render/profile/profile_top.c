// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The profile as a list for a terminal: threads, the longest chains, what was lost. */
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/profile/frames.h"
#include "user/render/profile/profile.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/wrap.h"
#include "user/render/words/chain_words.h"

#define THREADS_MOST  12
#define CHAINS_MOST   10
#define SHARE_LEAST   200 /* a chain with less than one part in so many is not shown */
#define KERNEL_FRAMES 5
#define INDENT        2
#define LABEL_COLUMN  6  /* "waits for", "woken by" */
#define WORDS_COLUMN  23 /* what they are followed by */
#define NAME_ROOM     300

struct thread {
	const struct profile_entry *entry; /* one of its entries */
	uint64_t ns, runqueue_ns, waits;
	uint64_t ended_ns; /* of ns, in waits that somebody was seen to end */
};

static uint64_t whole_time(const struct profile *profile)
{
	return profile->total_ns + profile->lost[PROFILE_LOST_KEYS].ns;
}

/* Chains of a single wait each that differ by their threads' numbers alone, as a shell's children
 * make them, are one. */
struct row {
	const struct profile_entry *entry; /* one of them */
	uint64_t ns, waits;
	size_t chains;
	bool several; /* threads wait */
};

/*
 * Somebody was seen to end it, or that was not looked at. What rests all the time, as most threads
 * of a machine and of a pool do, stands behind what happened.
 */
static bool is_ended(const struct profile_entry *entry)
{
	return !entry->state || !entry->hop_count || entry->hops[0].kind != WAKER_IS_UNKNOWN ||
	       entry->hops[0].name;
}

/* "client/4242" */
#define thread_name(comm, pid, tid) name_thread((char[NAME_ROOM]){""}, NAME_ROOM, comm, pid, tid)
static char *name_thread(char *dst, size_t size, const char *comm, uint32_t pid, uint32_t tid)
{
	snprintf(dst, size, "%s", safe_text(comm && *comm ? comm : "?", 64));
	if (tid || pid)
		text__add(dst, size, "/", "%u", tid ? tid : pid);
	return dst;
}

static int by_identity(const void *a, const void *b)
{
	const struct profile_entry *left = ((const struct thread *)a)->entry;
	const struct profile_entry *right = ((const struct thread *)b)->entry;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return strcmp(left->comm ? left->comm : "", right->comm ? right->comm : "");
}

static int by_time(const void *a, const void *b)
{
	const struct thread *left = a, *right = b;

	if (!left->ended_ns != !right->ended_ns)
		return left->ended_ns ? -1 : 1;
	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return by_identity(a, b);
}

/* The threads that slept, those longest off the CPU first; those that did nothing else last. */
static size_t gather_threads(const struct profile *profile, struct thread **out)
{
	struct thread *threads = xcalloc(profile->entry_count, sizeof(*threads));
	size_t count = 0;

	for (size_t i = 0; i < profile->entry_count; i++)
		threads[i] = (struct thread){
			.entry = &profile->entries[i],
			.ns = profile->entries[i].ns,
			.runqueue_ns = profile->entries[i].runqueue_ns,
			.waits = profile->entries[i].count,
			.ended_ns = is_ended(&profile->entries[i]) ? profile->entries[i].ns : 0,
		};
	sort_array(threads, profile->entry_count, sizeof(*threads), by_identity);
	for (size_t i = 0; i < profile->entry_count; i++) {
		if (count && by_identity(&threads[count - 1], &threads[i]) == 0) {
			threads[count - 1].ns += threads[i].ns;
			threads[count - 1].runqueue_ns += threads[i].runqueue_ns;
			threads[count - 1].waits += threads[i].waits;
			threads[count - 1].ended_ns += threads[i].ended_ns;
		} else {
			threads[count++] = threads[i];
		}
	}
	sort_array(threads, count, sizeof(*threads), by_time);
	*out = threads;
	return count;
}

static int compare_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_hops(const struct profile_hop *a, const struct profile_hop *b)
{
	int by = compare_u64(a->kind, b->kind);

	by = by ? by : compare_text(a->name, b->name);
	by = by ? by : compare_text(a->kernel, b->kernel);
	by = by ? by : compare_text(a->user, b->user);
	by = by ? by : compare_text(a->wait_kernel, b->wait_kernel);
	return by ? by : compare_text(a->wait_user, b->wait_user);
}

/* 0: they are one row. What came up more than once is a row of its own. */
static int by_words(const void *left, const void *right)
{
	const struct profile_entry *a = ((const struct row *)left)->entry;
	const struct profile_entry *b = ((const struct row *)right)->entry;
	int by = compare_u64(a->count, b->count);

	if (!by && a->count != 1)
		return a < b ? -1 : a > b;
	by = by ? by : compare_u64(a->state, b->state);
	by = by ? by : compare_u64(a->cause, b->cause);
	by = by ? by : compare_text(a->comm, b->comm);
	by = by ? by : compare_text(a->kernel, b->kernel);
	by = by ? by : compare_text(a->user, b->user);
	by = by ? by : compare_u64(a->hop_count, b->hop_count);
	for (size_t i = 0; !by && i < a->hop_count && i < PROFILE_HOPS; i++)
		by = compare_hops(&a->hops[i], &b->hops[i]);
	return by;
}

static bool is_same_thread(const struct profile_entry *a, const struct profile_entry *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

/* Most time first, as the entries are; what nobody ended last. */
static int by_row_time(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	bool is_left_ended = is_ended(a->entry), is_right_ended = is_ended(b->entry);

	if (is_left_ended != is_right_ended)
		return is_left_ended ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static size_t gather_rows(const struct profile *profile, struct row **out)
{
	struct row *rows = xcalloc(profile->entry_count, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < profile->entry_count; i++)
		rows[i] = (struct row){.entry = &profile->entries[i],
				       .ns = profile->entries[i].ns,
				       .waits = profile->entries[i].count,
				       .chains = 1};
	sort_array(rows, profile->entry_count, sizeof(*rows), by_words);
	for (size_t i = 0; i < profile->entry_count; i++) {
		if (count && by_words(&rows[count - 1], &rows[i]) == 0) {
			rows[count - 1].ns += rows[i].ns;
			rows[count - 1].waits += rows[i].waits;
			rows[count - 1].chains++;
			rows[count - 1].several |=
				!is_same_thread(rows[count - 1].entry, rows[i].entry);
		} else {
			rows[count++] = rows[i];
		}
	}
	sort_array(rows, count, sizeof(*rows), by_row_time);
	*out = rows;
	return count;
}

static void print_rest(FILE *out, const struct render_style *style, size_t rest, const char *what,
		       uint64_t ns, uint64_t whole)
{
	if (rest > 0 && ns > 0)
		fprintf(out, "%*s%sand %s more %s%s, %s, %s%s\n", INDENT, "",
			colour__on(style, COLOUR_DIM), count_text(rest), what, rest > 1 ? "s" : "",
			duration_text(ns), part_text(ns, whole), colour__off(style, COLOUR_DIM));
}

static void add_thread(struct grid *grid, const struct thread *thread, uint64_t whole)
{
	const struct profile_entry *entry = thread->entry;

	grid__row(grid, COLOUR_PLAIN, thread_name(entry->comm, entry->pid, entry->tid),
		  duration_text(thread->ns), part_text(thread->ns, whole),
		  count_text(thread->waits),
		  thread->runqueue_ns ? duration_text(thread->runqueue_ns) : "");
}

static void print_threads(FILE *out, const struct profile *profile,
			  const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"THREAD", false}, {"BLOCKED", true},   {"SHARE", true},
		{"WAITS", true},   {"RUN QUEUE", true}, {"", false},
	};
	struct grid *grid = grid__new(columns, COUNT_OF(columns));
	struct thread *threads;
	size_t count = gather_threads(profile, &threads);
	uint64_t rest = 0;

	for (size_t i = 0; i < count; i++) {
		if (i < THREADS_MOST)
			add_thread(grid, &threads[i], whole_time(profile));
		else
			rest += threads[i].ns;
	}
	grid__finish(grid, out, style, INDENT);
	if (count > THREADS_MOST)
		print_rest(out, style, count - THREADS_MOST, "thread", rest, whole_time(profile));
	free(threads);
}

/* "      woken by   text", wrapped behind its label. */
static void print_line(FILE *out, const struct render_style *style, enum colour colour,
		       const char *label, const char *text)
{
	char padded[WORDS_COLUMN - LABEL_COLUMN + 1];

	print_to(padded, "%-*s", WORDS_COLUMN - LABEL_COLUMN, label);
	if (*text)
		wrap__item(out, padded, text, LABEL_COLUMN, 0, colour, style);
}

static void print_sleep(FILE *out, const struct render_style *style,
			const struct profile_entry *entry)
{
	char words[CHAIN_WORDS];

	print_line(out, style, COLOUR_PLAIN, "waits for",
		   chain__slept_in(words, sizeof(words), entry->state, entry->kernel));
	print_line(out, style, COLOUR_DIM, "", chain__callers(words, sizeof(words), entry->user));
	print_line(out, style, COLOUR_DIM, "",
		   chain__kernel(words, sizeof(words), entry->kernel, KERNEL_FRAMES));
}

/* label: a softirq that received a segment was not woken, but sent one. several: each time another
 * thread of that name. */
static void print_hop(FILE *out, const struct render_style *style, const struct profile_hop *hop,
		      const char *label, bool several)
{
	bool is_thread = hop->kind == WAKER_IS_THREAD && !several;
	char words[CHAIN_WORDS], *line;

	if (hop->kind == WAKER_IS_UNKNOWN) {
		print_line(out, style, COLOUR_PLAIN, label,
			   hop->name ? "an unknown waker: no room for its stack"
				     : "nobody that was seen: it may sleep on");
		return;
	}
	chain__woke_by(words, sizeof(words), hop);
	line = xasprintf("%s%s%s",
			 thread_name(hop->name, is_thread ? hop->pid : 0, is_thread ? hop->tid : 0),
			 *words ? ": " : "", words);
	print_line(out, style, COLOUR_PLAIN, label, line);
	free(line);
	if (!*words)
		print_line(out, style, COLOUR_DIM, "",
			   chain__kernel(words, sizeof(words), hop->kernel, KERNEL_FRAMES));
	print_line(out, style, COLOUR_DIM, "", chain__callers(words, sizeof(words), hop->user));
	if (!hop->wait_kernel && !hop->wait_user)
		return;
	print_line(out, style, COLOUR_PLAIN, "which waits for",
		   chain__slept_in(words, sizeof(words), 1, hop->wait_kernel));
	print_line(out, style, COLOUR_DIM, "",
		   chain__callers(words, sizeof(words), hop->wait_user));
}

static void print_chain(FILE *out, const struct profile *profile, const struct render_style *style,
			const struct row *row, size_t number)
{
	const struct profile_entry *entry = row->entry;

	fprintf(out, "%*s%s%2zu  %s  %s%s  %s", INDENT, "", colour__on(style, COLOUR_STRONG),
		number, duration_text(row->ns), part_text(row->ns, whole_time(profile)),
		colour__off(style, COLOUR_STRONG),
		thread_name(entry->comm, row->several ? 0 : entry->pid,
			    row->several ? 0 : entry->tid));
	if (row->several)
		fprintf(out, ", %s threads", count_text(row->chains));
	if (profile->by_cause && entry->has_cause)
		fprintf(out, "  %s%s%s", colour__on(style, COLOUR_CAUSE),
			profile__cause(entry->cause), colour__off(style, COLOUR_CAUSE));
	/* By cause, a part of waits that were mostly for something else. */
	if (row->waits)
		fprintf(out, "  %s", counted_text(row->waits, "wait"));
	if (row->waits > 1)
		fprintf(out, " of %s on average", duration_text(row->ns / row->waits));
	fputc('\n', out);
	print_sleep(out, style, entry);
	for (size_t hop = 0; hop < entry->hop_count && hop < PROFILE_HOPS; hop++)
		print_hop(out, style, &entry->hops[hop],
			  hop && entry->hops[hop - 1].kind == WAKER_IS_SOFTIRQ ? "sent by"
									       : "woken by",
			  row->chains > 1);
}

/* The first, and what takes a part of that time that is worth a look. */
static bool is_shown(const struct row *rows, size_t i, uint64_t ns)
{
	return i == 0 || (i < CHAINS_MOST && rows[i].ns >= ns / SHARE_LEAST);
}

static void print_chains(FILE *out, const struct profile *profile, const struct render_style *style)
{
	uint64_t ns = 0, ended_ns = 0, rest = 0;
	size_t shown = 0, count;
	struct row *rows;

	count = gather_rows(profile, &rows);
	for (size_t i = 0; i < count; i++) {
		ns += rows[i].ns;
		ended_ns += is_ended(rows[i].entry) ? rows[i].ns : 0;
	}
	fputc('\n', out);
	for (; shown < count && is_shown(rows, shown, is_ended(rows[shown].entry) ? ended_ns : ns);
	     shown++)
		print_chain(out, profile, style, &rows[shown], shown + 1);
	for (size_t i = shown; i < count; i++)
		rest += rows[i].ns;
	print_rest(out, style, count - shown, "chain", rest, whole_time(profile));
	free(rows);
}

static void print_losses(FILE *out, const struct profile *profile, const struct render_style *style)
{
	char words[CHAIN_WORDS];

	for (size_t kind = 0; kind < PROFILE_LOST_KINDS; kind++) {
		if (profile->lost[kind].count)
			fprintf(out, "%*s%sLOST%s  %s\n", INDENT, "",
				colour__on(style, COLOUR_CAUSE), colour__off(style, COLOUR_CAUSE),
				profile__lost(words, sizeof(words), profile, kind));
	}
}

static void print_blind_spots(FILE *out, const struct profile *profile,
			      const struct render_style *style)
{
	char text[256];

	if (profile->unknown_frames) {
		print_to(
			text,
			"%s of the user frames have no name (%s). Without frame pointers a program is unwound only in waits of --threshold and longer, and never with --unwind=fp.",
			part_text(profile->unknown_frames, profile->frames), PROFILE_UNKNOWN_FRAME);
		wrap__paragraph(out, text, INDENT, COLOUR_PLAIN, style);
	}
	if (profile->hidden)
		wrap__paragraph(out, safe_text(profile->hidden, 200), INDENT, COLOUR_PLAIN, style);
}

void render__profile_top(FILE *out, const struct profile *profile, const struct render_style *style)
{
	char words[CHAIN_WORDS];

	fprintf(out, "%s%s watched%s, %s: %s %s in %s", colour__on(style, COLOUR_STRONG),
		duration_text(profile->end_ts - profile->start_ts),
		colour__off(style, COLOUR_STRONG),
		safe_text(profile->target, sizeof(profile->target)),
		duration_text(profile->total_ns),
		profile->entry_count && !profile->entries[0].state ? "without a CPU" : "blocked",
		counted_text(profile->waits, "wait"));
	if (profile->runqueue_ns)
		fprintf(out, ", and %s on the run queue", duration_text(profile->runqueue_ns));
	fputc('\n', out);
	if (profile->entry_count) {
		print_threads(out, profile, style);
		print_chains(out, profile, style);
	} else {
		fprintf(out, "%*sNo wait ended in this time.\n", INDENT, "");
	}
	for (enum profile_note note = 0; note < PROFILE_NOTES; note++) {
		if (profile__note(words, sizeof(words), profile, note))
			wrap__paragraph(out, words, INDENT, COLOUR_PLAIN, style);
	}
	print_losses(out, profile, style);
	print_blind_spots(out, profile, style);
}
