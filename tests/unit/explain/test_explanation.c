// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Explanations and advice, cause by cause, of stalls made by hand. */
#include "tests/unit/render/render_fixture.h"
#include "user/base/array.h"
#include "user/explain/advice.h"
#include "user/explain/explanation.h"
#include "user/explain/headline.h"
#include "user/explain/verdict.h"

/* What was written of one context. */
struct words {
	char *headline;
	char *text;
	struct verdict verdict;
};

static struct stall waiting_stall(enum cause cause)
{
	union record wait;

	parse("60.000 wait conn=1 tgid=4242 tid=4242 off=10.000 wake=59.900 state=1 syscall=0 arg0=7"
	      " waker_tgid=4243 waker_tid=4243 comm=client waker_comm=server srtt_us=300"
	      " min_rtt_us=200",
	      &wait);
	return (struct stall){
		.number = 1,
		.cause = cause,
		.start_ts = ORIGIN + 10 * MS,
		.end_ts = ORIGIN + 60 * MS,
		.conn = 1,
		.peer = 2,
		.pid = 4242,
		.tid = 4242,
		.slice_count = 1,
		.slices = {{cause, 50 * MS}},
		.exact = true,
		.wait = wait.wait,
	};
}

#define CLIENT_WAITS                                                                               \
	"60.000 wait conn=1 tgid=4242 tid=4242 off=10.000 wake=59.900 state=1 syscall=0 arg0=7"
#define SERVER_SLEEPS "58.000 wait tgid=4243 tid=4243 off=18.000 wake=57.900 state=1 syscall=35"

/* What the stall's time was made of: below its own wait, which has what the parts leave. */
static void add_part(struct stall *stall, enum path_kind kind, enum cause cause, uint32_t tid,
		     uint32_t syscall, uint64_t ns)
{
	struct path *path = &stall->path;
	struct path_part wait = {.kind = PATH_BLOCKED,
				 .cause = stall->cause,
				 .pid = stall->pid,
				 .tid = stall->tid,
				 .syscall = stall->wait.syscall,
				 .count = 1,
				 .ns = stall->end_ts - stall->start_ts};
	struct path_part part = {.kind = kind,
				 .cause = cause,
				 .parent = 1,
				 .pid = 4243,
				 .tid = tid,
				 .syscall = syscall,
				 .count = 1,
				 .ns = ns};

	if (!path->count) {
		path->parts[path->count++] =
			(struct path_part){.kind = PATH_BLOCKED, .syscall = NS_SYSCALL_NONE};
		path->parts[path->count++] = wait;
	}
	path->parts[1].ns -= ns;
	path->parts[path->count++] = part;
}

static struct words write_tally(struct fixture *f, const struct tally *tally)
{
	struct words words = {0};
	struct context context;
	struct report_cause cause = {.cause = tally->cause,
				     .count = tally->count,
				     .total_ns = tally->total_ns,
				     .p50_ns = tally->total_ns / tally->count,
				     .share = 0.5};

	assert_true(context__make(&context, &f->report, tally));
	words.headline = headline__write(&f->report, &cause, &context);
	explanation__write(&context, &words.text);
	explanation__add_frequency(&context, &words.text);
	advice__write(&context, &words.verdict);
	return words;
}

static struct words write_words(struct fixture *f, const struct stall *stall, uint32_t count)
{
	uint64_t took = stall->end_ts - stall->start_ts;
	struct tally tally = {.cause = stall->cause,
			      .conn = stall->conn,
			      .count = count,
			      .total_ns = count * took,
			      .held_ns = count * took,
			      .held_most_ns = took,
			      .reader = stall->reader,
			      .path = stall->path,
			      .followed = 1,
			      .example = *stall};

	return write_tally(f, &tally);
}

static void free_words(struct words *words)
{
	free(words->headline);
	free(words->text);
	for (size_t i = 0; i < words->verdict.advice_count; i++)
		free(words->verdict.advice[i]);
}

