// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Reads, exchanges, sleeps and wakes in words. */
#include <stdio.h>
#include <string.h>

#include "bpf/times.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/render/words/names_uring.h"
#include "user/render/words/words_parts.h"

void words__recv(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_recv *recv = &record->recv;

	(void)scene;
	if (recv->fd == NS_FD_UNKNOWN)
		snprintf(words->what, sizeof(words->what), "read");
	else
		snprintf(words->what, sizeof(words->what), "read fd %u", recv->fd);
	text__bytes(words->amount, sizeof(words->amount), recv->bytes);
	if (recv->bytes == 0)
		snprintf(words->note, sizeof(words->note), "end of the stream");
}

/* The stack that this wait's wake came from, of those that the stall kept; NULL none. */
static const char *waker_stack_of(const struct scene *scene, const struct ns_wait *wait)
{
	const struct stall *stall = scene->stall;

	for (size_t i = 0; stall && i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		if (link->tid == wait->head.tid && link->wait.off_ts == wait->off_ts)
			return link->waker_stack;
	}
	if (stall && stall->wait.head.tid == wait->head.tid && stall->wait.off_ts == wait->off_ts)
		return stall->waker_stack;
	return NULL;
}

/* "" on an idle CPU, "; woken by X" of a watched process, else what is said of a bystander. */
static void describe_current(const struct report *report, const struct ns_wait *wait,
			     const char *before, const char *after, char *dst, size_t size)
{
	char name[TEXT_SAFE(NS_COMM_LEN)];

	text__safe(name, sizeof(name), wait->waker_comm, NS_COMM_LEN);
	if (wait->waker_tid == 0 || strncmp(name, "ksoftirqd/", 10) == 0)
		dst[0] = '\0';
	else if (wait->waker_tgid && report__process(report, wait->waker_tgid))
		snprintf(dst, size, "; woken by %s/%u", name, wait->waker_tid);
	else
		snprintf(dst, size, "; %s %s/%u%s", before, name, wait->waker_tid, after);
}

/*
 * Who woke it. In softirq the current thread is a victim and no waker: the stack says who, where
 * one was taken. Without it an interrupt on an idle CPU goes without saying, a thread of a
 * watched process is the likely waker, any other a bystander.
 */
static void describe_waker(const struct scene *scene, const struct ns_wait *wait, char *dst,
			   size_t size)
{
	const char *stack = waker_stack_of(scene, wait);

	dst[0] = '\0';
	if (wait->wake_ts == 0)
		return;
	switch (stack ? waker__by_stack(wait, stack) : WAKER_UNSEEN) {
	case WAKER_TIMER:
		snprintf(dst, size, "; woken by a timer");
		break;
	case WAKER_DISK:
		snprintf(dst, size, "; woken by the end of block I/O");
		break;
	case WAKER_INTERRUPT:
		snprintf(dst, size, "; woken by an interrupt");
		break;
	case WAKER_ROOM:
	case WAKER_NETWORK:
		/* On loopback a segment arrives within its sender's own call. */
		describe_current(scene->report, wait, "woken by a segment in softirq, interrupting",
				 "", dst, size);
		if (!dst[0])
			snprintf(dst, size, "; woken by a segment");
		break;
	case WAKER_TASK:
		describe_current(scene->report, wait, "woken by", "", dst, size);
		break;
	case WAKER_UNSEEN:
		describe_current(scene->report, wait, "woken while", " ran", dst, size);
		break;
	}
}

/* "waited 31 us for a CPU": how long it slept, its two lines show */
static void describe_off_time(const struct ns_wait *wait, char *dst, size_t size)
{
	char blocked[TEXT_DURATION], runnable[TEXT_DURATION];
	uint64_t off = wait->head.ts - wait->off_ts;

	if (wait->state == 0) {
		snprintf(dst, size, "waited %s for a CPU",
			 text__duration(blocked, sizeof(blocked), off));
	} else if (wait->ended == NS_WAIT_BOUND) {
		snprintf(dst, size, "off the CPU for at most %s, its return was not seen",
			 text__duration(blocked, sizeof(blocked), off));
	} else if (wait->ended == NS_WAIT_WOKEN) {
		snprintf(dst, size, "blocked %s, its return to the CPU was not seen",
			 text__duration(blocked, sizeof(blocked), off));
	} else if (wait->wake_ts == 0) {
		snprintf(dst, size, "off the CPU for %s, its wake was not seen",
			 text__duration(blocked, sizeof(blocked), off));
	} else {
		text__duration(runnable, sizeof(runnable), ns_passed(wait->wake_ts, wait->head.ts));
		snprintf(dst, size, "waited %s for a CPU", runnable);
	}
}

