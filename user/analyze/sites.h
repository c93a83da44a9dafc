/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where in its program each of the two small writes of a hold was called, where a thread read what
 * it had waited for, and where it slept for something else. The kernel side takes call sites for
 * some of a connection's holds only (bpf/tcp/sites.bpf.h): a stall without its own gets those of
 * the connection's latest writes of the same sizes.
 */
#ifndef NETSTALL_ANALYZE_SITES_H
#define NETSTALL_ANALYZE_SITES_H

#include "user/analyze/report.h"
#include "user/model/model.h"

#define SITES_CONNS 1024 /* of more the one whose first call came first makes room */
#define SITES_CALLS 8    /* of a connection, or a thread; the oldest makes room */

struct sites;

struct sites *sites__new(void);
void sites__free(struct sites *sites);
void sites__learn(struct sites *sites, const struct model *model, const struct ns_call *call);
/* Which of these became long. */
void sites__learn_wait(struct sites *sites, const struct ns_wait *wait);
/* Fill in the stall's sites that it does not have yet. The texts are the model's. */
void sites__join(const struct sites *sites, const struct model *model, struct stall *stall);

#endif
