/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sentences on the heap, put together from their parts. */
#ifndef NETSTALL_EXPLAIN_BUILDER_H
#define NETSTALL_EXPLAIN_BUILDER_H

#include "user/analyze/tally.h"

/* Append to a text on the heap; *text may be NULL at first. */
void builder__add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What stands for "{name}" in a template. */
struct placeholder {
	const char *name;
	void (*add)(char **text, const void *subject);
};

/* Append the template with its placeholders replaced; the list ends with a NULL name. */
void builder__expand(char **text, const char *template, const struct placeholder *placeholders,
		     const void *subject);
/* "40 B", "40 B to 120 B" */
char *builder__bytes(char *dst, size_t size, const struct range *range);
/* "two" to "ten", then digits */
char *builder__number(char *dst, size_t size, uint64_t number);

#endif
