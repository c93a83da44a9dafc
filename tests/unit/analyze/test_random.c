// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What every stall promises, on traces that make no sense: thousands of random ones. */
#include "tests/unit/feed.h"
#include "user/render/render.h"

#define TRACES  1500
#define RECORDS 120
#define THREADS 6
#define MS      1000000ull

/* Threads 10..12 are of the target 10, 20..22 of its peer 20. */
static uint32_t random_tid(uint64_t *seed)
{
	uint32_t number = (uint32_t)random_below(seed, THREADS);

	return number < 3 ? 10 + number : 17 + number;
}

static uint32_t owner_of(uint32_t tid)
{
	return tid < 20 ? 10 : 20;
}

/* One in four is a difference that fell below zero, or longer than the window. */
static __u64 random_sum(uint64_t *seed)
{
	uint64_t sum = random_below(seed, 50 * MS);

	if (random_below(seed, 4))
		return sum;
	return random_below(seed, 2) ? 0 - sum : sum + 1000 * MS;
}

/* The counts of a thread grow; here now and then they do not. */
static struct ns_spent random_spent(uint64_t *seed)
{
	struct ns_spent spent = {
		.run_us = (uint32_t)random_below(seed, 60000),
		.ready_us = (uint32_t)random_below(seed, 20000),
	};

	for (size_t i = 0; i < NS_SHORTS; i++) {
		spent.short_us[i] = random_below(seed, 3) ? 0 : (uint32_t)random_below(seed, 30000);
		spent.shorts[i] = spent.short_us[i] ? 1 + (uint32_t)random_below(seed, 40) : 0;
	}
	return spent;
}

static void fill_operation(struct ns_wait *wait, uint64_t *seed)
{
	uint64_t ts = wait->head.ts;

	wait->ring = 1 + (uint32_t)random_below(seed, 2);
	wait->op_known = 1;
	wait->op_user_data = random_below(seed, 6);
	wait->op_submit_ts = random_below(seed, 3) ? ts - random_below(seed, 40 * MS) : 0;
	wait->op_done_ts = random_below(seed, 3) ? ts - random_below(seed, MS) : 0;
	wait->op_code = (uint32_t)random_below(seed, 30);
	wait->op_fd = 7 + (uint32_t)random_below(seed, 3);
	wait->op_flags = (uint32_t)random_below(seed, 128);
	wait->op_file = (uint32_t)random_below(seed, NS_URING_OTHER + 1);
	wait->op_how = (uint32_t)random_below(seed, NS_URING_HOWS);
	wait->op_tid = random_tid(seed);
	wait->op_by_tid = random_tid(seed);
}

static void fill_wait(union record *record, uint64_t *seed)
{
	static const uint32_t syscalls[] = {0, 202, 230, 232, 44, 42, 426, 288, NS_SYSCALL_NONE};
	struct ns_wait *wait = &record->wait;
	uint64_t length = random_below(seed, 60 * MS);

	wait->head.tid = random_tid(seed);
	wait->head.tgid = owner_of(wait->head.tid);
	wait->head.conn = (uint32_t)random_below(seed, 5);
	wait->off_ts = wait->head.ts - (length < wait->head.ts ? length : 0);
	wait->wake_ts = random_below(seed, 4) ? wait->off_ts + random_below(seed, length + 2) : 0;
	/* Now and then it came before the wait, or is of the one to come. */
	if (!random_below(seed, 20))
		wait->wake_ts += random_below(seed, 2) ? 10 * length : -MS;
	wait->state = (uint32_t)random_below(seed, 5);
	wait->syscall = syscalls[random_below(seed, sizeof(syscalls) / sizeof(syscalls[0]))];
	wait->arg0 = 7 + (uint32_t)random_below(seed, 3);
	wait->arg1 = (uint32_t)random_below(seed, 2) ? 128 : 137;
	wait->turn = (uint32_t)random_below(seed, 3);
	wait->min_rtt_us = (uint32_t)random_below(seed, 3) * 20000;
	wait->waker_tid = random_tid(seed);
	wait->waker_tgid = owner_of(wait->waker_tid);
	wait->stack_id = (uint32_t)random_below(seed, 13);
	wait->waker_stack_id = (uint32_t)random_below(seed, 13);
	wait->conn_basis = (uint32_t)random_below(seed, NS_CONN_READY + 1);
	wait->turn_ts = random_below(seed, 2) ? wait->off_ts - random_below(seed, MS) : 0;
	wait->ended = (uint32_t)random_below(seed, NS_WAIT_KILLED + 1);
	wait->began_ts = random_below(seed, 10) ? 0 : TEXT_TRACE_ORIGIN_NS - 50 * MS;
	wait->spent_known = (uint32_t)random_below(seed, 2);
	wait->spent = random_spent(seed);
	if (!random_below(seed, 4))
		fill_operation(wait, seed);
}

