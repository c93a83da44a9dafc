// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>

#include "user/base/text.h"
#include "user/explain/call_site.h"
#include "user/render/terminal/timeline.h"
#include "user/render/words/names.h"

#define STACK_FRAMES 8

char *timeline__length(const struct stall *stall, char *dst, size_t size)
{
	char ns[TEXT_DURATION];

	text__duration(ns, sizeof(ns), stall->end_ts - stall->start_ts);
	if (stall->open)
		snprintf(dst, size, "%s so far", ns);
	else
		snprintf(dst, size, "%s%s", stall->exact ? "" : "at most ", ns);
	return dst;
}

/* The slices by cause, in the order of their first ones. */
static size_t sum_up(const struct stall *stall, struct slice *parts)
{
	size_t count = 0;

	for (size_t i = 0; i < stall->slice_count; i++) {
		const struct slice *slice = &stall->slices[i];
		size_t at = count;

		for (size_t j = 0; j < count; j++)
			at = parts[j].cause == slice->cause ? j : at;
		if (at == count)
			parts[count++] = (struct slice){.cause = slice->cause};
		parts[at].ns += slice->ns;
	}
	return count;
}

/* "40.5 ms nagle-delack + 0.10 ms network + 31 us runqueue" */
static void describe_sum(const struct stall *stall, char *dst, size_t size)
{
	struct slice parts[STALL_SLICES];
	size_t count = sum_up(stall, parts), used = 0;

	dst[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		char ns[TEXT_DURATION];

		used += (size_t)snprintf(dst + used, size - used, "%s%s %s", i > 0 ? " + " : "",
					 text__duration(ns, sizeof(ns), parts[i].ns),
					 cause__info(parts[i].cause)->id);
	}
	if (count < stall->slice_count && used < size)
		snprintf(dst + used, size - used, ", in %zu parts", stall->slice_count);
}

/* "server/4243 lost 40.6 ms = 40.5 ms nagle-delack + 0.1 ms network" */
static void add_sum(struct grid *grid, const struct report *report, const struct stall *stall)
{
	char line[768], sum[512], name[NAME_SIZE], whole[40];

	describe_sum(stall, sum, sizeof(sum));
	name__thread(name, sizeof(name), report, stall->pid, stall->tid);
	snprintf(line, sizeof(line), "%s%s%s = %s", stall->tid ? name : "",
		 stall->tid ? " lost " : "", timeline__length(stall, whole, sizeof(whole)), sum);
	grid__note(grid, COLOUR_STRONG, 1, line);
}

/* "client/4242 in read fd 7, 40.6 ms" */
static void describe_link(const struct report *report, const struct stall_link *link, char *dst,
			  size_t size)
{
	char name[NAME_SIZE], call[64] = "", took[TEXT_DURATION];

	text__duration(took, sizeof(took), link->end_ts - link->start_ts);
	if (!link->tid) {
		snprintf(dst, size, "%s, %s", cause__info(link->cause)->id, took);
		return;
	}
	name__thread(name, sizeof(name), report, link->pid, link->tid);
	if (link->wait.head.type && link->wait.state == 0)
		snprintf(call, sizeof(call), " without a CPU");
	else if (link->wait.head.type && link->wait.syscall != NS_SYSCALL_NONE) {
		char syscall[56];

		snprintf(call, sizeof(call), " in %s",
			 name__syscall(syscall, sizeof(syscall), report, &link->wait));
	}
	snprintf(dst, size, "%s%s, %s", name, call, took);
}

/* "chain: client/4242 in read fd 7, 40.6 ms <- srv/4243 in nanosleep, 40.1 ms" */
static void add_chain(struct grid *grid, const struct report *report, const struct stall *stall)
{
	char line[1024] = "chain: ", piece[256];
	size_t used = 7;

	if (stall->link_count < 2)
		return;
	for (size_t i = 0; i < stall->link_count && used < sizeof(line); i++) {
		describe_link(report, &stall->links[i], piece, sizeof(piece));
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s",
					 i > 0 ? " <- " : "", piece);
	}
	grid__note(grid, COLOUR_PLAIN, 1, line);
}

/* Other threads that the same incident held up. */
static void add_waits(struct grid *grid, const struct report *report, const struct stall *stall)
{
	uint32_t kept = stall->wait_count < STALL_WAITS ? stall->wait_count : STALL_WAITS;
	char line[256], name[NAME_SIZE], took[TEXT_DURATION];

	for (uint32_t i = 0; i < kept; i++) {
		const struct stall_wait *wait = &stall->waits[i];

		if (wait->tid == stall->tid && wait->off_ts == stall->wait.off_ts)
			continue; /* the wait that the stall is told by */
		snprintf(line, sizeof(line), "also seen as a wait of %s of %s",
			 text__duration(took, sizeof(took), wait->end_ts - wait->off_ts),
			 name__thread(name, sizeof(name), report, wait->pid, wait->tid));
		grid__note(grid, COLOUR_PLAIN, 1, line);
	}
	if (stall->wait_count > kept) {
		snprintf(line, sizeof(line), "and of %u more", stall->wait_count - kept);
		grid__note(grid, COLOUR_PLAIN, 1, line);
	}
}

static void add_stack(struct grid *grid, const char *lead, const char *stack)
{
	char frames[512], line[600];

	if (!stack || !stack[0])
		return;
	snprintf(line, sizeof(line), "%s %s", lead,
		 name__stack(frames, sizeof(frames), stack, STACK_FRAMES));
	grid__note(grid, COLOUR_DIM, 1, line);
}

/* Where in its program each of the two writes was called. */
static void add_sites(struct grid *grid, const struct stall *stall)
{
	char line[SITE_TEXT + 32];

	for (unsigned i = 0; i < SITE_LINES; i++)
		if (site__line(line, sizeof(line), stall, i))
			grid__note(grid, COLOUR_DIM, 1, line);
}

static void add_stacks(struct grid *grid, const struct report *report, const struct stall *stall)
{
	char lead[NAME_SIZE + 16], name[NAME_SIZE];

	if (cause__info(stall->cause)->shows_stacks) {
		add_stack(grid, "it slept in", stall->wait_stack);
		add_stack(grid, "woken from", stall->waker_stack);
	}
	for (size_t i = 1; i < stall->link_count; i++) {
		const struct stall_link *link = &stall->links[i];

		if (!cause__info(link->cause)->shows_stacks)
			continue;
		snprintf(lead, sizeof(lead), "%s slept in",
			 name__thread(name, sizeof(name), report, link->pid, link->tid));
		add_stack(grid, lead, link->wait_stack);
	}
}

void timeline__add_notes(struct grid *grid, const struct report *report, const struct stall *stall)
{
	add_sum(grid, report, stall);
	add_chain(grid, report, stall);
	add_waits(grid, report, stall);
	add_sites(grid, stall);
	add_stacks(grid, report, stall);
}
