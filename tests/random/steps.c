// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The steps: a way of having something done, times what is done. A new kind is a row of `ways`
 * where nothing else is done that way, and a row of `steps`.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/random/steps.h"

#define POOL_THREADS 2

uint64_t step_unit_ns = 1000000;

struct body {
	const char *cause;
	void (*run)(unsigned ms);
};

struct way {
	const char *cause; /* of the wait until it is done; NULL: the thread does it itself */
	void (*open)(struct helper *helper); /* the way to a helper thread; NULL: there is none */
	/* Returns the delay of whoever did it. */
	uint64_t (*ask)(struct lane *lane, const struct way *way, const struct body *body,
			unsigned ms);
	const char *text;
};

void die(const char *what)
{
	fprintf(stderr, "random: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void must(int result, const char *what)
{
	if (result < 0)
		die(what);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The file is of the task that opened it. */
static uint64_t delay_in(int fd)
{
	unsigned long long ran, waited = 0;
	char text[100];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = 0;
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

static int open_delay(void)
{
	return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

uint64_t run_delay(void)
{
	static __thread int fd = -1;

	if (fd < 0)
		fd = open_delay();
	return delay_in(fd);
}

/* ---- what is done ---- */

static void __attribute__((noinline)) pause_for(unsigned ms)
{
	uint64_t ns = ms * step_unit_ns;
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	nanosleep(&t, NULL);
}

static void __attribute__((noinline)) compute(unsigned ms)
{
	uint64_t end = now_ns() + ms * step_unit_ns;

	while (now_ns() < end)
		for (volatile int i = 0; i < 200; i++)
			;
}

static const struct body sleeps = {"timer", pause_for}, computes = {"self", compute};

/* ---- ways of having it done ---- */

static uint64_t run_here(struct lane *lane, const struct way *way, const struct body *body,
			 unsigned ms)
{
	(void)lane;
	(void)way;
	body->run(ms);
	return 0;
}

static void open_pipes(struct helper *h)
{
	int there[2], back[2];

	must(pipe(there) | pipe(back), "pipe");
	h->ask = there[1];
	h->work = there[0];
	h->told = back[0];
	h->done = back[1];
}

static void open_unix(struct helper *h)
{
	int ends[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	h->ask = h->told = ends[0];
	h->work = h->done = ends[1];
}

static void open_datagrams(struct helper *h)
{
	struct sockaddr_in at[2] = {};
	int ends[2];

	for (int i = 0; i < 2; i++) {
		socklen_t len = sizeof(at[i]);

		at[i].sin_family = AF_INET;
		at[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		ends[i] = socket(AF_INET, SOCK_DGRAM, 0);
		must(bind(ends[i], (struct sockaddr *)&at[i], len), "bind");
		must(getsockname(ends[i], (struct sockaddr *)&at[i], &len), "getsockname");
	}
	for (int i = 0; i < 2; i++)
		must(connect(ends[i], (struct sockaddr *)&at[!i], sizeof(at[0])), "connect");
	h->ask = h->told = ends[0];
	h->work = h->done = ends[1];
}

static void open_eventfds(struct helper *h)
{
	h->ask = h->work = eventfd(0, 0);
	h->told = h->done = eventfd(0, 0);
	must(h->ask | h->told, "eventfd");
}

static void give(int fd)
{
	uint64_t token = 1;

	if (write(fd, &token, sizeof(token)) != sizeof(token))
		die("write to a helper");
}

static void take(int fd)
{
	uint64_t token;

	if (read(fd, &token, sizeof(token)) != sizeof(token))
		die("read from a helper");
}

static void *help(void *arg)
{
	struct helper *h = arg;

	for (;;) {
		take(h->work);
		uint64_t before = run_delay();

		h->body->run(h->ms);
		h->delay = run_delay() - before;
		h->flag = true;
		if (h->told >= 0)
			give(h->done);
	}
	return NULL;
}

static struct helper *ask(struct lane *lane, const struct way *way, const struct body *body,
			  unsigned ms);

static uint64_t ask_and_read(struct lane *lane, const struct way *way, const struct body *body,
			     unsigned ms)
{
	struct helper *h = ask(lane, way, body, ms);

	take(h->told);
	return h->delay;
}

static uint64_t ask_and_poll(struct lane *lane, const struct way *way, const struct body *body,
			     unsigned ms)
{
	struct helper *h = ask(lane, way, body, ms);
	struct pollfd wanted = {.fd = h->told, .events = POLLIN};

	while (poll(&wanted, 1, -1) != 1)
		;
	take(h->told);
	return h->delay;
}

static void open_flag(struct helper *h)
{
	open_eventfds(h);
	close(h->told);
	h->told = -1;
}

static uint64_t ask_and_look(struct lane *lane, const struct way *way, const struct body *body,
			     unsigned ms)
{
	struct helper *h = ask(lane, way, body, ms);

	while (!h->flag)
		pause_for(1);
	return h->delay;
}

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;

/* A pool of threads behind a queue, which all lanes share. */
struct job {
	struct job *next;
	const struct body *body;
	unsigned ms;
	uint64_t delay;
	bool is_done;
};
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t wanted, done;
	struct job *first, **last;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL,
	  &pool.first};

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&pool.mutex);
	for (;;) {
		while (!pool.first)
			pthread_cond_wait(&pool.wanted, &pool.mutex);
		struct job *job = pool.first;
		uint64_t before;

		pool.first = job->next;
		if (!pool.first)
			pool.last = &pool.first;
		pthread_mutex_unlock(&pool.mutex);
		before = run_delay();
		job->body->run(job->ms);
		job->delay = run_delay() - before;
		pthread_mutex_lock(&pool.mutex);
		job->is_done = true;
		pthread_cond_broadcast(&pool.done);
	}
	return NULL;
}

static void start(void *(*thread)(void *), void *arg)
{
	pthread_t id;

	errno = pthread_create(&id, NULL, thread, arg);
	if (errno)
		die("pthread_create");
	pthread_detach(id);
}

static void start_pool(void)
{
	for (int i = 0; i < POOL_THREADS; i++)
		start(work, NULL);
}

static uint64_t ask_pool(struct lane *lane, const struct way *way, const struct body *body,
			 unsigned ms)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct job job = {.body = body, .ms = ms};

	(void)lane;
	(void)way;
	pthread_once(&once, start_pool);
	pthread_mutex_lock(&pool.mutex);
	*pool.last = &job;
	pool.last = &job.next;
	pthread_cond_signal(&pool.wanted);
	while (!job.is_done)
		pthread_cond_wait(&pool.done, &pool.mutex);
	pthread_mutex_unlock(&pool.mutex);
	return job.delay;
}

static uint64_t ask_child(struct lane *lane, const struct way *way, const struct body *body,
			  unsigned ms)
{
	pid_t pid = fork();

	(void)way;
	must(pid, "fork");
	if (!pid) {
		body->run(ms);
		*lane->child_delay = delay_in(open_delay());
		_exit(0);
	}
	must(waitpid(pid, NULL, 0), "waitpid");
	return *lane->child_delay;
}

static const struct way ways[WAYS] = {
	[ALONE] = {NULL, NULL, run_here, "by itself"},
	[LOCKED] = {NULL, NULL, run_here, "with a lock held that all threads share"},
	[PIPE] = {"ipc", open_pipes, ask_and_read, "in a thread behind two pipes"},
	[UNIX] = {"ipc", open_unix, ask_and_read, "in a thread behind a Unix socket"},
	[DATAGRAM] = {"udp", open_datagrams, ask_and_read, "in a thread that is asked by UDP"},
	[EVENTFD] = {"ipc", open_eventfds, ask_and_poll,
		     "in a thread behind eventfds, with poll()"},
	[FLAG] = {"timer", open_flag, ask_and_look,
		  "in a thread that sets a flag, looked at each millisecond"},
	[POOL] = {"lock", NULL, ask_pool, "in a pool of two threads behind a condition variable"},
	[CHILD] = {"ipc", NULL, ask_child, "in a child process"},
};

/* ---- the steps ---- */

static const struct step {
	char letter;
	enum way_id way;
	const struct body *body;
} steps[] = {
	{'s', ALONE, &sleeps},    {'c', ALONE, &computes},   {'l', LOCKED, &sleeps},
	{'m', LOCKED, &computes}, {'h', PIPE, &sleeps},      {'g', PIPE, &computes},
	{'u', UNIX, &sleeps},     {'v', UNIX, &computes},    {'d', DATAGRAM, &sleeps},
	{'e', EVENTFD, &sleeps},  {'f', EVENTFD, &computes}, {'z', FLAG, &sleeps},
	{'p', POOL, &sleeps},     {'q', POOL, &computes},    {'k', CHILD, &sleeps},
	{'j', CHILD, &computes},
};

static const struct step *find(char letter)
{
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].letter == letter)
			return &steps[i];
	return NULL;
}

void steps__print(void)
{
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct way *way = &ways[steps[i].way];

		printf("%c %s %s %s\n", steps[i].letter,
		       way->cause ? way->cause : steps[i].body->cause,
		       steps[i].body == &sleeps ? "sleeps" : "computes", way->text);
	}
}

