/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which end of a connection has to answer next, by the events of the connection. */
#ifndef NETSTALL_ANALYZE_WAITS_PENDING_REPLY_H
#define NETSTALL_ANALYZE_WAITS_PENDING_REPLY_H

#include "user/model/model.h"

/*
 * The thread waits for a reply: its process opened the connection, and what was done on it last
 * before the thread went to sleep was a write.
 */
bool pending_reply__awaited(const struct model *model, const struct ns_wait *wait);
/* The thread's process has to reply there: it accepted the connection, and has read last. */
bool pending_reply__due_here(const struct model *model, const struct ns_wait *wait);
/*
 * It waits for what the other end of a connection that its process opened sends next, and that it
 * asked for something was not seen: it did before the window, or the other end tells by itself.
 */
bool pending_reply__not_asked(const struct model *model, const struct ns_wait *wait);
/* Has this process accepted connections? Then what it waits for between them is idleness. */
bool pending_reply__is_server(const struct model *model, uint32_t tgid);
/* When the request went out: the last send before the wait, or in it by another thread; 0 not seen.
 */
uint64_t pending_reply__requested_at(const struct model *model, const struct ns_wait *wait);

#endif
