// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel side's history of a socket, as it is compiled for the kernel, under hands that write
 * while it is told: step by step, and by threads that race.
 */
#include <pthread.h>
#include <sched.h>

#include "tests/unit/bpf/history_kernel.h"
#include "user/analyze/order.h"

/* ---- step by step ---- */

static void test_all_in_order(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		write_record(i);
	history_flush(&watched);
	/* The oldest made room. */
	assert_int_equal(told_count, NS_HISTORY);
	for (uint32_t i = 0; i < NS_HISTORY; i++) {
		assert_int_equal(told_segment(i)->seq, 20 - NS_HISTORY + i);
		assert_int_equal(told_segment(i)->head.len, sizeof(struct ns_segment));
		assert_int_equal(told_segment(i)->head.tid, 43);
	}
	/* Nothing twice. */
	write_record(20);
	history_flush(&watched);
	history_flush(&watched);
	assert_int_equal(told_count, NS_HISTORY + 1);
	assert_int_equal(lost[NS_LOST_TORN], 0);
}

/* What this flush interrupts will not be finished in its time: the others are told, and then it, by
 * who writes it. */
static void test_an_unfinished_one_is_told_by_its_writer(void **state)
{
	struct ns_segment *out;

	(void)state;
	write_record(1);
	out = history_slot(&watched, NS_TX, sizeof(*out), 2);
	this_cpu = 1;
	write_record(3);
	history_flush(&watched);
	assert_int_equal(told_count, 2);
	assert_int_equal(told_segment(0)->seq, 1);
	assert_int_equal(told_segment(1)->seq, 3);
	this_cpu = 0;
	fill(out, 2);
	history_commit(&watched, out, sizeof(*out));
	assert_int_equal(told_count, 3);
	assert_int_equal(told_segment(2)->seq, 2);
	/* Once, and it harms nothing that comes after it. */
	write_record(4);
	history_flush(&watched);
	assert_int_equal(told_count, 4);
	assert_int_equal(told_segment(3)->seq, 4);
	assert_int_equal(lost[NS_LOST_TORN], 0);
}

/* Its turn is taken, but its writer has not begun when it is wanted. */
static void test_one_not_begun_is_told_by_its_writer(void **state)
{
	struct ns_segment *out;

	(void)state;
	own_history(&watched)->next++;
	history_flush(&watched);
	assert_int_equal(told_count, 0);
	own_history(&watched)->next--;
	out = history_slot(&watched, NS_TX, sizeof(*out), 7);
	fill(out, 7);
	history_commit(&watched, out, sizeof(*out));
	assert_int_equal(told_count, 1);
	assert_int_equal(told_segment(0)->seq, 7);
	assert_int_equal(lost[NS_LOST_TORN], 0);
}

/* Two CPUs take the same turn, and first is done first. Wanted: when one has begun. */
static void write_at_once(uint32_t first, bool wanted)
{
	struct ns_segment *out[2];

	out[0] = history_slot(&watched, NS_TX, sizeof(*out[0]), 1);
	if (wanted)
		history_flush(&watched);
	own_history(&watched)->next--;
	this_cpu = 1;
	out[1] = history_slot(&watched, NS_RX, sizeof(*out[1]), 2);
	fill(out[0], 1);
	fill(out[1], 2);
	for (uint32_t i = 0; i < 2; i++) {
		this_cpu = i ? !first : first;
		history_commit(&watched, out[this_cpu], sizeof(*out[0]));
	}
}

/* Nobody's, and counted once. */
static void test_a_wanted_one_that_is_mixed(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < 2; first++) {
		setup(NULL);
		write_at_once(first, true);
		history_flush(&watched);
		assert_int_equal(told_count, 0);
		assert_int_equal(lost[NS_LOST_TORN], 1);
	}
}

static struct ns_segment *unfinished;

static void finish(void)
{
	if (unfinished) {
		fill(unfinished, 2);
		history_commit(&watched, unfinished, sizeof(*unfinished));
	}
	unfinished = NULL;
}

/* Another CPU was writing it when its turn came, and is done when the rest is told. */
static void test_a_late_one_is_told(void **state)
{
	(void)state;
	unfinished = history_slot(&watched, NS_TX, sizeof(*unfinished), 2);
	write_record(3);
	while_copied = finish;
	history_flush(&watched);
	assert_int_equal(told_count, 2);
	assert_int_equal(told_segment(0)->seq, 3);
	assert_int_equal(told_segment(1)->seq, 2);
	assert_int_equal(lost[NS_LOST_TORN], 0);
}

