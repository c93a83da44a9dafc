/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of the judgement: a clean run of 10 s, to vary in one fact. */
#ifndef NETSTALL_TESTS_GATE_RUN_H
#define NETSTALL_TESTS_GATE_RUN_H

#include "tests/unit/test.h"
#include "user/check/judge/gate.h"

#define MS          1000000ull
#define START       (1000 * MS)
#define RUN_STALLS  32
#define RUN_CONNS   4
#define RUN_SECONDS 10

struct run {
	struct report report;
	struct stall stalls[RUN_STALLS];
	struct report_conn conns[RUN_CONNS];
	struct budgets budgets;
	struct gate_options options;
	struct gate_facts facts;
	struct outcome *outcome;
};

static inline struct report_conn *run__conn(struct run *run, uint32_t role, uint64_t out,
					    uint64_t in, uint32_t exchanges)
{
	struct report_conn *conn = &run->conns[run->report.conn_count++];

	*conn = (struct report_conn){.id = {.head = {.type = NS_CONN}, .role = role}};
	conn->id.head.conn = (uint32_t)run->report.conn_count;
	conn->totals.bytes_out = out;
	conn->totals.bytes_in = in;
	conn->totals.exchanges = exchanges;
	return conn;
}

/* One connection that asks and answers, the default budgets, no stall, no program. */
static inline void run__init(struct run *run)
{
	memset(run, 0, sizeof(*run));
	run->report.session.head.type = NS_SESSION;
	run->report.session.threshold_ns = 10 * MS;
	strcpy(run->report.session.way, "kprobe");
	strcpy(run->report.session.kernel, "5.10.1");
	run->report.start_ts = START;
	run->report.end_ts = START + RUN_SECONDS * 1000 * MS;
	run->report.stalls = run->stalls;
	run->report.conns = run->conns;
	run__conn(run, NS_ROLE_TARGET, 1000, 2000, 50);
	budgets__default(&run->budgets);
	run->options.budgets = &run->budgets;
	run->options.min_exchanges = 1;
	run->facts.target = "client (4242)";
}

static inline void run__budget(struct run *run, const char *text)
{
	char why[512] = "";

	if (!budgets__parse(&run->budgets, text, why, sizeof(why)))
		fail_msg("%s", why);
}

static inline void run__count(struct run *run, enum cause cause, uint32_t count, uint64_t ns)
{
	struct report *report = &run->report;
	size_t i = 0;

	while (i < report->cause_count && report->causes[i].cause != cause)
		i++;
	report->cause_count += i == report->cause_count;
	report->causes[i].cause = cause;
	report->causes[i].count += count;
	report->causes[i].total_ns += ns;
}

/* A stall on connection 1, all of it seen; times in ms from the start. */
static inline struct stall *run__stall(struct run *run, enum cause cause, uint64_t at, uint64_t ms)
{
	struct stall *stall = &run->stalls[run->report.stall_count++];

	*stall = (struct stall){.number = (uint32_t)run->report.stall_count,
				.cause = cause,
				.start_ts = START + at * MS,
				.end_ts = START + (at + ms) * MS,
				.conn = 1,
				.peer = 2,
				.exact = true};
	run__count(run, cause, 1, ms * MS);
	return stall;
}

static inline const struct outcome *run__judge(struct run *run)
{
	outcome__free(run->outcome);
	run->outcome = outcome__new(&run->report, &run->options, &run->facts);
	return run->outcome;
}

static inline void run__free(struct run *run)
{
	outcome__free(run->outcome);
	run->outcome = NULL;
}

static inline const struct gate *gate_of(const struct outcome *outcome, const char *name)
{
	for (size_t i = 0; i < outcome->gate_count; i++) {
		if (!strcmp(budget__name(&outcome->gates[i].budget), name))
			return &outcome->gates[i];
	}
	fail_msg("there is no gate %s", name);
	return NULL;
}

static inline void assert_verdict(const struct outcome *outcome, enum verdict_kind verdict,
				  int status)
{
	if (outcome->verdict != verdict)
		fail_msg("the verdict is '%s', not '%s'", verdict_kind__name(outcome->verdict),
			 verdict_kind__name(verdict));
	assert_int_equal(outcome->exit_status, status);
}

/* This one reason alone; it says these facts. */
#define assert_reason(outcome, of_kind, ...)                                                       \
	do {                                                                                       \
		assert_int_equal((outcome)->reason_count, 1);                                      \
		assert_int_equal((outcome)->reasons[0].kind, of_kind);                             \
		assert_says((outcome)->reasons[0].text, __VA_ARGS__);                              \
	} while (0)

#endif
