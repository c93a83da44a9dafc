// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/conns.h"
#include "user/analyze/ended.h"
#include "user/analyze/report_update.h"
#include "user/analyze/sites.h"
#include "user/analyze/stall.h"
#include "user/analyze/stalls.h"
#include "user/analyze/waits/acks.h"
#include "user/base/array.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"

/* All stalls of one cause. */
struct account {
	struct table *tallies; /* by connection */
	size_t conns;          /* ever */
	uint64_t total_ns;
	uint64_t max_ns;
	uint32_t count;
	uint64_t own;     /* stalls that are of a connection, and so of a request there; */
	uint64_t delayed; /* and others that stalls held up */
	uint64_t whole;
	uint64_t inferred;
};

/* A stall, as what joins it later has to know it. */
struct entry {
	uint32_t number;
	uint32_t request; /* the connection of its own request, 0: of none */
	uint32_t conn;    /* one of the kind that it is told of, 0: none so far */
	struct account *account;
};

#define ENTRIES 1024 /* the last ones */

struct ledger {
	const struct model *model;
	struct sites *sites;
	struct report report;
	struct account accounts[REPORT_CAUSES]; /* by cause, and behind them the pace */
	struct stalls *stalls;
	uint32_t numbers;
	struct entry entries[ENTRIES]; /* by number */
};

struct ledger *ledger__new(const struct model *model)
{
	struct ledger *ledger = xcalloc(1, sizeof(*ledger));

	ledger->model = model;
	ledger->sites = sites__new();
	for (size_t i = 0; i < REPORT_CAUSES; i++)
		ledger->accounts[i].tallies = table__new(TALLIES);
	ledger->stalls = stalls__new(&ledger->report);
	return ledger;
}

void ledger__free(struct ledger *ledger)
{
	struct report *report;

	if (!ledger)
		return;
	report = &ledger->report;
	for (size_t i = 0; i < REPORT_CAUSES; i++)
		table__free(ledger->accounts[i].tallies, free);
	stalls__free(ledger->stalls);
	report__free_entries(report);
	sites__free(ledger->sites);
	free(ledger);
}

struct report *ledger__report(struct ledger *ledger)
{
	return &ledger->report;
}

/* As of the last long one: of those before the model forgets which they were. */
static void learn_exchange(struct ledger *ledger, const struct ns_exchange *exchange)
{
	struct report_conn *conn = report__find_conn(&ledger->report, exchange->head.conn);

	if (conn && exchange->head.ts - exchange->begin_ts >= model__threshold(ledger->model))
		conn->acks = acks__of(ledger->model, exchange->head.conn);
}

void ledger__learn(struct ledger *ledger, const union record *record)
{
	report__update(&ledger->report, ledger->model, record);
	if (record->head.type == NS_SERVICE)
		conns__add_service(&ledger->report, &record->service);
	conns__keep_within(&ledger->report);
	ended__keep_within(&ledger->report);
	if (record->head.type == NS_CALL)
		sites__learn(ledger->sites, ledger->model, &record->call);
	if (record->head.type == NS_WAIT)
		sites__learn_wait(ledger->sites, &record->wait);
	if (record->head.type == NS_EXCHANGE)
		learn_exchange(ledger, &record->exchange);
}

/* ---- stalls ---- */

static bool is_served(const struct report *report, uint32_t number)
{
	const struct report_conn *conn = report__conn(report, number);

	return conn && request_role__of(&conn->id) == REQUEST_SERVED;
}

/* What a proxy is asked waits for what it asks: that counts once, as what the stall is told of. */
static struct entry entry_of(const struct report *report, const struct stall *stall)
{
	uint32_t request = stall__request(stall);
	uint32_t conn = stall->conn ? stall->conn : request;

	if (is_served(report, request) != is_served(report, conn))
		request = 0;
	return (struct entry){stall->number, request, conn, NULL};
}

static struct account *account_of(struct ledger *ledger, enum cause cause, bool is_pace)
{
	return &ledger->accounts[is_pace ? CAUSE_COUNT : cause];
}

/* A connection that comes back is not counted anew, as far as the report knows it. */
static bool is_new(struct ledger *ledger, const struct account *account, uint32_t number)
{
	struct report_conn *conn = report__find_conn(&ledger->report, number);
	uint64_t bit = 1ull << (account - ledger->accounts);
	bool known = !number || (conn && conn->stalled_by & bit);

	if (conn)
		conn->stalled_by |= bit;
	return !known;
}

