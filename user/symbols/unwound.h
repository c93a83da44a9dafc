/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The user stacks of places that the kernel side copied (struct ns_offcpu_sample), unwound soon
 * after they come, while their process is there. Addresses are kept, the copied bytes are not.
 */
#ifndef NETSTALL_SYMBOLS_UNWOUND_H
#define NETSTALL_SYMBOLS_UNWOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/symbols/resolver.h"

#define UNWOUND_PLACES 65536 /* further ones keep their frame pointers' stack; counted */

/* Where a thread stands in user mode; tgid as the kernel counts. */
struct unwound_spot {
	uint32_t tgid;
	uint64_t ip, sp;
};

/* How user stacks are followed: --unwind. */
enum unwind_way {
	UNWIND_AUTO,  /* by whichever reaches further */
	UNWIND_FP,    /* frame pointers alone: nothing is copied */
	UNWIND_DWARF, /* call frame information where there is a copy */
};

struct unwound;

/* resolver stays the caller's and must outlive it. */
struct unwound *unwound__new(enum unwind_way way, struct resolver *resolver);
void unwound__free(struct unwound *unwound);
/* A record of the ring buffer, len bytes. It is unwound in resolver__poll(). pid: as /proc counts.
 */
void unwound__sample(struct unwound *unwound, pid_t pid, const void *record, size_t len);
/*
 * The user stack of a place, leaf first, without the 0 that may end fp[], its addresses by frame
 * pointers: those, or unwound ones, which are unwound's until the next sample. Where frame
 * pointers tell nothing and the place has no sample, that of another place on the same spot will
 * do. Returns how many addresses.
 */
size_t unwound__stack(const struct unwound *unwound, uint32_t place,
		      const struct unwound_spot *spot, const uint64_t *fp, size_t fp_count,
		      const uint64_t **out);
/* Whether the place has a sample that was unwound. */
bool unwound__has(const struct unwound *unwound, uint32_t place);
/* Samples that could not be unwound, or found no room. */
uint64_t unwound__lost(const struct unwound *unwound);

/* "fp", "dwarf", "auto"; false: none of them. */
bool unwind_way__parse(const char *text, enum unwind_way *way);

#endif
