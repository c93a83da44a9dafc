// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A trace of one host, taken apart into what two hosts would have recorded of it, one of them with
 * another clock and the same pids; joined it is what it was.
 */
#include <arpa/inet.h>

#include "tests/unit/feed.h"
#include "user/record/joined.h"

#define AHEAD_NS 7000000000ll

struct file {
	char *bytes;
	size_t size;
};

static void shift(union record *record, int64_t ns)
{
	const struct record_type *type = record_type__by_number(record->head.type);

	record->head.ts += (uint64_t)ns;
	for (const struct field *field = type->fields; field->name; field++)
		if (field->kind == FIELD_TIME && field__number(record, field))
			field__set_number(record, field,
					  field__number(record, field) + (uint64_t)ns);
}

/* Host 0 has connection 1 and the client; host 1 the other end, whose numbers there are the same.
 */
static bool is_of(union record *record, unsigned host)
{
	bool second = record->head.conn == 2 || (!record->head.conn && record->head.tgid == 4243);

	if (record->head.type == NS_PEER)
		return false;
	if (record->head.type == NS_STACK || record->head.type == NS_SESSION ||
	    record->head.type == NS_END)
		return true;
	if (second != (host == 1))
		return false;
	if (second) {
		record->head.conn = record->head.conn ? 1 : 0;
		if (record->head.tgid == 4243)
			record->head.tgid = record->head.tid = 4242;
		if (record->head.type == NS_PROCESS)
			record->process.role = NS_ROLE_TARGET;
		if (record->head.type == NS_CONN)
			record->conn.role = NS_ROLE_TARGET;
	}
	if (record->head.type == NS_PROCESS)
		record->head.tid = 0;
	return true;
}

static struct file record_host(const struct feed *feed, unsigned host, double drift)
{
	struct file file = {0};
	FILE *out = open_memstream(&file.bytes, &file.size);
	struct recording_writer *writer = recording__begin(out, host ? "there" : "here", "1", 1);

	for (size_t i = 0; i < feed->count; i++) {
		union record record = feed->v[i];
		double late = drift * (double)(int64_t)(record.head.ts - TEXT_TRACE_ORIGIN_NS);

		if (!is_of(&record, host))
			continue;
		if (host)
			shift(&record, AHEAD_NS + (int64_t)late);
		recording__add(writer, &record, record.head.len);
		if (!record__is_told_ahead(record.head.type))
			recording__idle(writer, record.head.ts);
	}
	recording__end(writer);
	fclose(out);
	return file;
}

static struct joined *join(const struct file files[2], FILE *in[2], const char **why)
{
	for (unsigned i = 0; i < 2; i++)
		in[i] = fmemopen(files[i].bytes, files[i].size, "r");
	return joined__open(in[0], in[1], why);
}

static void feed_joined(struct pipeline *pipeline, struct joined *joined)
{
	enum recording_gives gives;
	const void *record;
	size_t len;

	while ((gives = joined__next(joined, &record, &len)) != RECORDING_ENDS)
		if (gives == RECORDING_RECORD)
			assert_int_equal(pipeline__feed(pipeline, record, len), 0);
		else
			pipeline__idle(pipeline, ((const struct ns_head *)record)->ts);
}

static void check_joined(struct feed feed, unsigned translated)
{
	const struct file files[2] = {record_host(&feed, 0, 0), record_host(&feed, 1, 0)};
	const struct pipeline_sink sink = {0};
	struct pipeline *whole = pipeline__new(&sink), *again = pipeline__new(&sink);
	const struct report *was, *is;
	const struct joined_about *about;
	struct joined *joined;
	const char *why;
	FILE *in[2];

	for (size_t i = 0; i < feed.count; i++)
		pipeline__feed(whole, &feed.v[i], feed.v[i].head.len);
	was = pipeline__finish(whole);
	joined = join(files, in, &why);
	assert_non_null(joined);
	about = joined__about(joined);
	assert_int_equal(about->connections, 1);
	assert_int_equal(about->translated, translated);
	assert_string_equal(about->hosts[1], "there");
	/* 10 us there, 29 us back: the truth is within the bound. */
	assert_in_range(about->bound_ns, 19000, 20000);
	assert_in_range(about->offset_ns, AHEAD_NS - 20000, AHEAD_NS + 20000);
	assert_int_equal(about->drift_ns_s, 0);
	feed_joined(again, joined);
	is = pipeline__finish(again);
	assert_int_equal(is->stall_count, was->stall_count);
	for (size_t i = 0; i < is->stall_count; i++) {
		assert_int_equal(is->stalls[i].cause, was->stalls[i].cause);
		assert_int_equal(is->stalls[i].confidence, CONFIDENCE_OBSERVED);
		assert_int_equal(is->stalls[i].missing, was->stalls[i].missing);
		assert_in_range(is->stalls[i].end_ts, was->stalls[i].end_ts - 20000,
				was->stalls[i].end_ts + 20000);
	}
	/* Its own pid is another process's here. */
	assert_int_equal(is->process_count, 2);
	assert_non_null(report__process(is, 4242));
	assert_non_null(report__process(is, 4242 + JOINED_PIDS));
	pipeline__free(whole);
	pipeline__free(again);
	joined__free(joined);
	for (unsigned i = 0; i < 2; i++) {
		fclose(in[i]);
		free(files[i].bytes);
	}
	free(feed.v);
}