static const struct tally *least(const struct account *account)
{
	const struct tally *tally, *least = NULL;
	size_t cursor = 0;

	while ((tally = table__next(account->tallies, &cursor))) {
		if (!least || tally->total_ns < least->total_ns ||
		    (tally->total_ns == least->total_ns && tally->conn < least->conn))
			least = tally;
	}
	return least;
}

static struct tally *tally_of(struct ledger *ledger, const struct stall *stall)
{
	return table__get(account_of(ledger, stall->cause, stall__is_pace(stall))->tallies,
			  stall->conn);
}

static struct tally *find_tally(struct ledger *ledger, struct account *account,
				const struct stall *stall)
{
	struct tally *tally = tally_of(ledger, stall);

	if (tally)
		return tally;
	account->conns += is_new(ledger, account, stall->conn);
	if (table__count(account->tallies) == TALLIES)
		free(table__take(account->tallies, least(account)->conn));
	tally = xcalloc(1, sizeof(*tally));
	table__put(account->tallies, stall->conn, tally);
	return tally;
}

static void count_stall(struct account *account, const struct stall *stall)
{
	uint64_t duration = stall->end_ts - stall->start_ts;

	account->count++;
	account->delayed += stall->delayed;
	account->total_ns += duration;
	account->whole += stall__is_whole(stall);
	account->inferred += stall->confidence == CONFIDENCE_INFERRED;
	if (duration > account->max_ns)
		account->max_ns = duration;
}

static void add_to_conn(struct ledger *ledger, uint32_t number, uint64_t ns)
{
	struct report_conn *conn = report__find_conn(&ledger->report, number);

	if (conn)
		conn->stalled_ns += ns;
}

static int most_first(const void *a, const void *b)
{
	const struct report_cause *x = a, *y = b;

	int by = compare_u64(y->covered_ns, x->covered_ns);

	by = by ? by : compare_u64(y->total_ns, x->total_ns);
	return by ? by : (int)x->cause - (int)y->cause;
}

/* 0: not more than the stalls, of which some are of no request that is known. */
static uint64_t requests_of(const struct account *account)
{
	uint64_t requests = account->own + account->delayed;

	return requests > account->count ? requests : 0;
}

/* Cheap: there are few causes. Percentiles wait for the end. */
static void list_causes(struct ledger *ledger)
{
	struct report *report = &ledger->report;

	report->cause_count = 0;
	for (size_t i = 0; i < REPORT_CAUSES; i++) {
		const struct account *account = &ledger->accounts[i];

		if (account->count)
			report->causes[report->cause_count++] = (struct report_cause){
				.cause = i < CAUSE_COUNT ? (enum cause)i : CAUSE_TIMER,
				.is_pace = i == CAUSE_COUNT,
				.count = account->count,
				.requests = requests_of(account),
				.total_ns = account->total_ns,
				.max_ns = account->max_ns};
	}
	sort_array(report->causes, report->cause_count, sizeof(report->causes[0]), most_first);
}

static bool keeps_steps(const struct ledger *ledger, const struct tally *tally)
{
	return tally->told < REPORT_WHOLE_STALLS && stalls__has_room_for_steps(ledger->stalls);
}

const struct stall *ledger__enter(struct ledger *ledger, const struct incident *incident,
				  const struct finding *finding)
{
	struct account *account =
		account_of(ledger, finding->stall.cause, stall__is_pace(&finding->stall));
	struct tally *tally = find_tally(ledger, account, &finding->stall);
	struct stall *stall = stalls__add(ledger->stalls);

	*stall = finding->stall;
	stall->number = ++ledger->numbers;
	ledger->entries[stall->number % ENTRIES] = entry_of(&ledger->report, stall);
	ledger->entries[stall->number % ENTRIES].account = account;
	account->own += ledger->entries[stall->number % ENTRIES].request != 0;
	sites__join(ledger->sites, ledger->model, stall);
	if (keeps_steps(ledger, tally)) {
		stall->step_count = steps__build(incident, finding, &stall->steps);
		ledger->report.step_count += stall->step_count;
		tally->told++;
	}
	count_stall(account, stall);
	report__count_at_mark(&ledger->report, stall->start_ts, 1, stall->end_ts - stall->start_ts);
	add_to_conn(ledger, stall->conn, stall->end_ts - stall->start_ts);
	tally__add(tally, stall);
	list_causes(ledger);
	return stall;
}

