/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The processes that one has started, and those that these have. */
#ifndef NETSTALL_PROCESS_FAMILY_H
#define NETSTALL_PROCESS_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

#define FAMILY_MOST 1024

/*
 * Of the living descendants of pid, without itself and without those that only wait to be
 * reaped; parents before their children, at most FAMILY_MOST. By /proc, as of now: of those that
 * fork meanwhile some may be missing.
 */
size_t family__find(pid_t pid, pid_t out[FAMILY_MOST]);

#endif
