/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What both objects, netstall.bpf.c and offwake.bpf.c, are made with. */
#ifndef NETSTALL_COMMON_BPF_H
#define NETSTALL_COMMON_BPF_H

#define NS_TABLE(name_, type_, key_, value_, entries_)                                             \
	struct {                                                                                   \
		__uint(type, type_);                                                               \
		__uint(max_entries, entries_);                                                     \
		__type(key, key_);                                                                 \
		__type(value, value_);                                                             \
	} name_ SEC(".maps")

/* Is the task called so? wanted: NS_COMM_LEN bytes, filled up with 0. */
static __always_inline bool has_comm(struct task_struct *task, const volatile char *wanted)
{
	char comm[NS_COMM_LEN] = {};
	int i;

	BPF_CORE_READ_STR_INTO(&comm, task, comm);
	for (i = 0; i < NS_COMM_LEN; i++) {
		if (comm[i] != wanted[i])
			return false;
		if (!comm[i])
			return true;
	}
	return true;
}

#endif
