// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Text renderers against a report made by hand; whole outputs are in tests/golden. */
#include "tests/unit/render/render_fixture.h"
#include "user/analyze/conns.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/wrap.h"

static const char *record_of(struct fixture *f, const char *line)
{
	union record record;
	FILE *out = open_output(f);

	parse(line, &record);
	render__record(out, &f->report, &record, &plain);
	fclose(out);
	return f->out;
}

static unsigned longest_line(const char *text)
{
	unsigned longest = 0;

	while (*text != '\0') {
		size_t bytes = strcspn(text, "\n");
		char line[1024];

		snprintf(line, sizeof(line), "%.*s", (int)bytes, text);
		longest = wrap__columns(line) > longest ? wrap__columns(line) : longest;
		text += bytes + (text[bytes] == '\n');
	}
	return longest;
}

static void stall_tells_the_chain_in_order(void **state)
{
	static const char *const wanted[] = {
		"stall 1  nagle-delack  40.6 ms  at 0.010 s  client/4242",
		"127.0.0.1:37640 -> 127.0.0.1:7000  server/4243",
		"write fd 7",
		"sent at once",
		"delayed ACK armed",
		"0.000 ms",
		"HELD by Nagle: 40 B unacknowledged, 136 B < mss 32,768",
		"sleeps in read fd 8",
		"delayed ACK FIRED",
		"ACK -> client",
		"acknowledges the 40 B in flight",
		"released after 40.6 ms",
		"waited 31 us for a CPU",
		"server/4243 lost 40.6 ms = 40.5 ms nagle-delack + 109 us network + 31 us runqueue",
	};
	const char *at = text_of(*state, NULL, &plain);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const char *found = strstr(at, wanted[i]);

		if (!found)
			fail_msg("\"%s\" is not behind the others in:\n%s", wanted[i],
				 ((struct fixture *)*state)->out);
		at = found;
	}
}

static void stall_tells_each_act_once(void **state)
{
	const char *text = text_of(*state, NULL, &plain);

	assert_int_equal(occurrences(text, "HELD"), 1);
	assert_int_equal(occurrences(text, "sent -> server"), 1);
}

static void stall_fits_its_columns(void **state)
{
	static const unsigned widths[] = {80, 100, 120};

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct render_style style = {.width = widths[i]};

		assert_true(longest_line(text_of(*state, NULL, &style)) <= widths[i]);
	}
}

static void stall_without_steps_is_one_line(void **state)
{
	struct fixture *f = *state;
	const char *text;

	f->stall.step_count = 0;
	text = text_of(f, NULL, &plain);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_in(text, "stall 1  nagle-delack  40.6 ms");
}

static void stall_says_what_is_not_sure(void **state)
{
	struct fixture *f = *state;
	const char *text;

	f->stall.confidence = CONFIDENCE_INFERRED;
	f->stall.inferred = INFERRED_FROM_LATE_ACK;
	f->stall.missing = MISSING_PEER_FAR;
	f->stall.open = true;
	f->stall.exact = false;
	text = text_of(f, NULL, &plain);
	assert_says(text, "inferred: the acknowledgement carried no data",
		    "not seen: the other end", "not on this host", "40.6 ms so far");
	f->stall.open = false;
	f->stall.missing = MISSING_NOTHING;
	text = text_of(f, NULL, &plain);
	assert_says(text, "at most 40.6 ms", "inexact:");
}

static void colour_only_when_asked(void **state)
{
	struct render_style colour = {.colour = true};

	assert_not_in(text_of(*state, NULL, &plain), "\033");
	assert_in(text_of(*state, NULL, &colour), "\033[");
	assert_not_in(text_of(*state, render__tables, &plain), "\033");
	assert_not_in(verdict_text_of(*state, &plain), "\033");
}

static void names_cannot_move_the_cursor(void **state)
{
	struct fixture *f = *state;

	strcpy(f->threads[1].comm, "\033[2J\xff");
	strcpy(f->processes[0].comm, "\033[2J\xff");
	strcpy(f->conns[0].id.comm, "\033[2J\xff");
	assert_not_in(text_of(f, NULL, &plain), "\033");
	assert_not_in(text_of(f, render__tables, &plain), "\033");
	assert_in(text_of(f, NULL, &plain), "\\x1b[2J\\xff");
}

static void summary_has_all_tables(void **state)
{
	const char *text = text_of(*state, render__tables, &plain);

	assert_in(text, "5.00 s watched");
	assert_in(text, "THREAD");
	assert_in(text, "98.7%");
	assert_in(text, "server/4243 (peer)");
	assert_in(text, "pid 7 in its namespace");
	assert_in(text, "122 nagle");
	assert_in(text, "122 of 246 there");
	assert_in(text, "98.8%");
	assert_not_in(text, "LOST");
	/* Targets before peers, however the report has them. */
	assert_true(strstr(text, "client/4242") < strstr(text, "server/4243"));
}

