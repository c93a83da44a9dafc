/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The callers of a thread, out of its registers and the copied top of its stack, by the call
 * frame information that every program carries for exceptions (.eh_frame): frame pointers
 * are not needed. Code without it is followed by frame pointers, that of a Java virtual machine by
 * what this says of itself (java/java.h).
 *
 * The copied bytes are whatever the program keeps on its stack: they are read here, and
 * nowhere shown or kept.
 */
#ifndef NETSTALL_SYMBOLS_UNWIND_H
#define NETSTALL_SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "user/symbols/images/images.h"
#include "user/symbols/symbols.h"

#define UNWIND_FRAMES 127 /* as many as the kernel takes by frame pointers */
#define UNWIND_BLOCK  512

struct unwinder;

/* A thread as it entered the kernel. */
struct unwind_copy {
	const __u64 *regs; /* by enum ns_call_reg */
	const unsigned char *stack;
	size_t stack_len;
	uint64_t base; /* the address that stack is of */
	const __u64
		*there; /* which blocks of UNWIND_BLOCK bytes were copied, a bit each; NULL: all */
};

enum unwind_end {
	UNWIND_WHOLE,  /* the outermost caller is the last frame */
	UNWIND_BEYOND, /* callers lie in what was not copied, or there are too many */
	UNWIND_LOST,   /* the last frame's code does not say where its caller is */
};

struct unwind_frames {
	size_t count;
	/* Leaf first, as symbols__stack() takes them: behind the first one, what calls return
	 * to, so that the call is at the address before. */
	uint64_t pcs[UNWIND_FRAMES];
	enum unwind_end end;
	/* Of a Java virtual machine's code, which begins behind so many, its methods, each with a
	 * ';' in front (java.h). */
	size_t native;
	char java[NS_STACK_TEXT_MAX];
};

/* broker stays the caller's and must outlive it. */
struct unwinder *unwinder__new(struct file_broker *broker);
void unwinder__free(struct unwinder *unwinder);

/* Whose methods were met: the unwinder's. */
const struct javas *unwinder__javas(const struct unwinder *unwinder);

/*
 * Take what the process has mapped now, and open its files: what ends before it is unwound
 * has its callers all the same. pid: as /proc counts, as below.
 */
void unwinder__note(struct unwinder *unwinder, pid_t pid);

/* Returns NULL, or why there are no frames, a clause; static. */
const char *unwinder__frames(struct unwinder *unwinder, pid_t pid, const struct unwind_copy *copy,
			     struct unwind_frames *out);

/*
 * The frames of a send as text, leaf first, ';' between: "symbol+0x12 (/src/file.c:123)", without
 * the place where there is no debug information, "[module]+0x1234" where the module has no
 * symbol there (an address in its file, as addr2line wants it), inlined functions without an
 * offset. A text in brackets says why there are none. Returns true when the callers go on
 * beyond what could be unwound.
 */
bool unwinder__call(struct unwinder *unwinder, struct symbols *symbols, pid_t pid,
		    const struct ns_call_raw *call, char *out, size_t size);

#endif
