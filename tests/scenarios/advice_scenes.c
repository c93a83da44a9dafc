// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Requests of which something takes long that can be left out: to see what that saves. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define REQUEST 176
#define ANSWER  96

enum what { SLEEPS = 1, COMPUTES, LOCKS, IS_SENT, STORES };

/* What a thread does, one after the other. */
struct task {
	enum what what;
	uint32_t amount; /* ms; MiB that are stored */
};

#define TASKS 4

struct tasks {
	struct task client[TASKS]; /* between the two parts of its request */
	struct task server[TASKS]; /* before it answers */
	struct task beside[TASKS]; /* another thread of the client, again and again */
	const char *cause;
	bool is_servers; /* the record is the server's */
};

/* ---- what takes long ---- */

static struct {
	struct stage *stage;
	pthread_mutex_t mutex;
	int wanted[2], sent[2];
	_Atomic uint32_t held;
	_Atomic uint32_t for_ms;
	void *block;
	int file;
} helper = {.mutex = PTHREAD_MUTEX_INITIALIZER, .file = -1};

static void *hold(void *arg)
{
	char byte;

	(void)arg;
	stage__enter(helper.stage);
	while (read(helper.wanted[0], &byte, 1) == 1) {
		pthread_mutex_lock(&helper.mutex);
		atomic_store(&helper.held, 1);
		if (atomic_load(&helper.for_ms))
			sleep_ms(atomic_load(&helper.for_ms));
		pthread_mutex_unlock(&helper.mutex);
	}
	return NULL;
}

static void *send_late(void *arg)
{
	char byte;

	(void)arg;
	stage__enter(helper.stage);
	while (read(helper.wanted[0], &byte, 1) == 1) {
		if (atomic_load(&helper.for_ms))
			sleep_ms(atomic_load(&helper.for_ms));
		if (write(helper.sent[1], &byte, 1) != 1)
			die("nobody waits");
	}
	return NULL;
}

static void call(const struct task *task)
{
	atomic_store(&helper.for_ms, task->amount);
	if (write(helper.wanted[1], "", 1) != 1)
		die("nobody to call");
}

static void take_lock(const struct task *task)
{
	atomic_store(&helper.held, 0);
	call(task);
	while (!atomic_load(&helper.held))
		sched_yield();
	pthread_mutex_lock(&helper.mutex);
	pthread_mutex_unlock(&helper.mutex);
}

static void take_what_is_sent(const struct task *task)
{
	char byte;

	call(task);
	if (read(helper.sent[0], &byte, 1) != 1)
		die("nothing is sent");
}

static void store(uint32_t mib)
{
	if (!mib)
		return;
	if (pwrite(helper.file, helper.block, (size_t)mib << 20, 0) < 0)
		die("write: %s", strerror(errno));
}

static void do_task(struct stage *stage, const struct task *task)
{
	switch (task->what) {
	case SLEEPS:
		if (task->amount)
			sleep_ms(task->amount);
		break;
	case COMPUTES:
		spin_ms(stage, task->amount);
		break;
	case LOCKS:
		take_lock(task);
		break;
	case IS_SENT:
		take_what_is_sent(task);
		break;
	case STORES:
		store(task->amount);
		break;
	}
}

static void do_all(struct stage *stage, const struct task *tasks)
{
	for (int i = 0; i < TASKS && tasks[i].what; i++)
		do_task(stage, &tasks[i]);
}

