// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Threads that wait for work beside the one that waits for an answer; several that wait for one. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define POOL    8
#define REQUEST 176
#define ANSWER  96

struct pooled {
	struct script script;
	void *(*body)(void *); /* of each thread of the pool */
};

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t work;
	sem_t semaphore;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

/* ---- how they wait for work that never comes ---- */

static void *wait_for_condition(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&pool.mutex);
	for (;;)
		pthread_cond_wait(&pool.work, &pool.mutex);
	return NULL;
}

static struct timespec real_time_in_ms(uint32_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += MS(ms);
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* A queue's get() with a time-out: in vain, and again. */
static void *wait_for_condition_in_steps(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&pool.mutex);
	for (;;) {
		struct timespec until = real_time_in_ms(25);

		pthread_cond_timedwait(&pool.work, &pool.mutex, &until);
	}
	return NULL;
}

static void *wait_for_semaphore(void *arg)
{
	(void)arg;
	while (sem_wait(&pool.semaphore))
		;
	return NULL;
}

/* As Go's threads do, each on a word of its own. */
static void park(_Atomic uint32_t *word)
{
	while (!atomic_load(word))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	atomic_store(word, 0);
}

static void unpark(_Atomic uint32_t *word)
{
	atomic_store(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *stay_parked(void *arg)
{
	_Atomic uint32_t word = 0;

	(void)arg;
	park(&word);
	return NULL;
}

static void start_pool(void *(*body)(void *))
{
	sem_init(&pool.semaphore, 0, 0);
	for (int i = 0; i < POOL; i++)
		start_thread(body, NULL);
}

/* ---- beside a thread that makes the requests, or serves them ---- */

static const struct pooled *pooled_of(const struct stage *stage)
{
	return stage->scene->script;
}

static void client_and_pool(struct stage *stage)
{
	start_pool(pooled_of(stage)->body);
	play_client(stage);
}

/* The record is the server's: this one keeps none but of its requests. */
static void unconcerned_client(struct stage *stage)
{
	int fd = connect_to(stage);

	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++)
		stage__ask(stage, fd, REQUEST, ANSWER);
}

static void server_and_pool(struct stage *stage)
{
	int fd = accept_one(stage);
	struct phases phases;

	start_pool(pooled_of(stage)->body);
	phases__begin(&phases, stage);
	while (read_all(fd, REQUEST)) {
		struct part part = part__begin();

		phases__end(&phases, "idle");
		sleep_ms(pooled_of(stage)->script.serve_us / 1000);
		part__end(stage, &part);
		write_all(fd, ANSWER);
		phases__end(&phases, "timer");
	}
}

/* ---- an answer that several threads wait for ---- */

static struct {
	struct stage *stage;
	int fd;
	int epoll;
	int asked;
	_Atomic uint32_t answered, readable;
} relay;

static void open_relay(struct stage *stage)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	relay.stage = stage;
	relay.fd = connect_to(stage);
	relay.asked = eventfd(0, EFD_CLOEXEC);
	relay.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (relay.epoll < 0 || epoll_ctl(relay.epoll, EPOLL_CTL_ADD, relay.fd, &event))
		die("no epoll: %s", strerror(errno));
}

static void wait_for_event(void)
{
	struct epoll_event event;

	if (epoll_wait(relay.epoll, &event, 1, -1) != 1)
		die("epoll_wait: %s", strerror(errno));
}

/* The thread that looks after the network, and wakes whom it concerns. */
static void *poll_network(void *arg)
{
	(void)arg;
	stage__enter(relay.stage);
	for (;;) {
		wait_for_event();
		unpark(&relay.readable);
	}
	return NULL;
}

static void *look_around(void *arg)
{
	(void)arg;
	stage__enter(relay.stage);
	for (;;)
		sleep_ms(10);
	return NULL;
}

/* @wait: until the answer can be read. */
static void request_by(void (*wait)(void))
{
	uint64_t start_ns = now_ns();

	write_all(relay.fd, REQUEST);
	wait();
	if (!read_all(relay.fd, ANSWER))
		die("the server hung up");
	stage__request(relay.stage, start_ns);
}

static void park_for_answer(void)
{
	park(&relay.readable);
}

