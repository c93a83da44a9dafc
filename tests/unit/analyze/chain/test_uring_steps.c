// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Operations of rings as evidence: among a stall's steps, for the receiver of a hold.
 */
#include "tests/unit/analyze/chain/wait_rows.h"

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
	ON_RING("conn=1 turn=wrote waker_stack_id=13 " BY(20, 20),                                 \
		"op_code=RECV op_user_data=3 op_fd=7 op_file=tcp op_submit=5.1 op_tid=10 op_how=poll")

static void test_steps(void **state)
{
	struct outcome outcome = analyze(feed__text(
		BASE RING_ASKED RING_READS SLEEPS(20, 20)
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
				RING_ASKED RING_READS SLEEPS(20, 20) ENDED_BY_RECV DONE_LATE);
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

#define HELD                                                                                       \
	HEAD                                                                                       \
	PEER FIRST SECOND FIRE LEFT ARRIVED GONE

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_steps_stay),
		cmocka_unit_test(test_chained_steps),
		cmocka_unit_test(test_receiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
