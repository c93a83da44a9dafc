// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The model: late records find their place, later words win, every table has its bound. */
#include "tests/unit/feed.h"
#include "user/model/model.h"

static void learn(struct model *model, const char *line)
{
	union record record;
	char error[256];

	if (text__parse(line, &record, error, sizeof(error)) != 1)
		fail_msg("%s: %s", line, error);
	model__feed(model, &record);
}

static uint64_t at_ms(unsigned ms)
{
	return TEXT_TRACE_ORIGIN_NS + 1000000ull * ms;
}

static void test_conn_news(void **state)
{
	struct model *model = model__new();
	const struct model_conn *conn;

	(void)state;
	assert_null(model__conn(model, 1));
	learn(model, "1 conn conn=1 role=peer local=127.0.0.1:1 remote=127.0.0.1:2");
	learn(model, "3 conn conn=1 role=peer tgid=7 fd=4 local=127.0.0.1:1 remote=127.0.0.1:2");
	/* Older news that comes late fills in, and overwrites nothing. */
	learn(model,
	      "2 conn conn=1 role=peer tgid=6 fd=3 opener=self local=127.0.0.1:1 "
	      "remote=127.0.0.1:2");
	/* No news is no news. */
	learn(model, "4 conn conn=1 role=peer local=127.0.0.1:1 remote=127.0.0.1:2");
	conn = model__conn(model, 1);
	assert_non_null(conn);
	assert_int_equal(conn->id.head.tgid, 7);
	assert_int_equal(conn->id.fd, 4);
	assert_int_equal(conn->id.opener, NS_OPENER_SELF);
	learn(model, "5 peer conn=2 peer=1");
	assert_int_equal(model__conn(model, 1)->peer, 2);
	assert_int_equal(model__conn(model, 2)->peer, 1);
	assert_int_equal(model__conn(model, 2)->id.head.type, 0);
	learn(model, "6 close conn=1");
	assert_true(conn->closed);
	model__free(model);
}

/* They wrap at 2^32: what is behind another is at most 2^31 away. */
static void test_sequence_numbers_wrap(void **state)
{
	(void)state;
	assert_true(seq_after(2, 1));
	assert_false(seq_after(1, 1));
	assert_false(seq_after(1, 2));
	assert_true(seq_after(10, 0xfffffff0u));
	assert_false(seq_after(0xfffffff0u, 10));
	assert_true(seq_after(0x80000000u, 1));
}

static void test_late_events(void **state)
{
	struct model *model = model__new();
	const struct events *events;

	(void)state;
	learn(model, "30 send conn=1 bytes=3");
	learn(model, "10 send conn=1 bytes=1");
	learn(model, "20 send conn=1 bytes=2");
	learn(model, "20 send conn=1 bytes=2"); /* twice the same is once */
	/* At one time: the send, then the hold that it left. */
	learn(model, "30 hold conn=1 seq=1 end=2");
	learn(model, "20 hold conn=1 seq=1 end=2");
	events = &model__conn(model, 1)->events;
	assert_int_equal(events->count, 5);
	assert_int_equal(events->v[0].send.bytes, 1);
	assert_int_equal(events->v[1].send.bytes, 2);
	assert_int_equal(events->v[2].head.type, NS_HOLD);
	assert_int_equal(events->v[3].send.bytes, 3);
	assert_int_equal(events->v[4].head.type, NS_HOLD);
	model__free(model);
}

static void test_ring(void **state)
{
	struct model *model = model__new();
	const struct events *events;
	char line[64];

	(void)state;
	for (unsigned i = 0; i < 3 * MODEL_CONN_EVENTS; i++) {
		snprintf(line, sizeof(line), "%u send conn=1 bytes=%u", i, i);
		learn(model, line);
	}
	learn(model, "0.5 send conn=1 bytes=9"); /* too old by now */
	events = &model__conn(model, 1)->events;
	assert_int_equal(events->count, MODEL_CONN_EVENTS);
	assert_int_equal(events->v[0].send.bytes, 2 * MODEL_CONN_EVENTS);
	assert_int_equal(events->v[events->count - 1].send.bytes, 3 * MODEL_CONN_EVENTS - 1);
	assert_int_equal(model__lost(model, NS_LOST_KEPT), 0);
	model__free(model);
}

