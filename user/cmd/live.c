// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/live.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user/analyze/profile/profile_records.h"
#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/kernel/privileges.h"
#include "user/process/report_file.h"
#include "user/record/losses.h"

/* The kernel wakes nobody: the reader comes by the clock. */
#define QUIET_POLL_MS     50
#define VERBOSE_POLL_MS   5
#define PROGRESS_EVERY_NS 500000000ull

struct live {
	const struct live_options *options;
	struct session *session;
	struct pipeline *pipeline;
	struct resolver *resolver;
	struct program *program; /* of the target; NULL: it has none */
	struct program *own;     /* the same, when it was started here */
	struct profile *profile; /* NULL: nothing was profiled */
	struct offcpu_options offcpu;
	struct by_cause *by_cause; /* NULL: causes were not asked for */
	uint64_t started_ns;
	uint64_t progress_ns;
	size_t stalls;
	enum cause last_stall; /* its cause */
	char target[128];
	bool marks_over;        /* stdin has come to its end */
	char mark[NS_MARK_LEN]; /* the line so far, what fits of it */
	size_t mark_used;
};

static bool progress_shown;

void live__clear_progress(void)
{
	if (!progress_shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress_shown = false;
}

static void show_progress(struct live *live, uint64_t now)
{
	const struct report *report = pipeline__report(live->pipeline);
	char events[TEXT_COUNT], stalls[TEXT_COUNT];

	if (!live->options->progress || now - live->progress_ns < PROGRESS_EVERY_NS)
		return;
	live->progress_ns = now;
	fprintf(stderr, "\r\033[K%.1f s", (now - live->started_ns) / 1e9);
	if (!live->options->session.offcpu)
		fprintf(stderr, "  %s events  %s stalls%s%s",
			text__count(events, sizeof(events), report->events),
			text__count(stalls, sizeof(stalls), live->stalls),
			live->stalls ? ", latest: " : "",
			live->stalls ? cause__info(live->last_stall)->id : "");
	fflush(stderr);
	progress_shown = true;
}

static void record_one(void *context, const void *record, size_t len)
{
	const struct live *live = context;

	for (size_t i = 0; i < LIVE_RECORDINGS; i++)
		if (live->options->recordings[i])
			recording__add(live->options->recordings[i], record, len);
}

static void feed(void *context, const void *record, size_t len)
{
	struct live *live = context;

	record_one(live, record, len);
	pipeline__feed(live->pipeline, record, len);
}

static void on_record(void *context, const struct report *so_far, const union record *record)
{
	struct live *live = context;

	live->options->sink.on_record(live->options->sink.context, so_far, record);
}

static void on_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	struct live *live = context;

	live->stalls++;
	live->last_stall = stall->cause;
	if (live->options->sink.on_stall)
		live->options->sink.on_stall(live->options->sink.context, so_far, stall);
}

static void on_wait(void *context, const struct wait_record *waited)
{
	struct live *live = context;

	by_cause__explain(live->by_cause, waited);
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void announce_profile(const struct live *live)
{
	const struct offcpu_options *options = live->options->session.offcpu;
	bool several = options->everything || session__target_count(live->session) > 1;
	char who[sizeof(live->target)];

	if (options->everything)
		snprintf(who, sizeof(who), "all %sthreads",
			 options->user_threads     ? "user "
			 : options->kernel_threads ? "kernel "
						   : "");
	else if (*live->target)
		snprintf(who, sizeof(who), "%s", live->target);
	else
		target__describe(live->options->target, who, sizeof(who));
	log__note("profiling where %s sleep%s and who wakes it, %u wake%s deep; Ctrl-C to stop",
		  who, several ? "" : "s", options->depth, options->depth == 1 ? "" : "s");
}

static void announce(struct live *live)
{
	const struct report *report = pipeline__report(live->pipeline);
	const struct target *target = live->options->target;
	char *who = live->target;
	size_t conns = 0;

	/* The other end of a connection on this host is not another one, be it a target as well. Of
	 * very many not each is in the report. */
	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *peer = report__peer(report, &report->conns[i]);

		conns += report__stands_for_itself(report, &report->conns[i]) &&
			 !(peer && peer->id.role & NS_ROLE_TARGET &&
			   peer->id.head.conn < report->conns[i].id.head.conn);
	}
	if (conns < session__conns_found(live->session))
		conns = session__conns_found(live->session);
	session__first_target(live->session, who, sizeof(live->target));
	if (live->options->silent)
		return;
	if (session__target_count(live->session) > 1)
		snprintf(who + strlen(who), sizeof(live->target) - strlen(who), " and %zu more",
			 session__target_count(live->session) - 1);
	if (live->options->session.offcpu) {
		announce_profile(live);
		return;
	}
	log__note("tracing %s: %zu connection%s; Linux %s, %s; Ctrl-C to stop",
		  *who ? who : report->session.target, conns, plural(conns), report->session.kernel,
		  way__name(session__way(live->session)));
	if (!conns && (target->lport || target->rport))
		log__note(
			"no connection has that port yet: those that are made from now on are traced");
	if (!report->conn_count && session__children(live->session))
		log__note(
			"the target has no TCP connection, and %u of its children have or accept some: add --children to trace them",
			session__children(live->session));
}

