/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sentences on the heap, put together from their parts. */
#ifndef NETSTALL_EXPLAIN_BUILDER_H
#define NETSTALL_EXPLAIN_BUILDER_H

#include "user/analyze/tally.h"
#include "user/base/text.h"

/* Append to a text on the heap; *text may be NULL at first. */
void builder__add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Templates. "{name}" is replaced by what the slot of that name adds; a slot that adds nothing is
 * not known. "{?name}" and "{!name}" add nothing: they ask whether it is known, or holds. Of
 * "[this|that|else]" the first part stands of which everything is known; nothing where none is.
 */
struct slot {
	const char *name;
	/* One of these. */
	void (*add)(char **text, const void *subject);
	bool (*holds)(const void *subject);
	const char *template;
};

/*
 * Append the template; the list of slots ends with a NULL name. Returns false when something that
 * stands outside of its brackets is not known.
 */
bool builder__expand(char **text, const char *template, const struct slot *slots,
		     const void *subject);
/* "40 B", "40 B to 120 B" */
char *builder__bytes(char *dst, size_t size, const struct range *range);
/* "two" to "ten", then digits */
char *builder__number(char *dst, size_t size, uint64_t number);
#define words_text(number) builder__number((char[TEXT_COUNT]){""}, TEXT_COUNT, number)

#endif
