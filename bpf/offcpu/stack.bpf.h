/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Stacks as the kernel gives them: which frames are the tracer's own, which are an interrupt's. */
#ifndef NETSTALL_BPF_OFFCPU_STACK_BPF_H
#define NETSTALL_BPF_OFFCPU_STACK_BPF_H

static __always_inline __u32 take_frames(void *ctx, struct scratch *scratch, __u64 flags)
{
	long bytes = bpf_get_stack(ctx, scratch->stack.frames, sizeof(scratch->stack), flags);

	return bytes > 0 ? bytes / sizeof(__u64) : 0;
}

/* All bits when the address lies within, by arithmetic: see interrupt_depth(). */
static __always_inline __u64 within(__u64 address, const struct ns_offcpu_range *range)
{
	__u64 from = address - range->begin;

	/* Neither before the beginning nor behind the end; kernel addresses have bit 63 set. */
	return (__s64)(~from & (from - (range->end - range->begin))) >> 63;
}

/* How many frames stand on top of the hooked function; 0: it is not among the first. */
static __always_inline __u32 find_hooked(const struct scratch *scratch, __u32 count,
					 const struct ns_offcpu_range *function)
{
	__u32 i;

#pragma unroll
	for (i = 0; i < NS_OFFCPU_OWN; i++)
		if (i < count && within(scratch->stack.frames[i], function))
			return i;
	return 0;
}

/*
 * The kernel's stack from the hooked function on. What stands above it are frames of tracers, more
 * of them while several have hooked it: with these each place would become another one when any
 * tracer comes or goes, and what was known of it would be lost.
 */
static __always_inline __u32 take_kernel_frames(void *ctx, struct scratch *scratch,
						enum ns_offcpu_hook hook)
{
	const struct ns_offcpu_range *function = &hooked[hook];
	__u32 own = own_frames[hook] & (NS_OFFCPU_OWN - 1), count = take_frames(ctx, scratch, own);

	if (!function->end || (count && within(scratch->stack.frames[0], function)))
		return count;
	count = take_frames(ctx, scratch, 0);
	own = find_hooked(scratch, count, function);
	own_frames[hook] = own;
	return own ? take_frames(ctx, scratch, own) : count;
}

/*
 * How many of a sleeper's first frames are the scheduler's: schedule() and what calls it, which all
 * waits have. bpf_get_task_stack() leaves them out, so the place is the same one either way.
 */
static __always_inline __u32 scheduler_frames(const struct scratch *scratch, __u32 count)
{
	__u32 found = 0, i;

#pragma unroll
	for (i = 0; i < NS_OFFCPU_OWN; i++)
		if (i == found && i + 1 < count && within(scratch->stack.frames[i], &scheduler))
			found = i + 1;
	return found;
}

/*
 * How many frames belong to interrupts, the outermost entry included; 0: none was entered.
 * Without branches in the loop, which the verifier would all follow.
 */
__noinline __u32 interrupt_depth(__u32 use, __u32 count)
{
	struct scratch *scratch = offcpu.on ? scratch_for(use) : NULL;
	__u64 found = 0, mask, frame;
	__u32 i, j;

	if (!scratch)
		return 0;
	for (i = 0; i < NS_OFFCPU_FRAMES; i++) {
		if (i >= count)
			break;
		frame = scratch->stack.frames[i];
		mask = 0;
#pragma unroll
		for (j = 0; j < NS_OFFCPU_RANGES; j++)
			mask |= within(frame, &irq_entries[j]);
		barrier_var(mask);
		found = (found & ~mask) | ((i + 1) & mask);
	}
	return found;
}

#endif
