/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A report made by hand, the design's example, for the tests of the renderers. */
#ifndef NETSTALL_TESTS_RENDER_FIXTURE_H
#define NETSTALL_TESTS_RENDER_FIXTURE_H

#include "tests/unit/test.h"
#include "user/base/xalloc.h"
#include "user/record/text.h"
#include "user/render/render.h"

#define ORIGIN TEXT_TRACE_ORIGIN_NS
#define MS     1000000ull

/* The nagle-delack stall of the design's example, as records. */
static const char *const step_lines[] = {
	"9.769 send conn=1 tgid=4242 tid=4242 bytes=40 fd=7 write_seq=41 snd_nxt=41 snd_una=1",
	"9.810 rx conn=2 seq=1 end=41 ack=1 flags=0x18 comm=client",
	"9.811 delack-arm conn=2 delay_us=40000 pending=3 ato_us=40000 comm=client",
	"9.990 send conn=1 tgid=4242 tid=4242 bytes=136 fd=7 write_seq=177 snd_nxt=41 snd_una=1",
	"10.000 hold conn=1 tgid=4242 tid=4242 reason=nagle basis=state seq=41 end=177 unacked=40"
	" mss=32768 packets_out=1 cwnd=10 snd_wnd=65536 srtt_us=31 fd=7",
	"10.014 recv conn=2 tgid=4243 tid=4243 bytes=40 fd=8",
	"50.471 delack-fire conn=2 pending=3 comm=swapper/1",
	"50.502 ack conn=2 seq=1 end=1 ack=41 flags=0x10 comm=swapper/1",
	"50.530 rx conn=1 seq=1 end=1 ack=41 flags=0x10 comm=swapper/1",
	"50.560 tx conn=1 seq=41 end=177 ack=1 flags=0x18 comm=swapper/1",
	"50.560 release conn=1 held=40.560 seq=41 end=177 reason=nagle",
	"50.611 wait conn=2 tgid=4243 tid=4243 off=10.020 wake=50.580 state=1 syscall=0 arg0=8"
	" comm=server waker_comm=swapper/1",
};

#define STEPS (sizeof(step_lines) / sizeof(step_lines[0]))

struct fixture {
	struct report report;
	struct report_process processes[2];
	struct report_thread threads[2];
	struct report_conn conns[2];
	struct stall stall;
	struct verdict verdict;
	union event steps[STEPS];
	char *out;
	size_t size;
};

static const struct render_style plain = {.colour = false, .width = 120};

/* All tables; no verdict that counts, and no time lines. */
static inline void render__tables(FILE *out, const struct report *report,
				  const struct render_style *style)
{
	const struct verdict verdict = {.headline = (char *)""};
	struct render_style verbose = *style;

	verbose.verbose = true;
	render__report(out, report, &verdict, &verbose, false);
}

static inline void parse(const char *line, union record *record)
{
	char error[200] = "";

	if (text__parse(line, record, error, sizeof(error)) != 1)
		fail_msg("%s: %s", line, error);
}

static inline void parse_step(const char *line, union event *step)
{
	union record record;

	parse(line, &record);
	event__from_record(step, &record);
}

static inline void add_conn(struct fixture *f, size_t i, const char *line, uint32_t peer)
{
	union record record;

	parse(line, &record);
	f->conns[i].id = record.conn;
	f->conns[i].peer = peer;
}

static inline void fill_stall(struct fixture *f)
{
	struct stall *stall = &f->stall;

	for (size_t i = 0; i < STEPS; i++)
		parse_step(step_lines[i], &f->steps[i]);
	*stall = (struct stall){
		.number = 1,
		.cause = CAUSE_NAGLE_DELACK,
		.start_ts = ORIGIN + 10 * MS,
		.end_ts = ORIGIN + 50611000,
		.conn = 1,
		.pid = 4243,
		.tid = 4243,
		.slice_count = 3,
		.slices = {{CAUSE_NAGLE_DELACK, 40471000},
			   {CAUSE_NETWORK, 109000},
			   {CAUSE_RUNQUEUE, 31000}},
		.exact = true,
		.hold = f->steps[4].hold,
		.step_count = STEPS,
		.steps = f->steps,
	};
}

