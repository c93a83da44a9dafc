// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Many records of one kind take a time that grows as their number, not as its square: nobody goes
 * through all threads, connections or processes for each of them, nor through all that is open.
 */
#include "tests/unit/feed.h"
#include "tests/unit/growth.h"

static const char head[] =
	"0 session way=fentry kernel=6.12.95 arch=x86_64 threshold=10\n"
	"0 process tgid=4242 role=target comm=client\n"
	"0 process tgid=4243 role=peer comm=srv\n"
	"0 conn conn=1 tgid=4242 role=target local=127.0.0.1:37640 remote=127.0.0.1:7000 fd=7 "
	"opener=self\n"
	"0 conn conn=2 tgid=4243 role=peer local=127.0.0.1:7000 remote=127.0.0.1:37640 fd=8 "
	"opener=peer\n"
	"0 peer conn=1 peer=2\n"
	"0.1 stack id=1 text=schedule;futex_wait_queue;futex_wait;do_futex\n"
	"0.1 stack id=2 text=try_to_wake_up;hrtimer_wakeup;hrtimer_interrupt\n";

/* A kind of record, which is read once and fed with other numbers. */
static union record record_of(const char *line)
{
	union record record;
	char error[256] = "";

	if (text__parse(line, &record, error, sizeof(error)) != 1)
		fail_msg("%s: %s", line, error);
	return record;
}

static struct pipeline *begin(void)
{
	return feed__pipeline(feed__text(head));
}

static void feed_at(struct pipeline *pipeline, union record *record, double ms)
{
	record->head.ts = TEXT_TRACE_ORIGIN_NS + (uint64_t)(ms * 1e6);
	assert_int_equal(pipeline__feed(pipeline, record, record->head.len), 0);
}

/* A wait of 20 ms. */
static void feed_wait(struct pipeline *pipeline, union record *wait, uint32_t tid, double ms)
{
	wait->head.tid = tid;
	wait->wait.off_ts = TEXT_TRACE_ORIGIN_NS + (uint64_t)((ms - 20) * 1e6);
	wait->wait.wake_ts = TEXT_TRACE_ORIGIN_NS + (uint64_t)(ms * 1e6) - 100;
	feed_at(pipeline, wait, ms);
}

static void end(struct pipeline *pipeline)
{
	pipeline__finish(pipeline);
	pipeline__free(pipeline);
}

static void many_threads_on_a_connection(uint32_t count)
{
	union record wait = record_of(
		"1 wait conn=1 tgid=4242 tid=1 off=0 wake=0.5 state=1 "
		"syscall=0 arg0=7 turn=wrote conn_basis=fd");
	struct pipeline *pipeline = begin();

	for (uint32_t i = 0; i < count; i++)
		feed_wait(pipeline, &wait, 10000 + i, 1000 + i * 1e-3);
	end(pipeline);
}

static void many_threads_then_holds(uint32_t count)
{
	union record wait = record_of(
		"1 wait tgid=4242 tid=1 off=0 wake=0.5 state=1 syscall=202 "
		"waker_tgid=4243 waker_tid=4243 stack_id=1");
	union record release = record_of("1 release conn=1 held=20 seq=1 end=2 reason=nagle");
	struct pipeline *pipeline = begin();

	for (uint32_t i = 0; i < count / 2; i++)
		feed_wait(pipeline, &wait, 10000 + i, 1000 + i * 1e-3);
	for (uint32_t i = 0; i < count / 2; i++) {
		release.head.conn = 101 + 2 * i;
		feed_at(pipeline, &release, 1500 + i * 1e-2);
	}
	end(pipeline);
}

/* No request was seen: whether they have connections says what their waits are. */
static void feed_timeouts(struct pipeline *pipeline, uint32_t count)
{
	union record wait = record_of(
		"1 wait tgid=4242 tid=1 off=0 wake=0.5 state=1 syscall=232 "
		"waker_stack_id=2");

	for (uint32_t i = 0; i < count; i++)
		feed_wait(pipeline, &wait, 10000 + i, 1000 + i * 0.5);
}

