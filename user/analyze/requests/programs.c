// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/programs.h"

#include <stdlib.h>

#include "user/analyze/stalls.h"
#include "user/base/array.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"

/* ---- whose a connection is ---- */

/* The processes at the ends of a connection, 0 no target. */
struct owners {
	uint32_t pids[REQUEST_ROLES];
};

static void add_owner(struct owners *owners, const struct report_conn *conn)
{
	if (conn && conn->id.role & NS_ROLE_TARGET)
		owners->pids[request_role__of(&conn->id)] = conn->id.head.tgid;
}

static struct owners owners_of(const struct report *report, uint32_t number)
{
	const struct report_conn *conn = report__conn(report, number);
	struct owners owners = {0};

	add_owner(&owners, conn);
	add_owner(&owners, report__peer(report, conn));
	return owners;
}

/* ---- the list ---- */

#define PROGRAMS 8192 /* looked at */

static struct report_program *program_of(struct table *programs, uint32_t pid)
{
	struct report_program *program = table__get(programs, pid);

	if (program)
		return program;
	program = xcalloc(1, sizeof(*program));
	program->pid = pid;
	if (table__put(programs, pid, program))
		return program;
	free(program);
	return NULL;
}

/* Of elements of that size, sorted by the pid that each begins with: how many have the first one's.
 */
static size_t count_alike(const void *v, size_t count, size_t size)
{
	size_t alike = 1;

	while (alike < count &&
	       *(const uint32_t *)((const char *)v + alike * size) == *(const uint32_t *)v)
		alike++;
	return alike;
}

/* ---- stalls ---- */

struct owned {
	uint32_t pid;
	bool is_request;
	struct stall_brief stall;
};

static int by_owner(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;
	int by = compare_u64(x->pid, y->pid);

	by = by ? by : compare_u64(x->is_request, y->is_request);
	return by ? by : compare_u64(x->stall.start_ts, y->stall.start_ts);
}

/* Once for each end of its connection. */
static size_t add_owned(struct owned *list, struct owners owners, bool is_request,
			const struct stall_brief *brief)
{
	size_t count = 0;

	if (owners.pids[REQUEST_MADE] == owners.pids[REQUEST_SERVED])
		owners.pids[REQUEST_SERVED] = 0;
	for (size_t role = 0; role < REQUEST_ROLES; role++)
		if (owners.pids[role])
			list[count++] = (struct owned){owners.pids[role], is_request, *brief};
	return count;
}

/* Each stall in requests, and each request that took as long. A listed stall on no connection is of
 * whom it delayed. */
static struct owned *list_owned(const struct report *report, const struct requests *requests,
				size_t *count)
{
	size_t all = report->stall_count + report->brief_count, slow_count;
	const struct stall_brief *slow = requests__slow(requests, &slow_count);
	struct owned *list = xcalloc(REQUEST_ROLES * (all + slow_count) + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < all; i++) {
		struct stall_brief brief = stalls__at(report, i);
		struct owners owners = owners_of(report, brief.conn);

		if (brief.traits & (STALL_BETWEEN | STALL_PACE))
			continue;
		if (!brief.conn && i < report->stall_count)
			owners.pids[REQUEST_MADE] = report->stalls[i].pid;
		*count += add_owned(&list[*count], owners, false, &brief);
	}
	for (size_t i = 0; i < slow_count; i++)
		*count += add_owned(&list[*count], owners_of(report, slow[i].conn), true, &slow[i]);
	sort_array(list, *count, sizeof(*list), by_owner);
	return list;
}

/* How much of it lies in spans that do not overlap, in order; *at: those before it end before it.
 */
static uint64_t covered_of(const struct span *spans, size_t count, size_t *at,
			   const struct span *span)
{
	uint64_t covered = 0;

	while (*at < count && spans[*at].end_ts <= span->start_ts)
		(*at)++;
	for (size_t i = *at; i < count && spans[i].start_ts < span->end_ts; i++)
		covered +=
			min_u64(spans[i].end_ts, span->end_ts) -
			(spans[i].start_ts > span->start_ts ? spans[i].start_ts : span->start_ts);
	return covered;
}

/*
 * Those of one process. A stall is listed for one connection and may hold up others: there the
 * requests' own time shows it, unless stalls of the process cover most of that.
 */
static void add_up(const struct report *report, const struct ledger *ledger,
		   const struct owned *list, size_t count, struct report_program *program)
{
	struct span *spans =
		xcalloc(count, sizeof(*spans)); /* of stalls, and requests behind them */
	uint64_t ns[CAUSE_COUNT] = {0}, stalls[CAUSE_COUNT] = {0};
	size_t own = 0, found, at = 0;

	for (size_t i = 0; i < count && !list[i].is_request; i++)
		own += stalls__cut(report, &list[i].stall, &spans[own]);
	found = own = spans__merge(spans, own);
	for (size_t i = 0; i < count; i++) {
		const struct stall_brief *stall = &list[i].stall;

		if (list[i].is_request) {
			if (!stalls__cut(report, stall, &spans[found]) ||
			    2 * covered_of(spans, own, &at, &spans[found]) >= stall->ns)
				continue;
			found++;
		}
		ns[stall->cause] += stall->ns;
		stalls[stall->cause]++;
		program->stalls++;
	}
	program->stalled_ns = spans__covered(spans, found);
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		if (ns[i] > ns[program->cause])
			program->cause = (enum cause)i;
	program->of_cause = stalls[program->cause];
	program->main = ledger__of_process(ledger, program->cause, program->pid);
	free(spans);
}

