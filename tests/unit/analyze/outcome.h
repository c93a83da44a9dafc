/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of the analysis: a trace's outcome, and a hold to vary in one fact. */
#ifndef NETSTALL_TESTS_OUTCOME_H
#define NETSTALL_TESTS_OUTCOME_H

#include "tests/unit/feed.h"
#include "user/analyze/cause.h"

/* The first stall of a trace, and the whole report. */
struct outcome {
	struct pipeline *pipeline;
	const struct report *report;
	const struct stall *stall; /* NULL: none */
};

static inline struct outcome analyze(struct feed feed)
{
	struct outcome outcome = {.pipeline = feed__pipeline(feed)};

	outcome.report = pipeline__finish(outcome.pipeline);
	outcome.stall = outcome.report->stall_count ? &outcome.report->stalls[0] : NULL;
	return outcome;
}

static inline void done(struct outcome *outcome)
{
	pipeline__free(outcome->pipeline);
}

/* ---- one hold, in lines that a test leaves out or changes ---- */

#define HEAD                                                                                        \
	"0 session threshold=10 arch=x86_64\n"                                                      \
	"0 process tgid=10 role=target comm=client\n"                                               \
	"0 process tgid=20 role=peer comm=srv\n"                                                    \
	"0 conn conn=1 tgid=10 role=target local=127.0.0.1:1 remote=127.0.0.1:2 fd=7 opener=self\n" \
	"0 conn conn=2 tgid=20 role=peer local=127.0.0.1:2 remote=127.0.0.1:1 fd=8 opener=peer\n"
#define PEER  "0 peer conn=1 peer=2\n"
#define FIRST "9.8 send conn=1 tgid=10 tid=10 bytes=40 write_seq=140 snd_nxt=140 snd_una=100\n"
#define SECOND                                                                                     \
	"10 send conn=1 tgid=10 tid=10 bytes=60 write_seq=200 snd_nxt=140 snd_una=100\n"           \
	"10 hold conn=1 tgid=10 tid=10 reason=nagle seq=140 end=200 unacked=40 mss=1000 "          \
	"min_rtt_us=50\n"
#define FIRE    "49.9 delack-fire conn=2 pending=3\n"
#define LEFT    "49.91 ack conn=2 seq=500 end=500 ack=140\n"
#define ARRIVED "49.95 rx conn=1 seq=500 end=500 ack=140 flags=0x10\n"
#define GONE                                                                                       \
	"50 tx conn=1 seq=140 end=200 ack=500\n"                                                   \
	"50 release conn=1 held=40 seq=140 end=200 reason=nagle\n"

#endif
