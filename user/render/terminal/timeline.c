// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The time line of one stall, and of records one by one. */
#include <stdio.h>
#include <string.h>

#include "user/base/text.h"
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
	char ns[TEXT_DURATION];

	text__duration(ns, sizeof(ns), stall->end_ts - stall->start_ts);
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

/* "40.5 ms nagle-delack + 0.10 ms network + 31 us runqueue" */
static void describe_sum(const struct stall *stall, char *dst, size_t size)
{
	struct slice parts[STALL_SLICES];
	size_t count = sum_up(stall, parts), used = 0;

	dst[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		char ns[TEXT_DURATION];

		used += (size_t)snprintf(dst + used, size - used, "%s%s %s", i > 0 ? " + " : "",
					 text__duration(ns, sizeof(ns), parts[i].ns),
					 cause__info(parts[i].cause)->id);
	}
	if (count < stall->slice_count && used < size)
		snprintf(dst + used, size - used, ", in %zu parts", stall->slice_count);
}

/* "server/4243 lost 40.6 ms = 40.5 ms nagle-delack + 0.1 ms network" */
static void add_sum(struct grid *grid, const struct report *report, const struct stall *stall)
{
	char line[768], sum[512], name[NAME_SIZE], whole[40];

	describe_sum(stall, sum, sizeof(sum));
	name__thread(name, sizeof(name), report, stall->pid, stall->tid);
	snprintf(line, sizeof(line), "%s%s%s = %s", stall->tid ? name : "",
		 stall->tid ? " lost " : "", length_of(stall, whole, sizeof(whole)), sum);
	grid__note(grid, COLOUR_STRONG, 1, line);
}

/* "client/4242 in read fd 7, 40.6 ms" */
static void describe_link(const struct report *report, const struct stall_link *link, char *dst,
			  size_t size)
{
	char name[NAME_SIZE], call[64] = "", took[TEXT_DURATION];

	text__duration(took, sizeof(took), link->end_ts - link->start_ts);
	if (!link->tid) {
		snprintf(dst, size, "%s, %s", cause__info(link->cause)->id, took);
		return;
	}
	name__thread(name, sizeof(name), report, link->pid, link->tid);
	if (link->wait.head.type && link->wait.state == 0)
		snprintf(call, sizeof(call), " without a CPU");
	else if (link->wait.head.type && link->wait.syscall != NS_SYSCALL_NONE) {
		char syscall[56];

		snprintf(call, sizeof(call), " in %s",
			 name__syscall(syscall, sizeof(syscall), report, &link->wait));
	}
	snprintf(dst, size, "%s%s, %s", name, call, took);
}

/* "chain: client/4242 in read fd 7, 40.6 ms <- srv/4243 in nanosleep, 40.1 ms" */
static void add_chain(struct grid *grid, const struct report *report, const struct stall *stall)
{
	char line[1024] = "chain: ", piece[256];
	size_t used = 7;

	if (stall->link_count < 2)
		return;
	for (size_t i = 0; i < stall->link_count && used < sizeof(line); i++) {
		describe_link(report, &stall->links[i], piece, sizeof(piece));
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s",
					 i > 0 ? " <- " : "", piece);
	}
	grid__note(grid, COLOUR_PLAIN, 1, line);
}

/* Other threads that the same incident held up. */
static void add_waits(struct grid *grid, const struct report *report, const struct stall *stall)
{
	uint32_t kept = stall->wait_count < STALL_WAITS ? stall->wait_count : STALL_WAITS;
	char line[256], name[NAME_SIZE], took[TEXT_DURATION];

	for (uint32_t i = 0; i < kept; i++) {
		const struct stall_wait *wait = &stall->waits[i];

		if (wait->tid == stall->tid && wait->off_ts == stall->wait.off_ts)
			continue; /* the wait that the stall is about */
		snprintf(line, sizeof(line), "also delayed: %s, %s",
			 name__thread(name, sizeof(name), report, wait->pid, wait->tid),
			 text__duration(took, sizeof(took), wait->end_ts - wait->off_ts));
		grid__note(grid, COLOUR_PLAIN, 1, line);
	}
	if (stall->wait_count > kept) {
		snprintf(line, sizeof(line), "and %u more", stall->wait_count - kept);
		grid__note(grid, COLOUR_PLAIN, 1, line);
	}
}

