/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Is the first caller one? In a function that keeps no frame pointer the register holds whatever
 * the program wants; what the kernel then takes for a caller's address is any value, another one
 * at every sleep. A stack of its own for each would fill the tables, and none would be seen
 * twice. So the code must show a call before the address that it returns to.
 */
#ifndef NETSTALL_BPF_OFFCPU_FRAMES_BPF_H
#define NETSTALL_BPF_OFFCPU_FRAMES_BPF_H

#if defined(__TARGET_ARCH_x86)

#define NS_OFFCPU_CODE_BEFORE 7 /* the longest call */
#define NS_OFFCPU_CODE_AFTER  7

/* call *operand, its ff so many bytes before the address: /2 in the byte behind it. */
static __always_inline bool is_indirect_call(const __u8 *code, int before)
{
	const __u8 *at = code + NS_OFFCPU_CODE_BEFORE - before;

	return at[0] == 0xff && (at[1] & 0x38) == 0x10;
}

/* A signal handler was called by nobody: it returns to mov $15,%eax; syscall (rt_sigreturn). */
static __always_inline bool is_sigreturn(const __u8 *at)
{
	return at[0] == 0x48 && at[1] == 0xc7 && at[2] == 0xc0 && at[3] == 15 && !at[4] && !at[5] &&
	       !at[6];
}

static __always_inline bool returns_here(const __u8 *code)
{
	return code[NS_OFFCPU_CODE_BEFORE - 5] == 0xe8 || is_indirect_call(code, 2) ||
	       is_indirect_call(code, 3) || is_indirect_call(code, 4) ||
	       is_indirect_call(code, 6) || is_indirect_call(code, 7) ||
	       is_sigreturn(code + NS_OFFCPU_CODE_BEFORE);
}

#elif defined(__TARGET_ARCH_arm64)

#define NS_OFFCPU_CODE_BEFORE 4
#define NS_OFFCPU_CODE_AFTER  4

/* bl, blr; or mov x8, #139 (rt_sigreturn) behind it. */
static __always_inline bool returns_here(const __u8 *code)
{
	__u32 before = code[0] | code[1] << 8 | code[2] << 16 | (__u32)code[3] << 24;
	__u32 after = code[4] | code[5] << 8 | code[6] << 16 | (__u32)code[7] << 24;

	return (before & 0xfc000000) == 0x94000000 || (before & 0xfffffc1f) == 0xd63f0000 ||
	       after == 0xd2801168;
}

#endif

/* Does the code show a call before that address? */
static __always_inline bool is_caller(__u64 address)
{
	__u8 code[NS_OFFCPU_CODE_BEFORE + NS_OFFCPU_CODE_AFTER] = {};

	return !bpf_probe_read_user(code, sizeof(code), (void *)address - NS_OFFCPU_CODE_BEFORE) &&
	       returns_here(code);
}

/* How many of the running thread's user frames in scratch are worth keeping. */
static __noinline __u32 credible_frames(struct ns_offcpu_stack *stack, __u32 count)
{
	if (!stack || count < 2)
		return count;
	return is_caller(stack->frames[1]) ? count : 1;
}

#define NS_OFFCPU_CHAINED 16 /* frames that are followed for a hash */

/*
 * A hash of all that the frames worth keeping are made from, as the kernel follows the frame
 * pointers, at a fraction of the time. 0: they are too many.
 */
static __noinline __u64 hash_user_frames(struct task_struct *task)
{
	struct pt_regs *regs = current_regs();
	__u64 frame[2] = {}, hash = 0, fp, sp;
	__u32 i;

	if (!task || task->flags & NS_PF_KTHREAD)
		return 0;
	read_position(regs, &hash, &sp);
	fp = frame_pointer(regs);
	for (i = 0; i < NS_OFFCPU_CHAINED; i++) {
		if (bpf_probe_read_user(frame, sizeof(frame), (void *)fp) ||
		    (!i && !is_caller(frame[1])))
			return hash;
		hash = (hash ^ fp ^ frame[1]) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
		fp = frame[0];
	}
	return 0;
}

#endif
