// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waits whose cause lies further off: behind another process, thread or lock. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

/* A chain: what the client sends, what the one in the middle sends on, and why that takes long. */
struct chain {
	struct script client;
	struct script behind;
};

static const struct chain slow_backend = {
	.client = {.request = {176}, .reply = {96}, .cause = "peer-app"},
	.behind = {.request = {176}, .reply = {96}, .serve_us = 40000}};
static const struct chain split_to_backend = {
	.client = {.request = {176}, .reply = {96}, .cause = "nagle-delack"},
	.behind = {.request = {40, 136}, .reply = {96}}};
static const struct chain split_by_backend = {
	.client = {.request = {176}, .reply = {96}, .cause = "nagle-delack"},
	.behind = {.request = {176}, .reply = {40, 56}}};
static const struct chain split_by_thread = {
	.client = {.request = {176}, .reply = {96}, .cause = "nagle-delack"},
	.behind = {.request = {40, 136}, .reply = {96}, .cause = "nagle-delack"}};

static const struct chain *chain_of(const struct stage *stage)
{
	return stage->scene->script;
}

/* ---- client -> proxy -> server ---- */

static void client_of_proxy(struct stage *stage)
{
	struct phases phases;
	int fd = connect_to(stage);

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++)
		exchange(&phases, fd, &chain_of(stage)->client);
}

static void proxy(struct stage *stage)
{
	const struct script *behind = &chain_of(stage)->behind;
	int client = accept_one(stage), server = connect_behind(stage);

	while (read_all(client, 176)) {
		for (int i = 0; i < PIECES && behind->request[i]; i++)
			write_all(server, behind->request[i]);
		if (!read_all(server, 96))
			die("the server behind hung up");
		write_all(client, 96);
	}
}

static void server_behind(struct stage *stage)
{
	serve(stage, accept_behind(stage), &chain_of(stage)->behind);
}

/* ---- a thread makes the exchange, another waits for that thread ---- */

static struct {
	struct stage *stage;
	int fd;
	int asked[2], answered[2];
	pthread_mutex_t mutex;
	_Atomic uint32_t held;
} pair = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The exchange of the thread is what the waits are measured by: it makes no record of its own. */
static void make_exchange(void)
{
	const struct script *script = &chain_of(pair.stage)->behind;

	for (int i = 0; i < PIECES && script->request[i]; i++)
		write_all(pair.fd, script->request[i]);
	if (!read_all(pair.fd, 96))
		die("the server hung up");
}

static void *exchanging_thread(void *arg)
{
	uint64_t one = 1;
	char byte;

	(void)arg;
	stage__enter(pair.stage);
	while (read(pair.asked[0], &byte, 1) == 1) {
		make_exchange();
		if (write(pair.answered[1], &one, sizeof(one)) != sizeof(one))
			die("nobody waits");
	}
	return NULL;
}

static void *locking_thread(void *arg)
{
	char byte;

	(void)arg;
	stage__enter(pair.stage);
	while (read(pair.asked[0], &byte, 1) == 1) {
		pthread_mutex_lock(&pair.mutex);
		atomic_store(&pair.held, 1);
		make_exchange();
		pthread_mutex_unlock(&pair.mutex);
	}
	return NULL;
}

static void begin_pair(struct stage *stage, struct phases *phases, void *(*body)(void *))
{
	pair.stage = stage;
	pair.fd = connect_to(stage);
	if (pipe(pair.asked))
		die("no pipe: %s", strerror(errno));
	start_thread(body, NULL);
	stage__wait_at_gate(stage);
	phases__begin(phases, stage);
}

static void ask(void)
{
	if (write(pair.asked[1], "", 1) != 1)
		die("nobody to ask");
}