/* Around the time of the record; one in ten is not known. */
static uint64_t time_before(uint64_t ts, uint64_t most, uint64_t *seed)
{
	return random_below(seed, 10) ? ts - random_below(seed, most + 1) : 0;
}

static void fill_exchange(union record *record, uint64_t *seed)
{
	struct ns_exchange *exchange = &record->exchange;
	uint64_t ts = exchange->head.ts;
	uint64_t length = random_below(seed, 80 * MS);

	exchange->side = random_below(seed, 2) ? NS_EXCHANGE_ASKED : NS_EXCHANGE_SERVED;
	exchange->writes = (uint32_t)random_below(seed, 4);
	exchange->begin_ts = ts - length;
	exchange->ready_ts = time_before(ts, length, seed);
	exchange->off_ts = time_before(ts, length, seed);
	exchange->wake_ts = time_before(ts, length, seed);
	exchange->answer_ts = time_before(ts, length, seed);
	exchange->arrived_ts = time_before(ts, 2 * length, seed);
	exchange->delack_ts = random_below(seed, 2) ? time_before(ts, length, seed) : 0;
	exchange->held_ns = random_sum(seed);
	exchange->hold_reason = (uint32_t)random_below(seed, NS_HOLD_SNDBUF + 1);
	exchange->bytes_out = (uint32_t)random_below(seed, 300);
	exchange->bytes_in = (uint32_t)random_below(seed, 300);
	exchange->reads = (uint32_t)random_below(seed, 4);
	exchange->weight = 1 + (uint32_t)random_below(seed, 9);
	exchange->min_rtt_us = (uint32_t)random_below(seed, 3) * 20000;
	exchange->ended = (uint32_t)random_below(seed, NS_EXCHANGE_OPEN + 1);
	exchange->spent_known = (uint32_t)random_below(seed, 2);
	exchange->spent = random_spent(seed);
	if (random_below(seed, 5))
		return;
	exchange->queued_ts = time_before(ts, 2 * length, seed);
	exchange->accepted_ts = time_before(ts, length, seed);
	exchange->accept_tid = random_tid(seed);
	exchange->backlog = (uint32_t)random_below(seed, 200);
	exchange->backlog_max = 128;
	if (random_below(seed, 2)) {
		exchange->connected_ts = exchange->begin_ts - random_below(seed, MS);
		exchange->connect_ts = exchange->connected_ts - random_below(seed, 30 * MS);
		exchange->connect_syns = 1 + (uint32_t)random_below(seed, 3);
	}
}

static void fill_sums(union record *record, uint64_t *seed)
{
	struct ns_sums *sums = &record->sums;

	sums->on_ts = sums->head.ts - random_below(seed, 40 * MS);
	sums->spent = random_spent(seed);
}

static void fill_throttle(union record *record, uint64_t *seed)
{
	struct ns_throttle *throttle = &record->throttle;

	throttle->since_ts = throttle->head.ts - random_below(seed, 60 * MS);
	throttle->quota_us = (uint32_t)random_below(seed, 50000);
	throttle->period_us = 1000 * (uint32_t)random_below(seed, 101);
	throttle->periods = (uint32_t)random_below(seed, 20);
	throttle->throttled_periods = (uint32_t)random_below(seed, 20);
	throttle->deeper = (uint32_t)random_below(seed, 2);
	snprintf(throttle->cgroup, sizeof(throttle->cgroup), "%s",
		 random_below(seed, 2) ? "box" : "");
}

