/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Iterators over io_uring's tables, run by the reader: nothing says when a ring ends. */
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

/* The ring that the iterator is at, and its key; NULL behind the last. */
static __always_inline struct ns_ring_state *ring_at(struct bpf_iter__bpf_map_elem *ctx, __u64 *key)
{
	__u64 *element = ctx->key;

	if (!element)
		return NULL;
	*key = *element;
	return bpf_map_lookup_elem(&rings, key);
}

SEC("?iter/bpf_map_elem")
int iter_rings(struct bpf_iter__bpf_map_elem *ctx)
{
	struct ns_ring_state *ring;
	__u64 key;

	ring = ring_at(ctx, &key);
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

/* Keys of entries that nothing needs: of rings that are gone; with sweep_done of all done. */
SEC("?iter/bpf_map_elem")
int iter_ops(struct bpf_iter__bpf_map_elem *ctx)
{
	struct ns_op_key *element = ctx->key, key;
	struct ns_op_state *state = ctx->value;
	__u64 ring;

	if (!element || !state)
		return 0;
	key = *element;
	ring = key.ring & ~(__u64)(NS_BY_DATA | NS_BY_NOTIF);
	if (bpf_map_lookup_elem(&rings, &ring) &&
	    (!sweep_done || state->under_way || key.ring != ring))
		return 0;
	bpf_seq_write(ctx->meta->seq, &key, sizeof(key));
	return 0;
}

/* What is registered with the rings, so many of each at a time; see session_scan.c. */
SEC("?iter/bpf_map_elem")
int iter_ring_files(struct bpf_iter__bpf_map_elem *ctx)
{
	struct ns_ring_state *ring;
	__u64 key;

	ring = ring_at(ctx, &key);
	if (ring)
		scan_ring_files(key, ring);
	return 0;
}

#endif