static void test_precious(void **state)
{
	struct events events = {.bound = 3};
	union event event;

	(void)state;
	memset(&event, 0, sizeof(event));
	event.head.type = NS_SEND;
	for (uint64_t ts = 10; ts <= 30; ts += 10) {
		event.head.ts = ts;
		assert_true(events__add(&events, &event, 0, 25));
	}
	/* Full: what is later than 25 goes first, without being missed. */
	event.head.ts = 15;
	assert_true(events__add(&events, &event, 0, 25));
	assert_int_equal(events.v[0].head.ts, 10);
	assert_int_equal(events.v[2].head.ts, 20);
	event.head.ts = 40;
	assert_true(events__add(&events, &event, 0, 25));
	assert_int_equal(events.v[2].head.ts, 20);
	/* Then the first, and that is a loss. */
	event.head.ts = 22;
	assert_false(events__add(&events, &event, 0, 25));
	assert_int_equal(events.v[0].head.ts, 15);
	assert_int_equal(events.v[2].head.ts, 22);
	/* Unless it was before what is precious. */
	event.head.ts = 23;
	assert_true(events__add(&events, &event, 16, 25));
	assert_int_equal(events.v[0].head.ts, 20);
	event.head.ts = 5;
	assert_false(events__add(&events, &event, 0, 25));
	assert_int_equal(events.v[0].head.ts, 20);
	events__clear(&events);
}

static void add_at(struct events *events, uint32_t type, uint64_t ts)
{
	union event event;

	memset(&event, 0, sizeof(event));
	event.head.type = type;
	event.head.ts = ts;
	events__add(events, &event, 0, UINT64_MAX);
}

/* Why bytes are held is not forgotten for what goes on meanwhile. */
static void test_reasons_stay(void **state)
{
	struct events events = {.bound = 8, .reasons_from = 5};

	(void)state;
	add_at(&events, NS_HOLD, 4);
	add_at(&events, NS_HOLD, 5);
	for (uint64_t ts = 10; ts < 30; ts++)
		add_at(&events, NS_SEND, ts);
	assert_int_equal(events.v[0].head.ts, 5);
	assert_int_equal(events.v[1].head.ts, 23);
	/* One that comes late finds its place. */
	add_at(&events, NS_HOLD, 7);
	assert_int_equal(events.v[1].head.ts, 7);
	assert_int_equal(events.v[2].head.ts, 24);
	add_at(&events, NS_SEND, 6);
	assert_int_equal(events.v[2].head.ts, 24);
	/* The newest are half of the list, whatever else stays. */
	for (uint64_t ts = 30; ts < 50; ts++)
		add_at(&events, ts % 2 ? NS_SEND : NS_HOLD, ts);
	assert_int_equal(events.count, 8);
	for (size_t i = 4; i < 8; i++)
		assert_int_equal(events.v[i].head.ts, 42 + i);
	/* Of many reasons the first stays, and the long ones. */
	assert_int_equal(events.v[0].head.ts, 5);
	for (uint64_t ts = 100; ts < 160; ts += 10) {
		add_at(&events, NS_HOLD, ts);
		add_at(&events, NS_RELEASE, ts + 1);
	}
	assert_int_equal(events.v[0].head.ts, 5);
	assert_int_equal(events.v[1].head.ts, 7);
	for (size_t i = 2; i < 4; i++)
		assert_true(events.v[i + 1].head.ts - events.v[i].head.ts >= 9);
	assert_int_equal(events.v[7].head.ts, 151);
	events__clear(&events);
}

static void test_reasons_until_released(void **state)
{
	struct events events = {.bound = 8};
	struct ns_hold hold = {.head = {.type = NS_HOLD, .ts = 10}};

	(void)state;
	events__keep_reasons(&events, &hold);
	assert_int_equal(events.reasons_from, 10);
	add_at(&events, NS_HOLD, 10);
	hold.head.ts = 20; /* the same hold, for another reason */
	events__keep_reasons(&events, &hold);
	assert_int_equal(events.reasons_from, 10);
	add_at(&events, NS_RELEASE, 30);
	events__keep_reasons(&events, &hold); /* late */
	assert_int_equal(events.reasons_from, 10);
	hold.head.ts = 40;
	events__keep_reasons(&events, &hold);
	assert_int_equal(events.reasons_from, 40);
	events__clear(&events);
}

/* With --all all of it comes, and more than is kept of a connection. */
static void test_a_long_hold(void **state)
{
	struct model *model = model__new();
	const struct events *events;
	char line[100];

	(void)state;
	learn(model, "10 hold conn=1 reason=rwnd seq=100 end=105");
	for (int i = 0; i < 3 * MODEL_CONN_EVENTS; i++) {
		snprintf(line, sizeof(line), "%d send conn=1 bytes=%d", 20 + i, i);
		learn(model, line);
	}
	events = &model__conn(model, 1)->events;
	assert_int_equal(events->count, MODEL_CONN_EVENTS);
	assert_int_equal(events->v[0].head.type, NS_HOLD);
	assert_int_equal(events->v[1].send.bytes, 2 * MODEL_CONN_EVENTS + 1);
	model__free(model);
}

