// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/reports/clauses.h"

#include <stdio.h>
#include <string.h>

#include "user/base/text.h"
#include "user/check/judge/baseline.h"
#include "user/record/losses.h"
#include "user/render/words/names.h"

#define SAFE_NAME 160

char *clause__measure(char *dst, size_t size, const struct gate *gate)
{
	const char *stalls = counted_text(gate->count, "stall");
	char end[NAME_SIZE + TEXT_ADDRESS];

	if (budget__is_of_requests(&gate->budget) && !gate->slowest)
		snprintf(dst, size, "no request");
	else if (budget__is_of_requests(&gate->budget))
		snprintf(dst, size, "%s of %s, %s", duration_text(gate->total_ns),
			 counted_text(gate->count, "request"),
			 name__endpoint(end, sizeof(end), &gate->slowest->end));
	else if (gate->budget.kind == BUDGET_TIME)
		snprintf(dst, size, "%s in %s", duration_text(gate->total_ns), stalls);
	else if (gate->budget.kind == BUDGET_SHARE)
		snprintf(dst, size, "%s of the time in %s", percent_text(gate->share), stalls);
	else
		snprintf(dst, size, "%s", stalls);
	return dst;
}

char *clause__gate(char *dst, size_t size, const struct gate *gate)
{
	char measure[128], limit[48];

	snprintf(dst, size, "%s, budget %s", clause__measure(measure, sizeof(measure), gate),
		 budget__limit(&gate->budget, limit, sizeof(limit)));
	return dst;
}

const struct gate *clause__worst(const struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->gate_count; i++)
		if (outcome->gates[i].state == GATE_OVER)
			return &outcome->gates[i];
	return NULL;
}

static char *name_program(char *dst, size_t size, const struct outcome *outcome)
{
	const char *name = outcome->program.name;

	return text__safe(dst, size, name ? name : "the program", 64);
}

/* "signal 11, SIGSEGV" */
static char *name_signal(char *dst, size_t size, int number)
{
	const char *name = sigabbrev_np(number);

	snprintf(dst, size, "signal %d%s%s", number, name ? ", SIG" : "", name ? name : "");
	return dst;
}

static void write_end(char *dst, size_t size, const struct program_outcome *program)
{
	char signal[48];
	uint64_t limit = (uint64_t)(program->timeout_secs * 1e9);

	switch (program->end) {
	case PROGRAM_NONE:
		dst[0] = '\0';
		break;
	case PROGRAM_EXITED:
		snprintf(dst, size, "ended with status %d", program->status);
		break;
	case PROGRAM_SIGNALLED:
		snprintf(dst, size, "was killed by %s%s%s",
			 name_signal(signal, sizeof(signal), program->signal),
			 program->core ? ", with a core dump" : "",
			 program->passed_on ? ", passed on by netstall," : "");
		break;
	case PROGRAM_NOT_FOUND:
		snprintf(
			dst, size,
			"was not found, or the interpreter in its first line was not (status 127): check its name and path%s",
			text__is_number(program->name) ? "; a pid follows -p" : "");
		break;
	case PROGRAM_NOT_RUN:
		snprintf(dst, size, "could not be run (status 126): %s", strerror(program->err));
		break;
	case PROGRAM_TIMED_OUT:
		snprintf(dst, size, "was still running after %s (--timeout) and was terminated",
			 nominal_text(limit));
		break;
	case PROGRAM_NOT_READY:
		limit = (uint64_t)(program->wait_secs * 1e9);
		snprintf(dst, size,
			 "did not listen on port %u within %s (--wait-port) and was terminated",
			 program->wait_port, nominal_text(limit));
		break;
	case PROGRAM_OUTLIVED:
		snprintf(dst, size, "was still running at the end of the check and was terminated");
		break;
	}
}

static bool it_ran(const struct program_outcome *program)
{
	return program->end == PROGRAM_EXITED || program->end == PROGRAM_SIGNALLED;
}

char *clause__program(char *dst, size_t size, const struct outcome *outcome)
{
	const struct program_outcome *program = &outcome->program;
	char name[SAFE_NAME], end[200], after[48] = "", left[96] = "";

	dst[0] = '\0';
	if (program->end == PROGRAM_NONE)
		return dst;
	write_end(end, sizeof(end), program);
	if (it_ran(program) && program->ran_ns)
		snprintf(after, sizeof(after), " after %s", duration_text(program->ran_ns));
	if (program->orphans)
		snprintf(left, sizeof(left), "; %u child process%s still running (pid %d%s)",
			 program->orphans, program->orphans == 1 ? "" : "es",
			 (int)program->orphan_pid, program->orphans == 1 ? "" : " and more");
	snprintf(dst, size, "%s %s%s%s", name_program(name, sizeof(name), outcome), end, after,
		 left);
	return dst;
}

/* ---- the verdict ---- */

