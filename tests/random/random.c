// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * One process of a random program, which logs what it does for each request by its own clock:
 *
 *	random server log=FILE script=STEPS [unit=US] [shape=thread|loop|pool]
 *	       [reply=whole|split|more] [nodelay=1] [back=PORT] [ask=whole|split]
 *	random client log=FILE port=N [unit=US] [shape=thread|loop] [connections=N]
 *	       [wait=recv|poll|ring] [ask=whole|split] [nodelay=1] [think=STEPS]
 *	random steps
 *
 * Prints `ready port=N`, and runs until SIGTERM; then the log is whole. name=NAME is what the
 * process is called. The numbers of a script are units, of 1000 us where nothing else is said. A
 * line of the log is one request, the server's or the client's; tests/random/judge.py reads it.
 * `steps` lists the letters of a script; 'r' is a request of the server's own to `back`.
 *
 * thread: a thread for each connection. loop: one thread, with epoll, for all. pool: a thread with
 * epoll, and two that read what is ready and answer it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/random/steps.h"

#define REQUEST     120
#define REPLY       160
#define CONNECTIONS 64
#define WORKERS     2

static FILE *out;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const char *log, *script, *shape, *reply, *ask, *wait, *think;
	int port, back, nodelay, connections, unit;
} asked = {.script = "",
	   .shape = "thread",
	   .reply = "whole",
	   .ask = "whole",
	   .wait = "recv",
	   .think = "",
	   .connections = 1,
	   .unit = 1000};

struct connection {
	struct lane lane; /* first: a lane is its connection */
	int fd, back_fd;
	int port, back_port; /* the asking ends' */
	unsigned number;
	/* Of the request at hand. */
	uint64_t first_write, last_write, delay;
	int got;
	struct connection *next; /* in the pool's queue */
};

static bool is(const char *value, const char *wanted)
{
	return !strcmp(value, wanted);
}

static int port_of(int fd, int (*name)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_in at = {};
	socklen_t len = sizeof(at);

	if (name(fd, (struct sockaddr *)&at, &len))
		die("the name of a socket");
	return ntohs(at.sin_port);
}

static void set_up(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &asked.nodelay, sizeof(asked.nodelay));
}

static int dial(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
		die("connect");
	set_up(fd);
	return fd;
}

/* False: the other end has gone. `before_last` is set to when the last piece is written. */
static bool send_in(int fd, int pieces, int total, int flags, uint64_t *before_last)
{
	char bytes[REQUEST + REPLY] = {};

	for (int i = 0; i < pieces; i++) {
		int length =
			i == pieces - 1 ? total - total / pieces * (pieces - 1) : total / pieces;

		if (before_last)
			*before_last = now_ns();
		if (send(fd, bytes, length, flags | MSG_NOSIGNAL) != length)
			return false;
	}
	return true;
}

static bool receive(int fd, int total)
{
	char bytes[REQUEST + REPLY];

	for (int got = 0, n; got < total; got += n) {
		n = recv(fd, bytes, total - got, 0);
		if (n <= 0)
			return false;
	}
	return true;
}

static void log_notes(const struct lane *lane)
{
	fprintf(out, ",\"steps\":[");
	for (unsigned i = 0; i < lane->count; i++) {
		const struct note *n = &lane->notes[i];

		fprintf(out, "%s[\"%c\",\"%s\",%lu,%lu,%lu,%lu]", i ? "," : "", n->letter, n->cause,
			n->from, n->to, n->own_delay, n->others_delay);
	}
	fprintf(out, "]}\n");
}

/* ---- the server ---- */

static bool ask_back(struct lane *lane)
{
	struct connection *c = (struct connection *)lane;

	return send_in(c->back_fd, is(asked.ask, "split") ? 2 : 1, REQUEST, 0, NULL) &&
	       receive(c->back_fd, REPLY);
}

/* One request. `delay`: of this thread, before it waited for it. */
static bool serve(struct connection *c, uint64_t delay, int worker)
{
	uint64_t read_at, woken, done, wrote;

	if (!receive(c->fd, REQUEST))
		return false;
	read_at = now_ns();
	woken = run_delay();
	if (!lane__run(&c->lane, asked.script, ask_back))
		return false;
	done = now_ns();
	if (!send_in(c->fd, is(asked.reply, "split") ? 2 : 1, REPLY,
		     is(asked.reply, "more") ? MSG_MORE : 0, NULL))
		return false;
	wrote = now_ns();
	pthread_mutex_lock(&out_lock);
	fprintf(out,
		"{\"conn\":%d,\"back\":%d,\"number\":%u,\"worker\":%d,\"read\":%lu,\"done\":%lu,\"wrote\":%lu,\"woken\":%lu,\"delay\":%lu",
		c->port, c->back_port, c->number++, worker, read_at, done, wrote, woken - delay,
		run_delay() - woken);
	log_notes(&c->lane);
	pthread_mutex_unlock(&out_lock);
	return true;
}

