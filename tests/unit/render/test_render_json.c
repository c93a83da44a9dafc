// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The JSON renderers: always JSON, and what docs/report-schema.json promises. */
#include "tests/unit/render/render_fixture.h"

#include <jansson.h>

static json_t *json_of(struct fixture *f, int indent)
{
	json_error_t error;
	json_t *document;
	FILE *out = open_output(f);

	render__json(out, &f->report, &f->verdict, indent, CONNECTIONS_FOUND);
	fclose(out);
	document = json_loads(f->out, JSON_REJECT_DUPLICATES, &error);
	if (!document)
		fail_msg("%s at line %d of %s", error.text, error.line, f->out);
	return document;
}

static void json_slices_sum_to_the_stall(void **state)
{
	json_t *document = json_of(*state, 0);
	json_t *stall = json_array_get(json_object_get(document, "stalls"), 0);
	json_t *slices = json_object_get(stall, "slices"), *slice;
	double sum = 0;
	size_t i;

	json_array_foreach (slices, i, slice)
		sum += json_number_value(json_object_get(slice, "ms"));
	assert_int_equal(json_array_size(slices), 3);
	assert_true(sum > 40.6109 && sum < 40.6111);
	assert_true(json_number_value(json_object_get(stall, "duration_ms")) > 40.6109);
	assert_int_equal(json_array_size(json_object_get(stall, "evidence")), STEPS);
	/* One line: the report ends a stream of JSON lines. */
	assert_int_equal(strcspn(((struct fixture *)*state)->out, "\n") + 1,
			 ((struct fixture *)*state)->size);
	json_decref(document);
}

static void json_stays_json_when_all_is_unknown(void **state)
{
	struct fixture *f = *state;
	json_t *document;

	memset(&f->verdict, 0, sizeof(f->verdict));
	f->stall.conn = 99;
	f->conns[0].peer = 98;
	f->conns[1].id = (struct ns_conn){.fd = NS_FD_UNKNOWN};
	document = json_of(f, 2);
	assert_true(json_is_null(json_object_get(json_object_get(document, "verdict"), "cause")));
	json_decref(document);
}

static void json_is_safe_to_print(void **state)
{
	struct fixture *f = *state;
	json_t *document;

	strcpy(f->threads[1].comm, "\033[2J\xff\xc2\x9b");
	strcpy(f->conns[0].id.comm, "\"}\n");
	f->verdict.text = "not UTF-8: \xff";
	document = json_of(f, 2);
	assert_not_in(f->out, "\033");
	assert_not_in(f->out, "\xc2\x9b");
	assert_in(f->out, "\\\\x1b[2J");
	assert_in(f->out, "not UTF-8");
	json_decref(document);
}

static void every_type_is_an_event_line(void **state)
{
	for (uint32_t type = 1; type < NS_TYPE_MAX; type++) {
		union record record = {.head = {.type = type, .ts = ORIGIN}};
		struct fixture *f = *state;
		FILE *out = open_output(f);
		json_t *line;

		render__json_record(out, &f->report, &record);
		fclose(out);
		line = json_loads(f->out, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(line);
		assert_string_equal(json_string_value(json_object_get(line, "schema")),
				    "netstall.event/1");
		assert_int_equal(strcspn(f->out, "\n") + 1, f->size);
		json_decref(line);
	}
}

static void a_stall_is_an_event_line(void **state)
{
	struct fixture *f = *state;
	FILE *out = open_output(f);
	json_t *line;

	render__json_stall(out, &f->report, &f->report.stalls[0]);
	fclose(out);
	line = json_loads(f->out, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(line);
	assert_string_equal(json_string_value(json_object_get(line, "event")), "stall");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(line, "stall"), "id")),
			 f->report.stalls[0].number);
	assert_int_equal(strcspn(f->out, "\n") + 1, f->size);
	json_decref(line);
}

static void losses_and_blind_spots_are_told(void **state)
{
	struct fixture *f = *state;
	json_t *document, *completeness;

	f->report.lost[NS_LOST_RINGBUF] = 3;
	f->report.lost[NS_LOST_CONNS] = 4;
	f->report.session.missing = 1u << NS_FACT_READ | 1u << NS_FACT_SCHED;
	document = json_of(f, 0);
	completeness = json_object_get(document, "completeness");
	assert_int_equal(json_integer_value(json_object_get(completeness, "lost")), 7);
	assert_int_equal(json_array_size(json_object_get(completeness, "missing")), 2);
	assert_in(f->out, "\"missing\": [\"sched\", \"read\"]");
	json_decref(document);
}

