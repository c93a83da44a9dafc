// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Servers that come to accept() late: a new connection for each request. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define REQUEST 176
#define ANSWER  96
#define AWAY_MS 90

struct door {
	uint32_t sleep_ms; /* the server, after each connection */
	uint32_t spin_ms;
	uint32_t serve_ms;
	uint32_t backlog;
	const char *cause; /* of a request's time */
};

static const struct door *door_of(const struct stage *stage)
{
	return stage->scene->script;
}

static void listen_door(struct stage *stage)
{
	stage__listen(stage, (int)door_of(stage)->backlog);
}

static void client(struct stage *stage)
{
	const struct door *door = door_of(stage);
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns();
		int fd = connect_to(stage);

		write_all(fd, REQUEST);
		if (!read_all(fd, ANSWER))
			die("the server hung up");
		stage__request(stage, start_ns);
		if (stage->scene->targets & 1)
			phases__end(&phases, door->cause);
		close(fd);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

/* Away between two connections: the next one comes meanwhile. */
static void server(struct stage *stage)
{
	const struct door *door = door_of(stage);
	struct phases phases;
	struct part part;

	phases__begin(&phases, stage);
	for (uint32_t i = 0;; i++) {
		int fd = accept_one(stage);

		if (i && !is_about_server(stage))
			part__end(stage, &part);
		if (!(stage->scene->targets & 1))
			phases__end(&phases, i ? door->cause : "idle");
		if (!read_all(fd, REQUEST))
			die("no request");
		if (is_about_server(stage))
			part = part__begin();
		if (door->serve_ms)
			sleep_ms(door->serve_ms);
		if (is_about_server(stage))
			part__end(stage, &part);
		write_all(fd, ANSWER);
		if (!(stage->scene->targets & 1))
			phases__end(&phases, "timer");
		close(fd);
		part = part__begin();
		if (door->sleep_ms)
			sleep_ms(door->sleep_ms);
		if (door->spin_ms)
			spin_ms(stage, door->spin_ms);
	}
}

/* Another process has the listener too, as of a server that forks its workers. */
static void server_of_two(struct stage *stage)
{
	pid_t pid = fork();

	if (pid < 0)
		die("no process: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	server(stage);
}

/* ---- two listeners on one port ---- */

static void listen_twice(struct stage *stage)
{
	stage__listen_twice(stage, 64);
}

/* The kernel chooses by the client's port; who accepts says in the stage's word whose it was. */
static void client_of_two(struct stage *stage)
{
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		int fd;

		atomic_store(&stage->word, 0);
		fd = connect_to(stage);
		write_all(fd, REQUEST);
		if (!read_all(fd, ANSWER))
			die("the server hung up");
		phases__end(&phases, atomic_load(&stage->word) ? "accept-queue" : NULL);
		close(fd);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void serve_one(int fd)
{
	if (!read_all(fd, REQUEST))
		die("no request");
	write_all(fd, ANSWER);
	close(fd);
}

static void prompt_server(struct stage *stage)
{
	close(stage->listener_behind);
	for (;;)
		serve_one(accept_one(stage));
}

/* It sees that somebody is there, and comes to it late. */
static void late_server(struct stage *stage)
{
	struct pollfd door = {.fd = stage->listener_behind, .events = POLLIN};

	close(stage->listener);
	for (;;) {
		struct part part;
		int fd;

		if (poll(&door, 1, -1) != 1)
			die("cannot wait: %s", strerror(errno));
		part = part__begin();
		sleep_ms(AWAY_MS);
		fd = accept_behind(stage);
		part__end(stage, &part);
		atomic_store(&stage->word, 1);
		serve_one(fd);
	}
}

/* ---- more at once than the queue has room for ---- */

#define FULL_MS 300 /* less than until a SYN is sent again */

static void setup_overflow(struct stage *stage)
{
	stage__listen(stage, 1);
	for (int i = 0; i < 4; i++)
		if (pipe(stage->duct[i]))
			die("no pipe: %s", strerror(errno));
}

static void say(struct stage *stage, int duct)
{
	if (write(stage->duct[duct][1], "", 1) != 1)
		die("nobody is there: %s", strerror(errno));
}

static void hear(struct stage *stage, int duct)
{
	char byte;

	if (read(stage->duct[duct][0], &byte, 1) != 1)
		die("nobody is there: %s", strerror(errno));
}

static void ask(int fd)
{
	write_all(fd, REQUEST);
	if (!read_all(fd, ANSWER))
		die("the server hung up");
	close(fd);
}

/* The queue is full: its SYN is dropped, and the next one is answered. */
static void *connect_in_vain(void *arg)
{
	struct stage *stage = arg;
	struct phases phases;
	int fd;

	phases__begin(&phases, stage);
	fd = connect_to(stage);
	if (stage->scene->targets & 1)
		phases__end(&phases, "syn-retransmit");
	ask(fd);
	if (stage->scene->targets & 1)
		phases__end(&phases, NULL);
	return NULL;
}

/* Two at once. */
static void clients_too_many(struct stage *stage)
{
	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		say(stage, 0);
		hear(stage, 1);
		start_thread(connect_in_vain, stage);
		connect_in_vain(stage);
		hear(stage, 3);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

/* No target. As many as there is room for; the second asks when the first has its answer. */
static void clients_before(struct stage *stage)
{
	close(stage->listener);
	for (;;) {
		int first, second;

		hear(stage, 0);
		first = connect_to(stage);
		second = connect_to(stage);
		say(stage, 1);
		say(stage, 2);
		ask(first);
		ask(second);
	}
}

static void server_overrun(struct stage *stage)
{
	bool is_target = stage->scene->targets & 2;
	struct phases phases;

	phases__begin(&phases, stage);
	for (;;) {
		struct part part;
		int fd;

		hear(stage, 2);
		phases__end(&phases, "idle");
		part = part__begin();
		sleep_ms(FULL_MS);
		fd = accept_one(stage);
		part__end(stage, &part);
		phases__end(&phases, is_target ? "accept-queue" : "idle");
		serve_one(fd);
		for (int i = 1; i < 4; i++)
			serve_one(accept_one(stage));
		say(stage, 3);
		phases__end(&phases, "idle");
	}
}

/* ---- connects that come to nothing ---- */

static const struct script beside = {.request = {REQUEST}, .reply = {ANSWER}};

/* Beside a healthy connection. A port that is bound, and at which nobody listens. */
static void client_refused(struct stage *stage)
{
	struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_addr.s_addr = stage->address};
	int bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), tcp = connect_to(stage), fd;
	socklen_t length = sizeof(nobody);
	struct phases phases;

	if (bound < 0 || bind(bound, (struct sockaddr *)&nobody, length) ||
	    getsockname(bound, (struct sockaddr *)&nobody, &length))
		die("no port: %s", strerror(errno));
	stage__wait_at_gate(stage);
	warm_up(tcp, &beside);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, tcp, &beside);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(fd, (struct sockaddr *)&nobody, length) || errno != ECONNREFUSED)
			die("somebody listens there");
		close(fd);
	}
	phases__end(&phases, NULL);
}