static const struct ns_hold *open_hold(const char *later)
{
	static struct ns_hold found;
	struct model *model = model__new();
	const struct ns_hold *hold;

	learn(model, "10 send conn=1 bytes=5 write_seq=105 snd_nxt=100 snd_una=60");
	learn(model, "10 hold conn=1 seq=100 end=105 unacked=40");
	if (later)
		learn(model, later);
	hold = events__open_hold(&model__conn(model, 1)->events);
	if (hold)
		found = *hold;
	model__free(model);
	return hold ? &found : NULL;
}

static void test_open_hold(void **state)
{
	(void)state;
	assert_non_null(open_hold(NULL));
	assert_int_equal(open_hold(NULL)->seq, 100);
	/* Acknowledgements up to the hold, other ends' doings, a send that joins it. */
	assert_non_null(open_hold("11 rx conn=1 seq=1 end=1 ack=100"));
	assert_non_null(open_hold("11 tx conn=1 seq=60 end=100"));
	assert_non_null(open_hold("11 ack conn=1 seq=100 end=100"));
	assert_non_null(open_hold("11 send conn=1 bytes=5 write_seq=110 snd_nxt=100 snd_una=60"));
	/* What shows that the bytes left. */
	assert_null(open_hold("11 rx conn=1 seq=1 end=1 ack=105"));
	assert_null(open_hold("11 tx conn=1 seq=100 end=105"));
	assert_null(open_hold("11 send conn=1 bytes=5 write_seq=110 snd_nxt=110 snd_una=60"));
	assert_null(open_hold("11 release conn=1 seq=100 end=105 held=1"));
	/* A part of them is not all. */
	assert_non_null(open_hold("11 rx conn=1 seq=1 end=1 ack=101"));
	assert_non_null(open_hold("11 tx conn=1 seq=100 end=104"));
	/* A later hold is another one. */
	assert_int_equal(open_hold("11 hold conn=1 seq=105 end=110")->seq, 105);
}

static void test_processes(void **state)
{
	struct model *model = model__new();

	(void)state;
	learn(model, "1 process tgid=5 role=peer comm=sh");
	assert_false(model__is_target(model, 5));
	learn(model, "2 process tgid=5 role=target comm=client");
	assert_true(model__is_target(model, 5));
	assert_string_equal(model__process(model, 5)->comm, "client");
	learn(model, "3 exit tgid=5");
	assert_true(model__process(model, 5)->exited);
	learn(model, "3 exit tgid=6");
	assert_null(model__process(model, 6));
	/* Numbers that are used again: what the first was is not said of the second. */
	learn(model, "3 wait tgid=5 tid=7 off=2.5 wake=2.9 state=1");
	learn(model, "3 thread-totals tgid=5 tid=7 ended=1");
	learn(model, "4 wait tgid=5 tid=7 off=2.5 wake=2.9 state=1"); /* late, its own */
	assert_int_equal(model__thread(model, 7)->waits.count, 2);
	assert_true(model__thread(model, 7)->ended);
	learn(model, "9 process tgid=5 role=peer comm=other");
	assert_false(model__is_target(model, 5));
	assert_false(model__process(model, 5)->exited);
	assert_string_equal(model__process(model, 5)->comm, "other");
	learn(model, "9 wait tgid=6 tid=7 off=8.5 wake=8.9 state=1");
	assert_int_equal(model__thread(model, 7)->waits.count, 1);
	assert_int_equal(model__thread(model, 7)->tgid, 6);
	learn(model, "9 thread-totals tgid=6 tid=7 ended=1");
	learn(model, "2000 wait tgid=6 tid=7 off=1998 wake=1999 state=1");
	assert_int_equal(model__thread(model, 7)->waits.count, 1);
	assert_false(model__thread(model, 7)->ended);
	model__free(model);
}

/* Met between fork() and exec(): it is called as its first thread is, and that tells its name. */
static void test_name_after_exec(void **state)
{
	struct model *model = model__new();

	(void)state;
	learn(model, "2 process tgid=5 role=target comm=sh");
	learn(model, "3 wait tgid=5 tid=6 off=2.5 comm=worker");
	assert_string_equal(model__process(model, 5)->comm, "sh");
	learn(model, "4 wait tgid=5 tid=5 off=3.5 comm=python3");
	learn(model, "1 wait tgid=5 tid=5 off=0.5 comm=sh"); /* late */
	assert_string_equal(model__process(model, 5)->comm, "python3");
	learn(model, "6 thread-totals tgid=5 tid=5 comm=renamed");
	assert_string_equal(model__process(model, 5)->comm, "renamed");
	model__free(model);
}

