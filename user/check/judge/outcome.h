/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a check came to: the one thing that its reports (text, JSON, JUnit, TAP, GitHub) see
 * beside the report of the trace. Built by check/judge/gate.c from the report, the budgets, the
 * checked program's end and the baseline; const for everybody else.
 */
#ifndef NETSTALL_CHECK_JUDGE_OUTCOME_H
#define NETSTALL_CHECK_JUDGE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/analyze/report.h"
#include "user/check/judge/budget.h"

enum gate_state {
	GATE_WITHIN,
	GATE_OVER,
	GATE_BLIND, /* within its budget as far as seen, and not enough was seen to say so */
};

/* A budget and what the run made of it. */
struct gate {
	struct budget budget;
	enum gate_state state;
	uint64_t count;    /* of stalls; of requests, those of the slowest endpoint */
	uint64_t total_ns; /* of stalls; of requests, their median or 99th percentile */
	double share;      /* of the window */
	const struct report_requests *slowest; /* of requests, the row; of the report; NULL none */
	/* The stall to show: the first over the budget that was seen whole, else the first; of
	 * report->stalls; NULL none. */
	const struct stall *first;
	const char *why; /* blind: a sentence with what to do about it; the outcome's */
};

/* Why the run as a whole proves nothing; --inconclusive says what comes of it. */
enum reason_kind {
	REASON_LOST,       /* events were lost that could hide a gated cause */
	REASON_UNSEEN_END, /* a hold whose end was not seen could be a gated cause */
	REASON_NO_TRAFFIC, /* no TCP traffic of the target */
	REASON_EXCHANGES,  /* fewer exchanges than --min-exchanges */
	REASON_BLIND,      /* this attach way cannot observe a gated cause */
	REASON_NO_TARGET,  /* it had gone before the attach */
	REASON_CUT_SHORT,  /* a signal ended the window before its time, or it ended in the warm-up
			    */
	REASON_BASELINE,   /* there is none to compare with, or it does not fit */
	REASON_KINDS
};

struct reason {
	enum reason_kind kind;
	char *text; /* one sentence, with the remedy */
};

#define OUTCOME_REASONS 24
#define OUTCOME_FILES   6

/* How `-- PROGRAM` ended. */
enum program_end {
	PROGRAM_NONE,      /* there was none: -p and the like */
	PROGRAM_EXITED,    /* status */
	PROGRAM_SIGNALLED, /* signal; by one that netstall passed on: passed_on */
	PROGRAM_NOT_FOUND, /* status 127 as in a shell; nothing ran */
	PROGRAM_NOT_RUN,   /* status 126: not executable, bad format ...; nothing ran */
	PROGRAM_TIMED_OUT, /* netstall ended it, and all that it started: --timeout was over */
	PROGRAM_NOT_READY, /* the same: nobody of it listened at --wait-port in time */
	PROGRAM_OUTLIVED,  /* the same: it still ran when -d was over; no failure of its own */
};

struct program_outcome {
	enum program_end end;
	const char *name;    /* argv[0] */
	int status;          /* exit status as a shell's $? would have it: 128 + signal too */
	int signal;          /* 0 none */
	bool core;           /* dumped */
	bool passed_on;      /* the signal was one that netstall got and passed on */
	int err;             /* of the exec, errno */
	unsigned orphans;    /* processes of it that still ran when it had ended */
	pid_t orphan_pid;    /* one of them */
	uint64_t ran_ns;     /* from exec to its end */
	double timeout_secs; /* --timeout, 0 none */
	unsigned wait_port;  /* --wait-port, 0 none */
	double wait_secs;    /* how long that was waited for, at most */
};

/* A cause's rate against the baseline's. */
struct change {
	enum cause cause;
	uint64_t stalls_then, exchanges_then;
	uint64_t stalls_now, exchanges_now;
	double p; /* of such an increase, or a greater one, by chance; see check/judge/baseline.h */
	bool worse; /* significantly more than then */
	bool better;
};

/* An endpoint's requests in one run. */
struct endpoint_time {
	enum request_role role;
	char comm[NS_COMM_LEN];
	uint32_t port;
	uint64_t count;
	uint64_t median_ns; /* without its wait for a CPU, which is the machine's */
	enum cause most;    /* of it; of a run, not of a file */
};

#define ENDPOINTS_MOST       32
#define REQUEST_CHANGES_MOST (2 * ENDPOINTS_MOST) /* no endpoint may be of both sides */

/* How long an endpoint's requests take against the baseline's. */
struct request_change {
	struct endpoint_time then, now; /* count 0: it is not there */
	bool worse, better;             /* neither: within the noise, or too few to tell */
};

/* Their numbers are exit statuses. */
enum verdict_kind {
	CHECK_WITHIN = 0,
	CHECK_OVER = 1,   /* over budget, or significantly worse than the baseline */
	CHECK_UNABLE = 2, /* netstall could not do its work */
	CHECK_INCONCLUSIVE = 3,
	CHECK_PROGRAM_FAILED = 4,
};

struct outcome {
	enum verdict_kind verdict;
	int exit_status;             /* verdict's, but for --inconclusive=pass|fail */
	const struct report *report; /* NULL: nothing was traced */
	char target[128];            /* for people: "echo_bench (4242)", "./integration-test" */
	double seconds;              /* length of what was judged: the window without the warm-up */
	double warmup_seconds;       /* not judged, 0 none */
	char *unable;       /* why netstall could not do its work, a sentence; NULL: it could */
	uint64_t exchanges; /* of the target's connections, judged part */
	/* The warm-up's exchanges and connections are among them: they were not told apart. */
	bool traffic_of_warmup;
	uint64_t min_exchanges;
	size_t connections; /* of the target, with traffic */
	size_t gate_count;
	struct gate gates[BUDGETS];
	/* Causes without a budget that came up, most time first. */
	size_t other_count;
	struct gate others[CAUSE_COUNT];
	size_t reason_count;
	struct reason reasons[OUTCOME_REASONS];
	struct program_outcome program;
	const char *baseline;       /* file name, NULL none */
	double baseline_confidence; /* 0.99 */
	size_t change_count;        /* causes of either side; worse ones first */
	struct change changes[CAUSE_COUNT + 1];
	size_t request_change_count; /* endpoints of both sides; worse ones first */
	struct request_change request_changes[REQUEST_CHANGES_MOST];
	const char *kept;  /* the folder of --keep, NULL none */
	size_t kept_count; /* recordings in it, one of a stall each */
	/* The reports that were written besides, in words for people: "JUnit", its path. */
	size_t file_count;
	struct outcome_file {
		const char *what;
		const char *path;
	} files[OUTCOME_FILES];
};

/* A cause comes up more often than in the baseline, or an endpoint's requests take longer. */
bool outcome__is_worse(const struct outcome *outcome);

/* "within budget", "over budget", "netstall failed", "inconclusive", "program failed" */
const char *verdict_kind__name(enum verdict_kind kind);

#endif