/* Every cause has its words, with and without a connection, a hold and a chain. */
static void test_every_cause(void **state)
{
	struct fixture *f = *state;

	for (unsigned cause = 0; cause < CAUSE_COUNT; cause++) {
		for (unsigned with = 0; with < 16; with++) {
			struct stall stall = waiting_stall((enum cause)cause);
			struct words words;

			if (with & 1)
				stall.conn = stall.peer = 0;
			if (with & 2)
				stall.hold = f->stall.hold;
			stall.held_bytes = with & 2 ? 136 : 0;
			if (with & 4) {
				add_link(&stall, CAUSE_PEER_APP, CLIENT_WAITS);
				add_link(&stall, CAUSE_TIMER, SERVER_SLEEPS);
			}
			if (with & 8) {
				add_part(&stall, PATH_RUNS, CAUSE_SELF, 4243, NS_SYSCALL_NONE,
					 30 * MS);
				add_part(&stall, PATH_BLOCKED, CAUSE_LOCK, 4250, 202, 10 * MS);
			}
			words = write_words(f, &stall, 2);
			assert_says(words.text, "2 times");
			assert_true(!strncmp(words.headline, cause__info(cause)->id,
					     strlen(cause__info(cause)->id)));
			assert_says(words.headline, "2", "50.0 ms", "50.0%", "5.00 s");
			assert_null(strpbrk(words.headline, "\n{}"));
			assert_null(strstr(words.headline, "  "));
			assert_true(cause__info(cause)->never_of_stall ||
				    strstr(words.headline, "): "));
			assert_null(strstr(words.text, "  "));
			assert_null(strstr(words.text, ".."));
			assert_null(strstr(words.text, "(null)"));
			for (size_t i = 0; i < words.verdict.advice_count; i++) {
				assert_null(strstr(words.verdict.advice[i], "QUICKACK"));
				assert_null(strstr(words.verdict.advice[i], "(null)"));
			}
			free_words(&words);
		}
	}
}

/* Exchanges of several connections are said to be those of all, also where some had no stall. */
static void test_headline_of_connections(void **state)
{
	struct fixture *f = *state;
	const struct stall stall = waiting_stall(CAUSE_LOCK);
	const struct tally tally = {
		.cause = CAUSE_LOCK, .conn = 1, .count = 5, .total_ns = 250 * MS, .example = stall};
	struct report_cause cause = {.cause = CAUSE_LOCK, .count = 9, .total_ns = 450 * MS};
	struct context context;
	char *headline;

	assert_true(context__make(&context, &f->report, &tally));
	f->conns[0].totals.exchanges = 10;
	f->report.past.traffic = (struct traffic){.connections = 4, .exchanges = 290};

	cause.conns = 1;
	headline = headline__write(&f->report, &cause, &context);
	assert_says(headline, "9 of 10 exchanges wait 50.0 ms each: ");
	free(headline);
	cause.conns = 2;
	headline = headline__write(&f->report, &cause, &context);
	assert_says(headline, "9 of 300 exchanges wait 50.0 ms each on 2 of 5 connections: ");
	free(headline);
	cause.conns = 5;
	headline = headline__write(&f->report, &cause, &context);
	assert_says(headline, "9 of 300 exchanges wait 50.0 ms each on 5 connections: ");
	free(headline);
	/* A thread waits for many at a time. */
	cause.requests = 280;
	headline = headline__write(&f->report, &cause, &context);
	assert_says(headline, "280 of 300 exchanges wait 50.0 ms each on 5 connections: ");
	free(headline);
	cause.requests = 310;
	headline = headline__write(&f->report, &cause, &context);
	assert_says(headline, "9 waits of 50.0 ms each hold up 310 requests on 5 connections: ");
	free(headline);
	cause.requests = 0;
	/* Of those that the target accepted, when all are on these. */
	f->conns[0].id.opener = NS_OPENER_PEER;
	f->report.past.exchanges = 500;
	f->report.past.asked = 290;
	cause.served = 9;
	headline = headline__write(&f->report, &cause, &context);
	assert_says(headline, "9 of 220 replies wait 50.0 ms each on 5 connections: ");
	free(headline);
	f->conns[0].id.opener = NS_OPENER_UNKNOWN;
	cause.count = 301;
	cause.total_ns = 301 * 50 * MS;
	headline = headline__write(&f->report, &cause, &context);
	assert_says(headline, "301 waits of 50.0 ms each on 5 connections: ");
	free(headline);
}

