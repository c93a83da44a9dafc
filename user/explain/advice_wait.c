// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * For waits that TCP has no part in: whom to look at. What a program does with its own time
 * is not for netstall to mend; it names the thread and the call.
 */
#include <stdlib.h>

#include "user/base/text.h"
#include "user/explain/advice_parts.h"

static void advise_at_the_other_end(const struct story *story, struct verdict *verdict)
{
	if (story->peer && story->peer->id.head.tgid)
		advice__give(verdict,
			     "Trace the other end while this happens: netstall trace -p %u",
			     story->peer->id.head.tgid);
	else
		advice__give(verdict, "Run netstall at the other end (%s) while this happens.",
			     story->other);
}

/* When the thread at the root must not dawdle. */
static const char *while_what(const struct story *story)
{
	switch (story->tally->cause) {
	case CAUSE_LOCK:
		return "while another thread waits for its lock or signal";
	case CAUSE_IPC:
		return "while another thread waits for what it is to write";
	default:
		return "between the request and its answer";
	}
}

/* For the last thing that the chain shows. Returns false when it shows none to act on. */
static bool advise_root(const struct story *story, struct verdict *verdict, const char *saves)
{
	const struct stall_link *root = story->stall->link_count > 1 ? story->root : NULL;
	char name[STORY_NAME], call[64];
	const char *where;

	if (!root || !root->tid || !root->wait.head.type)
		return false;
	story__thread(name, sizeof(name), story->report, root->pid, root->tid);
	where = story__call(call, sizeof(call), story->report, &root->wait);
	switch (root->cause) {
	case CAUSE_TIMER:
		advice__give(verdict,
			     "In %s, do not sleep%s%s %s; wait for the event itself: at most "
			     "this %s.",
			     name, where ? " in " : "", where ? where : "", while_what(story),
			     saves);
		return true;
	case CAUSE_LOCK:
		advice__give(
			verdict,
			"Shorten what is done under the lock that %s waits for, or take it for "
			"less: at most this %s.",
			name, saves);
		return true;
	case CAUSE_DISK:
		advice__give(verdict,
			     "Take the block I/O of %s%s%s out of what others wait for (cache, "
			     "another thread, a faster disk): at most this %s.",
			     name, where ? " in " : "", where ? where : "", saves);
		return true;
	case CAUSE_RUNQUEUE:
		advice__give(verdict,
			     "Give %s a CPU sooner: see the quota of its cgroup (cpu.max, "
			     "cpu.stat), priorities, and the load of its CPUs: at most this %s.",
			     name, saves);
		return true;
	default:
		return false;
	}
}

void advise__peer_app(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	if (!advise_root(story, verdict, saves))
		advise_at_the_other_end(story, verdict);
	advice__give(verdict,
		     "If %s cannot answer sooner: send further requests meanwhile (pipelining, or "
		     "more connections) rather than wait for each in turn.",
		     story->other_program);
	free(saves);
}

void advise__network(const struct story *story, struct verdict *verdict)
{
	advice__give(verdict,
		     "Fewer round trips: ask for more at once, send requests without waiting for "
		     "each answer, keep connections open. Nothing in this host makes the way to "
		     "%s shorter.",
		     story->other);
}

void advise__runqueue(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "Look for a shortage of CPU: a quota of its cgroup (cpu.max; nr_throttled in "
		     "cpu.stat), more runnable threads than CPUs (vmstat, column r), an affinity "
		     "that puts several on one CPU: at most this %s.",
		     saves);
	advice__give(verdict,
		     "If %s matters more than what else runs here: a higher weight (cpu.weight, "
		     "nice), or CPUs of its own.",
		     story->program);
	free(saves);
}

void advise__lock(const struct story *story, struct verdict *verdict)
{
	const struct ns_wait *wait = &story->stall->wait;
	char *saves = advice__saving(story);
	char name[STORY_NAME];

	if (advise_root(story, verdict, saves))
		;
	else if (wait->head.type && report__process(story->report, wait->waker_tgid))
		advice__give(verdict,
			     "Look at what %s does before it wakes %s: a lock that is held for "
			     "too long, or work that it waits to be handed: at most this %s.",
			     story__thread(name, sizeof(name), story->report, wait->waker_tgid,
					   wait->waker_tid),
			     story->waiter, saves);
	else
		advice__give(verdict,
			     "Look for the lock that %s waits for, and for who holds it: at most "
			     "this %s.",
			     story->waiter, saves);
	free(saves);
}

void advise__ipc(const struct story *story, struct verdict *verdict)
{
	const struct ns_wait *wait = &story->stall->wait;
	char *saves = advice__saving(story);
	char name[STORY_NAME];

	if (advise_root(story, verdict, saves))
		;
	else if (wait->head.type && report__process(story->report, wait->waker_tgid))
		advice__give(verdict,
			     "Look at what %s does before it writes or signals to %s: at most "
			     "this %s.",
			     story__thread(name, sizeof(name), story->report, wait->waker_tgid,
					   wait->waker_tid),
			     story->waiter, saves);
	else
		advice__give(verdict, "Look at who writes to what %s waits for: at most this %s.",
			     story->waiter, saves);
	free(saves);
}

void advise__disk(const struct story *story, struct verdict *verdict)
{
	bool is_rings = story->stall->wait.head.type && story->stall->wait.ring;
	char *saves = advice__saving(story);

	if (is_rings)
		advice__give(verdict,
			     "%s submits its block I/O to a ring and then waits for it all the "
			     "same: submit it earlier, or go on with other completions meanwhile: "
			     "at most this %s.",
			     story->waiter, saves);
	advice__give(verdict,
		     "Take block I/O off the way of %s: a thread of its own for it, a cache, "
		     "fewer fsync(), a faster disk: at most this %s.",
		     story->waiter, saves);
	free(saves);
}

void advise__timer(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "If %s need not wait that long: shorten the time that it asks for, or let "
		     "what it waits for wake it: at most this %s.",
		     story->waiter, saves);
	free(saves);
}

void advise__uring(const struct story *story, struct verdict *verdict)
{
	const struct ns_wait *wait = &story->stall->wait;

	if (wait->head.type)
		advice__give(verdict,
			     "See the operations of its rings one by one while this happens: "
			     "netstall trace --events=uring -p %u",
			     wait->head.tgid);
	if (story->conn)
		advise_at_the_other_end(story, verdict);
}

void advise__unknown(const struct story *story, struct verdict *verdict)
{
	if (story->stall->held_bytes || !story->conn)
		return; /* nothing that would not be a guess */
	advise_at_the_other_end(story, verdict);
}