void ledger__extend(struct ledger *ledger, uint32_t number, const struct stall *more)
{
	struct stall *stall = stalls__find(ledger->stalls, number);
	uint64_t longer = more->end_ts - more->start_ts;
	struct account *account;
	struct tally *tally;

	if (!stall)
		return;
	account = account_of(ledger, stall->cause, stall__is_pace(stall));
	tally = tally_of(ledger, stall);
	for (size_t i = 0; i < more->slice_count; i++)
		stall__slice(stall, more->slices[i].cause, more->slices[i].ns);
	stall->end_ts += longer;
	stall__check(stall);
	account->total_ns += longer;
	report__count_at_mark(&ledger->report, stall->start_ts, 0, longer);
	if (stall->end_ts - stall->start_ts > account->max_ns)
		account->max_ns = stall->end_ts - stall->start_ts;
	add_to_conn(ledger, stall->conn, longer);
	stall_reader__add(&stall->reader, &more->reader);
	if (tally)
		tally__extend(tally, more);
	list_causes(ledger);
}

void ledger__join(struct ledger *ledger, uint32_t number, const struct stall_wait *wait)
{
	struct stall *stall = stalls__find(ledger->stalls, number);

	if (stall)
		stall__join(stall, wait);
}

void ledger__delay(struct ledger *ledger, uint32_t number, uint32_t conn)
{
	struct entry *entry = &ledger->entries[number % ENTRIES];
	struct account *account = entry->account;

	if (entry->number != number || entry->request == conn)
		return;
	if (!entry->conn)
		entry->conn = conn;
	if (is_served(&ledger->report, entry->conn) != is_served(&ledger->report, conn))
		return;
	account->delayed++;
	account->conns += is_new(ledger, entry->account, conn);
	list_causes(ledger);
}

/* ---- the end ---- */

/* Nearest rank: the value that so many hundredths do not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t count, unsigned hundredths)
{
	size_t rank = (count * hundredths + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

/* Stalls that were told before the call sites of their connection were known. */
static void join_sites(struct ledger *ledger)
{
	struct report *report = &ledger->report;

	for (size_t i = 0; i < REPORT_CAUSES; i++) {
		struct tally *tally;
		size_t cursor = 0;

		while ((tally = table__next(ledger->accounts[i].tallies, &cursor))) {
			sites__join(ledger->sites, ledger->model, &tally->example);
			tally->sites.busy_count = 0;
		}
	}
	for (size_t i = 0; i < report->stall_count; i++) {
		struct stall *stall = &report->stalls[i];
		struct tally *tally = tally_of(ledger, stall);
		bool is_counted = stall->sites.wait;
		struct call_sites sites;

		sites__join(ledger->sites, ledger->model, stall);
		if (!tally)
			continue;
		sites = stall->sites;
		sites.wait = is_counted ? NULL : sites.wait;
		tally__take_sites(tally, &sites);
		tally__take_looks(tally, stall);
	}
	/* What these did not have. */
	for (size_t i = 0; i < REPORT_CAUSES; i++) {
		struct tally *tally;
		size_t cursor = 0;

		while ((tally = table__next(ledger->accounts[i].tallies, &cursor))) {
			struct call_sites sites = tally->example.sites;

			sites.wait = tally->sites.wait ? NULL : sites.wait;
			tally__take_sites(tally, &sites);
		}
	}
}

/* A connection names both ends: what was seen on none, or of no stall as a whole, tells less. */
static uint64_t weight(const struct tally *tally)
{
	return tally->total_ns >> (!tally->conn + !tally->whole);
}

/* Of two connections of a cause; NULL: of none. */
static bool is_greater(const struct tally *tally, const struct tally *than)
{
	return !than || weight(tally) > weight(than) ||
	       (weight(tally) == weight(than) && tally->conn < than->conn);
}

/* The connection on which a cause took most. */
static struct tally *greatest(const struct account *account)
{
	struct tally *tally, *best = NULL;
	size_t cursor = 0;

	while ((tally = table__next(account->tallies, &cursor))) {
		if (is_greater(tally, best))
			best = tally;
	}
	return best;
}

static bool is_of_process(const struct report *report, const struct tally *tally, uint32_t pid)
{
	const struct report_conn *conn = report__conn(report, tally->conn);
	const struct report_conn *peer = report__peer(report, conn);

	return tally->example.pid == pid || (conn && conn->id.head.tgid == pid) ||
	       (peer && peer->id.head.tgid == pid);
}