static struct connection *accept_one(int listener)
{
	struct connection *c = calloc(1, sizeof(*c));

	c->fd = accept(listener, NULL, NULL);
	if (!c || c->fd < 0)
		die("accept");
	set_up(c->fd);
	c->port = port_of(c->fd, getpeername);
	if (asked.back) {
		c->back_fd = dial(asked.back);
		c->back_port = port_of(c->back_fd, getsockname);
	}
	lane__prepare(&c->lane, asked.script);
	return c;
}

static void spawn(void *(*thread)(void *), void *arg)
{
	pthread_t id;

	errno = pthread_create(&id, NULL, thread, arg);
	if (errno)
		die("pthread_create");
	pthread_detach(id);
}

static void *serve_connection(void *arg)
{
	struct connection *c = arg;

	while (serve(c, run_delay(), c->port))
		;
	return NULL;
}

static int listener;

static void *accept_for_threads(void *unused)
{
	(void)unused;
	for (;;)
		spawn(serve_connection, accept_one(listener));
	return NULL;
}

static int epoll_fd;

/* What is ready is read by whoever gets it, and is looked for again when that one is done. */
static void await(struct connection *c, int how)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = c};

	if (epoll_ctl(epoll_fd, how, c ? c->fd : listener, &event))
		die("epoll_ctl");
}

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t wanted;
	struct connection *first, **last;
} ready = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &ready.first};

static void hand_over(struct connection *c)
{
	c->next = NULL;
	pthread_mutex_lock(&ready.mutex);
	*ready.last = c;
	ready.last = &c->next;
	pthread_cond_signal(&ready.wanted);
	pthread_mutex_unlock(&ready.mutex);
}

static void *serve_ready(void *arg)
{
	uint64_t delay = run_delay();

	for (;;) {
		struct connection *c;

		pthread_mutex_lock(&ready.mutex);
		while (!ready.first)
			pthread_cond_wait(&ready.wanted, &ready.mutex);
		c = ready.first;
		ready.first = c->next;
		if (!ready.first)
			ready.last = &ready.first;
		pthread_mutex_unlock(&ready.mutex);
		if (serve(c, delay, (long)arg))
			await(c, EPOLL_CTL_MOD);
		delay = run_delay();
	}
	return NULL;
}

static void *accept_for_loop(void *unused)
{
	bool has_pool = is(asked.shape, "pool");

	(void)unused;
	epoll_fd = epoll_create1(0);
	await(NULL, EPOLL_CTL_ADD);
	for (long i = 0; has_pool && i < WORKERS; i++)
		spawn(serve_ready, (void *)i);
	for (;;) {
		struct epoll_event events[8];
		uint64_t delay = run_delay();
		int n = epoll_wait(epoll_fd, events, 8, -1);

		for (int i = 0; i < n; i++) {
			struct connection *c = events[i].data.ptr;

			if (!c) {
				await(accept_one(listener), EPOLL_CTL_ADD);
				await(NULL, EPOLL_CTL_MOD);
			} else if (has_pool) {
				hand_over(c);
			} else {
				if (serve(c, delay, 0))
					await(c, EPOLL_CTL_MOD);
				delay = run_delay();
			}
		}
	}
	return NULL;
}

static int listen_here(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, CONNECTIONS))
		die("listen");
	return port_of(listener, getsockname);
}

/* ---- the client ---- */

static bool begin_request(struct connection *c)
{
	c->delay = run_delay();
	c->got = 0;
	c->first_write = now_ns();
	return send_in(c->fd, is(asked.ask, "split") ? 2 : 1, REQUEST, 0, &c->last_write);
}

/* The answer is there. What the client does before its next request is logged with this one. */
static void end_request(struct connection *c)
{
	uint64_t last = now_ns(), delay = run_delay() - c->delay;

	lane__run(&c->lane, asked.think, NULL);
	pthread_mutex_lock(&out_lock);
	fprintf(out,
		"{\"conn\":%d,\"number\":%u,\"first_write\":%lu,\"last_write\":%lu,\"last\":%lu,\"delay\":%lu",
		c->port, c->number++, c->first_write, c->last_write, last, delay);
	log_notes(&c->lane);
	pthread_mutex_unlock(&out_lock);
}

/* The way in which the client's threads wait. */
static bool poll_and_receive(int fd)
{
	char bytes[REPLY];

	for (int got = 0, n; got < REPLY; got += n) {
		struct pollfd wanted = {.fd = fd, .events = POLLIN};

		poll(&wanted, 1, -1);
		n = recv(fd, bytes, REPLY - got, MSG_DONTWAIT);
		if (n <= 0)
			return false;
	}
	return true;
}

