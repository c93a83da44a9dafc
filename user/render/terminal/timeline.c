// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The time line of one stall, and of records one by one. */
#include <stdio.h>
#include <string.h>

#include "user/explain/clauses.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/timeline.h"
#include "user/render/terminal/wrap.h"
#include "user/render/words/names.h"
#include "user/render/words/words.h"

#define INDENT 2
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
	timeline__length(stall, duration, sizeof(duration));
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
		print_clause(out, style, "inexact", "one of its ends was not seen itself");
}

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
	timeline__add_notes(grid, report, stall);
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
	struct scene scene = {report, NULL};
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
