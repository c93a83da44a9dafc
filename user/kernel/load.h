/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What loading any of our BPF objects has in common. */
#ifndef NETSTALL_KERNEL_LOAD_H
#define NETSTALL_KERNEL_LOAD_H

#include <stdbool.h>

/* libbpf's and the verifier's own words, of many lines, are for -v alone. */
void load__quietly(void);
/*
 * Says why the kernel refused an object with err (-errno), where that is no matter of the object:
 * no right, or no memory, for which smaller names the options that make its tables smaller.
 * Returns false when nothing was said.
 */
bool load__explain(int err, const char *smaller);

#endif