static void test_joined_as_it_was(void **state)
{
	(void)state;
	check_joined(feed__golden("nagle-delack"), 0);
}

/* The server sees another client than there is, at another port. */
static void test_joined_through_address_translation(void **state)
{
	struct feed feed = feed__golden("nagle-delack");

	(void)state;
	for (size_t i = 0; i < feed.count; i++) {
		struct ns_conn *conn = &feed.v[i].conn;

		if (conn->head.type != NS_CONN || conn->head.conn != 2)
			continue;
		conn->raddr[0] = htonl(0xc0000263);
		conn->rport = 1024;
	}
	check_joined(feed, 1);
}

/* A netstall without a CPU reads most of what happened behind its window's end, which it tells
 * first. */
static void test_joined_with_the_end_told_ahead(void **state)
{
	struct feed feed = feed__golden("nagle-delack");
	size_t i = feed.count - 1;
	union record end;

	(void)state;
	while (feed.v[i].head.type != NS_END)
		i--;
	end = feed.v[i];
	for (; feed.v[i - 1].head.type != NS_CONN; i--)
		feed.v[i] = feed.v[i - 1];
	feed.v[i] = end;
	check_joined(feed, 0);
}

/* Ten minutes of exchanges, 20 us there and 40 us back, on a clock that is 50 ppm too fast. */
static void test_clock_that_drifts(void **state)
{
	struct feed feed = {0};
	char line[256];

	(void)state;
	feed__add_line(&feed, "0 session way=fentry kernel=6 arch=x target=x threshold=10");
	feed__add_line(&feed, "0 conn conn=1 role=target local=10.0.0.1:5 remote=10.0.0.2:7");
	feed__add_line(&feed, "0 conn conn=2 role=peer local=10.0.0.2:7 remote=10.0.0.1:5");
	for (unsigned i = 1; i <= 100; i++) {
		const struct {
			double at;
			const char *what;
		} steps[] = {{0, "tx conn=1 seq=%u end=%u ack=1"},
			     {0.02, "rx conn=2 seq=%u end=%u ack=1"},
			     {1, "ack conn=2 seq=1 end=1 ack=%u flags=%u"},
			     {1.04, "rx conn=1 seq=1 end=1 ack=%u flags=%u"}};

		for (unsigned j = 0; j < 4; j++) {
			int used = snprintf(line, sizeof(line), "%.6f ", 6000.0 * i + steps[j].at);

			snprintf(line + used, sizeof(line) - (size_t)used, steps[j].what, i * 10,
				 j < 2 ? i * 10 + 5 : 16);
			feed__add_line(&feed, line);
		}
	}
	{
		const struct file files[2] = {record_host(&feed, 0, 0),
					      record_host(&feed, 1, 50e-6)};
		const char *why;
		FILE *in[2];
		struct joined *joined = join(files, in, &why);
		const struct joined_about *about;
		enum recording_gives gives;
		const void *record;
		uint64_t last_ts = 0;
		size_t len, seen = 0;

		assert_non_null(joined);
		about = joined__about(joined);
		assert_int_equal(about->there, 100);
		assert_int_equal(about->back, 100);
		assert_in_range(about->drift_ns_s, 49900, 50100);
		assert_in_range(about->bound_ns, 29000, 60000);
		/* On the first's clock each step is where it was, but for the bound. */
		while ((gives = joined__next(joined, &record, &len)) != RECORDING_ENDS) {
			const struct ns_head *head = record;

			if (gives != RECORDING_RECORD || head->type == NS_PEER)
				continue;
			if (head->conn == 2 && head->type == NS_RX)
				assert_in_range(head->ts - last_ts + about->bound_ns, 20000,
						20000 + 2 * about->bound_ns);
			seen += head->conn > 0;
			last_ts = head->type == NS_TX ? head->ts : last_ts;
		}
		assert_int_equal(seen, 402);
		joined__free(joined);
		for (unsigned i = 0; i < 2; i++) {
			fclose(in[i]);
			free(files[i].bytes);
		}
	}
	free(feed.v);
}

/* What says why they are not joined. */
static void expect_refused(const char *first, const char *second, const char *wanted)
{
	struct feed feeds[2] = {feed__golden(first), feed__golden(second)};
	struct file files[2] = {record_host(&feeds[0], 0, 0), record_host(&feeds[1], 0, 0)};
	const char *why = NULL;
	FILE *in[2];

	assert_null(join(files, in, &why));
	assert_string_equal(why, wanted);
	for (unsigned i = 0; i < 2; i++) {
		fclose(in[i]);
		free(files[i].bytes);
		free(feeds[i].v);
	}
}

static void test_what_is_not_joined(void **state)
{
	(void)state;
	expect_refused("nagle-delack", "remote-far", "they have no connection in common");
	/* Both ends are in it, so that they have all connections in common. */
	expect_refused("nagle-delack", "nagle-delack",
		       "both are one recording: give one of each host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined_as_it_was),
		cmocka_unit_test(test_joined_through_address_translation),
		cmocka_unit_test(test_joined_with_the_end_told_ahead),
		cmocka_unit_test(test_clock_that_drifts),
		cmocka_unit_test(test_what_is_not_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