/* Of a slow peer: which process, and what it did. And nothing about TCP's options. */
static void test_peer_app(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_PEER_APP);
	struct words words;

	add_link(&stall, CAUSE_PEER_APP, CLIENT_WAITS);
	add_link(&stall, CAUSE_TIMER, SERVER_SLEEPS);
	add_part(&stall, PATH_BLOCKED, CAUSE_TIMER, 4243, 35, 40 * MS);
	words = write_words(f, &stall, 1);
	assert_says(words.text, "client/4242", "fd 7", "127.0.0.1:37640 -> 127.0.0.1:7000", "read",
		    "server/4243", "sleeps 40.0 ms in nanosleep");
	/* The fixture's connection did hold bytes back. */
	assert_says(words.text, "sent nothing again");
	assert_silent_on(words.text, "held nothing");
	assert_says(words.verdict.advice[0], "server/4243", "nanosleep");
	for (size_t i = 0; i < words.verdict.advice_count; i++)
		assert_silent_on(words.verdict.advice[i], "TCP_NODELAY");
	free_words(&words);

	f->conns[0].totals.holds[NS_HOLD_NAGLE] = 0;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "held nothing back", "sent nothing again");
	free_words(&words);

	/* What this way of attaching cannot see is not ruled out. */
	f->report.session.missing = 1u << NS_FACT_SEND;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "sent nothing again");
	assert_silent_on(words.text, "held nothing");
	free_words(&words);
}

/* The largest part is what the words are about, however short the wait that the chain ends in. */
static void test_largest_part(void **state)
{
	static const struct {
		enum path_kind kind;
		enum cause cause;
		const char *does; /* in the headline */
		const char *advice;
	} rows[] = {
		{PATH_RUNS, CAUSE_SELF, "server/4250 computes 40.0 ms", "perf record -p 4243"},
		{PATH_READY, CAUSE_RUNQUEUE, "server/4250 waits 40.0 ms for a CPU", "a CPU sooner"},
		{PATH_UNREAD, CAUSE_PEER_APP, "unread for 40.0 ms", "read sooner"},
		{PATH_BLOCKED, CAUSE_DISK, "waits 40.0 ms for block I/O in fsync", "block I/O"},
		{PATH_BLOCKED, CAUSE_LOCK, "waits 40.0 ms for a lock", "under the lock"},
		{PATH_BLOCKED, CAUSE_IDLE, "waits 40.0 ms in fsync", "Trace server/4250"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct stall stall = waiting_stall(CAUSE_PEER_APP);
		struct words words;

		add_link(&stall, CAUSE_PEER_APP, CLIENT_WAITS);
		add_link(&stall, CAUSE_TIMER, SERVER_SLEEPS);
		add_part(&stall, PATH_BLOCKED, CAUSE_TIMER, 4243, 35, 2 * MS);
		add_part(&stall, rows[i].kind, rows[i].cause, 4250, 74, 40 * MS);
		words = write_words(f, &stall, 3);
		assert_says(words.headline, rows[i].does);
		assert_says(words.text, rows[i].does);
		assert_silent_on(words.text, "sleeps 2.00 ms");
		assert_says(words.verdict.advice[0], rows[i].advice);
		if (words.verdict.saves_ns)
			assert_int_equal(words.verdict.saves_ns, 40 * MS);
		assert_int_equal(!words.verdict.saves_ns, rows[i].cause == CAUSE_IDLE);
		free_words(&words);
	}
}

/* Of threads that stall alike the one is named that computed most, and not two of them. */
static void test_who_is_busy(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_SELF);
	struct words words;

	stall.path.parts[stall.path.count++] =
		(struct path_part){.kind = PATH_BLOCKED, .tid = 4250, .syscall = NS_SYSCALL_NONE};
	stall.path.parts[stall.path.count++] = (struct path_part){
		.kind = PATH_RUNS, .cause = CAUSE_SELF, .pid = 4243, .tid = 4250, .ns = 50 * MS};
	words = write_words(f, &stall, 3);
	assert_says(words.headline, "server/4250 is busy itself: it computes 50.0 ms");
	assert_says(words.text, "server/4250 itself was busy", "server/4250 computes 50.0 ms");
	free_words(&words);
}