static void server_beside(struct stage *stage)
{
	serve(stage, accept_one(stage), &beside);
}

static const struct door sleeps = {.sleep_ms = AWAY_MS, .backlog = 64, .cause = "accept-queue"};
static const struct door sleeps_and_serves = {
	.sleep_ms = AWAY_MS, .serve_ms = 8, .backlog = 64, .cause = "accept-queue"};
static const struct door computes = {.spin_ms = AWAY_MS, .backlog = 64, .cause = "accept-queue"};
static const struct door no_backlog = {.sleep_ms = AWAY_MS, .backlog = 0, .cause = "accept-queue"};
/* What is accepted at once and read late is no matter of the queue. */
static const struct door serves_late = {.serve_ms = 60, .backlog = 64, .cause = "peer-app"};

#define ENDS      client, server
#define NO_ADVICE "more connections\\)|pipelining"

/* clang-format off */
const struct scene accept_scenes[] = {
	{"slow-accept", listen_door, {ENDS}, 1, 14, &sleeps, .makes = {"accept-queue", 10, 0.80}, .verdict = {"accept-queue", .says = "listen queue", .never = NO_ADVICE}},
	{"slow-accept-and-answer", listen_door, {ENDS}, 1, 14, &sleeps_and_serves, .makes = {"accept-queue", 10, 0.80}, .verdict = {"accept-queue", .says = "listen queue", .never = NO_ADVICE}},
	{"slow-accept-seen-by-server", listen_door, {ENDS}, 2, 14, &sleeps, .makes = {"accept-queue", 10, 0.80}, .verdict = {"accept-queue", .says = "listen queue", .never = NO_ADVICE}},
	{"slow-accept-seen-by-both", listen_door, {ENDS}, 3, 14, &sleeps, .makes = {"accept-queue", 10, 0.80}, .verdict = {"accept-queue", .says = "listen queue", .never = NO_ADVICE}},
	{"computes-before-accept", listen_door, {ENDS}, 1, 14, &computes, .makes = {"accept-queue", 10, 0.60}, .verdict = {"accept-queue", .says = "computes", .never = NO_ADVICE}, .computes = true},
	{"slow-accept-without-backlog", listen_door, {ENDS}, 1, 14, &no_backlog, .makes = {"accept-queue", 10, 0.80}, .quick = true},
	{"accepts-and-reads-late-one-of-two", listen_door, {client, server_of_two}, 1, 14, &serves_late, .makes = {"peer-app", 10, 0.80}, .verdict = {"peer-app", .never = "accept-queue|listen queue"}},
	{"accepts-and-reads-late", listen_door, {ENDS}, 1, 14, &serves_late, .makes = {"peer-app", 10, 0.80}, .verdict = {"peer-app", .never = "accept-queue|listen queue"}},
	{"slow-accept-reuseport", listen_twice, {client_of_two, prompt_server, late_server}, 1, 32, NULL, .makes = {"accept-queue", 6, 0.80}, .verdict = {"accept-queue", .says = "listen queue of scene-third/", .never = NO_ADVICE}},
	{"accept-overflow", setup_overflow, {clients_too_many, server_overrun, clients_before}, 1, 3, NULL, .makes = {"syn-retransmit", 4, 0.80}, .verdict = {"syn-retransmit", .says = "listen queue"}},
	{"accept-overflow-seen-by-server", setup_overflow, {clients_too_many, server_overrun, clients_before}, 2, 1, NULL, .makes = {"accept-queue", 1, 0.10}, .verdict = {"accept-queue", .says = "connection attempts found the listen queue of :[0-9]+ full and were dropped .backlog 1, "}},
	{"connect-refused", NULL, {client_refused, server_beside}, 1, 12, NULL, .verdict = {"none", .says = "12 connects to 127.0.0.1:[0-9]+ were refused"}},
	{0},
};
/* clang-format on */
