// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Wake chains in the time line; exchanges, habits and new columns in the summary. */
#include "tests/unit/render/render_fixture.h"
#include "user/render/html/html.h"
#include "user/render/html/picture.h"

/* Lines that do not wrap. */
static const struct render_style wide = {.width = 240};

static void a_chain_goes_backwards(void **state)
{
	struct fixture *f = *state;
	const char *text;

	add_link(&f->stall, CAUSE_PEER_APP,
		 "60 wait conn=1 tgid=4242 tid=4242 off=10 wake=59 state=1 syscall=0 arg0=7");
	assert_not_in(text_of(f, NULL, &wide), "chain:"); /* one link is no chain */
	add_link(&f->stall, CAUSE_TIMER,
		 "58 wait tgid=4243 tid=4243 off=18 wake=57 state=1 syscall=35");
	add_link(&f->stall, CAUSE_RUNQUEUE, "57 wait tgid=4243 tid=4250 off=18 state=0 syscall=0");
	text = text_of(f, NULL, &wide);
	assert_says(text,
		    "chain: client/4242 in read fd 7, 50.0 ms <- server/4243 in nanosleep, 40.0 ms",
		    "<- server/4250", "without a CPU", "39.0 ms");
}

static void other_waits_of_the_incident_are_named(void **state)
{
	struct fixture *f = *state;
	const char *text;

	f->stall.wait = f->steps[STEPS - 1].wait;
	f->stall.wait_count = STALL_WAITS + 3;
	f->stall.waits[0] = (struct stall_wait){.pid = 4243,
						.tid = 4243,
						.off_ts = f->stall.wait.off_ts,
						.end_ts = f->stall.wait.head.ts};
	for (size_t i = 1; i < STALL_WAITS; i++)
		f->stall.waits[i] = (struct stall_wait){
			.pid = 4242, .tid = 4242, .off_ts = ORIGIN, .end_ts = ORIGIN + 41 * MS};
	text = text_of(f, NULL, &wide);
	assert_says(text, "also delayed: client/4242, 41.0 ms", "3 more");
	assert_silent_on(text, "also delayed: server/4243"); /* the wait that the stall is about */
}

static void a_sum_names_each_cause_once(void **state)
{
	struct fixture *f = *state;

	f->stall.slice_count = 3;
	f->stall.slices[0] = (struct slice){CAUSE_NETWORK, 50000};
	f->stall.slices[1] = (struct slice){CAUSE_PEER_APP, 40511000};
	f->stall.slices[2] = (struct slice){CAUSE_NETWORK, 50000};
	assert_says(text_of(f, NULL, &wide), "= 100 us network + 40.5 ms peer-app", "3 parts");
}

static void the_stack_names_the_waker(void **state)
{
	struct fixture *f = *state;

	f->stall.wait = f->steps[STEPS - 1].wait;
	f->stall.waker_stack = "try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues";
	assert_says(text_of(f, NULL, &wide), "31 us for a CPU", "woken by a timer");
	f->stall.waker_stack = "try_to_wake_up;sock_def_readable;tcp_data_queue;tcp_v4_rcv";
	assert_says(text_of(f, NULL, &wide), "woken by a segment"); /* on an idle CPU */
	f->stall.waker_stack = "try_to_wake_up;blk_update_request";
	assert_says(text_of(f, NULL, &wide), "woken by", "block I/O");
	f->stall.waker_stack = NULL;
	assert_silent_on(text_of(f, NULL, &wide), "woken");
}