/* A request with several waits is shorter by more than one of them. */
static void test_saving_of_a_request(void **state)
{
	struct report_requests requests = {.conn = 1, .count = 10};
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_TIMER);
	struct words words;

	requests.median.total_ns = 420 * MS;
	requests.median.slice_count = 1;
	requests.median.slices[0] = (struct slice){CAUSE_TIMER, 400 * MS};
	f->report.requests = &requests;
	f->report.requests_count = 1;
	words = write_words(f, &stall, 80);
	assert_says(words.headline, "80 ", "50.0 ms each");
	assert_says(words.verdict.advice[0],
		    "saves 400 ms of each request. Requests of 420 ms would take 20.0 ms.");
	free_words(&words);
	requests.median.total_ns = 60 * MS;
	requests.median.slices[0].ns = 50 * MS;
	words = write_words(f, &stall, 80);
	assert_says(words.verdict.advice[0],
		    "saves 50.0 ms each time. Requests of 60.0 ms would take 10.0 ms.");
	free_words(&words);
}

/* What waits for one thread is not served sooner than that has time for it. */
static void test_saving_that_the_server_leaves(void **state)
{
	static const struct {
		uint32_t threads, callers;
		unsigned pause_ms;
		const char *advice;
	} rows[] = {
		{1, 3, 0,
		 "saves 4.00 ms each time, and one segment fewer. Requests of 60.0 ms would take "
		 "56.0 ms. No more than that: server takes 18.7 ms for each, one after the other, "
		 "and 3 connections then wait for it in turn."},
		{1, 4, 0,
		 "saves nothing, and one segment fewer. No more than that: server takes 18.7 ms"},
		{1, 3, 30, "saves 34.0 ms each time"},
		{1, 3, 40, NULL},
		{1, 1, 0, NULL},
		{2, 4, 0,
		 "saves 22.7 ms each time, and one segment fewer. Requests of 60.0 ms would take "
		 "37.3 ms. No more than that: server takes 18.7 ms for each, one after the other "
		 "in each of 2 threads, and 4 connections"},
		{3, 3, 0, NULL},
		{0, 9, 0, NULL},
	};
	/* Of all, and of the connection. */
	struct report_requests requests[2] = {{.count = 30}, {.conn = 1, .count = 10}};
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_NAGLE_DELACK);
	struct words words;

	requests[1].median.total_ns = 60 * MS;
	requests[1].median.slice_count = 1;
	requests[1].median.slices[0] = (struct slice){CAUSE_NAGLE_DELACK, 41 * MS};
	f->report.requests = requests;
	f->report.requests_count = 2;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		requests[0].service = (struct request_service){.threads = rows[i].threads,
							       .callers = rows[i].callers,
							       .each_ns = 18666667,
							       .pause_ns = rows[i].pause_ms * MS};
		words = write_words(f, &stall, 80);
		assert_says(words.verdict.advice[0],
			    rows[i].advice ? rows[i].advice
					   : "saves 41.0 ms each time, and one segment fewer. "
					     "Requests of 60.0 ms would take 19.0 ms.");
		if (!rows[i].advice)
			assert_silent_on(words.verdict.advice[0], "No more than that");
		free_words(&words);
	}
}

/* What took most was not seen: nothing smaller stands for it. */
static void test_largest_part_unknown(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_PEER_APP);
	struct words words;

	add_link(&stall, CAUSE_PEER_APP, CLIENT_WAITS);
	add_link(&stall, CAUSE_TIMER, SERVER_SLEEPS);
	add_part(&stall, PATH_BLOCKED, CAUSE_TIMER, 4243, 35, 20 * MS);
	words = write_words(f, &stall, 3);
	assert_silent_on(words.headline, "sleeps");
	assert_says(words.verdict.advice[0], "Trace the other end");
	assert_int_equal(words.verdict.saves_ns, 0);
	free_words(&words);

	/* But in which wait of the other end it was. */
	add_part(&stall, PATH_BLOCKED, CAUSE_LOCK, 4243, 202, 0);
	add_part(&stall, PATH_UNKNOWN, CAUSE_UNKNOWN, 0, NS_SYSCALL_NONE, 25 * MS);
	stall.path.parts[4].parent = 3;
	words = write_words(f, &stall, 3);
	assert_says(words.headline, "waits 25.0 ms for a lock");
	assert_int_equal(words.verdict.saves_ns, 25 * MS);
	free_words(&words);
}

