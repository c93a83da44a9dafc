// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The time line of one stall, and of records one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/render/grid.h"
#include "user/render/names.h"
#include "user/render/timeline.h"
#include "user/render/words.h"
#include "user/render/wrap.h"

#define INDENT 2
/* A write and its segment are one act when they lie this close together. */
#define ONE_ACT_NS 1000000ull

/* The lines of a time line: most steps give one, a wait gives two. */
struct lines {
	size_t count;
	struct words *words;
};

/* The hold that this send ended in, NULL when all was sent or it was not seen. */
static const union record *hold_of(const struct stall *stall, const union record *send)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const union record *step = &stall->steps[i];

		/* A writer that sleeps for room is in a send of its own. */
		if (step->head.type == NS_HOLD && step->head.conn == send->head.conn &&
		    step->hold.seq != step->hold.end && step->hold.seq == send->send.snd_nxt &&
		    step->hold.end == send->send.write_seq)
			return step;
	}
	return NULL;
}

static bool has_send_of(const struct stall *stall, const union record *hold)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const union record *step = &stall->steps[i];

		if (step->head.type == NS_SEND && hold_of(stall, step) == hold)
			return true;
	}
	return false;
}

/* The transmit of what this send, release or retransmission sent, seen on the way out. */
static bool is_transmit_of(const union record *tx, const union record *act)
{
	if (tx->head.type != NS_TX || tx->head.conn != act->head.conn ||
	    tx->head.ts > act->head.ts || act->head.ts - tx->head.ts > ONE_ACT_NS)
		return false;
	if (act->head.type == NS_SEND)
		return tx->segment.end == act->send.snd_nxt &&
		       act->send.snd_nxt == act->send.write_seq;
	if (act->head.type == NS_RETRANS)
		return tx->segment.seq == act->retrans.seq;
	return act->head.type == NS_RELEASE && tx->segment.seq == act->release.seq;
}

/* Does the line of one of these tell of this transmit already? */
static bool is_told(const struct stall *stall, const union record *tx)
{
	for (size_t i = 0; i < stall->step_count; i++)
		if (is_transmit_of(tx, &stall->steps[i]))
			return true;
	return false;
}

/*
 * A send is stamped when its call had done its work. On loopback the segment has
 * by then arrived: the line stands where the segment left, before its effects.
 */
static uint64_t left_at(const struct stall *stall, const union record *send)
{
	for (size_t i = 0; i < stall->step_count; i++)
		if (is_transmit_of(&stall->steps[i], send))
			return stall->steps[i].head.ts;
	return send->head.ts;
}

/* Did this send push out what was held before it? */
static bool takes_held_along(const struct stall *stall, const union record *send)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const union record *step = &stall->steps[i];

		if (step->head.type == NS_RELEASE && step->head.conn == send->head.conn &&
		    step->release.end == send->send.write_seq - send->send.bytes &&
		    step->head.ts == left_at(stall, send))
			return true;
	}
	return false;
}

static void add_send(const struct scene *scene, const union record *send, struct words *words)
{
	const union record *hold = hold_of(scene->stall, send);

	if (hold) {
		words__held_send(scene, send, hold, words);
		return;
	}
	words__record(scene, send, words);
	words->ts = left_at(scene->stall, send);
	if (takes_held_along(scene->stall, send))
		snprintf(words->note, sizeof(words->note),
			 "sent at once, and what was held with it");
}

static void add_step(struct lines *lines, const struct scene *scene, const union record *step)
{
	const struct stall *stall = scene->stall;
	struct words *words = &lines->words[lines->count];

	switch (step->head.type) {
	case NS_SEND:
		add_send(scene, step, words);
		break;
	case NS_HOLD:
		if (has_send_of(stall, step))
			return;
		words__record(scene, step, words);
		break;
	case NS_TX:
		if (is_told(stall, step))
			return;
		words__record(scene, step, words);
		break;
	case NS_CALL:
		return; /* the call sites stand below the time line */
	case NS_WAIT:
		words__sleep(scene, &step->wait, words);
		lines->count++;
		words__wake(scene, &step->wait, words + 1);
		break;
	default:
		words__record(scene, step, words);
	}
	lines->count++;
}

static bool is_before(const struct words *a, const struct words *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->type < b->type;
}

/* Stable by time, then by type, whose numbers go from cause to effect. */
static void sort_lines(struct lines *lines)
{
	for (size_t i = 1; i < lines->count; i++) {
		struct words words = lines->words[i];
		size_t at = i;

		for (; at > 0 && is_before(&words, &lines->words[at - 1]); at--)
			lines->words[at] = lines->words[at - 1];
		lines->words[at] = words;
	}
}

static struct lines lines_of(const struct scene *scene)
{
	const struct stall *stall = scene->stall;
	struct lines lines = {0, xcalloc(2 * stall->step_count, sizeof(struct words))};

	for (size_t i = 0; i < stall->step_count; i++)
		add_step(&lines, scene, &stall->steps[i]);
	sort_lines(&lines);
	return lines;
}

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
		     stall->confidence == CONFIDENCE_INFERRED ? stall->inferred : NULL);
	print_clause(out, style, "not seen", stall->missing);
	if (!stall->exact && !stall->missing)
		print_clause(out, style, "inexact", "one of its ends was not seen itself");
}

static void add_line(struct grid *grid, const struct words *words, uint64_t zero_ts)
{
	char ms[40];

	text__ms(ms, sizeof(ms), (int64_t)(words->ts - zero_ts), 3);
	grid__row(grid, words->colour);
	grid__cell(grid, "%s ms", ms);
	grid__cell(grid, "%s", words->actor);
	grid__cell(grid, "%s", words->what);
	grid__cell(grid, "%s", words->amount);
	grid__cell(grid, "%s", words->note);
	if (words->aside[0])
		grid__note(grid, COLOUR_DIM, 2, words->aside);
}

void render__stall(FILE *out, const struct report *report, const struct stall *stall,
		   const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{NULL, true}, {NULL, false}, {NULL, false}, {NULL, true}, {NULL, false}};
	struct scene scene = {report, stall};
	struct lines lines;
	struct grid *grid;

	if (stall->step_count > 0)
		fputc('\n', out);
	print_head(out, report, stall, style);
	if (stall->step_count == 0)
		return;
	print_clauses(out, stall, style);
	lines = lines_of(&scene);
	grid = grid__new(columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < lines.count; i++)
		add_line(grid, &lines.words[i], stall->start_ts);
	timeline__add_notes(grid, report, stall);
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
	free(lines.words);
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
