// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The pipeline as a whole: whatever order, whatever bytes, however many. */
#include <errno.h>

#include "tests/unit/analyze/sink.h"
#include "user/explain/verdict.h"

/* ---- order ---- */

struct placed {
	uint64_t key;
	union record record;
};

static int by_key(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Each record arrives up to jitter_ns late; UINT64_MAX: in any order at all. */
static void shuffle(struct feed *feed, uint64_t jitter_ns, uint64_t *random)
{
	struct placed *placed = calloc(feed->count, sizeof(*placed));

	for (size_t i = 0; i < feed->count; i++) {
		placed[i].record = feed->v[i];
		placed[i].key = jitter_ns == UINT64_MAX
					? random_next(random)
					: feed->v[i].head.ts + random_below(random, jitter_ns);
		/* Made before anything is hooked. */
		if (feed->v[i].head.type == NS_SESSION && jitter_ns != UINT64_MAX)
			placed[i].key = 0;
	}
	qsort(placed, feed->count, sizeof(*placed), by_key);
	for (size_t i = 0; i < feed->count; i++)
		feed->v[i] = placed[i].record;
	free(placed);
}

static void assert_same_stall(const struct stall *a, const struct stall *b)
{
	assert_int_equal(a->cause, b->cause);
	assert_int_equal(a->confidence, b->confidence);
	assert_int_equal(a->start_ts, b->start_ts);
	assert_int_equal(a->end_ts, b->end_ts);
	assert_int_equal(a->conn, b->conn);
	assert_int_equal(a->peer, b->peer);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->exact, b->exact);
	assert_int_equal(a->open, b->open);
	assert_int_equal(a->joined, b->joined);
	assert_int_equal(a->missing, b->missing);
	assert_int_equal(a->inferred, b->inferred);
	assert_int_equal(a->released_by, b->released_by);
	assert_int_equal(a->slice_count, b->slice_count);
	assert_memory_equal(a->slices, b->slices, sizeof(a->slices));
	assert_int_equal(a->step_count, b->step_count);
	for (size_t i = 0; i < a->step_count; i++)
		assert_memory_equal(&a->steps[i], &b->steps[i], sizeof(a->steps[i]));
}

static void assert_same_verdict(const struct report *report, const struct report *other)
{
	struct verdict a, b;

	verdict__write(&a, report);
	verdict__write(&b, other);
	assert_string_equal(a.title, b.title);
	assert_string_equal(a.text, b.text);
	assert_int_equal(a.advice_count, b.advice_count);
	for (size_t i = 0; i < a.advice_count; i++)
		assert_string_equal(a.advice[i], b.advice[i]);
	verdict__clear(&a);
	verdict__clear(&b);
}

static void assert_same_report(const struct report *a, const struct report *b)
{
	assert_int_equal(a->stall_count, b->stall_count);
	for (size_t i = 0; i < a->stall_count; i++)
		assert_same_stall(&a->stalls[i], &b->stalls[i]);
	assert_int_equal(a->conn_count, b->conn_count);
	assert_int_equal(a->thread_count, b->thread_count);
	assert_int_equal(a->process_count, b->process_count);
	assert_int_equal(a->end_ts - a->start_ts, b->end_ts - b->start_ts);
	assert_same_verdict(a, b);
}

/* Shuffled so many times. */
static void assert_order_is_no_matter(struct feed *feed, uint64_t jitter_ns, uint64_t *random,
				      int times)
{
	struct pipeline *straight = pipeline__new(NULL);
	size_t size = feed->count * sizeof(*feed->v);
	union record *in_order = malloc(size);

	memcpy(in_order, feed->v, size);
	feed__run(feed, straight);
	for (int again = 0; again < times; again++) {
		struct pipeline *mixed = pipeline__new(NULL);

		memcpy(feed->v, in_order, size);
		shuffle(feed, jitter_ns, random);
		feed__run(feed, mixed);
		assert_same_report(pipeline__finish(straight), pipeline__finish(mixed));
		pipeline__free(mixed);
	}
	pipeline__free(straight);
	free(in_order);
}

static void test_late_records(void **state)
{
	size_t count;
	const char *const *names = golden_names(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		struct feed feed = feed__golden(names[i]);
		uint64_t random = 11;

		assert_order_is_no_matter(&feed, 45000000, &random, 20);
		feed__free(&feed);
	}
}

/* One stall, with all of it in any order, the description of its connections too. */
static void test_any_order(void **state)
{
	static const char *const single[] = {"nagle-data",  "ipv6",         "both-sides",
					     "owned-timer", "hostile-comm", "three-pieces"};
	uint64_t random = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		struct feed feed = feed__golden(single[i]);

		/* What comes at the end would make the stream pass the stall. */
		while (feed.v[feed.count - 1].head.ts > TEXT_TRACE_ORIGIN_NS + 80000000)
			feed.count--;
		assert_order_is_no_matter(&feed, UINT64_MAX, &random, 50);
		feed__free(&feed);
	}
}

