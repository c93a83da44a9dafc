/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Is a request open that has no answer when the window ends? It is where the thread that asked
 * waits for it, or where the other end has read it and is at something else than waiting for more.
 * Else it may be a message that nobody answers: a subscriber's, a log's, a heartbeat.
 */
#ifndef NETSTALL_ANALYZE_WAITS_OPEN_REQUEST_H
#define NETSTALL_ANALYZE_WAITS_OPEN_REQUEST_H

#include "user/model/model.h"

/* Of one without an answer that the window's end cut off, when all waits are known. */
bool open_request__is(const struct model *model, const struct ns_exchange *exchange);
/* Likewise of one of before the window, whose thread is not in its record: puts it there, 0 where
 * it may be one of several. */
bool open_request__find(const struct model *model, struct ns_exchange *exchange);

#endif
