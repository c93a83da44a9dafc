// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The time line of one stall, and of records one by one. */
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/explain/builder.h"
#include "user/explain/call_site.h"
#include "user/explain/clauses.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/timeline_lines.h"
#include "user/render/terminal/wrap.h"
#include "user/render/words/names.h"
#include "user/render/words/words.h"

#define INDENT       2
#define STACK_FRAMES 8

/* ---- below the lines ---- */

/* "40.6 ms", "40.6 ms so far", "at most 40.6 ms" */
static char *length_of(const struct stall *stall, char *dst, size_t size)
{
	const char *ns = duration_text(stall->end_ts - stall->start_ts);

	if (stall->open)
		snprintf(dst, size, "%s so far", ns);
	else
		snprintf(dst, size, "%s%s", stall->exact ? "" : "at most ", ns);
	return dst;
}

/* The slices by cause, in the order of their first ones. */
static size_t sum_up(const struct stall *stall, struct slice *parts)
{
	size_t count = 0;

	for (size_t i = 0; i < stall->slice_count; i++) {
		const struct slice *slice = &stall->slices[i];
		size_t at = count;

		for (size_t j = 0; j < count; j++)
			at = parts[j].cause == slice->cause ? j : at;
		if (at == count)
			parts[count++] = (struct slice){.cause = slice->cause};
		parts[at].ns += slice->ns;
	}
	return count;
}

/* "server/4243 lost 40.6 ms = 40.5 ms nagle-delack + 0.1 ms network" */
static void add_sum(struct grid *grid, const struct report *report, const struct stall *stall)
{
	struct slice parts[STALL_SLICES];
	size_t count = sum_up(stall, parts);
	char sum[512] = "", whole[40];

	for (size_t i = 0; i < count; i++)
		add_to(sum, " + ", "%s %s", duration_text(parts[i].ns),
		       cause__info(parts[i].cause)->id);
	if (count < stall->slice_count)
		add_to(sum, ", ", "in %zu parts", stall->slice_count);
	grid__note(grid, COLOUR_STRONG, 1, "%s%s%s = %s",
		   stall->tid ? thread_text(report, stall->pid, stall->tid) : "",
		   stall->tid ? " lost " : "", length_of(stall, whole, sizeof(whole)), sum);
}

/* "client/4242 in read fd 7, 40.6 ms" */
static void describe_link(const struct report *report, const struct stall_link *link, char **text)
{
	const struct ns_wait *wait = &link->wait;

	builder__add(text, "%s", thread_text(report, wait->head.tgid, wait->head.tid));
	if (wait->state == 0)
		builder__add(text, link->cause == CAUSE_THROTTLED ? " at its CPU quota"
								  : " without a CPU");
	else if (wait->state == NS_STATE_STOPPED)
		builder__add(text, " stopped");
	else if (wait->syscall != NS_SYSCALL_NONE)
		builder__add(text, " in %s", syscall_text(report, wait));
	builder__add(text, ", %s", duration_text(link->end_ts - link->start_ts));
}

/* "chain: client/4242 in read fd 7, 40.6 ms <- srv/4243 in nanosleep, 40.1 ms" */
static void add_chain(struct grid *grid, const struct report *report, const struct stall *stall)
{
	char *text = NULL;

	if (stall->link_count < 2)
		return;
	for (size_t i = 0; i < stall->link_count; i++) {
		builder__add(&text, "%s", i > 0 ? " <- " : "chain: ");
		describe_link(report, &stall->links[i], &text);
	}
	grid__note(grid, COLOUR_PLAIN, 1, "%s", text);
	free(text);
}

