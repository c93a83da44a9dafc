/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The run of `netstall prove`: a look at what stalls, then windows with an option set on the
 * connections of one service and windows without it, and what was measured in each.
 */
#ifndef NETSTALL_CMD_PROVE_RUN_H
#define NETSTALL_CMD_PROVE_RUN_H

#include "user/analyze/report.h"
#include "user/check/judge/effect.h"
#include "user/kernel/socket_option.h"
#include "user/kernel/target.h"

struct prove_plan {
	const struct target *target;
	const struct session_options *session;
	const struct socket_option_change *change;
	double look_s;
	unsigned blocks; /* of each kind */
	unsigned port;   /* of the service; 0: the one whose stalls cost most */
	bool dry_run;    /* nothing is changed */
};

/* Two measures of a window; of either more is better. */
enum prove_measure {
	PROVE_RATE, /* requests a second */
	PROVE_TIME, /* one over the mean time of a request, 1/ms */
};

/* Of all windows with the option, or of all without. */
struct prove_side {
	double requests, segments, cpu_ns; /* segments: with_later 0, not counted */
	uint64_t p50_ns, p99_ns;           /* of a request's time; 0: not known */
};

/* What the look has found, as trace says it. */
struct prove_prediction {
	bool found;      /* else the rest is nothing */
	bool is_removed; /* of what the option removes: it may be compared with what is measured */
	enum cause cause;
	char headline[400];
	/* By the paths of the look's requests; saves_of_ns 0: no saving is claimed. */
	uint64_t saves_ns, saves_of_ns;
};

struct prove_result {
	size_t conns;    /* that were changed, or would be; with those to come: of the look */
	bool with_later; /* those to come as well, by what listens for them */
	bool both_ends;  /* the CPU of a request is that of both, else of the one with the option */
	char service[128]; /* "1 connection of demo-client/17 to 127.0.0.1:8080" */
	struct prove_prediction predicted;
	const char *why_not; /* nothing was tried; NULL: it was */
	bool saw_nothing;    /* that is why */
	bool is_cut_short;   /* not all windows have passed */
	enum prove_measure measure;
	struct effect_block *blocks; /* owned; by measure */
	struct effect_block *others; /* owned; of the target's other connections, PROVE_TIME */
	size_t block_count;
	double others_value[2];     /* [with], no control; 0: no request was seen there */
	double value[2][2];         /* mean of all windows: [is_control][with], by measure */
	double rate[2];             /* requests a second: [with], no control */
	struct prove_side sides[2]; /* [option set] */
	uint64_t altered_ns;        /* for so long in all it was set */
};

/*
 * Look, change, measure, restore. Returns 0, or -errno after it has said why; in both cases what
 * was changed is set back, or it has said that it could not be. What it is about to do it says on
 * stderr. out is the caller's to clear.
 */
int prove_run(const struct prove_plan *plan, struct prove_result *out);
void prove_result__clear(struct prove_result *result);

#endif