/* In the current folder, which is on a disk if any is. */
static void open_store(void)
{
	const size_t size = 48 << 20;

	helper.file = open(".", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
	if (helper.file < 0 || posix_memalign(&helper.block, 4096, size))
		cannot("no file that passes the cache by: %s", strerror(errno));
	memset(helper.block, 1, size);
}

/* What the tasks of this process need beside its own thread. */
static void prepare(struct stage *stage, const struct task *tasks)
{
	helper.stage = stage;
	if (pipe(helper.wanted) || pipe(helper.sent))
		die("no pipe: %s", strerror(errno));
	for (int i = 0; i < TASKS; i++) {
		if (tasks[i].what == LOCKS)
			start_thread(hold, NULL);
		if (tasks[i].what == IS_SENT)
			start_thread(send_late, NULL);
		if (tasks[i].what == STORES)
			open_store();
	}
}

/* ---- the two ends ---- */

static const struct tasks *tasks_of(const struct stage *stage)
{
	return stage->scene->script;
}

static void *do_beside(void *arg)
{
	struct stage *stage = arg;

	stage__enter(stage);
	for (;;)
		do_all(stage, tasks_of(stage)->beside);
	return NULL;
}

static const char *ask(struct phases *phases, int fd)
{
	const struct tasks *tasks = tasks_of(phases->stage);

	write_all(fd, tasks->client[0].what ? 40 : REQUEST);
	if (tasks->client[0].what) {
		struct part part = part__begin();

		do_all(phases->stage, tasks->client);
		part__end(phases->stage, &part);
		write_all(fd, REQUEST - 40);
	}
	if (!read_all(fd, ANSWER))
		die("the server hung up");
	return tasks->cause;
}

static void client(struct stage *stage)
{
	const struct tasks *tasks = tasks_of(stage);
	int fd = connect_to(stage);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	prepare(stage, tasks->beside[0].what ? tasks->beside : tasks->client);
	if (tasks->beside[0].what)
		start_thread(do_beside, stage);
	ask_by_turns(stage, fd, ask);
}

static void server(struct stage *stage)
{
	const struct tasks *tasks = tasks_of(stage);
	int fd = accept_one(stage);
	struct phases phases;

	prepare(stage, tasks->server);
	phases__begin(&phases, stage);
	while (read_all(fd, REQUEST)) {
		struct part part = part__begin();

		if (tasks->is_servers)
			phases__end(&phases, "idle");
		do_all(stage, tasks->server);
		/* Of what is stored, how much is I/O is the disk's affair. */
		if (tasks->server[0].what && tasks->server[0].what != STORES)
			part__end(stage, &part);
		write_all(fd, ANSWER);
		if (tasks->is_servers)
			phases__end(&phases, tasks->cause);
	}
}

/* ---- a server that has enough to do with the first piece ---- */

/* The second piece is held back meanwhile, and nobody waits for it. */
static void server_of_first_piece(struct stage *stage)
{
	int fd = accept_one(stage);

	while (read_all(fd, 40)) {
		struct part part = part__begin();

		sleep_ms(60);
		part__end(stage, &part);
		if (!read_all(fd, 136))
			return;
		write_all(fd, ANSWER);
	}
}

/* ---- a message that is corked as long as its end does not exist ---- */

static const char *ask_unfinished(struct phases *phases, int fd)
{
	const struct script *script = phases->stage->scene->script;
	struct part part = part__begin();

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, script->nodelay);
	set_option(fd, IPPROTO_TCP, TCP_CORK, script->cork);
	write_all(fd, 40);
	sleep_ms(30);
	part__end(phases->stage, &part);
	write_all(fd, 136);
	set_option(fd, IPPROTO_TCP, TCP_CORK, 0);
	if (!read_all(fd, ANSWER))
		die("the server hung up");
	return "timer";
}

static void client_of_unfinished(struct stage *stage)
{
	ask_by_turns(stage, connect_to(stage), ask_unfinished);
}

/* ---- now this, now that: what costs most leads ---- */

struct mixed {
	struct script usual, rare;
	uint32_t every; /* so many exchanges are of one rare one */
};

static const struct script *mixed_script(const struct stage *stage, uint32_t i)
{
	const struct mixed *mixed = stage->scene->script;

	return i % mixed->every == mixed->every - 1 ? &mixed->rare : &mixed->usual;
}

static void client_of_mixed(struct stage *stage)
{
	struct phases phases;
	int fd = connect_to(stage);

	for (int i = 0; i < 3; i++) {
		write_all(fd, REQUEST);
		read_all(fd, ANSWER);
	}
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, fd, mixed_script(stage, i));
	}
}

static void server_of_mixed(struct stage *stage)
{
	int fd = accept_one(stage);

	for (uint32_t i = 0; read_all(fd, REQUEST); i++) {
		/* The first three are to warm up. */
		const struct script *script = i < 3 ? NULL : mixed_script(stage, i - 3);

		struct part part = part__begin();

		if (script && script->serve_us) {
			sleep_ms(script->serve_us / 1000);
			if (is_about_server(stage))
				part__end(stage, &part);
		}
		write_all(fd, ANSWER);
	}
}

static void setup_path_40ms(struct stage *stage)
{
	stage__path(stage, 20000);
}

/* clang-format off */
#define SPLIT .request = {40, 136}, .reply = {ANSWER}, .cause = "nagle-delack"
#define LATE  .request = {REQUEST}, .reply = {ANSWER}, .serve_us = 36000, .cause = "peer-app"
#define FAR   .request = {REQUEST}, .reply = {ANSWER}, .cause = "network"