static void test_records_in_order(void **state)
{
	uint64_t random = 23;
	size_t count;
	const char *const *names = golden_names(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		struct seen seen = {0};
		struct pipeline_sink sink = {
			.on_record = see_record, .on_stall = see_stall, .context = &seen};
		struct pipeline *pipeline = pipeline__new(&sink);
		struct feed feed = feed__golden(names[i]);

		shuffle(&feed, 45000000, &random);
		feed__run(&feed, pipeline);
		pipeline__finish(pipeline);
		/* What is outside of this one's window is not shown. */
		if (strcmp(names[i], "window"))
			assert_int_equal(seen.records, feed.count);
		assert_int_equal(seen.disorder, 0);
		pipeline__free(pipeline);
		feed__free(&feed);
	}
}

/* ---- anything at all ---- */

static void random_record(union record *record, uint64_t *random, uint64_t now)
{
	uint32_t type = 1 + (uint32_t)random_below(random, NS_TYPE_MAX - 1);
	uint32_t small[8];

	for (int i = 0; i < 8; i++)
		small[i] = (uint32_t)random_below(random, 200);
	if (type == NS_SESSION || type == NS_END || type == NS_LOST)
		type = NS_RELEASE; /* the start and the end of the window are the test's */
	memset(record, 0, sizeof(*record));
	record->head.type = type;
	record->head.len = (uint32_t)record__size(type);
	record->head.ts = now - random_below(random, 60000000);
	record->head.conn = 1 + small[0] % 6;
	record->head.tgid = 1 + small[1] % 3;
	record->head.tid = 1 + small[2] % 5;
	/* Fields of every record: small numbers, so that they meet. */
	for (size_t at = sizeof(struct ns_head); at + 4 <= record->head.len; at += 4) {
		uint32_t value = (uint32_t)random_below(random, 5) ? small[at / 4 % 8] % 12 : 0;

		memcpy((char *)record + at, &value, sizeof(value));
	}
	switch (type) {
	case NS_PROCESS:
	case NS_CONN:
		record->process.role = 1 + small[3] % 3;
		if (type == NS_CONN)
			record->conn.family = small[4] % 2 ? 2 : 10;
		break;
	case NS_RELEASE:
		record->release.held_ns = random_below(random, 100000000);
		record->release.reason = small[3] % 5;
		record->release.inexact = small[4] % 10 == 0;
		break;
	case NS_WAIT:
		record->wait.off_ts = record->head.ts - random_below(random, 100000000);
		record->wait.wake_ts = record->wait.off_ts + random_below(random, 120000000);
		record->wait.state = 1;
		record->wait.syscall = small[5] % 2 ? 0 : 232;
		break;
	default:
		break;
	}
}

static void run_random(uint64_t seed)
{
	struct seen seen = {0};
	struct pipeline_sink sink = {
		.on_record = see_record, .on_stall = see_stall, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);
	uint64_t random = seed, now = TEXT_TRACE_ORIGIN_NS + 200000000;
	struct feed session = feed__text("0 session threshold=10 arch=x86_64\n");
	union record record;

	feed__run(&session, pipeline);
	feed__free(&session);
	for (int i = 0; i < 3000; i++) {
		now += random_below(&random, 3000000);
		random_record(&record, &random, now);
		if (!record__damage(&record))
			pipeline__feed(pipeline, &record, record.head.len);
		if (i % 100 == 0)
			pipeline__idle(pipeline, now);
	}
	pipeline__finish(pipeline);
	assert_true(seen.stalls > 0);
	pipeline__free(pipeline);
}

static void test_random_records(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++)
		run_random(seed);
}

static void test_random_bytes(void **state)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	uint64_t random = 99, damaged = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		union record record;
		uint64_t *words = (uint64_t *)&record;
		int ret;

		for (size_t word = 0; word < sizeof(record) / sizeof(*words); word++)
			words[word] = random_next(&random);
		record.head.type = (uint32_t)random_below(&random, NS_TYPE_MAX + 1);
		record.head.len = sizeof(record);
		record.head.conn &= 0xff;
		ret = pipeline__feed(pipeline, &record, sizeof(record));
		assert_true(ret == 0 || ret == -EBADMSG);
		damaged += ret == -EBADMSG;
	}
	assert_true(damaged > 0);
	pipeline__finish(pipeline);
	assert_true(pipeline__report(pipeline)->lost[NS_LOST_DAMAGED] >= damaged);
	assert_false(pipeline__report(pipeline)->complete);
	pipeline__free(pipeline);
}

