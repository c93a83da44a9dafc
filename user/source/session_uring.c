// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* io_uring in a session: the counts of its operations, and rings that are gone. */
#include "user/base/clock.h"
#include "user/source/session_parts.h"

#define SWEEP_EVERY_NS 1000000000ull
#define GONE_LOOKS     2 /* in a row, until a ring is taken for gone */

static void tell_counts(struct session *session, uint64_t now)
{
	int fd = bpf_map__fd(session->skel->maps.uring_counts);
	struct ns_uring_totals out;
	struct ns_uring_key key, next;

	FOR_EACH_KEY(fd, &key, &next)
	{
		if (bpf_map_lookup_elem(fd, &key, &out))
			continue;
		out.head = (struct ns_head){
			.type = NS_URING_TOTALS, .len = sizeof(out), .ts = now, .tgid = key.tgid};
		out.opcode = key.opcode;
		enrich__record(session->enrich, &out, sizeof(out));
	}
}

static void tell_errors(struct session *session, uint64_t now)
{
	int fd = bpf_map__fd(session->skel->maps.uring_errors);
	struct ns_uring_error_key key, next;

	FOR_EACH_KEY(fd, &key, &next)
	{
		struct ns_uring_error out = {
			.head = {.type = NS_URING_ERROR, .len = sizeof(out), .ts = now}};

		if (bpf_map_lookup_elem(fd, &key, &out.count))
			continue;
		out.head.tgid = key.tgid;
		out.opcode = key.opcode;
		out.error = key.error;
		enrich__record(session->enrich, &out, sizeof(out));
	}
}

static void tell_ring(struct session *session, const struct ns_ring_state *ring, uint64_t now)
{
	struct ns_ring out = {
		.head = {.type = NS_RING, .len = sizeof(out), .ts = now, .tgid = ring->tgid}};

	ns_ring_fill(&out, ring);
	enrich__record(session->enrich, &out, sizeof(out));
}

/* Tells and drops what the last looks found to be gone. */
static bool drop_gone_rings(struct session *session)
{
	int fd = bpf_map__fd(session->skel->maps.rings);
	struct ns_ring_state ring;
	uint64_t key, next;
	bool dropped = false;

	FOR_EACH_KEY(fd, &key, &next)
	{
		if (bpf_map_lookup_elem(fd, &key, &ring) || ring.gone < GONE_LOOKS ||
		    bpf_map_delete_elem(fd, &key))
			continue;
		__atomic_sub_fetch(&session->skel->bss->rings_watched, 1, __ATOMIC_RELAXED);
		tell_ring(session, &ring, clock__now());
		dropped = true;
	}
	if (dropped)
		session->skel->bss->rings_full = 0;
	return dropped;
}

void session__sweep_uring(struct session *session, uint64_t now)
{
	bool full;

	if (!session->each[EACH_RING] || now - session->swept_ns < SWEEP_EVERY_NS ||
	    session->skel->bss->rings_watched <= 0)
		return;
	session->swept_ns = now;
	session__each(session, EACH_RING);
	full = session->skel->bss->lost[NS_LOST_OPS] != session->ops_lost_seen;
	session->ops_lost_seen = session->skel->bss->lost[NS_LOST_OPS];
	session->skel->bss->sweep_done = full;
	if (drop_gone_rings(session) || full)
		session__each(session, EACH_OP);
}

static void tell_rings(struct session *session, uint64_t now)
{
	int fd = bpf_map__fd(session->skel->maps.rings);
	struct ns_ring_state ring;
	uint64_t key, next;

	FOR_EACH_KEY(fd, &key, &next)
	{
		if (!bpf_map_lookup_elem(fd, &key, &ring))
			tell_ring(session, &ring, now);
	}
}

void session__tell_uring(struct session *session, uint64_t now)
{
	if (!session->each[EACH_RING])
		return;
	session__each(session, EACH_RING);
	tell_rings(session, now);
	tell_counts(session, now);
	tell_errors(session, now);
}
