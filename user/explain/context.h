/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the sentences of a verdict are made of: the stalls of its cause where they took most,
 * and the names of who takes part. Nothing here but the report is looked at, so that words
 * can be tested on a report made by hand.
 */
#ifndef NETSTALL_EXPLAIN_CONTEXT_H
#define NETSTALL_EXPLAIN_CONTEXT_H

#include "user/analyze/tally.h"
#include "user/explain/builder.h"

#define CONTEXT_NAME 96

struct context {
	const struct report *report;
	const struct tally *tally;
	const struct stall *stall; /* the tally's example */
	const struct report_conn
		*conn; /* the end that held, or waited; NULL: not of a connection */
	const struct report_conn *peer; /* its other end; NULL: not watched */
	const struct stall_link
		*root; /* the last link that was seen of its chain; NULL: no chain */
	/* Of a cause that is made of others' time, or its own, the largest part; NULL none that can
	 * be named. */
	const struct path_part *part;
	struct path path;                 /* the tally's, see path__fold_unknown() */
	char sender[CONTEXT_NAME];        /* "client/4242", of the end that held, or waited */
	char other[CONTEXT_NAME];         /* "srv/4243", "10.0.0.2:7000" when it is not watched */
	char waiter[CONTEXT_NAME];        /* "worker/77", the thread it delayed; else the sender */
	char fd[16];                      /* "fd 7", "its socket" */
	char program[CONTEXT_NAME];       /* "client": where the code is that sends */
	char other_program[CONTEXT_NAME]; /* "srv": the other end's; its address when not watched */
	const char *message;   /* "request", "answer": what is sent, as far as one can say */
	const char *a_message; /* "a request", "an answer" */
	const char *other_end; /* "The other end", "This end", "The receiving end" */
	/* Its request may be none, but acknowledge what came before in so many bytes (acks.h); 0:
	 * it asks for something. */
	uint32_t acked_bytes;
	char acker[CONTEXT_NAME];  /* the end that writes them */
	char pusher[CONTEXT_NAME]; /* the other one */
	bool sender_is_target;
	bool by_ring; /* what was held had been sent through an io_uring ring */
};

/* Returns false when nothing is known of its connection but the number. */
bool context__make(struct context *context, const struct report *report, const struct tally *tally);

/* How long one stall of this cause is: the median, as the headline has it. */
uint64_t context__each(const struct context *context);
/* " each", or where the median is not the mean as well " at the median" */
const char *context__each_word(uint64_t p50_ns, uint64_t count, uint64_t total_ns);
/* That the stalls of its tally are at, where their cause is at several; NULL: it is at one. */
const struct cause_end *context__end(const struct context *context);
/* What a stall, or the request that it is in, would be shorter by without its cause. */
struct saving {
	uint64_t ns;
	uint64_t of_ns;
	bool is_of_request; /* the median one; else of the stall */
	/* That has no time to answer sooner still; NULL: it has. */
	const struct request_service *service;
	uint32_t threads;  /* that wait alike, all of which it takes; 0 and 1: that is not said */
	uint32_t count;    /* where only some of the stalls are at the place: so many, */
	uint32_t of_count; /* of so many */
};

struct saving context__saving(const struct context *context);
/* Some of its stalls are at one place, and some at another. */
bool context__has_places(const struct context *context);
/* Then the same of the second place, made in tally; false: it is at one. */
bool context__besides(const struct context *context, struct tally *tally, struct context *besides);
/* How long the median request lies in the listen queue behind others, which take the time that this
 * cause has of each: less of it is a shorter queue. 0: it does not. */
uint64_t context__queue_ns(const struct context *context);
/* The requests on its connection, where so many are made there that others may wait in front of it;
 * NULL: that is not so. */
const struct report_requests *context__queue(const struct context *context);
/* How long, at the mean, from the end of one of these to the next. */
uint64_t context__gap_ns(const struct report *report, const struct report_requests *row);
/* What the reader of held bytes did for most of the time. */
enum reader_deed {
	READER_UNSEEN,
	READER_WAITS,    /* for data: it lacks what is held */
	READER_COMPUTES, /* it reads more slowly than is written */
	READER_SLEEPS,   /* by its own timer */
	READER_IS_AWAY,  /* in another wait */
};
enum reader_deed context__reader(const struct context *context);

/*
 * The options of netstall that trace a process, also when it is another one by then: "-p 4243", of
 * one of several workers "-p 4200 --children", of one that has ended "--comm srv"; NULL: none does.
 */
char *context__target(char *dst, size_t size, const struct report *report, uint32_t pid);
/* Whose the other end is, or where that was not seen that of another connection to the same
 * address; 0: nobody's who is known. */
uint32_t context__peer_pid(const struct context *context);
/* How its computing is profiled: "perf record -p 4243"; of one that has ended by its name. */
char *context__profile(char *dst, size_t size, const struct report *report, uint32_t pid);

/* "worker/77", "pid 77", "a thread not seen" */
char *context__thread(char *dst, size_t size, const struct report *report, uint32_t pid,
		      uint32_t tid);
/* "srv/4243", or of an end that is not watched its address */
char *context__other_end(char *dst, size_t size, const struct report *report,
			 const struct report_conn *conn);
/* "RECV on fd 7", "READ on registered file 3", "TIMEOUT": of the operation that ended the wait;
 * NULL when that is not known. */
char *context__operation(char *dst, size_t size, const struct ns_wait *wait);
/* "nanosleep", "read on fd 5", "io_uring_enter (RECV on fd 7)"; NULL when no call is known that
 * this wait was in. */
char *context__call(char *dst, size_t size, const struct report *report,
		    const struct ns_wait *wait);

/* The same in room of their own, as text.h has it. */
#define thread_text(report, pid, tid)                                                              \
	context__thread((char[CONTEXT_NAME]){""}, CONTEXT_NAME, report, pid, tid)
#define other_end_text(report, conn)                                                               \
	context__other_end((char[CONTEXT_NAME]){""}, CONTEXT_NAME, report, conn)
#define target_text(report, pid)                                                                   \
	context__target((char[CONTEXT_NAME]){""}, CONTEXT_NAME, report, pid)
#define profile_text(report, pid)                                                                  \
	context__profile((char[CONTEXT_NAME]){""}, CONTEXT_NAME, report, pid)
#define operation_text(wait)    context__operation((char[48]){""}, 48, wait)
#define call_text(report, wait) context__call((char[64]){""}, 64, report, wait)

#endif
