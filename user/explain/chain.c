// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/chain.h"

#include "user/base/text.h"

/* What a thread did in its link: followed by how long, and in which call. */
struct deed {
	const char *did;  /* "waited" */
	const char *last; /* behind it, when nothing further back was seen */
};

/* clang-format off */
static const struct deed deeds[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = {"waited", ", for what was not seen"},
	[CAUSE_NETWORK] = {"waited", " for the network"},
	[CAUSE_RUNQUEUE] = {"was ready to run and waited", " for a CPU"},
	[CAUSE_THROTTLED] = {"was ready to run and waited", " for its CPU quota"},
	[CAUSE_PEER_APP] = {"waited", " for the other end of a connection of its own"},
	[CAUSE_IDLE] = {"waited", " for something to do"},
	[CAUSE_LOCK] = {"waited", " for a lock, or a signal of another thread"},
	[CAUSE_IPC] = {"waited", " for another process or thread of this host"},
	[CAUSE_DISK] = {"waited", " for block I/O"},
	[CAUSE_MEMORY] = {"waited", " for memory"},
	[CAUSE_TIMER] = {"slept", ", as long as it had asked for"},
	[CAUSE_UDP] = {"waited", " for the answer to a datagram"},
	[CAUSE_DNS] = {"waited", " for a name server"},
	[CAUSE_URING] = {"waited", " for a completion of io_uring"},
};
/* clang-format on */

/* Without the time that it was ready to run again, unless that is what it waited for. */
static uint64_t blocked_ns(const struct stall_link *link)
{
	uint64_t end = link->end_ts;

	if (link->cause != CAUSE_RUNQUEUE && link->cause != CAUSE_THROTTLED &&
	    link->wait.wake_ts > link->start_ts && link->wait.wake_ts < end)
		end = link->wait.wake_ts;
	return end - link->start_ts;
}

static void add_deed(char **text, const struct context *context, const struct stall_link *link,
		     bool is_last)
{
	static const struct deed stopped = {"was stopped, or frozen, for", ""};
	const struct deed *deed =
		link->wait.state == NS_STATE_STOPPED ? &stopped : &deeds[link->cause];
	const char *call = call_text(context->report, &link->wait);

	if (!link->wait.head.type) {
		/* Not off the CPU by any wait that was seen. */
		builder__add(text, " took %s, in no wait that was seen",
			     duration_text(link->end_ts - link->start_ts));
		return;
	}
	builder__add(text, " %s %s", deed->did ? deed->did : "waited",
		     duration_text(blocked_ns(link)));
	if (call)
		builder__add(text, " in %s", call);
	if (!is_last)
		return;
	builder__add(text, "%s", deed->last ? deed->last : "");
	if (!deed->did)
		builder__add(text, ", and that was %s", cause__info(link->cause)->id);
	else if ((link->cause == CAUSE_LOCK || link->cause == CAUSE_IPC) && link->wait.waker_tgid &&
		 report__process(context->report, link->wait.waker_tgid))
		builder__add(
			text, ", until %s woke it",
			thread_text(context->report, link->wait.waker_tgid, link->wait.waker_tid));
}

/* " The same in 88 of the 91 stalls.", where that chain is not the only one seen */
static void add_alike(char **text, const struct context *context)
{
	const struct stall_link *last = context->root;

	for (size_t i = 0; i < TALLY_ROOTS && context->tally->count > 1; i++) {
		const struct tally_root *root = &context->tally->roots[i];

		if (root->count < 2 || root->cause != last->cause ||
		    root->tid != last->wait.head.tid || root->syscall != last->wait.syscall)
			continue;
		if (root->count == context->tally->count) {
			builder__add(text, " The same each time.");
			return;
		}
		builder__add(text, " The same in %s of the %s stalls.", count_text(root->count),
			     count_text(context->tally->count));
		return;
	}
}

void chain__add(char **text, const struct context *context)
{
	const struct stall *stall = context->stall;
	bool begun = false;

	for (size_t i = 1; i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		builder__add(
			text, begun ? " for %s, which" : " %s",
			thread_text(context->report, link->wait.head.tgid, link->wait.head.tid));
		add_deed(text, context, link, i + 1 == stall->link_count);
		begun = true;
	}
	if (!begun)
		return;
	builder__add(text, ".");
	add_alike(text, context);
}
