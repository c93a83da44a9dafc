// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Whose time each moment of a request was, by brute force: for a moment, who is to bring about what
 * the request waits for, as it came about later, and what that one does just then.
 *
 * The rule of names (D): what a process that is no target does by itself is peer-app, and all that
 * TCP or the path does keeps its own cause. A wait for another thread of the own process is a lock,
 * or ipc, whatever that one does meanwhile.
 */
#include "tests/unit/analyze/simulator/simulator.h"

struct moment {
	enum cause cause;
	int thread;
	uint64_t until; /* no change before */
};

struct look {
	const struct sim_world *world;
	enum sim_view view;
};

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Its last absence that began by then; NULL: none. */
static const struct sim_away *away_at(const struct sim_thread *thread, uint64_t ts, uint64_t *next)
{
	size_t low = 0, high = thread->away.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (thread->away.v[middle].off <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	*next = low < thread->away.count ? thread->away.v[low].off : UINT64_MAX;
	return low ? &thread->away.v[low - 1] : NULL;
}

static struct moment by_thread(const struct look *look, int tid, uint64_t ts, unsigned depth);

/* The piece in which this byte is; NULL: it was not written. */
static const struct sim_piece *piece_with(const struct sim_end *end, uint32_t byte)
{
	size_t low = 0, high = end->pieces.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (end->pieces.v[middle].end <= byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end->pieces.count ? &end->pieces.v[low] : NULL;
}

/* The end of the request that the piece, of this end, is a part of the answer to; NULL: it is a
 * request itself. */
static const struct sim_piece *answered_by(const struct sim_world *world, int end,
					   const struct sim_piece *piece)
{
	uint32_t number = (piece->seq - SIM_FIRST_SEQ) / SIM_ANSWER_LEN;

	if (world->ends[end].asks)
		return NULL;
	return piece_with(&world->ends[world->ends[end].peer],
			  SIM_FIRST_SEQ + (number + 1) * SIM_REQUEST_LEN - 1);
}

/*
 * It is there, on its way or held; before that who writes it has to do so; and before all of the
 * request that it answers was there to be read, that was to come.
 */
static struct moment by_piece(const struct look *look, int end, const struct sim_piece *piece,
			      uint64_t ts, unsigned depth)
{
	const struct sim_piece *asked = answered_by(look->world, end, piece);
	struct moment moment;

	if (ts >= piece->sent)
		return (struct moment){CAUSE_NETWORK, SIM_NOBODY, piece->arrived};
	if (ts >= piece->written)
		return (struct moment){piece->held, SIM_NOBODY, piece->sent};
	if (asked && ts < asked->arrived) {
		moment = by_piece(look, look->world->ends[end].peer, asked, ts, depth + 1);
		moment.until = sooner(moment.until, asked->arrived);
	} else {
		moment = by_thread(look, piece->writer, ts, depth + 1);
		moment.until = sooner(moment.until, piece->written);
	}
	return moment;
}

/* What came there next; NULL: nothing in the window. */
static const struct sim_piece *next_piece(const struct sim_world *world, int end, uint64_t ts)
{
	const struct sim_end *from = &world->ends[world->ends[end].peer];
	size_t low = 0, high = from->pieces.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (from->pieces.v[middle].arrived <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low < from->pieces.count ? &from->pieces.v[low] : NULL;
}

static struct moment by_thread(const struct look *look, int tid, uint64_t ts, unsigned depth)
{
	const struct sim_thread *thread = &look->world->threads[tid];
	bool is_own = sim_view__has(look->view, thread->proc);
	const struct sim_piece *piece = NULL;
	uint64_t next;
	const struct sim_away *away = away_at(thread, ts, &next);
	struct moment moment = {CAUSE_UNKNOWN, tid, next};

	assert_true(depth < 16);
	if (!away || ts >= away->on) {
		moment.cause = is_own ? CAUSE_SELF : CAUSE_PEER_APP;
		return moment;
	}
	if (ts >= away->wake)
		return (struct moment){CAUSE_RUNQUEUE, tid, away->on};
	moment.until = away->wake;
	switch (away->wait) {
	case SIM_WAIT_READ:
		piece = next_piece(look->world, away->at, away->off);
		break;
	case SIM_WAIT_SLEEP:
		moment.cause = CAUSE_TIMER;
		break;
	case SIM_WAIT_LOCK:
		moment.cause = CAUSE_LOCK;
		break;
	case SIM_WAIT_PIPE:
		moment.cause = CAUSE_IPC;
		break;
	case SIM_WAIT_JOB: /* who gave it that was not there before */
		if (away->waker == SIM_NOBODY)
			break;
		moment = by_thread(look, away->waker, ts, depth + 1);
		moment.until = sooner(moment.until, away->wake);
		return moment;
	default: /* a loop that has nothing to do is on no request's path */
		break;
	}
	if (piece) {
		moment = by_piece(look, look->world->ends[away->at].peer, piece, ts, depth);
		moment.until = sooner(moment.until, away->wake);
	} else if (!is_own && moment.cause != CAUSE_UNKNOWN) {
		moment.cause = CAUSE_PEER_APP;
	}
	return moment;
}

static const struct sim_piece *last_piece(const struct sim_world *world,
					  const struct sim_request *request)
{
	const struct sim_end *end = &world->ends[world->ends[request->end].peer];

	for (size_t i = 0; i < end->pieces.count; i++) {
		if (end->pieces.v[i].written == request->wrote)
			return &end->pieces.v[i];
	}
	return NULL;
}

static void add_piece(struct oracle_view *out, const struct moment *moment, uint64_t from,
		      uint64_t to)
{
	struct oracle_piece *last = out->count ? &out->pieces[out->count - 1] : NULL;

	out->ns[moment->cause] += to - from;
	if (last && last->cause == moment->cause && last->thread == moment->thread) {
		last->to = to;
		return;
	}
	if (out->count == ORACLE_PIECES) {
		last->to = to; /* for who reads it: the sums are right */
		return;
	}
	out->pieces[out->count++] = (struct oracle_piece){from, to, moment->cause, moment->thread};
}

void oracle__view(const struct sim_world *world, enum sim_view view,
		  const struct sim_request *request, bool served, struct oracle_view *out)
{
	const struct look look = {world, view};
	int answers = world->ends[request->end].peer;
	const struct sim_piece *last = last_piece(world, request);
	uint64_t ts;

	out->count = 0;
	memset(out->ns, 0, sizeof(out->ns));
	out->from = served ? request->there : request->asked;
	out->to = served ? request->sent : request->answered;
	for (ts = out->from; ts < out->to;) {
		/* Until its end is there, whatever the asking thread does meanwhile. */
		struct moment moment = ts < last->arrived
					       ? by_piece(&look, answers, last, ts, 0)
					       : by_thread(&look, request->thread, ts, 0);

		moment.until = sooner(moment.until, out->to);
		assert_true(moment.until > ts);
		add_piece(out, &moment, ts, moment.until);
		ts = moment.until;
	}
}
