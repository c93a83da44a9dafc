// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Why there was no CPU: a quota that is used up, at either end; a stop; memory that must be freed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* "freezer" is one of version 1; in version 2 each group has it. */
static bool find_root(const char *controller, bool is_v2)
{
	char root[256], type[32], options[512];
	FILE *mounts = fopen("/proc/mounts", "re");
	bool found = false;

	while (mounts && !found &&
	       fscanf(mounts, "%*s %255s %31s %511s %*d %*d", root, type, options) == 3) {
		groups.is_v2 = !strcmp(type, "cgroup2");
		if (groups.is_v2)
			found = is_v2 || offers(root, controller);
		else
			found = !is_v2 && !strcmp(type, "cgroup") && has(options, controller);
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

/* So many groups, one in the other, for that controller; NULL: any of version 2. */
static void make_groups(const char *controller, unsigned int depth)
{
	char text[32], above[PATH_MAX];

	if (!find_root(controller ? controller : "", !controller)) {
		snprintf(groups.root, sizeof(groups.root), "/tmp/scene-cgroup-XXXXXX");
		if (!mkdtemp(groups.root))
			cannot("no folder: %s", strerror(errno));
		if (mount("cgroup2", groups.root, "cgroup2", 0, NULL) ||
		    (controller && !offers(groups.root, controller))) {
			umount(groups.root);
			rmdir(groups.root);
			cannot("no control group here has the controller %s",
			       controller ? controller : "of version 2");
		}
		groups.is_mounted = groups.is_v2 = true;
	}
	groups.made_by = getpid();
	atexit(remove_groups);
	snprintf(text, sizeof(text), "+%s", controller ? controller : "");
	if (controller && groups.is_v2 && !put(groups.root, "cgroup.subtree_control", text))
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

/* Computes in the middle of each request, and has no CPU for that, for this cause. */
static void compute_in_requests(struct stage *stage, const char *cause)
{
	int fd = connect_to(stage);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (groups.depth)
		join_group();
	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns(), computed_ns;

		write_all(fd, REQUEST / 2);
		stage__stall(stage, start_ns, cause);
		compute_ms(stage, COMPUTE_MS, cause);
		computed_ns = now_ns();
		write_all(fd, REQUEST / 2);
		if (!read_all(fd, ANSWER))
			die("no answer");
		stage__stall(stage, computed_ns, cause);
		stage__request(stage, start_ns);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void throttled_client(struct stage *stage)
{
	compute_in_requests(stage, "throttled");
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
	for (uint32_t i = 0; i < stage->count; i++)
		stage__stall(stage, stage__ask(stage, fd, REQUEST, ANSWER), "peer-app");
}

/* All of the client's time is this one's; most of it its quota's. */
static void throttled_server(struct stage *stage)
{
	int fd = accept_one(stage);

	join_group();
	while (read_all(fd, REQUEST)) {
		compute_ms(stage, SERVE_MS, NULL);
		write_all(fd, ANSWER);
	}
}

/* ---- neighbours ---- */

#define NEIGHBOURS 6

static void to_first_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		cannot("CPU 0: %s", strerror(errno));
}

static void *compute(void *arg)
{
	(void)arg;
	for (;;)
		;
	return NULL;
}

/*
 * Between turns of several ms each: of the waits some are too short for stalls, which add up, so
 * that names are more than stalls. What is said of the neighbours is judged.
 */
static void pinned_client(struct stage *stage)
{
	to_first_cpu();
	compute_in_requests(stage, "runqueue");
	atomic_store(&stage->part_ns, 0);
}

static void nice_client(struct stage *stage)
{
	if (setpriority(PRIO_PROCESS, 0, 19))
		cannot("no lower priority: %s", strerror(errno));
	pinned_client(stage);
}

static void neighbours(struct stage *stage)
{
	(void)stage;
	to_first_cpu();
	for (int i = 1; i < NEIGHBOURS; i++)
		start_thread(compute, NULL);
	compute(NULL);
}

static void neighbour(struct stage *stage)
{
	(void)stage;
	to_first_cpu();
	compute(NULL);
}

/*
 * Floods itself over loopback: its datagrams are received in softirqs, as it sends them, and nobody
 * reads them.
 */
static void flooding_neighbour(struct stage *stage)
{
	struct sockaddr_in self = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(self);
	char datagram[64] = "";

	(void)stage;
	to_first_cpu();
	if (fd < 0 || bind(fd, (struct sockaddr *)&self, size) ||
	    getsockname(fd, (struct sockaddr *)&self, &size) ||
	    connect(fd, (struct sockaddr *)&self, size))
		die("no socket to flood: %s", strerror(errno));
	for (;;)
		send(fd, datagram, sizeof(datagram), 0);
}

/* ---- stops ---- */

#define STOP_MS 40

/* Computes, until the other role has stopped it and let it go on. */
static void be_stopped(struct stage *stage, uint32_t times_before)
{
	uint64_t last, now;
	bool is_over;

	if (write(stage->duct[0][1], "", 1) != 1)
		die("nobody stops it");
	now = now_ns();
	do {
		last = now;
		is_over = atomic_load(&stage->word) != times_before;
		now = now_ns();
		stage__stall(stage, last, "stopped");
	} while (!is_over);
}

static void stopped_client(struct stage *stage)
{
	int fd = connect_to(stage);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (groups.depth)
		join_group();
	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns();

		write_all(fd, REQUEST / 2);
		be_stopped(stage, i);
		write_all(fd, REQUEST / 2);
		if (!read_all(fd, ANSWER))
			die("no answer");
		stage__request(stage, start_ns);
		atomic_fetch_add(&stage->exchanges, 1);
		sleep_ms(2);
	}
}

static void stop_by_signal(struct stage *stage, bool stops)
{
	if (kill(stage->pids[0], stops ? SIGSTOP : SIGCONT))
		die("it may not send signals: %s", strerror(errno));
}

static void stop_by_freezer(struct stage *stage, bool stops)
{
	const char *file = groups.is_v2 ? "cgroup.freeze" : "freezer.state";
	const char *text = groups.is_v2 ? (stops ? "1" : "0") : (stops ? "FROZEN" : "THAWED");

	(void)stage;
	if (!put(groups.path[0], file, text))
		die("%s: %s", file, strerror(errno));
}

static void stopper(struct stage *stage)
{
	void (*stop)(struct stage *, bool) = groups.depth ? stop_by_freezer : stop_by_signal;
	char byte;

	while (read(stage->duct[0][0], &byte, 1) == 1) {
		sleep_ms(1);
		stop(stage, true);
		sleep_ms(STOP_MS);
		stop(stage, false);
		atomic_fetch_add(&stage->word, 1);
	}
}

static void client_of_stopped(struct stage *stage)
{
	int fd = connect_to(stage);

	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		stage__ask(stage, fd, REQUEST, ANSWER);
		sleep_ms(2);
	}
}

static void stopped_server(struct stage *stage)
{
	int fd = accept_one(stage);

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	for (uint32_t i = 0; read_all(fd, REQUEST); i++) {
		be_stopped(stage, i);
		write_all(fd, ANSWER);
	}
}

/* As one that shows the stacks of a process does: each time it comes, looks, and goes. */
static void debugger(struct stage *stage)
{
	char byte;

	while (read(stage->duct[0][0], &byte, 1) == 1) {
		pid_t pid = stage->pids[1];

		sleep_ms(1);
		if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
			cannot("it may not trace: %s", strerror(errno));
		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) || waitpid(pid, NULL, __WALL) != pid)
			die("it does not stop: %s", strerror(errno));
		sleep_ms(STOP_MS);
		if (ptrace(PTRACE_DETACH, pid, NULL, NULL))
			die("it does not go on: %s", strerror(errno));
		atomic_fetch_add(&stage->word, 1);
	}
}

