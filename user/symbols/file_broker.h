/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small process of ours that keeps the right to look into other processes after we have
 * dropped it: it opens the memory maps of a process and the programs and libraries in them,
 * and passes on the descriptors. It parses nothing; we, who parse files that anybody may have
 * written, keep no right to open them. It hands out regular ELF files, maps, the names that a
 * process itself wrote down for its generated code, and its memory to be read, nothing else.
 */
#ifndef NETSTALL_SYMBOLS_FILE_BROKER_H
#define NETSTALL_SYMBOLS_FILE_BROKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct file_broker;

/* Started while we have the right; NULL: there is none. It ends with us. */
struct file_broker *file_broker__new(void);
void file_broker__free(struct file_broker *broker);
/* For a child that renumbers its descriptors. */
int *file_broker__socket(struct file_broker *broker);

enum file_broker_what {
	FILE_BROKER_MAPS,    /* /proc/PID/maps */
	FILE_BROKER_IMAGE,   /* the file that PID sees by this path; its program if it is that */
	FILE_BROKER_PROGRAM, /* that PID runs */
	FILE_BROKER_MAPPED,  /* behind the mapping at start, also when the file's name is gone */
	FILE_BROKER_FILE,    /* any ELF file, by its path in PID's root; 0: in our own */
	/*
	 * /tmp/perf-N.map in PID's root, N its number in its own pid namespace: a regular file
	 * that belongs to the user that PID acts as. Its size is not bounded.
	 */
	FILE_BROKER_NAMES,
	FILE_BROKER_MEMORY, /* of PID, to be read: CPython's and Java's names lie there */
};

/* Was it ended? Nothing is opened any more then: known when it was asked last. */
bool file_broker__is_gone(const struct file_broker *broker);

/* path: NULL for what has none. Returns a descriptor, the caller's; or -errno. */
int file_broker__open(struct file_broker *broker, enum file_broker_what what, pid_t pid,
		      const char *path);
/* FILE_BROKER_MAPPED */
int file_broker__open_mapped(struct file_broker *broker, pid_t pid, uint64_t start, uint64_t end);

#endif
