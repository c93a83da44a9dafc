// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The programs of a session's plan, set up and loaded. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/source/session_parts.h"

#define QUIET_RINGBUF   (4u << 20)
#define MACHINE_RINGBUF (16u << 20)
#define VERBOSE_RINGBUF (32u << 20)
#define MOST_RINGBUF    (64u << 20)
#define LEAST_RINGBUF   4096u
#define EACH_CLOSES     1024 /* bytes of records when a connection does, of both its ends */
#define VITAL_SHARE     4    /* of the ring buffer, beside it */
#define PROFILE_THREADS 16384
#define CPU_HISTORIES   16384u /* of some 3 KB: what one CPU can keep busy, of NS_HISTORY_YOUNG */
#define MOST_HISTORIES  65536u
/* Where a table takes its memory as it fills; the kernel's own bound of it costs 16 B each. */
#define GROWING_CONNS (1u << 17)

/* Both ends of a connection on this host are entries. */
static void size_conns(struct session *session)
{
	struct netstall_bpf *skel = session->skel;
	struct bpf_map *const tables[] = {skel->maps.conns, skel->maps.tuples, skel->maps.active};
	bool grows = session->caps.grows;
	uint32_t most = session->options.max_conns;

	if (!most && grows)
		most = GROWING_CONNS;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		uint32_t each = tables[i] == skel->maps.active ? NS_ACTIVES : 1;

		if (most)
			bpf_map__set_max_entries(tables[i], each * most);
	}
}

/*
 * Large tables of which most programs use little get memory as they fill, where a kernel can. Not
 * that of threads: what fills it at a switch of the CPU, where a program starts a thousand of them,
 * finds the allocator's own small store empty now and then.
 */
static void let_grow(struct session *session)
{
	const struct netstall_bpf *skel = session->skel;
	struct bpf_map *const tables[] = {skel->maps.conns,  skel->maps.tuples,
					  skel->maps.active, skel->maps.ops,
					  skel->maps.rings,  skel->maps.uring_counts};

	for (size_t i = 0; session->caps.grows && i < sizeof(tables) / sizeof(tables[0]); i++)
		bpf_map__set_map_flags(tables[i], BPF_F_NO_PREALLOC);
}

