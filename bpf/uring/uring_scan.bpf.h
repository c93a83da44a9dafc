/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rings that exist already when we come, and what is registered with them: a TCP socket there
 * may have no descriptor any more, so no scan of descriptors finds it.
 */
#ifndef NETSTALL_BPF_URING_URING_SCAN_BPF_H
#define NETSTALL_BPF_URING_URING_SCAN_BPF_H

/* Global, so that the verifier looks at it once and not for each place that calls it. */
__noinline int scan_socket(__u64 key, __u32 tgid, __u32 fd)
{
	struct sock *sk = (struct sock *)key;

	if (!sk || !is_tcp_stream(sk))
		return 0;
	if (scan_mode == NS_SCAN_TARGETS)
		scan_target(sk, tgid, fd);
	else
		scan_peer(sk, tgid, fd);
	return 0;
}

/* Global, as above. */
__noinline int scan_registered(__u64 ring, __u32 index, __u32 tgid)
{
	scan_socket((__u64)file_socket(registered_file(ring, index)), tgid, NS_FD_UNKNOWN);
	return 0;
}

/* Of a process that nobody watches, with whom a target may speak. Global, as above. */
__noinline int scan_files_of_stranger(__u64 ring, __u32 tgid)
{
	__u32 files, i;

	if (!ring)
		return 0;
	files = registered_files((struct io_ring_ctx *)ring);
	for (i = 0; i < NS_SCAN_STRANGERS; i++) {
		if (i >= files)
			break;
		scan_registered(ring, i, tgid);
	}
	return 0;
}

/* A process that has inherited a ring is not its owner: the first one seen is, which made it. */
static __always_inline void scan_ring(struct file *file, __u32 tgid, __u32 fd)
{
	bool is_ours = proc_role(tgid);
	struct io_ring_ctx *ctx;
	__u64 key;

	if ((!is_ours && scan_mode != NS_SCAN_PEERS) || !is_ring_file(file))
		return;
	ctx = BPF_CORE_READ(file, private_data);
	key = (__u64)ctx;
	if (!is_ours)
		scan_files_of_stranger(key, tgid);
	else if (ctx && !bpf_map_lookup_elem(&rings, &key))
		adopt_ring(ctx, tgid, fd, NS_ORIGIN_EXISTED);
}

/* ---- what changes later ---- */

/* enum io_uring_register_op, include/uapi/linux/io_uring.h */
#define NS_REGISTER_FILES         2
#define NS_UNREGISTER_FILES       3
#define NS_REGISTER_EVENTFD       4
#define NS_REGISTER_EVENTFD_ASYNC 7
#define NS_REGISTER_FILES2        13

static __always_inline void on_ring_register(struct io_ring_ctx *ctx, __u32 what)
{
	struct ns_ring_state *ring = watched_ring(ctx);

	if (!ring)
		return;
	switch (what) {
	case NS_REGISTER_FILES:
	case NS_UNREGISTER_FILES:
	case NS_REGISTER_FILES2:
		read_ring(ctx, ring);
		tell_ring(ring);
		break;
	case NS_REGISTER_EVENTFD:
	case NS_REGISTER_EVENTFD_ASYNC:
		note_eventfd((__u64)ctx);
		break;
	}
}

#endif