static void add_stack(struct grid *grid, const char *lead, const char *stack)
{
	char frames[512], line[600];

	if (!stack || !stack[0])
		return;
	snprintf(line, sizeof(line), "%s %s", lead,
		 name__stack(frames, sizeof(frames), stack, STACK_FRAMES));
	grid__note(grid, COLOUR_DIM, 1, line);
}

/* Where in its program each of the two writes was called. */
static void add_sites(struct grid *grid, const struct stall *stall)
{
	char line[SITE_TEXT + 32];

	for (unsigned i = 0; i < SITE_LINES; i++)
		if (site__line(line, sizeof(line), stall, i))
			grid__note(grid, COLOUR_DIM, 1, line);
}

static void add_stacks(struct grid *grid, const struct report *report, const struct stall *stall)
{
	char lead[NAME_SIZE + 16], name[NAME_SIZE];

	if (cause__info(stall->cause)->shows_stacks) {
		add_stack(grid, "slept in", stall->wait_stack);
		add_stack(grid, "woken from", stall->waker_stack);
	}
	for (size_t i = 1; i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		if (!cause__info(link->cause)->shows_stacks)
			continue;
		snprintf(lead, sizeof(lead), "%s slept in",
			 name__thread(name, sizeof(name), report, link->pid, link->tid));
		add_stack(grid, lead, link->wait_stack);
	}
}

/* The sum, the wake chain, other waits that show it, call sites, stacks. */
static void add_notes(struct grid *grid, const struct report *report, const struct stall *stall)
{
	add_sum(grid, report, stall);
	add_chain(grid, report, stall);
	add_waits(grid, report, stall);
	add_sites(grid, stall);
	add_stacks(grid, report, stall);
}

/* ---- the head ---- */

/* "client/4242 127.0.0.1:37640 -> 127.0.0.1:7000 server/4243" */
static void describe_path(const struct report *report, const struct stall *stall, char *dst,
			  size_t size)
{
	const struct report_conn *conn = report__conn(report, stall->conn);
	const struct report_conn *peer =
		conn && conn->peer ? report__conn(report, conn->peer) : NULL;
	char addresses[2 * TEXT_ADDRESS + 4], owner[NAME_SIZE], other[NAME_SIZE];

	if (!conn) {
		name__thread(dst, size, report, stall->pid, stall->tid);
		return;
	}
	name__owner(owner, sizeof(owner), report, conn);
	name__owner(other, sizeof(other), report, peer);
	snprintf(dst, size, "%s%s%s%s%s", owner, owner[0] ? "  " : "",
		 name__addresses(addresses, sizeof(addresses), &conn->id), other[0] ? "  " : "",
		 other);
}

static void print_head(FILE *out, const struct report *report, const struct stall *stall,
		       const struct render_style *style)
{
	char duration[40], begin[40], path[512], number[24];
	const char *cause = cause__info(stall->cause)->id;
	unsigned column;

	snprintf(number, sizeof(number), "stall %u", stall->number);
	length_of(stall, duration, sizeof(duration));
	text__ms(begin, sizeof(begin), (int64_t)(stall->start_ts - report->start_ts) / 1000, 3);
	fprintf(out, "%s%s%s  %s%s%s  %s  at %s s  ", colour__on(style, COLOUR_STRONG), number,
		colour__off(style, COLOUR_STRONG), colour__on(style, COLOUR_CAUSE), cause,
		colour__off(style, COLOUR_CAUSE), duration, begin);
	column = wrap__columns(number) + wrap__columns(cause) + wrap__columns(duration) +
		 wrap__columns(begin) + 13;
	describe_path(report, stall, path, sizeof(path));
	wrap__print(out, path, column, 2 * INDENT, colour__width(style));
	fputc('\n', out);
}

static void print_clause(FILE *out, const struct render_style *style, const char *name,
			 const char *clause)
{
	if (!clause)
		return;
	fprintf(out, "%*s%s: ", INDENT, "", name);
	wrap__print(out, clause, INDENT + wrap__columns(name) + 2, 2 * INDENT,
		    colour__width(style));
	fputc('\n', out);
}