/* The median and the p99 exchange side by side, by cause, with their sums. */
static void requests_are_analysed(void **state)
{
	struct report_requests requests[3] = {
		{.count = 412008, .sampled = 4120}, {.conn = 1, .count = 412000}, {.conn = 2}};
	struct fixture *f = *state;
	const char *text;

	requests[0].median = (struct request_view){
		.total_ns = 44 * MS,
		.slice_count = 4,
		.slices = {{CAUSE_NETWORK, MS},
			   {CAUSE_NAGLE_DELACK, 40 * MS},
			   {CAUSE_PEER_APP, 2 * MS},
			   {CAUSE_NETWORK, MS}},
	};
	requests[0].p99 = (struct request_view){
		.total_ns = 50 * MS,
		.slice_count = 2,
		.slices = {{CAUSE_NAGLE_DELACK, 40 * MS}, {CAUSE_RUNQUEUE, 10 * MS}},
	};
	requests[1].median = requests[2].median = requests[0].median;
	f->report.requests = requests;
	f->report.requests_count = 2;
	text = text_of(f, render__tables, &plain);
	assert_in(
		text,
		"WHERE A REQUEST'S TIME GOES   MEDIAN  SHARE                          P99  SHARE\n");
	assert_in(
		text,
		"network                      2.00 ms   4.5%  #                         -      -\n");
	assert_in(
		text,
		"nagle-delack                 40.0 ms  90.9%  ##################  40.0 ms  80.0%\n");
	assert_in(
		text,
		"runqueue                           -      -                      10.0 ms  20.0%\n");
	assert_in(text,
		  "all                          44.0 ms                             50.0 ms\n");
	assert_says(text, "412,008 requests", "4,120");
	assert_not_in(text, "REQUESTS IT MAKES"); /* one connection's would say the same again */
	f->report.requests_count = 3;
	text = text_of(f, render__tables, &plain);
	assert_says(text, "127.0.0.1:37640 -> 127.0.0.1:7000 412,000 44.0 ms",
		    "nagle-delack 90.9%");
}

static void no_exchange_no_table(void **state)
{
	struct report_requests none = {0};
	struct fixture *f = *state;

	assert_not_in(text_of(f, render__tables, &plain), "REQUEST");
	f->report.requests = &none;
	f->report.requests_count = 1;
	assert_not_in(text_of(f, render__tables, &plain), "REQUEST");
}

static void habits_have_their_sentences(void **state)
{
	struct fixture *f = *state;
	struct report_habit *habits = f->report.habits;
	const char *text;

	assert_not_in(text_of(f, render__tables, &wide), "HABITS");
	habits[0] = (struct report_habit){
		.habit = HABIT_EMPTY_WAKES, .pid = 4242, .tid = 4242, .per_s = 412, .share = 0.75};
	habits[1] = (struct report_habit){.habit = HABIT_SWITCHES, .pid = 4242, .switches = 4.5};
	habits[2] = (struct report_habit){.habit = HABIT_WAKE_BOUND, .pid = 4243, .share = 0.9};
	f->report.habit_count = 3;
	text = text_of(f, render__tables, &wide);
	assert_says(text, "HABITS client/4242: 412 wakes a second", "75.0%",
		    "server/4243: wake-bound");
	/* Sixty connections that do the same are not sixty sentences. */
	for (size_t i = 3; i < 12; i++)
		habits[i] = habits[1];
	f->report.habit_count = 12;
	text = text_of(f, render__tables, &wide);
	assert_says(text, "7 more");
}

/* Columns appear with what they are for. */
static void columns_that_are_seldom_needed(void **state)
{
	struct fixture *f = *state;
	const char *text = text_of(f, render__tables, &plain);

	assert_not_in(text, "EMPTY WAKES");
	assert_not_in(text, "MIGRATED");
	assert_not_in(text, "PER WRITE");
	f->threads[1].wakes = 500;
	f->threads[1].empty_wakes = 12;
	f->threads[1].migrations = 3;
	f->conns[0].totals.bytes_out = 2460;
	f->conns[0].totals.small_writes = 246;
	f->conns[0].totals.close_writes = 120;
	text = text_of(f, render__tables, &plain);
	assert_in(text, "MIGRATED  WAKES/S  EMPTY WAKES\n");
	assert_in(text, "3      100           12\n");
	assert_in(text, "PER WRITE");
	assert_in(text, " 10 B ");
}

static const char *short_report_of(struct fixture *f, bool time_lines)
{
	FILE *out = open_output(f);

	render__report(out, &f->report, &f->verdict, &plain, time_lines);
	fclose(out);
	return f->out;
}

static void assert_before(const char *text, const char *first, const char *second)
{
	assert_in(text, first);
	assert_in(text, second);
	assert_true(strstr(text, first) < strstr(text, second));
}

