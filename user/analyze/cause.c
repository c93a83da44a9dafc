// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/cause.h"

#include <string.h>

#include "bpf/event.h"
#include "user/base/text.h"

#define FACT(name) (1u << NS_FACT_##name)

/* Bytes that were written and not sent, whoever wrote them. */
#define HOLDS (FACT(SEND) | FACT(TRANSMIT) | FACT(SENDPAGE))

/* What a thread slept in, and who woke it. */
#define WAITS (FACT(SCHED) | FACT(NAMES) | FACT(EARLY_SLEEPS) | FACT(OPEN_WAITS))

#define LOSS_REMEDY                                                                                \
	"Look for loss on the path: ip -s link and nstat at both ends, full queues, a rate limit."

static const struct cause_info causes[CAUSE_COUNT] = {
#define CAUSE(name, string, explanation, ...) [CAUSE_##name] = {.id = (string), __VA_ARGS__},
#include "user/analyze/cause.def"
#undef CAUSE
};

static const struct {
	const char *name;
	const char *meaning; /* "it waited because ..." */
	enum cause_rank rank;
} groups[CAUSE_GROUPS] = {
	[CAUSE_GROUP_UNKNOWN] = {"unknown", "not enough was seen; the report says what",
				 CAUSE_RANK_UNEXPLAINED},
	[CAUSE_GROUP_WRITES] =
		{"your writes",
		 "TCP held small writes back until an acknowledgement or a timer, or "
		 "until the program let them go",
		 CAUSE_RANK_NETWORK},
	[CAUSE_GROUP_TCP] = {"TCP", "a window or a buffer was full, or TCP itself sent later",
			     CAUSE_RANK_NETWORK},
	[CAUSE_GROUP_LOSS] = {"loss", "segments were lost and sent again", CAUSE_RANK_NETWORK},
	[CAUSE_GROUP_PEER] =
		{"network and peer",
		 "the bytes were on their way, or the program at the other end took its time",
		 CAUSE_RANK_NETWORK},
	[CAUSE_GROUP_MACHINE] = {"this machine",
				 "it had no CPU or no memory, was stopped, or waited for another "
				 "thread or process, a disk or an io_uring operation",
				 CAUSE_RANK_MACHINE},
	[CAUSE_GROUP_PROGRAM] = {"the program",
				 "it had asked to sleep, its own time-out ran out, or it computed",
				 CAUSE_RANK_OWN_WISH},
};

const struct cause_info *cause__info(enum cause cause)
{
	return &causes[(unsigned)cause < CAUSE_COUNT ? cause : CAUSE_UNKNOWN];
}

enum cause cause__find(const char *id, size_t len)
{
	unsigned cause = 0;

	while (cause < CAUSE_COUNT &&
	       (strlen(causes[cause].id) != len || memcmp(causes[cause].id, id, len)))
		cause++;
	return (enum cause)cause;
}

const char *cause__nearest(const char *id)
{
	const char *ids[CAUSE_COUNT];
	size_t count = 0;

	for (enum cause cause = 0; cause < CAUSE_COUNT; cause++)
		if (!cause__info(cause)->never_of_stall)
			ids[count++] = cause__info(cause)->id;
	return text__nearest(id, ids, count);
}

enum cause_rank cause__rank(enum cause cause)
{
	return groups[cause__info(cause)->group].rank;
}

const char *cause_group__name(enum cause_group group)
{
	return groups[group].name;
}

const char *cause_group__meaning(enum cause_group group)
{
	return groups[group].meaning;
}

bool cause__is_of_tcp(enum cause cause)
{
	enum cause_group group = cause__info(cause)->group;

	return group == CAUSE_GROUP_WRITES || group == CAUSE_GROUP_TCP || group == CAUSE_GROUP_LOSS;
}

bool cause__waits_for_reader(enum cause cause)
{
	return cause == CAUSE_RWND || cause == CAUSE_ZERO_WINDOW || cause == CAUSE_SNDBUF;
}

enum cause cause__of_hold(uint32_t reason)
{
	static const enum cause by_reason[] = {
		[NS_HOLD_UNKNOWN] = CAUSE_UNKNOWN,   [NS_HOLD_NAGLE] = CAUSE_NAGLE,
		[NS_HOLD_CORK] = CAUSE_CORK,         [NS_HOLD_MSG_MORE] = CAUSE_CORK,
		[NS_HOLD_RWND] = CAUSE_RWND,         [NS_HOLD_ZERO_WINDOW] = CAUSE_ZERO_WINDOW,
		[NS_HOLD_CWND] = CAUSE_CWND,         [NS_HOLD_PACING] = CAUSE_PACING,
		[NS_HOLD_TSQ] = CAUSE_TSQ,           [NS_HOLD_TSO_DEFER] = CAUSE_TSO_DEFER,
		[NS_HOLD_AUTOCORK] = CAUSE_AUTOCORK, [NS_HOLD_SNDBUF] = CAUSE_SNDBUF,
	};

	return reason < sizeof(by_reason) / sizeof(by_reason[0]) ? by_reason[reason]
								 : CAUSE_UNKNOWN;
}

const char *confidence__name(enum confidence confidence)
{
	return confidence == CONFIDENCE_INFERRED ? "inferred" : "observed";
}
