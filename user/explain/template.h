/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sentences of single causes as rows of a table, with the names and figures of a case put in. */
#ifndef NETSTALL_EXPLAIN_TEMPLATE_H
#define NETSTALL_EXPLAIN_TEMPLATE_H

#include "user/explain/context.h"

#define FOR(cause) (1ull << CAUSE_##cause)

struct template
{
	uint64_t causes;                                /* FOR() each */
	bool (*applies)(const struct context *context); /* NULL: always */
	const char *text;                               /* with the placeholders of template.c */
};

bool template__applies(const struct template *template, const struct context *context);
void template__add(char **text, const struct template *template, const struct context *context);

/* Conditions that several tables ask. */

/* The other end, which is out of sight, wrote the pieces: see remote_nagle.h. */
bool context__is_receiver(const struct context *context);
/* Whom the delayed thread waited for is known, and what that one waited for. */
bool context__has_root(const struct context *context);
/* The thread that ended the wait is watched. */
bool context__has_waker(const struct context *context);
bool context__is_for_a_child(const struct context *context);
/* A call ended that gives a time-out, not one that sleeps. */
bool context__is_time_out(const struct context *context);
bool context__is_msg_more(const struct context *context);
/* How many pieces are written for a message, at most. */
uint64_t context__pieces(const struct context *context);

#endif