/* Advice names a process that lives, or what finds those that do its work. */
static void test_whom_to_trace(void **state)
{
	struct fixture *f = *state;
	struct report_process processes[3] = {f->processes[0], f->processes[1], f->processes[1]};
	struct report_conn conns[3] = {f->conns[0], f->conns[1], f->conns[1]};
	struct context context = {.report = &f->report};

	conns[1].id.opener = conns[2].id.opener = NS_OPENER_PEER;
	processes[2].pid = conns[2].id.head.tgid = 4244;
	f->report.processes = processes;
	f->report.conns = conns;
	assert_string_equal(target_text(&f->report, 4243), "-p 4243");
	assert_string_equal(profile_text(&f->report, 4243), "perf record -p 4243");
	/* Of another name, or at another port, it does other work. */
	f->report.process_count = f->report.conn_count = 3;
	conns[2].id.lport = 7001;
	assert_string_equal(target_text(&f->report, 4243), "-p 4243");
	conns[2].id.lport = 7000;
	memcpy(processes[2].comm, "other", 6);
	assert_string_equal(target_text(&f->report, 4243), "-p 4243");
	memcpy(processes[2].comm, "server", 7);
	assert_string_equal(target_text(&f->report, 4243), "--comm server");
	processes[1].master = 4200;
	assert_string_equal(target_text(&f->report, 4243), "-p 4200 --children");
	f->report.process_count = f->report.conn_count = 2;
	assert_string_equal(target_text(&f->report, 4243), "-p 4243");
	processes[1].exited = true;
	assert_string_equal(target_text(&f->report, 4243), "-p 4200 --children");
	processes[1].master = 0;
	assert_string_equal(target_text(&f->report, 4243), "--comm server");
	assert_string_equal(profile_text(&f->report, 4243),
			    "perf record -a, and perf report --comm server");
	memcpy(processes[1].comm, "Web Content", 12);
	assert_string_equal(target_text(&f->report, 4243), "--comm 'Web Content'");
	memcpy(processes[1].comm, "it's", 5);
	assert_null(target_text(&f->report, 4243));
	assert_string_equal(profile_text(&f->report, 4243), "perf record -a");
	/* Whose this connection was nobody saw, but whose another one to there. */
	f->report.conn_count = 3;
	conns[2] = conns[0];
	conns[2].id.head.conn = 3;
	conns[2].peer = 0;
	context.conn = &conns[2];
	assert_int_equal(context__peer_pid(&context), 4243);
	conns[2].id.rport = 7001;
	assert_int_equal(context__peer_pid(&context), 0);
}

static void test_roots_are_counted(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_PEER_APP);
	struct tally tally;
	struct words words;

	add_link(&stall, CAUSE_PEER_APP, CLIENT_WAITS);
	add_link(&stall, CAUSE_TIMER, SERVER_SLEEPS);
	tally = (struct tally){
		.cause = CAUSE_PEER_APP, .conn = 1, .count = 91, .total_ns = 91, .example = stall};
	tally.roots[0] = (struct tally_root){CAUSE_LOCK, 4243, 35, 3};
	tally.roots[1] = (struct tally_root){CAUSE_TIMER, 4243, 35, 88};
	words = write_tally(f, &tally);
	assert_says(words.text, "nanosleep", "88 of the 91 stalls");
	free_words(&words);
}

/* A wait without a connection names its thread, and who woke it when that is watched. */
static void test_lock(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_LOCK);
	struct words words;

	stall.conn = 0;
	stall.wait.syscall = 202;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "client/4242 waited in futex", "server/4243", "lock");
	assert_says(words.verdict.advice[0], "server/4243");
	free_words(&words);
	stall.wait.waker_tgid = 99; /* a bystander is not named */
	words = write_words(f, &stall, 1);
	assert_says(words.text, "client/4242 waited in futex", "lock");
	assert_silent_on(words.text, "4243", "99");
	free_words(&words);
}

