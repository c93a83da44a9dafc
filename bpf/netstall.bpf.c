// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The programs: thin heads that fetch arguments in the way of their attach type and
 * call the one body of their fact. All are optional ("?"): the plan (user/collect/plan.c)
 * says which are loaded; the name is what it calls them by.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/state.h"
#include "bpf/times.h"
#include "bpf/uring_state.h"

/* In the order of use: each builds on those before it. */
#include "bpf/compat.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/compat_uring.bpf.h"
#include "bpf/common.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/active.bpf.h"
#include "bpf/history.bpf.h"
#include "bpf/exchange.bpf.h"
#include "bpf/socket.bpf.h"
#include "bpf/adopt.bpf.h"
#include "bpf/ending.bpf.h"
#include "bpf/fd.bpf.h"
#include "bpf/uring_files.bpf.h"
#include "bpf/uring_task.bpf.h"
#include "bpf/uring.bpf.h"
#include "bpf/recovery.bpf.h"
#include "bpf/sites.bpf.h"
#include "bpf/reason.bpf.h"
#include "bpf/hold.bpf.h"
#include "bpf/tcp.bpf.h"
#include "bpf/delack.bpf.h"
#include "bpf/habits.bpf.h"
#include "bpf/uring_ops.bpf.h"
#include "bpf/uring_wait.bpf.h"
#include "bpf/wait.bpf.h"
#include "bpf/sched.bpf.h"
#include "bpf/life.bpf.h"
#include "bpf/discover.bpf.h"
#include "bpf/uring_scan.bpf.h"
#include "bpf/uring_done.bpf.h"

#include "bpf/heads_send.bpf.h"
#include "bpf/heads_tcp.bpf.h"
#include "bpf/heads_life.bpf.h"
#include "bpf/heads_uring.bpf.h"
#include "bpf/heads_uring_done.bpf.h"
#include "bpf/tasks.bpf.h"
#include "bpf/heads_iter.bpf.h"
#include "bpf/heads_iter_uring.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
