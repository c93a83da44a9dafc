// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sleeps that others end, processes that are stopped, time-outs that ran out and whose they are. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define HEADER 200
#define BODY   1000
#define ANSWER 96

/* How a client waits for an answer, for so long at a time. */
struct patience {
	struct script script;
	bool (*comes)(int fd, uint32_t ms); /* whether it can be read now */
	uint32_t ms;
};

static bool comes_by_poll(int fd, uint32_t ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static bool comes_by_select(int fd, uint32_t ms)
{
	struct timeval t = {.tv_usec = ms * 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &t) == 1;
}

static bool comes_by_epoll(int fd, uint32_t ms)
{
	static int epoll = -1;
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll < 0) {
		epoll = epoll_create1(EPOLL_CLOEXEC);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
			die("epoll_ctl: %s", strerror(errno));
	}
	return epoll_wait(epoll, &event, 1, ms) == 1;
}

static bool comes_by_receive(int fd, uint32_t ms)
{
	struct timeval t = {.tv_usec = ms * 1000};
	char byte;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	return recv(fd, &byte, 1, MSG_PEEK) == 1;
}

static const struct patience *patience_of(const struct stage *stage)
{
	return stage->scene->script;
}

/* ---- a client whose own time-out runs out before it goes on, as with `Expect: 100-continue` ----
 */

static const char *expect(struct phases *phases, int fd)
{
	const struct patience *patience = patience_of(phases->stage);
	struct part part = part__begin();

	write_all(fd, HEADER);
	if (patience->comes(fd, patience->ms))
		die("the server talks unasked");
	part__end(phases->stage, &part);
	phases__end(phases, "timer");
	write_all(fd, BODY);
	if (!read_all(fd, ANSWER))
		die("the server hung up");
	return NULL;
}

static void client_that_expects(struct stage *stage)
{
	ask_by_turns(stage, connect_to(stage), expect);
}

/* ---- a client that looks again and again ---- */

static const char *ask_in_steps(struct phases *phases, int fd)
{
	const struct patience *patience = patience_of(phases->stage);

	write_all(fd, patience->script.request[0]);
	while (!patience->comes(fd, patience->ms))
		;
	if (!read_all(fd, ANSWER))
		die("the server hung up");
	return patience->script.cause;
}

static void client_in_steps(struct stage *stage)
{
	ask_by_turns(stage, connect_to(stage), ask_in_steps);
}

/* ---- a server whose sleep another process ends ---- */

static void on_signal(int number)
{
	(void)number;
}

static void call_the_third(struct stage *stage)
{
	if (write(stage->duct[0][1], "", 1) != 1)
		die("nobody to call");
}

static void server_is_woken(struct stage *stage)
{
	struct sigaction action = {.sa_handler = on_signal};
	const struct timespec long_enough = {.tv_sec = 20};
	int fd = accept_one(stage);

	sigaction(SIGUSR1, &action, NULL);
	while (read_all(fd, 176)) {
		struct part part = part__begin();

		call_the_third(stage);
		if (!nanosleep(&long_enough, NULL))
			die("nobody ended the sleep");
		part__end(stage, &part);
		write_all(fd, ANSWER);
	}
}

static void server_waits_for_signal(struct stage *stage)
{
	int fd = accept_one(stage), number;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (read_all(fd, 176)) {
		struct part part = part__begin();

		call_the_third(stage);
		if (sigwait(&set, &number))
			die("no signal");
		part__end(stage, &part);
		write_all(fd, ANSWER);
	}
}

static void waker(struct stage *stage)
{
	char byte;

	while (read(stage->duct[0][0], &byte, 1) == 1) {
		sleep_ms(40);
		kill(stage->pids[1], SIGUSR1);
	}
}

/* ---- a server that is stopped ---- */

static void freezer(struct stage *stage)
{
	char byte;

	while (read(stage->duct[0][0], &byte, 1) == 1) {
		kill(stage->pids[1], SIGSTOP);
		sleep_ms(40);
		atomic_store(&stage->word, 1);
		kill(stage->pids[1], SIGCONT);
	}
}

/* It answers after it has been stopped, not before. */
static void answer_when_thawed(struct stage *stage, int fd, struct part part)
{
	while (!atomic_load(&stage->word))
		;
	atomic_store(&stage->word, 0);
	part__end(stage, &part);
	write_all(fd, ANSWER);
}

static void frozen_server(struct stage *stage)
{
	int fd = accept_one(stage);

	while (read_all(fd, 176)) {
		struct part part = part__begin();

		call_the_third(stage);
		answer_when_thawed(stage, fd, part);
	}
}

/* What it asked for is 5 ms. */
static void frozen_sleeper(struct stage *stage)
{
	int fd = accept_one(stage);

	while (read_all(fd, 176)) {
		struct part part = part__begin();

		call_the_third(stage);
		sleep_ms(5);
		answer_when_thawed(stage, fd, part);
	}
}