static void fill_ran(union record *record, uint64_t *seed)
{
	struct ns_ran *ran = &record->ran;
	uint64_t length = random_below(seed, 60 * MS);

	ran->from_ts = ran->head.ts - length;
	ran->allowed = 1 + (uint32_t)random_below(seed, 2);
	ran->cpus = 2;
	ran->others_us = (uint32_t)random_below(seed, length / 1000 + 1);
	ran->irq_us = (uint32_t)random_below(seed, length / 500 + 1);
	ran->steal_us = (uint32_t)random_below(seed, length / 500 + 1);
	ran->taken_known = (uint32_t)random_below(seed, 4);
	for (size_t i = 0; i < NS_RUNNERS && random_below(seed, 3); i++) {
		ran->runners[i].tid = random_below(seed, 2) ? random_tid(seed) : 77;
		ran->runners[i].tgid =
			ran->runners[i].tid == 77 ? 77 : owner_of(ran->runners[i].tid);
		ran->runners[i].us = (uint32_t)random_below(seed, length / 500 + 1);
		ran->runners[i].prio = random_below(seed, 2) ? 120 : 50;
	}
}

static void fill_uring(union record *record, uint64_t *seed)
{
	struct ns_uring *uring = &record->uring;
	uint64_t ts = uring->head.ts;

	uring->ring = 1 + (uint32_t)random_below(seed, 2);
	uring->user_data = random_below(seed, 6);
	uring->step = NS_URING_SUBMITTED + (uint32_t)random_below(seed, NS_URING_DONE);
	uring->submit_ts = time_before(ts, 40 * MS, seed);
	uring->queued_ts = random_below(seed, 2) ? time_before(ts, 40 * MS, seed) : 0;
	uring->armed_ts = random_below(seed, 2) ? time_before(ts, 40 * MS, seed) : 0;
	uring->link_head = random_below(seed, 6);
	uring->linked = (uint32_t)random_below(seed, 2);
	uring->opcode = (uint32_t)random_below(seed, 30);
	uring->flags = (uint32_t)random_below(seed, 128);
	uring->fd = 7 + (uint32_t)random_below(seed, 3);
	uring->len = (uint32_t)random_below(seed, 300);
	uring->file = (uint32_t)random_below(seed, NS_URING_OTHER + 1);
	uring->result = (uint32_t)random_below(seed, 300) - 100;
	uring->cqe_flags = (uint32_t)random_below(seed, 16);
	uring->how = (uint32_t)random_below(seed, NS_URING_HOWS);
	uring->shot = (uint32_t)random_below(seed, 3);
	uring->cq_index = (uint32_t)random_below(seed, 20) - 10;
	uring->overflow = !random_below(seed, 10);
	uring->by_tid = random_tid(seed);
	uring->turn = (uint32_t)random_below(seed, NS_TURN_READ + 1);
	uring->min_rtt_us = (uint32_t)random_below(seed, 3) * 20000;
}

static void fill_ring(union record *record, uint64_t *seed)
{
	struct ns_ring *ring = &record->ring;

	ring->ring = 1 + (uint32_t)random_below(seed, 2);
	ring->fd = 9;
	ring->sq_entries = 8;
	ring->cq_entries = 16;
	ring->sq_tid = random_below(seed, 3) ? 0 : random_tid(seed);
	ring->overflowed = (uint32_t)random_below(seed, 3);
}

static void fill_reap(union record *record, uint64_t *seed)
{
	struct ns_reap *reap = &record->reap;

	reap->ring = 1 + (uint32_t)random_below(seed, 2);
	reap->upto = (uint32_t)random_below(seed, 20) - 10;
	reap->left = (uint32_t)random_below(seed, 5);
	reap->taken = (uint32_t)random_below(seed, 5);
}

