// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a session knows only at its end: the totals of threads, and what was lost. */
#include <string.h>

#include "user/collect/session_parts.h"

static void tell_thread(struct session *session, uint32_t tid, const struct ns_thread_state *thread,
			uint64_t now)
{
	struct ns_thread_totals out = {.head = {.type = NS_THREAD_TOTALS, .len = sizeof(out)}};
	uint64_t since = thread->since && thread->since < now ? thread->since : now;

	out.head.ts = now;
	out.head.tgid = thread->tgid;
	out.head.tid = tid;
	out.on_cpu_ns = thread->on_cpu_ns;
	out.blocked_ns = thread->blocked_ns;
	out.runqueue_ns = thread->runqueue_ns;
	if (!thread->off)
		out.on_cpu_ns += now - since;
	else if (thread->wake_ts)
		out.runqueue_ns += now - since;
	else
		out.blocked_ns += now - since;
	out.voluntary = thread->voluntary;
	out.involuntary = thread->involuntary;
	out.migrations = thread->migrations;
	out.wakes = thread->wakes;
	out.empty_wakes = thread->empty_wakes;
	memcpy(out.comm, thread->comm, sizeof(out.comm));
	enrich__record(session->enrich, &out, sizeof(out));
}

void session__tell_threads(struct session *session, uint64_t now)
{
	int fd = bpf_map__fd(session->skel->maps.threads);
	struct ns_thread_state thread;
	uint32_t tid, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);

	while (more) {
		tid = next;
		more = !bpf_map_get_next_key(fd, &tid, &next);
		if (!bpf_map_lookup_elem(fd, &tid, &thread))
			tell_thread(session, tid, &thread, now);
	}
}

void session__tell_lost(struct session *session, uint64_t now)
{
	int kind;

	for (kind = 1; kind < NS_LOST_KINDS; kind++) {
		struct ns_lost out = {.head = {.type = NS_LOST, .len = sizeof(out), .ts = now},
				      .kind = kind,
				      .count = session->skel->bss->lost[kind]};

		if (out.count)
			session->sink(session->context, &out, sizeof(out));
	}
}
