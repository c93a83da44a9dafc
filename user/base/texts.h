/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A set of texts, each kept once: equal ones are one pointer. It grows with what it is given,
 * unless a call says how many bytes it may hold. */
#ifndef NETSTALL_BASE_TEXTS_H
#define NETSTALL_BASE_TEXTS_H

#include <stddef.h>

struct texts;

struct texts *texts__new(void);
void texts__free(struct texts *texts);
/* The set's own copy, which lives as long as the set; NULL for NULL. */
const char *texts__keep(struct texts *texts, const char *text);
/* NULL as well for a text that is new and would make the set longer than most bytes. */
const char *texts__keep_within(struct texts *texts, const char *text, size_t most);
/* From 1 on, in the order in which they came; 0: it is not there. */
size_t texts__number(const struct texts *texts, const char *text);
size_t texts__count(const struct texts *texts);

#endif
