/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small process of ours that keeps the right to look into other processes after we have
 * dropped it: it opens the memory maps of a process and the programs and libraries in them,
 * and passes on the descriptors. It parses nothing; we, who parse files that anybody may have
 * written, keep no right to open them. It hands out regular ELF files, maps, and the names that
 * a process itself wrote down for its generated code, nothing else.
 */
#ifndef NETSTALL_SYMBOLS_OPENER_H
#define NETSTALL_SYMBOLS_OPENER_H

#include <stdint.h>
#include <sys/types.h>

struct opener;

/* Started while we have the right; NULL: there is none. It ends with us. */
struct opener *opener__new(void);
void opener__free(struct opener *opener);
/* In a child: the descriptor of its socket becomes this one. */
void opener__move(struct opener *opener, int fd);

/* The descriptor of /proc/PID/maps, the caller's; -errno. */
int opener__maps(struct opener *opener, pid_t pid);
/* Of the file that PID sees by this name, or its program itself when that is its name. */
int opener__image(struct opener *opener, pid_t pid, const char *path);
/* Of the program that PID runs. */
int opener__program(struct opener *opener, pid_t pid);
/* Of the file that PID has mapped from start to end, also when its name is gone. */
int opener__mapped(struct opener *opener, pid_t pid, uint64_t start, uint64_t end);
/* Of any ELF file, in PID's root; 0: in our own. */
int opener__file(struct opener *opener, pid_t pid, const char *path);
/*
 * Of /tmp/perf-N.map in PID's root, N its number in its own pid namespace: a regular file
 * that belongs to the user that PID acts as. Its size is not bounded.
 */
int opener__names(struct opener *opener, pid_t pid);

#endif
