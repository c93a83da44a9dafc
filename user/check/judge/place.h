/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where in the sources a stall comes from, as a repository names its files. */
#ifndef NETSTALL_CHECK_JUDGE_PLACE_H
#define NETSTALL_CHECK_JUDGE_PLACE_H

#include <stddef.h>

#include "user/explain/call_site.h"

/*
 * The line of the write that was held, else of the one before it. Returns false when debug
 * information has no line.
 */
bool place__of(const struct report *report, const struct stall *stall, struct site_place *place);
/*
 * path without "." and "..", and below root relative to it; root NULL or "": none. Returns dst;
 * NULL when it is an absolute path that is not below root, or does not fit.
 */
char *place__relative(char *dst, size_t size, const char *path, const char *root);

#endif