static const struct mixed mostly_late = {{LATE}, {SPLIT}, .every = 8};
static const struct mixed mostly_split = {{SPLIT}, {LATE}, .every = 8};
static const struct mixed far_and_half_split = {{FAR}, {SPLIT, .beside_us = 20000}, .every = 2};
static const struct mixed far_and_rarely_split = {{FAR}, {SPLIT}, .every = 12};
static const struct script overlapped = {.request = {40, 136}, .reply = {ANSWER}, .cause = "peer-app"};
static const struct script overlapped_nodelay = {.request = {40, 136}, .reply = {ANSWER}, .nodelay = true, .cause = "peer-app"};
static const struct script unfinished = {.request = {40, 136}, .reply = {ANSWER}, .cork = true};
static const struct script unfinished_uncorked = {.request = {40, 136}, .reply = {ANSWER}, .nodelay = true};

#define PEER(...)   {.server = {__VA_ARGS__}, .cause = "peer-app"}
#define SERVER(NAME, ...) {.server = {__VA_ARGS__}, .cause = NAME, .is_servers = true}
#define CLIENT(NAME, ...) {.client = {__VA_ARGS__}, .cause = NAME}

static const struct tasks peer_sleeps = PEER({SLEEPS, 36}), peer_prompt = PEER({SLEEPS, 0});
static const struct tasks peer_computes = PEER({COMPUTES, 30}), peer_computes_not = PEER({COMPUTES, 0});
static const struct tasks peer_locks = PEER({LOCKS, 30}), peer_locks_not = PEER({LOCKS, 0});
static const struct tasks peer_is_sent = PEER({IS_SENT, 30}), peer_is_sent_at_once = PEER({IS_SENT, 0});
static const struct tasks peer_does_both = PEER({COMPUTES, 20}, {SLEEPS, 2}, {COMPUTES, 20});
static const struct tasks peer_only_computes = PEER({COMPUTES, 20}, {COMPUTES, 20});
static const struct tasks peer_mostly_sleeps = PEER({COMPUTES, 5}, {SLEEPS, 35}), peer_computes_a_bit = PEER({COMPUTES, 5});
static const struct tasks serves_asleep = SERVER("timer", {SLEEPS, 36}), serves_awake = SERVER("timer", {SLEEPS, 0});
static const struct tasks serves_locked = SERVER("lock", {LOCKS, 36}), serves_unlocked = SERVER("lock", {LOCKS, 0});
static const struct tasks serves_behind_pipe = SERVER("ipc", {IS_SENT, 36}), serves_alone = SERVER("ipc", {IS_SENT, 0});
static const struct tasks serves_from_disk = SERVER("disk", {STORES, 48}), serves_from_memory = SERVER("disk", {STORES, 0});
static const struct tasks asks_asleep = CLIENT("timer", {SLEEPS, 36}), asks_awake = CLIENT("timer", {SLEEPS, 0});
static const struct tasks asks_locked = CLIENT("lock", {LOCKS, 36}), asks_unlocked = CLIENT("lock", {LOCKS, 0});
static const struct tasks asks_behind_pipe = CLIENT("ipc", {IS_SENT, 36}), asks_alone = CLIENT("ipc", {IS_SENT, 0});
static const struct tasks locks_beside = {.server = {{SLEEPS, 36}}, .beside = {{LOCKS, 30}}, .cause = "peer-app"};
static const struct tasks sends_beside = {.server = {{SLEEPS, 36}}, .beside = {{IS_SENT, 30}}, .cause = "peer-app"};
static const struct tasks stores_beside = {.server = {{SLEEPS, 36}}, .beside = {{STORES, 24}, {SLEEPS, 20}}, .cause = "peer-app"};
static const struct tasks sleeps_beside = {.server = {{SLEEPS, 36}}, .beside = {{SLEEPS, 30}}, .cause = "peer-app"};

#define ENDS       client, server
#define MAKES(NAME) .makes = {NAME, 8, 0.60}

