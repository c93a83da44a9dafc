// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waits that the network has no part in, some of just the length of a delayed ACK. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

static const struct script single = {.request = {176}, .reply = {96}};
static const struct script late_server = {
	.request = {176}, .reply = {96}, .serve_us = 40000, .cause = "peer-app"};
static const struct script busy_server = {
	.request = {176}, .reply = {96}, .spin_us = 30000, .cause = "peer-app"};
static const struct script napping_client = {
	.request = {176}, .reply = {96}, .pause_us = 40000, .pause_cause = "timer"};
/* The target is the server, who owes nobody anything while the client sleeps. */
static const struct script idle_server = {
	.request = {176}, .reply = {96}, .pause_us = 60000, .pause_cause = "idle"};

/* ---- what a client does between two exchanges ---- */

struct between {
	struct stage *stage;
	pthread_mutex_t mutex;
	int ends[2];   /* read here, written by the other */
	int wanted[2]; /* a byte asks the other for its work */
	_Atomic uint32_t held;
	uint32_t fd;
};

static struct between between = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Each works for 40 ms, and the client waits for the end of it. */
static void *holder_thread(void *arg)
{
	char byte;

	(void)arg;
	stage__enter(between.stage);
	while (read(between.wanted[0], &byte, 1) == 1) {
		pthread_mutex_lock(&between.mutex);
		atomic_store(&between.held, 1);
		sleep_ms(40);
		pthread_mutex_unlock(&between.mutex);
	}
	return NULL;
}

static void *busy_holder_thread(void *arg)
{
	char byte;

	(void)arg;
	stage__enter(between.stage);
	while (read(between.wanted[0], &byte, 1) == 1) {
		pthread_mutex_lock(&between.mutex);
		atomic_store(&between.held, 1);
		spin_ms(between.stage, 40);
		pthread_mutex_unlock(&between.mutex);
	}
	return NULL;
}

static void *worker_thread(void *arg)
{
	uint64_t one = 1;
	char byte;

	(void)arg;
	stage__enter(between.stage);
	while (read(between.wanted[0], &byte, 1) == 1) {
		sleep_ms(30);
		if (write(between.ends[1], &one, sizeof(one)) != sizeof(one))
			die("no reader");
	}
	return NULL;
}

static void ask(void)
{
	if (write(between.wanted[1], "", 1) != 1)
		die("nobody to ask");
}

static void wait_for_lock(void)
{
	atomic_store(&between.held, 0);
	ask();
	while (!atomic_load(&between.held))
		sched_yield();
	pthread_mutex_lock(&between.mutex);
	pthread_mutex_unlock(&between.mutex);
}

static void wait_for_work(void)
{
	uint64_t word;

	ask();
	if (read(between.ends[0], &word, sizeof(word)) != sizeof(word))
		die("no work done");
}

/* Nobody owes it anything: it asked for the end of the wait itself. */
static void wait_for_epoll_timeout(void)
{
	static int epoll = -1;
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll < 0) {
		epoll = epoll_create1(EPOLL_CLOEXEC);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, between.fd, &event))
			die("epoll_ctl: %s", strerror(errno));
	}
	if (epoll_wait(epoll, &event, 1, 40))
		die("the server talks unasked");
}

static void wait_for_recv_timeout(void)
{
	struct timeval t = {.tv_usec = 40000};
	char byte;

	setsockopt(between.fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	if (recv(between.fd, &byte, 1, 0) >= 0)
		die("the server talks unasked");
	t.tv_usec = 0;
	setsockopt(between.fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
}

/*
 * In the current folder, which is on a disk if any is. One call that waits once: a flush behind it
 * is another wait, and on many disks the longer one.
 */
static void wait_for_disk(void)
{
	static int file = -1;
	static char *block;
	const size_t size = 48 << 20;

	if (file < 0) {
		file = open(".", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
		if (file < 0 || posix_memalign((void **)&block, 4096, size))
			cannot("no file that passes the cache by: %s", strerror(errno));
		memset(block, 1, size);
	}
	if (pwrite(file, block, size, 0) < 0)
		die("write: %s", strerror(errno));
}

static void alternate(struct stage *stage, void (*wait)(void), const char *cause)
{
	struct phases phases;
	int fd = connect_to(stage);

	between.fd = fd;
	between.stage = stage;
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, fd, &single);
		wait();
		phases__end(&phases, cause);
	}
}

static void start_other(struct stage *stage, void *(*body)(void *))
{
	between.stage = stage;
	if (pipe(between.wanted))
		die("no pipe: %s", strerror(errno));
	start_thread(body, NULL);
}

static void client_lock(struct stage *stage)
{
	start_other(stage, holder_thread);
	alternate(stage, wait_for_lock, "lock");
}

static void client_busy_lock(struct stage *stage)
{
	start_other(stage, busy_holder_thread);
	alternate(stage, wait_for_lock, "lock");
}

static void client_pipe(struct stage *stage)
{
	if (pipe(between.ends))
		die("no pipe: %s", strerror(errno));
	start_other(stage, worker_thread);
	alternate(stage, wait_for_work, "ipc");
}

static void wait_for_completion(void)
{
	uint64_t word;

	ask();
	if (uring__read(between.ends[0], &word, sizeof(word)) != sizeof(word))
		die("no work done");
}

static void client_uring(struct stage *stage)
{
	if (pipe(between.ends))
		die("no pipe: %s", strerror(errno));
	uring__open();
	start_other(stage, worker_thread);
	alternate(stage, wait_for_completion, "ipc");
}

static void client_unix(struct stage *stage)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, between.ends))
		die("no socket pair: %s", strerror(errno));
	start_other(stage, worker_thread);
	alternate(stage, wait_for_work, "ipc");
}