static void wait_for_answers(struct stage *stage)
{
	struct phases phases;
	uint64_t word;

	begin_pair(stage, &phases, exchanging_thread);
	for (uint32_t i = 0; i < stage->count; i++) {
		ask();
		if (read(pair.answered[0], &word, sizeof(word)) != sizeof(word))
			die("no answer");
		phases__end(&phases, chain_of(stage)->client.cause);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void client_by_eventfd(struct stage *stage)
{
	pair.answered[0] = pair.answered[1] = eventfd(0, EFD_CLOEXEC);
	wait_for_answers(stage);
}

static void client_by_pipe(struct stage *stage)
{
	if (pipe(pair.answered))
		die("no pipe: %s", strerror(errno));
	wait_for_answers(stage);
}

static void client_by_lock(struct stage *stage)
{
	struct phases phases;

	begin_pair(stage, &phases, locking_thread);
	for (uint32_t i = 0; i < stage->count; i++) {
		atomic_store(&pair.held, 0);
		ask();
		while (!atomic_load(&pair.held))
			sched_yield();
		pthread_mutex_lock(&pair.mutex);
		pthread_mutex_unlock(&pair.mutex);
		phases__end(&phases, chain_of(stage)->client.cause);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void server_for_pair(struct stage *stage)
{
	serve(stage, accept_one(stage), &chain_of(stage)->behind);
}

/* ---- a server whose thread waits for a lock of its own ---- */

static void *slow_holder(void *arg)
{
	struct stage *stage = arg;

	stage__enter(stage);
	for (;;) {
		char byte;

		if (read(pair.asked[0], &byte, 1) != 1)
			return NULL;
		pthread_mutex_lock(&pair.mutex);
		atomic_store(&pair.held, 1);
		sleep_ms(30);
		pthread_mutex_unlock(&pair.mutex);
	}
}

static void server_with_lock(struct stage *stage)
{
	int fd = accept_one(stage);

	if (pipe(pair.asked))
		die("no pipe: %s", strerror(errno));
	start_thread(slow_holder, stage);
	while (read_all(fd, 176)) {
		atomic_store(&pair.held, 0);
		ask();
		while (!atomic_load(&pair.held))
			sched_yield();
		pthread_mutex_lock(&pair.mutex);
		pthread_mutex_unlock(&pair.mutex);
		write_all(fd, 96);
	}
}

/* clang-format off */
const struct scene chain_scenes[] = {
	{"proxy", stage__listen_behind, {client_of_proxy, proxy, server_behind}, 1, 16, &slow_backend, .makes = {"peer-app", 12, 0.80}, .quick = true},
	{"proxy-splits", stage__listen_behind, {client_of_proxy, proxy, server_behind}, 1, 14, &split_to_backend, .makes = {"nagle-delack", 10, 0.80}, .verdict = {.cause = "nagle-delack"}},
	{"proxy-seen-by-itself", stage__listen_behind, {client_of_proxy, proxy, server_behind}, 2, 16, &slow_backend, .makes = {"peer-app", 12, 0.80}, .verdict = {.cause = "peer-app"}},
	{"proxy-splits-seen-by-itself", stage__listen_behind, {client_of_proxy, proxy, server_behind}, 2, 14, &split_to_backend, .makes = {"nagle-delack", 10, 0.80}, .verdict = {.cause = "nagle-delack"}},
	{"proxy-of-splitting-backend", stage__listen_behind, {client_of_proxy, proxy, server_behind}, 1, 14, &split_by_backend, .makes = {"nagle-delack", 10, 0.80}, .verdict = {.cause = "nagle-delack"}},
	{"eventfd-of-exchange", NULL, {client_by_eventfd, server_for_pair}, 1, 14, &split_by_thread, .makes = {"nagle-delack", 10, 0.80}},
	{"pipe-of-exchange", NULL, {client_by_pipe, server_for_pair}, 1, 14, &split_by_thread, .makes = {"nagle-delack", 10, 0.80}},
	{"lock-of-exchange", NULL, {client_by_lock, server_for_pair}, 1, 14, &split_by_thread, .makes = {"nagle-delack", 10, 0.80}, .quick = true},
	{"server-waits-for-lock", NULL, {client_of_proxy, server_with_lock}, 1, 14, &slow_backend, .makes = {"peer-app", 10, 0.80}},
	{0},
};
/* clang-format on */
