// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests of everyday programs, whose time is not where their longest wait is: servers that
 * compute and sleep a little, that fall asleep just when they are asked, that answer in pieces or
 * wait for others; clients and servers that look again and again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define REQUEST 176
#define ANSWER  96

/* What a server does between a request and its answer, and what the asker's wait for it is. */
struct deed {
	void (*work)(struct stage *stage);
	const char *cause;
	bool is_whole; /* that is what a whole request takes, but for microseconds */
};

static const struct deed *deed_of(const struct stage *stage)
{
	return stage->scene->script;
}

static void take(int fd, size_t bytes)
{
	if (!read_all(fd, bytes))
		die("the other end hung up");
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl: %s", strerror(errno));
}

static int new_epoll(int fd)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	watch(epoll, fd);
	return epoll;
}

/* Returns the descriptor that is ready; -1: none within @ms. */
static int next_ready(int epoll, int ms)
{
	struct epoll_event event;
	int count = epoll_wait(epoll, &event, 1, ms);

	if (count < 0)
		die("epoll_wait: %s", strerror(errno));
	return count ? event.data.fd : -1;
}

/* ---- clients: one request after the other ---- */

static bool client_is_target(const struct stage *stage)
{
	return stage->scene->targets & 1;
}

static void ask_by(struct stage *stage, void (*ask)(int fd), int fd)
{
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		struct part part = part__begin();

		ask(fd);
		atomic_fetch_add(&stage->exchanges, 1);
		if (!client_is_target(stage))
			continue;
		stage__request(stage, part.start_ns);
		if (deed_of(stage)->is_whole)
			part__end(stage, &part);
		phases__end(&phases, deed_of(stage)->cause);
	}
}

static void ask_blocking(int fd)
{
	write_all(fd, REQUEST);
	take(fd, ANSWER);
}

static void client(struct stage *stage)
{
	ask_by(stage, ask_blocking, connect_to(stage));
}

static int client_epoll;

static void ask_epoll(int fd)
{
	write_all(fd, REQUEST);
	next_ready(client_epoll, -1);
	take(fd, ANSWER);
}

static void client_by_epoll(struct stage *stage)
{
	int fd = connect_to(stage);

	client_epoll = new_epoll(fd);
	ask_by(stage, ask_epoll, fd);
}

static void ask_uring(int fd)
{
	static const uint32_t request[] = {REQUEST, 0};

	uring__exchange(fd, request, ANSWER);
}

static struct stage *computing;

/* The answer lies there meanwhile. */
static void ask_and_compute(int fd)
{
	write_all(fd, REQUEST);
	spin_ms(computing, 30);
	take(fd, ANSWER);
}

static void client_that_computes(struct stage *stage)
{
	computing = stage;
	ask_by(stage, ask_and_compute, connect_to(stage));
}

/* What it computes between its requests is no part of them. */
static void client_that_computes_between(struct stage *stage)
{
	struct phases phases;
	int fd = connect_to(stage);

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns();

		ask_blocking(fd);
		stage__request(stage, start_ns);
		phases__end(&phases, NULL);
		spin_ms(stage, 30);
		phases__end(&phases, "cpu");
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void client_by_uring(struct stage *stage)
{
	int fd = connect_to(stage);

	uring__open();
	ask_by(stage, ask_uring, fd);
}

/* ---- servers: the work between request and answer is the deed's ---- */

static void work(struct stage *stage)
{
	struct part part = part__begin();

	deed_of(stage)->work(stage);
	if (!deed_of(stage)->is_whole)
		part__end(stage, &part);
}

/*
 * Takes what a request asks for and answers it. Where the server is the target, requests are those
 * that it serves, by its own clock.
 */
static void answer(struct stage *stage, int fd)
{
	struct phases phases;

	if (!client_is_target(stage))
		phases__begin(&phases, stage);
	work(stage);
	write_all(fd, ANSWER);
	if (client_is_target(stage))
		return;
	stage__request(stage, phases.start_ns);
	phases__end(&phases, deed_of(stage)->cause);
}

static void server(struct stage *stage)
{
	int fd = accept_one(stage);

	while (read_all(fd, REQUEST)) {
		answer(stage, fd);
	}
}

static void server_by_epoll(struct stage *stage)
{
	int fd = accept_one(stage), epoll = new_epoll(fd);

	while (next_ready(epoll, -1) >= 0 && read_all(fd, REQUEST)) {
		answer(stage, fd);
	}
}

static void server_by_uring(struct stage *stage)
{
	int fd = accept_one(stage);

	uring__open();
	while (uring__receive(fd, REQUEST)) {
		work(stage);
		uring__send(fd, ANSWER);
	}
}

/* ---- a tiny wait between long computing ---- */

static void answer_at_once(struct stage *stage)
{
	(void)stage;
}

static void compute(struct stage *stage)
{
	spin_ms(stage, 30);
}

static void compute_and_nap(struct stage *stage)
{
	spin_ms(stage, 20);
	sleep_ms(2);
	spin_ms(stage, 20);
}

static void compute_and_nap_by_ring(struct stage *stage)
{
	spin_ms(stage, 20);
	uring__sleep(2);
	spin_ms(stage, 20);
}

/* In the current folder, which is on a disk if any is. */
static void store(size_t bytes)
{
	static char block[1 << 20];
	static int file = -1;

	if (file < 0)
		file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		cannot("no file: %s", strerror(errno));
	if (pwrite(file, block, bytes, 0) != (ssize_t)bytes || fdatasync(file))
		die("write: %s", strerror(errno));
}

static void compute_and_sync(struct stage *stage)
{
	spin_ms(stage, 20);
	store(64);
	spin_ms(stage, 20);
}

static void compute_then_sync(struct stage *stage)
{
	uint64_t start_ns;

	spin_ms(stage, 40);
	start_ns = now_ns();
	store(1 << 20);
	/* How long a disk takes is the disk's affair. */
	if (now_ns() - start_ns > MS(20))
		cannot("the disk takes too long");
}

/* ---- threads that stop for one of them ---- */

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool collecting;
} world = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static void wait_for_world(bool collecting)
{
	pthread_mutex_lock(&world.mutex);
	while (world.collecting != collecting)
		pthread_cond_wait(&world.changed, &world.mutex);
	pthread_mutex_unlock(&world.mutex);
}

