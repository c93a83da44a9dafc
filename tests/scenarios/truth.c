// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The record of what really happened, by the clock and the scheduler's own account. */
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

/* Shorter phases are no stalls by netstall's threshold of 10 ms; those between are near it. */
#define PAUSE_NS MS(8)

static bool process_is_target;

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void sleep_until(uint64_t ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

void sleep_ms(uint32_t ms)
{
	sleep_until(now_ns() + MS(ms));
}

static void complain(const char *format, va_list args)
{
	fputs("scene: ", stderr);
	vfprintf(stderr, format, args);
	fputs("\n", stderr);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	_exit(1);
}

void cannot(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	_exit(77);
}

void stage__is_target(bool is_target)
{
	process_is_target = is_target;
}

void stage__enter(struct stage *stage)
{
	uint32_t i = atomic_fetch_add(&stage->thread_count, 1);

	if (i >= SCENE_THREADS)
		die("too many threads");
	atomic_store(&stage->tids[i], gettid());
}

/* Of one thread, ns on a CPU, and ns spent runnable and not running: schedstat. */
struct sched_times {
	unsigned long long ran;
	unsigned long long queued;
};

static struct sched_times times_of(uint32_t tid)
{
	struct sched_times times = {0}, none = {0};
	char path[48], text[80] = "";
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/schedstat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return none; /* it has ended */
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	return size > 0 && sscanf(text, "%llu %llu", &times.ran, &times.queued) == 2 ? times : none;
}

static uint64_t queued_of(uint32_t tid)
{
	return times_of(tid).queued;
}

static struct sched_times times_of_all(struct stage *stage)
{
	uint32_t count = atomic_load(&stage->thread_count);
	struct sched_times sum = {0};

	/* Of very many threads that only wait, each would cost more than it tells. */
	for (uint32_t i = 0; i < count && i < 16; i++) {
		struct sched_times times = times_of(atomic_load(&stage->tids[i]));

		sum.ran += times.ran;
		sum.queued += times.queued;
	}
	return sum;
}

uint64_t stage__queued(struct stage *stage)
{
	return times_of_all(stage).queued;
}

void phases__begin(struct phases *phases, struct stage *stage)
{
	*phases = (struct phases){.stage = stage,
				  .tid = gettid(),
				  .own_ns = queued_of(gettid()),
				  .queued_ns = stage__queued(stage),
				  .start_ns = now_ns()};
}

/* That all threads had run when this one had its last answer. */
static _Thread_local uint64_t ran_before;

void stage__request(struct stage *stage, uint64_t start_ns)
{
	struct request request = {
		.start_ns = asked_since(start_ns), .written_ns = start_ns, .end_ns = now_ns()};
	uint32_t i = atomic_fetch_add(&stage->request_count, 1);
	uint64_t ran = times_of_all(stage).ran;

	if (i >= SCENE_REQUESTS)
		die("too many requests");
	if (ran_before && ran > ran_before)
		request.ran_ns = ran - ran_before;
	ran_before = ran;
	stage->requests[i] = request;
}

struct part part__begin(void)
{
	return (struct part){.queued_ns = queued_of(gettid()), .start_ns = now_ns()};
}

void part__end(struct stage *stage, const struct part *part)
{
	uint64_t ns = now_ns() - part->start_ns, queued = queued_of(gettid()) - part->queued_ns;

	if (atomic_load(&stage->begin_ns) && ns > queued)
		atomic_fetch_add(&stage->part_ns, ns - queued);
}

static void keep(struct stage *stage, const struct pause *pause)
{
	uint32_t i = atomic_fetch_add(&stage->stall_count, 1);

	if (i >= SCENE_STALLS)
		die("too many stalls");
	stage->stalls[i] = *pause;
}

/* What the network does is told before what the machine does, and that before an own wish. */
static bool is_of_network(const char *cause)
{
	static const char *const others[] = {"timer", "lock", "ipc",      "disk", "memory",
					     "idle",  "cpu",  "runqueue", "self"};

	for (size_t i = 0; cause && i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(cause, others[i]))
			return false;
	return cause;
}

/*
 * @queued: what all threads of the scene together waited for a CPU; @own: this thread. Where TCP
 * or the other end had their part and the CPUs theirs, so that neither alone made the stall, or the
 * CPUs the larger one, no one name is right.
 */
static const char *judge(const char *cause, uint64_t ns, uint64_t queued, uint64_t own)
{
	bool stalls_without = queued <= ns / 2 && ns - queued >= STALL_NS;

	if (2 * own > ns && !is_of_network(cause))
		return "runqueue";
	/* It was to be held up by who took its CPU, and the scheduler knows of no such wait. */
	if (cause && !strcmp(cause, "runqueue"))
		return "unclear";
	return cause && stalls_without ? cause : "unclear";
}

void phases__end(struct phases *phases, const char *cause)
{
	struct pause pause = {.start_ns = phases->start_ns, .end_ns = now_ns(), .tid = phases->tid};
	uint64_t before = phases->queued_ns, own = phases->own_ns;

	phases->own_ns = queued_of(phases->tid);
	own = phases->own_ns - own;
	phases->queued_ns = stage__queued(phases->stage);
	phases->start_ns = pause.end_ns;
	if (pause.end_ns - pause.start_ns < PAUSE_NS)
		return;
	if (phases->queued_ns > before)
		pause.queued_ns = phases->queued_ns - before;
	cause = judge(cause, pause.end_ns - pause.start_ns, pause.queued_ns, own);
	if (!strcmp(cause, "idle") || !strcmp(cause, "cpu"))
		return;
	snprintf(pause.cause, sizeof(pause.cause), "%s", cause);
	keep(phases->stage, &pause);
}

void stage__stall(struct stage *stage, uint64_t start_ns, const char *cause)
{
	struct pause pause = {.start_ns = start_ns, .end_ns = now_ns(), .tid = gettid()};

	snprintf(pause.cause, sizeof(pause.cause), "%s", cause);
	if (pause.end_ns - pause.start_ns >= PAUSE_NS)
		keep(stage, &pause);
	if (pause.end_ns - pause.start_ns >= STALL_NS)
		atomic_fetch_add(&stage->part_ns, pause.end_ns - pause.start_ns);
}

/* That the calling thread has used. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* A gap in what a computing thread sees of the clock: it had no CPU, or the machine had none. */
static void keep_gap(struct stage *stage, uint64_t start_ns, uint64_t end_ns, uint64_t *queued_ns)
{
	struct pause gap = {
		.start_ns = start_ns, .end_ns = end_ns, .tid = gettid(), .cause = "runqueue"};
	uint64_t before = *queued_ns;

	*queued_ns = queued_of(gap.tid);
	gap.queued_ns = *queued_ns - before;
	if (process_is_target && 5 * gap.queued_ns >= 4 * (end_ns - start_ns))
		keep(stage, &gap);
}

void compute_ms(struct stage *stage, uint32_t ms, const char *cause)
{
	uint64_t last = now_ns(), used = cpu_ns(), now;

	while (cpu_ns() - used < MS(ms)) {
		now = now_ns();
		if (cause && now - last >= PAUSE_NS)
			stage__stall(stage, last, cause);
		last = now;
	}
}

bool go_ahead(void)
{
	struct sched_param first = {.sched_priority = 1};

	return sched_getscheduler(0) == SCHED_OTHER && !sched_setscheduler(0, SCHED_FIFO, &first);
}

void spin_ms(struct stage *stage, uint32_t ms)
{
	struct sched_param none = {0};
	uint64_t queued_ns, last, end, now;
	bool went_ahead = go_ahead();

	queued_ns = queued_of(gettid());
	last = now_ns();
	for (end = last + MS(ms); last < end; last = now) {
		now = now_ns();
		if (now - last >= PAUSE_NS)
			keep_gap(stage, last, now, &queued_ns);
	}
	if (went_ahead)
		sched_setscheduler(0, SCHED_OTHER, &none);
}

void stage__wait_at_gate(struct stage *stage)
{
	char byte;

	close(stage->gate[1]);
	atomic_store(&stage->at_gate, true);
	if (read(stage->gate[0], &byte, 1) != 1)
		_exit(0); /* the scene was given up */
	ran_before = times_of_all(stage).ran;
	atomic_store(&stage->queued_ns, stage__queued(stage));
	atomic_store(&stage->begin_ns, now_ns());
}
