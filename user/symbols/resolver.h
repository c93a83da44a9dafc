/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * User addresses to names, and copied stacks to addresses, in a process of its own: it reads files
 * that anybody may have written, with the file broker (file_broker.h) and without any right, on a
 * stack of its own size, with a bound on memory and time (read_budget.h). A file that ends it all
 * the same costs names: it is started anew without that file, and the user is told at the end.
 *
 * Questions are answered in their order, when there is time. Nobody waits but resolver__stack(),
 * and who asks more than can wait, as long as answers come. NULL is a resolver too, which knows
 * nothing.
 */
#ifndef NETSTALL_SYMBOLS_RESOLVER_H
#define NETSTALL_SYMBOLS_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/event.h"
#include "bpf/state.h"
#include "user/symbols/symbols.h"
#include "user/symbols/unwind.h"

#define RESOLVER_TEXT    32768       /* the longest stack as text */
#define RESOLVER_BACKLOG (16u << 20) /* bytes of questions that wait; further ones are refused */

struct resolver;

/* To every question, in their order, as its process sends it. */
struct resolver_answer {
	uint64_t number; /* of the question */
	uint32_t known;  /* 0: what was to be read could not be */
	uint32_t count;  /* of addresses; of frames in the text */
	uint64_t ip, sp; /* of a sample, as tgid and end */
	uint32_t tgid;
	uint32_t end; /* enum unwind_end */
	uint32_t truncated;
	uint32_t pad;
	union {
		uint64_t pcs[UNWIND_FRAMES]; /* of a sample */
		char text[RESOLVER_TEXT];    /* of a call, or a stack */
		struct ns_python python;     /* of a process that runs it */
	};
};

/* answer: NULL when there is none, as what was to be read could not be. */
typedef void resolver_done(void *context, uint64_t tag, const struct resolver_answer *answer);

/*
 * Started while we have the right to look into other processes; NULL: it cannot be.
 * own: own_code__add(); NULL: nothing.
 */
struct resolver *resolver__new(const char *own);
/* Tells the user what was not read. */
void resolver__free(struct resolver *resolver);

/* symbols__note(); unwinds: also unwinder__note(). */
void resolver__note(struct resolver *resolver, pid_t pid, bool unwinds);
/* symbols__fork() */
void resolver__fork(struct resolver *resolver, pid_t parent, pid_t child);
/* pythons__find(); NULL: it runs none, as yet. */
void resolver__python(struct resolver *resolver, pid_t pid, resolver_done *done, void *context,
		      uint64_t tag);
/* unwinder__call(), and pythons__join() */
void resolver__call(struct resolver *resolver, pid_t pid, const struct ns_call_raw *call,
		    resolver_done *done, void *context, uint64_t tag);
/* The functions alone, pythons__join() to nothing. */
void resolver__python_names(struct resolver *resolver, pid_t pid,
			    const struct ns_python_frame *frames, size_t count, resolver_done *done,
			    void *context, uint64_t tag);
/* unwinder__frames() of a struct ns_offcpu_sample of len bytes. */
void resolver__sample(struct resolver *resolver, pid_t pid, const void *sample, size_t len,
		      resolver_done *done, void *context, uint64_t tag);
/* symbols__stack(), with its answer. */
size_t resolver__stack(struct resolver *resolver, pid_t pid, const uint64_t *pcs, size_t count,
		       unsigned style, char *out, size_t size);

/* Gives out the answers that are there; waits so long for the others. True: there are none. */
bool resolver__poll(struct resolver *resolver, uint64_t wait_ns);
/* What this context asked is of no interest any more. */
void resolver__forget(struct resolver *resolver, const void *context);

#endif
