/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Kernel addresses to names. Raw addresses leave this module only as names. */
#ifndef NETSTALL_KERNEL_KALLSYMS_H
#define NETSTALL_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

struct kallsyms;

/*
 * Opens /proc/kallsyms now (the kernel checks the right to see addresses then) and
 * reads it at the first question. Never NULL; without the right all names are "[hidden]".
 */
struct kallsyms *kallsyms__new(void);
void kallsyms__free(struct kallsyms *kallsyms);
/* Reads it now, which takes a tenth of a second, rather than then. */
void kallsyms__load(struct kallsyms *kallsyms);

/* Why there are no names, a sentence with the remedy, static; NULL: there are. */
const char *kallsyms__hidden(struct kallsyms *kallsyms);

/*
 * The stack as text, leaf first, ';' between; frames of BPF itself are left out.
 * Returns the number of frames written.
 */
size_t kallsyms__stack(struct kallsyms *kallsyms, const __u64 *addresses, size_t count, char *out,
		       size_t size);
/*
 * The code of the functions whose names begin so, which must lie together: from the first to
 * behind the last. False: there are none, or they are hidden.
 */
bool kallsyms__span(struct kallsyms *kallsyms, const char *prefix, uint64_t *begin, uint64_t *end);
/* The same of the function that has this name; where several have it, of the first. */
bool kallsyms__function(struct kallsyms *kallsyms, const char *name, uint64_t *begin,
			uint64_t *end);

#endif
