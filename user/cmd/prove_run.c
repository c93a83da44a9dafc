// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/prove_run.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <syslog.h>
#include <time.h>

#include "user/base/array.h"
#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/cmd/live.h"
#include "user/explain/verdict.h"

#define CONNS_MOST   256 /* that stalled, and of which some are chosen */
#define WINDOW_LEAST 0.4 /* seconds */
#define WINDOW_MOST  5.0
#define WINDOW_HAS   10    /* requests, where they come that fast */
#define SETTLE_LEAST 0.1   /* seconds behind a switch that do not count: what was held is sent */
#define SETTLE_WAITS 2     /* mean requests, likewise */
#define WINDOWS      4     /* of a block */
#define TIMES_MOST   65536 /* of each side; then every second one goes */

enum phase { PHASE_LOOK, PHASE_SETTLE, PHASE_WINDOW, PHASE_OVER };

/* Of an end that held bytes: what that cost. */
struct held {
	uint32_t conn;
	uint64_t ns;
};

struct counts {
	double exchanges, segments, cpu_ns;
	uint64_t ns; /* when */
};

/* What was seen in one: counts of the kernel's, and requests that were told, by their weights. */
struct window {
	uint64_t begin_ns, end_ns; /* end 0: it goes on */
	bool is_control, with;
	bool changed;
	double requests, segments, cpu_ns;
	/* As the end that asks saw them; of one that nobody watches, the end that answers. */
	double asked, asked_ns;
	double served, served_ns;
	double held_ns;           /* in which the end that asks held bytes back: not in served_ns */
	double others, others_ns; /* on connections that are not changed */
};

/* A request's time, and how many it stands for. */
struct timed {
	uint64_t ns;
	double weight;
};

struct times {
	struct timed *list;
	size_t count, size;
};

struct prove {
	const struct prove_plan *plan;
	struct prove_result *out;
	struct socket_option *option;
	struct prove_prediction *judged; /* shared with the process that judges */
	enum phase phase;
	uint64_t until_ns; /* of the phase */
	struct held held[CONNS_MOST];
	size_t held_count;
	struct ns_conn service;     /* one of its connections; type 0: it is not chosen yet */
	uint32_t conns[CONNS_MOST]; /* that are changed; out->with_later: all of the service */
	size_t conn_count;
	pid_t owners[2]; /* of both ends; 0: not on this host, or not seen */
	double window_s, settle_s;
	struct counts begin;
	struct window *windows; /* all; the last one goes on */
	size_t window;          /* at which it is */
	bool begins_with;       /* its block */
	uint64_t set_ns;        /* since when it is set; 0: it is not */
	struct times times[2];  /* [changed] */
};

/* ---- which connections ---- */

static bool is_removed(enum cause cause)
{
	return cause == CAUSE_NAGLE_DELACK || cause == CAUSE_NAGLE;
}

/* The one that this time is in, which may be over by now; NULL: none. */
static struct window *window_at(struct prove *prove, uint64_t ts)
{
	for (size_t i = prove->window + 1; i-- > 0;) {
		struct window *window = &prove->windows[i];

		if (window->begin_ns && ts >= window->begin_ns)
			return !window->end_ns || ts < window->end_ns ? window : NULL;
	}
	return NULL;
}

static bool serves(const struct ns_conn *id)
{
	return request_role__of(id) == REQUEST_SERVED;
}

/* An answer that is held is in the time of the request that was served. */
static void note_held(struct prove *prove, const struct report *report, const struct stall *stall)
{
	const struct report_conn *conn = report__conn(report, stall->conn);
	struct window *window = window_at(prove, stall->end_ts);

	for (size_t i = 0; window && conn && !serves(&conn->id) && i < prove->conn_count; i++)
		if (prove->conns[i] == stall->conn)
			window->held_ns += (double)(stall->end_ts - stall->start_ts);
}

static void on_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	struct prove *prove = context;
	size_t i = 0;

	if (!is_removed(stall->cause) || !stall->conn)
		return;
	if (prove->phase != PHASE_LOOK) {
		note_held(prove, so_far, stall);
		return;
	}
	while (i < prove->held_count && prove->held[i].conn != stall->conn)
		i++;
	if (i == CONNS_MOST)
		return;
	if (i == prove->held_count)
		prove->held[prove->held_count++] = (struct held){.conn = stall->conn};
	prove->held[i].ns += stall->end_ts - stall->start_ts;
}

