/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Of waits for completions of io_uring, as waiting.h has it of all. */
#ifndef NETSTALL_ANALYZE_WAITS_WAIT_KIND_RING_H
#define NETSTALL_ANALYZE_WAITS_WAIT_KIND_RING_H

#include "user/analyze/waits/kernel_stack.h"
#include "user/model/model.h"

/* What the operation of such a wait waited for; WAIT_URING: that cannot be told. */
enum wait_kind wait_kind__of_operation(const struct model *model, const struct ns_wait *wait);

#endif
