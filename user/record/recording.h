/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A recording: all records of a run in the order in which the pipeline had them, as a file.
 *
 *   block = head (struct block of recording_parts.h), then its bytes, deflated
 *
 * The first block is a JSON document that says which machine wrote it, and what each type of record
 * is made of there, field by field: a reader of another version takes the fields that it knows by
 * their names, and leaves out what it does not know. The blocks behind it are records, each of them
 * whole. The last one counts what came before. A block is written at least every second, so a
 * program that is killed loses no more than that; one that is damaged costs its own records.
 *
 * Integers are little-endian. Nothing in a recording is trusted: what comes out of it goes through
 * record__decode() like what comes from the kernel.
 */
#ifndef NETSTALL_RECORD_RECORDING_H
#define NETSTALL_RECORD_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "user/record/record.h"

#define RECORDING_VERSION 1

/* ---- writing ---- */

struct recording_writer;

/* Both strings are copied. out stays the caller's, who looks for its errors. */
struct recording_writer *recording__begin(FILE *out, const char *host, const char *tool,
					  uint64_t created_s);
/* As pipeline__feed() has it. */
void recording__add(struct recording_writer *writer, const void *record, size_t len);
/* As pipeline__idle() has it; from time to time what there is goes into the file. */
void recording__idle(struct recording_writer *writer, uint64_t now_ns);
/* The last block; and it is gone. Takes NULL. */
void recording__end(struct recording_writer *writer);

/*
 * A flight recorder: the same, in memory, of the last last_ns, in most_bytes at most; of what was
 * before, what must be known of the connections, processes and stacks that there still are. Sums
 * since the attach are left out: they are of a longer time.
 */
struct recording_writer *recording__begin_last(const char *host, const char *tool,
					       uint64_t created_s, uint64_t last_ns,
					       uint64_t most_bytes);
/* What there is, as a whole recording. */
void recording__save(struct recording_writer *writer, FILE *out);

/* ---- reading ---- */

struct recording;

struct recording_about {
	char host[64];
	char tool[32];      /* the version that wrote it */
	uint64_t created_s; /* CLOCK_REALTIME */
	uint64_t records;   /* that were read so far */
	uint64_t damaged;   /* places where something was no block, or not what was written */
	uint64_t skipped;   /* records of types that this version does not know */
	bool ended;         /* it has its last block, and */
	uint64_t missing;   /* so many records of those that this counts did not come */
	uint64_t last_ts;   /* of the last record */
};

enum recording_gives {
	RECORDING_ENDS,
	RECORDING_RECORD,
	RECORDING_IDLE, /* pipeline__idle() was called then: head.ts */
};

/* NULL: it is none, and why says so, in a clause. in stays the caller's; a file, not a pipe. */
struct recording *recording__open(FILE *in, const char **why);
/* What comes next, in the form of this version; it is there until the next call. */
enum recording_gives recording__next(struct recording *recording, const void **record, size_t *len);
const struct recording_about *recording__about(const struct recording *recording);
void recording__free(struct recording *recording);

#endif
