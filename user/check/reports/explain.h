/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A cause for somebody who has never heard of it, where the verdict tells of another one. */
#ifndef NETSTALL_CHECK_REPORTS_EXPLAIN_H
#define NETSTALL_CHECK_REPORTS_EXPLAIN_H

#include "user/analyze/cause.h"

struct explanation {
	const char *what;   /* a sentence */
	const char *remedy; /* a sentence */
};

const struct explanation *explain__cause(enum cause cause);

#endif
