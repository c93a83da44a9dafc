/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A call site in words: the frames of a user stack, the C library's left out. */
#ifndef NETSTALL_EXPLAIN_CALL_SITE_H
#define NETSTALL_EXPLAIN_CALL_SITE_H

#include "user/analyze/report.h"

#define SITE_TEXT 768 /* room for site__describe() */

/*
 * "send_head (client.c:71) <- exchange (client.c:103), through fflush", or without debug
 * information "send_head+0x1c <- exchange+0x33": the program's own functions (frame.h), the
 * innermost first, and what it called there. Where none is its own, all but the C library's way
 * into the kernel. Offsets stay there: two writes of one helper differ in its callers' alone.
 * frames: as stall->sites.first_write.
 */
char *site__describe(char *dst, size_t size, const char *frames);

/* The same of a stack without modules, of the profile: more of it, as less of it is folded. */
char *site__callers(char *dst, size_t size, const char *frames);

/* All frames, with the module of those that are not the program's own. */
char *site__full(char *dst, size_t size, const char *frames);

/*
 * Two writes as one picture. both: the innermost own function that both are called from, and its
 * callers; first, second: what each goes through from there, and the line in that function.
 * first and second are empty when it is one line: a loop.
 */
struct site_pair {
	char both[SITE_TEXT];
	char first[SITE_TEXT];
	char second[SITE_TEXT];
	bool by_function; /* of generated code the line is that of its function */
};

/* False: one is NULL, or they have no own function in common. */
bool site__pair(const char *first, const char *second, struct site_pair *pair);

/* Where a line of code stands, as its program's debug information says. Not made safe to print. */
struct site_place {
	char file[512];
	char function[96]; /* what fits */
	unsigned line;
};

/*
 * The line to change: the innermost frame that is the program's own and has a place, or, where none
 * is its own, any that has one. What frames and other (NULL: none), the call of the other write,
 * share innermost is a helper that does both writes, and passed over. Returns false when no frame
 * has a place.
 */
bool site__place(const char *frames, const char *other, struct site_place *place);

/* "handle (server.c)": the own function of site__pair(); NULL: there is none. */
char *site__both(char *dst, size_t size, const char *first, const char *second);

/* The innermost own function alone, "serve (server.py)"; NULL: there is none. */
char *site__function(char *dst, size_t size, const char *frames);

/* Of fewer looks the share of a function is not told. */
#define SITE_LOOKS_LEAST 20

/*
 * Where looks at a thread that computes found it: in the innermost own function that surely has
 * most of them, with what that calls; else in the one that had most.
 */
struct site_busy {
	const char *frames; /* NULL: nowhere */
	unsigned same,
		of;     /* so many of these looks: in the same own function. of 0: there was one */
	bool is_common; /* in all of these, or in so many that it is sure: */
	bool is_sure;   /* it has most of the time, which is no chance of a few looks */
	bool is_caller; /* mostly in what it calls, there in no function mostly */
	double low, high; /* the share of all such time, with its error (95%); 0: too few looks */
};

struct site_busy site__busy(const struct call_sites *sites);

/*
 * For CPython's interpreter lock? Its threads wait for that one with pthread_cond_timedwait(),
 * called by the interpreter itself (take_gil(), Python/ceval_gil.c), again and again, and for
 * nothing else.
 */
bool site__is_interpreter_lock(const struct stall *stall, const struct call_sites *sites);

/* How to have the names of generated code, where a stack has no own function for want of them;
 * NULL. */
const char *site__names_hint(const char *frames);

/* "work (burn.py)", "what main (srv.c) calls"; NULL: in no own function, or not sure. */
char *site__busy_place(char *dst, size_t size, const struct call_sites *sites);

/* Where a wait goes on, beside the two writes of a hold: "read in", and its frames, NULL unknown.
 */
struct site_row {
	const char *label, *frames;
	struct site_busy busy; /* of 0: no such row */
};

#define SITE_ROWS 7

/* The place of the wait is that of this part: of its thread, or of another one of its process that
 * waited in the same call, as threads of a pool do. */
bool site__is_of(const struct call_sites *sites, const struct path_part *part);
/* A lock in others' code at both ends (how a run time parks its threads) is there for all_frames
 * alone. */
void site__rows(const struct call_sites *sites, bool all_frames, struct site_row rows[SITE_ROWS]);
/* site__describe(), and how many looks found that: "7 of 8 looks: work (burn.py:6)". */
char *site__describe_row(char *dst, size_t size, const struct site_row *row);

#define SITE_LINES SITE_ROWS
#define SITE_LINE  (SITE_TEXT + 32)

/* A stall's own: its two writes as one picture, or where it is read and answered. Returns how many.
 */
unsigned site__lines(const struct stall *stall, char lines[SITE_LINES][SITE_LINE]);

#endif