static void client_eventfd(struct stage *stage)
{
	between.ends[0] = between.ends[1] = eventfd(0, EFD_CLOEXEC);
	start_other(stage, worker_thread);
	alternate(stage, wait_for_work, "ipc");
}

static void client_epoll(struct stage *stage)
{
	alternate(stage, wait_for_epoll_timeout, "timer");
}

static void client_recv_timeout(struct stage *stage)
{
	alternate(stage, wait_for_recv_timeout, "timer");
}

static void client_disk(struct stage *stage)
{
	alternate(stage, wait_for_disk, "disk");
}

/* ---- another thread takes the CPU just when the reply comes ---- */

static void to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		cannot("CPU %d: %s", cpu, strerror(errno));
}

static void client_on_cpu_0(struct stage *stage)
{
	to_cpu(0);
	play_client(stage);
}

/* Of so many exchanges one meets a late server in place of the hog. */
#define LATE_EVERY 8
#define LATE_MS    20

static void client_of_both(struct stage *stage)
{
	struct script late = *(const struct script *)stage->scene->script;
	struct phases phases;
	int fd = connect_to(stage);

	to_cpu(0);
	late.cause = "peer-app";
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++)
		exchange(&phases, fd,
			 i % LATE_EVERY == LATE_EVERY - 1 ? &late : stage->scene->script);
}

/* It counts what it has begun, so that whoever gets no CPU meanwhile does not wait for the next. */
static bool start_hog(struct stage *stage)
{
	uint32_t before = atomic_load(&stage->word);

	if (write(stage->duct[0][1], "", 1) != 1)
		return false;
	while (atomic_load(&stage->word) == before)
		;
	return true;
}

static void server_of_both(struct stage *stage)
{
	int fd = accept_one(stage);

	to_cpu(1);
	for (uint32_t i = 0; read_all(fd, 176); i++) {
		if (i % LATE_EVERY == LATE_EVERY - 1)
			sleep_ms(LATE_MS);
		else if (!start_hog(stage))
			return;
		write_all(fd, 96);
	}
}

/* Starts the hog, if the script is for that, and answers while it runs. */
static void server_with_hog(struct stage *stage)
{
	const struct script *script = stage->scene->script;
	int fd = accept_one(stage);

	to_cpu(1);
	while (read_all(fd, 176)) {
		if (script->cause && !start_hog(stage))
			return;
		write_all(fd, 96);
	}
}

static void hog(struct stage *stage)
{
	struct sched_param first = {.sched_priority = 50};
	uint64_t end;
	char byte;

	to_cpu(0);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		cannot("no real-time priority: %s", strerror(errno));
	while (read(stage->duct[0][0], &byte, 1) == 1) {
		atomic_fetch_add(&stage->word, 1);
		for (end = now_ns() + MS(30); now_ns() < end;)
			;
	}
}

static void setup_hog(struct stage *stage)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		cannot("this takes two CPUs");
	stage__listen(stage, 64);
	if (pipe(stage->duct[0]))
		die("no pipe: %s", strerror(errno));
}

static const struct script against_hog = {.request = {176}, .reply = {96}, .cause = "runqueue"};

#define ENDS play_client, play_server

/* clang-format off */
const struct scene wait_scenes[] = {
	{"late-server", NULL, {ENDS}, 1, 16, &late_server, .makes = {"peer-app", 12, 0.80}, .verdict = {"peer-app", .says = "sleeps"}, .quick = true},
	{"busy-server", NULL, {ENDS}, 1, 16, &busy_server, .makes = {"peer-app", 12, 0.60}, .alone = true},
	{"napping-client", NULL, {ENDS}, 1, 16, &napping_client, .makes = {"timer", 12, 0.80}, .quick = true},
	{"idle-server", NULL, {ENDS}, 2, 16, &idle_server, .quick = true},
	{"lock", NULL, {client_lock, play_server}, 1, 16, &single, .makes = {"lock", 12, 0.80}, .quick = true},
	{"busy-lock", NULL, {client_busy_lock, play_server}, 1, 16, &single, .makes = {"lock", 12, 0.60}, .alone = true},
	{"pipe", NULL, {client_pipe, play_server}, 1, 14, &single, .makes = {"ipc", 10, 0.60}, .quick = true},
	{"uring", NULL, {client_uring, play_server}, 1, 14, &single, .makes = {"ipc", 10, 0.60}},
	{"unix-socket", NULL, {client_unix, play_server}, 1, 14, &single, .makes = {"ipc", 10, 0.60}},
	{"eventfd", NULL, {client_eventfd, play_server}, 1, 14, &single, .makes = {"ipc", 10, 0.60}},
	{"epoll-timeout", NULL, {client_epoll, play_server}, 1, 16, &single, .makes = {"timer", 12, 0.80}},
	{"receive-timeout", NULL, {client_recv_timeout, play_server}, 1, 16, &single, .makes = {"timer", 12, 0.80}},
	{"disk", NULL, {client_disk, play_server}, 1, 12, &single, .makes = {"disk", 8, 0.50}, .alone = true},
	{"cpu-hog", setup_hog, {client_on_cpu_0, server_with_hog, hog}, 1, 16, &against_hog, .makes = {"runqueue", 12, 0.80}, .verdict = {.cause = "runqueue"}, .followed = &single, .quick = true, .alone = true},
	{"cpu-hog-and-late-server", setup_hog, {client_of_both, server_of_both, hog}, 1, 24, &against_hog, .makes = {"runqueue", 16, 0.70}, .verdict = {.cause = "runqueue"}, .alone = true},
	{0},
};
/* clang-format on */
