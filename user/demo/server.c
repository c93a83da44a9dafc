// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The workload's server: reads requests, and answers them when and how the script says. */
#include <errno.h>
#include <stdlib.h>

#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/demo/endpoint.h"

enum server_step {
	SERVER_READ, /* a new connection begins here */
	SERVER_EARLY_PAUSE,
	SERVER_EARLY_REPLY,
	SERVER_PAUSE,
	SERVER_REPLY,
};

static void pause_for(struct connection *c, uint32_t us)
{
	if (us)
		c->deadline = clock__now() + us * 1000ULL;
}

static int server__step(struct endpoint *e, struct connection *c)
{
	const struct workload_script *s = &e->script;

	switch ((enum server_step)c->step) {
	case SERVER_READ:
		c->missing = s->early_reply_bytes ? s->first_bytes : s->first_bytes + s->rest_bytes;
		c->step = s->early_reply_bytes ? SERVER_EARLY_PAUSE : SERVER_PAUSE;
		return 0;
	case SERVER_EARLY_PAUSE:
		pause_for(c, s->early_reply_us);
		c->until_input = true;
		c->step = SERVER_EARLY_REPLY;
		return 0;
	case SERVER_EARLY_REPLY:
		c->missing = s->rest_bytes;
		c->step = SERVER_PAUSE;
		return endpoint__send(c->fd, s->early_reply_bytes, 0);
	case SERVER_PAUSE:
		pause_for(c, s->reply_delay_us);
		c->step = SERVER_REPLY;
		return 0;
	case SERVER_REPLY:
		c->step = SERVER_READ;
		atomic_fetch_add_explicit(&e->result->served, 1, memory_order_relaxed);
		return endpoint__send(c->fd, s->reply_bytes, 0);
	}
	return -EINVAL;
}

/* One connection at a time; the next one when its client has gone. */
static int serve_in_turn(struct endpoint *e)
{
	struct connection *c;
	int err;

	for (;;) {
		c = endpoint__accept(e, &err);
		if (!c)
			return err;
		err = endpoint__run_one(e);
		endpoint__drop(c);
		if (err != ENDPOINT_CLOSED)
			return err;
	}
}

int server__run(const struct workload_options *options, int listener,
		struct workload_shared *shared)
{
	struct endpoint *e = xcalloc(1, sizeof(*e));
	int err;

	endpoint__init(e, options, &shared->result, shared->server_error);
	e->step = server__step;
	e->listener = listener;
	e->has_pauses = e->script.early_reply_us || e->script.reply_delay_us;
	err = options->connections == 1 ? serve_in_turn(e) : endpoint__run_many(e);
	if (err < 0 && !shared->server_error[0])
		endpoint__fail(shared->server_error, err, "the server's connection failed");
	free(e);
	return err;
}
