// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Keeps the sample of exchanges (bpf/thread/exchange.bpf.h) within its budget, from what the kernel
 * counted since the last look; and the waits that are told (bpf/thread/spent.bpf.h).
 */
#include "user/source/session_parts.h"

/* Chosen requests, and slow answers: so many records of each a second. */
#define SAMPLES_PER_S 200
#define SLOW_PER_S    100
#define LOOK_EVERY_NS 50000000ull
/* In which each wait is told until there are too many. */
#define WAITS_EVERY_NS 500000000ull
/* Below this an exchange is nothing that a person looks for, however rare it is. */
#define SLOW_LEAST_NS 100000ull

static uint64_t turns_begun(const struct session *session)
{
	uint64_t begun = 0;
	uint32_t cpus = session->skel->rodata->settings.cpus;

	for (uint32_t cpu = 0; cpu < cpus && cpu < NS_CPUS; cpu++)
		begun += session->skel->bss->turns[cpu].begun;
	return begun;
}

/*
 * The limit that makes an exchange slow: doubled at once when there are too many, lowered
 * bit by bit while there is none. The threshold is the most, so that what takes as long as
 * a stall is never left to chance.
 */
static uint64_t next_limit(uint64_t limit, uint64_t most, uint64_t noted, uint64_t allowed)
{
	if (noted > allowed)
		limit *= 2;
	else if (!noted)
		limit -= limit / 8;
	if (limit < SLOW_LEAST_NS)
		limit = SLOW_LEAST_NS;
	return limit < most ? limit : most;
}

/* What is long is told each time: if there are too many of these too, longer ones alone. */
static void pace_waits(struct session *session, uint64_t now)
{
	struct netstall_bpf__bss *shared = session->skel->bss;
	uint64_t least = NS_LONG_TIMES * session->options.threshold_ns;

	if (now - session->waits_paced_ns < WAITS_EVERY_NS)
		return;
	if (shared->stalls_told > 2 * NS_STALLS_TOLD)
		shared->long_wait_ns *= 2;
	else if (shared->long_wait_ns > least)
		shared->long_wait_ns /= 2;
	shared->waits_told = 0;
	shared->stalls_told = 0;
	session->waits_paced_ns = now;
}

void session__pace_samples(struct session *session, uint64_t now)
{
	uint64_t passed = now - session->sampled_ns, begun, noted, every;

	pace_waits(session, now);
	session__pace_clocks(session, now);
	if (passed < LOOK_EVERY_NS)
		return;
	begun = turns_begun(session);
	noted = session->skel->bss->slow_noted;
	every = (begun - session->turns_seen) * 1000000000ull / passed / SAMPLES_PER_S;
	session->skel->data->sample_every = every ? every : 1;
	session->skel->bss->slow_exchange_ns =
		next_limit(session->skel->bss->slow_exchange_ns, session->options.threshold_ns,
			   noted - session->slow_seen, SLOW_PER_S * passed / 1000000000ull);
	session->skel->bss->exchanges_told = 0;
	session->skel->bss->uring_told = 0;
	session->turns_seen = begun;
	session->slow_seen = noted;
	session->sampled_ns = now;
}