static void fill_hold(union record *record, uint64_t *seed)
{
	struct ns_hold *hold = &record->hold;

	hold->reason = (uint32_t)random_below(seed, NS_HOLD_SNDBUF + 1);
	hold->seq = (uint32_t)random_below(seed, 300);
	hold->end = hold->seq + 1 + (uint32_t)random_below(seed, 100);
	hold->begun = (uint32_t)random_below(seed, 4);
	hold->unacked = (uint32_t)random_below(seed, 100);
	hold->mss = 100;
	hold->min_rtt_us = 50;
}

static void fill_release(union record *record, uint64_t *seed)
{
	struct ns_release *release = &record->release;

	release->held_ns = random_below(seed, 50 * MS);
	release->seq = (uint32_t)random_below(seed, 300);
	release->end = release->seq + 1 + (uint32_t)random_below(seed, 100);
	release->reason = (uint32_t)random_below(seed, NS_HOLD_SNDBUF + 1);
	release->inexact = !random_below(seed, 5);
}

static void fill_segment(union record *record, uint64_t *seed)
{
	struct ns_segment *segment = &record->segment;

	segment->seq = segment->end = (uint32_t)random_below(seed, 300);
	if (segment->head.type == NS_TX || (segment->head.type == NS_RX && random_below(seed, 2)))
		segment->end += 1 + (uint32_t)random_below(seed, 100);
	segment->ack = (uint32_t)random_below(seed, 300);
}

static void fill_send(union record *record, uint64_t *seed)
{
	struct ns_send *send = &record->send;

	send->bytes = 1 + (uint32_t)random_below(seed, 100);
	send->write_seq = (uint32_t)random_below(seed, 300);
	send->snd_nxt = send->write_seq - (uint32_t)random_below(seed, 2) * 10;
	send->snd_una = send->snd_nxt - (uint32_t)random_below(seed, 50);
}

static void fill_retrans(union record *record, uint64_t *seed)
{
	struct ns_retrans *retrans = &record->retrans;

	retrans->kind = (uint32_t)random_below(seed, NS_RETRANS_KINDS);
	retrans->seq = (uint32_t)random_below(seed, 300);
	retrans->end = retrans->seq + (uint32_t)random_below(seed, 100);
	retrans->rto_us = 1000 * (uint32_t)random_below(seed, 300);
	retrans->sent_ts =
		random_below(seed, 2) ? retrans->head.ts - random_below(seed, 40 * MS) : 0;
	if (!random_below(seed, 20))
		retrans->sent_ts = retrans->head.ts + random_below(seed, MS);
}

static void fill_totals(union record *record, uint64_t *seed)
{
	struct ns_thread_totals *totals = &record->thread_totals;

	totals->on_cpu_ns = random_sum(seed);
	totals->blocked_ns = random_sum(seed);
	totals->runqueue_ns = random_sum(seed);
	totals->voluntary = 1;
}

/* The first ones are of what TCP and the scheduler say, the others of requests and rings. */
#define PLAIN_TYPES 15
static const uint32_t types[] = {
	NS_WAIT,        NS_WAIT,    NS_WAIT,          NS_SEND,     NS_HOLD,     NS_TX,
	NS_ACK,         NS_RX,      NS_RECV,          NS_RELEASE,  NS_CLOSE,    NS_DELACK_ARM,
	NS_DELACK_FIRE, NS_RETRANS, NS_THREAD_TOTALS, NS_EXCHANGE, NS_EXCHANGE, NS_SUMS,
	NS_THROTTLE,    NS_RAN,     NS_URING,         NS_URING,    NS_RING,     NS_REAP,
};

#define ALL_TYPES (sizeof(types) / sizeof(types[0]))

