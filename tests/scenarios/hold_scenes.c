// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Bytes that Nagle's algorithm or a cork holds back, and what only looks like it. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define NAGLE_DELACK .cause = "nagle-delack"

static const struct script split = {.request = {40, 136}, .reply = {96}, NAGLE_DELACK};
static const struct script split_far = {
	.request = {40, 136}, .reply = {96}, NAGLE_DELACK, .warmup = 3};
static const struct script server_split_late = {
	.request = {176}, .late = true, .reply = {40, 900}, .reply_cause = "nagle-delack"};
static const struct script pieces_5 = {
	.request = {40, 50, 60, 70, 80}, .reply = {96}, NAGLE_DELACK};
static const struct script late_second = {
	.request = {40, 136}, .gap_us = 25000, .reply = {96}, NAGLE_DELACK};
static const struct script by_sendmsg = {
	.request = {40, 136}, .way = BY_SENDMSG, .reply = {96}, NAGLE_DELACK};
static const struct script by_sendfile = {
	.request = {40, 9000}, .way = BY_SENDFILE, .reply = {96}, NAGLE_DELACK};
static const struct script by_splice = {
	.request = {40, 4000}, .way = BY_SPLICE, .reply = {96}, NAGLE_DELACK};
static const struct script by_writev = {.request = {40, 136}, .way = BY_WRITEV, .reply = {96}};
static const struct script server_split = {
	.request = {176}, .reply = {40, 900}, .reply_cause = "nagle-delack"};
static const struct script both_sides = {
	.request = {40, 136}, .reply = {40, 900}, NAGLE_DELACK, .reply_cause = "nagle-delack"};
static const struct script pipelined = {.request = {40, 136},
					.pipelined = 4,
					.reply = {96},
					NAGLE_DELACK,
					.reply_cause = "nagle-delack"};
static const struct script by_data = {.request = {40, 136},
				      .early_us = 20000,
				      .early_bytes = 40,
				      .reply = {96},
				      .unheld_cause = "peer-app",
				      .cause = "nagle"};
static const struct script ended_by_option = {.request = {40, 136},
					      .nodelay_late_us = 20000,
					      .reply = {96},
					      .cause = "nagle",
					      .unheld_cause = "timer"};
static const struct script prompt_ack = {.request = {40, 136},
					 .quickack = true,
					 .reply = {96},
					 .cause = "nagle",
					 .beside_us = 10000};
static const struct script more_given_up = {
	.request = {100}, .way = BY_MORE, .reply = {96}, .cause = "cork"};
static const struct script corked = {
	.request = {100}, .cork = true, .gap_us = 30000, .reply = {96}, .cause = "cork"};
static const struct script uncorked_at_once = {.request = {100}, .cork = true, .reply = {96}};
static const struct script nodelay = {.request = {40, 136}, .nodelay = true, .reply = {96}};
static const struct script single = {.request = {176}, .reply = {96}};
static const struct script harmless = {
	.request = {176}, .reply = {96}, .burst = 5, .pause_us = 60000, .pause_cause = "timer"};

/* ---- two writes of which the second is about as long as a segment ---- */

/* Around what fits into a segment of loopback, and into its MTU. */
static const int around_mss[] = {-1, 0, 1, 52, -1000};

static void client_around_mss(struct stage *stage)
{
	struct phases phases;
	struct tcp_info info;
	socklen_t size = sizeof(info);
	int fd = connect_to(stage);

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint32_t length;

		/* It grows with the window. */
		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
			die("TCP_INFO: %s", strerror(errno));
		length = info.tcpi_snd_mss + around_mss[i % 5];
		atomic_store(&stage->word, length);
		write_all(fd, 4);
		write_all(fd, length);
		if (!read_all(fd, 96))
			die("the server hung up");
		phases__end(&phases, "nagle-delack");
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void server_around_mss(struct stage *stage)
{
	int fd = accept_one(stage);

	while (read_all(fd, 4) && read_all(fd, atomic_load(&stage->word)))
		write_all(fd, 96);
}

/* ---- one connection of many ---- */

#define MANY 64

static void client_one_of_many(struct stage *stage)
{
	struct phases phases;
	int fds[MANY];

	for (int i = 0; i < MANY; i++)
		fds[i] = connect_to(stage);
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t n = 0; n < stage->count; n++)
		for (int i = 0; i < MANY; i++) {
			if (i == 17) {
				write_all(fds[i], 40);
				write_all(fds[i], 136);
			} else {
				write_all(fds[i], 176);
			}
			if (!read_all(fds[i], 96))
				die("the server hung up");
			phases__end(&phases, i == 17 ? "nagle-delack" : NULL);
			atomic_fetch_add(&stage->exchanges, 1);
		}
}

static void *serve_thread(void *arg)
{
	struct stage *stage = arg;
	int fd = accept_one(stage);

	while (read_all(fd, 176))
		write_all(fd, 96);
	return NULL;
}

static void server_one_of_many(struct stage *stage)
{
	for (int i = 1; i < MANY; i++)
		start_thread(serve_thread, stage);
	serve_thread(stage);
	pause();
}

/* ---- two threads, one socket: each writes a part ---- */

struct partner {
	int fd;
	int turn[2];
	struct stage *stage;
};

static void *write_second(void *arg)
{
	struct partner *partner = arg;
	char byte;

	stage__enter(partner->stage);
	while (read(partner->turn[0], &byte, 1) == 1)
		write_all(partner->fd, 136);
	return NULL;
}