static void set_world(bool collecting)
{
	pthread_mutex_lock(&world.mutex);
	world.collecting = collecting;
	pthread_cond_broadcast(&world.changed);
	pthread_mutex_unlock(&world.mutex);
}

static void *collector(void *arg)
{
	struct stage *stage = arg;

	stage__enter(stage);
	for (;;) {
		wait_for_world(true);
		spin_ms(stage, 30);
		set_world(false);
	}
	return NULL;
}

/* It has nothing to do but to stop with the others. */
static void *mutator(void *arg)
{
	stage__enter(arg);
	for (;;) {
		wait_for_world(true);
		wait_for_world(false);
	}
	return NULL;
}

static void collect(struct stage *stage)
{
	(void)stage;
	set_world(true);
	wait_for_world(false);
}

static void server_with_collector(struct stage *stage)
{
	start_thread(collector, stage);
	start_thread(mutator, stage);
	server(stage);
}

/* ---- a server that falls asleep just when it is asked ---- */

static void wait_for_tick(struct stage *stage)
{
	(void)stage;
	sleep_until((now_ns() / MS(50) + 1) * MS(50));
}

static void wait_for_timer(struct stage *stage)
{
	static int epoll = -1, timer;
	struct itimerspec tick = {{.tv_nsec = MS(50)}, {.tv_nsec = MS(50)}};
	uint64_t ticks;

	(void)stage;
	if (epoll < 0) {
		timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		timerfd_settime(timer, 0, &tick, NULL);
		epoll = new_epoll(timer);
	}
	/* The tick that was before the request is not waited for. */
	if (read(timer, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		die("timerfd: %s", strerror(errno));
	next_ready(epoll, -1);
}

/* Its poll() wants more than a request, and so runs until it ends by itself. */
static void server_with_lowat(struct stage *stage)
{
	int fd = accept_one(stage);
	struct pollfd wanted = {.fd = fd, .events = POLLIN};

	set_option(fd, SOL_SOCKET, SO_RCVLOWAT, 2 * REQUEST);
	for (;;) {
		char buffer[REQUEST];
		ssize_t got;

		poll(&wanted, 1, 40);
		got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
		if (!got)
			return;
		if (got > 0)
			write_all(fd, ANSWER);
	}
}

/* ---- a worker of a queue, and one who waits for the next job ---- */

static void *queue_worker(void *arg)
{
	struct stage *stage = arg;
	char job;

	stage__enter(stage);
	while (read(stage->duct[0][0], &job, 1) == 1) {
		spin_ms(stage, 30);
		if (write(stage->duct[1][1], &job, 1) != 1)
			die("nobody waits");
	}
	return NULL;
}

/* The thread that takes requests hands them on, and the answers back when the worker has them. */
static void server_with_queue(struct stage *stage)
{
	int fd = accept_one(stage), epoll = new_epoll(fd), ready;
	struct part part = {0};
	char job = 0;

	if (pipe(stage->duct[0]) || pipe(stage->duct[1]))
		die("no pipe: %s", strerror(errno));
	watch(epoll, stage->duct[1][0]);
	start_thread(queue_worker, stage);
	for (;;) {
		ready = next_ready(epoll, -1);
		if (ready == fd) {
			if (!read_all(fd, REQUEST))
				return;
			part = part__begin();
			if (write(stage->duct[0][1], &job, 1) != 1)
				die("no worker");
		} else {
			if (read(ready, &job, 1) != 1)
				die("no worker");
			part__end(stage, &part);
			write_all(fd, ANSWER);
		}
	}
}

/* A broker: who asks for a job gets it when somebody has put one there. */
static void broker(struct stage *stage)
{
	int taker = accept_one(stage), giver = accept_behind(stage), epoll = new_epoll(taker);
	bool asked = false;
	struct part part = {0};

	watch(epoll, giver);
	for (;;) {
		int fd = next_ready(epoll, -1);

		if (!read_all(fd, REQUEST))
			return;
		if (fd == taker) {
			part = part__begin();
			asked = true;
			continue;
		}
		if (asked) {
			part__end(stage, &part);
			write_all(taker, ANSWER);
			asked = false;
		}
		write_all(giver, ANSWER);
	}
}

static void giver(struct stage *stage)
{
	int fd = connect_behind(stage);

	for (;;) {
		sleep_ms(50);
		write_all(fd, REQUEST);
		take(fd, ANSWER);
	}
}

/* ---- answers in pieces ---- */

#define BODY 4000

static void server_of_late_body(struct stage *stage)
{
	int fd = accept_one(stage);

	while (read_all(fd, REQUEST)) {
		struct part part = part__begin();

		write_all(fd, ANSWER);
		sleep_ms(60);
		part__end(stage, &part);
		write_all(fd, BODY);
	}
}

static void ask_header_and_body(int fd)
{
	write_all(fd, REQUEST);
	take(fd, ANSWER);
	take(fd, BODY);
}

static void client_of_late_body(struct stage *stage)
{
	ask_by(stage, ask_header_and_body, connect_to(stage));
}

static void ask_all_at_once(int fd)
{
	char buffer[ANSWER + BODY];

	write_all(fd, REQUEST);
	if (recv(fd, buffer, sizeof(buffer), MSG_WAITALL) != sizeof(buffer))
		die("the server hung up");
}

static void client_by_waitall(struct stage *stage)
{
	ask_by(stage, ask_all_at_once, connect_to(stage));
}

#define BITS 8

static void server_of_pieces(struct stage *stage)
{
	int fd = accept_one(stage), on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	while (read_all(fd, REQUEST)) {
		struct part part = part__begin();

		for (int i = 0; i < BITS; i++) {
			sleep_ms(12);
			write_all(fd, BODY);
		}
		part__end(stage, &part);
	}
}

static void ask_for_pieces(int fd)
{
	write_all(fd, REQUEST);
	for (int i = 0; i < BITS; i++)
		take(fd, BODY);
}

static void client_of_pieces(struct stage *stage)
{
	ask_by(stage, ask_for_pieces, connect_to(stage));
}

/* ---- an answer that fills all buffers, and a client that does something else meanwhile ---- */

#define LARGE 8000000
#define BIT   250000

static void answer_large(int fd)
{
	static const char bytes[LARGE];

	while (read_all(fd, REQUEST)) {
		for (size_t sent = 0; sent < LARGE;) {
			ssize_t count = write(fd, bytes + sent, LARGE - sent);

			if (count < 0)
				die("write: %s", strerror(errno));
			sent += (size_t)count;
		}
	}
}

static void server_of_large(struct stage *stage)
{
	answer_large(accept_one(stage));
}

/* It waits for room shortly each time. */
static void server_of_little_room(struct stage *stage)
{
	static const int room = 65536;
	int fd = accept_one(stage);

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)))
		die("SO_SNDBUF: %s", strerror(errno));
	answer_large(fd);
}