static void test_damage_is_counted(void **state)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	struct feed feed = feed__golden("idle-server");
	struct verdict verdict;

	(void)state;
	assert_int_equal(pipeline__feed(pipeline, "short", 5), -EBADMSG);
	feed__run(&feed, pipeline);
	pipeline__finish(pipeline);
	assert_int_equal(pipeline__report(pipeline)->lost[NS_LOST_DAMAGED], 1);
	assert_false(pipeline__report(pipeline)->complete);
	verdict__write(&verdict, pipeline__report(pipeline));
	assert_false(verdict.found);
	/* Silence is no evidence then, and the verdict says so. */
	assert_non_null(strstr(verdict.title, "no evidence"));
	verdict__clear(&verdict);
	pipeline__free(pipeline);
	feed__free(&feed);
}

/* ---- when stalls are told ---- */

static void test_idle_tells(void **state)
{
	struct seen seen = {0};
	struct pipeline_sink sink = {.on_stall = see_stall, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);
	uint64_t end = TEXT_TRACE_ORIGIN_NS + 15000000;

	(void)state;
	feed_stall(pipeline, 1, TEXT_TRACE_ORIGIN_NS, 15000000);
	assert_int_equal(seen.stalls, 0);
	pipeline__idle(pipeline, end + 49000000);
	assert_int_equal(seen.stalls, 0);
	pipeline__idle(pipeline, end + 50000000);
	assert_int_equal(seen.stalls, 1);
	pipeline__idle(pipeline, end); /* a clock behind does no harm */
	pipeline__finish(pipeline);
	assert_ptr_equal(pipeline__finish(pipeline), pipeline__report(pipeline));
	assert_int_equal(seen.stalls, 1);
	pipeline__free(pipeline);
}

/* ---- the window ---- */

#define MS 1000000ull

static void feed_mark(struct pipeline *pipeline, uint32_t type, uint64_t ts)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.head = (struct ns_head){.type = type, .len = record__size(type), .ts = ts};
	record.session.threshold_ns = type == NS_SESSION ? 10 * MS : 0;
	assert_int_equal(pipeline__feed(pipeline, &record, record.head.len), 0);
}

/* A window from 100 to 200 ms, and a hold. What is later than the end comes behind it. */
static void assert_judged(uint64_t from, uint64_t to, size_t stalls)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	const struct report *report;

	feed_mark(pipeline, NS_SESSION, 100 * MS);
	if (to > 200 * MS)
		feed_mark(pipeline, NS_END, 200 * MS);
	feed_stall(pipeline, 1, from, to - from);
	if (to <= 200 * MS)
		feed_mark(pipeline, NS_END, 200 * MS);
	report = pipeline__finish(pipeline);
	assert_int_equal(report->stall_count, stalls);
	assert_int_equal(report->start_ts, 100 * MS);
	assert_int_equal(report->end_ts, 200 * MS);
	pipeline__free(pipeline);
}

static void test_window(void **state)
{
	(void)state;
	assert_judged(100 * MS, 200 * MS, 1);
	assert_judged(120 * MS, 150 * MS, 1);
	assert_judged(100 * MS - 1, 150 * MS, 0);
	assert_judged(40 * MS, 60 * MS, 0);
	assert_judged(200 * MS + 1, 230 * MS, 0);
	/* It has begun inside and goes on at the end: that much of it counts. */
	assert_judged(150 * MS, 200 * MS + 1, 1);
	assert_judged(195 * MS, 250 * MS, 0);
}

static void feed_rx(struct pipeline *pipeline, uint64_t ts)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.head =
		(struct ns_head){.type = NS_RX, .len = record__size(NS_RX), .ts = ts, .conn = 1};
	assert_int_equal(pipeline__feed(pipeline, &record, record.head.len), 0);
}

/* A slow machine reads much of what came before the end behind it. */
static void test_read_after_the_end(void **state)
{
	struct seen seen = {0};
	struct pipeline_sink sink = {.on_record = see_record, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);

	(void)state;
	feed_mark(pipeline, NS_SESSION, 100 * MS);
	feed_mark(pipeline, NS_END, 200 * MS);
	for (uint64_t at = 110; at < 140; at++) {
		feed_rx(pipeline, (at + 1) * MS);
		feed_rx(pipeline, at * MS);
	}
	pipeline__finish(pipeline);
	assert_int_equal(seen.disorder, 0);
	pipeline__free(pipeline);
}

static void test_empty(void **state)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	struct verdict verdict;

	(void)state;
	pipeline__idle(pipeline, 5);
	verdict__write(&verdict, pipeline__finish(pipeline));
	assert_false(verdict.found);
	assert_non_null(verdict.text);
	verdict__clear(&verdict);
	pipeline__free(pipeline);
	pipeline__free(pipeline__new(NULL));
	pipeline__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_records),       cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_records_in_order),   cmocka_unit_test(test_random_records),
		cmocka_unit_test(test_random_bytes),       cmocka_unit_test(test_damage_is_counted),
		cmocka_unit_test(test_idle_tells),         cmocka_unit_test(test_window),
		cmocka_unit_test(test_read_after_the_end), cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
