/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where in its program each of the two small writes of a hold was called. The kernel side
 * takes call sites for some of a connection's holds only (bpf/tcp/sites.bpf.h): a stall without
 * its own gets those of the connection's latest writes of the same sizes.
 */
#ifndef NETSTALL_ANALYZE_SITES_H
#define NETSTALL_ANALYZE_SITES_H

#include "user/analyze/report.h"
#include "user/model/model.h"

#define SITES_CONNS 1024 /* of more the one whose first call came first makes room */
#define SITES_CALLS 8    /* of a connection; the oldest makes room */

#define SITE_TEXT 768 /* room for site__describe() */

struct sites;

struct sites *sites__new(void);
void sites__free(struct sites *sites);
void sites__learn(struct sites *sites, const struct ns_call *call);
/* Fill in the stall's sites that it does not have yet. The texts are the model's. */
void sites__join(const struct sites *sites, const struct model *model, struct stall *stall);

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