static void ask_for_large(int fd, void (*meanwhile)(void))
{
	write_all(fd, REQUEST);
	for (size_t taken = 0; taken < LARGE; taken += BIT) {
		meanwhile();
		take(fd, BIT);
	}
}

static void sleep_3_ms(void)
{
	sleep_ms(3);
}

static void spin_5_ms(void)
{
	spin_ms(computing, 5);
}

/* What it reads goes to a child of its own, which takes its time for each piece. */
#define PIECE 65536

static int sink;

static void take_pieces(int fd)
{
	static char piece[PIECE];

	while (read(fd, piece, sizeof(piece)) > 0)
		sleep_ms(3);
	_exit(0);
}

static void pass_on(void)
{
	write_all(sink, PIECE);
}

static void ask_and_sleep_meanwhile(int fd)
{
	ask_for_large(fd, sleep_3_ms);
}

static void ask_and_compute_meanwhile(int fd)
{
	ask_for_large(fd, spin_5_ms);
}

static void client_that_sleeps_meanwhile(struct stage *stage)
{
	ask_by(stage, ask_and_sleep_meanwhile, connect_to(stage));
}

static void ask_and_pass_on(int fd)
{
	ask_for_large(fd, pass_on);
}

static void client_that_passes_on(struct stage *stage)
{
	int ends[2];
	pid_t child;

	if (pipe(ends))
		die("pipe: %s", strerror(errno));
	child = fork();
	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child) {
		close(ends[1]);
		take_pieces(ends[0]);
	}
	close(ends[0]);
	sink = ends[1];
	ask_by(stage, ask_and_pass_on, connect_to(stage));
	close(sink);
	waitpid(child, NULL, 0);
}