static void make(union record *record, uint64_t *seed, size_t type_count)
{
	uint32_t type = types[random_below(seed, type_count)];

	memset(record, 0, sizeof(*record));
	record->head.type = type;
	record->head.len = (uint32_t)record__size(type);
	record->head.ts = TEXT_TRACE_ORIGIN_NS + random_below(seed, 200 * MS);
	record->head.conn = 1 + (uint32_t)random_below(seed, 4);
	record->head.tid = random_tid(seed);
	record->head.tgid = owner_of(record->head.tid);
	switch (type) {
	case NS_WAIT:
		fill_wait(record, seed);
		break;
	case NS_SEND:
		fill_send(record, seed);
		break;
	case NS_HOLD:
		fill_hold(record, seed);
		break;
	case NS_RELEASE:
		fill_release(record, seed);
		break;
	case NS_TX:
	case NS_ACK:
	case NS_RX:
		fill_segment(record, seed);
		break;
	case NS_DELACK_FIRE:
		record->delack.pending = (uint32_t)random_below(seed, 8);
		break;
	case NS_RETRANS:
		fill_retrans(record, seed);
		break;
	case NS_THREAD_TOTALS:
		fill_totals(record, seed);
		break;
	case NS_EXCHANGE:
		fill_exchange(record, seed);
		break;
	case NS_SUMS:
		fill_sums(record, seed);
		break;
	case NS_THROTTLE:
		fill_throttle(record, seed);
		break;
	case NS_RAN:
		fill_ran(record, seed);
		break;
	case NS_URING:
		fill_uring(record, seed);
		break;
	case NS_RING:
		fill_ring(record, seed);
		break;
	case NS_REAP:
		fill_reap(record, seed);
		break;
	default:
		break;
	}
}

static const char base[] =
	"0 session threshold=10 arch=x86_64\n"
	"0 process tgid=10 role=target comm=client\n"
	"0 process tgid=20 role=peer comm=srv\n"
	"0 conn conn=1 tgid=10 role=target local=127.0.0.1:1 remote=127.0.0.1:2 fd=7 opener=self\n"
	"0 conn conn=2 tgid=20 role=peer local=127.0.0.1:2 remote=127.0.0.1:1 fd=8 opener=peer\n"
	"0 conn conn=3 tgid=20 role=chain local=127.0.0.1:3 remote=127.0.0.1:4 fd=9 opener=self\n"
	"0 peer conn=1 peer=2\n"
	"0 stack id=1 text=wait_woken;sk_wait_data\n"
	"0 stack id=2 text=try_to_wake_up;tcp_data_queue;tcp_v4_rcv\n"
	"0 stack id=3 text=do_nanosleep\n"
	"0 stack id=4 text=hrtimer_wakeup\n"
	"0 stack id=5 text=futex_wait\n"
	"0 stack id=6 text=wake_up_q;futex_wake\n"
	"0 stack id=7 text=pipe_read\n"
	"0 stack id=8 text=pipe_write\n"
	"0 stack id=9 text=ep_poll\n"
	"0 stack id=10 text=io_schedule\n"
	"0 stack id=11 text=blk_update_request\n"
	"0 stack id=12 text=sk_stream_wait_memory\n";

static void check_stall(const struct stall *stall)
{
	uint64_t sum = 0;

	assert_true(stall->end_ts > stall->start_ts);
	assert_true(stall->cause != CAUSE_IDLE);
	assert_true((unsigned)stall->cause < CAUSE_COUNT);
	assert_true(stall->slice_count >= 1 && stall->slice_count <= STALL_SLICES);
	for (size_t i = 0; i < stall->slice_count; i++) {
		assert_true(stall->slices[i].ns > 0);
		sum += stall->slices[i].ns;
	}
	assert_int_equal(sum, stall->end_ts - stall->start_ts);
	assert_true(stall->cause != CAUSE_UNKNOWN || stall->missing);
	assert_true(stall->confidence != CONFIDENCE_INFERRED || stall->inferred);
	assert_true(stall->link_count <= STALL_LINKS);
	for (size_t i = 0; i < stall->link_count; i++)
		assert_true(stall->links[i].start_ts <= stall->links[i].end_ts);
	for (size_t i = 1; i < stall->step_count; i++)
		assert_true(stall->steps[i - 1].head.ts <= stall->steps[i].head.ts);
}

