// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/entries.h"
#include "user/analyze/sites.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"

/* All stalls of one cause. */
struct account {
	struct table *tallies; /* by connection */
	uint64_t *durations;
	size_t duration_count;
	size_t duration_size;
	uint64_t total_ns;
	uint64_t max_ns;
	uint32_t count;
	uint64_t whole;
	uint64_t inferred;
};

struct ledger {
	const struct model *model;
	struct sites *sites;
	struct report report;
	struct account accounts[CAUSE_COUNT];
	struct stall unkept; /* one beyond REPORT_STALLS, while it is told */
	size_t steps;
	uint32_t numbers;
};

struct ledger *ledger__new(const struct model *model)
{
	struct ledger *ledger = xcalloc(1, sizeof(*ledger));

	ledger->model = model;
	ledger->sites = sites__new();
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		ledger->accounts[i].tallies = table__new(TALLIES);
	/*
	 * All at once, because a stall that was told must stay where it is; pages that
	 * no stall touches cost nothing.
	 */
	ledger->report.stalls = xcalloc(REPORT_STALLS, sizeof(*ledger->report.stalls));
	return ledger;
}

static void free_verdict(struct verdict *verdict)
{
	free(verdict->title);
	free(verdict->text);
	free(verdict->evidence);
	for (size_t i = 0; i < verdict->advice_count; i++)
		free(verdict->advice[i]);
}

void ledger__free(struct ledger *ledger)
{
	struct report *report;

	if (!ledger)
		return;
	report = &ledger->report;
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		table__free(ledger->accounts[i].tallies, free);
		free(ledger->accounts[i].durations);
	}
	for (size_t i = 0; i < report->stall_count; i++)
		free(report->stalls[i].steps);
	free(report->stalls);
	entries__free(report);
	free_verdict(&report->verdict);
	sites__free(ledger->sites);
	free(ledger);
}

struct report *ledger__report(struct ledger *ledger)
{
	return &ledger->report;
}

void ledger__learn(struct ledger *ledger, const union record *record)
{
	entries__learn(&ledger->report, ledger->model, record);
	if (record->head.type == NS_CALL)
		sites__learn(ledger->sites, &record->call);
}

/* ---- stalls ---- */

static struct tally *find_tally(struct account *account, uint32_t conn)
{
	struct tally *tally = table__get(account->tallies, conn);

	if (tally)
		return tally;
	tally = xcalloc(1, sizeof(*tally));
	if (table__put(account->tallies, conn, tally))
		return tally;
	free(tally); /* the causes count it all the same */
	return NULL;
}

static void count_stall(struct account *account, const struct stall *stall)
{
	uint64_t duration = stall->end_ts - stall->start_ts;

	account->count++;
	account->total_ns += duration;
	account->whole += stall__is_whole(stall);
	account->inferred += stall->confidence == CONFIDENCE_INFERRED;
	if (duration > account->max_ns)
		account->max_ns = duration;
	if (account->duration_count == DURATIONS)
		return;
	if (account->duration_count == account->duration_size) {
		account->duration_size = account->duration_size ? 2 * account->duration_size : 64;
		account->durations = xreallocarray(account->durations, account->duration_size,
						   sizeof(*account->durations));
	}
	account->durations[account->duration_count++] = duration;
}

static int most_first(const void *a, const void *b)
{
	const struct report_cause *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return (int)x->cause - (int)y->cause;
}

/* Cheap: there are few causes. Percentiles wait for the end. */
static void list_causes(struct ledger *ledger)
{
	struct report *report = &ledger->report;

	report->cause_count = 0;
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		const struct account *account = &ledger->accounts[i];

		if (account->count)
			report->causes[report->cause_count++] =
				(struct report_cause){.cause = (enum cause)i,
						      .count = account->count,
						      .total_ns = account->total_ns,
						      .max_ns = account->max_ns};
	}
	qsort(report->causes, report->cause_count, sizeof(report->causes[0]), most_first);
}

static struct stall *place_for(struct ledger *ledger)
{
	struct report *report = &ledger->report;

	if (report->stall_count < REPORT_STALLS)
		return &report->stalls[report->stall_count++];
	report->stalls_not_kept++;
	return &ledger->unkept;
}

static bool keeps_steps(const struct ledger *ledger, const struct tally *tally,
			const struct stall *stall)
{
	return stall != &ledger->unkept && tally && tally->told < REPORT_WHOLE_STALLS &&
	       ledger->steps + STALL_STEPS <= REPORT_STEPS;
}