/* Other threads that the same incident held up. */
static void add_waits(struct grid *grid, const struct report *report, const struct stall *stall)
{
	uint32_t kept = stall->wait_count < STALL_WAITS ? stall->wait_count : STALL_WAITS;

	for (uint32_t i = 0; i < kept; i++) {
		const struct stall_wait *wait = &stall->waits[i];

		if (wait->tid == stall->tid && wait->off_ts == stall->wait.off_ts)
			continue; /* the wait that the stall is about */
		grid__note(grid, COLOUR_PLAIN, 1, "also delayed: %s, %s",
			   thread_text(report, wait->pid, wait->tid),
			   duration_text(wait->end_ts - wait->off_ts));
	}
	if (stall->wait_count > kept)
		grid__note(grid, COLOUR_PLAIN, 1, "and %u more", stall->wait_count - kept);
}

static void add_stack(struct grid *grid, const char *who, const char *verb, const char *stack)
{
	char frames[512];

	if (stack && stack[0])
		grid__note(grid, COLOUR_DIM, 1, "%s%s %s", who, verb,
			   name__stack(frames, sizeof(frames), stack, STACK_FRAMES));
}

/* Where in their programs. */
static void add_sites(struct grid *grid, const struct stall *stall)
{
	char lines[SITE_LINES][SITE_LINE];
	unsigned count = site__lines(stall, lines);

	for (unsigned i = 0; i < count; i++)
		grid__note(grid, COLOUR_DIM, 1, "%s", lines[i]);
}

static void add_stacks(struct grid *grid, const struct report *report, const struct stall *stall)
{
	if (cause__info(stall->cause)->shows_stacks) {
		add_stack(grid, "", "slept in", stall->wait_stack);
		add_stack(grid, "", "woken from", stall->waker_stack);
	}
	for (size_t i = 1; i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		if (cause__info(link->cause)->shows_stacks)
			add_stack(grid,
				  thread_text(report, link->wait.head.tgid, link->wait.head.tid),
				  " slept in", link->wait_stack);
	}
}

/* ---- the head ---- */

/* "client/4242 127.0.0.1:37640 -> 127.0.0.1:7000 server/4243" */
static void describe_path(const struct report *report, const struct stall *stall, char *dst,
			  size_t size)
{
	const struct report_conn *conn = report__conn(report, stall->conn);
	const struct report_conn *peer = report__peer(report, conn);
	const char *owner = owner_text(report, conn), *other = owner_text(report, peer);

	if (!conn)
		name__thread(dst, size, report, stall->pid, stall->tid);
	else
		snprintf(dst, size, "%s%s%s%s%s", owner, owner[0] ? "  " : "",
			 addresses_text(&conn->id), other[0] ? "  " : "", other);
}

static void print_head(FILE *out, const struct report *report, const struct stall *stall,
		       const struct render_style *style)
{
	const char *cause = cause__info(stall->cause)->id;
	const char *begin = ms_text((int64_t)(stall->start_ts - report->start_ts) / 1000);
	char duration[40], path[512];
	int column;

	length_of(stall, duration, sizeof(duration));
	column = snprintf(NULL, 0, "stall %u  %s  %s  at %s s  ", stall->number, cause, duration,
			  begin);
	fprintf(out, "%sstall %u%s  %s%s%s  %s  at %s s  ", colour__on(style, COLOUR_STRONG),
		stall->number, colour__off(style, COLOUR_STRONG), colour__on(style, COLOUR_CAUSE),
		cause, colour__off(style, COLOUR_CAUSE), duration, begin);
	describe_path(report, stall, path, sizeof(path));
	wrap__print(out, path, (unsigned)column, 2 * INDENT, colour__width(style));
	fputc('\n', out);
}

static void print_clause(FILE *out, const struct render_style *style, const char *label,
			 const char *clause)
{
	if (clause)
		wrap__item(out, label, clause, INDENT, 2 * INDENT, COLOUR_PLAIN, style);
}

static void print_clauses(FILE *out, const struct stall *stall, const struct render_style *style)
{
	print_clause(out, style, "inferred: ",
		     stall->confidence == CONFIDENCE_INFERRED ? inferred__text(stall->inferred)
							      : NULL);
	print_clause(out, style, "not seen: ", missing__text(stall->missing));
	if (!stall->exact && !stall->missing)
		print_clause(out, style, "inexact: ", "its start or its end was not seen");
}