static void test_threads_and_stacks(void **state)
{
	struct model *model = model__new();

	(void)state;
	learn(model, "9 wait tgid=5 tid=6 off=1 comm=b");
	learn(model, "3 wait tgid=5 tid=6 off=2 comm=a");
	assert_string_equal(model__thread(model, 6)->comm, "b");
	assert_int_equal(model__thread(model, 6)->waits.count, 2);
	assert_int_equal(model__thread(model, 6)->waits.v[0].head.ts, at_ms(3));
	learn(model, "10 stack id=1 text=a;b");
	learn(model, "10 stack id=1 text=other");
	assert_string_equal(model__stack(model, 1), "a;b");
	assert_null(model__stack(model, 0));
	assert_null(model__stack(model, 2));
	model__free(model);
}

static void test_losses(void **state)
{
	struct model *model = model__new();

	(void)state;
	learn(model, "1 lost kind=ringbuf count=5");
	learn(model, "2 lost kind=ringbuf count=9");
	learn(model, "1 lost kind=ringbuf count=7"); /* late: a running count only grows */
	assert_int_equal(model__lost(model, NS_LOST_RINGBUF), 9);
	assert_false(model__is_whole(model));
	learn(model, "0 session threshold=5 missing=0x4");
	assert_false(model__sees(model, NS_FACT_TRANSMIT));
	assert_true(model__sees(model, NS_FACT_SEND));
	model__free(model);
}

static void test_bounds(void **state)
{
	struct model *model = model__new();
	union record record;
	uint64_t refused = 0;

	(void)state;
	memset(&record, 0, sizeof(record));
	record.head.type = NS_RECV;
	record.head.len = sizeof(record.recv);
	for (uint32_t i = 1; i <= MODEL_CONNS + 100; i++) {
		record.head.conn = i;
		model__feed(model, &record);
	}
	refused += 100;
	assert_int_equal(model__lost(model, NS_LOST_KEPT), refused);
	record.head.type = NS_WAIT;
	record.head.len = sizeof(record.wait);
	record.head.conn = 0;
	for (uint32_t i = 1; i <= MODEL_THREADS + 10; i++) {
		record.head.tid = i;
		model__feed(model, &record);
	}
	refused += 10;
	record.head.conn = 7;
	for (uint32_t i = 1; i <= OWNERS_WAITERS + 5; i++) {
		record.head.tid = i;
		model__feed(model, &record);
	}
	refused += 5;
	assert_int_equal(model__waiters(model, 7)->count, OWNERS_WAITERS);
	memset(&record, 0, sizeof(record));
	record.head.type = NS_PROCESS;
	record.head.len = sizeof(record.process);
	record.process.role = NS_ROLE_TARGET;
	for (uint32_t i = 1; i <= MODEL_PROCESSES + 1; i++) {
		record.head.tgid = i;
		model__feed(model, &record);
	}
	refused += 1;
	assert_int_equal(model__lost(model, NS_LOST_KEPT), refused);
	assert_null(model__conn(model, MODEL_CONNS + 1));
	model__free(model);
}

static void test_ended_are_forgotten(void **state)
{
	struct model *model = model__new();
	unsigned last = MODEL_THREADS + MODEL_PROCESSES;
	char line[96];

	(void)state;
	for (unsigned i = 1; i <= last; i++) {
		snprintf(line, sizeof(line), "1 process tgid=%u role=target", i);
		learn(model, line);
		snprintf(line, sizeof(line), "1 wait tgid=%u tid=%u off=0.5 wake=0.9 state=1", i,
			 i);
		learn(model, line);
		snprintf(line, sizeof(line), "2 thread-totals tgid=%u tid=%u ended=1", i, i);
		learn(model, line);
		learn(model, line); /* twice does no harm */
		snprintf(line, sizeof(line), "2 exit tgid=%u", i);
		learn(model, line);
		learn(model, line);
		/* The first one's number is another's, who lives. */
		if (i > 1)
			continue;
		learn(model, "2000 process tgid=1 role=target");
		learn(model, "2000 wait tgid=1 tid=1 off=1998 wake=1999 state=1");
	}
	assert_int_equal(model__thread(model, last - MODEL_ENDED_RECENT)->waits.count, 0);
	assert_int_equal(model__thread(model, last - MODEL_ENDED_RECENT + 1)->waits.count, 1);
	assert_null(model__thread(model, last - MODEL_ENDED));
	assert_non_null(model__thread(model, last - MODEL_ENDED + 1));
	assert_null(model__process(model, last - MODEL_ENDED));
	assert_non_null(model__process(model, last - MODEL_ENDED + 1));
	assert_non_null(model__process(model, 1));
	assert_int_equal(model__thread(model, 1)->waits.count, 1);
	assert_int_equal(model__lost(model, NS_LOST_KEPT), 0);
	model__free(model);
}

