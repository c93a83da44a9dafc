/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a thread does for a request, step by step, and its own record of that. */
#ifndef NETSTALL_TESTS_RANDOM_STEPS_H
#define NETSTALL_TESTS_RANDOM_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#define STEPS 64

/* All times are ns of CLOCK_MONOTONIC, all delays ns on a run queue. */
struct note {
	char letter;
	const char *cause;     /* that the program's own view must name */
	uint64_t from, to;     /* by the thread's own clock */
	uint64_t own_delay;    /* of the thread */
	uint64_t others_delay; /* of whom it waited for */
};

enum way_id { ALONE, LOCKED, PIPE, UNIX, DATAGRAM, EVENTFD, FLAG, POOL, CHILD, WAYS };

struct body;

/* A helper thread, and how it is asked: tokens of 8 bytes. */
struct helper {
	const struct way *way;
	int ask, told;  /* the asker's ends */
	int work, done; /* the helper's */
	const struct body *body;
	unsigned ms;
	_Atomic bool flag;
	uint64_t delay;
};

struct lane;
/* The nested request of a lane; false: nobody answers any more. */
typedef bool nested_fn(struct lane *lane);

/* One connection's requests. */
struct lane {
	struct helper *helpers[WAYS];
	uint64_t *child_delay; /* in memory that a child shares */
	struct note notes[STEPS];
	unsigned count;
};

/* What the numbers of a script are: 1 ms, unless it is set before any is run. */
extern uint64_t step_unit_ns;

uint64_t now_ns(void);
/* How long the calling thread was ready to run and had no CPU. */
uint64_t run_delay(void);
void die(const char *what) __attribute__((noreturn));

/* Is each letter of the script one of ours? */
bool script__is_known(const char *script);
/* Starts the helpers that the script needs. */
void lane__prepare(struct lane *lane, const char *script);
/* Does the script and notes each step. */
bool lane__run(struct lane *lane, const char *script, nested_fn *nested);
/* Prints the table: letter, cause, what it does. */
void steps__print(void);

#endif
