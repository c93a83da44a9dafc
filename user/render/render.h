/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Renderers: a FILE and a const report in, text out, nothing else touched. */
#ifndef NETSTALL_RENDER_RENDER_H
#define NETSTALL_RENDER_RENDER_H

#include <stdio.h>

#include "user/analyze/report.h"
#include "user/explain/verdict.h"

/* Which connections have a row of their own. */
enum render_connections {
	CONNECTIONS_FOUND, /* those with a finding, or all if they are few; JSON: the worst 100 */
	CONNECTIONS_EACH,
};

struct render_style {
	bool colour;
	bool verbose;     /* all rows and columns; else what fits on a screen */
	bool full_stacks; /* of call sites */
	enum render_connections connections;
	unsigned width; /* columns to wrap prose at; 0: 120 */
};

/* The time line of one stall, whole; its figures alone when it has no steps. */
void render__stall(FILE *out, const struct report *report, const struct stall *stall,
		   const struct render_style *style);
/* A short time line: at most so many lines, those that prove the cause, and the sum. */
void render__example(FILE *out, const struct report *report, const struct stall *stall,
		     const struct render_style *style, size_t most);
/*
 * Of the time line at most so many lines, those that prove its cause, without head and notes;
 * returns how many were left out.
 */
size_t render__stall_proof(FILE *out, const struct report *report, const struct stall *stall,
			   const struct render_style *style, size_t most, unsigned indent);
/* One line for one record: --all. */
void render__record(FILE *out, const struct report *report, const union record *record,
		    const struct render_style *style);
void render__verdict(FILE *out, const struct verdict *verdict, const struct render_style *style);
/* Of it the first sentence. */
void render__headline(FILE *out, const struct verdict *verdict, const struct render_style *style);
/* Of it where in the program that is, a line each. */
void render__places(FILE *out, const struct verdict *verdict, const struct render_style *style);
/*
 * A finished trace: the verdict, the causes, time lines, the tables. Of these marks and requests
 * always; others as far as they fit into REPORT_LINES lines, those that do not are named instead;
 * verbose: all.
 */
#define REPORT_LINES 35
void render__report(FILE *out, const struct report *report, const struct verdict *verdict,
		    const struct render_style *style, bool time_lines);

/* netstall.report/1, pretty (indent > 0) or on one line (0), with a newline behind it. */
void render__json(FILE *out, const struct report *report, const struct verdict *verdict, int indent,
		  enum render_connections connections);
/* netstall.event/1: one record as one JSON line; and one stall, as it ended. */
void render__json_record(FILE *out, const struct report *report, const union record *record);
void render__json_stall(FILE *out, const struct report *report, const struct stall *stall);

#endif
