// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who woke a thread, by stacks as kernels have shown them. */
#include "tests/unit/test.h"
#include "user/analyze/waits/kernel_stack.h"
#include "user/analyze/waits/wakers.h"

#define WAKE    "try_to_wake_up;__wake_up_sync_key;sock_def_readable"
#define RECEIVE WAKE ";tcp_data_queue;tcp_rcv_established;tcp_v4_rcv"
#define BACKLOG RECEIVE ";process_backlog;__napi_poll;net_rx_action;handle_softirqs"
#define CALL    "tcp_sendmsg;vfs_write;ksys_write;do_syscall_64"

static struct wake_judged judge(const char *kernel, const char *comm, bool by_timer)
{
	const struct wake_context context = {kernel, comm, by_timer};
	struct wake_judged judged;

	wake__judge(&context, &judged);
	return judged;
}

static void expect(const char *kernel, const char *comm, enum waker_kind kind, const char *name,
		   const char *kept)
{
	struct wake_judged judged = judge(kernel, comm, false);

	assert_int_equal(judged.kind, kind);
	assert_string_equal(judged.name, name);
	assert_int_equal(judged.kernel_length, strlen(kept));
}

/* On loopback the softirq runs inside the peer's own system call. */
static void test_peer_on_loopback(void **state)
{
	const char *stack = BACKLOG ";do_softirq.part.0;__local_bh_enable_ip;" CALL;

	(void)state;
	expect(stack, "server", WAKER_IS_THREAD, "", stack);
	assert_true(judge(stack, "server", false).received);
	/* What a timer had sent is not the thread's doing. */
	assert_int_equal(judge(stack, "server", true).kind, WAKER_IS_SOFTIRQ);
	assert_string_equal(judge(stack, "server", true).name, "softirq:net_rx");
}

static void test_thread(void **state)
{
	(void)state;
	expect("try_to_wake_up;pipe_write;vfs_write", "writer", WAKER_IS_THREAD, "",
	       "try_to_wake_up;pipe_write;vfs_write");
	expect(NULL, "writer", WAKER_IS_THREAD, "", "");
}

/* The interrupted thread is innocent, and what it did is cut off. */
static void test_interrupted_thread(void **state)
{
	(void)state;
	expect("try_to_wake_up;process_timeout;call_timer_fn;__run_timers.part.0;"
	       "run_timer_softirq;handle_softirqs;__irq_exit_rcu;sysvec_apic_timer_interrupt;"
	       "asm_sysvec_apic_timer_interrupt;vfs_read;ksys_read",
	       "victim", WAKER_IS_SOFTIRQ, "softirq:timer",
	       "try_to_wake_up;process_timeout;call_timer_fn;__run_timers.part.0;"
	       "run_timer_softirq;handle_softirqs");
	/* Linux 6.9 and later run the timers of idle CPUs elsewhere. */
	expect("try_to_wake_up;process_timeout;call_timer_fn;__run_timers;timer_expire_remote;"
	       "tmigr_handle_remote_up;tmigr_handle_remote;handle_softirqs;__irq_exit_rcu",
	       "victim", WAKER_IS_SOFTIRQ, "softirq:timer",
	       "try_to_wake_up;process_timeout;call_timer_fn;__run_timers;timer_expire_remote;"
	       "tmigr_handle_remote_up;tmigr_handle_remote;handle_softirqs");
	expect("try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;hrtimer_interrupt;"
	       "__sysvec_apic_timer_interrupt;sysvec_apic_timer_interrupt;"
	       "asm_sysvec_apic_timer_interrupt;vfs_read",
	       "victim", WAKER_IS_IRQ, "irq:timer",
	       "try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;hrtimer_interrupt;"
	       "__sysvec_apic_timer_interrupt;sysvec_apic_timer_interrupt;"
	       "asm_sysvec_apic_timer_interrupt");
}