static void test_another_process(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_IPC);
	struct words words;

	stall.conn = 0;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "pipe", "Unix socket", "eventfd");
	free_words(&words);
	stall.wait.syscall = 61;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "client/4242 waited in wait4", "server/4243", "child");
	assert_silent_on(words.text, "pipe");
	free_words(&words);
}

/* A time-out is told with the time that the program gave it, where the call shows that. */
static void test_timer(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_TIMER);
	struct words words;

	stall.conn = 0;
	stall.wait.syscall = 232; /* epoll_wait */
	stall.wait.arg2 = 40;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "client/4242 waited in epoll_wait", "time-out of 40 ms");
	free_words(&words);
	stall.wait.arg2 = UINT32_MAX; /* without end: something else let it go */
	words = write_words(f, &stall, 1);
	assert_says(words.text, "epoll_wait", "time-out");
	assert_silent_on(words.text, "time-out of");
	free_words(&words);
	stall.wait.syscall = 35;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "client/4242 slept in nanosleep");
	free_words(&words);
}

static void test_windows(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_CWND);
	struct words words;

	stall.hold = f->stall.hold;
	stall.hold.packets_out = 10;
	stall.hold.in_flight = 9;
	stall.hold.cwnd = 10;
	stall.hold.unacked = 14480;
	stall.hold.snd_wnd = 20000;
	stall.held_bytes = 4096;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "4,096 B", "congestion window", "9 packets in flight", "10");
	assert_silent_on(words.text, "Loss");
	free_words(&words);

	stall.cause = CAUSE_RWND;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "window", "server/4243", "14,480 B in flight", "20,000 B");
	assert_says(words.verdict.advice[0], "SO_RCVBUF");
	free_words(&words);

	/* The reader is the limit: no larger buffer is advised. */
	stall.reader = (struct stall_reader){.seen = true,
					     .pid = 4243,
					     .tid = 4243,
					     .waited_ns = 1000000,
					     .away_ns = 39000000,
					     .away = CAUSE_TIMER};
	words = write_words(f, &stall, 1);
	assert_says(words.text, "server/4243 did not read", "97.5%", "slept");
	assert_says(words.verdict.advice[0], "server/4243 read sooner");
	assert_silent_on(words.verdict.advice[0], "SO_RCVBUF");
	free_words(&words);

	stall.reader.ran_ns = 40000000;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "server/4243 computed", "50.0%");
	assert_says(words.verdict.advice[0], "perf record -p 4243");
	assert_silent_on(words.verdict.advice[0], "SO_RCVBUF", "saves");
	assert_true(words.verdict.saves_ns == 0);
	free_words(&words);

	/* It lacks what is held. */
	stall.reader.waited_ns = 90000000;
	words = write_words(f, &stall, 1);
	assert_says(words.verdict.advice[0], "SO_RCVBUF", "saves");
	assert_true(words.verdict.saves_ns > 0);
	free_words(&words);
}

static void test_recovery(void **state)
{
	struct fixture *f = *state;
	struct stall stall = waiting_stall(CAUSE_RTO);
	union record retrans;
	struct words words;

	parse("214.000 retrans conn=1 kind=rto seq=1001 end=2449 rto_us=204000 retries=1 srtt_us=500"
	      " sent=10.000",
	      &retrans);
	stall.retrans = retrans.retrans;
	stall.retransmits = 1;
	words = write_words(f, &stall, 1);
	assert_says(words.text, "1,448 B", "sequence 1001 to 2449", "client/4242", "fd 7",
		    "sent 204 ms before", "retransmission timer of 204 ms", "500 us",
		    "not visible");
	free_words(&words);
	stall.cause = CAUSE_SYN_RETRANSMIT;
	words = write_words(f, &stall, 1);
	assert_says(words.verdict.advice[0], "listen queue");
	free_words(&words);
}

