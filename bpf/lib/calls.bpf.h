/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* System calls: their numbers and arguments by machine, and what each one sleeps for. */
#ifndef NETSTALL_BPF_LIB_CALLS_BPF_H
#define NETSTALL_BPF_LIB_CALLS_BPF_H

/* A system call's number and the arguments that matter here. */
struct syscall_args {
	__u32 number;
	__u32 arg0;
	__u32 arg1;
	__u32 arg2;
	__u32 arg3;
	__u32 has_arg3; /* 64 bits of them: pointers, NULL or not */
	__u32 has_arg4;
};

#if defined(__TARGET_ARCH_x86)

#define NS_SYS_WRITE    1
#define NS_SYS_WRITEV   20
#define NS_SYS_SENDFILE 40
#define NS_SYS_SENDTO   44
#define NS_SYS_SENDMSG  46
#define NS_SYS_SPLICE   275
#define NS_SYS_PWRITEV2 328
#define NS_SYS_SENDMMSG 307

#define NS_SYS_READ        0
#define NS_SYS_POLL        7
#define NS_SYS_READV       19
#define NS_SYS_SELECT      23
#define NS_SYS_CONNECT     42
#define NS_SYS_RECVFROM    45
#define NS_SYS_RECVMSG     47
#define NS_SYS_FUTEX       202
#define NS_SYS_EPOLL_WAIT  232
#define NS_SYS_PSELECT6    270
#define NS_SYS_PPOLL       271
#define NS_SYS_EPOLL_PWAIT 281
#define NS_SYS_RECVMMSG    299
#define NS_SYS_PREADV2     327

#define NS_SYS_NANOSLEEP       35
#define NS_SYS_CLOCK_NANOSLEEP 230

#define NS_SYS_CLONE 56
#define NS_SYS_VFORK 58

static __always_inline __u32 syscall_number(struct pt_regs *regs)
{
	long number = BPF_CORE_READ(regs, orig_ax);

	return number >= 0 && number < 4096 ? number : NS_SYSCALL_NONE;
}

/* Where every switch asks: what bpf_task_pt_regs() returns is read by a plain load. */
static __always_inline __u32 task_call(struct task_struct *task)
{
	long number;

	if (!NS_HAS_TASK_PT_REGS)
		return syscall_number(stack_regs(task));
	number = ((struct pt_regs *)bpf_task_pt_regs(task))->orig_ax;
	return number >= 0 && number < 4096 ? number : NS_SYSCALL_NONE;
}

static __always_inline __u64 first_argument(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, di);
}

static __always_inline __u64 second_argument(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, si);
}

static __always_inline __u64 fifth_argument(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, r8);
}

/* The first two arguments of the call that a thread sleeps in; as task_call(). */
static __always_inline void task_arguments(struct task_struct *task, __u32 *first, __u32 *second)
{
	struct pt_regs *regs;

	if (!NS_HAS_TASK_PT_REGS) {
		regs = stack_regs(task);
		*first = BPF_CORE_READ(regs, di);
		*second = BPF_CORE_READ(regs, si);
		return;
	}
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	*first = regs->di;
	*second = regs->si;
}

static __always_inline void read_syscall(struct pt_regs *regs, struct syscall_args *args)
{
	args->number = syscall_number(regs);
	args->arg0 = BPF_CORE_READ(regs, di);
	args->arg1 = BPF_CORE_READ(regs, si);
	args->arg2 = BPF_CORE_READ(regs, dx);
	args->arg3 = BPF_CORE_READ(regs, r10);
	args->has_arg3 = BPF_CORE_READ(regs, r10) != 0;
	args->has_arg4 = BPF_CORE_READ(regs, r8) != 0;
}

/* Where it stands in user mode. */
static __always_inline void read_position(struct pt_regs *regs, __u64 *ip, __u64 *sp)
{
	*ip = BPF_CORE_READ(regs, ip);
	*sp = BPF_CORE_READ(regs, sp);
}

static __always_inline __u64 frame_pointer(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, bp);
}

static __always_inline __u64 user_sp(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, sp);
}

/* By enum ns_call_reg. */
static __always_inline void read_call_regs(struct pt_regs *regs, __u64 *out)
{
	out[NS_REG_IP] = BPF_CORE_READ(regs, ip);
	out[NS_REG_SP] = BPF_CORE_READ(regs, sp);
	out[NS_REG_BP] = BPF_CORE_READ(regs, bp);
	out[NS_REG_BX] = BPF_CORE_READ(regs, bx);
	out[NS_REG_R12] = BPF_CORE_READ(regs, r12);
	out[NS_REG_R12 + 1] = BPF_CORE_READ(regs, r13);
	out[NS_REG_R12 + 2] = BPF_CORE_READ(regs, r14);
	out[NS_REG_R12 + 3] = BPF_CORE_READ(regs, r15);
}

