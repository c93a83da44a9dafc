/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where a wait lies in a request whose end was seen: what it was for is known then from what came
 * of it, however it looked when it began.
 */
#ifndef NETSTALL_ANALYZE_WAITS_REQUEST_H
#define NETSTALL_ANALYZE_WAITS_REQUEST_H

#include "user/analyze/report.h"
#include "user/model/model.h"

/*
 * The request, made by the thread's process, that this wait was in after it had been written and
 * before all of its answer was there; NULL: none is known. conn 0: on any connection.
 */
const struct ns_exchange *request__awaited(const struct model *model, const struct ns_wait *wait,
					   uint32_t conn);

/* In which requests, of those known, a wait lies. */
struct request_place {
	const struct ns_exchange *awaited; /* as above, on any connection */
	bool is_written;                   /* the thread was still writing it, in parts */
	const struct ns_exchange *served;  /* the thread answered it after this wait */
};

struct request_place request__place(const struct model *model, const struct ns_wait *wait);
/* In any. */
bool request_place__is_in(const struct request_place *place);

/*
 * A request that a target serves is shown by who asks, if that is a target too and its request is
 * judged: what the server did is a part of the same stall.
 */
bool request__is_of_target(const struct model *model, const struct ns_exchange *served);

/*
 * A thread that is at a request may look after its own clock now and then, and wait on: what ends
 * the last of these waits, it had waited for in all of them. False: this one is a wait by itself,
 * or nobody knows what its end would have come from. of: the request that is looked at; NULL, or
 * another thread's: of those that the wait lies in, the one that is over first.
 */
bool request__whole_wait(const struct model *model, const struct ns_exchange *of,
			 const struct ns_wait *wait, struct ns_wait *whole);
/*
 * Another client's request ends a wait of an event loop, and brings the one that it serves no
 * nearer to its answer: what ends the loop's next wait, that one waits for. Not if the answer
 * begins before the loop waits again: then it came of what the other client asked. whole: the wait
 * from there until then; False: nothing of that was seen.
 */
bool request__past_others(const struct model *model, const struct ns_exchange *served,
			  const struct ns_wait *wait, struct ns_wait *whole);
/* A loop's last wait before it answers, which another client's request ended. */
enum by_others {
	BY_OTHERS_NOT,
	BY_OTHERS_FIRST,     /* nobody else came before: that brought the answer */
	BY_OTHERS_AND_CLOCK, /* the time-out of the wait was over as well: rather that one did */
	BY_OTHERS_PERHAPS,   /* others came before and brought no answer: nobody knows */
};

enum by_others request__by_others(const struct model *model, const struct ns_exchange *served,
				  const struct ns_wait *wait);
/* How many requests on connections but these a thread answered from then to then, as far as it is
 * told: none of short ones. *ns: how long it was at them. */
uint32_t request__others(const struct model *model, uint32_t tid, const uint32_t conns[2],
			 uint64_t from, uint64_t to, uint64_t *ns);
/* When a request that is made began: with its connection, if that was made for it. */
uint64_t request__begun(const struct ns_exchange *asked);
/* When a request that is served was there to be read. */
uint64_t request__arrived(const struct ns_exchange *served);
/* Did its thread sleep until a request that is served was there? Else it was at something else, and
 * the request lay unread: then what the thread did since it arrived is the request's time. */
bool request__was_awaited(const struct model *model, const struct ns_exchange *served);
/* What is known of the listen queue that its connection came from: by itself, or the other end's
 * record. */
const struct ns_exchange *request__queued(const struct model *model,
					  const struct ns_exchange *exchange);
/* Until when its connection lay in the listen queue, as far as was seen; 0: not since it was made.
 */
uint64_t request__accepted(const struct ns_exchange *exchange);

/*
 * Of an answer without an end in sight, which comes in pieces with pauses between them: what the
 * other end asked for, or this one, is a subscription. Its request is over with the first piece,
 * and of those that follow nobody knows when they are due.
 */
bool request__is_subscription(const struct model *model, const struct ns_exchange *exchange);
/* That request, up to the first piece. */
struct ns_exchange request__until_first_piece(const struct ns_exchange *exchange);

/* The wait for the answer to a request. */
struct reply {
	const struct ns_exchange *asked;
	const struct ns_exchange *served; /* NULL: the other end was not seen */
	uint64_t from;                    /* all of the request was written */
	uint64_t arrived;                 /* all of the answer was there, or could have been */
	uint64_t to;                      /* the thread ran again, with it */
	uint64_t reads_from; /* from then on the other end waited for this one to read; 0: it did
				not */
	struct ns_wait wait; /* its longest wait meanwhile; head.type 0: none was recorded */
};

/* A request of a target, as the tables of requests have it. */
struct walked_request {
	enum request_role role;
	uint32_t conn; /* 0: it is none of a table */
	uint32_t tid;  /* whose it is */
	uint64_t begin_ts;
	uint64_t end_ts;
	uint32_t weight;   /* requests that this one stands for, itself included */
	bool is_answered;  /* a part of the answer at least was seen */
	bool is_over;      /* it came to its end within the window */
	bool is_whole;     /* both ends of it were seen */
	bool is_given_up;  /* its thread waited for an answer, and closed the connection */
	bool is_open;      /* it has no answer at the window's end, and is to have one */
	uint64_t since_ts; /* likewise, where it began before the window: by then; 0: it did not */
	uint32_t server_tid; /* who answered it, and from when to when: 0 not seen */
	uint64_t taken_up_ts;
	uint64_t answered_ts;
	struct request_view view;
};

/* Did the thread that asked wait for the answer for most of the time? A stream's last write, or a
 * farewell, has none. */
bool request__is_waited_for(const struct model *model, const struct ns_exchange *asked);

void reply__find(const struct model *model, const struct ns_exchange *asked, struct reply *reply);

#endif