static void client_that_computes_meanwhile(struct stage *stage)
{
	computing = stage;
	ask_by(stage, ask_and_compute_meanwhile, connect_to(stage));
}

/* ---- a connection and a thread for each request ---- */

static void *answer_one(void *arg)
{
	struct stage *stage = arg;
	int fd;

	stage__enter(stage);
	fd = accept_one(stage);
	if (read_all(fd, REQUEST))
		answer(stage, fd);
	close(fd);
	return NULL;
}

static void server_of_new_threads(struct stage *stage)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, answer_one, stage))
			die("no thread");
		pthread_join(thread, NULL);
	}
}

static const struct stage *connecting;

static void ask_once(int unused)
{
	int fd = connect_to(connecting);

	(void)unused;
	ask_blocking(fd);
	close(fd);
}

static void client_that_connects(struct stage *stage)
{
	connecting = stage;
	ask_by(stage, ask_once, -1);
}

/* ---- requests that end without an answer's end ---- */

static const struct stage *half_closing;

/* A connection for each request, which ends where no more comes. */
static void ask_by_half_close(int unused)
{
	int fd = connect_to(half_closing);

	(void)unused;
	write_all(fd, REQUEST);
	shutdown(fd, SHUT_WR);
	take(fd, ANSWER);
	if (read_all(fd, 1))
		die("more than the answer");
	close(fd);
}

static void client_by_half_close(struct stage *stage)
{
	half_closing = stage;
	ask_by(stage, ask_by_half_close, -1);
}

/* All on one CPU: the server closes its end before the client runs. */
static void listen_on_one_cpu(struct stage *stage)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	stage__listen(stage, 64);
}

static void server_of_half_closed(struct stage *stage)
{
	for (;;) {
		int fd = accept_one(stage);

		if (!read_all(fd, REQUEST) || read_all(fd, 1))
			die("no half-closed request");
		work(stage);
		write_all(fd, ANSWER);
		close(fd);
	}
}

static void nap(struct stage *stage)
{
	(void)stage;
	sleep_ms(40);
}

/* ---- several connections, several requests at a time ---- */

#define CONNS 8

struct seat {
	struct stage *stage;
	int fd;
	bool slow;
};

static void *serve_seat(void *arg)
{
	struct seat *seat = arg;

	stage__enter(seat->stage);
	while (read_all(seat->fd, REQUEST)) {
		if (seat->slow)
			work(seat->stage);
		write_all(seat->fd, ANSWER);
	}
	return NULL;
}

static void server_of_eight(struct stage *stage)
{
	static struct seat seats[CONNS];

	for (int i = 0; i < CONNS; i++) {
		seats[i] = (struct seat){stage, accept_one(stage), i == CONNS / 2};
		start_thread(serve_seat, &seats[i]);
	}
	for (;;)
		pause();
}

/* Waits for the next answers, and takes them. Returns of how many. */
typedef int take_fn(struct stage *stage, const int *fds, uint64_t start_ns);

static int take_by_select(struct stage *stage, const int *fds, uint64_t start_ns)
{
	fd_set ready;
	int last = 0, taken = 0;

	FD_ZERO(&ready);
	for (int i = 0; i < CONNS; i++) {
		FD_SET(fds[i], &ready);
		last = fds[i] > last ? fds[i] : last;
	}
	if (select(last + 1, &ready, NULL, NULL, NULL) < 0)
		die("select: %s", strerror(errno));
	for (int i = 0; i < CONNS; i++)
		if (FD_ISSET(fds[i], &ready)) {
			take(fds[i], ANSWER);
			stage__request(stage, start_ns);
			taken++;
		}
	return taken;
}

static int take_by_epoll(struct stage *stage, const int *fds, uint64_t start_ns)
{
	if (!client_epoll) {
		client_epoll = new_epoll(fds[0]);
		for (int i = 1; i < CONNS; i++)
			watch(client_epoll, fds[i]);
	}
	take(next_ready(client_epoll, -1), ANSWER);
	stage__request(stage, start_ns);
	return 1;
}

