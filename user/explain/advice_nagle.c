// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/advice_parts.h"

/* " (2.0 for each exchange)": as counted on this connection; "" when exchanges were not */
static char *segments_now(const struct story *story, char *dst, size_t size)
{
	const struct ns_conn_totals *totals = story->conn ? &story->conn->totals : NULL;

	dst[0] = '\0';
	if (totals && totals->exchanges && totals->data_segs_out)
		snprintf(dst, size, " (%.1f for each exchange)",
			 (double)totals->data_segs_out / totals->exchanges);
	return dst;
}

/* Each piece is an operation of its own there. */
static void advise_one_operation(const struct story *story, struct verdict *verdict,
				 uint64_t pieces, const char *saves)
{
	char number[TEXT_COUNT];

	prose__number(number, sizeof(number), pieces);
	advice__give(verdict,
		     "In %s, submit %s pieces as one operation (one buffer, or one "
		     "IORING_OP_SENDMSG with an iovec for each): %s, and one segment fewer.",
		     story->program, pieces == 2 ? "both" : number, saves);
	advice__give(verdict,
		     "Or set MSG_MORE in sqe->msg_flags of %s, and link them (IOSQE_IO_LINK) so "
		     "that they stay in order: the same saving.",
		     pieces == 2 ? "the first SEND" : "all SENDs but the last");
}

static void advise_coalescing(const struct story *story, struct verdict *verdict, uint64_t pieces,
			      const char *saves)
{
	char number[TEXT_COUNT];

	if (pieces == 2)
		advice__give(verdict,
			     "In %s, write both pieces at once (one buffer, writev(), or "
			     "MSG_MORE on the first): %s, and one segment fewer.",
			     story->program, saves);
	else
		advice__give(verdict,
			     "In %s, write all %s pieces at once (one buffer, writev(), or "
			     "MSG_MORE on all but the last): %s, and one segment fewer.",
			     story->program, prose__number(number, sizeof(number), pieces), saves);
}

static void advise_nodelay(const struct story *story, struct verdict *verdict, uint64_t pieces,
			   const char *saves)
{
	const char *once = story->by_ring ? " (setsockopt(), once, no ring needed)" : "";
	char now[48], more[TEXT_COUNT];

	segments_now(story, now, sizeof(now));
	/* With TCP_NODELAY each write is a segment; held ones left together in one. */
	if (pieces == 2)
		advice__give(verdict,
			     "Set TCP_NODELAY on %s in %s%s: %s, with as many segments as now%s.",
			     story->fd, story->sender, once, saves, now);
	else
		advice__give(verdict,
			     "Set TCP_NODELAY on %s in %s%s: %s, at the price of up to %s more "
			     "segment%s for %s than now%s.",
			     story->fd, story->sender, once, saves,
			     prose__number(more, sizeof(more), pieces - 2), pieces == 3 ? "" : "s",
			     story->a_message, now);
}

/* The program to be changed is at the other end, of which nothing else is known. */
static void advise_other_end(const struct story *story, struct verdict *verdict, const char *saves)
{
	advice__give(verdict,
		     "In the program at %s, write all pieces of a message at once (one buffer, "
		     "writev(), or MSG_MORE on all but the last): %s.",
		     story->other, saves);
	advice__give(verdict, "Or set TCP_NODELAY there: %s, with a segment for each piece.",
		     saves);
}

static void advise_cork(const struct story *story, struct verdict *verdict)
{
	advice__give(verdict,
		     "Where the pieces come from code that cannot be joined: set TCP_CORK on %s "
		     "before the first and clear it after the last: the same saving, one segment "
		     "fewer, two system calls more.",
		     story->fd);
}

void advise__nagle(const struct story *story, struct verdict *verdict)
{
	uint64_t pieces = 2 + story->tally->joined.most;
	char *saves = advice__saving(story);

	if (story->stall->fire.head.type && story->stall->fire.head.conn == story->stall->conn) {
		advise_other_end(story, verdict, saves);
		free(saves);
		return;
	}
	if (story->by_ring)
		advise_one_operation(story, verdict, pieces, saves);
	else
		advise_coalescing(story, verdict, pieces, saves);
	advise_nodelay(story, verdict, pieces, saves);
	if (!story->by_ring)
		advise_cork(story, verdict);
	free(saves);
}
