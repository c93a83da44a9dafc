/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * User addresses as names. What a process has mapped is noted (symbols__note) while it lives,
 * and the files behind it are held open, so that it has names after its end. Where names come
 * from, and in which order, is in docs/symbols.md. Files are opened by the file broker's process
 * alone, through /proc/PID/root; what they say is never trusted.
 *
 * Every table has a bound (symbols.c); what it refused is in symbols__counts().
 */
#ifndef NETSTALL_SYMBOLS_SYMBOLS_H
#define NETSTALL_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/symbols/file_broker.h"
#include "user/symbols/java/java.h"

struct symbols;

enum symbols_style {
	/* "name+0x12"; without a name "[file]+0x1234", an address as addr2line -e wants it.
	 * Else "name" and "[file]". */
	SYMBOLS_OFFSETS = 1,
	/* With debug information: "name (/src/file.c:123)", and inlined functions as frames of
	 * their own, without an offset. */
	SYMBOLS_LINES = 2,
	SYMBOLS_SHORT = 4, /* of paths of sources the last part alone: "name (file.c:123)" */
	/* "name [libc.so.6]": the file, where it is not the program's own code, own_code.h. */
	SYMBOLS_MODULES = 8,
};

struct symbols_counts {
	uint64_t frames;    /* named or not, since the beginning */
	uint64_t unknown;   /* of these, "[unknown]": in nothing that is known to be mapped */
	uint64_t nameless;  /* of these, "[file]": the file has no symbol there; or "[jit]": code
			     * that the  program generated, and wrote down no name for */
	uint64_t processes; /* forgotten for want of room */
	uint64_t files;     /* closed for want of room */
	uint64_t symbols;   /* not kept for want of room */
};

/* broker stays the caller's and must outlive it; NULL: everything is "[unknown]". Never NULL. */
struct symbols *symbols__new(struct file_broker *broker);
void symbols__free(struct symbols *symbols);
/* Names of Java's places too. javas stays the caller's, and must outlive it. */
void symbols__use_javas(struct symbols *symbols, const struct javas *javas);

/*
 * Take what the process has mapped now, and open its files now. To be called when a process is
 * first seen (at the attach, at its start), at its exec, and every second or so while it lives,
 * as libraries are opened late; costs about 0.1 ms when nothing is new. What was mapped before
 * is kept. pids are as /proc counts them. False: it is gone, or may not be looked at; what was
 * known of it stays.
 */
bool symbols__note(struct symbols *symbols, pid_t pid);
/* A new process has what its parent had, until it is noted itself. */
void symbols__fork(struct symbols *symbols, pid_t parent, pid_t child);

/*
 * The frames as text, leaf first, ';' between (a ';' within a name is ':', control characters
 * are '?'). pcs[0] is where the thread stood, the others are what calls return to, as
 * bpf_get_stack() has them (an interrupted frame that is not the first: pass its address + 1).
 * A zero ends them. A process that was not noted is noted. An address where no code can have
 * been, as frame pointers lead to in code that keeps none, is the last: "[unknown]", and what
 * is behind it is not told. Text that does not fit ends before a frame. Returns how many of
 * pcs were written: fewer when there was no room, or they ended so.
 */
size_t symbols__stack(struct symbols *symbols, pid_t pid, const uint64_t *pcs, size_t count,
		      unsigned style, char *out, size_t size);
/* One address; returns: it is what a call returns to. Returns the text's length, cut to size. */
size_t symbols__name(struct symbols *symbols, pid_t pid, uint64_t pc, bool returns, unsigned style,
		     char *out, size_t size);

void symbols__counts(const struct symbols *symbols, struct symbols_counts *counts);

#endif
