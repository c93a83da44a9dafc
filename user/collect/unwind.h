/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The callers of a send, out of its registers and the copied top of its stack, by the call
 * frame information that every program carries for exceptions (.eh_frame): frame pointers
 * are not needed.
 */
#ifndef NETSTALL_COLLECT_UNWIND_H
#define NETSTALL_COLLECT_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/event.h"
#include "user/collect/images.h"

struct unwinder;

struct unwinder *unwinder__new(struct opener *opener);
void unwinder__free(struct unwinder *unwinder);

/*
 * The frames as text, leaf first, ';' between: "symbol+0x12", "[module]+0x1234" where the
 * module has no symbol there (an address in its file, as addr2line wants it). A text in brackets
 * says why there are none. Returns true when the callers go on beyond what could be unwound. pid:
 * as /proc counts.
 */
bool unwinder__call(struct unwinder *unwinder, pid_t pid, const struct ns_call_raw *call, char *out,
		    size_t size);

#endif
