/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The reports of a check: a FILE and a const outcome in, text out, nothing else touched. */
#ifndef NETSTALL_CHECK_REPORTS_REPORTS_H
#define NETSTALL_CHECK_REPORTS_REPORTS_H

#include <stdio.h>

#include "user/check/judge/outcome.h"
#include "user/render/render.h"

/* For people: at most 25 lines, the first over-budget stall's time line among them. */
void check_text__write(FILE *out, const struct outcome *outcome, const struct render_style *style);
/* netstall.check/1 (docs/check-schema.json): the outcome, and the whole netstall.report/1 in it. */
void check_json__write(FILE *out, const struct outcome *outcome);
/* JUnit XML: a test case for each gate, one for the program, one for conclusiveness. */
void check_junit__write(FILE *out, const struct outcome *outcome);
/* TAP version 13 */
void check_tap__write(FILE *out, const struct outcome *outcome);
/* A page to look at (render/html/html.h), the outcome on top of it. */
void check_html__write(FILE *out, const struct outcome *outcome);
/* Workflow commands (::error file=...,line=...::) for stdout. */
void check_github__annotate(FILE *out, const struct outcome *outcome);
/* Markdown for $GITHUB_STEP_SUMMARY. */
void check_github__summary(FILE *out, const struct outcome *outcome);

#endif
