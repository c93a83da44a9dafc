// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/habits.h"

#include <stdlib.h>

#include "user/base/xalloc.h"

/* Fewer than this say nothing about a habit. */
#define ENOUGH 100

/* What a test looks at: a connection, a thread, or a process with all of both. */
struct subject {
	uint32_t pid;
	uint32_t tid;   /* 0: a connection or a process */
	uint32_t conn;  /* 0: a thread or a process */
	double seconds; /* of the window */
	/* Of a connection; of its other end, NULL: out of sight. */
	const struct ns_conn_totals *use;
	const struct ns_conn_totals *peers;
	bool stalls_by_nagle;
	/* Of a thread, or all threads of a process. */
	uint64_t switches;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t wakes;
	uint64_t empty_wakes;
	uint64_t on_cpu_ns;
	uint64_t runqueue_ns;
	/* Of a process: all its connections, and its threads that switch for each exchange. */
	uint64_t bytes;
	uint64_t exchanges;
	uint64_t switching;
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static bool is_often(const struct subject *subject, uint64_t count)
{
	return count >= ENOUGH && (double)count >= ENOUGH * subject->seconds;
}

/* ---- writes ---- */

/*
 * What fits a segment of Ethernet with time stamps. On loopback an mss is 32 kB or more, so
 * that nearly all is small by the mss: only what would be small elsewhere too is a habit.
 */
#define ETHERNET_MSS 1448

/* On average a message of three writes or fewer has one that joins another. */
#define CLOSE_SHARE (1.0 / 3)

/*
 * Small pieces of requests that Nagle's algorithm holds, and no time comes of it: so far an
 * acknowledgement, or an answer, has let each go at once. One for each second request or so is no
 * chance, nor one in a stream, which has no requests.
 */
#define LATENT_ENOUGH 50

static bool is_latent(const struct subject *subject)
{
	const struct ns_conn_totals *use = subject->use;
	uint32_t held = use->holds[NS_HOLD_NAGLE];

	return held >= LATENT_ENOUGH && 2 * held >= use->exchanges &&
	       use->exchanges >= LATENT_ENOUGH && held <= 2 * use->exchanges &&
	       2 * use->close_writes >= held && !subject->stalls_by_nagle;
}

static void measure_latent(const struct subject *subject, struct report_habit *habit)
{
	const struct ns_conn_totals *use = subject->use, *peers = subject->peers;

	habit->count = use->holds[NS_HOLD_NAGLE];
	habit->bytes = use->bytes_out / use->writes;
	habit->share = share(habit->count, use->exchanges);
	habit->is_local = peers;
	habit->by_acks = peers && peers->segs_out >= peers->data_segs_out + habit->count / 2;
}

static bool writes_small(const struct subject *subject)
{
	const struct ns_conn_totals *use = subject->use;

	return !is_latent(subject) && use->writes >= ENOUGH &&
	       use->bytes_out / use->writes < ETHERNET_MSS &&
	       share(use->small_writes, use->writes) >= 0.5 &&
	       share(use->close_writes, use->writes) >= CLOSE_SHARE;
}

static void measure_writes(const struct subject *subject, struct report_habit *habit)
{
	const struct ns_conn_totals *use = subject->use;

	habit->count = use->writes;
	habit->bytes = use->bytes_out / use->writes;
	habit->share = share(use->small_writes, use->writes);
	habit->close_share = share(use->close_writes, use->writes);
}

/* ---- threads ---- */

/*
 * From half on, more is spent on being woken than on what it is for. A worker that computes and
 * never touches the network wakes for a purpose too: then it is on its CPU for longer than a
 * switch costs, 2 to 5 us.
 */
#define EMPTY_SHARE       0.5
#define EMPTY_MOST_CPU_NS 20000

static bool wakes_for_nothing(const struct subject *subject)
{
	return is_often(subject, subject->empty_wakes) &&
	       share(subject->empty_wakes, subject->wakes) >= EMPTY_SHARE &&
	       subject->on_cpu_ns / subject->wakes < EMPTY_MOST_CPU_NS;
}

static void measure_wakes(const struct subject *subject, struct report_habit *habit)
{
	habit->per_s = (double)subject->wakes / subject->seconds;
	habit->share = share(subject->empty_wakes, subject->wakes);
}

/*
 * More often sent off the CPU than going by itself, and then away for long: it has work, and others
 * compute meanwhile. A thread that wakes another one which answers at once loses the CPU as often,
 * but for microseconds. With more threads each is preempted more seldom, and away for longer.
 */
#define PREEMPTED_ENOUGH  20
#define PREEMPTED_SHARE   0.2
#define PREEMPTED_AWAY_NS 500000

static uint64_t wanted_cpu_ns(const struct subject *subject)
{
	return subject->on_cpu_ns + subject->runqueue_ns;
}

static bool is_preempted(const struct subject *subject)
{
	return subject->involuntary >= PREEMPTED_ENOUGH &&
	       (double)subject->involuntary >= PREEMPTED_ENOUGH * subject->seconds &&
	       subject->involuntary > subject->voluntary &&
	       subject->runqueue_ns / subject->involuntary >= PREEMPTED_AWAY_NS &&
	       share(subject->runqueue_ns, wanted_cpu_ns(subject)) >= PREEMPTED_SHARE;
}

static void measure_preemption(const struct subject *subject, struct report_habit *habit)
{
	habit->per_s = (double)subject->involuntary / subject->seconds;
	habit->share = share(subject->runqueue_ns, wanted_cpu_ns(subject));
}

/* ---- processes ---- */

/*
 * A blocking client sleeps once an exchange, an epoll server at most once, and handing the work
 * over to another thread and back costs two more. One thread alone that sleeps more often waits
 * in steps, or for a disk: that has other names.
 */
#define SWITCHES_MOST 4.0

static bool switches_much(const struct subject *subject)
{
	return subject->exchanges >= ENOUGH && subject->switching > 1 &&
	       share(subject->switches, subject->exchanges) >= SWITCHES_MOST;
}

static void measure_switches(const struct subject *subject, struct report_habit *habit)
{
	habit->count = subject->switching;
	habit->switches = share(subject->switches, subject->exchanges);
}

#define MIB 1048576.0
/* Bulk: so much a second, in the main not as answers to requests of less than this size. */
#define BULK_PER_S        (4 * MIB)
#define BULK_PER_EXCHANGE 65536
/*
 * A wake with its switch costs some 5 us, in which a CPU copies about 32 KiB out of and into the
 * kernel (7 GB/s): who gets less for a wake spends more on waking than on copying.
 */
#define BYTES_PER_WAKE 32768
/* And nothing else: what is longer on the CPU for each wake computes. */
#define WAKE_MOST_CPU_NS 20000
/* Who is bound by wakes is asleep between them, so a fifth of a CPU has to do. */
#define WAKE_BUSY 0.2

static bool moves_bulk(const struct subject *subject)
{
	return (double)subject->bytes >= BULK_PER_S * subject->seconds &&
	       subject->bytes / (subject->exchanges + 1) >= BULK_PER_EXCHANGE;
}

static bool gets_little_for_a_wake(const struct subject *subject)
{
	return subject->voluntary >= ENOUGH &&
	       subject->bytes / subject->voluntary < BYTES_PER_WAKE &&
	       subject->on_cpu_ns / subject->voluntary < WAKE_MOST_CPU_NS;
}

/* Of one CPU, waiting for one included; of all threads together. */
static double busy_share(const struct subject *subject)
{
	return (double)wanted_cpu_ns(subject) / 1e9 / subject->seconds;
}

static bool is_wake_bound(const struct subject *subject)
{
	return moves_bulk(subject) && gets_little_for_a_wake(subject) &&
	       busy_share(subject) >= WAKE_BUSY;
}

static void measure_bulk(const struct subject *subject, struct report_habit *habit)
{
	habit->per_s = (double)subject->bytes / MIB / subject->seconds;
	habit->switches = (double)subject->switches / ((double)subject->bytes / MIB);
	habit->bytes = subject->voluntary ? subject->bytes / subject->voluntary : 0;
	habit->share = busy_share(subject);
}

/* ---- the table ---- */

enum scope { OF_CONN, OF_THREAD, OF_PROCESS };

static const struct {
	const char *id;
	enum scope scope;
	bool (*test)(const struct subject *subject);
	void (*measure)(const struct subject *subject, struct report_habit *habit);
} habits[HABIT_KINDS] = {
	[HABIT_WAKE_BOUND] = {"wake-bound", OF_PROCESS, is_wake_bound, measure_bulk},
	[HABIT_SWITCHES] = {"switches-per-exchange", OF_PROCESS, switches_much, measure_switches},
	[HABIT_LATENT] = {"latent", OF_CONN, is_latent, measure_latent},
	[HABIT_SMALL_WRITES] = {"small-writes", OF_CONN, writes_small, measure_writes},
	[HABIT_EMPTY_WAKES] = {"empty-wakes", OF_THREAD, wakes_for_nothing, measure_wakes},
	[HABIT_PREEMPTED] = {"preempted", OF_THREAD, is_preempted, measure_preemption},
};

const char *habit__id(enum habit habit)
{
	return habits[habit].id;
}

/* Of one kind of habit so many, so that 64 connections alike do not crowd out the rest. */
#define OF_A_KIND 4

struct writer {
	struct report *report;
	unsigned reported[HABIT_KINDS];
};

static void test_all(struct writer *writer, enum scope scope, const struct subject *subject)
{
	struct report *report = writer->report;

	for (size_t i = 0; i < HABIT_KINDS; i++) {
		struct report_habit *habit = &report->habits[report->habit_count];

		if (habits[i].scope != scope || report->habit_count == REPORT_HABITS ||
		    writer->reported[i] == OF_A_KIND || !habits[i].test(subject))
			continue;
		*habit = (struct report_habit){.habit = (enum habit)i,
					       .pid = subject->pid,
					       .tid = subject->tid,
					       .conn = subject->conn};
		habits[i].measure(subject, habit);
		writer->reported[i]++;
		report->habit_count++;
	}
}

static void add_thread(struct subject *subject, const struct report_thread *thread)
{
	subject->voluntary += thread->voluntary;
	subject->involuntary += thread->involuntary;
	subject->switches += (uint64_t)thread->voluntary + thread->involuntary;
	subject->wakes += thread->wakes;
	subject->empty_wakes += thread->empty_wakes;
	subject->on_cpu_ns += thread->on_cpu_ns;
	subject->runqueue_ns += thread->runqueue_ns;
}

/* What is known of the process of that number; NULL: it is not listed. */
static struct subject *subject_of(const struct report *report, struct subject *processes,
				  uint32_t pid)
{
	const struct report_process *process = report__process(report, pid);

	return process ? &processes[process - report->processes] : NULL;
}

/* Of each, in the report's order. There may be as many of them as of their connections: all are
 * gone through once. */
static struct subject *sum_processes(const struct report *report, double seconds)
{
	struct subject *processes = xcalloc(report->process_count, sizeof(*processes)), *subject;