/* ---- whole ---- */

static struct grid *new_grid(void)
{
	static const struct grid_column columns[] = {
		{NULL, true}, {NULL, false}, {NULL, false}, {NULL, true}, {NULL, false}};

	return grid__new(columns, COUNT_OF(columns));
}

static void add_line(struct grid *grid, const struct words *words, uint64_t zero_ts, bool aside)
{
	char ms[TEXT_DURATION + 3];

	print_to(ms, "%s ms", ms_text((int64_t)(words->ts - zero_ts)));
	grid__row(grid, words->colour, ms, words->actor, words->what, words->amount, words->note);
	if (aside && words->aside[0])
		grid__note(grid, COLOUR_DIM, 2, "%s", words->aside);
}

void render__stall(FILE *out, const struct report *report, const struct stall *stall,
		   const struct render_style *style)
{
	struct lines *lines;
	struct grid *grid;

	if (stall->step_count > 0)
		fputc('\n', out);
	print_head(out, report, stall, style);
	if (stall->step_count == 0)
		return;
	print_clauses(out, stall, style);
	lines = lines__new(report, stall);
	grid = new_grid();
	for (size_t i = 0; i < lines->count; i++)
		add_line(grid, &lines->words[i], stall->start_ts, true);
	lines__free(lines);
	add_sum(grid, report, stall);
	add_chain(grid, report, stall);
	add_waits(grid, report, stall);
	add_sites(grid, stall);
	add_stacks(grid, report, stall);
	grid__finish(grid, out, style, INDENT);
}

/* At most so many lines; returns how many were left out. */
static size_t add_proof(struct grid *grid, const struct report *report, const struct stall *stall,
			size_t most)
{
	struct lines *lines = lines__new(report, stall);
	size_t left_out = lines__keep_proof(lines, stall, most);

	for (size_t i = 0; i < lines->count; i++)
		add_line(grid, &lines->words[i], stall->start_ts, false);
	lines__free(lines);
	return left_out;
}

void render__example(FILE *out, const struct report *report, const struct stall *stall,
		     const struct render_style *style, size_t most)
{
	struct grid *grid = new_grid();
	size_t left_out = add_proof(grid, report, stall, most);

	print_clauses(out, stall, style);
	if (left_out) /* they are in the whole time line */
		grid__note(grid, COLOUR_DIM, 1, "%zu more event%s: -v", left_out,
			   left_out > 1 ? "s" : "");
	add_sum(grid, report, stall);
	add_chain(grid, report, stall);
	grid__finish(grid, out, style, INDENT);
}

size_t render__stall_proof(FILE *out, const struct report *report, const struct stall *stall,
			   const struct render_style *style, size_t most, unsigned indent)
{
	struct grid *grid = new_grid();
	size_t left_out = add_proof(grid, report, stall, most);

	grid__finish(grid, out, style, indent);
	return left_out;
}

void render__record(FILE *out, const struct report *report, const union record *record,
		    const struct render_style *style)
{
	struct scene scene = {.report = report};
	char conn[16] = "", line[400];
	struct words words;
	size_t used;

	words__record(&scene, record, &words);
	if (record->head.conn)
		print_to(conn, "c%u", record->head.conn);
	print_to(line, "%12s ms  cpu %-2u  %-4s  %-16s  %-22s  %9s",
		 ms_text((int64_t)(record->head.ts - report->start_ts)), record->head.cpu, conn,
		 words.actor, words.what, words.amount);
	for (used = strlen(line); words.note[0] == '\0' && used > 0 && line[used - 1] == ' ';)
		line[--used] = '\0';
	fprintf(out, "%s%s%s%s%s%s%s\n", colour__on(style, words.colour), line,
		words.note[0] ? "  " : "", words.note, words.aside[0] ? "; " : "", words.aside,
		colour__off(style, words.colour));
}