/* ---- marks ---- */

static void end_mark(struct live *live, uint64_t now)
{
	struct ns_marked out = {.head = {.type = NS_MARK, .len = sizeof(out), .ts = now}};

	memcpy(out.text, live->mark, live->mark_used);
	if (live->mark_used)
		feed(live, &out, sizeof(out));
	live->mark_used = 0;
}

/* Whatever there is of stdin: a mark is of the time when its line ends. */
static void read_marks(struct live *live, uint64_t now)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[1024];
	ssize_t got;

	if (!live->options->marks || live->marks_over || poll(&in, 1, 0) <= 0)
		return;
	got = read(STDIN_FILENO, bytes, sizeof(bytes));
	for (ssize_t i = 0; i < got; i++) {
		if (bytes[i] == '\n')
			end_mark(live, now);
		else if (live->mark_used < sizeof(live->mark) - 1)
			live->mark[live->mark_used++] = bytes[i];
	}
	if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)))
		return;
	end_mark(live, now);
	live->marks_over = true;
}

/* Until it is time for the next look, or somebody says that it is. */
static void pause_for(const struct live *live, uint64_t ns)
{
	uint64_t now = clock__now(), due = session__due_ns(live->session);
	struct timespec time;
	bool marks = live->options->marks && !live->marks_over;
	struct pollfd news[] = {
		{.fd = live->program ? program__fd(live->program) : -1, .events = POLLIN},
		{.fd = session__news_fd(live->session), .events = POLLIN},
		{.fd = marks ? STDIN_FILENO : -1, .events = POLLIN}};

	if (due < now + ns)
		ns = due > now ? due - now : 0;
	time = (struct timespec){ns / 1000000000, ns % 1000000000};
	ppoll(news, 3, &time, NULL);
}

/* Somebody asks for the end, or there is no memory to go on with. */
static bool is_to_end(const struct live_options *options)
{
	return xalloc__is_short() || (!options->own_signals && signals__end_was_asked());
}

static bool goes_on(struct live *live, uint64_t now)
{
	const struct live_options *options = live->options;

	if (is_to_end(options) || (options->tick && !options->tick(options->context, live, now)))
		return false;
	if (options->output && report_file__is_lost(options->output))
		return false;
	return live->program ? program__poll(live->program) : !session__targets_gone(live->session);
}

static void idle(struct live *live, uint64_t now)
{
	for (size_t i = 0; i < LIVE_RECORDINGS; i++)
		if (live->options->recordings[i])
			recording__idle(live->options->recordings[i], now);
	pipeline__idle(live->pipeline, now);
}

/*
 * What a report is made of at its end is not to be taken back, so it is made of a copy. Waited for,
 * as it prints to where this one prints.
 */
void live__judge_so_far(struct live *live, void (*with)(void *context, const struct report *report),
			void *context)
{
	pid_t pid;

	session__tell_totals(live->session);
	idle(live, clock__now());
	live__clear_progress();
	fflush(NULL); /* or both would write it */
	pid = fork();
	if (pid < 0) {
		log__error("no report now: %s", strerror(errno));
		return;
	}
	if (pid) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return;
	}
	with(context, pipeline__finish_interim(live->pipeline));
	_exit(0);
}