static void test_closed_are_forgotten(void **state)
{
	struct model *model = model__new();
	unsigned last = MODEL_CONNS + 1000;
	char line[64];

	(void)state;
	for (unsigned i = 1; i <= last; i++) {
		snprintf(line, sizeof(line), "1 recv conn=%u bytes=1", i);
		learn(model, line);
		snprintf(line, sizeof(line), "2 close conn=%u", i);
		learn(model, line);
		learn(model, line); /* twice does no harm */
	}
	assert_int_equal(model__conn(model, last - MODEL_CLOSED_RECENT)->events.count, 0);
	assert_int_equal(model__conn(model, last - MODEL_CLOSED_RECENT + 1)->events.count, 1);
	assert_null(model__conn(model, last - MODEL_CLOSED));
	assert_non_null(model__conn(model, last - MODEL_CLOSED + 1));
	assert_int_equal(model__lost(model, NS_LOST_KEPT), 0);
	model__free(model);
}

/* ---- rings ---- */

static void test_rings(void **state)
{
	struct model *model = model__new();
	const struct model_ring *ring;
	char line[128];

	(void)state;
	assert_null(model__ring(model, 1));
	/* Operations before the ring's own record, late ones, and one twice. */
	learn(model, "9 uring tgid=10 ring=1 step=done opcode=NOP user_data=3");
	learn(model, "7 uring tgid=10 ring=1 step=done opcode=NOP user_data=1 conn=5");
	learn(model, "8 uring tgid=10 ring=1 step=done opcode=NOP user_data=2");
	learn(model, "8 uring tgid=10 ring=1 step=done opcode=NOP user_data=2");
	ring = model__ring(model, 1);
	assert_non_null(ring);
	assert_int_equal(ring->id.head.type, 0);
	assert_int_equal(ring->ops.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ring->ops.v[i].uring.user_data, i + 1);
	assert_int_equal(model__conn(model, 5)->events.count, 1);
	/* The later word on the ring holds. */
	learn(model, "20 ring tgid=10 ring=1 fd=4 overflowed=7");
	learn(model, "10 ring tgid=10 ring=1 fd=4 overflowed=1");
	assert_int_equal(ring->id.overflowed, 7);
	/* The bound: the latest stay. */
	for (unsigned i = 0; i < 2 * MODEL_RING_OPS; i++) {
		snprintf(line, sizeof(line),
			 "%u uring tgid=10 ring=1 step=done opcode=NOP user_data=%u", 100 + i, i);
		learn(model, line);
	}
	assert_int_equal(ring->ops.count, MODEL_RING_OPS);
	assert_int_equal(ring->ops.v[0].uring.user_data, MODEL_RING_OPS);
	assert_int_equal(model__lost(model, NS_LOST_KEPT), 0);
	model__free(model);
}

static void test_rings_are_bounded(void **state)
{
	struct model *model = model__new();
	char line[128];

	(void)state;
	for (unsigned i = 1; i <= MODEL_RINGS + 1; i++) {
		snprintf(line, sizeof(line), "1 ring tgid=10 ring=%u fd=4", i);
		learn(model, line);
	}
	assert_non_null(model__ring(model, MODEL_RINGS));
	assert_null(model__ring(model, MODEL_RINGS + 1));
	assert_int_equal(model__lost(model, NS_LOST_KEPT), 1);
	model__free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conn_news),
		cmocka_unit_test(test_sequence_numbers_wrap),
		cmocka_unit_test(test_late_events),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_precious),
		cmocka_unit_test(test_reasons_stay),
		cmocka_unit_test(test_reasons_until_released),
		cmocka_unit_test(test_a_long_hold),
		cmocka_unit_test(test_open_hold),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_name_after_exec),
		cmocka_unit_test(test_threads_and_stacks),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_ended_are_forgotten),
		cmocka_unit_test(test_closed_are_forgotten),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_rings_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