static bool is_same_service(const struct ns_conn *a, const struct ns_conn *b)
{
	return serves(a) == serves(b) && service__port(a) == service__port(b) &&
	       a->head.tgid == b->head.tgid;
}

/* It was there before the look, and still is. */
static bool stays(const struct report_conn *conn)
{
	return !conn->closed && conn->id.origin == NS_ORIGIN_EXISTED;
}

/* What all ends of its service cost, or those that stay. */
static uint64_t cost_of(const struct prove *prove, const struct report *report,
			const struct ns_conn *id, bool that_stay)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < prove->held_count; i++) {
		const struct report_conn *conn = report__conn(report, prove->held[i].conn);

		if (conn && is_same_service(&conn->id, id) && (!that_stay || stays(conn)))
			ns += prove->held[i].ns;
	}
	return ns;
}

static const struct ns_conn *choose_service(const struct prove *prove, const struct report *report)
{
	const struct ns_conn *chosen = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < prove->held_count; i++) {
		const struct report_conn *conn = report__conn(report, prove->held[i].conn);
		uint64_t ns = conn ? cost_of(prove, report, &conn->id, false) : 0;

		if (ns > most &&
		    (!prove->plan->port || service__port(&conn->id) == prove->plan->port)) {
			most = ns;
			chosen = &conn->id;
		}
	}
	return chosen;
}

static void name_service(struct prove *prove)
{
	const struct ns_conn *id = &prove->service;
	char port[12];

	print_to(port, "%u", id->lport);
	print_to(prove->out->service, "%s of %s/%u %s %s",
		 prove->out->with_later ? "the connections"
					: counted_text(prove->conn_count, "connection"),
		 safe_text(id->comm, sizeof(id->comm)), id->head.tgid,
		 serves(id) ? "at port" : "to",
		 serves(id) ? port : address_text(id->family, id->raddr, id->rport));
}

/* ---- windows ---- */

/* They may be counted at the end that asks alone. */
static uint64_t exchanges_of(const struct report *report, const struct report_conn *conn)
{
	const struct report_conn *peer = report__peer(report, conn);

	return conn->totals.exchanges ? conn->totals.exchanges : peer ? peer->totals.exchanges : 0;
}

/* By the kernel's own account of it; 0: there is no such process here. */
static double cpu_ns_of(pid_t pid)
{
	clockid_t clock;

	return pid && !clock_getcpuclockid(pid, &clock) ? (double)clock__ns(clock) : 0;
}

static struct counts counts_of(const struct prove *prove, const struct report *report, uint64_t now)
{
	struct counts counts = {.ns = now};

	for (size_t i = 0; i < prove->conn_count; i++) {
		const struct report_conn *conn = report__conn(report, prove->conns[i]);

		if (!conn)
			continue;
		counts.exchanges += (double)exchanges_of(report, conn);
		counts.segments += conn->totals.data_segs_out;
	}
	for (size_t i = 0; i < COUNT_OF(prove->owners); i++)
		counts.cpu_ns += cpu_ns_of(prove->owners[i]);
	return counts;
}

static bool are_closed(const struct prove *prove, const struct report *report)
{
	if (prove->out->with_later)
		return false;
	for (size_t i = 0; i < prove->conn_count; i++) {
		const struct report_conn *conn = report__conn(report, prove->conns[i]);

		if (conn && !conn->closed)
			return false;
	}
	return true;
}

