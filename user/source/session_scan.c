// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The iterators of a session: tasks, sockets that exist already, totals of connections. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/source/offcpu_parts.h"

#define REGISTERED_MOST 32768 /* files of a ring: IORING_MAX_FIXED_FILES, io_uring/rsrc.c */

static struct bpf_link *make_iterator(struct session *session, const char *name, int map_fd)
{
	union bpf_iter_link_info info = {.map = {.map_fd = map_fd}};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_program *program = bpf_object__find_program_by_name(session->skel->obj, name);

	if (!program || !bpf_program__autoload(program))
		return NULL;
	return bpf_program__attach_iter(program, map_fd ? &opts : NULL);
}

int session__make_iterators(struct session *session)
{
	session->tasks = make_iterator(session, "iter_tasks", 0);
	session->seed = make_iterator(session, "iter_seed", 0);
	session->files = make_iterator(session, "iter_files", 0);
	session->sleepers = make_iterator(session, "iter_sleepers", 0);
	session->conns =
		make_iterator(session, "iter_conns", bpf_map__fd(session->skel->maps.conns));
	session->rings =
		make_iterator(session, "iter_rings", bpf_map__fd(session->skel->maps.rings));
	session->ops = make_iterator(session, "iter_ops", bpf_map__fd(session->skel->maps.ops));
	session->ring_files =
		make_iterator(session, "iter_ring_files", bpf_map__fd(session->skel->maps.rings));
	if (session->tasks && session->seed &&
	    (session->options.untraced || (session->files && session->conns)))
		return 0;
	log__error("BPF iterators do not attach on this kernel (%s): it needs Linux 5.9 or later",
		   strerror(errno));
	return -ENOTSUP;
}

static int open_iterator(struct bpf_link *link)
{
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;

	return fd < 0 ? -errno : fd;
}

static void run_iterator(struct bpf_link *link)
{
	int fd = open_iterator(link);
	char nothing[256];
	ssize_t got;

	if (fd < 0) {
		log__debug("an iterator did not run: %s", strerror(-fd));
		return;
	}
	do
		got = read(fd, nothing, sizeof(nothing));
	while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
}

void session__scan_sockets(struct session *session, enum ns_scan mode)
{
	session->skel->bss->scan_mode = mode;
	session->skel->bss->children_seen = session->skel->bss->child_seen = 0;
	run_iterator(session->files);
	if (session->skel->bss->children_seen > session->children)
		session->children = session->skel->bss->children_seen;
}

/* Registered files of rings: the kernel side looks at a few of each in one run. */
void session__scan_registered(struct session *session, enum ns_scan mode)
{
	struct netstall_bpf__bss *shared = session->skel->bss;
	uint32_t from;

	if (!session->ring_files || shared->rings_watched <= 0)
		return;
	shared->scan_mode = mode;
	shared->scan_most = 0;
	for (from = 0; from < REGISTERED_MOST; from += NS_SCAN_FILES) {
		shared->scan_from = from;
		run_iterator(session->ring_files);
		if (shared->scan_most <= from + NS_SCAN_FILES)
			break;
	}
}

int session__open_tasks(struct session *session)
{
	return open_iterator(session->tasks);
}

int session__open_ops(struct session *session)
{
	return open_iterator(session->ops);
}

void session__look_at_rings(struct session *session)
{
	run_iterator(session->rings);
}

void session__copy_sleepers(struct session *session)
{
	if (session->sleepers)
		run_iterator(session->sleepers);
}

/* The profile alone is told of what was found. */
void session__seed_threads(struct session *session)
{
	struct ns_offcpu_seed told[64];
	int fd = open_iterator(session->seed);
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

void session__tell_conns(struct session *session)
{
	run_iterator(session->conns);
}

/* A listener that several have is of nobody in the table. */
bool session__listens(const struct session *session, uint16_t port)
{
	int fd = bpf_map__fd(session->skel->maps.listeners);
	struct listener_key key, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);
	uint32_t tgid;

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.port != port || bpf_map_lookup_elem(fd, &key, &tgid))
			continue;
		if (!tgid || target__is_any_process(session->target) ||
		    session__role_of((void *)session, tgid) & NS_ROLE_TARGET)
			return true;
	}
	return false;
}