static void summary_shows_loss(void **state)
{
	struct fixture *f = *state;
	const char *text;

	f->report.lost[NS_LOST_RINGBUF] = 1234;
	f->report.session.missing = 1u << NS_FACT_READ;
	text = text_of(f, render__tables, &plain);
	assert_says(text, "LOST 1,234 records", "ring buffer full", "the application's reads");
}

/* A row for each of 64 connections would bury the one that stalled, and any three of them say
 * nothing. */
static void summary_keeps_the_stalled_connection(void **state)
{
	static const struct render_style each = {.verbose = true, .connections = CONNECTIONS_EACH};
	static struct report_conn conns[64];
	struct report_requests requests = {.role = REQUEST_MADE};
	struct fixture *f = *state;
	const char *text;

	for (uint32_t i = 0; i < 64; i++) {
		conns[i].id = f->conns[0].id;
		conns[i].id.head.conn = i + 1;
		conns[i].id.lport = 40000 + i;
		conns[i].totals.segs_out = 1000 - i;
	}
	f->report.conns = conns;
	f->report.conn_count = 64;
	conns[63].stalled_ns = 40 * MS;
	f->report.past.conns = 1000;
	f->report.past.found = 2;
	requests.end = request_end__of(&conns[0].id, NULL, REQUEST_MADE);
	f->report.requests = &requests;
	f->report.requests_count = 1;
	text = text_of(f, render__tables, &plain);
	assert_says(text, "127.0.0.1:40063", "and 2 more connections",
		    "nothing found on 1,061 others (--connections=each lists them)");
	assert_silent_on(text, "127.0.0.1:40000");
	text = text_of(f, render__tables, &each);
	assert_says(text, "and 1,000 more connections", "127.0.0.1:40019");
	assert_silent_on(text, "nothing found");
	assert_true(strstr(text, "127.0.0.1:40063") < strstr(text, "127.0.0.1:40000"));
	/* What goes one way has no row among the requests. */
	f->report.requests_count = 0;
	text = text_of(f, render__tables, &plain);
	assert_says(text, "127.0.0.1:40063", "127.0.0.1:40000");
	f->report.requests_count = 1;
	conns[63].stalled_ns = 0;
	f->report.past.found = 0;
	text = text_of(f, render__tables, &plain);
	assert_silent_on(text, "CONNECTION ");
}

static void verdict_wraps(void **state)
{
	struct render_style narrow = {.width = 80};
	const char *text = verdict_text_of(*state, &narrow);

	assert_in(text,
		  "nagle-delack: 122 waits of 40.5 ms each (98.8% of 5.00 s): client/4242 writes");
	assert_in(text, "Do one of:");
	assert_in(text, "    2. set TCP_NODELAY");
	assert_true(longest_line(text) <= 80);
}

static void numbers_keep_their_units(void **state)
{
	char *text = PRINTED(out, wrap__print(out, "it took 202 ms: long", 0, 2, 11));

	(void)state;
	assert_string_equal(text, "it took\n  202 ms:\n  long");
	free(text);
}

static void record_lines_stand_alone(void **state)
{
	assert_in(record_of(*state, step_lines[0]), "client/4242");
	assert_in(record_of(*state, step_lines[4]), "HELD by Nagle");
	assert_in(record_of(*state, step_lines[11]), "slept in read fd 8");
	/* A connection and a thread that the report does not know. */
	assert_in(record_of(*state, "1 send conn=99 tgid=5 tid=6 bytes=1"), "tid 6");
	assert_in(record_of(*state, "1 tx conn=99 seq=1 end=2"), "c99's TCP");
	assert_in(record_of(*state, "1 lost kind=ringbuf count=3"), "LOST");
}

static void every_type_has_words(void **state)
{
	for (uint32_t type = 1; type < NS_TYPE_MAX; type++) {
		union record record = {.head = {.type = type, .ts = ORIGIN}};
		struct fixture *f = *state;
		FILE *out = open_output(f);

		render__record(out, &f->report, &record, &plain);
		fclose(out);
		assert_not_in(f->out, "record of type");
	}
}

static void grid_leaves_out_empty_columns(void **state)
{
	static const struct grid_column columns[] = {{"A", false}, {"B", true}, {"C", false}};
	struct grid *grid = grid__new(columns, 3);
	char *text;

	(void)state;
	grid__row(grid, COLOUR_PLAIN, "one", "", "three");
	text = PRINTED(out, grid__finish(grid, out, &plain, 0));
	assert_string_equal(text, "A    C\none  three\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stall_tells_the_chain_in_order),
		TEST(stall_tells_each_act_once),
		TEST(stall_fits_its_columns),
		TEST(stall_without_steps_is_one_line),
		TEST(stall_says_what_is_not_sure),
		TEST(colour_only_when_asked),
		TEST(names_cannot_move_the_cursor),
		TEST(summary_has_all_tables),
		TEST(summary_shows_loss),
		TEST(summary_keeps_the_stalled_connection),
		TEST(verdict_wraps),
		TEST(numbers_keep_their_units),
		TEST(record_lines_stand_alone),
		TEST(every_type_has_words),
		TEST(grid_leaves_out_empty_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
