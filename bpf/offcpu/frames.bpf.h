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

/* How many of the running thread's user frames in scratch are worth keeping. */
static __noinline __u32 credible_frames(struct ns_offcpu_stack *stack, __u32 count)
{
	__u8 code[NS_OFFCPU_CODE_BEFORE + NS_OFFCPU_CODE_AFTER] = {};

	if (!stack || count < 2)
		return count;
	if (bpf_probe_read_user(code, sizeof(code),
				(void *)stack->frames[1] - NS_OFFCPU_CODE_BEFORE))
		return 1;
	return returns_here(code) ? count : 1;
}

#endif
