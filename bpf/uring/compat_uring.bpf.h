/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What differs from kernel to kernel in io_uring; as in compat.bpf.h. */
#ifndef NETSTALL_BPF_URING_COMPAT_URING_BPF_H
#define NETSTALL_BPF_URING_COMPAT_URING_BPF_H

/*
 * io_ring_ctx.nr_user_files went into the table with 3597f2786b68
 * ("io_uring/rsrc: unify file and buffer resource tables"), 6.13.
 */
struct io_rsrc_data___nr {
	unsigned int nr;
} __attribute__((preserve_access_index));

struct io_file_table___data {
	struct io_rsrc_data___nr data;
} __attribute__((preserve_access_index));

struct io_ring_ctx___table {
	struct io_file_table___data file_table;
} __attribute__((preserve_access_index));

static __always_inline __u32 registered_files(struct io_ring_ctx *ctx)
{
	struct io_ring_ctx___table *table = (void *)ctx;

	if (bpf_core_field_exists(ctx->nr_user_files))
		return BPF_CORE_READ(ctx, nr_user_files);
	if (bpf_core_field_exists(table->file_table.data.nr))
		return BPF_CORE_READ(table, file_table.data.nr);
	return 0;
}

#define NS_SQ_CQ_OVERFLOW 2 /* IORING_SQ_CQ_OVERFLOW, include/uapi/linux/io_uring.h */

/* 5.10 has a plain number here. It is not needed there: its tracepoint comes before the queue. */
struct io_rings___flags {
	struct {
		int counter;
	} sq_flags;
} __attribute__((preserve_access_index));

/* Does the kernel keep completions for which the ring's queue has no room? */
static __always_inline bool has_overflowed(struct io_ring_ctx *ctx)
{
	struct io_rings___flags *rings = (void *)BPF_CORE_READ(ctx, rings);

	return bpf_core_field_exists(rings->sq_flags.counter) &&
	       BPF_CORE_READ(rings, sq_flags.counter) & NS_SQ_CQ_OVERFLOW;
}

/* io_kiocb.user_data is in .cqe since cef216fc32d7 ("io_uring: explicitly keep a CQE in
 * io_kiocb"), 5.19. */
struct io_kiocb___user_data {
	__u64 user_data;
} __attribute__((preserve_access_index));

static __always_inline __u64 request_user_data(struct io_kiocb *req)
{
	struct io_kiocb___user_data *old = (void *)req;

	if (bpf_core_field_exists(old->user_data))
		return BPF_CORE_READ(old, user_data);
	return BPF_CORE_READ(req, cqe.user_data);
}

/* bpf_get_current_task_btf(): as in current_regs() above. */
static __always_inline __u64 own_switches(void)
{
	struct task_struct *task;

	if (NS_HAS_TASK_PT_REGS)
		return bpf_get_current_task_btf()->nvcsw;
	task = (struct task_struct *)bpf_get_current_task();
	return BPF_CORE_READ(task, nvcsw);
}

#endif