const struct tally *ledger__of_process(const struct ledger *ledger, enum cause cause, uint32_t pid)
{
	const struct tally *tally, *best = NULL;
	size_t cursor = 0;

	while ((tally = table__next(ledger->accounts[cause].tallies, &cursor))) {
		if (is_of_process(&ledger->report, tally, pid) && is_greater(tally, best))
			best = tally;
	}
	return best;
}

#define ENDS       32 /* looked at */
#define LEAST_PART 10 /* less than such a part of the time is not listed */

static int longest_first(const void *a, const void *b)
{
	const struct cause_end *x = a, *y = b;
	int by = compare_u64(y->total_ns, x->total_ns);

	return by ? by : compare_u64(x->main->conn, y->main->conn);
}

/* That of the same endpoint, or a new one; NULL: there is no room. */
static struct cause_end *end_at(const struct report *report, enum cause cause,
				struct cause_end ends[ENDS], size_t *count, uint32_t conn)
{
	for (size_t i = 0; i < *count; i++) {
		if (report__have_same_end(report, cause, conn, ends[i].main->conn))
			return &ends[i];
	}
	return *count < ENDS ? &ends[(*count)++] : NULL;
}

static void find_ends(const struct report *report, const struct account *account,
		      struct report_cause *cause)
{
	struct cause_end ends[ENDS] = {0}, *at;
	const struct tally *tally;
	size_t cursor = 0, count = 0, kept = 0;

	while ((tally = table__next(account->tallies, &cursor))) {
		const struct report_conn *conn = report__conn(report, tally->conn);

		at = conn && conn->id.head.type
			     ? end_at(report, cause->cause, ends, &count, tally->conn)
			     : NULL;
		if (!at)
			continue;
		at->count += tally->count;
		at->total_ns += tally->total_ns;
		at->conns++;
		if (is_greater(tally, at->main))
			at->main = tally;
	}
	sort_array(ends, count, sizeof(*ends), longest_first);
	while (kept < count && kept < CAUSE_ENDS &&
	       LEAST_PART * ends[kept].total_ns >= cause->total_ns)
		kept++;
	if (kept < 2)
		return;
	memcpy(cause->ends, ends, kept * sizeof(*ends));
	cause->end_count = kept;
}

static void close_ends(const struct report *report, struct report_cause *cause)
{
	for (size_t i = 0; i < cause->end_count; i++) {
		struct cause_end *at = &cause->ends[i];
		size_t count;
		uint64_t *durations = stalls__durations(report, cause, at, &count);

		at->p50_ns = percentile(durations, count, 50);
		free(durations);
	}
}

/*
 * A reader that only computes has no wait to be known by. What it was off the CPU in all the time
 * watched is the most that it can have been in the holds.
 */
static void close_reader(const struct report *report, struct tally *tally)
{
	const struct report_conn *peer = report__peer(report, report__conn(report, tally->conn));
	const struct report_thread *only = NULL;
	uint64_t off_ns;

	if (tally->reader.seen || !cause__waits_for_reader(tally->cause) || !peer)
		return;
	for (size_t i = 0; i < report->thread_count; i++) {
		if (report->threads[i].pid != peer->id.head.tgid)
			continue;
		if (only)
			return;
		only = &report->threads[i];
	}
	off_ns = only ? only->blocked_ns + only->runqueue_ns : 0;
	if (!only || only->on_cpu_ns + off_ns < tally->total_ns || 2 * off_ns > tally->total_ns)
		return;
	tally->reader = (struct stall_reader){.seen = true,
					      .pid = only->pid,
					      .tid = only->tid,
					      .ran_ns = tally->total_ns - off_ns,
					      .away_ns = off_ns,
					      .away = CAUSE_UNKNOWN};
}

/* Of the programs at both ends of a connection: what has several. */
enum kinship {
	KIN_NONE,
	KIN_PROGRAM, /* processes of one name, as of a server that forks */
	KIN_PROCESS,
};

static enum kinship kinship_of(const struct report *report, uint32_t a, uint32_t b)
{
	const struct report_process *one = report__process(report, a);
	const struct report_process *other = report__process(report, b);

	if (a == b)
		return a ? KIN_PROCESS : KIN_NONE;
	return one && other && one->comm[0] && !strncmp(one->comm, other->comm, NS_COMM_LEN)
		       ? KIN_PROGRAM
		       : KIN_NONE;
}