static void write_over(char *dst, size_t size, const struct outcome *outcome)
{
	const struct gate *worst = clause__worst(outcome);
	/* Worse ones come first. */
	const struct change *changes = outcome->changes;
	size_t over = 0;
	char text[200], more[64] = "";

	for (size_t i = 0; i < outcome->gate_count; i++)
		over += outcome->gates[i].state == GATE_OVER;
	if (!worst && outcome->change_count && changes[0].worse) {
		snprintf(dst, size, "%s is more frequent than in the baseline%s",
			 cause__info(changes[0].cause)->id,
			 outcome->change_count > 1 && changes[1].worse ? ", and so are other causes"
								       : "");
		return;
	}
	if (!worst && outcome->request_change_count && outcome->request_changes[0].worse) {
		snprintf(dst, size, "requests of %s take longer than in the baseline%s",
			 endpoint_time__name(&outcome->request_changes[0].now, text, sizeof(text)),
			 outcome->request_change_count > 1 && outcome->request_changes[1].worse
				 ? ", and so do others"
				 : "");
		return;
	}
	if (over > 1)
		snprintf(more, sizeof(more), " (%zu more over theirs)", over - 1);
	snprintf(dst, size, "%s over its budget: %s%s", worst ? budget__name(&worst->budget) : "?",
		 worst ? clause__gate(text, sizeof(text), worst) : "?", more);
}

char *clause__verdict(char *dst, size_t size, const struct outcome *outcome)
{
	switch (outcome->verdict) {
	case CHECK_WITHIN:
		if (outcome->gate_count)
			snprintf(dst, size, "no cause is over its budget");
		else
			snprintf(dst, size, "no cause has a budget, so nothing was checked");
		break;
	case CHECK_OVER:
		write_over(dst, size, outcome);
		break;
	case CHECK_UNABLE:
		snprintf(dst, size, "netstall could not do its work: %s", outcome->unable);
		break;
	case CHECK_INCONCLUSIVE:
		snprintf(dst, size, "this run proves nothing: %s", outcome->reasons[0].text);
		break;
	case CHECK_PROGRAM_FAILED:
		clause__program(dst, size, outcome);
		break;
	}
	return dst;
}

/* ---- what was watched ---- */

char *clause__watched(char *dst, size_t size, const struct outcome *outcome)
{
	char warmup[64] = "";

	if (!outcome->report) {
		snprintf(dst, size, "nothing was watched");
		return dst;
	}
	if (outcome->warmup_seconds > 0)
		snprintf(warmup, sizeof(warmup), " after %s of warm-up",
			 duration_text((uint64_t)(outcome->warmup_seconds * 1e9)));
	snprintf(dst, size, "%s watched%s, %s, %s, %s lost",
		 duration_text((uint64_t)(outcome->seconds * 1e9)), warmup,
		 counted_text(outcome->connections, "connection"),
		 counted_text(outcome->exchanges, "exchange"),
		 counted_text(losses__events(outcome->report->lost), "event"));
	return dst;
}

char *clause__stall(char *dst, size_t size, const struct report *report, const struct stall *stall)
{
	const struct report_conn *conn = report__conn(report, stall->conn);
	char took[TEXT_DURATION], at[40], who[NAME_SIZE], addresses[2 * TEXT_ADDRESS + 8], fd[24];
	uint64_t length = stall->end_ts - stall->start_ts;

	text__duration(took, sizeof(took), length);
	text__ms(at, sizeof(at), (int64_t)(stall->start_ts - report->start_ts) / 1000, 3);
	if (!stall->tid && conn)
		name__owner(who, sizeof(who), report, conn);
	else
		name__thread(who, sizeof(who), report, stall->pid, stall->tid);
	fd[0] = addresses[0] = '\0';
	if (conn)
		name__addresses(addresses, sizeof(addresses), &conn->id);
	if (conn && conn->id.fd != NS_FD_UNKNOWN)
		snprintf(fd, sizeof(fd), ", fd %u", conn->id.fd);
	snprintf(dst, size, "%s%s at %s s, %s%s%s%s", stall->exact ? "" : "at most ", took, at, who,
		 conn ? " " : "", addresses, fd);
	return dst;
}

/* ---- ids ---- */

const char *reason__id(enum reason_kind kind)
{
	static const char *const ids[REASON_KINDS] = {
		[REASON_LOST] = "lost",
		[REASON_UNSEEN_END] = "unseen-end",
		[REASON_NO_TRAFFIC] = "no-traffic",
		[REASON_EXCHANGES] = "exchanges",
		[REASON_BLIND] = "blind",
		[REASON_NO_TARGET] = "no-target",
		[REASON_CUT_SHORT] = "cut-short",
		[REASON_BASELINE] = "baseline",
	};

	return (unsigned)kind < REASON_KINDS && ids[kind] ? ids[kind] : "unknown";
}

const char *program_end__id(enum program_end end)
{
	static const char *const ids[] = {
		[PROGRAM_NONE] = "none",           [PROGRAM_EXITED] = "exited",
		[PROGRAM_SIGNALLED] = "signalled", [PROGRAM_NOT_FOUND] = "not-found",
		[PROGRAM_NOT_RUN] = "not-run",     [PROGRAM_TIMED_OUT] = "timed-out",
		[PROGRAM_NOT_READY] = "not-ready", [PROGRAM_OUTLIVED] = "outlived",
	};

	return (unsigned)end < sizeof(ids) / sizeof(ids[0]) && ids[end] ? ids[end] : "none";
}

const char *gate_state__id(enum gate_state state)
{
	return state == GATE_OVER ? "over" : state == GATE_BLIND ? "blind" : "within";
}
