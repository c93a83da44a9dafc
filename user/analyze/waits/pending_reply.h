/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whose turn is it? What the events of a connection tell of who owes whom an answer. */
#ifndef NETSTALL_ANALYZE_WAITS_PENDING_REPLY_H
#define NETSTALL_ANALYZE_WAITS_PENDING_REPLY_H

#include "user/model/model.h"

/*
 * The other end owes the thread an answer: its process opened the connection, and what was
 * done on it last before the thread went to sleep was a write.
 */
bool pending_reply__awaited(const struct model *model, const struct ns_wait *wait);
/* The thread's process owes one itself: it accepted the connection, and has read last. */
bool pending_reply__due_here(const struct model *model, const struct ns_wait *wait);
/* Likewise its process, on any connection, as far as their events tell: more came in than it has
 * answered when the wait began. */
bool pending_reply__due_anywhere(const struct model *model, const struct ns_wait *wait);
/* Has this process accepted connections? Then what it waits for between them is idleness. */
bool pending_reply__is_server(const struct model *model, uint32_t tgid);
/* When the request went out: the last send before the wait; 0 not seen. */
uint64_t pending_reply__requested_at(const struct model *model, const struct ns_wait *wait);

#endif
