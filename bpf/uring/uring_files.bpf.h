/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A ring and files: which file is a ring, which ones are registered with it, and which eventfd it
 * tells of its completions.
 */
#ifndef NETSTALL_BPF_URING_URING_FILES_BPF_H
#define NETSTALL_BPF_URING_URING_FILES_BPF_H

#define NS_RING_NAME "[io_uring]"

#define NS_SLOT_FLAGS 7ull /* low bits of file_ptr are the kernel's */

/* file.f_path is a union with its writable twin from 7.x on: only the way there counts. */
struct qstr___name {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry___name {
	struct qstr___name d_name;
} __attribute__((preserve_access_index));

struct path___dentry {
	struct dentry___name *dentry;
} __attribute__((preserve_access_index));

struct file___path {
	struct path___dentry f_path;
} __attribute__((preserve_access_index));

/* An array of slots until fbbb8e991d86 (6.13), then of nodes. */
struct io_fixed_file___slot {
	unsigned long file_ptr;
} __attribute__((preserve_access_index));

struct io_file_table___files {
	struct io_fixed_file___slot *files;
} __attribute__((preserve_access_index));

struct io_ring_ctx___files {
	struct io_file_table___files file_table;
} __attribute__((preserve_access_index));

struct io_rsrc_node___file {
	unsigned long file_ptr;
} __attribute__((preserve_access_index));

struct io_rsrc_data___nodes {
	struct io_rsrc_node___file **nodes;
} __attribute__((preserve_access_index));

struct io_file_table___nodes {
	struct io_rsrc_data___nodes data;
} __attribute__((preserve_access_index));

struct io_ring_ctx___nodes {
	struct io_file_table___nodes file_table;
} __attribute__((preserve_access_index));

static __always_inline bool is_ring_file(struct file *file)
{
	const char wanted[] = NS_RING_NAME;
	struct file___path *named = (void *)file;
	const unsigned char *name = BPF_CORE_READ(named, f_path.dentry, d_name.name);
	char found[sizeof(wanted)] = {};
	__u32 i;

	if (bpf_probe_read_kernel(found, sizeof(found), name))
		return false;
	for (i = 0; i < sizeof(wanted); i++) {
		if (found[i] != wanted[i])
			return false;
	}
	return true;
}

static __always_inline struct file *registered_file(__u64 ring, __u32 index)
{
	struct io_ring_ctx___files *old = (void *)ring;
	struct io_ring_ctx___nodes *new = (void *)ring;
	struct io_fixed_file___slot *slots;
	struct io_rsrc_node___file **nodes, *node = NULL;
	unsigned long pointer = 0;

	if (bpf_core_field_exists(old->file_table.files)) {
		slots = BPF_CORE_READ(old, file_table.files);
		if (slots)
			bpf_probe_read_kernel(&pointer, sizeof(pointer),
					      (void *)slots + index * sizeof(pointer));
	} else if (bpf_core_field_exists(new->file_table.data.nodes)) {
		nodes = BPF_CORE_READ(new, file_table.data.nodes);
		if (nodes)
			bpf_probe_read_kernel(&node, sizeof(node), nodes + index);
		if (node)
			pointer = BPF_CORE_READ(node, file_ptr);
	}
	return (struct file *)(pointer & ~NS_SLOT_FLAGS);
}

/* What an SQE's fd means: a descriptor, or a slot of the ring's. */
static __always_inline __u64 file_in_sqe(__u64 fdtable, __u64 ring, __u32 fd, __u32 flags)
{
	return flags & NS_SQE_FIXED_FILE ? (__u64)registered_file(ring, fd)
					 : file_in_table(fdtable, fd);
}

static __always_inline struct file *file_of_sqe(struct task_struct *task, __u64 ring, __u32 fd,
						__u32 flags)
{
	return (struct file *)file_in_sqe((__u64)BPF_CORE_READ(task, files, fdt), ring, fd, flags);
}

static __always_inline __u64 sock_of_sqe(__u64 fdtable, __u64 ring, __u32 fd, __u32 flags)
{
	__u64 file = fd == NS_FD_UNKNOWN ? 0 : file_in_sqe(fdtable, ring, fd, flags);

	return file ? sock_in_file(file) : 0;
}

static __always_inline struct sock *socket_of_sqe(struct task_struct *task, __u64 ring, __u32 fd,
						  __u32 flags)
{
	return (struct sock *)sock_of_sqe((__u64)BPF_CORE_READ(task, files, fdt), ring, fd, flags);
}

/* A ring tells an eventfd of its completions: io_ring_ctx.io_ev_fd, 77bc59b49817 (5.18). */
struct io_ev_fd___ctx {
	void *cq_ev_fd;
} __attribute__((preserve_access_index));

struct io_ring_ctx___eventfd {
	void *cq_ev_fd;
	struct io_ev_fd___ctx *io_ev_fd;
} __attribute__((preserve_access_index));

static __always_inline __u64 ring_eventfd(__u64 ring)
{
	struct io_ring_ctx___eventfd *ctx = (void *)ring;
	struct io_ev_fd___ctx *listens;

	if (bpf_core_field_exists(ctx->cq_ev_fd))
		return (__u64)BPF_CORE_READ(ctx, cq_ev_fd);
	listens = BPF_CORE_READ(ctx, io_ev_fd);
	return listens ? (__u64)BPF_CORE_READ(listens, cq_ev_fd) : 0;
}

/* The ring listens to it from now on, or no more. */
static __always_inline void note_eventfd(__u64 ring)
{
	__u64 eventfd = ring_eventfd(ring), *known;

	if (!eventfd)
		return;
	known = bpf_map_lookup_elem(&ring_eventfds, &eventfd);
	/* Of several rings that share one it cannot be told which was meant. */
	if (known && *known && *known != ring && ring_eventfd(*known) == eventfd)
		ring = 0;
	bpf_map_update_elem(&ring_eventfds, &eventfd, &ring, BPF_ANY);
}

/* The watched ring that a file is, or whose eventfd it is; 0 none. Global: see file_in_table(). */
__noinline __u64 ring_in_file(__u64 file)
{
	__u64 key = file ? (__u64)BPF_CORE_READ((struct file *)file, private_data) : 0, *ring;

	if (!settings.trace || !key)
		return 0;
	if (bpf_map_lookup_elem(&rings, &key))
		return key;
	ring = bpf_map_lookup_elem(&ring_eventfds, &key);
	return ring && *ring && ring_eventfd(*ring) == key ? *ring : 0;
}

static __always_inline __u64 ring_of_file(struct file *file)
{
	return ring_in_file((__u64)file);
}

#endif
