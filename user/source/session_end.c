// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a session knows only at its end: the totals of threads, and what was lost. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/times.h"
#include "user/base/clock.h"
#include "user/source/session_parts.h"

/* For names, at most, where somebody waits for the totals that come behind them. */
#define NAMES_NS 1000000000ull
/* Between two looks at what was lost, at least. */
#define LOSSES_NS 100000000ull
/* So long behind a process's end its sums are told, and make room. */
#define SERVICES_NS 200000000ull

static void tell_thread(struct session *session, uint32_t tid, const struct ns_thread_state *thread,
			uint64_t now)
{
	struct ns_thread_totals out = {.head = {.type = NS_THREAD_TOTALS, .len = sizeof(out)}};
	uint64_t since = thread->since ? thread->since : now, woken = now;

	out.head.ts = now;
	out.head.tgid = thread->tgid;
	out.head.tid = tid;
	ns_thread_fill(&out, thread);
	if (thread->wake_ts && thread->wake_ts < now)
		woken = thread->wake_ts > since ? thread->wake_ts : since;
	if (!thread->off) {
		out.on_cpu_ns += ns_passed(since, now);
	} else {
		out.blocked_ns += ns_passed(since, woken);
		out.runqueue_ns += ns_passed(woken, now);
	}
	enrich__record(session->enrich, &out, sizeof(out));
}

void session__tell_threads(struct session *session, uint64_t now)
{
	int fd = bpf_map__fd(session->skel->maps.threads);
	struct ns_thread_state thread;
	uint32_t tid, next;

	FOR_EACH_KEY(fd, &tid, &next)
	{
		if (!bpf_map_lookup_elem(fd, &tid, &thread))
			tell_thread(session, tid, &thread, now);
	}
}

/* What has been lost of a kind, if that is more than was told. */
static void tell_lost(struct session *session, uint32_t kind, uint64_t count, uint64_t now)
{
	struct ns_lost out = {.head = {.type = NS_LOST, .len = sizeof(out), .ts = now},
			      .kind = kind,
			      .count = count,
			      .from_ts = session->lost_looked_ns};

	if (count <= session->lost_told[kind])
		return;
	session->lost_told[kind] = count;
	session->sink(session->context, &out, sizeof(out));
}

/* Runs of a program that the kernel left out; where it does not count them, before 5.12, 0. */
static uint64_t runs_left_out(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	return info.recursion_misses;
}

/* Of a program with a spare only what neither was run for is lost: at most the fewer of both. */
static uint64_t lost_runs_of(const struct session *session, const struct bpf_program *program)
{
	uint64_t own = runs_left_out(program), of_spare;
	const struct bpf_program *spare;
	char name[64];

	snprintf(name, sizeof(name), "%s_spare", bpf_program__name(program));
	spare = bpf_object__find_program_by_name(session->skel->obj, name);
	if (!spare || bpf_program__fd(spare) < 0)
		return own;
	of_spare = runs_left_out(spare);
	return own < of_spare ? own : of_spare;
}

static uint64_t lost_runs(const struct session *session)
{
	struct bpf_program *program;
	uint64_t count = 0;

	bpf_object__for_each_program(program, session->skel->obj)
	{
		if (!strstr(bpf_program__name(program), "_spare"))
			count += lost_runs_of(session, program);
	}
	return count;
}

void session__tell_lost(struct session *session, uint64_t now)
{
	for (uint32_t kind = 1; kind < NS_LOST_KINDS; kind++) {
		uint64_t count = session->skel->bss->lost[kind];

		if (kind == NS_LOST_RUNS)
			count += lost_runs(session);
		tell_lost(session, kind, count, now);
	}
}

void session__look_for_losses(struct session *session, uint64_t now)
{
	if (ns_passed(session->lost_looked_ns, now) < LOSSES_NS)
		return;
	for (uint32_t kind = 1; kind < NS_LOST_KINDS; kind++)
		tell_lost(session, kind, session->skel->bss->lost[kind], now);
	session->lost_looked_ns = now;
}

static void tell_service(struct session *session, const struct ns_service_key *key, uint64_t now,
			 bool last)
{
	struct ns_service out;

	if (bpf_map_lookup_elem(bpf_map__fd(session->skel->maps.services), key, &out) || !out.ends)
		return;
	out.head = (struct ns_head){
		.type = NS_SERVICE, .len = sizeof(out), .ts = now, .tgid = key->tgid};
	out.opener = key->opener;
	out.family = key->family ? key->family : AF_INET;
	memcpy(out.addr, key->addr, sizeof(out.addr));
	out.port = key->port;
	out.last = last;
	enrich__record(session->enrich, &out, sizeof(out));
}

void session__tell_services(struct session *session, uint64_t now)
{
	int fd = bpf_map__fd(session->skel->maps.services);
	struct ns_service_key key, next;

	FOR_EACH_KEY(fd, &key, &next)
	tell_service(session, &key, now, false);
}

void session__keep_room_for_others(struct session *session)
{
	const struct ns_service_key others = {0};
	const struct ns_service none = {0};

	bpf_map_update_elem(bpf_map__fd(session->skel->maps.services), &others, &none, BPF_NOEXIST);
}

void session__note_ended(struct session *session, uint32_t tgid, uint64_t ts)
{
	if (session->ended_count < ENDED_PROCESSES)
		session->ended[session->ended_count++] = (struct ended_process){tgid, ts};
}

static bool has_ended(const struct session *session, uint32_t tgid, uint64_t before_ts)
{
	for (size_t i = 0; i < session->ended_count; i++)
		if (session->ended[i].tgid == tgid && session->ended[i].ts <= before_ts)
			return true;
	return false;
}

/* Its connections close behind its end, as it is seen. */
void session__sweep_services(struct session *session, uint64_t now)
{
	int fd = bpf_map__fd(session->skel->maps.services);
	uint64_t before_ts = now - SERVICES_NS;
	struct ns_service_key key, next;
	size_t left = 0;

	if (!session->ended_count || session->ended[0].ts > before_ts)
		return;
	FOR_EACH_KEY(fd, &key, &next)
	{
		if (!key.tgid || !has_ended(session, key.tgid, before_ts))
			continue;
		tell_service(session, &key, now, true);
		bpf_map_delete_elem(fd, &key);
	}
	for (size_t i = 0; i < session->ended_count; i++)
		if (session->ended[i].ts > before_ts)
			session->ended[left++] = session->ended[i];
	session->ended_count = left;
}

void session__tell_totals(struct session *session)
{
	session__each(session, EACH_CONN);
	ring_buffer__consume(session->ring);
	enrich__settle(session->enrich, NAMES_NS);
	session__tell_services(session, clock__now());
	session__tell_uring(session, clock__now());
}
