// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What to change. Every line names what it saves, as this very trace shows it, and what
 * it costs in segments. Never TCP_QUICKACK: the kernel leaves quick-ACK mode by itself
 * again, so it mends one exchange and not the next.
 */
#include <stdlib.h>

#include "user/analyze/verdict.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"

static void give(struct verdict *verdict, char *advice)
{
	verdict->advice[verdict->advice_count++] = advice;
}

/* "saves 40.5 ms each time, 4.94 s here" */
static char *saving(const struct story *story)
{
	char each[TEXT_DURATION], all[TEXT_DURATION], count[TEXT_COUNT];

	text__duration(each, sizeof(each), story__held(story));
	text__duration(all, sizeof(all), story->tally->held_ns);
	if (story->tally->count == 1)
		return xasprintf("saves %s", each);
	return xasprintf("saves %s each time, %s over the %s times seen here", each, all,
			 text__count(count, sizeof(count), story->tally->count));
}

static void advise_nagle(const struct story *story, struct verdict *verdict)
{
	uint64_t pieces = 2 + story->tally->joined.most;
	char *saves = saving(story);
	char number[TEXT_COUNT], more[TEXT_COUNT];
	char *segments;

	prose__number(number, sizeof(number), pieces);
	if (pieces == 2)
		give(verdict,
		     xasprintf("In %s, write both pieces at once (one buffer, writev(), or "
			       "MSG_MORE on the first): %s, and one segment fewer.",
			       story->program, saves));
	else
		give(verdict,
		     xasprintf("In %s, write all %s pieces at once (one buffer, writev(), or "
			       "MSG_MORE on all but the last): %s, and one segment fewer.",
			       story->program, number, saves));
	/* With TCP_NODELAY each write is a segment; held ones left together in one. */
	if (pieces == 2)
		segments = xstrdup("with as many segments as now");
	else
		segments = xasprintf("at the price of up to %s more segment%s for %s",
				     prose__number(more, sizeof(more), pieces - 2),
				     pieces == 3 ? "" : "s", story->a_message);
	give(verdict, xasprintf("Set TCP_NODELAY on %s in %s: %s, %s.", story->fd, story->program,
				saves, segments));
	free(segments);
	free(saves);
}

static void advise_cork(const struct story *story, struct verdict *verdict)
{
	char *saves = saving(story);

	if (story->stall->reason == NS_HOLD_MSG_MORE)
		give(verdict,
		     xasprintf("In %s, leave MSG_MORE out of the last write of %s on %s: %s, with "
			       "as many segments as now.",
			       story->program, story->a_message, story->fd, saves));
	else
		give(verdict,
		     xasprintf("In %s, clear TCP_CORK on %s right after the last write of %s: %s, "
			       "with as many segments as now.",
			       story->program, story->fd, story->a_message, saves));
	give(verdict,
	     xasprintf("Write the whole %s with one writev() and hold nothing back: the same "
		       "saving, with as many segments as now.",
		       story->message));
	free(saves);
}

static void advise_unknown(const struct story *story, struct verdict *verdict)
{
	const struct model_conn *peer = model__conn(story->model, story->stall->peer);

	if (story->stall->held_bytes)
		return; /* TCP held it, and why is beyond this version: nothing to say */
	if (peer && peer->id.head.tgid)
		give(verdict,
		     xasprintf("Trace the other end while this happens: netstall trace -p %u",
			       peer->id.head.tgid));
	else
		give(verdict, xasprintf("Run netstall at the other end (%s) while this happens.",
					story->other));
}

void advice__write(const struct story *story, struct verdict *verdict)
{
	switch (story->tally->cause) {
	case CAUSE_NAGLE_DELACK:
	case CAUSE_NAGLE:
		advise_nagle(story, verdict);
		break;
	case CAUSE_CORK:
		advise_cork(story, verdict);
		break;
	default:
		advise_unknown(story, verdict);
		break;
	}
}