const struct stall *ledger__enter(struct ledger *ledger, const struct incident *incident,
				  const struct finding *finding)
{
	struct account *account = &ledger->accounts[finding->stall.cause];
	struct tally *tally = find_tally(account, finding->stall.conn);
	struct stall *stall = place_for(ledger);

	*stall = finding->stall;
	stall->number = ++ledger->numbers;
	sites__join(ledger->sites, ledger->model, stall);
	if (keeps_steps(ledger, tally, stall)) {
		stall->step_count = steps__build(incident, finding, &stall->steps);
		ledger->steps += stall->step_count;
		tally->told++;
	}
	count_stall(account, stall);
	if (tally)
		tally__add(tally, stall);
	list_causes(ledger);
	return stall;
}

/* A duration that was counted becomes a longer one. */
static void recount(struct account *account, uint64_t before, uint64_t after)
{
	account->total_ns += after - before;
	if (after > account->max_ns)
		account->max_ns = after;
	for (size_t i = account->duration_count; i-- > 0;) {
		if (account->durations[i] == before) {
			account->durations[i] = after;
			return;
		}
	}
}

void ledger__extend(struct ledger *ledger, uint32_t number, const struct stall *more)
{
	struct account *account;
	struct tally *tally;
	struct stall *stall;
	uint64_t before;

	if (!number || number > ledger->report.stall_count)
		return;
	stall = &ledger->report.stalls[number - 1];
	account = &ledger->accounts[stall->cause];
	tally = find_tally(account, stall->conn);
	before = stall->end_ts - stall->start_ts;
	for (size_t i = 0; i < more->slice_count; i++)
		stall__slice(stall, more->slices[i].cause, more->slices[i].ns);
	stall->end_ts += more->end_ts - more->start_ts;
	stall__check(stall);
	recount(account, before, stall->end_ts - stall->start_ts);
	if (tally)
		tally->total_ns += more->end_ts - more->start_ts;
	list_causes(ledger);
}

void ledger__join(struct ledger *ledger, uint32_t number, const struct stall_wait *wait)
{
	struct stall *stall;

	/* They are kept in the order of their numbers, from 1. */
	if (!number || number > ledger->report.stall_count)
		return;
	stall = &ledger->report.stalls[number - 1];
	for (size_t i = 0; i < stall->wait_count && i < STALL_WAITS; i++) {
		if (stall->waits[i].tid == wait->tid && stall->waits[i].off_ts == wait->off_ts)
			return;
	}
	if (stall->wait_count < STALL_WAITS)
		stall->waits[stall->wait_count] = *wait;
	stall->wait_count++;
}

/* ---- the end ---- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Nearest rank: the value that so many hundredths do not exceed. */
static uint64_t percentile(const struct account *account, unsigned hundredths)
{
	size_t rank = (account->duration_count * hundredths + 99) / 100;

	return account->durations[rank ? rank - 1 : 0];
}

/* Stalls that were told before the call sites of their connection were known. */
static void join_sites(struct ledger *ledger)
{
	struct report *report = &ledger->report;

	for (size_t i = 0; i < report->stall_count; i++)
		sites__join(ledger->sites, ledger->model, &report->stalls[i]);
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		struct tally *tally;
		size_t cursor = 0;

		while ((tally = table__next(ledger->accounts[i].tallies, &cursor))) {
			sites__join(ledger->sites, ledger->model, &tally->example);
			tally__take_sites(tally, &tally->example);
		}
	}
}

void ledger__close(struct ledger *ledger)
{
	struct report *report = &ledger->report;
	uint64_t window = report->end_ts - report->start_ts;

	list_causes(ledger);
	join_sites(ledger);
	for (size_t i = 0; i < report->cause_count; i++) {
		struct report_cause *cause = &report->causes[i];
		struct account *account = &ledger->accounts[cause->cause];

		qsort(account->durations, account->duration_count, sizeof(*account->durations),
		      by_value);
		cause->p50_ns = percentile(account, 50);
		cause->p99_ns = percentile(account, 99);
		cause->share = window ? (double)cause->total_ns / (double)window : 0;
	}
}

const struct tally *ledger__main(const struct ledger *ledger, enum cause cause)
{
	const struct account *account = &ledger->accounts[cause];
	const struct tally *tally, *best = NULL;
	size_t cursor = 0;

	while ((tally = table__next(account->tallies, &cursor))) {
		if (!best || tally->total_ns > best->total_ns ||
		    (tally->total_ns == best->total_ns && tally->conn < best->conn))
			best = tally;
	}
	return best;
}

size_t ledger__conns(const struct ledger *ledger, enum cause cause)
{
	return table__count(ledger->accounts[cause].tallies);
}

void ledger__chains(const struct ledger *ledger, enum cause cause, uint64_t *whole,
		    uint64_t *inferred)
{
	*whole = ledger->accounts[cause].whole;
	*inferred = ledger->accounts[cause].inferred;
}