static void many_connections_then_waits(uint32_t count)
{
	union record conn = record_of(
		"1 conn conn=1 tgid=4242 role=target local=10.0.0.1:1 "
		"remote=10.0.0.2:2 fd=7 opener=self");
	struct pipeline *pipeline = begin();

	for (uint32_t i = 0; i < count / 2; i++) {
		conn.head.conn = 101 + 2 * i;
		feed_at(pipeline, &conn, 900);
	}
	feed_timeouts(pipeline, count / 2);
	end(pipeline);
}

static void many_processes_then_waits(uint32_t count)
{
	union record process = record_of("1 process tgid=1 role=target comm=worker");
	struct pipeline *pipeline = begin();

	for (uint32_t i = 0; i < count / 2; i++) {
		process.head.tgid = 10000 + i;
		feed_at(pipeline, &process, 900);
	}
	feed_timeouts(pipeline, count / 2);
	end(pipeline);
}

static void many_open_holds(uint32_t count)
{
	union record hold = record_of(
		"1 hold conn=1 tgid=4242 tid=4242 reason=nagle basis=xmit "
		"seq=1 end=2 unacked=40 mss=32768");
	struct pipeline *pipeline = begin();

	for (uint32_t i = 0; i < count; i++) {
		hold.head.conn = 101 + 2 * (i ^ 5);
		feed_at(pipeline, &hold, 1000 + i * 1e-2);
	}
	hold = record_of("2000 end");
	feed_at(pipeline, &hold, 9000);
	end(pipeline);
}

/* Many incidents under way, and time and again news of their connection that is none. */
static void known_news(uint32_t count)
{
	union record release = record_of("1 release conn=1 held=20 seq=1 end=2 reason=nagle");
	union record peer = record_of("1 peer conn=1 peer=2");
	struct pipeline *pipeline = begin();

	for (uint32_t i = 0; i < 1000; i++)
		feed_at(pipeline, &release, 1000 + i * 1e-3);
	for (uint32_t i = 0; i < count; i++)
		feed_at(pipeline, &peer, 1002 + i * 1e-4);
	end(pipeline);
}

/* Each thread woke the next one in the midst of its wait, and so on: that has an end, and shows. */
static void circle_of_wakes(uint32_t count)
{
	union record wait = record_of(
		"1 wait tgid=4242 tid=1 off=0 wake=0.5 state=1 syscall=202 "
		"waker_tgid=4242 stack_id=1");
	struct pipeline *pipeline = begin();
	const struct report *report;

	for (uint32_t i = 0; i < count; i++) {
		wait.wait.waker_tid = 10000 + (i + 127) % 128;
		feed_wait(pipeline, &wait, 10000 + i % 128, 1000 + i * 1e-3);
	}
	report = pipeline__finish(pipeline);
	assert_true(report->lost[NS_LOST_KEPT] > 0);
	assert_false(report->complete);
	pipeline__free(pipeline);
}

static void test_threads_on_a_connection(void **state)
{
	(void)state;
	assert_grows_linearly(many_threads_on_a_connection, 16000);
}

static void test_threads_then_holds(void **state)
{
	(void)state;
	assert_grows_linearly(many_threads_then_holds, 32000);
}

static void test_connections_then_waits(void **state)
{
	(void)state;
	assert_grows_linearly(many_connections_then_waits, 16000);
}

static void test_processes_then_waits(void **state)
{
	(void)state;
	assert_grows_linearly(many_processes_then_waits, 16000);
}

static void test_open_holds(void **state)
{
	(void)state;
	assert_grows_linearly(many_open_holds, 32000);
}

static void test_known_news(void **state)
{
	(void)state;
	/* What each of them did once more for all of the incidents took a second for some 100. */
	assert_true(growth__cpu_ns(known_news, 4000) < GROWTH_LONGEST_NS);
}

static void test_circle_of_wakes(void **state)
{
	(void)state;
	circle_of_wakes(4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_on_a_connection),
		cmocka_unit_test(test_threads_then_holds),
		cmocka_unit_test(test_connections_then_waits),
		cmocka_unit_test(test_processes_then_waits),
		cmocka_unit_test(test_open_holds),
		cmocka_unit_test(test_known_news),
		cmocka_unit_test(test_circle_of_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
