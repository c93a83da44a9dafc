/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Text traces: a person writes one, a test reads it, and --all can print one.
 * A line is a record:
 *
 *   # comment, to the end of the line
 *   0.000  session way=tracepoint kernel=6.18 arch=x86_64 target="pid 4242" threshold=10.000
 *   0.000  conn conn=1 tgid=4242 role=target local=127.0.0.1:37640 remote=127.0.0.1:7000 fd=7
 *   12.345 send conn=1 tgid=4242 tid=4242 bytes=40 fd=7 write_seq=41 snd_nxt=41 snd_una=1
 *
 * The first word is the time in ms since the session began, with up to six
 * decimals, signed; then the record's name; then fields by the tables of record.h,
 * in any order, absent ones zero (fd and syscall: unknown). Names of values are
 * those of the tables, a number does as well. A value with spaces stands in double
 * quotes; inside and outside of them \xNN is a byte, \\ and \" are themselves.
 */
#ifndef NETSTALL_RECORD_TEXT_H
#define NETSTALL_RECORD_TEXT_H

#include <stdio.h>

#include "user/record/record.h"

/* What a text trace's time 0.000 is on the record's clock: some of what there is may be days older.
 */
#define TEXT_TRACE_ORIGIN_NS 1000000000000000ull

/*
 * Read one line. Returns 1 and fills out, 0 for an empty line or a comment,
 * -EINVAL with a sentence in error (which names the word it stumbled over).
 */
int text__parse(const char *line, union record *out, char *error, size_t error_size);

/* Write one record as a line with its newline; times relative to origin_ns. */
void text__print(FILE *out, const union record *record, uint64_t origin_ns);

#endif
