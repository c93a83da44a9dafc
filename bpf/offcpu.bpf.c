// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The off-CPU profile: where threads sleep and who wakes them, added up in the kernel by chains
 * of places. An object of its own beside netstall.bpf.c, which it shares
 * little with but the differences of kernels: BTF tracepoints alone, on every kernel.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/state.h"
#include "bpf/times.h"
#include "bpf/offcpu.h"
#include "bpf/offcpu_sample.h"

/* In the order of use: each builds on those before it. */
#include "bpf/lib/compat.bpf.h"
#include "bpf/lib/calls.bpf.h"
#include "bpf/lib/common.bpf.h"
#include "bpf/offcpu/tables.bpf.h"
#include "bpf/offcpu/target.bpf.h"
#include "bpf/offcpu/stack.bpf.h"
#include "bpf/offcpu/frames.bpf.h"
#include "bpf/offcpu/place.bpf.h"
#include "bpf/offcpu/sample.bpf.h"
#include "bpf/offcpu/segment.bpf.h"
#include "bpf/offcpu/chain.bpf.h"
#include "bpf/offcpu/sleep.bpf.h"

#include "bpf/lib/tasks.bpf.h"
#include "bpf/offcpu/heads_offcpu.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