static uint64_t ns_of(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

static void give_up(struct prove *prove, const char *why)
{
	prove->out->why_not = why;
	prove->phase = PHASE_OVER;
}

static int set(struct prove *prove, bool on, uint64_t now)
{
	if (prove->set_ns)
		prove->out->altered_ns += now - prove->set_ns;
	prove->set_ns = on ? now : 0;
	return socket_option__set(prove->option, on);
}

/* Also where it stays as it is: what a switch costs besides is in every window. */
static void begin_window(struct prove *prove, uint64_t now)
{
	struct window *window = &prove->windows[prove->window];
	size_t place = prove->window % WINDOWS;
	uint8_t coin = 0;
	int err;

	if (place == 0 && getrandom(&coin, 1, 0) == 1)
		prove->begins_with = coin & 1;
	window->with = (place == 0 || place == 3) == prove->begins_with;
	window->is_control = prove->window / WINDOWS % 2;
	window->changed = window->with && !window->is_control;
	err = set(prove, window->changed, now);
	if (err) {
		give_up(prove, err == -ESTALE ? "the program itself sets it meanwhile"
					      : "a socket could not be changed");
		return;
	}
	if (window->changed && prove->conn_count &&
	    socket_option__set_before(prove->option) == prove->conn_count) {
		give_up(prove, "it is set on all of them already");
		return;
	}
	prove->phase = PHASE_SETTLE;
	prove->until_ns = now + ns_of(prove->settle_s);
}

static void end_window(struct prove *prove, const struct counts *end)
{
	struct window *window = &prove->windows[prove->window];

	window->end_ns = end->ns;
	window->requests = end->exchanges - prove->begin.exchanges;
	window->segments = end->segments - prove->begin.segments;
	window->cpu_ns = end->cpu_ns - prove->begin.cpu_ns;
	if (++prove->window == 2 * WINDOWS * (size_t)prove->plan->blocks)
		prove->phase = PHASE_OVER;
}

/* It was accepted there; a server's workers are several processes. */
static bool is_of_service(const struct prove *prove, const struct report_conn *conn)
{
	return conn && serves(&conn->id) && conn->id.lport == prove->service.lport &&
	       conn->id.netns == prove->service.netns;
}

static bool is_chosen(const struct prove *prove, const struct report *report, uint32_t number)
{
	const struct report_conn *conn = report__conn(report, number);

	if (prove->out->with_later)
		return is_of_service(prove, conn) ||
		       is_of_service(prove, report__peer(report, conn));
	for (size_t i = 0; conn && i < prove->conn_count; i++)
		if (prove->conns[i] == number || prove->conns[i] == conn->peer)
			return true;
	return false;
}

static void keep_time(struct times *times, uint64_t ns, double weight)
{
	if (times->count == TIMES_MOST) {
		for (size_t i = 0; i < TIMES_MOST / 2; i++)
			times->list[i] = (struct timed){times->list[2 * i].ns,
							2 * times->list[2 * i].weight};
		times->count /= 2;
	}
	times->list = xgrow(times->list, times->count, &times->size, sizeof(*times->list));
	times->list[times->count++] = (struct timed){ns, weight};
}

static void note_request(struct prove *prove, struct window *window,
			 const struct ns_exchange *exchange)
{
	uint64_t asked_ns = exchange->head.ts - exchange->begin_ts;
	uint64_t served_ns = exchange->head.ts - exchange->ready_ts + exchange->held_ns;

	if (exchange->side == NS_EXCHANGE_ASKED) {
		window->asked += exchange->weight;
		window->asked_ns += (double)exchange->weight * (double)asked_ns;
		keep_time(&prove->times[window->changed], asked_ns, exchange->weight);
	} else {
		window->served += exchange->weight;
		window->served_ns += (double)exchange->weight * (double)served_ns;
		if (!(window->asked > 0))
			keep_time(&prove->times[window->changed], served_ns, exchange->weight);
	}
}

/* On another connection; by both its ends, where both are seen. */
static void note_other(struct window *window, const struct ns_exchange *exchange)
{
	uint64_t begin =
		exchange->side == NS_EXCHANGE_ASKED ? exchange->begin_ts : exchange->ready_ts;

	window->others += exchange->weight;
	window->others_ns += (double)exchange->weight * (double)(exchange->head.ts - begin);
}

/* A request is of the window in which it ended; its record comes a little later. */
static void on_record(void *context, const struct report *so_far, const union record *record)
{
	struct prove *prove = context;
	const struct ns_exchange *exchange = &record->exchange;
	struct window *window;

	if (record->head.type != NS_EXCHANGE || !prove->service.head.type ||
	    exchange->ended == NS_EXCHANGE_OPEN)
		return;
	window = window_at(prove, exchange->head.ts);
	if (window && is_chosen(prove, so_far, record->head.conn))
		note_request(prove, window, exchange);
	else if (window)
		note_other(window, exchange);
}

/* How fast requests come in the look decides how long a window is. */
static void choose_times(struct prove *prove, const struct counts *counts)
{
	double each = counts->exchanges > 0 ? prove->plan->look_s / counts->exchanges : WINDOW_MOST;

	prove->window_s = each * WINDOW_HAS;
	if (prove->window_s < WINDOW_LEAST)
		prove->window_s = WINDOW_LEAST;
	if (prove->window_s > WINDOW_MOST)
		prove->window_s = WINDOW_MOST;
	prove->settle_s = SETTLE_WAITS * each > SETTLE_LEAST ? SETTLE_WAITS * each : SETTLE_LEAST;
}

/* In the process that judges. */
static void predict(void *context, const struct report *report)
{
	struct prove_prediction *judged = context;
	struct verdict verdict;

	verdict__write(&verdict, report);
	judged->found = verdict.found;
	judged->cause = verdict.cause;
	judged->is_removed = is_removed(verdict.cause);
	judged->saves_ns = verdict.saves_ns;
	judged->saves_of_ns = verdict.saves_of_ns;
	print_to(judged->headline, "%s", verdict.headline);
	verdict__clear(&verdict);
}

/* Those that held bytes back, and are open. */
static void add_conns(struct prove *prove, const struct report *report)
{
	for (size_t i = 0; i < prove->held_count; i++) {
		const struct report_conn *conn = report__conn(report, prove->held[i].conn), *peer;

		if (!conn || conn->closed || !is_same_service(&conn->id, &prove->service) ||
		    socket_option__add(prove->option, &conn->id))
			continue;
		prove->conns[prove->conn_count++] = prove->held[i].conn;
		peer = report__peer(report, conn);
		if (peer && peer->id.head.tgid != conn->id.head.tgid)
			prove->owners[1] = (pid_t)peer->id.head.tgid;
	}
	prove->out->conns = prove->conn_count;
}

/* Connections of the service, and their requests. */
static size_t count_service(const struct prove *prove, const struct report *report,
			    uint64_t *exchanges)
{
	size_t count = 0;

	*exchanges = 0;
	for (size_t i = 0; i < report->conn_count; i++) {
		if (!is_of_service(prove, &report->conns[i]))
			continue;
		count++;
		*exchanges += exchanges_of(report, &report->conns[i]);
	}
	return count;
}

/* Connections come and go: others follow them. NULL: it is done, else why not. */
static const char *add_service(struct prove *prove)
{
	if (!(prove->service.role & NS_ROLE_TARGET))
		return "its connections come and go, and who accepts them is not the target, so "
		       "that other clients' would be changed as well: name that process by -p PID";
	switch (socket_option__add_service(prove->option, &prove->service)) {
	case 0:
		prove->out->with_later = true;
		return NULL;
	case -ENOENT:
		return "nothing listens at its port any more";
	case -EALREADY:
		return "it is set on some of its connections already";
	default:
		return "its sockets could not be looked at";
	}
}

static const char *why_none(struct prove *prove, const struct report *report)
{
	uint64_t exchanges = 0;

	if (prove->held_count)
		return "the connections that held bytes back are of another port";
	for (size_t i = 0; i < report->conn_count; i++)
		exchanges += report->conns[i].totals.exchanges;
	prove->out->saw_nothing = !exchanges;
	return exchanges ? "no stall was seen that TCP_NODELAY could remove"
			 : "no request was seen: -d SECS looks longer";
}

static void choose(struct prove *prove, struct live *live, uint64_t now)
{
	const struct report *report = live__tell_totals(live);
	const struct ns_conn *service = choose_service(prove, report);
	struct counts counts;
	uint64_t exchanges;
	const char *why;

	live__judge_so_far(live, predict, prove->judged);
	prove->out->predicted = *prove->judged;
	if (!service) {
		give_up(prove, why_none(prove, report));
		return;
	}
	if (service->netns != socket_option__netns(prove->option)) {
		give_up(prove,
			"its connections are in another network namespace than the target: "
			"name a process of that one by -p PID");
		return;
	}
	prove->service = *service;
	prove->owners[0] = (pid_t)service->head.tgid;
	if (!serves(service) ||
	    2 * cost_of(prove, report, service, true) >= cost_of(prove, report, service, false)) {
		add_conns(prove, report);
		if (!prove->conn_count) {
			give_up(prove,
				"the connections that held bytes back are closed by now, and at "
				"the end that connects only those that are there can be changed");
			return;
		}
		counts = counts_of(prove, report, now);
	} else {
		why = add_service(prove);
		if (why) {
			give_up(prove, why);
			return;
		}
		prove->out->conns = count_service(prove, report, &exchanges);
		counts = (struct counts){.exchanges = (double)exchanges};
	}
	prove->out->both_ends = prove->owners[1];
	name_service(prove);
	choose_times(prove, &counts);
	log__note(
		"%s held bytes back: %s for %.0f s%s, on and off in windows of %.1f s; it is set "
		"back at the end",
		prove->out->service, prove->plan->change->name,
		2 * prove->plan->blocks * WINDOWS * (prove->window_s + prove->settle_s),
		prove->out->with_later ? ", also for those to come" : "", prove->window_s);
	if (prove->plan->dry_run) {
		give_up(prove, "--dry-run: nothing was changed");
		return;
	}
	syslog(LOG_NOTICE, "sets %s on %s, on and off", prove->plan->change->name,
	       prove->out->service);
	begin_window(prove, now);
}

static bool on_tick(void *context, struct live *live, uint64_t now_ns)
{
	struct prove *prove = context;
	const struct report *report;
	struct counts counts;

	if (!prove->until_ns)
		prove->until_ns = now_ns + ns_of(prove->plan->look_s);
	if (now_ns < prove->until_ns)
		return true;
	if (prove->phase == PHASE_LOOK) {
		choose(prove, live, now_ns);
		return prove->phase != PHASE_OVER;
	}
	report = live__tell_totals(live);
	counts = counts_of(prove, report, now_ns);
	if (prove->phase == PHASE_SETTLE) {
		prove->begin = counts;
		prove->windows[prove->window].begin_ns = now_ns;
		prove->phase = PHASE_WINDOW;
		prove->until_ns = now_ns + ns_of(prove->window_s);
		return true;
	}
	end_window(prove, &counts);
	if (prove->phase == PHASE_OVER || are_closed(prove, report))
		return false;
	begin_window(prove, now_ns);
	return prove->phase != PHASE_OVER;
}

/* ---- what came of it ---- */

/* In requests. */
static double busy_ns(const struct window *window)
{
	return window->asked > 0 ? window->asked_ns : window->served_ns + window->held_ns;
}

static double measured(const struct window *window, enum prove_measure measure)
{
	double seconds = (double)(window->end_ns - window->begin_ns) / 1e9;
	double count = window->asked > 0 ? window->asked : window->served;
	double ms = busy_ns(window) / 1e6;

	if (measure == PROVE_RATE)
		return seconds > 0 ? window->requests / seconds : 0;
	return ms > 0 ? count / ms : 0;
}

/* The other connections' mean time in all such windows together, as one over it, in ms: of one
 * window's samples few are theirs, beside what is faster now. */
static double others_of(const struct window *windows, size_t window_count, bool control, bool with)
{
	double count = 0, ns = 0;

	for (size_t i = 0; i < window_count; i++) {
		if (windows[i].is_control != control || windows[i].with != with)
			continue;
		count += windows[i].others;
		ns += windows[i].others_ns;
	}
	return ns > 0 ? count / (ns / 1e6) : 0;
}

/* Blocks that are whole. */
static void fill_blocks(const struct prove *prove)
{
	struct prove_result *out = prove->out;

	out->block_count = prove->window / WINDOWS;
	out->blocks = xcalloc(out->block_count + 1, sizeof(*out->blocks));
	out->others = xcalloc(out->block_count + 1, sizeof(*out->others));
	for (size_t i = 0; i < out->block_count; i++) {
		const struct window *windows = &prove->windows[i * WINDOWS];
		struct effect_block *block = &out->blocks[i], *others = &out->others[i];
		size_t with = 0, without = 0;

		block->is_control = others->is_control = windows[0].is_control;
		for (size_t j = 0; j < WINDOWS; j++) {
			bool is_with = windows[j].with;
			size_t at = is_with ? with++ : without++;

			(is_with ? block->with : block->without)[at] =
				measured(&windows[j], out->measure);
		}
		others->with[0] = others->with[1] =
			others_of(windows, WINDOWS, block->is_control, true);
		others->without[0] = others->without[1] =
			others_of(windows, WINDOWS, block->is_control, false);
	}
}

/* Of all such windows that are in whole blocks. */
static double mean_of(const struct prove *prove, enum prove_measure measure, bool control,
		      bool with)
{
	double sum = 0, count = 0;

	for (size_t i = 0; i < prove->window / WINDOWS * WINDOWS; i++) {
		const struct window *window = &prove->windows[i];

		if (window->is_control != control || window->with != with)
			continue;
		sum += measured(window, measure);
		count++;
	}
	return count > 0 ? sum / count : 0;
}

/*
 * Without the change requests take most of the time: the next one follows the answer, and comes
 * sooner if that does. Else something else says when it comes, as a clock, and only the time that
 * each takes can change.
 */
static enum prove_measure measure_of(const struct prove *prove)
{
	double busy = 0, time = 0;

	if (prove->out->with_later) /* how many there are at a time is not known */
		return PROVE_TIME;
	for (size_t i = 0; i < prove->window; i++) {
		const struct window *window = &prove->windows[i];

		if (window->changed)
			continue;
		busy += busy_ns(window);
		time += (double)(window->end_ns - window->begin_ns) * (double)prove->conn_count;
	}
	return time > 0 && busy >= time / 2 ? PROVE_RATE : PROVE_TIME;
}

static int by_time(const void *a, const void *b)
{
	uint64_t left = ((const struct timed *)a)->ns, right = ((const struct timed *)b)->ns;

	return (left > right) - (left < right);
}

static uint64_t quantile(const struct times *times, double part)
{
	double all = 0, below = 0;

	for (size_t i = 0; i < times->count; i++)
		all += times->list[i].weight;
	for (size_t i = 0; i < times->count; i++) {
		below += times->list[i].weight;
		if (below >= part * all)
			return times->list[i].ns;
	}
	return 0;
}

static void fill_sides(struct prove *prove)
{
	bool each_is_known = true; /* not only how long they took in all */

	for (size_t i = 0; i < prove->window; i++) {
		const struct window *window = &prove->windows[i];
		struct prove_side *side = &prove->out->sides[window->changed];

		side->requests += window->requests;
		side->segments += window->segments;
		side->cpu_ns += window->cpu_ns;
		each_is_known &= window->asked > 0 || !(window->held_ns > 0);
	}
	for (size_t i = 0; i < 2 && each_is_known; i++) {
		struct times *times = &prove->times[i];

		sort_array(times->list, times->count, sizeof(*times->list), by_time);
		prove->out->sides[i].p50_ns = quantile(times, 0.5);
		prove->out->sides[i].p99_ns = quantile(times, 0.99);
	}
}

/* Of connections that come and go, requests are counted by their sample. */
static void count_requests(struct prove *prove)
{
	for (size_t i = 0; i < prove->window; i++) {
		struct window *window = &prove->windows[i];

		window->requests = window->asked > 0 ? window->asked : window->served;
	}
}

static void fill_result(struct prove *prove)
{
	struct prove_result *out = prove->out;

	out->is_cut_short =
		!out->why_not && prove->window < 2 * WINDOWS * (size_t)prove->plan->blocks;
	if (out->with_later)
		count_requests(prove);
	out->measure = measure_of(prove);
	fill_blocks(prove);
	fill_sides(prove);
	for (size_t with = 0; with < 2; with++)
		out->others_value[with] = others_of(prove->windows, prove->window, false, with);
	for (size_t control = 0; control < 2; control++)
		for (size_t with = 0; with < 2; with++)
			out->value[control][with] = mean_of(prove, out->measure, control, with);
	for (size_t with = 0; with < 2; with++)
		out->rate[with] = mean_of(prove, PROVE_RATE, false, with);
}

static int restore(struct prove *prove)
{
	bool was_set = prove->set_ns || prove->out->altered_ns;
	int err;

	if (prove->set_ns)
		prove->out->altered_ns += clock__now() - prove->set_ns;
	err = socket_option__free(prove->option);
	if (was_set)
		syslog(LOG_NOTICE, "%s on %s is %s", prove->plan->change->name, prove->out->service,
		       err ? "not set back" : "set back");
	if (err)
		log__error("what was changed could not be set back: %s", strerror(-err));
	return err;
}

int prove_run(const struct prove_plan *plan, struct prove_result *out)
{
	struct prove_prediction *judged = mmap(NULL, sizeof(*judged), PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct prove prove = {.plan = plan, .out = out, .judged = judged};
	const struct live_options options = {
		.session = *plan->session,
		.target = plan->target,
		.sink = {.on_record = on_record, .on_stall = on_stall, .context = &prove},
		.tick = on_tick,
		.context = &prove};
	pid_t pid = plan->target->pid_count ? plan->target->pids[0] : 0;
	struct live *done = NULL;
	int err, restored;

	*out = (struct prove_result){0};
	if (judged == MAP_FAILED) {
		log__error("no memory");
		return -ENOMEM;
	}
	openlog("netstall-prove", LOG_PID, LOG_USER);
	err = socket_option__open(plan->change, pid, &prove.option);
	if (!err) {
		prove.windows = xcalloc(2 * WINDOWS * plan->blocks + 1, sizeof(*prove.windows));
		err = live__run(&options, &done);
		if (!err)
			fill_result(&prove);
		restored = restore(&prove);
		err = err ? err : restored;
	}
	live__free(done);
	free(prove.windows);
	for (size_t i = 0; i < 2; i++)
		free(prove.times[i].list);
	munmap(judged, sizeof(*judged));
	return err;
}

void prove_result__clear(struct prove_result *result)
{
	free(result->blocks);
	free(result->others);
}
