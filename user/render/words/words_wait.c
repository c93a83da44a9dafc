// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Reads, exchanges, sleeps and wakes in words. */
#include <string.h>

#include "bpf/times.h"
#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/render/words/names_uring.h"
#include "user/render/words/words_parts.h"

void words__recv(const struct scene *scene, struct words *words)
{
	const struct ns_recv *recv = &scene->record->recv;

	if (recv->fd != NS_FD_UNKNOWN)
		add_to(words->what, " ", "fd %u", recv->fd);
	text__bytes(words->amount, sizeof(words->amount), recv->bytes);
	if (recv->bytes == 0)
		print_to(words->note, "end of the stream");
}

/* The stack that this wait's wake came from, of those that the stall kept; NULL none. */
static const char *waker_stack_of(const struct scene *scene, const struct ns_wait *wait)
{
	const struct stall *stall = scene->stall;

	for (size_t i = 0; stall && i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		if (link->wait.head.tid == wait->head.tid && link->wait.off_ts == wait->off_ts)
			return link->waker_stack;
	}
	if (stall && stall->wait.head.tid == wait->head.tid && stall->wait.off_ts == wait->off_ts)
		return stall->waker_stack;
	return NULL;
}

/* Who ran where it was woken, unless that was an idle CPU or the kernel's own. */
static void add_current(const struct ns_wait *wait, struct words *words)
{
	const char *name = safe_text(wait->waker_comm, NS_COMM_LEN);

	if (wait->waker_tid && strncmp(name, "ksoftirqd/", 10) != 0)
		add_to(words->note, "; ", "woken by %s/%u", name, wait->waker_tid);
}

static bool is_watched(const struct report *report, uint32_t pid)
{
	return pid && report__process(report, pid);
}

/*
 * Who woke it. In softirq the current thread is a victim and no waker: the stack says who, where
 * one was taken. Without it, and where a segment woke, which on loopback arrives within its
 * sender's own call, a thread of a watched process is the likely waker; any other is a bystander,
 * of whom nothing is said.
 */
static void add_waker(const struct scene *scene, const struct ns_wait *wait, struct words *words)
{
	const char *stack = waker_stack_of(scene, wait);
	bool watched = is_watched(scene->report, wait->waker_tgid);
	size_t used = strlen(words->note);

	if (wait->state == 0 || wait->wake_ts == 0)
		return;
	switch (stack ? waker__by_stack(wait, stack) : WAKER_UNSEEN) {
	case WAKER_TIMER:
		add_to(words->note, "; ", "woken by a timer");
		break;
	case WAKER_DISK:
		add_to(words->note, "; ", "woken by the end of block I/O");
		break;
	case WAKER_INTERRUPT:
		add_to(words->note, "; ", "woken by an interrupt");
		break;
	case WAKER_ROOM:
	case WAKER_NETWORK:
		if (watched)
			add_current(wait, words);
		if (!words->note[used])
			add_to(words->note, "; ", "woken by a segment");
		break;
	case WAKER_TASK:
		add_current(wait, words);
		break;
	case WAKER_UNSEEN:
		/* Whoever lets a stopped one go on does it himself. */
		if (watched || wait->state == NS_STATE_STOPPED)
			add_current(wait, words);
		break;
	}
}

/* "waited 31 us for a CPU": how long it slept, its two lines show */
static void describe_off_time(const struct ns_wait *wait, struct words *words)
{
	const char *off = duration_text(wait->head.ts - wait->off_ts);

	if (wait__goes_on(wait))
		print_to(words->note, "after %s, when %s ends",
			 wait->state && wait->wake_ts
				 ? duration_text(ns_passed(wait->wake_ts, wait->head.ts))
				 : off,
			 wait->ended == NS_WAIT_KILLED ? "its process" : "the window");
	else if (wait->state == 0)
		print_to(words->note, "waited %s for a CPU", off);
	else if (wait->ended == NS_WAIT_BOUND)
		print_to(words->note, "off the CPU for at most %s, its return was not seen", off);
	else if (wait->ended == NS_WAIT_WOKEN)
		print_to(words->note, "blocked %s, its return to the CPU was not seen", off);
	else if (wait->wake_ts == 0)
		print_to(words->note, "off the CPU for %s, its wake was not seen", off);
	else
		print_to(words->note, "waited %s for a CPU",
			 duration_text(ns_passed(wait->wake_ts, wait->head.ts)));
}

/* "UDP to 10.0.0.2:53", "Unix socket /run/x" */
static void add_socket(const struct ns_wait *wait, struct words *words)
{
	const struct ns_socket *socket = &wait->socket;

	if (socket__is_udp(socket) && socket->rport)
		add_to(words->what, ", ", "UDP %s %s", socket->role == NS_ASKS ? "to" : "from",
		       address_text(socket->family, socket->raddr, socket->rport));
	else if (socket__is_udp(socket))
		add_to(words->what, ", ", "UDP port %u", socket->lport);
	else if (socket__is_unix(socket) && socket->path[0])
		add_to(words->what, ", ", "Unix socket %s",
		       safe_text(socket->path, NS_SOCKET_PATH));
	else if (socket__is_unfollowed(socket))
		add_to(words->what, ", ", "%s", socket__kind(socket));
}