static void ask_eight(struct stage *stage, take_fn *take_some)
{
	struct phases phases;
	int fds[CONNS];

	for (int i = 0; i < CONNS; i++)
		fds[i] = connect_to(stage);
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t n = 0; n < stage->count; n++) {
		uint64_t start_ns = now_ns();

		for (int i = 0; i < CONNS; i++)
			write_all(fds[i], REQUEST);
		for (int left = CONNS; left > 0;)
			left -= take_some(stage, fds, start_ns);
		phases__end(&phases, "peer-app");
		atomic_fetch_add(&stage->exchanges, CONNS);
	}
}

static void client_by_select(struct stage *stage)
{
	ask_eight(stage, take_by_select);
}

static void client_of_eight_by_epoll(struct stage *stage)
{
	ask_eight(stage, take_by_epoll);
}

#define PIPELINED 10

static void ask_ten(int fd)
{
	for (int i = 0; i < PIPELINED; i++)
		write_all(fd, REQUEST);
	for (int i = 0; i < PIPELINED; i++)
		take(fd, ANSWER);
}

static void client_of_pipeline(struct stage *stage)
{
	int fd = connect_to(stage);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	ask_by(stage, ask_ten, fd);
}

static void server_of_pipeline(struct stage *stage)
{
	int fd = accept_one(stage);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	while (read_all(fd, REQUEST)) {
		work(stage);
		write_all(fd, ANSWER);
	}
}

static void nap_shortly(struct stage *stage)
{
	(void)stage;
	sleep_ms(5);
}

#define STREAMS 4

/* Four requests are always under way on one connection; each is answered 80 ms after it came. */
static void client_of_streams(struct stage *stage)
{
	struct phases phases;
	int fd = connect_to(stage);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	stage__wait_at_gate(stage);
	for (int i = 0; i < STREAMS; i++) {
		write_all(fd, REQUEST);
		sleep_ms(5);
	}
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		take(fd, ANSWER);
		phases__end(&phases, "peer-app");
		write_all(fd, REQUEST);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void server_of_streams(struct stage *stage)
{
	int fd = accept_one(stage), epoll = new_epoll(fd), first = 0, count = 0;
	uint64_t due_ns[STREAMS];

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	for (;;) {
		uint64_t now = now_ns();

		if (count && due_ns[first] <= now) {
			write_all(fd, ANSWER);
			first = (first + 1) % STREAMS;
			count--;
		} else if (next_ready(epoll, count ? (int)((due_ns[first] - now) / 1000000) + 1
						   : -1) == fd) {
			if (!read_all(fd, REQUEST))
				return;
			due_ns[(first + count++) % STREAMS] = now_ns() + MS(80);
		}
	}
}

/* ---- a server that waits for others ---- */

static void run_subprocess(struct stage *stage)
{
	static char *const arguments[] = {"sleep", "0.04", NULL};
	pid_t child;

	(void)stage;
	if (posix_spawn(&child, "/bin/sleep", NULL, NULL, arguments, NULL))
		cannot("no sleep(1)");
	if (waitpid(child, NULL, 0) != child)
		die("waitpid: %s", strerror(errno));
}

/* It reads what its child says, which computes. */
static void read_subprocess(struct stage *stage)
{
	int ends[2];
	char byte;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		die("no pipe: %s", strerror(errno));
	child = fork();
	if (!child) {
		spin_ms(stage, 30);
		_exit(write(ends[1], "", 1) != 1);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1 || waitpid(child, NULL, 0) != child)
		die("no child");
	close(ends[0]);
}

/*
 * A row that a transaction of another client holds: role 2 is that client's backend, role 3 the
 * client, who thinks for 40 ms between its update and its commit.
 */
static void setup_row(struct stage *stage)
{
	stage__listen_behind(stage);
	if (pipe(stage->duct[0]))
		die("no pipe: %s", strerror(errno));
	stage->duct[1][0] = stage->duct[1][1] = eventfd(0, EFD_CLOEXEC);
}

static void begin_transaction(struct stage *stage)
{
	if (write(stage->duct[0][1], "", 1) != 1)
		die("no other client");
	while (!atomic_load(&stage->word))
		sched_yield();
}

static void wait_for_row_by_futex(struct stage *stage)
{
	while (atomic_load(&stage->word))
		syscall(SYS_futex, &stage->word, FUTEX_WAIT, 1, NULL, NULL, 0);
}

static void wait_for_row_by_eventfd(struct stage *stage)
{
	uint64_t one;

	if (read(stage->duct[1][0], &one, sizeof(one)) != sizeof(one))
		die("no row");
}

static void server_of_row(struct stage *stage)
{
	int fd = accept_one(stage);

	while (read_all(fd, REQUEST)) {
		begin_transaction(stage);
		answer(stage, fd);
	}
}

static void backend_of_other(struct stage *stage)
{
	int fd = accept_behind(stage);
	uint64_t one = 1;

	for (bool holds = true; read_all(fd, REQUEST); holds = !holds) {
		atomic_store(&stage->word, holds);
		if (!holds) {
			syscall(SYS_futex, &stage->word, FUTEX_WAKE, 1, NULL, NULL, 0);
			if (deed_of(stage)->work == wait_for_row_by_eventfd &&
			    write(stage->duct[1][1], &one, sizeof(one)) != sizeof(one))
				die("nobody waits");
		}
		write_all(fd, ANSWER);
	}
}

static void thinking_client(struct stage *stage)
{
	int fd = connect_behind(stage);
	char byte;

	while (read(stage->duct[0][0], &byte, 1) == 1) {
		ask_blocking(fd);
		sleep_ms(40);
		ask_blocking(fd);
	}
}

/* ---- who looks again and again ---- */

static void ask_in_steps(int fd, uint32_t ms)
{
	char buffer[ANSWER];

	write_all(fd, REQUEST);
	while (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) < 0)
		sleep_ms(ms);
}

