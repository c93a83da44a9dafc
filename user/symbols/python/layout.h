/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where CPython 3.9 to 3.13 keeps what is read of it, in bytes: the same on all 64-bit machines. */
#ifndef NETSTALL_SYMBOLS_PYTHON_LAYOUT_H
#define NETSTALL_SYMBOLS_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/state.h"

struct python_layout {
	uint32_t minor;        /* 3.minor */
	uint32_t interpreters; /* in _PyRuntime: the first interpreter */
	uint32_t key;       /* in _PyRuntime: of the thread's state in its thread-specific data */
	uint32_t another;   /* in an interpreter: the next one */
	uint32_t threads;   /* in it: its first thread's state */
	uint32_t next;      /* in that: the next one */
	uint32_t thread_id; /* in that: pthread_self() */
	struct ns_python frames;
	uint32_t filename, name, line, linetable,
		code;            /* in a code object; code: its instructions */
	uint32_t ascii, compact; /* where a string's characters begin */
};

/* NULL: that version is not known. */
const struct python_layout *python_layout__of(uint32_t minor);
/* From 3.13 on the interpreter says itself where things are, at the start of _PyRuntime. */
#define PYTHON_SAYS 360
bool python_layout__read(struct python_layout *layout, const unsigned char said[PYTHON_SAYS]);

/*
 * The line of the instruction at byte at of a code object that begins in line first, by its table
 * (which anybody may have written). 0: it has none.
 */
unsigned python_layout__line(uint32_t minor, const unsigned char *table, size_t size,
			     unsigned first, uint64_t at);

#endif