static void loop(struct live *live)
{
	bool verbose = live->options->session.verbose || live->options->session.uring_events;
	uint64_t pause = (verbose ? VERBOSE_POLL_MS : QUIET_POLL_MS) * 1000000ull;
	uint64_t now = clock__now();
	double seconds = live->options->seconds;
	uint64_t end = seconds ? now + (uint64_t)(seconds * 1e9) : UINT64_MAX;
	bool all;

	while (now < end && goes_on(live, now)) {
		pause_for(live, end - now < pause ? end - now : pause);
		/* What comes while it reads is not older than this. */
		now = clock__now();
		read_marks(live, now);
		all = session__poll(live->session);
		if (all)
			idle(live, now);
		if (live->options->interim && signals__report_was_asked())
			live__judge_so_far(live, live->options->interim, live->options->context);
		show_progress(live, now);
	}
	live__clear_progress();
}

const char *live__target(const struct live *live)
{
	return live->target;
}

bool live__listens(const struct live *live, uint16_t port)
{
	return session__listens(live->session, port);
}

const struct report *live__tell_totals(struct live *live)
{
	session__tell_totals(live->session);
	return pipeline__report(live->pipeline);
}

const struct report *live__begin_judging(struct live *live, uint64_t now_ns)
{
	pipeline__judge_from(live->pipeline, now_ns);
	return live__tell_totals(live);
}

/* Up to the attach. */
static int begin(struct live *live)
{
	const struct live_options *options = live->options;
	struct session_options session = options->session;
	int err;

	if (session.offcpu) {
		live->offcpu = *session.offcpu;
		live->offcpu.by_cause = live->by_cause;
		session.offcpu = &live->offcpu;
	}
	live->program = options->program;
	if (!live->program && options->target->program) {
		live->program = live->own = program__new(options->target->program, false);
		if (!live->program)
			return -ECHILD;
	}
	if (!options->own_signals)
		signals__catch(options->signals);
	session.resolver = live->resolver = resolver__new(session.own_code);
	err = session__open(&session, options->target,
			    live->program ? program__pid(live->program) : 0, feed, live,
			    &live->session);
	return err ? err : session__attach(live->session);
}

static void take_profile(struct live *live)
{
	live->profile = session__profile(live->session);
	if (!live->profile)
		return;
	/* With these lost, waits may have no cause. */
	if (live->by_cause)
		live->profile->lost[PROFILE_LOST_RECORDS].count +=
			losses__hiding(live__report(live)->lost);
	if (live->options->recordings[0])
		profile__write(live->profile, record_one, live);
}

static void say_cannot_run(const char *program, int err)
{
	if (err == -ENOENT && text__is_number(program))
		log__error("cannot run %s: %s; a pid follows -p: -p %s", program, strerror(-err),
			   program);
	else
		log__error("cannot run %s: %s", program, strerror(-err));
}

int live__run(const struct live_options *options, struct live **out)
{
	struct live *live = xcalloc(1, sizeof(*live));
	const struct pipeline_sink sink = {.on_record = options->sink.on_record ? on_record : NULL,
					   .on_stall = on_stall,
					   .on_wait = options->by_cause ? on_wait : NULL,
					   .context = live};
	int err;

	*out = NULL;
	live->options = options;
	live->by_cause = options->by_cause ? by_cause__new() : NULL;
	live->pipeline = pipeline__new(&sink);
	err = begin(live);
	if (err) {
		live__free(live);
		return err;
	}
	privileges__drop();
	live->started_ns = live->progress_ns = clock__now();
	session__poll(live->session);
	announce(live);
	if (!live->resolver)
		log__note(
			"names of functions are missing: the processes that read them could not "
			"be started");
	if (live->program)
		err = program__release(live->program);
	if (err && live->own)
		say_cannot_run(options->target->program[0], err);
	if (options->started)
		options->started(options->context);
	loop(live);
	if (xalloc__is_short())
		log__error(
			"memory ran out after %.1f s: what was seen by then is reported; allow "
			"netstall more, or watch less",
			(clock__now() - live->started_ns) / 1e9);
	session__finish(live->session);
	pipeline__finish(live->pipeline);
	take_profile(live);
	session__close(live->session);
	live->session = NULL;
	if (err && live->own) {
		live__free(live);
		return err;
	}
	*out = live;
	return 0;
}

const struct report *live__report(const struct live *live)
{
	return pipeline__report(live->pipeline);
}

struct profile *live__profile(const struct live *live)
{
	return live->profile;
}

void live__free(struct live *live)
{
	if (!live)
		return;
	session__close(live->session);
	resolver__free(live->resolver);
	pipeline__free(live->pipeline);
	profile__free(live->profile);
	by_cause__free(live->by_cause);
	program__free(live->own);
	free(live);
}