/* The next step of a script: its letter and, behind it, ms. 'r' is the nested request. */
static bool next(const char **script, char *letter, unsigned *ms)
{
	char *end;

	if (!**script)
		return false;
	*letter = *(*script)++;
	*ms = strtoul(*script, &end, 10);
	*script = end;
	return true;
}

bool script__is_known(const char *script)
{
	char letter;
	unsigned ms;

	while (next(&script, &letter, &ms))
		if (letter != 'r' && !find(letter))
			return false;
	return true;
}

static struct helper *ask(struct lane *lane, const struct way *way, const struct body *body,
			  unsigned ms)
{
	struct helper *h = lane->helpers[way - ways];

	h->body = body;
	h->ms = ms;
	h->flag = false;
	give(h->ask);
	return h;
}

void lane__prepare(struct lane *lane, const char *script)
{
	char letter;
	unsigned ms;

	lane->child_delay =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	while (next(&script, &letter, &ms)) {
		const struct step *step = letter == 'r' ? NULL : find(letter);
		struct helper *h;

		if (!step || !ways[step->way].open || lane->helpers[step->way])
			continue;
		h = lane->helpers[step->way] = calloc(1, sizeof(*h));
		h->way = &ways[step->way];
		h->way->open(h);
		start(help, h);
	}
}

