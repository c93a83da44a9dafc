/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A recording for others' eyes: addresses, names of programs, and of files, sockets, containers and
 * cgroups become others, the same one each time. What stays: numbers (ports, pids, sizes, times),
 * functions, names of shared libraries, 127.0.0.0/8, ::1, the kernel's own threads.
 */
#ifndef NETSTALL_RECORD_ANONYMIZE_H
#define NETSTALL_RECORD_ANONYMIZE_H

#include "user/record/record.h"

struct anonymizer;

struct anonymizer *anonymizer__new(void);
void anonymizer__free(struct anonymizer *anonymizer);
/* record: one that was decoded. */
void anonymizer__record(struct anonymizer *anonymizer, union record *record);

#endif