const struct scene advice_scenes[] = {
	/* What the advice says helps. */
	{"peer-sleeps", NULL, {ENDS}, 1, 12, &peer_sleeps, MAKES("peer-app"), .verdict = {.cause = "peer-app"}, .followed = &peer_prompt},
	{"peer-computes", NULL, {ENDS}, 1, 12, &peer_computes, MAKES("peer-app"), .verdict = {"peer-app", .never = "do not sleep"}, .followed = &peer_computes_not, .computes = true},
	{"peer-waits-for-lock", NULL, {ENDS}, 1, 12, &peer_locks, MAKES("peer-app"), .verdict = {.cause = "peer-app"}, .followed = &peer_locks_not},
	{"peer-waits-for-pipe", NULL, {ENDS}, 1, 12, &peer_is_sent, MAKES("peer-app"), .verdict = {.cause = "peer-app"}, .followed = &peer_is_sent_at_once},
	{"peer-mostly-sleeps", NULL, {ENDS}, 1, 12, &peer_mostly_sleeps, MAKES("peer-app"), .verdict = {"peer-app", .says = "do not sleep"}, .followed = &peer_computes_a_bit},
	{"server-sleeps", NULL, {ENDS}, 2, 12, &serves_asleep, MAKES("timer"), .verdict = {.cause = "timer"}, .followed = &serves_awake},
	{"server-waits-in-lock", NULL, {ENDS}, 2, 12, &serves_locked, MAKES("lock"), .verdict = {.cause = "lock"}, .followed = &serves_unlocked},
	{"server-waits-for-pipe", NULL, {ENDS}, 2, 12, &serves_behind_pipe, MAKES("ipc"), .verdict = {.cause = "ipc"}, .followed = &serves_alone},
	{"server-stores", NULL, {ENDS}, 2, 12, &serves_from_disk, .makes = {"disk", 6, 0.50}, .verdict = {.cause = "disk"}, .followed = &serves_from_memory, .computes = true},
	{"client-sleeps", NULL, {ENDS}, 1, 12, &asks_asleep, MAKES("timer"), .verdict = {.cause = "timer"}, .followed = &asks_awake},
	{"client-waits-in-lock", NULL, {ENDS}, 1, 12, &asks_locked, MAKES("lock"), .verdict = {.cause = "lock"}, .followed = &asks_unlocked},
	{"client-waits-for-pipe", NULL, {ENDS}, 1, 12, &asks_behind_pipe, MAKES("ipc"), .verdict = {.cause = "ipc"}, .followed = &asks_alone},
	/* It would not: nobody waits for that. */
	{"peer-computes-and-sleeps", NULL, {ENDS}, 1, 12, &peer_does_both, MAKES("peer-app"), .verdict = {"peer-app", .never = "do not sleep"}, .followed = &peer_only_computes, .in_vain = true, .computes = true},
	{"overlapped-hold", NULL, {play_client, server_of_first_piece}, 1, 12, &overlapped, MAKES("peer-app"), .verdict = {"peer-app", .never = "TCP_NODELAY|writev"}, .followed = &overlapped_nodelay, .in_vain = true},
	{"unfinished-message", NULL, {client_of_unfinished, play_server}, 1, 12, &unfinished, MAKES("timer"), .verdict = {"timer", .never = "TCP_CORK"}, .followed = &unfinished_uncorked, .in_vain = true},
	{"locks-beside", NULL, {ENDS}, 1, 12, &locks_beside, MAKES("peer-app"), .verdict = {"peer-app", .never = "\\block"}, .followed = &peer_sleeps, .in_vain = true},
	{"sends-beside", NULL, {ENDS}, 1, 12, &sends_beside, MAKES("peer-app"), .verdict = {"peer-app", .never = "\\bpipe\\b"}, .followed = &peer_sleeps, .in_vain = true},
	{"stores-beside", NULL, {ENDS}, 1, 12, &stores_beside, MAKES("peer-app"), .verdict = {"peer-app", .never = "block I/O"}, .followed = &peer_sleeps, .in_vain = true},
	{"sleeps-beside", NULL, {ENDS}, 1, 12, &sleeps_beside, MAKES("peer-app"), .verdict = {"peer-app", .never = "time that it asks for"}, .followed = &peer_sleeps, .in_vain = true},
	/* What costs most leads; what can be changed already with half of that. */
	{"mostly-late-server", NULL, {client_of_mixed, server_of_mixed}, 1, 16, &mostly_late, .makes = {"peer-app", 11, 0.70}, .verdict = {.cause = "peer-app"}},
	{"mostly-splits", NULL, {client_of_mixed, server_of_mixed}, 1, 16, &mostly_split, .makes = {"nagle-delack", 11, 0.70}, .verdict = {.cause = "nagle-delack"}},
	{"far-and-half-split", setup_path_40ms, {client_of_mixed, server_of_mixed, [4] = play_path}, 1, 10, &far_and_half_split, .makes = {"nagle-delack", 4, 0.40}, .verdict = {.cause = "nagle-delack"}},
	{"far-and-rarely-split", setup_path_40ms, {client_of_mixed, server_of_mixed, [4] = play_path}, 1, 12, &far_and_rarely_split, .makes = {"network", 8, 0.50}, .verdict = {.cause = "network"}},
	{0},
};
/* clang-format on */
