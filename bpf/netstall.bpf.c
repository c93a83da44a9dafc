// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The programs: thin heads that fetch arguments in the way of their attach type and
 * call the one body of their fact. All are optional ("?"): the plan (user/kernel/plan.c)
 * says which are loaded; the name is what it calls them by.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/state.h"
#include "bpf/offcpu_sample.h"
#include "bpf/times.h"
#include "bpf/uring_state.h"

/* In the order of use: each builds on those before it. */
#include "bpf/lib/compat.bpf.h"
#include "bpf/lib/calls.bpf.h"
#include "bpf/uring/compat_uring.bpf.h"
#include "bpf/lib/common.bpf.h"
#include "bpf/lib/maps.bpf.h"
#include "bpf/lib/target.bpf.h"
#include "bpf/lib/numbers.bpf.h"
#include "bpf/lib/tasks.bpf.h"
#include "bpf/lib/emit.bpf.h"
#include "bpf/lib/active.bpf.h"
#include "bpf/lib/history.bpf.h"
#include "bpf/thread/spent.bpf.h"
#include "bpf/thread/exchange.bpf.h"
#include "bpf/tcp/queue.bpf.h"
#include "bpf/tcp/socket.bpf.h"
#include "bpf/tcp/adopt.bpf.h"
#include "bpf/tcp/ending.bpf.h"
#include "bpf/lib/fd.bpf.h"
#include "bpf/uring/uring_files.bpf.h"
#include "bpf/uring/uring_task.bpf.h"
#include "bpf/uring/uring.bpf.h"
#include "bpf/tcp/recovery.bpf.h"
#include "bpf/lib/python.bpf.h"
#include "bpf/tcp/sites.bpf.h"
#include "bpf/tcp/reason.bpf.h"
#include "bpf/tcp/hold.bpf.h"
#include "bpf/tcp/tcp.bpf.h"
#include "bpf/tcp/delack.bpf.h"
#include "bpf/thread/habits.bpf.h"
#include "bpf/uring/uring_ops.bpf.h"
#include "bpf/uring/uring_wait.bpf.h"
#include "bpf/thread/datagram.bpf.h"
#include "bpf/thread/throttle.bpf.h"
#include "bpf/thread/ran.bpf.h"
#include "bpf/thread/wait.bpf.h"
#include "bpf/offcpu/tables.bpf.h"
#include "bpf/offcpu/target.bpf.h"
#include "bpf/offcpu/stack.bpf.h"
#include "bpf/offcpu/frames.bpf.h"
#include "bpf/offcpu/place.bpf.h"
#include "bpf/offcpu/sample.bpf.h"
#include "bpf/offcpu/segment.bpf.h"
#include "bpf/offcpu/chain.bpf.h"
#include "bpf/offcpu/sleep.bpf.h"
#include "bpf/thread/sched.bpf.h"
#include "bpf/tcp/life.bpf.h"
#include "bpf/tcp/discover.bpf.h"
#include "bpf/uring/uring_scan.bpf.h"
#include "bpf/uring/uring_done.bpf.h"

#include "bpf/thread/heads_datagram.bpf.h"
#include "bpf/tcp/heads_send.bpf.h"
#include "bpf/tcp/heads_tcp.bpf.h"
#include "bpf/thread/heads_life.bpf.h"
#include "bpf/offcpu/heads_offcpu.bpf.h"
#include "bpf/uring/heads_uring.bpf.h"
#include "bpf/uring/heads_uring_done.bpf.h"
#include "bpf/tcp/heads_iter.bpf.h"
#include "bpf/uring/heads_iter_uring.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
