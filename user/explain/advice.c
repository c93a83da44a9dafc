// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/advice.h"

#include <stdarg.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/advice_parts.h"

static advise_fn *const advisers[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = advise__unknown,
	[CAUSE_NAGLE_DELACK] = advise__nagle,
	[CAUSE_NAGLE] = advise__nagle,
	[CAUSE_CORK] = advise__cork,
	[CAUSE_NETWORK] = advise__network,
	[CAUSE_RUNQUEUE] = advise__runqueue,
	[CAUSE_CWND] = advise__cwnd,
	[CAUSE_RWND] = advise__rwnd,
	[CAUSE_ZERO_WINDOW] = advise__zero_window,
	[CAUSE_PACING] = advise__pacing,
	[CAUSE_TSQ] = advise__tsq,
	[CAUSE_TSO_DEFER] = advise__tso_defer,
	[CAUSE_AUTOCORK] = advise__autocork,
	[CAUSE_SNDBUF] = advise__sndbuf,
	[CAUSE_RTO] = advise__loss,
	[CAUSE_TLP] = advise__loss,
	[CAUSE_FAST_RETRANSMIT] = advise__loss,
	[CAUSE_SYN_RETRANSMIT] = advise__syn_retransmit,
	[CAUSE_PEER_APP] = advise__peer_app,
	[CAUSE_IDLE] = advise__unknown, /* never of a stall */
	[CAUSE_LOCK] = advise__lock,
	[CAUSE_IPC] = advise__ipc,
	[CAUSE_DISK] = advise__disk,
	[CAUSE_TIMER] = advise__timer,
	[CAUSE_URING] = advise__uring,
	[CAUSE_SELF] = advise__unknown, /* likewise */
};

void advice__give(struct verdict *verdict, const char *format, ...)
{
	va_list args;

	if (verdict->advice_count == VERDICT_ADVICE)
		return;
	va_start(args, format);
	verdict->advice[verdict->advice_count++] = xvasprintf(format, args);
	va_end(args);
}

char *advice__saving(const struct story *story)
{
	char each[TEXT_DURATION], all[TEXT_DURATION], count[TEXT_COUNT];

	text__duration(each, sizeof(each), story__held(story));
	text__duration(all, sizeof(all), story->tally->held_ns);
	if (story->tally->count == 1)
		return xasprintf("saves %s", each);
	return xasprintf("saves %s each time, %s over the %s times seen here", each, all,
			 text__count(count, sizeof(count), story->tally->count));
}

void advice__write(const struct story *story, struct verdict *verdict)
{
	advisers[story->tally->cause](story, verdict);
}