static void begin_next(void)
{
	while_copied = NULL;
	this_cpu = 1;
	unfinished = history_slot(&watched, NS_RX, sizeof(*unfinished), 99);
	fill(unfinished, 99);
	this_cpu = 0;
}

/* The oldest is overwritten while it is copied: it is too old, and not told in pieces. */
static void test_an_overwritten_one_is_old(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NS_HISTORY; i++)
		write_record(i);
	while_copied = begin_next;
	history_flush(&watched);
	assert_int_equal(told_count, NS_HISTORY - 1);
	assert_int_equal(told_segment(0)->seq, 1);
	assert_int_equal(lost[NS_LOST_TORN], 0);
	/* What had taken its place is told next. */
	this_cpu = 1;
	history_commit(&watched, unfinished, sizeof(*unfinished));
	history_flush(&watched);
	assert_int_equal(told_count, NS_HISTORY);
	assert_int_equal(told_segment(NS_HISTORY - 1)->seq, 99);
}

static void test_a_mixed_one_is_counted(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < 2; first++) {
		setup(NULL);
		write_at_once(first, false);
		write_record(3);
		history_flush(&watched);
		assert_int_equal(told_count, 1);
		assert_int_equal(told_segment(0)->seq, 3);
		assert_int_equal(lost[NS_LOST_TORN], 1);
	}
}

static void test_all_at_once_with_all(void **state)
{
	(void)state;
	settings.verbose = 1;
	write_record(1);
	assert_int_equal(told_count, 1);
	history_flush(&watched);
	assert_int_equal(told_count, 1);
}

/* ---- fewer histories than sockets ---- */

static struct ns_conn_state *socket_of(uint64_t key)
{
	struct ns_conn_state *conn = &sockets[key - 1];

	conn->key = key;
	conn->id = key;
	return conn;
}

static void write_on(struct ns_conn_state *conn, uint32_t number)
{
	struct ns_segment *out = history_slot(conn, NS_TX, sizeof(*out), now_ns);

	fill(out, number);
	history_commit(conn, out, sizeof(*out));
}

/* Each has its own, until more write than there are; whose records are old goes first. */
static void test_what_is_old_makes_room(void **state)
{
	(void)state;
	for (uint64_t key = 1; key <= HISTORIES / 2; key++)
		write_on(socket_of(key), key);
	now_ns += NS_HISTORY_YOUNG;
	for (uint64_t key = HISTORIES / 2 + 1; key <= HISTORIES; key++)
		write_on(socket_of(key), key);
	assert_int_equal(lost[NS_LOST_HISTORIES], 0);
	for (uint64_t key = 1; key <= HISTORIES; key++)
		history_flush(socket_of(key));
	assert_int_equal(told_count, HISTORIES);
	told_count = 0;
	/* Of a new owner nothing is told that was another's. */
	now_ns += NS_HISTORY_YOUNG;
	for (uint64_t key = HISTORIES + 1; key <= 2 * HISTORIES; key++)
		write_on(socket_of(key), key);
	for (uint64_t key = 1; key <= HISTORIES; key++)
		assert_null(history_of(socket_of(key)));
	for (uint64_t key = 1; key <= 2 * HISTORIES; key++)
		history_flush(socket_of(key));
	assert_int_equal(told_count, HISTORIES);
	for (size_t i = 0; i < told_count; i++)
		assert_int_equal(told_segment(i)->head.conn, told_segment(i)->seq);
	assert_int_equal(lost[NS_LOST_HISTORIES], 0);
}

/* A hold, a recovery and what is young are not given over: then a record is lost, and counted. */
static void test_what_is_needed_stays(void **state)
{
	struct ns_conn_state *held = socket_of(1), *recovering = socket_of(2);
	uint64_t key;

	(void)state;
	for (key = 1; key <= 2; key++)
		write_on(socket_of(key), key);
	held->hold.number = 1;
	recovering->recovery.ts = 1;
	for (unsigned round = 0; round < 3; round++) {
		now_ns += NS_HISTORY_YOUNG;
		for (; key <= 3 + round * HISTORIES; key++)
			write_on(socket_of(key), key);
	}
	assert_non_null(history_of(held));
	assert_non_null(history_of(recovering));
	lost[NS_LOST_HISTORIES] = 0;
	for (; key <= WATCHED_MOST && !lost[NS_LOST_HISTORIES]; key++)
		write_on(socket_of(key), key);
	assert_int_equal(lost[NS_LOST_HISTORIES], 1);
	/* The other's records are whole. */
	history_flush(held);
	history_flush(recovering);
	assert_int_equal(told_count, 2);
	assert_int_equal(told_segment(0)->seq, 1);
	assert_int_equal(told_segment(1)->seq, 2);
	assert_int_equal(lost[NS_LOST_TORN], 0);
}

