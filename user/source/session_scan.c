// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The iterators of a session: tasks, sockets that exist already, totals of connections. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/source/offcpu_parts.h"

/* Of reading records between two steps of an iterator, at most. */
#define STEP_NS 10000000ull

#define REGISTERED_MOST 32768 /* files of a ring: IORING_MAX_FIXED_FILES, io_uring/rsrc.c */

static struct bpf_link *make_iterator(struct session *session, const char *name,
				      const struct bpf_map *map)
{
	union bpf_iter_link_info info = {.map = {.map_fd = map ? bpf_map__fd(map) : 0}};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_program *program = bpf_object__find_program_by_name(session->skel->obj, name);

	if (!program || !bpf_program__autoload(program))
		return NULL;
	return bpf_program__attach_iter(program, map ? &opts : NULL);
}

int session__make_iterators(struct session *session)
{
	struct netstall_bpf *skel = session->skel;
	const struct {
		const char *program;
		const struct bpf_map *over;
	} rows[ITERATORS] = {
		[ITERATE_TASKS] = {"iter_tasks", NULL},
		[ITERATE_SEED] = {"iter_seed", NULL},
		[ITERATE_FILES] = {"iter_files", NULL},
		[ITERATE_SLEEPERS] = {"iter_sleepers", NULL},
		[ITERATE_WAITS] = {"iter_waits", NULL},
		[ITERATE_CONNS] = {"iter_conns", skel->maps.conns},
		[ITERATE_RINGS] = {"iter_rings", skel->maps.rings},
		[ITERATE_OPS] = {"iter_ops", skel->maps.ops},
		[ITERATE_RING_FILES] = {"iter_ring_files", skel->maps.rings},
	};
	struct bpf_link **made = session->iterators;

	for (size_t i = 0; i < ITERATORS; i++)
		made[i] = make_iterator(session, rows[i].program, rows[i].over);
	if (made[ITERATE_TASKS] && made[ITERATE_SEED] &&
	    (session->options.untraced || (made[ITERATE_FILES] && made[ITERATE_CONNS])))
		return 0;
	log__error("BPF iterators do not attach on this kernel (%s): it needs Linux 5.9 or later",
		   strerror(errno));
	return -ENOTSUP;
}

int session__open_iterator(const struct session *session, enum session_iterator which)
{
	const struct bpf_link *link = session->iterators[which];
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -ENOENT;

	return fd < 0 && link ? -errno : fd;
}

/*
 * Who is slower than the kernel side would read for ever, and see neither the end of the window nor
 * how the samples are to be paced. What it cannot take is lost, and counted.
 */
bool session__read_records(struct session *session, uint64_t most_ns)
{
	uint64_t now = clock__now();
	int err;

	session->turn_end_ns = now + most_ns;
	err = ring_buffer__consume(session->ring);
	session->turn_end_ns = 0;
	if (!session->options.untraced)
		session__pace_samples(session, now);
	return err >= 0;
}

/* What has so many connections to tell of would else fill the ring buffer in one call. */
void session__iterate(struct session *session, enum session_iterator which)
{
	int fd = session__open_iterator(session, which);
	char nothing[256];
	ssize_t got;

	if (fd == -ENOENT)
		return;
	if (fd < 0) {
		log__debug("an iterator did not run: %s", strerror(-fd));
		return;
	}
	do {
		got = read(fd, nothing, sizeof(nothing));
		if (got > 0)
			session__read_records(session, STEP_NS);
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
}

void session__scan_sockets(struct session *session, enum ns_scan mode)
{
	session->skel->bss->scan_mode = mode;
	session->skel->bss->children_seen = session->skel->bss->child_seen = 0;
	session__iterate(session, ITERATE_FILES);
	if (session->skel->bss->children_seen > session->children)
		session->children = session->skel->bss->children_seen;
}

/* Registered files of rings: the kernel side looks at a few of each in one run. */
void session__scan_registered(struct session *session, enum ns_scan mode)
{
	struct netstall_bpf__bss *shared = session->skel->bss;
	uint32_t from;

	if (!session->iterators[ITERATE_RING_FILES] || shared->rings_watched <= 0)
		return;
	shared->scan_mode = mode;
	shared->scan_most = 0;
	for (from = 0; from < REGISTERED_MOST; from += NS_SCAN_FILES) {
		shared->scan_from = from;
		session__iterate(session, ITERATE_RING_FILES);
		if (shared->scan_most <= from + NS_SCAN_FILES)
			break;
	}
}

/* The profile alone is told of what was found. */
void session__seed_threads(struct session *session)
{
	struct ns_offcpu_seed told[64];
	int fd = session__open_iterator(session, ITERATE_SEED);
	ssize_t got;

	if (fd < 0) {
		log__debug("the iterator over sleeping threads did not run: %s", strerror(-fd));
		return;
	}
	while ((got = read(fd, told, sizeof(told))) > 0 || (got < 0 && errno == EINTR))
		for (ssize_t i = 0; i < got / (ssize_t)sizeof(told[0]); i++)
			offcpu__seed(session->offcpu, &told[i]);
	close(fd);
}

/* A listener that several have is of nobody in the table. */
bool session__listens(const struct session *session, uint16_t port)
{
	int fd = bpf_map__fd(session->skel->maps.listeners);
	struct listener_key key, next;
	struct listener of;

	FOR_EACH_KEY(fd, &key, &next)
	{
		if (key.port != port || bpf_map_lookup_elem(fd, &key, &of))
			continue;
		if (!of.tgid || target__is_any_process(session->target) ||
		    session__role_of((void *)session, of.tgid) & NS_ROLE_TARGET)
			return true;
	}
	return false;
}
