// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The operation of io_uring that ended a wait, in a sentence. */
#include <stdio.h>
#include <string.h>

#include "user/analyze/waits/uring_wait.h"
#include "user/base/text.h"
#include "user/explain/tale_parts.h"

/* When it was completed, or became ready, as far as that was before the thread ran again. */
static uint64_t done_ts(const struct ns_wait *wait)
{
	return wait->op_done_ts ? wait->op_done_ts : wait->head.ts;
}

/* ", 41.0 ms after client/4242 had submitted it" */
static void add_submission(const struct story *story, const struct ns_wait *wait, char **text)
{
	char took[TEXT_DURATION], name[STORY_NAME];

	if (!wait->op_submit_ts || wait->op_submit_ts > done_ts(wait)) {
		prose__add(text, "; when it had been submitted was not seen");
		return;
	}
	if (wait->op_tid && wait->op_tid != wait->head.tid)
		story__thread(name, sizeof(name), story->report, wait->head.tgid, wait->op_tid);
	else
		snprintf(name, sizeof(name), "this thread");
	prose__add(text, ", %s after %s had submitted it",
		   text__duration(took, sizeof(took), done_ts(wait) - wait->op_submit_ts), name);
}

void tale__operation(const struct story *story, char **text)
{
	const struct ns_wait *wait = &story->stall->wait;
	char operation[48], worker[STORY_NAME];

	if (!story__operation(operation, sizeof(operation), wait))
		return;
	if (!wait->ring) {
		prose__add(text, " It is a worker thread of io_uring, at the operation %s.",
			   operation);
		return;
	}
	prose__add(text, " What ended the wait was the io_uring operation %s of ring %u", operation,
		   wait->ring);
	if (wait->op_how == NS_URING_WORKER && wait->op_by_tid)
		prose__add(text, ", which worker thread %s did",
			   story__thread(worker, sizeof(worker), story->report, wait->head.tgid,
					 wait->op_by_tid));
	add_submission(story, wait, text);
	prose__add(text, ".");
}

bool tale__clock_of_ring(const struct story *story, char **text)
{
	const struct ns_wait *wait = &story->stall->wait;
	char operation[48], took[TEXT_DURATION];

	if (!wait->ring || !story__operation(operation, sizeof(operation), wait))
		return false;
	text__duration(took, sizeof(took), wait->head.ts - wait->off_ts);
	if (uring_wait__act(wait->op_code) == ACT_TIMES)
		prose__add(text,
			   "%s waited %s for completions of ring %u, until a %s that was submitted "
			   "there ran out: nothing else that it waited for completed.",
			   story->waiter, took, wait->ring, operation);
	else
		prose__add(text,
			   "%s waited %s for completions of ring %u, until a timer ended %s there "
			   "before what it waited for came.",
			   story->waiter, took, wait->ring, operation);
	return true;
}