/* The rule of report__leading(). */
static void test_which_cause_leads(void **state)
{
	struct fixture *f = *state;
	struct report *report = &f->report;

	/* Time decides, however much it adds up to where stalls overlap. */
	report->cause_count = 2;
	report->causes[0] =
		(struct report_cause){.cause = CAUSE_PEER_APP, .total_ns = 900, .covered_ns = 70};
	report->causes[1] =
		(struct report_cause){.cause = CAUSE_RUNQUEUE, .total_ns = 890, .covered_ns = 890};
	assert_int_equal(report__leading(report)->cause, CAUSE_RUNQUEUE);
	/* Or what it took of slow requests, */
	report->causes[0].slow_ns = 895;
	assert_int_equal(report__leading(report)->cause, CAUSE_PEER_APP);
	/* as far as its stalls show that, */
	report->causes[0].total_ns = 400;
	assert_int_equal(report__leading(report)->cause, CAUSE_RUNQUEUE);
	/* each for the requests that it held up. */
	report->causes[0].count = 10;
	report->causes[0].requests = 20;
	assert_int_equal(report__leading(report)->cause, CAUSE_PEER_APP);
	/* What is given stands behind what took half as much, not behind less. */
	report->causes[0] = (struct report_cause){.cause = CAUSE_NETWORK, .covered_ns = 900};
	report->causes[1] = (struct report_cause){.cause = CAUSE_CORK, .covered_ns = 450};
	assert_int_equal(report__leading(report)->cause, CAUSE_CORK);
	report->causes[1].covered_ns = 449;
	assert_int_equal(report__leading(report)->cause, CAUSE_NETWORK);
	report->cause_count = 1;
	assert_int_equal(report__leading(report)->cause, CAUSE_NETWORK);
	/* What held up requests goes before what a program does between them, given or not. */
	report->cause_count = 2;
	report->causes[0].in_requests_ns = 10;
	report->causes[1] =
		(struct report_cause){.cause = CAUSE_TIMER, .is_pace = true, .covered_ns = 5000};
	assert_int_equal(report__leading(report)->cause, CAUSE_NETWORK);
	/* The pace leads alone. */
	report->causes[0].in_requests_ns = 0;
	assert_int_equal(report__leading(report)->cause, CAUSE_NETWORK);
	report->causes[0] = (struct report_cause){.cause = CAUSE_IPC, .covered_ns = 10};
	assert_int_equal(report__leading(report)->cause, CAUSE_IPC);
	report->causes[0] = report->causes[1];
	report->cause_count = 1;
	assert_int_equal(report__leading(report)->cause, CAUSE_TIMER);
	report->cause_count = 2;
	/* Of one cause other stalls are meant than the pace. */
	report->causes[0] = report->causes[1];
	report->causes[1] = (struct report_cause){.cause = CAUSE_TIMER, .covered_ns = 20};
	assert_ptr_equal(report__cause(report, CAUSE_TIMER), &report->causes[1]);
}

static void test_silence(void **state)
{
	struct fixture *f = *state;
	struct verdict verdict;

	f->report.cause_count = 0;
	f->conns[0].totals.exchanges = 412008;
	f->report.longest_wait_ns = 800000;
	f->report.longest_wait_cause = CAUSE_PEER_APP;
	f->report.waited_ns[CAUSE_IDLE] = 71;
	f->report.waited_ns[CAUSE_PEER_APP] = 29;
	verdict__write(&verdict, &f->report);
	assert_string_equal(verdict.title, "Nothing held this program back on the network.");
	assert_says(verdict.text, "5.00 s", "1 connection", "412,008 exchanges", "1 thread",
		    "0 events lost", "800 us", "10 ms", "idle 71.0%", "peer-app 29.0%");
	verdict__clear(&verdict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_cause),
		TEST(test_headline_of_connections),
		TEST(test_peer_app),
		TEST(test_largest_part),
		TEST(test_who_is_busy),
		TEST(test_saving_of_a_request),
		TEST(test_saving_that_the_server_leaves),
		TEST(test_largest_part_unknown),
		TEST(test_lock),
		TEST(test_another_process),
		TEST(test_whom_to_trace),
		TEST(test_roots_are_counted),
		TEST(test_windows),
		TEST(test_timer),
		TEST(test_recovery),
		TEST(test_silence),
		TEST(test_which_cause_leads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