static void client_shared_socket(struct stage *stage)
{
	static struct partner partner;
	struct phases phases;

	partner.stage = stage;
	partner.fd = connect_to(stage);
	if (pipe(partner.turn))
		die("no pipe: %s", strerror(errno));
	start_thread(write_second, &partner);
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		write_all(partner.fd, 40);
		if (write(partner.turn[1], "", 1) != 1 || !read_all(partner.fd, 96))
			die("no reply");
		phases__end(&phases, "nagle-delack");
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

/* ---- a server that forks for each connection ---- */

static void server_forks(struct stage *stage)
{
	int fd = accept_one(stage);

	if (!fork()) {
		stage__enter(stage);
		serve(stage, fd, stage->scene->script);
		_exit(0);
	}
	close(fd);
	pause();
}

/* ---- a route that says when acknowledgements are due ---- */

static void setup_short_delack(struct stage *stage)
{
	stage__private_loopback(stage);
	if (system("ip route replace local 127.0.0.0/8 dev lo table local rto_min 25ms && "
		   "ip route replace local 127.0.0.1 dev lo table local rto_min 25ms"))
		cannot("this route cannot be set");
}

static void setup_path_20ms(struct stage *stage)
{
	stage__path(stage, 10000);
}

static void setup_path(struct stage *stage)
{
	stage__path(stage, 0);
}

#define ON_PATH [4] = play_path
#define ENDS    play_client, play_server

/* clang-format off */
const struct scene hold_scenes[] = {
	{"split", NULL, {ENDS}, 1, 16, &split, .makes = {"nagle-delack", 12, 0.80}, .verdict = {.cause = "nagle-delack"}, .followed = &by_writev, .quick = true},
	{"split-seen-by-server", NULL, {ENDS}, 2, 16, &split, .makes = {"nagle-delack", 12, 0.80}},
	{"split-seen-by-both", NULL, {ENDS}, 3, 16, &split, .makes = {"nagle-delack", 12, 0.80}},
	{"split-ipv6", stage__listen_ipv6, {ENDS}, 1, 12, &split, .makes = {"nagle-delack", 9, 0.80}},
	{"split-netns", setup_path, {ENDS, ON_PATH}, 1, 12, &split, .makes = {"nagle-delack", 9, 0.80}},
	{"split-far", setup_path_20ms, {ENDS, ON_PATH}, 1, 10, &split_far, .makes = {"nagle-delack", 8, 0.80}},
	{"pieces-5", NULL, {ENDS}, 1, 12, &pieces_5, .makes = {"nagle-delack", 9, 0.80}},
	{"late-second", NULL, {ENDS}, 1, 16, &late_second, .makes = {"nagle-delack", 12, 0.25}, .quick = true},
	{"sendmsg", NULL, {ENDS}, 1, 12, &by_sendmsg, .makes = {"nagle-delack", 9, 0.80}},
	{"sendfile", NULL, {ENDS}, 1, 12, &by_sendfile, .makes = {"nagle-delack", 9, 0.80}},
	{"splice", NULL, {ENDS}, 1, 12, &by_splice, .makes = {"nagle-delack", 9, 0.80}},
	{"writev", NULL, {ENDS}, 1, 2000, &by_writev, .alone = true},
	{"server-split", NULL, {ENDS}, 1, 12, &server_split, .makes = {"nagle-delack", 9, 0.80}, .quick = true},
	{"server-split-seen-by-server", NULL, {ENDS}, 2, 12, &server_split, .makes = {"nagle-delack", 9, 0.80}},
	{"both-sides", NULL, {ENDS}, 1, 10, &both_sides, .makes = {"nagle-delack", 14, 0.80}},
	{"pipelined", NULL, {ENDS}, 1, 12, &pipelined, .makes = {"nagle-delack", 18, 0.80}},
	{"around-mss", NULL, {client_around_mss, server_around_mss}, 1, 40, NULL, .makes = {"nagle-delack", 6, 0.50}, .alone = true},
	{"one-of-64", NULL, {client_one_of_many, server_one_of_many}, 1, 14, NULL, .makes = {"nagle-delack", 10, 0.60}, .alone = true},
	{"shared-socket", NULL, {client_shared_socket, play_server}, 1, 12, &split, .makes = {"nagle-delack", 9, 0.80}},
	{"fork-after-accept", NULL, {play_client, server_forks}, 1, 12, &split, .makes = {"nagle-delack", 9, 0.80}},
	{"fork-after-accept-seen-by-server", NULL, {play_client, server_forks}, 2, 12, &server_split_late, .makes = {"nagle-delack", 9, 0.80}, .alone = true, .options = "--children"},
	{"short-delack", setup_short_delack, {ENDS}, 1, 20, &split, .makes = {"nagle-delack", 14, 0.80}},
	{"released-by-data", NULL, {ENDS}, 1, 14, &by_data, .makes = {"nagle", 10, 0.80}, .quick = true},
	{"released-by-option", NULL, {ENDS}, 1, 14, &ended_by_option, .makes = {"nagle", 10, 0.80}},
	{"prompt-ack", setup_path_20ms, {ENDS, ON_PATH}, 1, 12, &prompt_ack, .makes = {"nagle", 9, 0.80}, .verdict = {.cause = "nagle"}, .followed = &by_writev},
	{"more-given-up", NULL, {ENDS}, 1, 6, &more_given_up, .makes = {"cork", 4, 0.80}},
	{"cork", NULL, {ENDS}, 1, 16, &corked, .makes = {"cork", 12, 0.80}, .verdict = {.cause = "cork"}, .followed = &uncorked_at_once, .quick = true},
	{"nodelay", NULL, {ENDS}, 1, 2000, &nodelay, .alone = true},
	{"single", NULL, {ENDS}, 1, 2000, &single, .alone = true},
	{"harmless-delack", NULL, {ENDS}, 1, 50, &harmless, .makes = {"timer", 8, 0.80}},
	{0},
};
/* clang-format on */
