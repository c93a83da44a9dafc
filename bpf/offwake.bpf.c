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
#include "bpf/offwake.h"
#include "bpf/offwake_sample.h"

/* In the order of use: each builds on those before it. */
#include "bpf/lib/compat.bpf.h"
#include "bpf/lib/calls.bpf.h"
#include "bpf/lib/common.bpf.h"
#include "bpf/offcpu/offwake_maps.bpf.h"
#include "bpf/offcpu/offwake_target.bpf.h"
#include "bpf/offcpu/offwake_stack.bpf.h"
#include "bpf/offcpu/offwake_frames.bpf.h"
#include "bpf/offcpu/offwake_place.bpf.h"
#include "bpf/offcpu/offwake_sample.bpf.h"
#include "bpf/offcpu/offwake_segment.bpf.h"
#include "bpf/offcpu/offwake_chain.bpf.h"
#include "bpf/offcpu/offwake_sched.bpf.h"

#include "bpf/lib/tasks.bpf.h"
#include "bpf/offcpu/offwake_heads.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