static void ask_in_short_steps(int fd)
{
	ask_in_steps(fd, 1);
}

static void client_in_short_steps(struct stage *stage)
{
	ask_by(stage, ask_in_short_steps, connect_to(stage));
}

static void ask_by_poll(int fd)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};

	write_all(fd, REQUEST);
	while (!poll(&wanted, 1, 5))
		;
	take(fd, ANSWER);
}

static void client_by_poll(struct stage *stage)
{
	ask_by(stage, ask_by_poll, connect_to(stage));
}

/* The answer is there long before it looks. */
static void ask_in_long_steps(int fd)
{
	ask_in_steps(fd, 40);
}

static void client_in_long_steps(struct stage *stage)
{
	ask_by(stage, ask_in_long_steps, connect_to(stage));
}

static void nap_long(struct stage *stage)
{
	(void)stage;
	sleep_ms(100);
}

/* Its own result, in steps, from a thread that takes 60 ms. */
static void *maker(void *arg)
{
	struct stage *stage = arg;

	stage__enter(stage);
	for (;;) {
		wait_for_world(true);
		sleep_ms(60);
		set_world(false);
	}
	return NULL;
}

static void look_for_result(struct stage *stage)
{
	bool done;

	(void)stage;
	set_world(true);
	do {
		sleep_ms(1);
		pthread_mutex_lock(&world.mutex);
		done = !world.collecting;
		pthread_mutex_unlock(&world.mutex);
	} while (!done);
}

static void server_in_steps(struct stage *stage)
{
	start_thread(maker, stage);
	server(stage);
}

static const struct deed computes = {.work = compute, .cause = "peer-app"};
static const struct deed naps_between = {.work = compute_and_nap, .cause = "peer-app"};
static const struct deed naps_by_ring = {.work = compute_and_nap_by_ring, .cause = "peer-app"};
static const struct deed syncs_between = {.work = compute_and_sync, .cause = "peer-app"};
static const struct deed syncs_after = {.work = compute_then_sync, .cause = "peer-app"};
static const struct deed collects = {.work = collect, .cause = "peer-app"};
static const struct deed ticks = {.work = wait_for_tick, .cause = "peer-app"};
static const struct deed ticks_by_timer = {.work = wait_for_timer, .cause = "peer-app"};
static const struct deed whole = {.work = nap, .cause = "peer-app", .is_whole = true};
static const struct deed queues = {.work = compute, .cause = "peer-app"};
static const struct deed sleeps = {.work = nap, .cause = "peer-app"};
/* With both ends as targets each has its own cause. */
static const struct deed computes_as_target = {.work = compute, .cause = "self"};
static const struct deed sleeps_as_target = {.work = nap, .cause = "timer"};
static const struct deed sleeps_long = {.work = nap_long, .cause = "peer-app"};
static const struct deed sleeps_shortly = {.work = nap_shortly, .cause = "peer-app"};
static const struct deed spawns = {.work = run_subprocess, .cause = "peer-app"};
static const struct deed forks = {.work = read_subprocess, .cause = "peer-app"};
static const struct deed row_by_futex = {.work = wait_for_row_by_futex, .cause = "peer-app"};
static const struct deed row_by_eventfd = {.work = wait_for_row_by_eventfd, .cause = "peer-app"};
static const struct deed looks = {.work = look_for_result, .cause = "peer-app"};
static const struct deed looks_late = {.work = answer_at_once, .cause = "timer", .is_whole = true};

