/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Text into the formats of others, each by its own rules. Whatever bytes come, what goes out is
 * well-formed: no UTF-8 is mended to \xNN, and what XML has no way to write is left out of it.
 */
#ifndef NETSTALL_BASE_ESCAPE_H
#define NETSTALL_BASE_ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

/* XML 1.0; in an attribute line feeds and tabs are kept as references. */
void escape__xml(FILE *out, const char *text, bool attribute);
/* A YAML scalar in double quotes, on one line, also for readers of TAP that know little of YAML. */
void escape__yaml(FILE *out, const char *text);
/* Behind a workflow command of GitHub: %25 %0D %0A, in a property %3A %2C as well. */
void escape__github(FILE *out, const char *text, bool property);
/* A cell of a table in GitHub's Markdown: on one line, nothing in it is markup. */
void escape__markdown(FILE *out, const char *text);
/* Lines as they are between two fences, which are longer than any run of backticks in them. */
void escape__fenced(FILE *out, const char *text);

#endif