/* "sleeps in read fd 8", with the verb in the tense of the line. */
static void describe_place(const struct scene *scene, const struct ns_wait *wait, const char *verb,
			   struct words *words)
{
	char call[64], ring[24] = "";

	if (wait->ring)
		snprintf(ring, sizeof(ring), ", ring %u", wait->ring);
	if (wait->syscall == NS_SYSCALL_NONE)
		snprintf(words->what, sizeof(words->what), "%s%s", verb, ring);
	else
		snprintf(words->what, sizeof(words->what), "%s in %s%s", verb,
			 name__syscall(call, sizeof(call), scene->report, wait), ring);
}

void words__sleep(const struct scene *scene, const struct ns_wait *wait, struct words *words)
{
	*words = (struct words){.ts = wait->off_ts, .type = NS_WAIT};
	name__thread(words->actor, sizeof(words->actor), scene->report, wait->head.tgid,
		     wait->head.tid);
	if (wait->state == 0)
		snprintf(words->what, sizeof(words->what), "loses the CPU");
	else
		describe_place(scene, wait, "sleeps", words);
	if (wait->state == 2)
		snprintf(words->note, sizeof(words->note), "uninterruptible");
}

/* "; ended by uring RECV fd 7": what its ring had for it. */
static void describe_operation(const struct ns_wait *wait, char *dst, size_t size)
{
	char name[NAME_URING];

	dst[0] = '\0';
	if (wait->op_known)
		snprintf(dst, size, "; ended by uring %s",
			 name__uring_op(name, sizeof(name), wait->op_code, wait->op_fd,
					wait->op_flags));
}

void words__wake(const struct scene *scene, const struct ns_wait *wait, struct words *words)
{
	char off[96], waker[160], op[NAME_URING + 24];

	*words = (struct words){.ts = wait->head.ts, .type = NS_WAIT};
	name__thread(words->actor, sizeof(words->actor), scene->report, wait->head.tgid,
		     wait->head.tid);
	snprintf(words->what, sizeof(words->what), "runs again");
	describe_off_time(wait, off, sizeof(off));
	describe_waker(scene, wait, waker, sizeof(waker));
	describe_operation(wait, op, sizeof(op));
	snprintf(words->note, sizeof(words->note), "%s%s%s", off, op,
		 wait->state == 0 ? "" : waker);
}

/* Both in one line, for a stream of records. */
void words__wait(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_wait *wait = &record->wait;
	char blocked[TEXT_DURATION], note[sizeof(words->note)];

	words__wake(scene, wait, words);
	if (wait->state == 0)
		snprintf(words->what, sizeof(words->what), "had lost the CPU");
	else
		describe_place(scene, wait, "slept", words);
	if (wait->state == 0 || wait->ended || !wait->wake_ts)
		return;
	memcpy(note, words->note, sizeof(note));
	text__duration(blocked, sizeof(blocked), ns_passed(wait->off_ts, wait->wake_ts));
	snprintf(words->note, sizeof(words->note), "blocked %s, %s", blocked, note);
}

void words__exchange(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_exchange *exchange = &record->exchange;
	char took[TEXT_DURATION];

	(void)scene;
	snprintf(words->what, sizeof(words->what), "%s",
		 exchange->side == NS_EXCHANGE_SERVED ? "served" : "has its answer");
	text__bytes(words->amount, sizeof(words->amount), exchange->bytes_out);
	snprintf(words->note, sizeof(words->note), "%s %s",
		 exchange->side == NS_EXCHANGE_SERVED ? "after" : "an exchange of",
		 text__duration(took, sizeof(took), exchange->head.ts - exchange->begin_ts));
}
