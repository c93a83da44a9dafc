// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a session runs itself: iterators over tasks and their files, programs over the keys of tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/source/offcpu_parts.h"

/* Of reading records between two steps of an iterator, at most. */
#define STEP_NS 10000000ull

#define KEYS_AT_A_TIME   (4 * NS_KEYS_IN_HAND) /* are copied, with their values */
#define MOST_IN_A_BUCKET 65536

#define REGISTERED_MOST 32768 /* files of a ring: IORING_MAX_FIXED_FILES, io_uring/rsrc.c */

static struct bpf_program *planned(const struct session *session, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(session->skel->obj, name);

	return program && bpf_program__autoload(program) ? program : NULL;
}

static int run_over_keys(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
}

int session__make_iterators(struct session *session)
{
	static const char *const iterators[ITERATORS] = {
		[ITERATE_TASKS] = "iter_tasks", [ITERATE_SEED] = "iter_seed",
		[ITERATE_FILES] = "iter_files", [ITERATE_SLEEPERS] = "iter_sleepers",
		[ITERATE_WAITS] = "iter_waits",
	};
	static const char *const over_keys[EACH_KINDS] = {
		[EACH_CONN] = "each_conn",
		[EACH_RING] = "each_ring",
		[EACH_OP] = "each_op",
		[EACH_RING_FILES] = "each_ring_files",
	};
	struct bpf_program *program;
	int err;

	for (size_t i = 0; i < ITERATORS; i++) {
		program = planned(session, iterators[i]);
		session->iterators[i] = program ? bpf_program__attach_iter(program, NULL) : NULL;
		if (program && !session->iterators[i])
			return session__refused(session, program, NS_REFUSED_ATTACH, -errno);
	}
	for (size_t i = 0; i < EACH_KINDS; i++) {
		session->each[i] = program = planned(session, over_keys[i]);
		err = program ? run_over_keys(program) : 0;
		if (err)
			return session__refused(session, program, NS_REFUSED_RUN, err);
	}
	return 0;
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

/* What has so many sockets to tell of would else fill the ring buffer in one call. */
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

/* A part of a table, as the kernel copies it: whole buckets, so that no key comes twice. */
struct keys {
	int table;
	size_t key_size, value_size;
	uint32_t room, count;
	char *keys, *values;
	uint32_t bucket; /* the next one */
	bool began;
};

static void make_room(struct keys *keys, uint32_t room)
{
	keys->room = room;
	keys->keys = xreallocarray(keys->keys, room, keys->key_size);
	keys->values = xreallocarray(keys->values, room, keys->value_size);
}

/*
 * -ENOENT: these are the last ones. Not by get_next_key: behind a key that went away it begins
 * again at the first one, for ever where keys come and go.
 */
static int read_keys(struct keys *keys)
{
	uint32_t bucket = keys->bucket;
	int err;

	for (;;) {
		keys->count = keys->room;
		err = bpf_map_lookup_batch(keys->table, keys->began ? &bucket : NULL, &keys->bucket,
					   keys->keys, keys->values, &keys->count, NULL);
		if (err != -ENOSPC || keys->room >= MOST_IN_A_BUCKET)
			break;
		make_room(keys, 2 * keys->room); /* than which a bucket has more */
	}
	keys->began = true;
	if (err && err != -ENOENT)
		keys->count = 0;
	return err;
}

static int run_over(struct session *session, struct bpf_program *program, const struct keys *keys)
{
	struct netstall_bpf__bss *shared = session->skel->bss;
	int err = 0;

	for (uint32_t i = 0; i < keys->count && !err; i += shared->keys_in_hand) {
		shared->keys_in_hand = 0;
		for (uint32_t j = i; j < keys->count && shared->keys_in_hand < NS_KEYS_IN_HAND;
		     j++) {
			struct ns_key_in_hand *one = &shared->in_hand[shared->keys_in_hand++];

			*one = (struct ns_key_in_hand){0};
			memcpy(one, keys->keys + j * keys->key_size, keys->key_size);
		}
		err = run_over_keys(program);
	}
	shared->keys_in_hand = 0;
	return err;
}

void session__each(struct session *session, enum session_each which)
{
	const struct bpf_map *const tables[EACH_KINDS] = {
		[EACH_CONN] = session->skel->maps.conns,
		[EACH_RING] = session->skel->maps.rings,
		[EACH_OP] = session->skel->maps.ops,
		[EACH_RING_FILES] = session->skel->maps.rings,
	};
	const struct bpf_map *table = tables[which];
	struct keys keys = {.table = bpf_map__fd(table),
			    .key_size = bpf_map__key_size(table),
			    .value_size = bpf_map__value_size(table)};
	int err = 0, ran = 0;

	if (!session->each[which])
		return;
	make_room(&keys, KEYS_AT_A_TIME);
	while (!err && !ran) {
		err = read_keys(&keys);
		ran = run_over(session, session->each[which], &keys);
		/* What so many tell has room in the ring buffer. */
		session__read_records(session, STEP_NS);
	}
	if (ran || err != -ENOENT)
		log__debug("not all of a table was gone through: %s", strerror(ran ? -ran : -err));
	free(keys.keys);
	free(keys.values);
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

	if (!session->each[EACH_RING_FILES] || shared->rings_watched <= 0)
		return;
	shared->scan_mode = mode;
	shared->scan_most = 0;
	for (from = 0; from < REGISTERED_MOST; from += NS_SCAN_FILES) {
		shared->scan_from = from;
		session__each(session, EACH_RING_FILES);
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