static void make_requests(struct stage *stage, void (*make)(void))
{
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		make();
		phases__end(&phases, pooled_of(stage)->script.cause);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void make_parked(void)
{
	request_by(park_for_answer);
}

/* The asking thread is parked, the one that polls wakes it; a third looks around by a timer. */
static void client_like_go(struct stage *stage)
{
	open_relay(stage);
	start_pool(stay_parked);
	start_thread(poll_network, NULL);
	start_thread(look_around, NULL);
	make_requests(stage, make_parked);
}

static void make_by_event(void)
{
	request_by(wait_for_event);
}

static void client_like_node(struct stage *stage)
{
	open_relay(stage);
	start_pool(wait_for_condition);
	make_requests(stage, make_by_event);
}

/* A worker takes the request from an eventfd and waits for it as @wait does. */
static void work_for_future(void (*wait)(void))
{
	uint64_t word;

	stage__enter(relay.stage);
	while (read(relay.asked, &word, sizeof(word)) == sizeof(word)) {
		request_by(wait);
		unpark(&relay.answered);
	}
}

static void wait_in_read(void)
{
}

static void *work_by_read(void *arg)
{
	(void)arg;
	work_for_future(wait_in_read);
	return NULL;
}

static void *work_parked(void *arg)
{
	(void)arg;
	work_for_future(park_for_answer);
	return NULL;
}

static void make_by_worker(void)
{
	uint64_t one = 1;

	if (write(relay.asked, &one, sizeof(one)) != sizeof(one))
		die("no worker");
	park(&relay.answered);
}

static void client_with_worker(struct stage *stage)
{
	open_relay(stage);
	start_pool(wait_for_semaphore);
	start_thread(work_by_read, NULL);
	make_requests(stage, make_by_worker);
}

/* Main thread, worker, and the one that polls: three show one wait. */
static void client_of_three(struct stage *stage)
{
	open_relay(stage);
	start_thread(work_parked, NULL);
	start_thread(poll_network, NULL);
	make_requests(stage, make_by_worker);
}

#define LATE .request = {REQUEST}, .reply = {ANSWER}, .serve_us = 36000, .cause = "peer-app"

static const struct pooled by_condition = {{LATE}, wait_for_condition};
static const struct pooled in_steps = {{LATE}, wait_for_condition_in_steps};
static const struct pooled by_semaphore = {{LATE}, wait_for_semaphore};
static const struct pooled parked = {{LATE}, stay_parked};
static const struct pooled of_prompt_client = {
	{.request = {REQUEST}, .reply = {ANSWER}, .serve_us = 5000}, wait_for_condition};
static const struct pooled of_prompt_client_in_steps = {
	{.request = {REQUEST}, .reply = {ANSWER}, .serve_us = 5000}, wait_for_condition_in_steps};

#define PEER_APP .makes = {"peer-app", 12, 0.80}, .verdict = {"peer-app", .never = "\\block|futex"}

/* The asking thread itself waits in one. */
#define PEER_APP_BY_FUTEX                                                                          \
	.makes = {"peer-app", 12, 0.80}, .verdict = {"peer-app", .never = "\\block"}

/* clang-format off */
const struct scene pool_scenes[] = {
	{"pool-of-conditions", NULL, {client_and_pool, play_server}, 1, 16, &by_condition, PEER_APP},
	{"pool-in-steps", NULL, {client_and_pool, play_server}, 1, 16, &in_steps, PEER_APP},
	{"pool-of-semaphores", NULL, {client_and_pool, play_server}, 1, 16, &by_semaphore, PEER_APP},
	{"pool-parked", NULL, {client_and_pool, play_server}, 1, 16, &parked, PEER_APP},
	{"pool-of-server", NULL, {unconcerned_client, server_and_pool}, 2, 16, &by_condition, .makes = {"timer", 12, 0.80}, .verdict = {"timer", .never = "\\block"}},
	{"pool-of-server-in-steps", NULL, {unconcerned_client, server_and_pool}, 2, 16, &in_steps, .makes = {"timer", 12, 0.80}, .verdict = {"timer", .never = "\\block"}},
	{"pool-and-prompt-server", NULL, {client_and_pool, play_server}, 1, 120, &of_prompt_client, .makes = {.cause = NULL}},
	{"pool-in-steps-and-prompt-server", NULL, {client_and_pool, play_server}, 1, 120, &of_prompt_client_in_steps, .makes = {.cause = NULL}},
	{"client-like-go", NULL, {client_like_go, play_server}, 1, 16, &by_condition, PEER_APP_BY_FUTEX},
	{"client-like-node", NULL, {client_like_node, play_server}, 1, 16, &by_condition, PEER_APP},
	{"client-with-worker", NULL, {client_with_worker, play_server}, 1, 16, &by_condition, PEER_APP_BY_FUTEX},
	{"client-of-three-threads", NULL, {client_of_three, play_server}, 1, 16, &by_condition, PEER_APP_BY_FUTEX},
	{0},
};
/* clang-format on */
