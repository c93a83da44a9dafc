// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Operations of rings as evidence: in the model, among a stall's steps, for the receiver of a hold.
 */
#include "tests/unit/analyze/ring_lines.h"
#include "user/model/model.h"

/* ---- what a time line has of them ---- */

static size_t steps_of(const struct stall *stall, uint64_t user_data)
{
	size_t count = 0;

	for (size_t i = 0; i < stall->step_count; i++)
		count += stall->steps[i].head.type == NS_URING &&
			 stall->steps[i].uring.user_data == user_data;
	return count;
}

#define DONE_LATE                                                                                  \
	"50.2 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=RECV user_data=3 file=tcp fd=7 " \
	"result=96 submit=5.1 how=poll\n"
#define ENDED_BY_RECV                                                                              \
	ON_RING("conn=1 turn=wrote waker_stack_id=2 " BY(20, 20),                                  \
		"op_code=RECV op_user_data=3 op_fd=7 op_file=tcp op_submit=5.1 op_tid=10 op_how=poll")

static void test_steps(void **state)
{
	struct outcome outcome = analyze(feed__text(
		BASE ASKED READS SLEEPS(20, 20)
		/* another operation of the ring, a shot of its before, one behind the end */
		"30 uring tgid=10 tid=10 ring=1 step=done opcode=READ user_data=9 file=pipe "
		"submit=29\n"
		"4.5 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=RECV user_data=3 "
		"file=tcp submit=4\n"
		"60 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=RECV user_data=4 file=tcp "
		"submit=51\n" DONE_LATE ENDED_BY_RECV));
	const struct stall *stall = outcome.stall;

	(void)state;
	assert_non_null(stall);
	assert_int_equal(steps_of(stall, 3), 1); /* although it is done behind the stall's end */
	assert_int_equal(steps_of(stall, 4), 0);
	assert_int_equal(steps_of(stall, 9), 0);
	done(&outcome);
}

/* Whatever order they come in, and however many others there are. */
static void test_steps_stay(void **state)
{
	struct outcome outcome;
	char text[16384];
	size_t used;

	(void)state;
	used = (size_t)snprintf(text, sizeof(text), "%s%s", BASE,
				ASKED READS SLEEPS(20, 20) ENDED_BY_RECV DONE_LATE);
	for (unsigned i = 0; i < 60; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%u.5 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=POLL_ADD "
			"user_data=%u file=tcp submit=6\n",
			7 + i / 2, 100 + i);
	outcome = analyze(feed__text(text));
	assert_non_null(outcome.stall);
	assert_int_equal(outcome.stall->step_count, STALL_STEPS);
	assert_int_equal(steps_of(outcome.stall, 3), 1);
	assert_int_equal(steps_of(outcome.stall, 159), 0);
	done(&outcome);
}

/* What was cancelled has its clock beside it. */
static void test_chained_steps(void **state)
{
	struct outcome outcome = analyze(feed__text(
		BASE
		"49.91 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=RECV user_data=1 "
		"file=tcp result=4294967171 submit=5.1\n"
		"49.92 uring tgid=10 tid=10 ring=1 step=done opcode=LINK_TIMEOUT user_data=2 "
		"linked=1 link_head=1 result=4294967234 submit=5.11\n"
		"20 uring tgid=10 tid=10 ring=1 step=done opcode=NOP user_data=8 linked=1 "
		"link_head=7 submit=19\n" ON_RING(
			"conn=1 turn=wrote",
			"op_code=RECV op_user_data=1 op_file=tcp op_tid=10 op_submit=5.1")));

	(void)state;
	assert_non_null(outcome.stall);
	assert_int_equal(steps_of(outcome.stall, 1), 1);
	assert_int_equal(steps_of(outcome.stall, 2), 1);
	assert_int_equal(steps_of(outcome.stall, 8), 0);
	done(&outcome);
}

/* ---- holds ---- */

#define HELD HEAD PEER FIRST SECOND FIRE LEFT ARRIVED GONE

/* The receiver of held bytes waits on a ring: the one whose operation was on that connection. */
static void test_receiver(void **state)
{
	static const struct {
		const char *waits;
		uint32_t tid; /* of the receiver's wait that is a step, 0 none */
	} receivers[] = {
		{"50.5 wait conn=2 tgid=20 tid=20 off=11 wake=50.3 state=1 syscall=426 arg0=4 "
		 "ring=2 op_known=1 op_code=RECV op_file=tcp op_submit=10.5\n",
		 20},
		{"50.5 wait tgid=20 tid=20 off=11 wake=50.3 state=1 syscall=426 arg0=4 ring=2 "
		 "op_known=1 op_code=TIMEOUT op_submit=10.5\n",
		 0},
		{"50.5 wait tgid=20 tid=20 off=11 wake=50.3 state=1 syscall=426 arg0=4 ring=2 "
		 "op_known=1 op_code=READ op_file=pipe op_submit=10.5\n"
		 "50.9 wait conn=2 tgid=20 tid=21 off=11 wake=50.7 state=1 syscall=426 arg0=4 "
		 "ring=2 op_known=1 op_code=RECV op_file=tcp op_submit=10.5\n",
		 21},
		/* known by the ring's completion alone */
		{"50.31 uring tgid=20 tid=20 conn=2 ring=2 step=done opcode=RECV user_data=5 "
		 "file=tcp submit=10.5 result=60 by_tid=20\n"
		 "50.5 wait tgid=20 tid=20 off=11 wake=50.4 state=1 syscall=426 arg0=4 ring=2\n",
		 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(receivers) / sizeof(receivers[0]); i++) {
		struct outcome outcome;
		char text[4096];
		uint32_t tid = 0;

		snprintf(text, sizeof(text), "%s%s", HELD, receivers[i].waits);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(outcome.stall->cause, CAUSE_NAGLE_DELACK);
		for (size_t s = 0; s < outcome.stall->step_count; s++)
			if (outcome.stall->steps[s].head.type == NS_WAIT)
				tid = outcome.stall->steps[s].head.tid;
		assert_int_equal(tid, receivers[i].tid);
		done(&outcome);
	}
}

/* ---- the model ---- */

static void learn(struct model *model, const char *line)
{
	union record record;
	char error[256];

	if (text__parse(line, &record, error, sizeof(error)) != 1)
		fail_msg("%s: %s", line, error);
	model__feed(model, &record);
}

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
		cmocka_unit_test(test_steps),         cmocka_unit_test(test_steps_stay),
		cmocka_unit_test(test_chained_steps), cmocka_unit_test(test_receiver),
		cmocka_unit_test(test_rings),         cmocka_unit_test(test_rings_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