/* A softirq that a thread's call happened to run, and did not ask for. */
static void test_chance(void **state)
{
	const char *timer =
		"try_to_wake_up;process_timeout;call_timer_fn;run_timer_softirq;"
		"__do_softirq;do_softirq;__local_bh_enable_ip;" CALL;
	const char *device = RECEIVE
		";napi_gro_receive;virtnet_poll;__napi_poll;net_rx_action;"
		"__do_softirq;do_softirq;__local_bh_enable_ip;" CALL;

	(void)state;
	assert_int_equal(judge(timer, "victim", false).kind, WAKER_IS_SOFTIRQ);
	assert_string_equal(judge(timer, "victim", false).name, "softirq:timer");
	assert_int_equal(judge(device, "victim", false).kind, WAKER_IS_SOFTIRQ);
	assert_string_equal(judge(device, "victim", false).name, "softirq:net_rx");
}

/* Threads that do nothing on their own account. */
static void test_threads_of_interrupts(void **state)
{
	(void)state;
	expect(BACKLOG ";run_ksoftirqd;smpboot_thread_fn;kthread", "ksoftirqd/1", WAKER_IS_SOFTIRQ,
	       "softirq:net_rx", BACKLOG);
	expect("try_to_wake_up;nvme_irq;irq_thread_fn;irq_thread;kthread", "irq/25-nvme0q1",
	       WAKER_IS_IRQ, "irq:nvme0q1",
	       "try_to_wake_up;nvme_irq;irq_thread_fn;irq_thread;kthread");
}

/* A hard interrupt is named after its handler, also in the middle of a softirq. */
static void test_hard_interrupt(void **state)
{
	const char *stack =
		"try_to_wake_up;vring_interrupt;__handle_irq_event_percpu;"
		"handle_irq_event;handle_edge_irq;__common_interrupt;common_interrupt;"
		"asm_common_interrupt";

	(void)state;
	expect(stack, NULL, WAKER_IS_IRQ, "irq:vring_interrupt", stack);
	expect("try_to_wake_up;vring_interrupt;__handle_irq_event_percpu;common_interrupt;"
	       "asm_common_interrupt;net_rx_action;handle_softirqs;irq_exit_rcu;"
	       "sysvec_apic_timer_interrupt;asm_sysvec_apic_timer_interrupt;do_idle",
	       NULL, WAKER_IS_IRQ, "irq:vring_interrupt",
	       "try_to_wake_up;vring_interrupt;__handle_irq_event_percpu;common_interrupt;"
	       "asm_common_interrupt;net_rx_action;handle_softirqs;irq_exit_rcu;"
	       "sysvec_apic_timer_interrupt;asm_sysvec_apic_timer_interrupt");
}

/* Nobody was there, and nothing says why. */
static void test_nobody(void **state)
{
	(void)state;
	expect(NULL, NULL, WAKER_IS_IRQ, "irq:other", "");
	expect("try_to_wake_up;do_idle", "", WAKER_IS_IRQ, "irq:other", "try_to_wake_up;do_idle");
}

/* Names that differ by kernel, with the compiler's suffixes; part of a name is none. */
static void test_names_of_one_function(void **state)
{
	(void)state;
	assert_true(frame__is("anon_pipe_read;vfs_read", "pipe_read|anon_pipe_read"));
	assert_true(frame__is("pipe_read.isra.0", "anon_pipe_read|pipe_read"));
	assert_false(frame__is("pipe_reader", "pipe_read|anon_pipe_read"));
	assert_false(frame__is("pipe", "pipe_read|anon_pipe_read"));
	assert_true(stack__in_interrupt("try_to_wake_up;__do_softirq;asm_call_sysvec"));
	assert_true(stack__in_interrupt("try_to_wake_up;sysvec_irq_work;do_idle"));
	assert_true(stack__in_interrupt("try_to_wake_up;gic_handle_irq"));
	assert_false(stack__in_interrupt("try_to_wake_up;" CALL));
	assert_false(stack__in_interrupt(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peer_on_loopback),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_interrupted_thread),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_threads_of_interrupts),
		cmocka_unit_test(test_hard_interrupt),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_names_of_one_function),
	};

	return cmocka_run_group_tests_name("wakers", tests, NULL, NULL);
}