static bool receive_by_ring(int fd)
{
	static __thread struct io_uring ring;
	static __thread bool is_open;
	char bytes[REPLY];

	if (!is_open && io_uring_queue_init(4, &ring, 0))
		return false;
	is_open = true;
	for (int got = 0, n; got < REPLY; got += n) {
		struct io_uring_cqe *cqe;

		io_uring_prep_recv(io_uring_get_sqe(&ring), fd, bytes, REPLY - got, 0);
		if (io_uring_submit_and_wait(&ring, 1) < 0 || io_uring_peek_cqe(&ring, &cqe))
			return false;
		n = cqe->res;
		io_uring_cqe_seen(&ring, cqe);
		if (n <= 0)
			return false;
	}
	return true;
}

static void *ask_often(void *arg)
{
	struct connection *c = arg;

	while (begin_request(c) && (is(asked.wait, "ring")   ? receive_by_ring(c->fd)
				    : is(asked.wait, "poll") ? poll_and_receive(c->fd)
							     : receive(c->fd, REPLY)))
		end_request(c);
	return NULL;
}

static struct connection *clients[CONNECTIONS];

static void *ask_in_loop(void *unused)
{
	(void)unused;
	epoll_fd = epoll_create1(0);
	for (int i = 0; i < asked.connections; i++) {
		await(clients[i], EPOLL_CTL_ADD);
		begin_request(clients[i]);
	}
	for (;;) {
		struct epoll_event events[8];
		int n = epoll_wait(epoll_fd, events, 8, -1);

		for (int i = 0; i < n; i++) {
			struct connection *c = events[i].data.ptr;
			char bytes[REPLY];
			int got = recv(c->fd, bytes, REPLY - c->got, MSG_DONTWAIT);

			if (got <= 0)
				continue; /* for good: the server has gone */
			c->got += got;
			if (c->got == REPLY) {
				end_request(c);
				if (!begin_request(c))
					continue;
			}
			await(c, EPOLL_CTL_MOD);
		}
	}
	return NULL;
}

static void start_client(void)
{
	struct io_uring ring;

	if (is(asked.wait, "ring") && is(asked.shape, "thread")) {
		if (io_uring_queue_init(4, &ring, 0)) {
			fprintf(stderr, "random: no io_uring\n");
			exit(77);
		}
		io_uring_queue_exit(&ring);
	}
	for (int i = 0; i < asked.connections; i++) {
		struct connection *c = clients[i] = calloc(1, sizeof(*c));

		c->fd = dial(asked.port);
		c->port = port_of(c->fd, getsockname);
		lane__prepare(&c->lane, asked.think);
	}
	/* Not all in the same step. */
	for (int i = 0; i < asked.connections && is(asked.shape, "thread"); i++) {
		spawn(ask_often, clients[i]);
		usleep(3000);
	}
	if (is(asked.shape, "loop"))
		spawn(ask_in_loop, NULL);
}

/* ---- main ---- */

static bool take_word(const char *word)
{
	const struct {
		const char *name;
		const char **text;
		int *number;
	} words[] = {
		{"log=", &asked.log, NULL},
		{"script=", &asked.script, NULL},
		{"shape=", &asked.shape, NULL},
		{"reply=", &asked.reply, NULL},
		{"ask=", &asked.ask, NULL},
		{"wait=", &asked.wait, NULL},
		{"think=", &asked.think, NULL},
		{"port=", NULL, &asked.port},
		{"back=", NULL, &asked.back},
		{"nodelay=", NULL, &asked.nodelay},
		{"connections=", NULL, &asked.connections},
		{"unit=", NULL, &asked.unit},
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].name);

		if (strncmp(word, words[i].name, length))
			continue;
		if (words[i].text)
			*words[i].text = word + length;
		else
			*words[i].number = atoi(word + length);
		return true;
	}
	if (!strncmp(word, "name=", 5))
		return !prctl(PR_SET_NAME, word + 5);
	return false;
}

int main(int argc, char **argv)
{
	bool is_client = argc > 1 && is(argv[1], "client");
	sigset_t ends;
	int got;

	if (argc == 2 && is(argv[1], "steps"))
		return steps__print(), 0;
	if (argc < 3 || (!is_client && !is(argv[1], "server")))
		return 64;
	for (int i = 2; i < argc; i++)
		if (!take_word(argv[i]))
			return fprintf(stderr, "random: no word %s\n", argv[i]), 64;
	if (!script__is_known(asked.script) || !script__is_known(asked.think) ||
	    asked.connections > CONNECTIONS)
		return fprintf(stderr, "random: no such script\n"), 64;
	step_unit_ns = asked.unit * 1000ull;
	out = asked.log ? fopen(asked.log, "w") : NULL;
	if (!out || setvbuf(out, NULL, _IOFBF, 4 << 20))
		die("the log");
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	if (is_client)
		start_client();
	else
		asked.port = listen_here();
	printf("ready port=%d\n", asked.port);
	fflush(stdout);
	if (!is_client)
		spawn(is(asked.shape, "thread") ? accept_for_threads : accept_for_loop, NULL);
	sigwait(&ends, &got);
	pthread_mutex_lock(&out_lock);
	fclose(out);
	_exit(0);
}