static enum kinship kinship(const struct report *report, const struct tally *one,
			    const struct tally *other)
{
	const struct report_conn *a = report__conn(report, one->conn);
	const struct report_conn *b = report__conn(report, other->conn);
	const struct report_conn *a_peer = report__peer(report, a),
				 *b_peer = report__peer(report, b);
	enum kinship own, peers;

	if (!a_peer || !b_peer)
		return KIN_NONE;
	own = kinship_of(report, a->id.head.tgid, b->id.head.tgid);
	peers = kinship_of(report, a_peer->id.head.tgid, b_peer->id.head.tgid);
	return own < peers ? own : peers;
}

/*
 * Where each request has a connection of its own, one of them tells little of the others. Of
 * processes of one name it is the places, not whose time it was.
 */
static void join_others(const struct report *report, const struct account *account,
			const struct report_cause *cause, struct tally *main)
{
	const struct tally *tally;
	size_t cursor = 0;

	while ((tally = table__next(account->tallies, &cursor))) {
		enum kinship kin = tally == main ? KIN_NONE : kinship(report, main, tally);

		if (kin == KIN_NONE || report__cause_end(report, cause, tally->conn) !=
					       report__cause_end(report, cause, main->conn))
			continue;
		if (kin == KIN_PROCESS)
			tally__join(main, tally);
		tally__take_sites(main, &tally->sites);
	}
}

static void count_roles(const struct report *report, const struct account *account,
			struct report_cause *cause)
{
	const struct tally *tally;
	size_t cursor = 0;

	while ((tally = table__next(account->tallies, &cursor))) {
		if (tally->conn)
			*(is_served(report, tally->conn) ? &cause->served : &cause->made) +=
				tally->count;
	}
}

/* It is mostly what another process does than the one that it delays. */
static bool is_of_others(const struct tally *tally)
{
	const struct path_part *part = tally ? path__main(&tally->path, tally->cause) : NULL;

	return part && part->pid && part->pid != tally->example.pid;
}

static void close_cause(struct ledger *ledger, struct report_cause *cause)
{
	const struct report *report = &ledger->report;
	const struct account *account = account_of(ledger, cause->cause, cause->is_pace);
	uint64_t window = report->end_ts - report->start_ts;
	struct tally *main = greatest(account);
	size_t count;
	uint64_t *durations = stalls__durations(report, cause, NULL, &count);

	cause->p50_ns = percentile(durations, count, 50);
	cause->p99_ns = percentile(durations, count, 99);
	free(durations);
	cause->covered_ns = stalls__covered(report, cause, NULL, false);
	cause->in_requests_ns = stalls__covered(report, cause, NULL, true);
	cause->share = window ? (double)cause->covered_ns / (double)window : 0;
	cause->in_requests_share = window ? (double)cause->in_requests_ns / (double)window : 0;
	cause->whole = account->whole;
	cause->inferred = account->inferred;
	cause->conns = account->conns;
	count_roles(report, account, cause);
	if (cause__rank(cause->cause) == CAUSE_RANK_NETWORK || is_of_others(main))
		find_ends(report, account, cause);
	close_ends(report, cause);
	if (cause->end_count)
		main = table__get(account->tallies, cause->ends[0].main->conn);
	cause->main = main;
	if (!main)
		return;
	main->covered_ns = stalls__covered(report, cause, &main->conn, false);
	join_others(report, account, cause, main);
	close_reader(report, main);
	for (size_t i = 1; i < cause->end_count; i++)
		join_others(report, account, cause,
			    table__get(account->tallies, cause->ends[i].main->conn));
}

/* What came with the last exchanges says more of them. What acknowledges is no exchange. */
static void close_acks(struct ledger *ledger)
{
	struct report *report = &ledger->report;

	for (size_t i = 0; i < report->conn_count; i++) {
		struct report_conn *conn = &report->conns[i];
		struct report_conn *peer = report__find_conn(report, conn->peer);

		if (conn->acks.bytes)
			conn->acks = acks__of(ledger->model, conn->id.head.conn);
		if (!conn->acks.is_sure)
			continue;
		conn->totals.exchanges = 0;
		if (peer)
			peer->totals.exchanges = 0;
	}
}

void ledger__close(struct ledger *ledger)
{
	struct report *report = &ledger->report;

	close_acks(ledger);
	stalls__close(ledger->stalls);
	conns__close(report);
	list_causes(ledger);
	join_sites(ledger);
	for (size_t i = 0; i < report->cause_count; i++)
		close_cause(ledger, &report->causes[i]);
	sort_array(report->causes, report->cause_count, sizeof(report->causes[0]), most_first);
}
