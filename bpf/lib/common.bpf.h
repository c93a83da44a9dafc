/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What all programs are made with: tables, and when they note anything. */
#ifndef NETSTALL_BPF_LIB_COMMON_BPF_H
#define NETSTALL_BPF_LIB_COMMON_BPF_H

#define NS_TABLE(name_, type_, key_, value_, entries_)                                             \
	struct {                                                                                   \
		__uint(type, type_);                                                               \
		__uint(max_entries, entries_);                                                     \
		__type(key, key_);                                                                 \
		__type(value, value_);                                                             \
	} name_ SEC(".maps")

/*
 * Programs come one by one and leave one by one, which takes long beside other tracers: meanwhile
 * some facts are seen and others are not. So nothing is noted but between two instants, when all
 * programs are there. 0: the window has not begun; NS_WINDOW_OPEN; else when it ended.
 * User space alone writes it.
 */
__u64 window_end;
__u64 window_begin; /* user space alone writes it, before that one */

static __always_inline bool in_window(void)
{
	return window_end == NS_WINDOW_OPEN;
}

/* Now, or the end of the window where that is over. */
static __always_inline __u64 window_time_at(__u64 now)
{
	__u64 end = window_end;

	return now < end ? now : end;
}

static __always_inline __u64 window_time(void)
{
	return window_time_at(bpf_ktime_get_ns());
}

/* Is this the name, cut where the kernel cuts it? wanted: NS_COMM_LEN bytes, filled up with 0. */
static __always_inline bool is_comm(const char *name, const volatile char *wanted)
{
	char comm[NS_COMM_LEN] = {};
	int i;

	bpf_probe_read_kernel_str(comm, sizeof(comm), name);
	for (i = 0; i < NS_COMM_LEN; i++) {
		if (comm[i] != wanted[i])
			return false;
		if (!comm[i])
			return true;
	}
	return true;
}

static __always_inline bool has_comm(struct task_struct *task, const volatile char *wanted)
{
	return is_comm((const char *)__builtin_preserve_access_index(&task->comm), wanted);
}

/*
 * A head that is one call: what it hangs on, its name in the plan, the call, the arguments that the
 * hook hands over.
 */
#define HEAD(attach, name, call, args...) HEAD_AS(BPF_PROG, attach, name, call, ##args)

#define KPROBE_HEAD(attach, name, call, args...) HEAD_AS(BPF_KPROBE, attach, name, call, ##args)
#define KRETPROBE_HEAD(attach, name, call, args...)                                                \
	HEAD_AS(BPF_KRETPROBE, attach, name, call, ##args)

#define HEAD_AS(kind, attach, name, call, args...)                                                 \
	SEC(attach)                                                                                \
	int kind(name, ##args)                                                                     \
	{                                                                                          \
		call;                                                                              \
		return 0;                                                                          \
	}

#endif
