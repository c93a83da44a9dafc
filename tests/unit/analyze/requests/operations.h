/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the tests of io_uring's counts begin with: two targets and a peer. */
#ifndef NETSTALL_TESTS_UNIT_OPERATIONS_H
#define NETSTALL_TESTS_UNIT_OPERATIONS_H

#include "tests/unit/feed.h"

#define TARGETS                                                                                    \
	"0 session way=kprobe kernel=6.12 threshold=10\n"                                          \
	"0 process tgid=42 role=target comm=client\n"                                              \
	"0 process tgid=43 role=target comm=client\n"                                              \
	"0 process tgid=50 role=peer comm=server\n"

static struct pipeline *pipeline_of(const char *text)
{
	return feed__pipeline(feed__text(text));
}

#endif
