// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What io_uring's operations are called, and how they read in the time line of a stall. */
#include <poll.h>

#include "tests/unit/render/render_fixture.h"
#include "user/render/words/names_uring.h"

static void results_as_what_they_are(void **state)
{
	static const struct {
		const char *op;
		int32_t result;
		const char *text;
	} wanted[] = {
		{"RECV", 136, "136"},
		{"RECV", 65536, "65,536"},
		{"RECV", 0, "0"},
		{"RECV", -104, "-ECONNRESET"},
		{"TIMEOUT", -62, "-ETIME"},
		{"LINK_TIMEOUT", -125, "-ECANCELED"},
		{"ACCEPT", 9, "fd 9"},
		{"OPENAT", 9, "fd 9"},
		{"SOCKET", 9, "fd 9"},
		{"SOCKET", 0, "0"},
		{"ACCEPT", -24, "-EMFILE"},
		{"POLL_ADD", POLLIN | POLLHUP, "POLLIN|POLLHUP"},
		{"POLL_ADD", 0x40000, "0x40000"},
		{"POLL_ADD", 0, "0"},
		{"NOP", 0, "0"},
		{"OP_77", 5, "5"},
		{"OP_77", -512, "-512"},
		{"unknown", INT32_MIN, "-2147483648"},
	};
	char line[100], text[NAME_URING_RESULT];

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		union record record;

		snprintf(line, sizeof(line), "1 uring ring=1 step=done opcode=%s result=%d",
			 wanted[i].op, wanted[i].result);
		parse(line, &record);
		assert_string_equal(name__uring_result(text, sizeof(text), record.uring.opcode,
						       record.uring.result),
				    wanted[i].text);
	}
}

static void flags_by_name(void **state)
{
	char text[400], small[8];

	(void)state;
	assert_string_equal(name__ring_flags(text, sizeof(text), 0), "");
	assert_string_equal(name__ring_flags(text, sizeof(text), 1 << 1 | 1 << 13),
			    "SQPOLL, DEFER_TASKRUN");
	assert_string_equal(name__ring_flags(text, sizeof(text), 1u << 31), "flags 0x80000000");
	name__ring_flags(text, sizeof(text), UINT32_MAX);
	assert_in(text, "HYBRID_IOPOLL");
	/* Cut, never beyond. */
	name__ring_flags(small, sizeof(small), UINT32_MAX);
	assert_int_equal(strlen(small), sizeof(small) - 1);
}

static bool failed(const char *line)
{
	union record record;

	parse(line, &record);
	return uring__failed(&record.uring);
}

static void a_timeout_that_ran_out_is_no_failure(void **state)
{
	(void)state;
	assert_true(failed("1 uring ring=1 step=done opcode=RECV result=-104"));
	assert_false(failed("1 uring ring=1 step=done opcode=RECV result=104"));
	assert_false(failed("1 uring ring=1 step=done opcode=TIMEOUT result=-62"));
	assert_false(failed("1 uring ring=1 step=done opcode=LINK_TIMEOUT result=-62"));
	assert_true(failed("1 uring ring=1 step=done opcode=TIMEOUT result=-125"));
	assert_true(failed("1 uring ring=1 step=done opcode=RECV result=-62"));
	assert_false(failed("1 uring ring=1 step=armed opcode=RECV result=-62"));
}

/* Of a wait on a ring the lines that must stay: the wait, and the operation that ended it. */
static void what_ended_a_wait_proves_it(void **state)
{
	static const char *const lines[] = {
		"9.000 uring ring=1 conn=1 tgid=4242 tid=4242 step=done opcode=SEND fd=7 len=40"
		" user_data=1 submit=8.990 result=40 how=inline shot=1",
		"9.100 send conn=1 tgid=4242 tid=4242 bytes=96 fd=7 via=uring write_seq=97 snd_nxt=97"
		" snd_una=97",
		"9.110 uring ring=1 conn=1 tgid=4242 tid=4242 step=done opcode=SENDMSG fd=7 len=1"
		" user_data=2 submit=9.090 result=96 how=inline shot=1",
		"50.000 wait conn=1 tgid=4242 tid=4242 off=10 wake=49.980 state=1 syscall=426 arg0=4"
		" ring=1 op_known=1 op_code=RECV op_fd=7 op_user_data=3 op_submit=9.5 op_how=poll",
		"50.005 recv conn=1 tgid=4242 tid=4242 bytes=64",
		"50.010 uring ring=1 conn=1 tgid=4242 tid=4242 step=done opcode=RECV fd=7 len=4096"
		" user_data=3 submit=9.500 armed=9.501 result=64 how=poll shot=1",
		"50.020 uring ring=1 conn=1 tgid=4242 tid=4242 step=done opcode=POLL_ADD fd=7"
		" user_data=4 submit=9.600 armed=9.601 result=1 how=poll shot=1",
	};
	struct fixture *f = *state;
	struct stall *stall = &f->stall;
	const struct render_style wide = {.width = 200};
	FILE *out;

	stall->step_count = sizeof(lines) / sizeof(lines[0]);
	for (size_t i = 0; i < stall->step_count; i++)
		parse_step(lines[i], &f->steps[i]);
	memset(&stall->hold, 0, sizeof(stall->hold));
	stall->cause = CAUSE_PEER_APP;
	stall->tid = stall->pid = 4242;
	stall->wait = f->steps[3].wait;
	out = open_output(f);
	render__stall(out, &f->report, stall, &wide);
	fclose(out);
	/* One act, one line: a send has the name of its operation, a receive is its operation. */
	assert_int_equal(occurrences(f->out, "uring SENDMSG fd 7"), 1);
	assert_not_in(f->out, "uring send");
	assert_not_in(f->out, "read");
	assert_int_equal(occurrences(f->out, "uring SEND fd 7"), 1);
	assert_in(f->out, "sleeps in io_uring_enter, ring 1");
	assert_in(f->out, "ended by uring RECV fd 7");
	assert_int_equal(occurrences(f->out, "uring RECV fd 7  "), 2);
	assert_in(f->out, "(40.5 ms, poll armed)");
	assert_in(f->out, "ring 1, user_data 0x3");
	assert_not_in(f->out, "user_data 0x4");
	out = open_output(f);
	assert_int_equal(render__stall_proof(out, &f->report, stall, &plain, 4, 0), 4);
	fclose(out);
	assert_in(f->out, "sleeps in io_uring_enter, ring 1");
	assert_in(f->out, "runs again");
	assert_in(f->out, "-> 64");
	assert_not_in(f->out, "POLL_ADD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(results_as_what_they_are),
		TEST(flags_by_name),
		TEST(a_timeout_that_ran_out_is_no_failure),
		TEST(what_ended_a_wait_proves_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
