// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The waits of the other scenes, on a ring of io_uring's: each has the cause of its operation. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scenarios/scene.h"

#define REQUEST 176
#define ANSWER  96

static const struct script split = {
	.request = {40, 136}, .reply = {ANSWER}, .cause = "nagle-delack"};
static const struct script late_server = {
	.request = {REQUEST}, .reply = {ANSWER}, .serve_us = 40000, .cause = "peer-app"};
static const struct script single = {.request = {REQUEST}, .reply = {ANSWER}};
static const struct script paused = {
	.request = {REQUEST}, .reply = {ANSWER}, .pause_us = 60000, .pause_cause = "idle"};

/* Asks through a ring; what it does between two exchanges is the function's, and has that cause. */
static void ask(struct stage *stage, void (*between)(int fd), const char *cause)
{
	const struct script *script = stage->scene->script;
	struct phases phases;
	int fd = connect_to(stage);

	uring__open();
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uring__exchange(fd, script->request, ANSWER);
		phases__end(&phases, script->cause);
		atomic_fetch_add(&stage->exchanges, 1);
		if (!between)
			continue;
		between(fd);
		phases__end(&phases, cause);
	}
}

static void client(struct stage *stage)
{
	ask(stage, NULL, NULL);
}

static void sleep_by_ring(int fd)
{
	(void)fd;
	uring__sleep(40);
}

static void client_with_timeout(struct stage *stage)
{
	ask(stage, sleep_by_ring, "timer");
}

static void receive_in_vain(int fd)
{
	uring__receive_in_vain(fd, 40);
}

static void client_with_time_limit(struct stage *stage)
{
	ask(stage, receive_in_vain, "timer");
}

/* In the current folder, which is on a disk if any is. */
static void store(int fd)
{
	static int file = -1;
	static char *block;
	const size_t size = 48 << 20;

	(void)fd;
	if (file < 0) {
		file = open(".", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
		if (file < 0 || posix_memalign((void **)&block, 4096, size))
			cannot("no file that passes the cache by: %s", strerror(errno));
		memset(block, 1, size);
	}
	uring__store(file, block, size);
}

static void client_with_disk(struct stage *stage)
{
	ask(stage, store, "disk");
}

static void server(struct stage *stage)
{
	int fd = accept_one(stage);

	uring__open();
	while (uring__serve(fd, REQUEST, ANSWER, 0))
		;
}

static void late_ring_server(struct stage *stage)
{
	int fd = accept_one(stage);

	uring__open();
	while (uring__serve(fd, REQUEST, ANSWER, 40))
		;
}

/* clang-format off */
const struct scene uring_scenes[] = {
	{"uring-split", NULL, {client, play_server}, 1, 16, &split, .makes = {"nagle-delack", 12, 0.80}, .quick = true},
	{"uring-late-server", NULL, {client, play_server}, 1, 16, &late_server, .makes = {"peer-app", 12, 0.80}, .quick = true},
	{"uring-late-ring-server", NULL, {client, late_ring_server}, 1, 16, &late_server, .makes = {"peer-app", 12, 0.80}},
	{"uring-timeout", NULL, {client_with_timeout, play_server}, 1, 16, &single, .makes = {"timer", 12, 0.80}},
	{"uring-time-limit", NULL, {client_with_time_limit, play_server}, 1, 16, &single, .makes = {"timer", 12, 0.80}, .quick = true},
	{"uring-disk", NULL, {client_with_disk, play_server}, 1, 12, &single, .makes = {"disk", 8, 0.50}, .alone = true},
	{"uring-server", NULL, {play_client, server}, 2, 16, &paused, .quick = true},
	{0},
};
/* clang-format on */
