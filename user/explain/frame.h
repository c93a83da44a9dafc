/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The frames of a user stack as text (user/symbols/symbols.h), taken apart, and whose code each is.
 */
#ifndef NETSTALL_EXPLAIN_FRAME_H
#define NETSTALL_EXPLAIN_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#define FRAMES_MOST 128

enum frame_class {
	FRAME_OWN,     /* of who wrote the program */
	FRAME_LIBRARY, /* of a package */
	FRAME_RUNTIME, /* of a language: its run time and standard library */
	FRAME_LIBC,    /* and what stands before main() */
};

/* "name+0x12 (path/file.c:123) [libc.so.6]": in the text that it was taken from. */
struct frame {
	const char *text;
	size_t len;      /* without the module */
	size_t name_len; /* without the offset too */
	size_t place;    /* where " (path/file.c:123)" begins; len: it has none */
	const char *module;
	size_t module_len; /* 0: the program's own file */
	enum frame_class class;
};

/* Returns how many there are, leaf first. frames: NULL is none. */
size_t frames__list(const char *frames, struct frame list[FRAMES_MOST]);

/* "own", "library", "runtime", "libc" */
const char *frame_class__id(enum frame_class class);

/* A C library's way into the kernel, by its name: every program's sends end there. */
bool frame__is_wrapper(const struct frame *frame);
/* What stands before every program's own code. */
bool frame__is_startup(const struct frame *frame);
/*
 * The same call: the same line, or, where that is not known, function and offset. Each instance of
 * a template has a name of its own, and each copy of what is inlined an offset.
 */
bool frame__is_same(const struct frame *a, const struct frame *b);
/* An address alone: "[module]+0x1234", "[jit]". */
bool frame__is_nameless(const struct frame *frame);
/* The same function, called from wherever in it; of those without a name that is not known. */
bool frame__is_same_function(const struct frame *a, const struct frame *b);

#endif