static void fill_uring(struct report *report)
{
	static struct report_ring rings[2];
	static struct report_uring uring[2];

	rings[0].id = (struct ns_ring){.head = {.type = NS_RING, .tgid = 4242},
				       .ring = 1,
				       .fd = 5,
				       .origin = NS_ORIGIN_EXISTED,
				       .sq_entries = 64,
				       .cq_entries = 128,
				       .flags = 2,
				       .files = 3,
				       .sq_tid = 4244,
				       .overflowed = 6,
				       .dropped = 1};
	rings[1].id = (struct ns_ring){.ring = 2, .fd = NS_FD_UNKNOWN};
	uring[0] = (struct report_uring){.opcode = 27,
					 .submitted = 1201,
					 .completed = 1200,
					 .finished = 1200,
					 .errors = 3,
					 .how = {1, 9, 1180, 6, 4},
					 .p50_ns = MS,
					 .p99_ns = 2 * MS,
					 .max_ns = 3 * MS,
					 .error_count = 2,
					 .error = {{125, 2}, {0, 1}}};
	uring[1] = (struct report_uring){.opcode = 200, .notified = 5, .overflowed = 6};
	report->rings = rings;
	report->ring_count = 2;
	report->uring = uring;
	report->uring_count = 2;
}

/* A report in which every field has something to show. */
static void fill_all(struct fixture *f)
{
	static struct report_requests requests[2];
	/* Nothing is known of the second one but its number. */
	static struct report_program programs[2] = {{.pid = 4242,
						     .made = 12,
						     .median_ns = 40 * MS,
						     .p99_ns = 41 * MS,
						     .stalls = 3,
						     .stalled_ns = 4 * MS,
						     .cause = CAUSE_NAGLE_DELACK,
						     .of_cause = 2},
						    {.pid = 99}};
	struct stall *stall = &f->stall;
	union record retrans;

	parse("20.000 retrans conn=1 kind=rto seq=1001 end=2449 rto_us=204000 retries=1", &retrans);
	stall->retrans = retrans.retrans;
	stall->retransmits = 2;
	stall->sites.first_write = "send_first;main";
	stall->sites.second_write = "send_second;main";
	stall->link_count = 2;
	stall->links[0] = (struct stall_link){.cause = CAUSE_PEER_APP,
					      .start_ts = ORIGIN + MS,
					      .end_ts = ORIGIN + 2 * MS,
					      .wait = f->steps[STEPS - 1].wait,
					      .wait_stack = "schedule;read"};
	stall->links[1] = (struct stall_link){
		.cause = CAUSE_NETWORK, .start_ts = ORIGIN + MS, .end_ts = ORIGIN + 2 * MS};
	stall->wait_count = 9;
	for (size_t i = 0; i < STALL_WAITS; i++)
		stall->waits[i] = (struct stall_wait){
			.pid = 4242, .tid = 4242, .off_ts = ORIGIN, .end_ts = ORIGIN + MS};
	f->conns[0].totals.retrans_by[NS_RETRANS_TLP] = 3;
	f->conns[0].totals.srtt_us = 100;
	f->conns[0].totals.mss = 1448;
	f->conns[0].id.opener = NS_OPENER_SELF;
	f->threads[0].empty_wakes = 5;
	requests[0] = (struct report_requests){.count = 10, .sampled = 5};
	requests[0].median =
		(struct request_view){.total_ns = 30,
				      .slice_count = 2,
				      .slices = {{CAUSE_NAGLE, 20}, {CAUSE_NETWORK, 10}}};
	requests[0].connections = requests[1].connections = 1;
	requests[1].conn = 1;
	f->report.requests = requests;
	f->report.requests_count = 2;
	f->report.session.machine = 1;
	f->report.programs = programs;
	f->report.program_count = 2;
	f->report.programs_not_listed = 3;
	f->report.habits[0] = (struct report_habit){
		.habit = HABIT_SMALL_WRITES, .pid = 4242, .conn = 1, .count = 182, .bytes = 87};
	f->report.habit_count = 1;
	fill_uring(&f->report);
	f->report.past.ends = 300;
	f->report.past_without_end = 44;
	f->report.waited_ns[CAUSE_IDLE] = 5 * MS;
	f->report.longest_wait_ns = MS;
	f->report.longest_wait_cause = CAUSE_NETWORK;
	f->verdict.sites.first_write = stall->sites.first_write;
}

