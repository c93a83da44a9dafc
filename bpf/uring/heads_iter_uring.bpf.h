/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs over the keys of io_uring's tables, run by the reader: nothing says when a ring ends. */
#ifndef NETSTALL_BPF_URING_HEADS_ITER_URING_BPF_H
#define NETSTALL_BPF_URING_HEADS_ITER_URING_BPF_H

#define NS_REF_STATES       3         /* __PERCPU_REF_ATOMIC and _DEAD: lib/percpu-refcount.c */
#define NS_SETUP_R_DISABLED (1u << 6) /* cleared when the ring is enabled */

/*
 * A ring that ends has its references closed, and they stay so in its memory until that is used
 * again, for whatever: then what it says twice does not agree any more. Linux before 6.1 closes and
 * opens them again for a registration as well: only a ring that is found so twice is gone.
 */
static __always_inline bool looks_gone(struct io_ring_ctx *ctx, const struct ns_ring_state *ring)
{
	__u64 references = BPF_CORE_READ(ctx, refs.percpu_count_ptr);
	__u32 flags = BPF_CORE_READ(ctx, flags);
	__u32 entries = BPF_CORE_READ(ctx, cq_entries);

	return !references || !entries || BPF_CORE_READ(ctx, rings, cq_ring_entries) != entries ||
	       references & NS_REF_STATES || (flags ^ ring->flags) & ~NS_SETUP_R_DISABLED;
}

/* These three are global, so that the verifier looks at each once and not for each key in hand. */
__noinline int look_at_ring(__u64 key)
{
	struct ns_ring_state *ring = bpf_map_lookup_elem(&rings, &key);

	if (!ring)
		return 0;
	if (looks_gone((struct io_ring_ctx *)key, ring)) {
		ring->gone++;
		return 0;
	}
	ring->gone = 0;
	read_ring((struct io_ring_ctx *)key, ring);
	return 0;
}

__noinline int look_at_op(__u64 in_ring, __u64 request)
{
	struct ns_op_key key = {.ring = in_ring, .request = request};
	__u64 ring = in_ring & ~(__u64)(NS_BY_DATA | NS_BY_NOTIF);
	struct ns_op_state *state = bpf_map_lookup_elem(&ops, &key);

	if (state && (!bpf_map_lookup_elem(&rings, &ring) ||
		      (sweep_done && !state->under_way && in_ring == ring)))
		bpf_map_delete_elem(&ops, &key);
	return 0;
}

/* Its registered files from scan_from on. */
__noinline int scan_ring_files(__u64 key)
{
	struct ns_ring_state *ring = bpf_map_lookup_elem(&rings, &key);
	__u32 files, tgid, i;

	if (!ring)
		return 0;
	files = ring->files;
	tgid = ring->tgid;
	if (files > scan_most)
		scan_most = files;
	for (i = 0; i < NS_SCAN_FILES; i++) {
		if (scan_from + i >= files)
			break;
		scan_registered(key, scan_from + i, tgid);
	}
	return 0;
}

SEC("?raw_tp")
int each_ring(void *ctx)
{
	for (__u32 i = 0; i < NS_KEYS_IN_HAND && i < keys_in_hand; i++)
		look_at_ring(in_hand[i].key);
	return 0;
}

/* Drops entries that nothing needs: of rings that are gone; with sweep_done of all done. */
SEC("?raw_tp")
int each_op(void *ctx)
{
	for (__u32 i = 0; i < NS_KEYS_IN_HAND && i < keys_in_hand; i++)
		look_at_op(in_hand[i].key, in_hand[i].more);
	return 0;
}

/* What is registered with the rings, so many of each at a time; see session_scan.c. */
SEC("?raw_tp")
int each_ring_files(void *ctx)
{
	for (__u32 i = 0; i < NS_KEYS_IN_HAND && i < keys_in_hand; i++)
		scan_ring_files(in_hand[i].key);
	return 0;
}

#endif