static void print_clauses(FILE *out, const struct stall *stall, const struct render_style *style)
{
	print_clause(out, style, "inferred",
		     stall->confidence == CONFIDENCE_INFERRED ? inferred__text(stall->inferred)
							      : NULL);
	print_clause(out, style, "not seen", missing__text(stall->missing));
	if (!stall->exact && !stall->missing)
		print_clause(out, style, "inexact", "its start or its end was not seen");
}

/* ---- whole ---- */

static void add_line(struct grid *grid, const struct words *words, uint64_t zero_ts, bool aside)
{
	char ms[40];

	text__ms(ms, sizeof(ms), (int64_t)(words->ts - zero_ts), 3);
	grid__row(grid, words->colour);
	grid__cell(grid, "%s ms", ms);
	grid__cell(grid, "%s", words->actor);
	grid__cell(grid, "%s", words->what);
	grid__cell(grid, "%s", words->amount);
	grid__cell(grid, "%s", words->note);
	if (aside && words->aside[0])
		grid__note(grid, COLOUR_DIM, 2, words->aside);
}

static const struct grid_column columns[] = {
	{NULL, true}, {NULL, false}, {NULL, false}, {NULL, true}, {NULL, false}};

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
	grid = grid__new(columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < lines->count; i++)
		add_line(grid, &lines->words[i], stall->start_ts, true);
	add_notes(grid, report, stall);
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
	lines__free(lines);
}

/* What is left out of the example is in the whole time line. */
static void add_rest(struct grid *grid, size_t left_out)
{
	char line[64];

	if (!left_out)
		return;
	snprintf(line, sizeof(line), "%zu more event%s: -v", left_out, left_out > 1 ? "s" : "");
	grid__note(grid, COLOUR_DIM, 1, line);
}

void render__example(FILE *out, const struct report *report, const struct stall *stall,
		     const struct render_style *style, size_t most)
{
	struct lines *lines = lines__new(report, stall);
	size_t left_out = lines__keep_proof(lines, stall, most);
	struct grid *grid = grid__new(columns, sizeof(columns) / sizeof(columns[0]));

	print_clauses(out, stall, style);
	for (size_t i = 0; i < lines->count; i++)
		add_line(grid, &lines->words[i], stall->start_ts, false);
	add_rest(grid, left_out);
	add_sum(grid, report, stall);
	add_chain(grid, report, stall);
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
	lines__free(lines);
}

size_t render__stall_proof(FILE *out, const struct report *report, const struct stall *stall,
			   const struct render_style *style, size_t most, unsigned indent)
{
	struct lines *lines = lines__new(report, stall);
	size_t left_out = lines__keep_proof(lines, stall, most);
	struct grid *grid = grid__new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < lines->count; i++)
		add_line(grid, &lines->words[i], stall->start_ts, false);
	grid__print(grid, out, style, indent);
	grid__free(grid);
	lines__free(lines);
	return left_out;
}

void render__record(FILE *out, const struct report *report, const union record *record,
		    const struct render_style *style)
{
	struct scene scene = {.report = report};
	char ms[40], conn[16] = "", line[400];
	struct words words;
	size_t used;

	words__record(&scene, record, &words);
	text__ms(ms, sizeof(ms), (int64_t)(record->head.ts - report->start_ts), 3);
	if (record->head.conn)
		snprintf(conn, sizeof(conn), "c%u", record->head.conn);
	snprintf(line, sizeof(line), "%12s ms  cpu %-2u  %-4s  %-16s  %-22s  %9s", ms,
		 record->head.cpu, conn, words.actor, words.what, words.amount);
	for (used = strlen(line); words.note[0] == '\0' && used > 0 && line[used - 1] == ' ';)
		line[--used] = '\0';
	fprintf(out, "%s%s%s%s%s%s%s\n", colour__on(style, words.colour), line,
		words.note[0] ? "  " : "", words.note, words.aside[0] ? "; " : "", words.aside,
		colour__off(style, words.colour));
}