/* "sleeps in read fd 8", with the verb in the tense of the line. */
static void describe_place(const struct scene *scene, const struct ns_wait *wait, const char *verb,
			   struct words *words)
{
	print_to(words->what, "%s", verb);
	/* A stop comes between two instructions; the last call was something else. */
	if (wait->syscall != NS_SYSCALL_NONE && wait->state != NS_STATE_STOPPED)
		add_to(words->what, " ", "in %s", syscall_text(scene->report, wait));
	if (wait->ring)
		add_to(words->what, ", ", "ring %u", wait->ring);
	add_socket(wait, words);
}

static void begin(const struct scene *scene, const struct ns_wait *wait, uint64_t ts,
		  struct words *words)
{
	*words = (struct words){.ts = ts, .type = NS_WAIT};
	print_to(words->actor, "%s", thread_text(scene->report, wait->head.tgid, wait->head.tid));
}

/* One that we found asleep. */
static void add_begin(const struct ns_wait *wait, struct words *words)
{
	if (wait->began_ts)
		add_to(words->note, "; ", "since %s before the window",
		       duration_text(ns_passed(wait->began_ts, wait->off_ts)));
}

void words__sleep(const struct scene *scene, const struct ns_wait *wait, struct words *words)
{
	begin(scene, wait, wait->off_ts, words);
	if (wait->state == 0)
		print_to(words->what, "loses the CPU");
	else
		describe_place(scene, wait,
			       wait->state == NS_STATE_STOPPED ? "is stopped" : "sleeps", words);
	if (wait->state == 2)
		print_to(words->note, "uninterruptible");
	add_begin(wait, words);
}

void words__wake(const struct scene *scene, const struct ns_wait *wait, struct words *words)
{
	begin(scene, wait, wait->head.ts, words);
	if (!wait__goes_on(wait))
		print_to(words->what, "runs again");
	else
		print_to(words->what,
			 !wait->state || wait->wake_ts ? "still waits for a CPU" : "still sleeps");
	describe_off_time(wait, words);
	if (wait->op_known && !uring_wait__is_for_any(wait))
		add_to(words->note, "; ", "%s uring %s",
		       wait->op_known == NS_OP_ENDED ? "ended by" : "in flight:",
		       uring_op_text(wait->op_code, wait->op_fd, wait->op_flags));
	add_waker(scene, wait, words);
}

/* Both in one line, for a stream of records. */
void words__wait(const struct scene *scene, struct words *words)
{
	const struct ns_wait *wait = &scene->record->wait;
	char note[sizeof(words->note)];

	words__wake(scene, wait, words);
	if (wait->state == 0)
		print_to(words->what, "had lost the CPU");
	else
		describe_place(scene, wait,
			       wait->state == NS_STATE_STOPPED ? "was stopped" : "slept", words);
	add_begin(wait, words);
	if (wait->state == 0 || wait->ended || !wait->wake_ts)
		return;
	memcpy(note, words->note, sizeof(note));
	print_to(words->note, "blocked %s, %s",
		 duration_text(ns_passed(wait->off_ts, wait->wake_ts)), note);
}

void words__sums(const struct scene *scene, struct words *words)
{
	const struct ns_sums *sums = &scene->record->sums;

	print_to(words->note, "on its CPU for %s",
		 duration_text(ns_passed(sums->on_ts, sums->head.ts)));
}

void words__throttle(const struct scene *scene, struct words *words)
{
	const struct ns_throttle *throttle = &scene->record->throttle;

	print_to(words->note, "for %s, by its quota of %s in %s",
		 duration_text(ns_passed(throttle->since_ts, throttle->head.ts)),
		 nominal_text(1000ull * throttle->quota_us),
		 nominal_text(1000ull * throttle->period_us));
}

void words__ran(const struct scene *scene, struct words *words)
{
	const struct ns_ran *ran = &scene->record->ran;

	for (size_t i = 0; i < NS_RUNNERS && ran->runners[i].tid; i++)
		add_to(words->note, ", ", "%s/%u ran %s",
		       safe_text(ran->runners[i].comm, NS_COMM_LEN), ran->runners[i].tid,
		       duration_text(1000ull * ran->runners[i].us));
	if (ran->irq_us)
		add_to(words->note, ", ", "interrupts %s", duration_text(1000ull * ran->irq_us));
	if (ran->steal_us)
		add_to(words->note, ", ", "stolen %s", duration_text(1000ull * ran->steal_us));
}

void words__exchange(const struct scene *scene, struct words *words)
{
	const struct ns_exchange *exchange = &scene->record->exchange;
	uint64_t since_ts = exchange->since_ts ? exchange->since_ts : exchange->begin_ts;
	const char *took = duration_text(exchange->head.ts - since_ts);
	bool served = exchange->side == NS_EXCHANGE_SERVED;

	if (exchange->ended == NS_EXCHANGE_OPEN && !exchange->answer_ts) {
		print_to(words->what, "%s", served ? "has not answered" : "has no answer yet");
		print_to(words->note, "for %s%s", exchange->since_ts ? "at least " : "", took);
		return;
	}
	print_to(words->what, "%s", served ? "served" : "has its answer");
	text__bytes(words->amount, sizeof(words->amount), exchange->bytes_out);
	print_to(words->note, "%s %s", served ? "after" : "an exchange of", took);
}
