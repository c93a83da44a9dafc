/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small process of ours that keeps the right to look into other processes after we have
 * dropped it: it opens the memory maps of a process and the programs and libraries in them,
 * and passes on the descriptors. It parses nothing; we, who parse files that anybody may have
 * written, keep no right to open them. It hands out regular ELF files, maps, and the names that
 * a process itself wrote down for its generated code, nothing else.
 */
#ifndef NETSTALL_SYMBOLS_FILE_BROKER_H
#define NETSTALL_SYMBOLS_FILE_BROKER_H

#include <stdint.h>
#include <sys/types.h>

struct file_broker;

/* Started while we have the right; NULL: there is none. It ends with us. */
struct file_broker *file_broker__new(void);
void file_broker__free(struct file_broker *broker);
/* For a child that renumbers its descriptors. */
int *file_broker__socket(struct file_broker *broker);

/* The descriptor of /proc/PID/maps, the caller's; -errno. */
int file_broker__maps(struct file_broker *broker, pid_t pid);
/* Of the file that PID sees by this name, or its program itself when that is its name. */
int file_broker__image(struct file_broker *broker, pid_t pid, const char *path);
/* Of the program that PID runs. */
int file_broker__program(struct file_broker *broker, pid_t pid);
/* Of the file that PID has mapped from start to end, also when its name is gone. */
int file_broker__mapped(struct file_broker *broker, pid_t pid, uint64_t start, uint64_t end);
/* Of any ELF file, in PID's root; 0: in our own. */
int file_broker__file(struct file_broker *broker, pid_t pid, const char *path);
/*
 * Of /tmp/perf-N.map in PID's root, N its number in its own pid namespace: a regular file
 * that belongs to the user that PID acts as. Its size is not bounded.
 */
int file_broker__names(struct file_broker *broker, pid_t pid);

#endif
