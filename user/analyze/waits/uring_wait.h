/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The io_uring operation that a wait on a ring was for: the one that ended it, by becoming ready
 * or by its completion. The kernel side names it in the wait's own record; where it does not, the
 * ring's completions around the wake show it.
 */
#ifndef NETSTALL_ANALYZE_WAITS_URING_WAIT_H
#define NETSTALL_ANALYZE_WAITS_URING_WAIT_H

#include "user/model/model.h"

/* Does a wait say which operation of its ring it was for? Of any is one, too. */
bool uring_wait__has_operation(const struct ns_wait *wait);

/* And that one ended it. */
bool uring_wait__ended_by_operation(const struct ns_wait *wait);

/*
 * Is it for whatever of its ring comes first? None did, and several were in flight, or such as were
 * submitted before the attach.
 */
bool uring_wait__is_for_any(const struct ns_wait *wait);

/*
 * What the record of a wait on a ring does not say itself of its operation is filled in from the
 * ring's completions. Returns whether the operation is known then.
 */
bool uring_wait__fill_in(const struct model *model, struct ns_wait *wait);

/* The completion of the operation that ended a wait; NULL: not seen. */
const struct ns_uring *uring_wait__completion(const struct model *model,
					      const struct ns_wait *wait);

/*
 * The completion that this operation could only begin after: of the one before it in its chain
 * (IOSQE_IO_LINK), with IOSQE_IO_DRAIN of the last one before it. NULL: it began when it was
 * submitted, as far as is known: in the quiet volume only long operations are streamed, and a
 * ring's last ones, so the beginning of a chain may be missing. Then its last one has all the time.
 */
const struct ns_uring *uring_wait__before(const struct model *model, const struct ns_uring *done);

/* Was it cancelled because its time was up (IORING_OP_LINK_TIMEOUT)? */
bool uring_wait__timed_out(const struct model *model, const struct ns_uring *done);

/* The wait as it would read if this operation had ended it. */
struct ns_wait uring_wait__as_if(const struct ns_wait *wait, const struct ns_uring *done);

/* The thread that brought the operation about which ended a wait, as far as it was not the
 * waiting one itself; 0: not known. */
uint32_t uring_wait__done_by(const struct ns_wait *wait);

/* A completion of an operation that takes bytes in from this connection, and did. */
bool uring_wait__received(const struct ns_uring *uring);

#endif