/* Verdict, causes, time line, tables, evidence; blind spots are for -v. */
static void the_verdict_comes_first(void **state)
{
	struct fixture *f = *state;
	const char *text;

	f->report.session.missing = 1u << NS_FACT_DECISION;
	f->report.causes[1] = (struct report_cause){.cause = CAUSE_LOCK, .count = 2};
	f->report.cause_count = 2;
	text = short_report_of(f, true);
	assert_before(text, f->verdict.headline, "  CAUSE ");
	assert_before(text, "  CAUSE ", "One of the 122, event by event (stall 1):");
	assert_before(text, "event by event", "HELD by Nagle");
	assert_before(text, "HELD by Nagle", "  THREAD ");
	assert_before(text, "  THREAD ", "5.00 s watched.");
	assert_before(text, "5.00 s watched", "All 122 stalls");
	assert_not_in(text, "Not visible");
	assert_in(text_of(f, render__tables, &plain), "Not visible on this kernel: TCP's own");
	/* Of a single cause the verdict has the figures. */
	f->report.cause_count = 1;
	text = short_report_of(f, false);
	assert_not_in(text, "CAUSE ");
	assert_not_in(text, "event by event");
}

/* A page in text. */
static void render__page(FILE *out, const struct report *report, const struct verdict *verdict)
{
	render__html(out, report, verdict, NULL);
}

static const char *written(struct fixture *f,
			   void (*write)(FILE *, const struct report *, const struct verdict *))
{
	FILE *out = open_output(f);

	write(out, &f->report, &f->verdict);
	fclose(out);
	return f->out;
}

static void render__document(FILE *out, const struct report *report, const struct verdict *verdict)
{
	render__json(out, report, verdict, 0, CONNECTIONS_FOUND);
}

/*
 * The stall before it was cut by the window's begin to 17 ms; they take 40.5 ms at the median. So
 * many come before the others that a page has no room for all.
 */
static void one_example_stands_for_all(void **state)
{
	enum { STALLS = HTML_STALLS + 20, TYPICAL = STALLS - 5 };
	struct stall *stalls = xcalloc(STALLS, sizeof(*stalls));
	struct fixture *f = *state;

	for (size_t i = 0; i < STALLS; i++) {
		stalls[i] = f->stall;
		stalls[i].number = i + 1;
		stalls[i].end_ts = stalls[i].start_ts + (i == TYPICAL ? 40 : 17) * MS;
	}
	f->report.stalls = stalls;
	f->report.stall_count = STALLS;
	f->report.stalls_not_kept = 0;
	assert_int_equal(report__example(&f->report, CAUSE_NAGLE_DELACK, 1)->number, TYPICAL + 1);
	assert_int_equal(picture__first(&f->report, CAUSE_NAGLE_DELACK)->number, TYPICAL + 1);
	assert_in(short_report_of(f, true), "event by event (stall 116):");
	assert_in(written(f, render__document), "\"example\": 116,");
	/* Its picture is among those of the page. */
	assert_says(written(f, render__page), "\"first\": 116,", "\"id\": 116,", "\"id\": 99,");
	assert_silent_on(f->out, "\"id\": 100,");
	free(stalls);
}

/* What does not fit is named. */
static void what_does_not_fit_is_named(void **state)
{
	static char prose[3000];
	struct fixture *f = *state;
	const char *text;

	assert_not_in(short_report_of(f, true), "-v prints more");
	for (size_t i = 0; i + 5 < sizeof(prose); i += 5)
		memcpy(&prose[i], "word ", 5);
	f->verdict.brief = prose;
	text = short_report_of(f, true);
	assert_in(text, "-v prints more: threads, connections\n");
	assert_not_in(text, "THREAD");
	assert_in(text, "5.00 s watched");
}

static void what_the_target_waited_for(void **state)
{
	struct fixture *f = *state;

	f->report.waited_ns[CAUSE_NAGLE_DELACK] = 97;
	f->report.waited_ns[CAUSE_IDLE] = 3;
	assert_says(text_of(f, render__tables, &plain), "What it waits for", "10 ms",
		    "nagle-delack 97.0%", "idle 3.0%");
	/* Else the verdict has that sentence. */
	f->report.cause_count = 0;
	assert_not_in(text_of(f, render__tables, &plain), "What it waits for");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_chain_goes_backwards),      TEST(other_waits_of_the_incident_are_named),
		TEST(a_sum_names_each_cause_once), TEST(the_stack_names_the_waker),
		TEST(requests_are_analysed),       TEST(no_exchange_no_table),
		TEST(habits_have_their_sentences), TEST(columns_that_are_seldom_needed),
		TEST(what_the_target_waited_for),  TEST(the_verdict_comes_first),
		TEST(one_example_stands_for_all),  TEST(what_does_not_fit_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