static void add_stalls(const struct report *report, const struct ledger *ledger,
		       const struct requests *requests, struct table *programs)
{
	size_t count;
	struct owned *list = list_owned(report, requests, &count);

	for (size_t first = 0, run; first < count; first += run) {
		struct report_program *program = program_of(programs, list[first].pid);

		run = count_alike(&list[first], count - first, sizeof(*list));
		if (program)
			add_up(report, ledger, &list[first], run, program);
	}
	free(list);
}

/* ---- requests ---- */

/* A request, as one of a process. */
struct share {
	uint32_t pid;
	struct request request;
};

static int by_process_and_duration(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	int by = compare_u64(x->pid, y->pid);

	return by ? by : request__by_duration(&x->request, &y->request);
}

/* What a target asks of a target is in the sample as the one's who asks, and the other one serves
 * it. */
static struct share *list_shares(const struct report *report, const struct requests *requests,
				 enum request_role role, size_t *count)
{
	struct share *list = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t of = 0; of < REQUEST_ROLES; of++) {
		const struct sample *sample = requests__sample(requests, (enum request_role)of);

		for (size_t i = 0; i < sample->count; i++) {
			uint32_t pid = owners_of(report, sample->list[i].conn).pids[role];

			if (!pid)
				continue;
			list = xgrow(list, *count, &room, sizeof(*list));
			list[(*count)++] = (struct share){pid, sample->list[i]};
		}
	}
	sort_array(list, *count, sizeof(*list), by_process_and_duration);
	return list;
}

static uint64_t *count_of(struct report_program *program, enum request_role role)
{
	return role == REQUEST_MADE ? &program->made : &program->served;
}

/* By the totals of connections, as far as all of a process are listed. */
static void count_exchanges(const struct report *report, struct table *programs)
{
	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i];
		const struct report_process *process = report__process(report, conn->id.head.tgid);
		struct report_program *program;

		if (!(conn->id.role & NS_ROLE_TARGET) || !conn->totals.exchanges || !process ||
		    process->past_exchanges)
			continue;
		program = program_of(programs, process->pid);
		if (program)
			*count_of(program, request_role__of(&conn->id)) += conn->totals.exchanges;
	}
}

/* Those of one process. What it serves says more of it than what it asks for meanwhile. */
static void measure(enum request_role role, const struct share *list, size_t count,
		    struct report_program *program)
{
	struct request *sorted = xcalloc(count, sizeof(*sorted));
	uint64_t *total = count_of(program, role), counted = *total;

	for (size_t i = 0; i < count; i++) {
		sorted[i] = list[i].request;
		*total += counted ? 0 : sorted[i].weight;
	}
	if (*total < count)
		*total = count;
	if (role == REQUEST_SERVED || !program->served) {
		program->median_ns = request__duration(sample__at_rank(sorted, count, counted, 50));
		program->p99_ns = request__duration(sample__at_rank(sorted, count, counted, 99));
	}
	free(sorted);
}

static void add_requests(const struct report *report, const struct requests *requests,
			 enum request_role role, struct table *programs)
{
	size_t count;
	struct share *list = list_shares(report, requests, role, &count);

	for (size_t first = 0, run; first < count; first += run) {
		struct report_program *program = program_of(programs, list[first].pid);

		run = count_alike(&list[first], count - first, sizeof(*list));
		if (program)
			measure(role, &list[first], run, program);
	}
	free(list);
}

/* ---- the whole ---- */

static int worst_first(const void *a, const void *b)
{
	const struct report_program *x = a, *y = b;
	int by = compare_u64(y->stalled_ns, x->stalled_ns);

	by = by ? by : compare_u64(!x->made, !y->made); /* whom they delayed before who serves */
	by = by ? by : compare_u64(y->p99_ns, x->p99_ns);
	return by ? by : compare_u64(x->pid, y->pid);
}

void programs__write(struct report *report, const struct ledger *ledger,
		     const struct requests *requests)
{
	struct table *programs;
	const struct report_program *program;
	size_t cursor = 0, count;

	if (!report->session.machine)
		return;
	programs = table__new(PROGRAMS);
	count_exchanges(report, programs);
	add_stalls(report, ledger, requests, programs);
	add_requests(report, requests, REQUEST_SERVED, programs);
	add_requests(report, requests, REQUEST_MADE, programs);
	count = table__count(programs);
	report->programs = xcalloc(count + 1, sizeof(*report->programs));
	while ((program = table__next(programs, &cursor)))
		report->programs[report->program_count++] = *program;
	sort_array(report->programs, count, sizeof(*report->programs), worst_first);
	if (count > REPORT_PROGRAMS) {
		report->program_count = REPORT_PROGRAMS;
		report->programs_not_listed = count - REPORT_PROGRAMS;
	}
	table__free(programs, free);
}

void programs__free(struct report *report)
{
	free(report->programs);
	report->programs = NULL;
}
