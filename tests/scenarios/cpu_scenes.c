// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Why there was no CPU: a quota that is used up, at either end. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

/* ---- control groups ---- */

#define LEVELS 3 /* of groups, one in the other */

static struct {
	char root[PATH_MAX / 2]; /* of the hierarchy that has the controller */
	bool is_v2;
	bool is_mounted; /* by us */
	pid_t made_by;
	unsigned int depth;
	char path[LEVELS][PATH_MAX];
} groups;

static bool put(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX];
	ssize_t written;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	written = write(fd, text, strlen(text));
	close(fd);
	return written == (ssize_t)strlen(text);
}

static bool has(const char *options, const char *controller)
{
	size_t len = strlen(controller);

	for (const char *at = options; (at = strstr(at, controller)); at += len)
		if ((at == options || strchr(", ", at[-1])) &&
		    (!at[len] || strchr(", \n", at[len])))
			return true;
	return false;
}

/* A hierarchy of version 2 that has the controller to give. */
static bool offers(const char *root, const char *controller)
{
	char path[PATH_MAX], text[256] = "";
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.controllers", root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	return size > 0 && has(text, controller);
}

static bool find_root(const char *controller)
{
	char root[256], type[32], options[512];
	FILE *mounts = fopen("/proc/mounts", "re");
	bool found = false;

	while (mounts && !found &&
	       fscanf(mounts, "%*s %255s %31s %511s %*d %*d", root, type, options) == 3) {
		groups.is_v2 = !strcmp(type, "cgroup2");
		found = groups.is_v2 ? offers(root, controller)
				     : !strcmp(type, "cgroup") && has(options, controller);
	}
	if (mounts)
		fclose(mounts);
	snprintf(groups.root, sizeof(groups.root), "%s", found ? root : "");
	return found;
}

static void remove_groups(void)
{
	if (getpid() != groups.made_by)
		return;
	/* Who was killed in them leaves a little later. */
	for (int tries = 0; groups.depth && tries < 100; tries++) {
		if (rmdir(groups.path[groups.depth - 1]) && errno == EBUSY)
			sleep_ms(10);
		else
			groups.depth--;
	}
	if (groups.is_mounted) {
		umount(groups.root);
		rmdir(groups.root);
	}
}

/* So many groups, one in the other, for that controller. */
static void make_groups(const char *controller, unsigned int depth)
{
	char text[32], above[PATH_MAX];

	if (!find_root(controller)) {
		snprintf(groups.root, sizeof(groups.root), "/tmp/scene-cgroup-XXXXXX");
		if (!mkdtemp(groups.root))
			cannot("no folder: %s", strerror(errno));
		if (mount("cgroup2", groups.root, "cgroup2", 0, NULL) ||
		    !offers(groups.root, controller)) {
			umount(groups.root);
			rmdir(groups.root);
			cannot("no control group here has the controller %s", controller);
		}
		groups.is_mounted = groups.is_v2 = true;
	}
	groups.made_by = getpid();
	atexit(remove_groups);
	snprintf(text, sizeof(text), "+%s", controller);
	if (groups.is_v2 && !put(groups.root, "cgroup.subtree_control", text))
		cannot("the controller %s is not to be had", controller);
	snprintf(above, sizeof(above), "%s", groups.root);
	for (unsigned int i = 0; i < depth; i++) {
		int size = i ? snprintf(groups.path[i], PATH_MAX, "%s/level-%u", above, i)
			     : snprintf(groups.path[i], PATH_MAX, "%s/netstall-scene-%d", above,
					getpid());

		if (size >= PATH_MAX || mkdir(groups.path[i], 0755))
			cannot("no control group %s: %s", groups.path[i], strerror(errno));
		groups.depth++;
		snprintf(above, sizeof(above), "%s", groups.path[i]);
	}
}