static inline int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	union record session;

	parse("0.000 session way=tracepoint kernel=6.18 arch=x86_64 target=\"pid 4242\""
	      " threshold=10.000",
	      &session);
	f->report.session = session.session;
	f->report.start_ts = ORIGIN;
	f->report.end_ts = ORIGIN + 5000 * MS;
	f->report.events = 1234;
	f->report.complete = true;
	f->processes[0] =
		(struct report_process){.pid = 4242, .role = NS_ROLE_TARGET, .comm = "client"};
	f->processes[1] = (struct report_process){
		.pid = 4243, .ns_pid = 7, .role = NS_ROLE_PEER, .comm = "server"};
	f->threads[0] = (struct report_thread){.pid = 4243,
					       .tid = 4243,
					       .role = NS_ROLE_PEER,
					       .on_cpu_ns = 45 * MS,
					       .blocked_ns = 4945 * MS,
					       .comm = "server"};
	f->threads[1] = (struct report_thread){.pid = 4242,
					       .tid = 4242,
					       .role = NS_ROLE_TARGET,
					       .voluntary = 246,
					       .on_cpu_ns = 55 * MS,
					       .blocked_ns = 4935 * MS,
					       .comm = "client"};
	add_conn(f, 0,
		 "0 conn conn=1 tgid=4242 role=target local=127.0.0.1:37640 remote=127.0.0.1:7000"
		 " fd=7 comm=client",
		 2);
	add_conn(f, 1,
		 "0 conn conn=2 tgid=4243 role=peer local=127.0.0.1:7000 remote=127.0.0.1:37640"
		 " fd=8 comm=server",
		 1);
	f->conns[0].totals.writes = 246;
	f->conns[0].totals.segs_out = 246;
	f->conns[0].totals.holds[NS_HOLD_NAGLE] = 122;
	f->conns[1].totals.delack_armed = 246;
	f->conns[1].totals.delack_fired = 122;
	f->report.processes = f->processes;
	f->report.process_count = 2;
	f->report.threads = f->threads;
	f->report.thread_count = 2;
	f->report.conns = f->conns;
	f->report.conn_count = 2;
	fill_stall(f);
	f->report.stalls = &f->stall;
	f->report.stall_count = 1;
	f->report.stalls_not_kept = 121;
	f->report.cause_count = 1;
	f->report.causes[0] = (struct report_cause){
		.cause = CAUSE_NAGLE_DELACK,
		.count = 122,
		.total_ns = 4941 * MS,
		.p50_ns = 40500000,
		.p99_ns = 41200000,
		.max_ns = 41400000,
		.share = 0.988,
	};
	f->verdict = (struct verdict){
		.cause = CAUSE_NAGLE_DELACK,
		.found = true,
		.headline =
			"nagle-delack: 122 waits of 40.5 ms each (98.8% of 5.00 s): client/4242 "
			"writes each request in two pieces",
		.saves_ns = 40471000,
		.saves_of_ns = 40611000,
		.title = "Nagle's algorithm against a delayed ACK.",
		.text = "client/4242 writes each request in two pieces, 40 B and 136 B, 0.2 ms "
			"apart, on fd 7. TCP sends the first and holds the second until the first "
			"is acknowledged.",
		.advice_count = 2,
		.advice = {"write both pieces at once (one buffer, writev, or MSG_MORE on the "
			   "first): saves 40.5 ms a request, one segment fewer",
			   "set TCP_NODELAY on fd 7 in client"},
		.evidence = "All 122 stalls were seen from start to end, 0 events lost.",
	};
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->out);
	free(f);
	return 0;
}

/* Where the next output goes: f->out, once it is closed. */
static inline FILE *open_output(struct fixture *f)
{
	free(f->out);
	f->out = NULL;
	return open_memstream(&f->out, &f->size);
}

/* What a renderer writes, as a string that the fixture owns. */
static inline const char *text_of(struct fixture *f,
				  void (*render)(FILE *, const struct report *,
						 const struct render_style *),
				  const struct render_style *style)
{
	FILE *out = open_output(f);

	if (render)
		render(out, &f->report, style);
	else
		render__stall(out, &f->report, &f->stall, style);
	fclose(out);
	return f->out;
}

static inline const char *verdict_text_of(struct fixture *f, const struct render_style *style)
{
	FILE *out = open_output(f);

	render__verdict(out, &f->verdict, style);
	fclose(out);
	return f->out;
}

/* A further link of the stall's chain: the wait of this line. */
static inline void add_link(struct stall *stall, enum cause cause, const char *line)
{
	struct stall_link *link = &stall->links[stall->link_count++];
	union record wait;

	parse(line, &wait);
	*link = (struct stall_link){
		.cause = cause,
		.start_ts = wait.wait.off_ts,
		.end_ts = wait.head.ts,
		.wait = wait.wait,
	};
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

#endif
