// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/check/judge/beyond.h"
#include "user/check/reports/kept.h"
#include "user/process/writer.h"

/* Records come out of the pipeline's order so much later, and then some. */
#define LATE_NS 200000000ull

/* A stall that waits for the second behind it. The report may not list it until then. */
struct waiting {
	struct stall stall; /* as it was reported, with steps of its own */
	const struct budget *budget;
};

struct recorder {
	struct writer *writer;
	struct around *around;
	struct beyond beyond;
	unsigned most;
	unsigned taken; /* waiting, or handed over */
	size_t further; /* beyond most */
	size_t begun;   /* of waiting: these are handed over */
	struct waiting *waiting;
};

/* "001-nagle-delack.json" */
static bool is_ours(const char *name)
{
	const char *end = strrchr(name, '.');
	size_t digits = strspn(name, "0123456789");

	return digits >= 3 && name[digits] == '-' && end &&
	       (!strcmp(end, ".txt") || !strcmp(end, ".json"));
}

int recorder__open(const char *dir, unsigned most, const struct budgets *budgets,
		   struct recorder **out)
{
	struct recorder *recorder;
	struct writer *writer;
	int err;

	*out = NULL;
	err = writer__open(dir, is_ours, &writer);
	if (err)
		return err;
	recorder = xcalloc(1, sizeof(*recorder));
	recorder->writer = writer;
	recorder->around = around__new();
	recorder->most = most;
	recorder->waiting = xcalloc(most, sizeof(*recorder->waiting));
	beyond__init(&recorder->beyond, budgets);
	*out = recorder;
	return 0;
}

void recorder__record(struct recorder *recorder, const struct report *so_far,
		      const union record *record)
{
	(void)so_far;
	if (recorder)
		around__add(recorder->around, record);
}

void recorder__stall(struct recorder *recorder, const struct report *so_far,
		     const struct stall *stall)
{
	const struct budget *budget;
	struct waiting *waiting;

	if (!recorder)
		return;
	budget = beyond__stall(&recorder->beyond, so_far, stall);
	if (!budget)
		return;
	if (recorder->taken == recorder->most) {
		recorder->further++;
		return;
	}
	waiting = &recorder->waiting[recorder->taken++];
	*waiting = (struct waiting){*stall, budget};
	if (stall->step_count)
		waiting->stall.steps =
			xmemdup(stall->steps, stall->step_count * sizeof(*stall->steps));
}

/* More may have come to be known of it. */
static const struct stall *stall_of(const struct report *report, const struct waiting *waiting)
{
	const struct stall *listed = report__stall(report, waiting->stall.number);

	return listed ? listed : &waiting->stall;
}

static void drop(struct waiting *waiting)
{
	free(waiting->stall.steps);
	waiting->stall.steps = NULL;
}

static void put_file(struct recorder *recorder, const struct report *report,
		     const struct waiting *waiting, const struct seconds *seconds,
		     const char *ending,
		     void (*write)(FILE *, const struct report *, const struct stall *,
				   const struct budget *, const struct seconds *))
{
	char name[WRITER_NAME], *text;
	size_t size;
	const struct stall *stall = stall_of(report, waiting);
	FILE *out = xmemstream(&text, &size);

	write(out, report, stall, waiting->budget, seconds);
	fclose(out);
	snprintf(name, sizeof(name), "%03zu-%s.%s", recorder->begun + 1,
		 cause__info(stall->cause)->id, ending);
	writer__put(recorder->writer, name, text, size);
	free(text);
}

static void hand_over(struct recorder *recorder, const struct report *report, uint64_t now_ns)
{
	for (; recorder->begun < recorder->taken; recorder->begun++) {
		struct waiting *waiting = &recorder->waiting[recorder->begun];
		struct seconds seconds;

		if (now_ns < waiting->stall.end_ts + AROUND_AFTER_NS + LATE_NS)
			return;
		around__find(recorder->around, &waiting->stall, &seconds);
		put_file(recorder, report, waiting, &seconds, "txt", kept__text);
		put_file(recorder, report, waiting, &seconds, "json", kept__json);
		seconds__clear(&seconds);
		drop(waiting);
	}
}

void recorder__poll(struct recorder *recorder, const struct report *so_far, uint64_t now_ns)
{
	if (!recorder)
		return;
	hand_over(recorder, so_far, now_ns);
	writer__push(recorder->writer);
}

int recorder__finish(struct recorder *recorder, const struct report *report)
{
	if (!recorder)
		return 0;
	hand_over(recorder, report, UINT64_MAX);
	if (recorder->further)
		log__note(
			"%zu more stalls were beyond their budgets and are not kept: the first "
			"%u are (--keep-max)",
			recorder->further, recorder->taken);
	return writer__finish(recorder->writer);
}

size_t recorder__kept(const struct recorder *recorder)
{
	return recorder ? writer__count(recorder->writer) / 2 : 0;
}

void recorder__free(struct recorder *recorder)
{
	if (!recorder)
		return;
	writer__free(recorder->writer);
	around__free(recorder->around);
	for (size_t i = recorder->begun; i < recorder->taken; i++)
		drop(&recorder->waiting[i]);
	free(recorder->waiting);
	free(recorder);
}
