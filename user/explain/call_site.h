/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A call site in words: the frames of a user stack, the C library's left out. */
#ifndef NETSTALL_EXPLAIN_CALL_SITE_H
#define NETSTALL_EXPLAIN_CALL_SITE_H

#include "user/analyze/report.h"

#define SITE_TEXT 768 /* room for site__describe() */

/*
 * "send_head (client.c:71) <- exchange (client.c:103)", or without debug information
 * "send_head+0x1c <- exchange+0x33": from the function of the program that called the C library
 * on. Offsets stay there: two writes of one helper differ in its callers' alone.
 * frames: as stall->first_site.
 */
char *site__describe(char *dst, size_t size, const char *frames);

/* Where a line of code stands, as its program's debug information says. Not made safe to print. */
struct site_place {
	char file[512];
	char function[96]; /* what fits */
	unsigned line;
};

/*
 * The line to change: the innermost frame that is not the C library's and has a place. frames are
 * "symbol+0x12 (path/file.c:123)" where debug information is at hand, else "symbol+0x12". What
 * frames and other (NULL: none), the call of the other write, share innermost is a helper that
 * does both writes, and passed over. Returns false when no frame has a place.
 */
bool site__place(const char *frames, const char *other, struct site_place *place);

#define SITE_LINES 2

/* Line number index of a stall: "first write: ..."; NULL: there is none. */
char *site__line(char *dst, size_t size, const struct stall *stall, unsigned index);

#endif