static void setup_third(struct stage *stage)
{
	stage__listen(stage, 64);
	if (pipe(stage->duct[0]))
		die("no pipe: %s", strerror(errno));
}

/* ---- segments sent again while their acknowledgement was merely not due yet ---- */

static void setup_path(struct stage *stage)
{
	stage__path(stage, 0);
}

static const struct script two_small = {.request = {100, 100},
					.reply = {ANSWER},
					.serve_us = 60000,
					.nodelay = true,
					.cause = "peer-app"};

#define EXPECTS  .request = {HEADER, BODY}, .reply = {ANSWER}
#define LATE     .request = {176}, .reply = {ANSWER}, .serve_us = 100000, .cause = "peer-app"
#define COMPUTES .request = {176}, .reply = {ANSWER}, .spin_us = 100000, .cause = "peer-app"

static const struct patience expects_by_poll = {{EXPECTS}, comes_by_poll, 120};
static const struct patience expects_by_select = {{EXPECTS}, comes_by_select, 120};
static const struct patience expects_by_epoll = {{EXPECTS}, comes_by_epoll, 120};
static const struct patience expects_by_receive = {{EXPECTS}, comes_by_receive, 120};
static const struct patience steps_of_poll = {{LATE}, comes_by_poll, 15};
static const struct patience steps_of_epoll = {{LATE}, comes_by_epoll, 15};
static const struct patience steps_of_receive = {{LATE}, comes_by_receive, 20};
static const struct patience steps_while_it_computes = {{COMPUTES}, comes_by_poll, 15};
static const struct script by_third = {.request = {176}, .reply = {ANSWER}, .cause = "peer-app"};

#define SLEPT_ITSELF                                                                               \
	"[Ss]lept as long|scene-server[^ ]*, do not sleep|scene-server[^ ]* (sleeps|slept)"

/* clang-format off */
const struct scene timeout_scenes[] = {
	{"woken-by-signal", setup_third, {play_client, server_is_woken, waker}, 1, 14, &by_third, .makes = {"peer-app", 10, 0.80}, .verdict = {"peer-app", .never = SLEPT_ITSELF}},
	{"waits-for-signal", setup_third, {play_client, server_waits_for_signal, waker}, 1, 14, &by_third, .makes = {"peer-app", 10, 0.80}, .verdict = {"peer-app", .never = SLEPT_ITSELF}},
	{"frozen-server", setup_third, {play_client, frozen_server, freezer}, 1, 14, &by_third, .makes = {"peer-app", 10, 0.80}, .verdict = {"peer-app", .never = SLEPT_ITSELF}},
	{"frozen-sleeper", setup_third, {play_client, frozen_sleeper, freezer}, 1, 14, &by_third, .makes = {"peer-app", 10, 0.80}, .verdict = {"peer-app", .never = SLEPT_ITSELF}},
	{"expects-by-poll", NULL, {client_that_expects, play_server}, 1, 8, &expects_by_poll, .makes = {"timer", 6, 0.80}, .verdict = {.cause = "timer"}},
	{"expects-by-select", NULL, {client_that_expects, play_server}, 1, 8, &expects_by_select, .makes = {"timer", 6, 0.80}, .verdict = {.cause = "timer"}},
	{"expects-by-epoll", NULL, {client_that_expects, play_server}, 1, 8, &expects_by_epoll, .makes = {"timer", 6, 0.80}, .verdict = {.cause = "timer"}},
	{"expects-by-receive", NULL, {client_that_expects, play_server}, 1, 8, &expects_by_receive, .makes = {"timer", 6, 0.80}, .verdict = {.cause = "timer"}},
	{"steps-of-poll", NULL, {client_in_steps, play_server}, 1, 8, &steps_of_poll, .makes = {"peer-app", 6, 0.80}, .verdict = {"peer-app", .never = "shorten the time"}},
	{"steps-of-epoll", NULL, {client_in_steps, play_server}, 1, 8, &steps_of_epoll, .makes = {"peer-app", 6, 0.80}, .verdict = {"peer-app", .never = "shorten the time"}},
	{"steps-of-receive", NULL, {client_in_steps, play_server}, 1, 8, &steps_of_receive, .makes = {"peer-app", 6, 0.80}, .verdict = {"peer-app", .never = "shorten the time"}},
	{"steps-while-it-computes", NULL, {client_in_steps, play_server}, 1, 8, &steps_while_it_computes, .makes = {"peer-app", 6, 0.60}, .verdict = {"peer-app", .never = "shorten the time"}, .computes = true},
	{"probe-before-ack", setup_path, {play_client, play_server, [4] = play_path}, 1, 12, &two_small, .makes = {"peer-app", 9, 0.80}, .verdict = {"peer-app", .never = "was lost|[Ll]ost segments"}},
	{0},
};
/* clang-format on */