static void setup_stop(struct stage *stage)
{
	stage__listen(stage, 64);
	if (pipe(stage->duct[0]))
		die("no pipe: %s", strerror(errno));
}

static void setup_freezer(struct stage *stage)
{
	make_groups("freezer", 1);
	setup_stop(stage);
}

static void setup_freezer_2(struct stage *stage)
{
	make_groups(NULL, 1);
	setup_stop(stage);
}

/* ---- memory ---- */

#define KIB 1024ull

static void setup_memory(struct stage *stage)
{
	if (find_root("memory", false) && !groups.is_v2)
		cannot("memory.high is of control groups of version 2");
	make_groups("memory", 1);
	stage__listen(stage, 64);
}

static char *take(uint64_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		die("no memory: %s", strerror(errno));
	return memory;
}

static unsigned long long in_use(const char *dir)
{
	unsigned long long bytes = 0;
	char path[PATH_MAX + 32];
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory.current", dir);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%llu", &bytes) != 1)
		die("%s cannot be read", path);
	fclose(file);
	return bytes;
}

/* A thread is braked at the end of each call while its group has more than it may: there is room
 * for what a request takes besides. */
#define ROOM  (128 * KIB)
#define TAKEN (ROOM + 384 * KIB)

/* It has 16 MiB, which is nearly all that it may have, and takes more in each request. */
static void braked_client(struct stage *stage)
{
	int fd = connect_to(stage);
	char high[32];

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	join_group();
	memset(take(16 * KIB * KIB), 1, 16 * KIB * KIB);
	/* First without what can be given back. */
	if (!put(groups.path[0], "memory.high", "16M"))
		die("no memory.high: %s", strerror(errno));
	snprintf(high, sizeof(high), "%llu", in_use(groups.path[0]) + ROOM);
	if (!put(groups.path[0], "memory.high", high))
		die("no memory.high: %s", strerror(errno));
	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns(), taken_ns;
		char *memory;

		write_all(fd, REQUEST / 2);
		taken_ns = now_ns();
		memory = take(TAKEN);
		stage__stall(stage, taken_ns, "memory");
		munmap(memory, TAKEN);
		write_all(fd, REQUEST / 2);
		if (!read_all(fd, ANSWER))
			die("no answer");
		stage__request(stage, start_ns);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

/* clang-format off */
const struct scene cpu_scenes[] = {
	{"quota", setup_quota, {throttled_client, prompt_server}, 1, 64, .makes = {"throttled", 10, 0.50}, .verdict = {"throttled", .says = "cgroup /netstall-scene-[0-9]+ had used up its CPU quota of 20 ms in each 100 ms"}, .alone = true, .is_about_cpu = true},
	{"quota-above", setup_quota_above, {throttled_client, prompt_server}, 1, 64, .makes = {"throttled", 10, 0.50}, .verdict = {"throttled", .says = "cgroup /netstall-scene-[0-9]+ had used up its CPU quota of 20 ms in each 100 ms"}, .alone = true, .is_about_cpu = true},
	{"quota-at-peer", setup_quota, {asking_client, throttled_server}, 1, 16, .makes = {"peer-app", 10, 0.50}, .verdict = {"peer-app", .says = "waits [0-9.]+ ms for its CPU quota", .part = "ready throttled"}, .alone = true, .is_about_cpu = true},
	{"neighbours", NULL, {pinned_client, prompt_server, neighbours}, 1, 40, .makes = {"runqueue", 10, 0.40}, .verdict = {"runqueue", .says = "CPU ran scene-third/.*may run on 1 of [0-9]+ CPUs"}, .alone = true, .open = true},
	{"nice", NULL, {nice_client, prompt_server, neighbour}, 1, 24, .makes = {"runqueue", 4, 0.40}, .verdict = {"runqueue", .says = "CPU ran scene-third/.*Its priority is low .nice 19."}, .alone = true},
	{"softirq-storm", NULL, {nice_client, prompt_server, flooding_neighbour}, 1, 24, .makes = {"runqueue", 4, 0.40}, .verdict = {"runqueue", .says = "CPU ran .*scene-third/"}, .alone = true},
	{"stopped", setup_stop, {stopped_client, prompt_server, stopper}, 1, 16, .makes = {"stopped", 12, 0.60}, .verdict = {"stopped", .says = "stopped by a signal \\(SIGSTOP or the like\\), and could not run until scene-third/", .never = "asked for"}, .alone = true},
	{"stopped-by-debugger", setup_stop, {client_of_stopped, stopped_server, debugger}, 2, 16, .makes = {"stopped", 12, 0.60}, .verdict = {"stopped", .says = "stopped by a debugger \\(ptrace\\), and could not run until scene-third/", .never = "asked for"}, .alone = true},
	{"frozen", setup_freezer, {stopped_client, prompt_server, stopper}, 1, 16, .makes = {"stopped", 12, 0.60}, .verdict = {"stopped", .says = "was frozen, with its cgroup", .never = "asked for"}, .alone = true},
	{"frozen-v2", setup_freezer_2, {stopped_client, prompt_server, stopper}, 1, 16, .makes = {"stopped", 12, 0.60}, .verdict = {"stopped", .says = "was frozen, with its cgroup", .never = "asked for"}, .alone = true},
	{"memory-high", setup_memory, {braked_client, prompt_server}, 1, 12, .makes = {"memory", 4, 0.30}, .verdict = {"memory", .says = "more than its memory.high", .never = "asked for"}, .quick = true, .alone = true},
	{0},
};
/* clang-format on */
