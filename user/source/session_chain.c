// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Processes that join because a chain of waits passes through them: what woke a thread of a
 * watched process after a long wait. From then on their own threads' waits are told, so the
 * second time it is known what the waker had itself been waiting for.
 */
#include <unistd.h>

#include "bpf/times.h"
#include "user/base/log.h"
#include "user/source/session_parts.h"

#define INIT_TGID 1

uint32_t session__role_of(void *context, uint32_t tgid)
{
	struct session *session = context;
	struct ns_proc_state proc = {0};

	if (bpf_map_lookup_elem(bpf_map__fd(session->skel->maps.procs), &tgid, &proc))
		return 0;
	return ns_proc_role(&proc);
}

/* How many processes lie between this one and a target or its peer. */
static uint32_t depth_of(const struct session *session, uint32_t tgid)
{
	size_t i;

	for (i = 0; i < session->chain_count; i++)
		if (session->chain[i].tgid == tgid)
			return session->chain[i].depth;
	return 0;
}

static bool is_known(const struct session *session, uint32_t tgid)
{
	size_t i;

	for (i = 0; i < session->set.count; i++)
		if (session->set.processes[i].tgid == tgid)
			return true;
	return depth_of(session, tgid) > 0;
}

void session__chain_ended(struct session *session, uint32_t tgid)
{
	for (size_t i = 0; i < session->chain_count; i++)
		session->chain[i].ended |= session->chain[i].tgid == tgid;
}

static struct chain_process *find_place(struct session *session)
{
	if (session->chain_count < CHAIN_PROCESSES)
		return &session->chain[session->chain_count];
	for (size_t i = 0; i < CHAIN_PROCESSES; i++)
		if (session->chain[i].ended)
			return &session->chain[i];
	return NULL;
}

void session__join_chain(void *context, const struct ns_wait *wait,
			 const struct ns_task_entry *waker)
{
	struct session *session = context;
	struct ns_proc_state proc = {.chain = 1};
	struct chain_process *place = find_place(session);
	uint32_t depth = depth_of(session, wait->head.tgid) + 1;

	if (ns_passed(wait->off_ts, wait->head.ts) < session->options.threshold_ns ||
	    depth > CHAIN_DEPTH || waker->tgid == INIT_TGID || (pid_t)waker->view_tgid == getpid())
		return;
	/* An ended one is in no table any more, and the records of its last moments still come. */
	if (is_known(session, waker->tgid))
		return;
	if (!place) {
		__atomic_fetch_add(&session->skel->bss->lost[NS_LOST_PROCESSES], 1,
				   __ATOMIC_RELAXED);
		return;
	}
	if (bpf_map_update_elem(bpf_map__fd(session->skel->maps.procs), &waker->tgid, &proc,
				BPF_NOEXIST))
		return;
	session->chain_count += place == &session->chain[session->chain_count];
	*place = (struct chain_process){waker->tgid, depth, false};
	session->skel->bss->proc_hints[waker->tgid & (NS_PROC_HINTS - 1)] =
		(struct ns_proc_hint){1, 1};
	log__debug("process %u woke a watched one: it is watched too", waker->tgid);
}