/* The calling process, in the innermost one. */
static void join_group(void)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", getpid());
	if (!put(groups.path[groups.depth - 1], "cgroup.procs", text))
		die("it may not join %s: %s", groups.path[groups.depth - 1], strerror(errno));
}

/* ---- a quota ---- */

#define REQUEST    176
#define ANSWER     96
#define QUOTA_MS   20 /* in each 100 ms */
#define COMPUTE_MS 5  /* in each request of the client: less than a stall of its own */
#define SERVE_MS   25

static void limit(unsigned int depth)
{
	make_groups("cpu", depth);
	if (groups.is_v2 ? !put(groups.path[0], "cpu.max", "20000 100000")
			 : !put(groups.path[0], "cpu.cfs_period_us", "100000") ||
				   !put(groups.path[0], "cpu.cfs_quota_us", "20000"))
		cannot("no quota: %s", strerror(errno));
}

static void setup_quota(struct stage *stage)
{
	limit(1);
	stage__listen(stage, 64);
}

static void setup_quota_above(struct stage *stage)
{
	limit(LEVELS);
	stage__listen(stage, 64);
}

/* Computes in the middle of each request, for longer than its quota lets it. */
static void throttled_client(struct stage *stage)
{
	int fd = connect_to(stage);
	uint64_t queued_ns;

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	join_group();
	stage__wait_at_gate(stage);
	queued_ns = stage__queued(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns(), computed_ns;

		write_all(fd, REQUEST / 2);
		stage__stall(stage, start_ns, "throttled");
		compute_ms(stage, COMPUTE_MS, "throttled");
		computed_ns = now_ns();
		write_all(fd, REQUEST / 2);
		if (!read_all(fd, ANSWER))
			die("no answer");
		stage__stall(stage, computed_ns, "throttled");
		stage__request(stage, start_ns);
		atomic_fetch_add(&stage->exchanges, 1);
	}
	atomic_store(&stage->part_ns, stage__queued(stage) - queued_ns);
}

static void prompt_server(struct stage *stage)
{
	int fd = accept_one(stage);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	while (read_all(fd, REQUEST))
		write_all(fd, ANSWER);
}

static void asking_client(struct stage *stage)
{
	int fd = connect_to(stage);

	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns();

		write_all(fd, REQUEST);
		if (!read_all(fd, ANSWER))
			die("no answer");
		stage__request(stage, start_ns);
		stage__stall(stage, start_ns, "peer-app");
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

/* All of the client's time is this one's; most of it its quota's. */
static void throttled_server(struct stage *stage)
{
	int fd = accept_one(stage);

	join_group();
	while (read_all(fd, REQUEST)) {
		uint64_t start_ns = now_ns();

		compute_ms(stage, SERVE_MS, NULL);
		atomic_fetch_add(&stage->part_ns, now_ns() - start_ns);
		write_all(fd, ANSWER);
	}
}

/* clang-format off */
const struct scene cpu_scenes[] = {
	{"quota", setup_quota, {throttled_client, prompt_server}, 1, 64, .makes = {"throttled", 10, 0.50}, .verdict = {"throttled", .says = "cgroup /netstall-scene-[0-9]+ had used up its CPU quota of 20 ms in each 100 ms"}, .quick = true, .alone = true, .is_about_cpu = true},
	{"quota-above", setup_quota_above, {throttled_client, prompt_server}, 1, 64, .makes = {"throttled", 10, 0.50}, .verdict = {"throttled", .says = "cgroup /netstall-scene-[0-9]+ had used up its CPU quota of 20 ms in each 100 ms"}, .alone = true, .is_about_cpu = true},
	{"quota-at-peer", setup_quota, {asking_client, throttled_server}, 1, 16, .makes = {"peer-app", 10, 0.50}, .verdict = {"peer-app", .says = "waits [0-9.]+ ms for its CPU quota", .part = "ready throttled"}, .quick = true, .alone = true, .is_about_cpu = true},
	{0},
};
/* clang-format on */