static void chains_and_requests_are_told(void **state)
{
	struct fixture *f = *state;
	json_t *document, *stall, *requests;

	fill_all(f);
	document = json_of(f, 0);
	stall = json_array_get(json_object_get(document, "stalls"), 0);
	assert_int_equal(json_array_size(json_object_get(stall, "links")), 2);
	assert_int_equal(json_array_size(json_object_get(stall, "waits")), STALL_WAITS);
	assert_int_equal(json_integer_value(json_object_get(stall, "wait_count")), 9);
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(stall, "retransmission"), "event")),
			    "retrans");
	requests = json_object_get(document, "requests");
	assert_true(json_is_null(json_object_get(json_array_get(requests, 0), "connection")));
	assert_in(f->out, "\"opener\": \"self\"");
	assert_in(f->out, "\"by_cause_ms\": {\"idle\": 5.0}");
	assert_in(f->out, "\"sites\": {\"first_write\": [\"send_first\", \"main\"]");
	assert_in(f->out,
		  "client/4242 on fd 7 (127.0.0.1:37640 -> 127.0.0.1:7000): 182 writes of 87 B");
	json_decref(document);
}

static void operations_are_told(void **state)
{
	struct fixture *f = *state;
	json_t *document, *uring;

	document = json_of(f, 0);
	assert_in(f->out, "\"uring\": {\"rings\": [], \"operations\": []}");
	json_decref(document);
	fill_all(f);
	document = json_of(f, 0);
	uring = json_object_get(document, "uring");
	assert_int_equal(json_array_size(json_object_get(uring, "rings")), 2);
	assert_in(f->out,
		  "{\"opcode\": \"RECV\", \"count\": 1200, \"submitted\": 1201, "
		  "\"in_flight\": 1, \"errors\": 3, \"error_counts\": "
		  "{\"ECANCELED\": 2, \"other\": 1}, \"p50_ms\": 1.0, \"p99_ms\": 2.0, "
		  "\"max_ms\": 3.0, \"inline\": 9, \"poll\": 1180, \"worker\": 6, "
		  "\"later\": 4, \"unseen\": 1, \"notifications\": 0, "
		  "\"overflowed\": 0}");
	/* Nothing was timed, and the owner is not known: null, no zeros. */
	assert_in(f->out, "{\"opcode\": \"OP_200\", \"count\": 0");
	assert_in(f->out, "\"p50_ms\": null");
	assert_in(f->out, "{\"id\": 2, \"pid\": null, \"comm\": null, \"fd\": null");
	json_decref(document);
}

/* The worst 100, in the order of their numbers, and a count of the others; or each. */
static void worst_connections_are_told(void **state)
{
	static struct report_conn conns[150];
	static const size_t listed[] = {[CONNECTIONS_FOUND] = 100, [CONNECTIONS_EACH] = 150};
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 150; i++) {
		conns[i].id = f->conns[0].id;
		conns[i].id.head.conn = i + 1;
		conns[i].totals.segs_out = 1000 - i;
	}
	conns[149].totals.retrans = 1;
	f->report.conns = conns;
	f->report.conn_count = 150;
	f->report.past.ends = 1000;
	for (int kind = CONNECTIONS_FOUND; kind <= CONNECTIONS_EACH; kind++) {
		FILE *out = open_output(f);
		json_t *document, *list;
		size_t count = listed[kind];

		render__json(out, &f->report, &f->verdict, 0, kind);
		fclose(out);
		document = json_loads(f->out, 0, NULL);
		list = json_object_get(document, "connections");
		assert_int_equal(json_array_size(list), count);
		assert_int_equal(
			json_integer_value(json_object_get(json_array_get(list, 98), "id")), 99);
		assert_int_equal(
			json_integer_value(json_object_get(json_array_get(list, count - 1), "id")),
			150);
		assert_int_equal(
			json_integer_value(json_object_get(document, "connections_not_listed")),
			1150 - count);
		json_decref(document);
	}
}

/* That report for a real validator: tests/run.sh schema. */
static int dump(void)
{
	struct fixture *f;
	void *state;

	setup(&state);
	f = state;
	fill_all(f);
	render__json(stdout, &f->report, &f->verdict, 0, CONNECTIONS_FOUND);
	return teardown(&state);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--dump"))
		return dump();

	const struct CMUnitTest tests[] = {
		TEST(json_slices_sum_to_the_stall),
		TEST(json_stays_json_when_all_is_unknown),
		TEST(json_is_safe_to_print),
		TEST(every_type_is_an_event_line),
		TEST(a_stall_is_an_event_line),
		TEST(worst_connections_are_told),
		TEST(losses_and_blind_spots_are_told),
		TEST(chains_and_requests_are_told),
		TEST(operations_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
