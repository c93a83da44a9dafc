/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of the kernel that stand on stacks under several names: renamed, of another
 * architecture, or inlined into one another. All who look for one on a stack take it from here
 * (stack__has() and frame__is(), user/analyze/waits/kernel_stack.h). Hooks that differ from kernel
 * to kernel are in plan_variants (user/kernel/plan.c), fields in bpf/lib/compat.bpf.h.
 */
#ifndef NETSTALL_RECORD_KERNEL_FUNCTIONS_H
#define NETSTALL_RECORD_KERNEL_FUNCTIONS_H

/* ---- interrupts ---- */

/* The first from 6.10 on, and where that was ported back to; in 5.10 the others are one address. */
#define KFN_SOFTIRQ  "handle_softirqs|__do_softirq|__softirqentry_text_start"
#define KFN_IRQ_EXIT "irq_exit_rcu|__irq_exit_rcu"
/* x86-64, with FRED, arm64. Those of the x86 vectors begin with sysvec_. */
#define KFN_INTERRUPT                                                                              \
	"common_interrupt|asm_common_interrupt|fred_extint|el1h_64_irq|el0t_64_irq|"               \
	"gic_handle_irq|el1_interrupt|el0_interrupt"
/* run_timer_softirq() goes on in tmigr_handle_remote() without being on the stack. */
#define KFN_TIMER_SOFTIRQ "call_timer_fn|__run_timers|tmigr_handle_remote|run_timer_softirq"
#define KFN_SCHED_SOFTIRQ "run_rebalance_domains|sched_balance_softirq"                   /* 6.10 */
#define KFN_SMP_CALLS     "flush_smp_call_function_queue|__flush_smp_call_function_queue" /* 5.19 */

/* ---- TCP and Unix sockets ---- */

#define KFN_TCP_DELACK_TIMER "tcp_delack_timer|tcp_delack_timer_handler"
#define KFN_TCP_WRITE_TIMER  "tcp_write_timer|tcp_write_timer_handler"
#define KFN_UNIX_STREAM_READ "unix_stream_data_wait|unix_stream_read_generic"

/* ---- pipes and files ---- */

#define KFN_PIPE_READ     "pipe_read|anon_pipe_read" /* the second: all but FIFOs, later */
#define KFN_PIPE_WRITE    "pipe_write|anon_pipe_write"
#define KFN_WRITEBACK_END "end_page_writeback|folio_end_writeback" /* 5.16 */

/* ---- memory ---- */

/* Freeing pages oneself, and the brake of memory.high; the second name of that from 6.17 on. */
#define KFN_MEMORY                                                                                 \
	"mem_cgroup_handle_over_high|__mem_cgroup_handle_over_high|try_to_free_pages|"             \
	"try_to_free_mem_cgroup_pages|do_try_to_free_pages|shrink_node|shrink_lruvec|"             \
	"reclaim_throttle|throttle_direct_reclaim"

/* ---- io_uring ---- */

/* Of one function; in 5.10 and on arm64 io_cqring_wait() is in it. */
#define KFN_URING_ENTER                                                                            \
	"__do_sys_io_uring_enter|__se_sys_io_uring_enter|__x64_sys_io_uring_enter|"                \
	"__arm64_sys_io_uring_enter"
#define KFN_URING_WORKER     "io_wq_worker|io_wqe_worker" /* ed29b0b4fd83 (6.4) */
#define KFN_URING_ENQUEUE    "io_wq_enqueue|io_wqe_enqueue"
#define KFN_URING_WAIT_LIMIT "io_cqring_timer_wakeup|io_cqring_min_timer_wakeup"

#endif
