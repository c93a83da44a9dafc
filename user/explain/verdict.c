// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/advice.h"
#include "user/explain/sight.h"
#include "user/explain/tale.h"

/* "Evidence complete: 122 of 122 chains seen whole, 0 events lost." */
static char *evidence(const struct report *report, const struct report_cause *cause)
{
	uint64_t count = cause->count, whole = cause->whole, inferred = cause->inferred;
	char seen[TEXT_COUNT], all[TEXT_COUNT], deduced[TEXT_COUNT];
	const char *word = "incomplete";
	char *text = NULL;

	if (whole == count && report->complete)
		word = "complete";
	else if (inferred && whole + inferred == count && report->complete)
		word = "inferred";
	prose__add(&text, "Evidence %s: %s of %s chains seen whole", word,
		   text__count(seen, sizeof(seen), whole), text__count(all, sizeof(all), count));
	if (inferred)
		prose__add(&text, ", %s deduced", text__count(deduced, sizeof(deduced), inferred));
	sight__add_lost(&text, report);
	prose__add(&text, ".");
	return text;
}

/* " The same happened on two more connections, 5 times, 203 ms in all." */
static void add_elsewhere(const struct story *story, char **text)
{
	const struct report_cause *cause = report__cause(story->report, story->tally->cause);
	uint32_t more = cause->count - story->tally->count;
	char count[TEXT_COUNT], where[TEXT_COUNT], total[TEXT_DURATION];

	if (cause->conns < 2)
		return;
	prose__add(text, " The same happened on %s more connection%s, %s time%s, %s in all.",
		   prose__number(where, sizeof(where), cause->conns - 1),
		   cause->conns == 2 ? "" : "s", text__count(count, sizeof(count), more),
		   more == 1 ? "" : "s",
		   text__duration(total, sizeof(total), cause->total_ns - story->tally->total_ns));
}

/* " Besides: 1 cork stall (30.0 ms), 12 lock stalls (480 ms)." */
static void add_others(const struct story *story, char **text)
{
	const struct report *report = story->report;
	char count[TEXT_COUNT], total[TEXT_DURATION];
	bool begun = false;

	for (size_t i = 0; i < report->cause_count; i++) {
		const struct report_cause *cause = &report->causes[i];

		if (cause->cause == story->tally->cause)
			continue;
		prose__add(text, "%s %s %s stall%s (%s)", begun ? "," : " Besides:",
			   text__count(count, sizeof(count), cause->count),
			   cause__info(cause->cause)->id, cause->count == 1 ? "" : "s",
			   text__duration(total, sizeof(total), cause->total_ns));
		begun = true;
	}
	if (begun)
		prose__add(text, ".");
}

/* What was asked first, when all that was found is the machine's or the program's own doing. */
static void add_network(const struct report *report, enum cause leading, char **text)
{
	char threshold[TEXT_DURATION];

	if (!report->complete || cause__rank(leading) == CAUSE_RANK_NETWORK ||
	    report__cause(report, CAUSE_UNKNOWN))
		return;
	prose__add(text, " On the network nothing held it back for %s or longer.",
		   text__nominal(threshold, sizeof(threshold), report__threshold(report)));
}

void verdict__write(struct verdict *verdict, const struct report *report)
{
	const struct report_cause *leading = report__leading(report);
	const struct tally *tally;
	struct story story;

	*verdict = (struct verdict){0};
	if (!leading) {
		verdict__write_silence(verdict, report);
		return;
	}
	tally = leading->main;
	verdict->found = true;
	verdict->cause = leading->cause;
	verdict->title = xasprintf("%s.", cause__info(leading->cause)->title);
	verdict->evidence = evidence(report, leading);
	if (!tally || !story__make(&story, report, tally)) {
		verdict->text =
			xstrdup("It was seen on a connection of which nothing else is "
				"known: its description was lost.");
		return;
	}
	verdict->first_site = tally->first_site;
	verdict->second_site = tally->second_site;
	tale__write(&story, &verdict->text);
	add_elsewhere(&story, &verdict->text);
	add_others(&story, &verdict->text);
	add_network(report, leading->cause, &verdict->text);
	advice__write(&story, verdict);
}

void verdict__clear(struct verdict *verdict)
{
	free(verdict->title);
	free(verdict->text);
	free(verdict->evidence);
	for (size_t i = 0; i < verdict->advice_count; i++)
		free(verdict->advice[i]);
	*verdict = (struct verdict){0};
}
