// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What chains say in words of io_uring's waits and wakes, by stacks as kernels give them. */
#include "tests/unit/test.h"
#include "user/analyze/profile/by_cause.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/render/words/chain_words.h"

#define ENTER ";io_submit_sqes;__do_sys_io_uring_enter;do_syscall_64;entry_SYSCALL_64_after_hwframe"
#define WAKE  "try_to_wake_up;autoremove_wake_function;__wake_up_common;__wake_up;"

static void assert_slept(const char *kernel, const char *wanted)
{
	char words[256];

	assert_string_equal(chain__slept_in(words, sizeof(words), 1, kernel), wanted);
}

static void assert_woke(enum waker_kind kind, const char *kernel, const char *wanted)
{
	const struct profile_hop hop = {.kind = kind, .name = "someone", .kernel = kernel};
	char words[256];

	assert_string_equal(chain__woke_by(words, sizeof(words), &hop), wanted);
}

static void waits_of_io_uring(void **state)
{
	(void)state;
	assert_slept("io_cqring_wait;__do_sys_io_uring_enter;do_syscall_64",
		     "an io_uring completion, in io_uring_enter()");
	assert_slept("io_cqring_wait;__x64_sys_io_uring_enter;do_syscall_64",
		     "an io_uring completion, in io_uring_enter()");
	assert_slept("schedule_hrtimeout_range_clock;__do_sys_io_uring_enter;do_syscall_64",
		     "an io_uring completion, in io_uring_enter()");
	/* Its own threads: without work, and in an operation. */
	assert_slept("schedule;schedule_timeout;io_wq_worker;ret_from_fork",
		     "io_uring operations to do");
	assert_slept("schedule;io_wqe_worker;ret_from_fork", "io_uring operations to do");
	assert_slept("schedule;io_sq_thread;ret_from_fork", "io_uring operations to do");
	assert_slept(
		"pipe_wait_readable;ipipe_prep.part.0;do_splice;io_splice;io_issue_sqe;"
		"io_wq_submit_work;io_worker_handle_work;io_wq_worker;ret_from_fork",
		"data in a pipe");
	assert_slept(
		"sk_wait_data;tcp_recvmsg_locked;tcp_recvmsg;io_recv;io_issue_sqe;"
		"io_wq_submit_work;io_worker_handle_work;io_wq_worker;ret_from_fork",
		"data of a socket");
	assert_slept(
		"some_driver_wait;io_issue_sqe;io_wq_submit_work;io_worker_handle_work;"
		"io_wq_worker;ret_from_fork",
		"the work of its io_uring operation");
}

static void wakes_by_io_uring(void **state)
{
	(void)state;
	assert_woke(WAKER_IS_IRQ,
		    "try_to_wake_up;task_work_add;__io_req_task_work_add;io_timeout_fn;"
		    "__hrtimer_run_queues;hrtimer_interrupt",
		    "an io_uring timeout expired");
	assert_woke(WAKER_IS_IRQ,
		    "try_to_wake_up;io_cqring_timer_wakeup;__hrtimer_run_queues;hrtimer_interrupt",
		    "the time limit of its wait expired");
	assert_woke(WAKER_IS_THREAD,
		    WAKE
		    "io_cq_unlock_post;io_issue_sqe;io_wq_submit_work;io_worker_handle_work;"
		    "io_wq_worker;ret_from_fork",
		    "completed an io_uring operation as a worker");
	assert_woke(WAKER_IS_THREAD,
		    WAKE "__io_submit_flush_completions;tctx_task_work_run;io_sq_tw;io_sq_thread",
		    "completed an io_uring operation as the submission thread");
	assert_woke(WAKER_IS_THREAD,
		    WAKE "io_cq_unlock_post;io_post_aux_cqe;io_msg_ring;io_issue_sqe" ENTER,
		    "sent a message to the ring, in io_uring_enter()");
	assert_woke(WAKER_IS_THREAD, WAKE "__io_submit_flush_completions" ENTER,
		    "submitted an io_uring operation that was done at once, in io_uring_enter()");
	assert_woke(
		WAKER_IS_THREAD,
		"try_to_wake_up;io_acct_activate_free_worker;io_wq_enqueue;tctx_task_work" ENTER,
		"gave an io_uring operation to a worker, in io_uring_enter()");
}

/* What made the operation ready says more than that io_uring looks at it. */
static void what_made_it_ready_comes_first(void **state)
{
	(void)state;
	assert_woke(WAKER_IS_THREAD,
		    "try_to_wake_up;__io_req_task_work_add;io_poll_wake;__wake_up_common;"
		    "anon_pipe_write;vfs_write;ksys_write;do_syscall_64",
		    "wrote to a pipe, in write()");
	assert_woke(WAKER_IS_THREAD,
		    "try_to_wake_up;__io_req_task_work_add;io_poll_wake;__wake_up_common;"
		    "sock_def_readable;tcp_data_queue;tcp_v4_rcv;net_rx_action;tcp_sendmsg;"
		    "__sys_sendto;do_syscall_64",
		    "sent a segment, in sendto()");
	assert_woke(WAKER_IS_SOFTIRQ, "io_poll_wake;sock_def_readable;tcp_v4_rcv;net_rx_action",
		    "a segment arrived");
}

/* Of a thread of io_uring's own that has nothing to do, `trace` says idle. */
static void own_threads_are_idle(void **state)
{
	(void)state;
	assert_int_equal(wait_kind__by_stack("schedule_timeout;io_wq_worker"), WAIT_WORK);
	assert_int_equal(wait_kind__by_stack("io_sq_thread"), WAIT_WORK);
	assert_int_equal(wait_kind__by_stack("io_schedule;filemap_read;io_worker_handle_work;"
					     "io_wq_worker"),
			 WAIT_DISK);
	assert_int_equal(wait_kind__by_stack("x;io_worker_handle_work;io_wq_worker"), WAIT_UNKNOWN);
	assert_int_equal(waker__by_stack_alone("io_timeout_fn;__hrtimer_run_queues"), WAKER_TIMER);
	assert_int_equal(
		waker__by_stack_alone("ep_poll_callback;timerfd_tmrproc;hrtimer_interrupt"),
		WAKER_TIMER);
	assert_int_equal(waker__by_stack_alone("__wake_up;hrtimer_interrupt;kfree"),
			 WAKER_INTERRUPT);
}

static void their_waits_for_work_have_a_cause(void **state)
{
	(void)state;
	assert_int_equal(by_cause__refine(CAUSE_UNKNOWN, "schedule;io_sq_thread"), CAUSE_IDLE);
	assert_int_equal(by_cause__refine(CAUSE_UNKNOWN, "schedule;io_cqring_wait"), CAUSE_UNKNOWN);
	assert_int_equal(by_cause__refine(CAUSE_UNKNOWN, NULL), CAUSE_UNKNOWN);
	assert_int_equal(by_cause__refine(CAUSE_IPC, "schedule;io_wq_worker"), CAUSE_IPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_of_io_uring),
		cmocka_unit_test(wakes_by_io_uring),
		cmocka_unit_test(what_made_it_ready_comes_first),
		cmocka_unit_test(own_threads_are_idle),
		cmocka_unit_test(their_waits_for_work_have_a_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
