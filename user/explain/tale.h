/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How it came about, cause by cause: for a reader who has never heard of it. */
#ifndef NETSTALL_EXPLAIN_TALE_H
#define NETSTALL_EXPLAIN_TALE_H

#include "user/explain/story.h"

void tale__write(const struct story *story, char **text);

#endif