static const struct deed sleeps_meanwhile = {
	.work = answer_at_once, .cause = "timer", .is_whole = true};
static const struct deed passes_on = {.work = answer_at_once, .cause = "ipc", .is_whole = true};
static const struct deed computes_itself = {
	.work = answer_at_once, .cause = "self", .is_whole = true};
static const struct deed at_once = {.work = answer_at_once};
static const struct deed serves_computing = {.work = compute, .cause = "self"};
static const struct deed serves_naps_between = {.work = compute_and_nap, .cause = "self"};
static const struct deed serves_sleeping = {.work = nap, .cause = "timer"};
static const struct deed serves_looking = {.work = look_for_result, .cause = "timer"};
static const struct deed serves_spawning = {.work = run_subprocess, .cause = "ipc"};
static const struct deed serves_row_by_futex = {.work = wait_for_row_by_futex, .cause = "lock"};
static const struct deed serves_row_by_eventfd = {.work = wait_for_row_by_eventfd, .cause = "ipc"};

#define PEER .makes = {"peer-app", 8, 0.60}
#define SELF .makes = {"self", 8, 0.60}

/* clang-format off */
const struct scene path_scenes[] = {
	{"computes", NULL, {client, server}, 1, 12, &computes, PEER, .verdict = {"peer-app", "comput", "trace the other end", .part = "computes"}, .computes = true},
	{"computes-seen-by-both", NULL, {client, server}, 3, 12, &computes_as_target, .makes = {"self", 8, 0.60}, .verdict = {"self", "comput", "trace the other end", .part = "computes"}, .computes = true},
	{"computes-naps", NULL, {client, server}, 1, 12, &naps_between, PEER, .verdict = {"peer-app", "comput", "do not sleep", .part = "computes"}, .computes = true},
	{"computes-naps-epoll", NULL, {client_by_epoll, server_by_epoll}, 1, 12, &naps_between, PEER, .verdict = {"peer-app", "comput", "do not sleep", .part = "computes"}, .computes = true},
	{"computes-naps-uring", NULL, {client_by_uring, server_by_uring}, 1, 12, &naps_by_ring, PEER, .verdict = {"peer-app", "comput", "do not sleep", .part = "computes"}, .computes = true},
	{"computes-syncs", NULL, {client, server}, 1, 12, &syncs_between, PEER, .verdict = {"peer-app", "comput", "CPU sooner", .part = "computes"}, .computes = true},
	{"computes-then-syncs", NULL, {client, server_by_epoll}, 1, 12, &syncs_after, PEER, .verdict = {"peer-app", "comput", .part = "computes"}, .computes = true},
	{"collects", NULL, {client, server_with_collector}, 1, 12, &collects, PEER, .verdict = {"peer-app", "comput", "give .* a CPU", .part = "computes"}, .computes = true},
	{"tick", NULL, {client, server}, 1, 12, &ticks, PEER, .verdict = {"peer-app", .part = "timer"}},
	{"tick-epoll", NULL, {client_by_epoll, server_by_epoll}, 1, 12, &ticks_by_timer, PEER, .verdict = {"peer-app", .part = "timer"}},
	{"lowat", NULL, {client, server_with_lowat}, 1, 12, &whole, PEER, .verdict = {"peer-app", .part = "timer"}},
	{"queue-worker", NULL, {client, server_with_queue}, 1, 12, &queues, PEER, .verdict = {"peer-app", "comput", .part = "computes"}, .computes = true},
	{"blocking-pop", stage__listen_behind, {client, broker, giver}, 1, 12, &sleeps, PEER, .verdict = {.cause = "peer-app"}},
	{"late-body", NULL, {client_of_late_body, server_of_late_body}, 1, 12, &sleeps, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"late-body-waitall", NULL, {client_by_waitall, server_of_late_body}, 1, 12, &sleeps, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"answer-in-pieces", NULL, {client_of_pieces, server_of_pieces}, 1, 12, &sleeps, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"answer-in-pieces-seen-by-both", NULL, {client_of_pieces, server_of_pieces}, 3, 12, &sleeps_as_target, .makes = {"timer", 8, 0.60}, .verdict = {"timer", .part = "blocked timer"}},
	{"sleeps-as-it-reads", NULL, {client_that_sleeps_meanwhile, server_of_large}, 1, 8, &sleeps_meanwhile, .makes = {"timer", 6, 0.60}, .verdict = {"timer", .never = "send buffer", .part = "timer"}},
	{"sleeps-as-it-reads-steps", NULL, {client_that_sleeps_meanwhile, server_of_little_room}, 1, 8, &sleeps_meanwhile, .makes = {"timer", 6, 0.60}, .verdict = {"timer", .never = "window", .part = "timer"}},
	{"passes-on-as-it-reads", NULL, {client_that_passes_on, server_of_little_room}, 1, 8, &passes_on, .makes = {"ipc", 6, 0.60}, .verdict = {"ipc", .never = "window"}},
	{"computes-as-it-reads", NULL, {client_that_computes_meanwhile, server_of_large}, 1, 8, &computes_itself, .makes = {"self", 6, 0.60}, .verdict = {"self", "comput", "send buffer", .part = "computes self"}, .computes = true},
	{"half-close", NULL, {client_by_half_close, server_of_half_closed}, 1, 12, &sleeps, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"half-close-one-cpu", listen_on_one_cpu, {client_by_half_close, server_of_half_closed}, 1, 12, &sleeps, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"half-close-computes", NULL, {client_by_half_close, server_of_half_closed}, 1, 12, &computes, PEER, .verdict = {"peer-app", "comput", .part = "computes"}, .computes = true},
	{"select-of-eight", NULL, {client_by_select, server_of_eight}, 1, 12, &sleeps, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"epoll-of-eight", NULL, {client_of_eight_by_epoll, server_of_eight}, 1, 12, &sleeps, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"pipelined-ten", NULL, {client_of_pipeline, server_of_pipeline}, 1, 12, &sleeps_shortly, PEER, .verdict = {"peer-app", .part = "timer"}},
	{"streams", NULL, {client_of_streams, server_of_streams}, 1, 24, &whole, .makes = {"peer-app", 4, 0.50}, .verdict = {.cause = "peer-app"}},
	{"subprocess", NULL, {client, server}, 1, 12, &spawns, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"subprocess-pipe", NULL, {client_by_epoll, server}, 1, 12, &forks, PEER, .verdict = {"peer-app", "comput", .part = "computes"}, .computes = true},
	{"row-lock", setup_row, {client, server_of_row, backend_of_other, thinking_client}, 1, 12, &row_by_futex, PEER, .verdict = {.cause = "peer-app"}},
	{"row-lock-eventfd", setup_row, {client_by_epoll, server_of_row, backend_of_other, thinking_client}, 1, 12, &row_by_eventfd, PEER, .verdict = {.cause = "peer-app"}},
	{"polls-1ms", NULL, {client_in_short_steps, server}, 1, 8, &sleeps_long, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"polls-5ms", NULL, {client_by_poll, server_by_epoll}, 1, 8, &sleeps_long, PEER, .verdict = {"peer-app", .part = "blocked timer"}},
	{"looks-late", NULL, {client_in_long_steps, server}, 1, 12, &looks_late, .makes = {"timer", 8, 0.60}, .verdict = {"timer", .part = "timer"}},
	{"server-polls-1ms", NULL, {client, server_in_steps}, 1, 8, &looks, PEER, .verdict = {"peer-app", .part = "timer"}},
	{"computes-itself", NULL, {client_that_computes, server}, 1, 12, &computes_itself, SELF, .verdict = {"self", "comput", .part = "computes self"}, .computes = true},
	{"computes-between", NULL, {client_that_computes_between, server}, 1, 12, &at_once, .verdict = {.cause = "none"}, .computes = true},
	{"serves-computing", NULL, {client, server_by_epoll}, 2, 12, &serves_computing, SELF, .verdict = {"self", "comput", .part = "computes self"}, .computes = true},
	{"serves-computing-naps", NULL, {client, server}, 2, 12, &serves_naps_between, SELF, .verdict = {"self", "comput", .part = "computes self"}, .computes = true},
	{"serves-new-threads", NULL, {client_that_connects, server_of_new_threads}, 2, 12, &serves_computing, SELF, .verdict = {"self", "comput", .part = "computes self"}, .computes = true},
	{"serves-sleeping", NULL, {client, server_by_epoll}, 2, 12, &serves_sleeping, .makes = {"timer", 8, 0.60}, .verdict = {"timer", .part = "blocked timer"}},
	{"serves-polling", NULL, {client, server_in_steps}, 2, 8, &serves_looking, .makes = {"timer", 6, 0.60}, .verdict = {"timer", .part = "timer"}},
	{"serves-subprocess", NULL, {client, server}, 2, 12, &serves_spawning, .makes = {"ipc", 8, 0.60}, .verdict = {.cause = "ipc"}},
	{"serves-row-lock", setup_row, {client, server_of_row, backend_of_other, thinking_client}, 2, 12, &serves_row_by_futex, .makes = {"lock", 8, 0.60}, .verdict = {.cause = "lock"}},
	{"serves-row-lock-eventfd", setup_row, {client, server_of_row, backend_of_other, thinking_client}, 2, 12, &serves_row_by_eventfd, .makes = {"ipc", 8, 0.60}, .verdict = {.cause = "ipc"}},
	{0},
};
/* clang-format on */