/* A wait belongs to one stall at most. Returns how many pairs of stalls have the same one. */
static size_t shared_waits(const struct report *report)
{
	size_t shared = 0;

	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *one = &report->stalls[i];

		for (size_t j = i + 1; j < report->stall_count; j++) {
			const struct stall *other = &report->stalls[j];

			for (size_t k = 0; k < one->wait_count && k < STALL_WAITS; k++)
				for (size_t l = 0; l < other->wait_count && l < STALL_WAITS; l++)
					shared += one->waits[k].tid == other->waits[l].tid &&
						  one->waits[k].off_ts == other->waits[l].off_ts &&
						  one->waits[k].end_ts == other->waits[l].end_ts;
		}
	}
	return shared;
}

/* Whatever is printed of it. */
struct printed {
	FILE *out;
	char *text;
	size_t size;
};

static const struct render_style style = {.width = 120};
static const struct render_style verbose = {.width = 120, .verbose = true};

static void on_record(void *context, const struct report *report, const union record *record)
{
	struct printed *printed = context;

	render__record(printed->out, report, record, &style);
}

static void on_stall(void *context, const struct report *report, const struct stall *stall)
{
	struct printed *printed = context;

	render__stall(printed->out, report, stall, &style);
}

/* Nothing is longer than the window, and nothing below zero, which would be 18,446,744,073 s. */
static void check_lengths(const struct report *report, struct printed *printed)
{
	uint64_t window = report->end_ts - report->start_ts;
	struct verdict verdict;

	for (size_t i = 0; i < report->stall_count; i++)
		assert_true(report->stalls[i].end_ts - report->stalls[i].start_ts <= window);
	for (size_t i = 0; i < report->cause_count; i++)
		assert_true(report->causes[i].max_ns <= window);
	for (size_t i = 0; i < report->thread_count; i++) {
		assert_true(report->threads[i].on_cpu_ns <= window);
		assert_true(report->threads[i].blocked_ns <= window);
		assert_true(report->threads[i].runqueue_ns <= window);
	}
	assert_true(report->longest_wait_ns <= window);
	verdict__write(&verdict, report);
	render__report(printed->out, report, &verdict, &style, true);
	render__report(printed->out, report, &verdict, &verbose, true);
	verdict__clear(&verdict);
	fclose(printed->out);
	if (strstr(printed->text, "18,446,7"))
		fail_msg("%.300s", strstr(printed->text, "18,446,7") - 100);
	assert_null(strstr(printed->text, "184467"));
	free(printed->text);
}

/* Of traces of records of so many types. Returns the pairs of stalls that share a wait. */
static size_t check_promises(size_t type_count)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	size_t stalls = 0, shared = 0;

	for (size_t trace = 0; trace < TRACES; trace++) {
		struct printed printed = {0};
		struct pipeline_sink sink = {
			.context = &printed, .on_record = on_record, .on_stall = on_stall};
		struct pipeline *pipeline = pipeline__new(&sink);
		struct feed feed = feed__text(base);
		size_t count = 1 + random_below(&seed, RECORDS);
		const struct report *report;

		printed.out = open_memstream(&printed.text, &printed.size);
		feed__run(&feed, pipeline);
		feed__free(&feed);
		for (size_t i = 0; i < count; i++) {
			union record record;

			make(&record, &seed, type_count);
			assert_int_equal(pipeline__feed(pipeline, &record, record.head.len), 0);
		}
		report = pipeline__finish(pipeline);
		for (size_t i = 0; i < report->stall_count; i++)
			check_stall(&report->stalls[i]);
		shared += shared_waits(report);
		check_lengths(report, &printed);
		stalls += report->stall_count;
		pipeline__free(pipeline);
	}
	/* They are not all empty, or nothing would have been checked. */
	assert_true(stalls > TRACES);
	return shared;
}

static void test_promises(void **state)
{
	(void)state;
	assert_int_equal(check_promises(PLAIN_TYPES), 0);
}

/*
 * A request and a wait are judged apart, and rarely both name a wait of the same thread, or one of
 * them and a hold. It must not become more.
 */
#define SHARED_TODAY 24

static void test_promises_with_requests_and_rings(void **state)
{
	(void)state;
	assert_true(check_promises(ALL_TYPES) <= SHARED_TODAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_promises_with_requests_and_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