static void note(struct lane *lane, char letter, const char *cause, uint64_t from, uint64_t own,
		 uint64_t others)
{
	if (lane->count < STEPS)
		lane->notes[lane->count++] =
			(struct note){letter, cause, from, now_ns(), own, others};
}

bool lane__run(struct lane *lane, const char *script, nested_fn *nested)
{
	/* How long those who had the lock waited for a CPU meanwhile, and so who waits for it. */
	static _Atomic uint64_t delay_of_holders;
	char letter;
	unsigned ms;

	lane->count = 0;
	while (next(&script, &letter, &ms)) {
		const struct step *step = letter == 'r' ? NULL : find(letter);
		uint64_t from = now_ns(), delay = run_delay(), others;

		if (!step) {
			if (!nested(lane))
				return false;
			note(lane, letter, "peer-app", from, run_delay() - delay, 0);
			continue;
		}
		const struct way *way = &ways[step->way];

		if (step->way == LOCKED) {
			others = delay_of_holders;
			pthread_mutex_lock(&shared);
			note(lane, letter, "lock", from, run_delay() - delay,
			     delay_of_holders - others);
			from = now_ns();
			delay = run_delay();
		}
		others = way->ask(lane, way, step->body, ms);
		note(lane, letter, way->cause ? way->cause : step->body->cause, from,
		     run_delay() - delay, others);
		if (step->way == LOCKED) {
			delay_of_holders += run_delay() - delay;
			pthread_mutex_unlock(&shared);
		}
	}
	return true;
}