/* Of a process; 0: not to be seen. */
static uint32_t files_open(pid_t pid)
{
	char path[32];
	uint32_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static uint64_t files_of(const struct target *target)
{
	uint64_t files = 0;

	for (size_t i = 0; i < target->pid_count; i++)
		files += files_open(target->pids[i]);
	return files;
}

/* At least so many, and what the targets' connections tell if all close as a process ends. */
static uint32_t ring_bytes(uint64_t files, uint32_t bytes)
{
	while (bytes < MOST_RINGBUF && bytes < files * EACH_CLOSES)
		bytes *= 2;
	return bytes;
}

/* As many as connections are busy at a time, both ends of those on this host: most are not. */
static uint32_t histories_for(uint64_t files, uint32_t wanted)
{
	uint64_t busy = (uint64_t)CPU_HISTORIES * libbpf_num_possible_cpus();
	uint32_t count = wanted ? 1 : NS_HISTORIES;

	if (busy > MOST_HISTORIES)
		busy = MOST_HISTORIES;
	while (count < wanted || (!wanted && count < 2 * files && count < busy))
		count *= 2;
	return count;
}

static void configure(struct session *session)
{
	const struct target *target = session->target;
	struct netstall_bpf *skel = session->skel;
	struct ns_config *config = (struct ns_config *)&skel->rodata->settings;
	unsigned ring = session->options.ringbuf_bytes;
	uint64_t files = files_of(target);

	config->trace = !session->options.untraced;
	config->stopped = session->program_pid != 0;
	config->threshold_ns = session->options.threshold_ns;
	config->verbose = session->options.verbose;
	config->each_conn = session->options.each_connection;
	config->uring_events = session->options.uring_events || session->options.verbose;
	config->any_process = target__is_any_process(target);
	config->everything = target->everything;
	config->leaves_out = target->not_comm || target->not_pid_count;
	config->follow_children = target__takes_children(target);
	config->lport = target->lport;
	config->rport = target->rport;
	config->by_cgroup = session->request.by_cgroup;
	config->by_comm = session->request.by_comm;
	config->hz = caps__hz();
	skel->bss->slow_exchange_ns = session->options.threshold_ns;
	skel->bss->long_wait_ns = NS_LONG_TIMES * session->options.threshold_ns;
	config->cpus = libbpf_num_possible_cpus();
	config->spares = session->caps.preempted;
	config->reads = plan__gives(&session->plan, NS_FACT_READ);
	config->long_jiffies = session->options.threshold_ns * config->hz / 1000000000;
	if (!config->long_jiffies)
		config->long_jiffies = 1;
	if (target->comm)
		snprintf(config->comm, sizeof(config->comm), "%s", target->comm);
	if (target->not_comm)
		snprintf(config->not_comm, sizeof(config->not_comm), "%s", target->not_comm);
	if (!ring)
		ring = ring_bytes(files, config->uring_events ? VERBOSE_RINGBUF
					 : config->everything ? MACHINE_RINGBUF
							      : QUIET_RINGBUF);
	bpf_map__set_max_entries(skel->maps.records, ring);
	bpf_map__set_max_entries(skel->maps.vital_records, ring / VITAL_SHARE > LEAST_RINGBUF
								   ? ring / VITAL_SHARE
								   : LEAST_RINGBUF);
	size_conns(session);
	let_grow(session);
	config->histories = histories_for(files, session->options.max_histories);
	bpf_map__set_max_entries(skel->maps.histories, config->histories);
	bpf_map__set_max_entries(skel->maps.free_histories, config->histories);
	if (session->options.max_ops)
		bpf_map__set_max_entries(skel->maps.ops, session->options.max_ops);
	if (session->options.max_threads)
		bpf_map__set_max_entries(skel->maps.threads, session->options.max_threads);
	else if (session->offcpu)
		bpf_map__set_max_entries(skel->maps.threads, PROFILE_THREADS);
	if (session->offcpu)
		offcpu__configure(session->offcpu);
}

/* Of the tables that one view alone has none is made for the other. */
static void choose_tables(struct session *session)
{
	struct netstall_bpf *skel = session->skel;
	struct bpf_map *const of_trace[] = {
		skel->maps.conns,          skel->maps.histories,    skel->maps.free_histories,
		skel->maps.tuples,         skel->maps.active,       skel->maps.listeners,
		skel->maps.listener_drops, skel->maps.queued,       skel->maps.connectors,
		skel->maps.sending,        skel->maps.rings,        skel->maps.ops,
		skel->maps.uring_counts,   skel->maps.uring_errors, skel->maps.ring_eventfds,
		skel->maps.sleeps_of,      skel->maps.services,
	};
	struct bpf_map *const of_profile[] = {
		skel->maps.stacks,       skel->maps.places,   skel->maps.sums,
		skel->maps.followed,     skel->maps.segments, skel->maps.samples,
		skel->maps.pythons_told,
	};

	struct bpf_map *map;

	for (size_t i = 0; i < sizeof(of_trace) / sizeof(of_trace[0]); i++)
		bpf_map__set_autocreate(of_trace[i], !session->options.untraced);
	for (size_t i = 0; i < sizeof(of_profile) / sizeof(of_profile[0]); i++)
		bpf_map__set_autocreate(of_profile[i], session->offcpu);
	bpf_object__for_each_map(map, skel->obj)
	{
		if (caps__refuses_table(&session->caps, bpf_map__name(map)))
			bpf_map__set_autocreate(map, false);
	}
	if (session->options.untraced)
		bpf_map__set_value_size(skel->maps.threads, NS_THREAD_UNTRACED);
}

/* A spare is loaded beside the program that it is for. */
static bool is_wanted(const struct session *session, const char *name)
{
	const char *spare = strstr(name, "_spare");
	char of[64];

	if (!spare)
		return plan__has_program(&session->plan, name);
	snprintf(of, sizeof(of), "%.*s", (int)(spare - name), name);
	return session->caps.preempted && plan__has_program(&session->plan, of);
}

static int load(struct session *session)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = session->options.btf_path);
	struct bpf_program *program;
	int err;

	session->skel = netstall_bpf__open_opts(&opts);
	if (!session->skel)
		return -errno;
	configure(session);
	choose_tables(session);
	bpf_object__for_each_program(program, session->skel->obj)
	{
		bpf_program__set_autoload(program, is_wanted(session, bpf_program__name(program)));
	}
	caps__before_load(session->skel->obj);
	err = netstall_bpf__load(session->skel);
	caps__after_load();
	/* libbpf tries one by a small table, and goes on when that is refused. */
	if (!err && (!session->skel->bss || caps__lacks_types()))
		err = -ENOMEM;
	if (err) {
		netstall_bpf__destroy(session->skel);
		session->skel = NULL;
	}
	return err;
}

int session__load(struct session *session)
{
	int err = load(session);

	return err ? session__refused_in_load(session, err) : 0;
}
