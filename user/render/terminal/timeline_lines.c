// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The lines of a stall's time line from its steps, and which of them prove it. */
#include <stdio.h>
#include <stdlib.h>

#include "user/base/xalloc.h"
#include "user/render/terminal/timeline_lines.h"
#include "user/render/terminal/uring_steps.h"

/* A write and its segment are one act when they lie this close together. */
#define ONE_ACT_NS 1000000ull

/* The hold that this send ended in, NULL when all was sent or it was not seen. */
static const union event *hold_of(const struct stall *stall, const union event *send)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const union event *step = &stall->steps[i];

		/* A writer that sleeps for room is in a send of its own. */
		if (step->head.type == NS_HOLD && step->head.conn == send->head.conn &&
		    step->hold.seq != step->hold.end && step->hold.seq == send->send.snd_nxt &&
		    step->hold.end == send->send.write_seq)
			return step;
	}
	return NULL;
}

static bool has_send_of(const struct stall *stall, const union event *hold)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const union event *step = &stall->steps[i];

		if (step->head.type == NS_SEND && hold_of(stall, step) == hold)
			return true;
	}
	return false;
}

/* The transmit of what this send, release or retransmission sent, seen on the way out. */
static bool is_transmit_of(const union event *tx, const union event *act)
{
	if (tx->head.type != NS_TX || tx->head.conn != act->head.conn ||
	    tx->head.ts > act->head.ts || act->head.ts - tx->head.ts > ONE_ACT_NS)
		return false;
	if (act->head.type == NS_SEND)
		return tx->segment.end == act->send.snd_nxt &&
		       act->send.snd_nxt == act->send.write_seq;
	if (act->head.type == NS_RETRANS)
		return tx->segment.seq == act->retrans.seq;
	return act->head.type == NS_RELEASE && tx->segment.seq == act->release.seq;
}

/* Is this transmit in the line of one of these already? */
static bool is_in_a_line(const struct stall *stall, const union event *tx)
{
	for (size_t i = 0; i < stall->step_count; i++)
		if (is_transmit_of(tx, &stall->steps[i]))
			return true;
	return false;
}

/*
 * A send is stamped when its call had done its work. On loopback the segment has
 * by then arrived: the line stands where the segment left, before its effects.
 */
static uint64_t left_at(const struct stall *stall, const union event *send)
{
	for (size_t i = 0; i < stall->step_count; i++)
		if (is_transmit_of(&stall->steps[i], send))
			return stall->steps[i].head.ts;
	return send->head.ts;
}

/* Did this send push out what was held before it? */
static bool takes_held_along(const struct stall *stall, const union event *send)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const union event *step = &stall->steps[i];

		if (step->head.type == NS_RELEASE && step->head.conn == send->head.conn &&
		    step->release.end == send->send.write_seq - send->send.bytes &&
		    step->head.ts == left_at(stall, send))
			return true;
	}
	return false;
}

static void describe(const struct scene *scene, const union event *step, struct words *words)
{
	union record record;

	event__to_record(&record, step);
	words__record(scene, &record, words);
}

static void add_send(const struct scene *scene, const union event *send, struct words *words)
{
	const union event *hold = hold_of(scene->stall, send);

	if (hold) {
		union record write, held;

		event__to_record(&write, send);
		event__to_record(&held, hold);
		words__held_send(scene, &write, &held, words);
		return;
	}
	describe(scene, send, words);
	words->ts = left_at(scene->stall, send);
	if (takes_held_along(scene->stall, send))
		print_to(words->note, "sent at once, with the held bytes");
}

/* What was asked, and what came of it. */
static size_t describe_operation(const struct scene *scene, const union event *step,
				 struct words *words)
{
	const struct ns_uring *op = &step->uring;
	size_t count = 0;

	if (uring_steps__is_shown(scene->stall, op))
		return 0;
	if (op->step == NS_URING_DONE && op->submit_ts && op->how != NS_URING_INLINE &&
	    op->shot <= 1)
		words__uring_submitted(scene, op, &words[count++]);
	describe(scene, step, &words[count]);
	if (!uring_steps__ended_a_wait(scene->stall, op))
		words[count].aside[0] = '\0'; /* its number is of no use here */
	return count + 1;
}

/* Returns how many lines it took: at most two. */
static size_t describe_step(const struct scene *scene, const union event *step, struct words *words)
{
	const struct stall *stall = scene->stall;

	switch (step->head.type) {
	case NS_SEND:
		add_send(scene, step, words);
		uring_steps__name_send(stall, &step->send, words);
		return 1;
	case NS_HOLD:
		if (has_send_of(stall, step))
			return 0;
		break;
	case NS_TX:
		if (is_in_a_line(stall, step))
			return 0;
		break;
	case NS_RECV:
		if (uring_steps__does_receive(stall, &step->recv))
			return 0;
		break;
	case NS_CALL:
		return 0; /* the call sites stand below the time line */
	case NS_URING:
		return describe_operation(scene, step, words);
	case NS_WAIT:
		words__sleep(scene, &step->wait, words);
		words__wake(scene, &step->wait, words + 1);
		return 2;
	default:
		break;
	}
	describe(scene, step, words);
	return 1;
}

