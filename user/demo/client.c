// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The workload's client: makes the requests, and measures. */
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/demo/endpoint.h"

/* How long the exchanges under way may still take once a stop was asked for. */
#define STOP_LIMIT_S 2

enum client_step { CLIENT_BEGIN, CLIENT_SEND_REST, CLIENT_FINISH };

/* The window is what the result is about: everything after the warm-up. */
struct client {
	struct endpoint end; /* first: the step function gets a pointer to it */
	int *first_fd;       /* where others read the first connection's descriptor */
	clockid_t server_clock;
	bool has_server_clock;
	bool window_open;
	uint64_t window_start_ns; /* while the window is not open: when the warm-up ends */
	uint64_t last_end_ns;     /* when the latest exchange ended */
	uint64_t begun, done;     /* exchanges; from the window's start on, once it is open */
	uint64_t client_cpu_ns, server_cpu_ns; /* at the window's start */
};

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
	(void)signal_number;
	stop_requested = 1;
	alarm(STOP_LIMIT_S); /* SIGALRM ends us if the peer never lets us finish */
}

static struct client *client_of(struct endpoint *e)
{
	return (struct client *)((char *)e - offsetof(struct client, end));
}

/*
 * User + system. Unlike the ticks in /proc a process's CPU clock is exact, and unlike getrusage()
 * it works from outside, so that the server need not cooperate.
 */
static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t server_cpu_ns(const struct client *client)
{
	return client->has_server_clock ? cpu_ns(client->server_clock) : 0;
}

static void open_window(struct client *client, uint64_t now)
{
	client->window_open = true;
	client->window_start_ns = now;
	client->begun -= client->done; /* those under way belong to the window */
	client->done = 0;
	client->client_cpu_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	client->server_cpu_ns = server_cpu_ns(client);
}

static void close_window(struct client *client)
{
	struct workload_result *r = client->end.result;

	if (!client->window_open)
		return;
	r->window_ns = client->last_end_ns - client->window_start_ns;
	r->client_cpu_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - client->client_cpu_ns;
	r->server_cpu_ns = server_cpu_ns(client) - client->server_cpu_ns;
}

static void record(struct workload_result *r, uint64_t start, uint64_t latency)
{
	uint64_t n = atomic_load_explicit(&r->exchanges, memory_order_relaxed);

	r->samples[n % WORKLOAD_SAMPLES] = (struct workload_sample){start, latency};
	if (latency >= WORKLOAD_STALL_NS)
		r->stalls++;
	if (latency > r->max_ns)
		r->max_ns = latency;
	atomic_store_explicit(&r->exchanges, n + 1, memory_order_release);
}

static bool may_begin(const struct client *client)
{
	const struct workload_options *o = client->end.options;

	if (stop_requested)
		return false;
	if (!client->window_open)
		return true;
	if (o->exchanges && client->begun >= o->exchanges)
		return false;
	return !o->window_ms ||
	       client->last_end_ns < client->window_start_ns + o->window_ms * 1000000;
}

static int begin_exchange(struct client *client, struct connection *c)
{
	const struct workload_script *s = &client->end.script;
	int err;

	if (!may_begin(client)) {
		c->deadline = ENDPOINT_NEVER;
		client->end.finished = client->begun == client->done;
		return 0;
	}
	client->begun++;
	c->start_ns = clock__now();
	err = s->cork ? endpoint__set_tcp_option(c->fd, TCP_CORK, 1) : 0;
	if (!err)
		err = endpoint__send(c->fd, s->first_bytes, s->more ? MSG_MORE : 0);
	if (s->gap_us)
		c->deadline = clock__now() + s->gap_us * 1000ULL;
	c->step = CLIENT_SEND_REST;
	return err;
}

static int send_rest(struct client *client, struct connection *c)
{
	const struct workload_script *s = &client->end.script;
	int err = endpoint__send(c->fd, s->rest_bytes, 0);

	if (!err && s->cork)
		err = endpoint__set_tcp_option(c->fd, TCP_CORK, 0);
	/* It pushes out what is held, and is not needed any longer then. */
	for (int on = 1; !err && s->more && on >= 0; on--)
		err = endpoint__set_tcp_option(c->fd, TCP_NODELAY, on);
	c->missing = s->early_reply_bytes + s->reply_bytes;
	c->step = CLIENT_FINISH;
	return err;
}

static void finish_exchange(struct client *client, struct connection *c)
{
	uint64_t now = clock__now();

	client->last_end_ns = now;
	client->done++;
	if (client->window_open)
		record(client->end.result, c->start_ns, now - c->start_ns);
	else if (now >= client->window_start_ns)
		open_window(client, now);
	if (client->end.script.interval_us && client->done % client->end.script.burst == 0)
		c->deadline = c->start_ns + client->end.script.interval_us * 1000ULL;
	c->step = CLIENT_BEGIN;
}

static int client__step(struct endpoint *e, struct connection *c)
{
	struct client *client = client_of(e);

	switch ((enum client_step)c->step) {
	case CLIENT_BEGIN:
		return begin_exchange(client, c);
	case CLIENT_SEND_REST:
		return send_rest(client, c);
	case CLIENT_FINISH:
		finish_exchange(client, c);
		return 0;
	}
	return -EINVAL;
}

struct client *client__new(const struct workload_options *options, struct workload_shared *shared)
{
	struct client *client = xcalloc(1, sizeof(*client));

	endpoint__init(&client->end, options, &shared->result, shared->client_error);
	client->end.step = client__step;
	client->end.has_pauses = client->end.script.gap_us || client->end.script.interval_us;
	client->first_fd = &shared->client_fd;
	return client;
}

int client__connect(struct client *client, uint16_t port)
{
	struct endpoint *e = &client->end;

	for (uint32_t i = 0; i < e->options->connections; i++) {
		int err, fd = endpoint__open(e->options, port, false, e->error);

		if (fd < 0)
			return fd;
		err = e->script.nodelay ? endpoint__set_tcp_option(fd, TCP_NODELAY, 1) : 0;
		if (err)
			return endpoint__fail(e->error, err, "cannot set TCP_NODELAY");
		endpoint__add(e, fd, CLIENT_BEGIN);
		if (i == 0)
			*client->first_fd = fd;
	}
	return 0;
}

static void begin_measuring(struct client *client, pid_t server_pid)
{
	uint64_t now = clock__now();
	uint64_t warmup_ms = client->end.options->warmup_ms;

	client->has_server_clock =
		server_pid && !clock_getcpuclockid(server_pid, &client->server_clock);
	client->last_end_ns = now;
	client->window_start_ns = now + warmup_ms * 1000000;
	if (!warmup_ms)
		open_window(client, now);
}

int client__run(struct client *client, pid_t server_pid)
{
	struct sigaction on_term = {.sa_handler = request_stop, .sa_flags = SA_RESTART};
	struct endpoint *e = &client->end;
	int err;

	sigaction(SIGTERM, &on_term, NULL);
	begin_measuring(client, server_pid);
	err = e->options->connections == 1 ? endpoint__run_one(e) : endpoint__run_many(e);
	close_window(client);
	if (err == ENDPOINT_CLOSED)
		return endpoint__fail(e->error, -ECONNRESET, "the server went away");
	if (err && !e->error[0])
		return endpoint__fail(e->error, err, "the client's connection failed");
	return err;
}
