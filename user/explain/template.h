/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sentences of a verdict as templates (see builder.h), with the slots of slots.def. */
#ifndef NETSTALL_EXPLAIN_TEMPLATE_H
#define NETSTALL_EXPLAIN_TEMPLATE_H

#include "user/explain/context.h"

/* Append it. Returns false, and appends nothing, when it asks for what is not so. */
bool template__add(char **text, const char *template, const struct context *context);

/* A sentence of some causes. */
struct template
{
	uint64_t causes; /* FOR() each */
	const char *text;
};

#define FOR(cause) (1ull << CAUSE_##cause)

/* Append it if it is of the context's cause, and applies. */
bool template__add_row(char **text, const struct template *row, const struct context *context);

#endif