#elif defined(__TARGET_ARCH_arm64)

#define NS_SYS_WRITE       64
#define NS_SYS_WRITEV      66
#define NS_SYS_SENDFILE    71
#define NS_SYS_SPLICE      76
#define NS_SYS_SENDTO      206
#define NS_SYS_SENDMSG     211
#define NS_SYS_SENDMMSG    269
#define NS_SYS_PWRITEV2    287

/* Without the calls that only older machines have: a number that none has. */
#define NS_SYS_POLL        0xfff0
#define NS_SYS_SELECT      0xfff1
#define NS_SYS_EPOLL_WAIT  0xfff2
#define NS_SYS_EPOLL_PWAIT 22
#define NS_SYS_READ        63
#define NS_SYS_READV       65
#define NS_SYS_PSELECT6    72
#define NS_SYS_PPOLL       73
#define NS_SYS_FUTEX       98
#define NS_SYS_CONNECT     203
#define NS_SYS_RECVFROM    207
#define NS_SYS_RECVMSG     212
#define NS_SYS_RECVMMSG    243
#define NS_SYS_PREADV2     286

#define NS_SYS_NANOSLEEP       101
#define NS_SYS_CLOCK_NANOSLEEP 115

#define NS_SYS_CLONE 220
#define NS_SYS_VFORK 0xfff3

static __always_inline __u32 syscall_number(struct pt_regs *regs)
{
	int number = BPF_CORE_READ(regs, syscallno);

	return number >= 0 ? number : NS_SYSCALL_NONE;
}

static __always_inline __u32 task_call(struct task_struct *task)
{
	return syscall_number(task_regs(task));
}

static __always_inline __u64 first_argument(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_x0);
}

static __always_inline __u64 second_argument(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, user_regs.regs[1]);
}

static __always_inline __u64 fifth_argument(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, user_regs.regs[4]);
}

/* The first two arguments of the call that a thread sleeps in. */
static __always_inline void task_arguments(struct task_struct *task, __u32 *first, __u32 *second)
{
	struct pt_regs *regs = task_regs(task);

	*first = BPF_CORE_READ(regs, orig_x0);
	*second = BPF_CORE_READ(regs, user_regs.regs[1]);
}

static __always_inline void read_syscall(struct pt_regs *regs, struct syscall_args *args)
{
	args->number = syscall_number(regs);
	args->arg0 = BPF_CORE_READ(regs, orig_x0);
	args->arg1 = BPF_CORE_READ(regs, user_regs.regs[1]);
	args->arg2 = BPF_CORE_READ(regs, user_regs.regs[2]);
	args->arg3 = BPF_CORE_READ(regs, user_regs.regs[3]);
	args->has_arg3 = BPF_CORE_READ(regs, user_regs.regs[3]) != 0;
	args->has_arg4 = BPF_CORE_READ(regs, user_regs.regs[4]) != 0;
}

/* Where it stands in user mode. */
static __always_inline void read_position(struct pt_regs *regs, __u64 *ip, __u64 *sp)
{
	*ip = BPF_CORE_READ(regs, user_regs.pc);
	*sp = BPF_CORE_READ(regs, user_regs.sp);
}

static __always_inline __u64 frame_pointer(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, user_regs.regs[29]);
}

static __always_inline __u64 user_sp(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, user_regs.sp);
}

/* By enum ns_call_reg. */
static __always_inline void read_call_regs(struct pt_regs *regs, __u64 *out)
{
	int i;

	out[NS_REG_IP] = BPF_CORE_READ(regs, user_regs.pc);
	out[NS_REG_SP] = BPF_CORE_READ(regs, user_regs.sp);
	out[NS_REG_FP] = BPF_CORE_READ(regs, user_regs.regs[29]);
	out[NS_REG_LR] = BPF_CORE_READ(regs, user_regs.regs[30]);
#pragma unroll
	for (i = 0; i < 10; i++)
		out[NS_REG_X19 + i] = BPF_CORE_READ(regs, user_regs.regs[19 + i]);
}

#endif

/* On every machine. */
#define NS_SYS_IO_URING_ENTER 426
#define NS_SYS_CLONE3         435
#define NS_SYS_EPOLL_PWAIT2   441

