/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whose turn is it? What the events of a connection tell of who owes whom an answer. */
#ifndef NETSTALL_ANALYZE_WAITS_OWED_H
#define NETSTALL_ANALYZE_WAITS_OWED_H

#include "user/model/model.h"

/*
 * The other end owes the thread an answer: its process opened the connection, and what was
 * done on it last before the thread went to sleep was a write.
 */
bool owed__answer(const struct model *model, const struct ns_wait *wait);
/* The thread's process owes one itself: it accepted the connection, and has read last. */
bool owed__by_itself(const struct model *model, const struct ns_wait *wait);
/* Likewise its process, on any connection, as far as their events tell: more came in than it has
 * answered when the wait began. */
bool owed__by_process(const struct model *model, const struct ns_wait *wait);
/* Has this process accepted connections? Then what it waits for between them is idleness. */
bool owed__serves(const struct model *model, uint32_t tgid);
/* When the request went out: the last send before the wait; 0 not seen. */
uint64_t owed__asked(const struct model *model, const struct ns_wait *wait);

#endif