static void add_step(struct lines *lines, const struct scene *scene, const union event *step)
{
	size_t end = lines->count + describe_step(scene, step, &lines->words[lines->count]);

	while (lines->count < end)
		lines->words[lines->count++].step = step;
}

static bool is_before(const struct words *a, const struct words *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->type < b->type;
}

/* Stable by time, then by type, whose numbers go from cause to effect. */
static void sort_lines(struct lines *lines)
{
	for (size_t i = 1; i < lines->count; i++) {
		struct words words = lines->words[i];
		size_t at = i;

		for (; at > 0 && is_before(&words, &lines->words[at - 1]); at--)
			lines->words[at] = lines->words[at - 1];
		lines->words[at] = words;
	}
}

struct lines *lines__new(const struct report *report, const struct stall *stall)
{
	struct scene scene = {.report = report, .stall = stall};
	struct lines *lines = xcalloc(1, sizeof(*lines));

	lines->words = xcalloc(2 * stall->step_count + 1, sizeof(struct words));
	for (size_t i = 0; i < stall->step_count; i++)
		add_step(lines, &scene, &stall->steps[i]);
	sort_lines(lines);
	return lines;
}

void lines__free(struct lines *lines)
{
	free(lines->words);
	free(lines);
}

/* ---- what proves it ---- */

/* Of the lines that are left out, those of the highest weight go last. */
enum weight { WEIGHT_AROUND, WEIGHT_HELPS, WEIGHT_PROVES };

static bool is_of_chain(const struct stall *stall, const union event *wait)
{
	if (stall->tid && wait->head.tid == stall->tid)
		return true;
	for (size_t i = 0; i < stall->link_count; i++)
		if (wait->head.tid == stall->links[i].wait.head.tid)
			return true;
	return false;
}

static enum weight weigh(const struct stall *stall, const struct words *words)
{
	const union event *step = words->step;

	switch (step->head.type) {
	case NS_SEND:
		if (words->colour == COLOUR_HELD ||
		    (stall->first.head.type && step->send.write_seq == stall->first.write_seq &&
		     step->head.conn == stall->first.head.conn))
			return WEIGHT_PROVES;
		return WEIGHT_HELPS;
	case NS_HOLD:
	case NS_RELEASE:
	case NS_DELACK_FIRE:
	case NS_RETRANS:
		return WEIGHT_PROVES;
	case NS_ACK:
		return stall->fire.head.type ? WEIGHT_PROVES : WEIGHT_HELPS;
	case NS_DELACK_ARM: /* again, for what came later */
		return stall->fire.head.type && step->head.ts > stall->fire.head.ts ? WEIGHT_AROUND
										    : WEIGHT_HELPS;
	case NS_URING:
		if (!uring_steps__ended_a_wait(stall, &step->uring))
			return WEIGHT_AROUND;
		return stall->held_bytes || stall->retrans.head.type ? WEIGHT_HELPS : WEIGHT_PROVES;
	case NS_WAIT:
		if (!is_of_chain(stall, step))
			return WEIGHT_AROUND;
		/* Where nothing was held, the waits are all there is. */
		return stall->held_bytes || stall->retrans.head.type ? WEIGHT_HELPS : WEIGHT_PROVES;
	default:
		return WEIGHT_AROUND;
	}
}

/* Mark the lines of this weight while there is room: how it ended says more than its middle. */
static size_t mark(const struct lines *lines, const struct stall *stall, enum weight weight,
		   bool *keep, size_t room)
{
	size_t last = lines->count, kept = 0;

	for (size_t i = 0; i < lines->count; i++)
		if (weigh(stall, &lines->words[i]) == weight)
			last = i;
	if (last == lines->count || room == 0)
		return 0;
	keep[last] = true;
	kept = 1;
	for (size_t i = 0; i < last && kept < room; i++) {
		if (weigh(stall, &lines->words[i]) != weight)
			continue;
		keep[i] = true;
		kept++;
	}
	return kept;
}

size_t lines__keep_proof(struct lines *lines, const struct stall *stall, size_t most)
{
	size_t count = lines->count, kept = 0;
	bool *keep = xcalloc(count + 1, sizeof(*keep));

	for (int weight = WEIGHT_PROVES; weight >= WEIGHT_AROUND; weight--)
		kept += mark(lines, stall, (enum weight)weight, keep, most - kept);
	lines->count = 0;
	for (size_t i = 0; i < count; i++)
		if (keep[i])
			lines->words[lines->count++] = lines->words[i];
	free(keep);
	return count - kept;
}
