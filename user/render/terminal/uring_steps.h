/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A ring's operations among the steps of a stall: each act is shown once. Inside render/ only. */
#ifndef NETSTALL_RENDER_TERMINAL_URING_STEPS_H
#define NETSTALL_RENDER_TERMINAL_URING_STEPS_H

#include "user/analyze/report.h"
#include "user/render/words/words.h"

/* This step of an operation is in the line of another step. */
bool uring_steps__is_shown(const struct stall *stall, const struct ns_uring *step);
/* The bytes that were read there are the result of an operation among the steps. */
bool uring_steps__does_receive(const struct stall *stall, const struct ns_recv *recv);
/* A send through a ring gets the name of its operation, if that is among the steps. */
void uring_steps__name_send(const struct stall *stall, const struct ns_send *send,
			    struct words *words);
/* This operation ended this wait on its ring. */
bool uring_steps__ended(const struct ns_uring *op, const struct ns_wait *wait);
/* It ended the wait that the stall is, or one of its chain. */
bool uring_steps__ended_a_wait(const struct stall *stall, const struct ns_uring *op);

#endif
