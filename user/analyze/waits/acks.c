// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/acks.h"

#include "bpf/times.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/model/model.h"

/* What acknowledges is a code and a number, to which TLS adds its own. What is longer may well be a
 * question; then it is none only where that was seen. */
#define ACK_BYTES 16
#define TLS_BYTES 32
/* Fewer may be alike by chance; older ones say no more. */
#define ACKS_LEAST 3
#define ACKS_MOST  16
#define ACKS_LOOKS 64 /* at exchanges, short ones too */
/* Of a pause so short a part is at once. */
#define AT_ONCE_PART 20

/* What the opening end wrote, and what came then. */
struct turn {
	uint64_t begin_ts;
	uint64_t end_ts;
	uint32_t wrote;
	uint32_t came;
};

static struct turn turn_of(const struct ns_exchange *exchange)
{
	if (exchange->side == NS_EXCHANGE_SERVED)
		return (struct turn){request__arrived(exchange), exchange->head.ts,
				     exchange->bytes_in, exchange->bytes_out};
	return (struct turn){request__begun(exchange), exchange->head.ts, exchange->bytes_out,
			     exchange->bytes_in};
}

static bool is_pause(const struct model *model, const struct turn *turn)
{
	return turn->end_ts - turn->begin_ts >= model__threshold(model);
}

/* As little as says that something came, and less than what that was. */
static bool is_little(const struct turn *turn)
{
	return turn->wrote && turn->wrote <= ACK_BYTES + TLS_BYTES && turn->wrote < turn->came;
}

static bool is_at_once(uint64_t passed, uint64_t pause)
{
	return passed <= WAIT_AT_ONCE_NS || AT_ONCE_PART * passed <= pause;
}

/* Data ended it, of somebody who sends more there than he is sent, and whom nobody had asked since:
 * he came by himself. */
static bool is_by_another(const struct ns_wait *wait, uint64_t since)
{
	return wait->ready_brings && wait->ready_sent_ts < since;
}

/* What ended it answers what the thread had sent since its wait before. */
static bool is_answer(const struct ns_wait *wait, const struct ns_wait *before)
{
	return before && wait->ready_sent_ts > before->head.ts;
}

/* What made a thread answer. */
enum set_off {
	SET_OFF_UNSEEN,
	SET_OFF_BY_ANOTHER, /* who came by himself */
	SET_OFF_BY_ANSWER,  /* what it had asked for elsewhere, since it read the request */
};

/* Backwards from the answer, through what came of each other, to what came first. */
static enum set_off first_to_come(const struct model_thread *thread,
				  const struct ns_exchange *served)
{
	uint64_t since = served->ready_ts, until = exchange__first_write(served);
	bool is_asked = false;

	for (size_t i = thread->waits.count; i-- > 0;) {
		const struct ns_wait *wait = model_thread__wait(thread, i);

		if (wait->head.ts > until || !wait->state)
			continue;
		if (wait->off_ts < since || !is_at_once(until - wait->head.ts, until - since))
			break;
		if (is_by_another(wait, since))
			return SET_OFF_BY_ANOTHER;
		is_asked = wait->ready_sent_ts > since;
		if (!is_answer(wait, i ? model_thread__wait(thread, i - 1) : NULL))
			break;
	}
	return is_asked ? SET_OFF_BY_ANSWER : SET_OFF_UNSEEN;
}

/* It did nothing for the request, but waited for whatever comes. */
static bool only_waited(const struct model *model, const struct model_thread *thread,
			const struct ns_exchange *served)
{
	uint64_t until = exchange__first_write(served), waited = 0;
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->off_ts < served->ready_ts || wait->head.ts > until)
			continue;
		if (wait->state && wait_view__of(model, wait).kind != WAIT_MANY)
			return false;
		waited += wait->head.ts - wait->off_ts;
	}
	return 10 * waited >= 9 * (until - served->ready_ts);
}

static enum set_off set_off_by(const struct model *model, const struct ns_exchange *exchange)
{
	const struct ns_exchange *served = exchange->side == NS_EXCHANGE_SERVED
						   ? exchange
						   : model__served_side(model, exchange);
	const struct model_thread *thread = served ? model__thread(model, served->head.tid) : NULL;
	enum set_off by;

	if (!thread || !served->ready_ts || exchange__first_write(served) < served->ready_ts)
		return SET_OFF_UNSEEN;
	by = first_to_come(thread, served);
	return by == SET_OFF_BY_ANOTHER && !only_waited(model, thread, served) ? SET_OFF_UNSEEN
									       : by;
}

/* The recent exchanges on a connection after which nothing came for as long as makes a stall. */
struct pauses {
	uint32_t count;
	uint32_t bytes; /* what the opening end wrote in each; 0: they differ, or are no acks */
	uint32_t followed;
	uint32_t at_once; /* of these, after what had come before */
	uint32_t by_others;
	uint32_t by_answers;
};

static struct pauses pauses_of(const struct model *model, uint32_t conn)
{
	struct exchange_walk walk = exchanges__of(model__exchanges(model), 0, conn);
	const struct ns_exchange *exchange;
	struct pauses pauses = {0};
	struct turn later = {0};
	unsigned looks = 0;
	enum set_off by;

	while (pauses.count < ACKS_MOST && looks++ < ACKS_LOOKS &&
	       (exchange = exchanges__next(model__exchanges(model), &walk))) {
		struct turn turn = turn_of(exchange);

		if (!exchange->answer_ts || !is_pause(model, &turn))
			continue;
		if (!is_little(&turn) || (pauses.count && turn.wrote != pauses.bytes))
			return (struct pauses){0};
		if (pauses.count++) {
			pauses.followed++;
			pauses.at_once += is_at_once(ns_passed(turn.end_ts, later.begin_ts),
						     later.end_ts - later.begin_ts);
		}
		by = set_off_by(model, exchange);
		pauses.by_others += by == SET_OFF_BY_ANOTHER;
		pauses.by_answers += by == SET_OFF_BY_ANSWER;
		pauses.bytes = turn.wrote;
		later = turn;
	}
	return pauses;
}

/*
 * One comes late, or what set the next off is not seen, by the machine's doing now and then; but
 * who asks, and is answered for that, is not to be passed over.
 */
struct acks acks__of(const struct model *model, uint32_t conn)
{
	struct pauses pauses = pauses_of(model, conn);
	struct acks acks = {.may_be = pauses.by_others};

	if (pauses.count < ACKS_LEAST || 4 * pauses.at_once < 3 * pauses.followed ||
	    2 * pauses.by_answers > pauses.count)
		return acks;
	acks.is_sure = pauses.by_others >= ACKS_LEAST && 8 * pauses.by_others >= 7 * pauses.count;
	if (acks.is_sure || pauses.bytes <= ACK_BYTES)
		acks.bytes = pauses.bytes;
	return acks;
}