/* What a call sleeps for. */
enum call_kind {
	NS_CALL_OTHER = 0,
	NS_CALL_ON_FD = 1,    /* its first argument */
	NS_CALL_ON_EPOLL = 2, /* what the set of its first argument holds */
	NS_CALL_ON_POLL = 3,  /* what it lists in its memory */
	NS_CALL_ON_SELECT = 4,
};

static __always_inline enum call_kind call_kind(__u32 number)
{
	switch (number) {
	case NS_SYS_READ:
	case NS_SYS_READV:
	case NS_SYS_PREADV2:
	case NS_SYS_RECVFROM:
	case NS_SYS_RECVMSG:
	case NS_SYS_RECVMMSG:
	case NS_SYS_WRITE:
	case NS_SYS_WRITEV:
	case NS_SYS_PWRITEV2:
	case NS_SYS_SENDTO:
	case NS_SYS_SENDMSG:
	case NS_SYS_SENDMMSG:
	case NS_SYS_SENDFILE:
	case NS_SYS_SPLICE:
	case NS_SYS_CONNECT:
		return NS_CALL_ON_FD;
	case NS_SYS_EPOLL_WAIT:
	case NS_SYS_EPOLL_PWAIT:
	case NS_SYS_EPOLL_PWAIT2:
		return NS_CALL_ON_EPOLL;
	case NS_SYS_POLL:
	case NS_SYS_PPOLL:
		return NS_CALL_ON_POLL;
	case NS_SYS_SELECT:
	case NS_SYS_PSELECT6:
		return NS_CALL_ON_SELECT;
	}
	return NS_CALL_OTHER;
}

static __always_inline bool waits_to_read(__u32 call)
{
	switch (call) {
	case NS_SYS_READ:
	case NS_SYS_READV:
	case NS_SYS_PREADV2:
	case NS_SYS_RECVFROM:
	case NS_SYS_RECVMSG:
	case NS_SYS_RECVMMSG:
		return true;
	}
	return call_kind(call) >= NS_CALL_ON_EPOLL;
}

static __always_inline bool makes_child(__u32 call)
{
	return call == NS_SYS_CLONE || call == NS_SYS_VFORK || call == NS_SYS_CLONE3;
}

/* The time-out of a call that sleeps, as ns_wait.arg2 has it. */
static __always_inline __u32 call_timeout(const struct syscall_args *args)
{
	switch (args->number) {
	case NS_SYS_POLL:
		return args->arg2;
	case NS_SYS_EPOLL_WAIT:
	case NS_SYS_EPOLL_PWAIT:
		return args->arg3;
	case NS_SYS_FUTEX:
	case NS_SYS_EPOLL_PWAIT2:
		return args->has_arg3 ? 0 : NS_TIMEOUT_NEVER;
	case NS_SYS_PPOLL:
		return args->arg2 ? 0 : NS_TIMEOUT_NEVER;
	case NS_SYS_SELECT:
	case NS_SYS_PSELECT6:
		return args->has_arg4 ? 0 : NS_TIMEOUT_NEVER;
	}
	return 0;
}

#define NS_MSG_MORE      0x8000 /* include/linux/socket.h */
#define NS_SPLICE_F_MORE 4      /* include/linux/splice.h */

/* Is this a call that can send? The cheap question before the next one. */
static __always_inline bool is_send_call(__u32 number)
{
	switch (number) {
	case NS_SYS_SENDTO:
	case NS_SYS_SENDMMSG:
	case NS_SYS_SENDMSG:
	case NS_SYS_WRITE:
	case NS_SYS_WRITEV:
	case NS_SYS_PWRITEV2:
	case NS_SYS_SENDFILE:
	case NS_SYS_SPLICE:
		return true;
	}
	return false;
}

/* The socket's fd and the message flags of the send that current is in, if it is in one. */
static __always_inline void read_send_call(__u32 *fd, __u32 *flags)
{
	struct syscall_args args;

	*fd = NS_FD_UNKNOWN;
	*flags = 0;
	read_syscall(current_regs(), &args);
	switch (args.number) {
	case NS_SYS_SENDTO:
	case NS_SYS_SENDMMSG:
		*flags = args.arg3 & NS_MSG_MORE;
		*fd = args.arg0;
		break;
	case NS_SYS_SENDMSG:
		*flags = args.arg2 & NS_MSG_MORE;
		*fd = args.arg0;
		break;
	case NS_SYS_WRITE:
	case NS_SYS_WRITEV:
	case NS_SYS_PWRITEV2:
	case NS_SYS_SENDFILE:
		*fd = args.arg0;
		break;
	case NS_SYS_SPLICE:
		*fd = args.arg2;
		break;
	}
}

#endif