	for (size_t i = 0; i < report->process_count; i++)
		processes[i] = (struct subject){.pid = report->processes[i].pid,
						.seconds = seconds,
						.bytes = report->processes[i].past_bytes,
						.exchanges = report->processes[i].past_exchanges};
	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i];

		subject = subject_of(report, processes, conn->id.head.tgid);
		if (!subject)
			continue;
		subject->bytes += conn->totals.bytes_out + conn->totals.bytes_in;
		subject->exchanges += conn->totals.exchanges;
	}
	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		subject = subject_of(report, processes, thread->pid);
		if (!subject)
			continue;
		add_thread(subject, thread);
		subject->switching += thread->voluntary >= subject->exchanges;
	}
	return processes;
}

static void test_processes(struct writer *writer, double seconds)
{
	const struct report *report = writer->report;
	struct subject *processes = sum_processes(report, seconds);

	for (size_t i = 0; i < report->process_count; i++) {
		if (report->processes[i].role & NS_ROLE_TARGET)
			test_all(writer, OF_PROCESS, &processes[i]);
	}
	free(processes);
}

static void test_thread(struct writer *writer, const struct report_thread *thread, double seconds)
{
	struct subject subject = {.pid = thread->pid, .tid = thread->tid, .seconds = seconds};

	add_thread(&subject, thread);
	test_all(writer, OF_THREAD, &subject);
}

static void test_conn(struct writer *writer, const struct report_conn *conn, double seconds)
{
	const struct report_conn *peer = report__peer(writer->report, conn);
	const uint64_t nagles = 1ull << CAUSE_NAGLE | 1ull << CAUSE_NAGLE_DELACK;
	const struct subject subject = {.pid = conn->id.head.tgid,
					.conn = conn->id.head.conn,
					.seconds = seconds,
					.use = &conn->totals,
					.peers = peer ? &peer->totals : NULL,
					.stalls_by_nagle = conn->stalled_by & nagles};

	test_all(writer, OF_CONN, &subject);
}

void habits__write(struct report *report)
{
	double seconds = (double)(report->end_ts - report->start_ts) / 1e9;
	struct writer writer = {.report = report};

	if (seconds <= 0)
		return;
	test_processes(&writer, seconds);
	for (size_t i = 0; i < report->conn_count; i++) {
		if (report->conns[i].id.role & NS_ROLE_TARGET && report->conns[i].totals.writes)
			test_conn(&writer, &report->conns[i], seconds);
	}
	for (size_t i = 0; i < report->thread_count; i++) {
		if (report->threads[i].role & NS_ROLE_TARGET)
			test_thread(&writer, &report->threads[i], seconds);
	}
}