/* What is closed needs none, and who has its address since has not its records. */
static void test_what_is_closed_makes_room(void **state)
{
	(void)state;
	for (uint64_t key = 1; key <= HISTORIES; key++)
		write_on(socket_of(key), key);
	for (uint64_t key = 1; key <= HISTORIES; key++) {
		give_history_back(&sockets[key - 1]);
		memset(&sockets[key - 1], 0, sizeof(sockets[0]));
	}
	for (uint64_t key = 1; key <= HISTORIES; key++)
		assert_null(history_of(socket_of(key)));
	for (uint64_t key = 1; key <= HISTORIES; key++)
		write_on(socket_of(key), 100 + key);
	assert_int_equal(lost[NS_LOST_HISTORIES], 0);
	for (uint64_t key = 1; key <= HISTORIES; key++)
		history_flush(socket_of(key));
	for (size_t i = 0; i < told_count; i++)
		assert_true(told_segment(i)->seq > 100);
}

/* ---- a race ---- */

#define ROUNDS 300000

static uint64_t torn_told;
static uint32_t times_told[ROUNDS];
static volatile bool done;
/* Who reads them. */
static struct order *order;

static void look(const void *out)
{
	const struct ns_segment *segment = out;
	union record record = {.segment = *segment};
	char comm[NS_COMM_LEN];

	memset(comm, (int)(segment->seq & 0xff), sizeof(comm));
	if (segment->head.ts != segment->seq || segment->end != segment->seq ||
	    segment->ack != segment->seq || segment->flags != segment->seq ||
	    memcmp(comm, segment->comm, sizeof(comm)) || segment->seq >= ROUNDS) {
		torn_told++;
		return;
	}
	times_told[segment->seq]++;
	order__push(order, &record);
}

/* Where a record was told twice, the second is the first again, and its reader drops it. */
static void expect_each_once(void)
{
	const union record *record;
	uint32_t i = 0;

	while ((record = order__pop(order, UINT64_MAX))) {
		while (i < ROUNDS && !times_told[i])
			i++;
		assert_int_equal(record->segment.seq, i);
		i++;
	}
	while (i < ROUNDS)
		assert_int_equal(times_told[i++], 0);
	for (i = 0; i < ROUNDS; i++)
		assert_in_range(times_told[i], 0, 2);
}

static void *write_many(void *argument)
{
	(void)argument;
	this_cpu = 1;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		write_record(i);
		if (!(i & 1023)) /* the reader's turn, where there is one CPU */
			sched_yield();
	}
	done = true;
	return NULL;
}

/*
 * One CPU writes, the other flushes: whatever is told is whole, told by either of them once at
 * most, and comes out once. How much is told by both is a matter of how the two threads share the
 * CPUs.
 */
static void test_a_race(void **state)
{
	pthread_t writer;

	(void)state;
	on_told = look;
	done = false;
	torn_told = 0;
	order = order__new();
	assert_int_equal(pthread_create(&writer, NULL, write_many, NULL), 0);
	while (!done)
		history_flush(&watched);
	pthread_join(writer, NULL);
	history_flush(&watched);
	assert_true(told_count > 0);
	assert_int_equal(torn_told, 0);
	assert_int_equal(lost[NS_LOST_TORN], 0);
	expect_each_once();
	assert_int_equal(told_segment((told_count - 1) % TOLD_MOST)->seq, ROUNDS - 1);
	order__free(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all_in_order, setup),
		cmocka_unit_test_setup(test_an_unfinished_one_is_told_by_its_writer, setup),
		cmocka_unit_test_setup(test_one_not_begun_is_told_by_its_writer, setup),
		cmocka_unit_test_setup(test_a_wanted_one_that_is_mixed, setup),
		cmocka_unit_test_setup(test_a_late_one_is_told, setup),
		cmocka_unit_test_setup(test_an_overwritten_one_is_old, setup),
		cmocka_unit_test_setup(test_a_mixed_one_is_counted, setup),
		cmocka_unit_test_setup(test_what_is_old_makes_room, setup),
		cmocka_unit_test_setup(test_what_is_needed_stays, setup),
		cmocka_unit_test_setup(test_what_is_closed_makes_room, setup),
		cmocka_unit_test_setup(test_all_at_once_with_all, setup),
		cmocka_unit_test_setup(test_a_race, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
