// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Losses: of this segment or that one, and how each is mended. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

struct loss {
	uint32_t skip;  /* segments with data that pass before those that are lost */
	uint32_t drop;  /* so many are lost then */
	uint32_t good;  /* exchanges without a loss in front of each with one */
	uint32_t bytes; /* of a request */
	uint32_t ahead; /* of a part before it ... */
	uint32_t sleep; /* ... which the server reads, and sleeps so long, ms */
	bool reply;     /* it is the reply that is lost */
	bool fresh; /* each exchange on a connection of its own: nothing of the last loss is left */
	const char *cause;
	const char *otherwise; /* of the good ones: a round trip, if it is long */
	const char *seen_by_server;
};

static const struct loss by_timer = {.drop = 1, .good = 3, .bytes = 500, .cause = "rto"};
static const struct loss reply_by_timer = {
	.drop = 1, .good = 3, .bytes = 500, .reply = true, .cause = "rto"};
static const struct loss by_timer_twice = {.drop = 2, .good = 3, .bytes = 500, .cause = "rto"};
static const struct loss by_probe = {.drop = 1, .good = 3, .bytes = 500, .cause = "tlp"};
static const struct loss tail_far = {
	.skip = 1, .drop = 1, .fresh = true, .bytes = 2500, .cause = "tlp", .otherwise = "network"};
static const struct loss in_the_middle = {
	.skip = 1, .drop = 1, .fresh = true, .bytes = 11000, .seen_by_server = "fast-retransmit"};

/* Each time, and never: without the loss. */
static const struct loss each_by_timer = {.drop = 1, .bytes = 500, .cause = "rto"};
static const struct loss none = {.bytes = 500};
static const struct loss syn_each = {.drop = 1}, syn_none;
/* While the other end does something else. */
static const struct loss unawaited = {.skip = 1,
				      .drop = 1,
				      .fresh = true,
				      .ahead = 100,
				      .sleep = 235,
				      .bytes = 500,
				      .cause = "peer-app"};
static const struct loss unawaited_none = {.fresh = true, .ahead = 100, .sleep = 235, .bytes = 500};

/* What mended it, by the kernel's own counters: a probe may be late or itself be lost. */
struct mends {
	uint64_t timeouts, probes;
};

static struct mends mends_so_far(void)
{
	return (struct mends){.timeouts = tcp_counter("TCPTimeouts"),
			      .probes = tcp_counter("TCPLossProbes")};
}

static const char *mended_by(const struct loss *loss, const struct mends *before)
{
	struct mends now = mends_so_far();

	if (loss->reply || loss->ahead) /* it was the business of the server, or its namespace */
		return loss->cause;
	if (now.timeouts > before->timeouts)
		return "rto";
	return now.probes > before->probes ? "tlp" : NULL;
}

static void lose(struct stage *stage, int fd, struct phases *phases, bool lost)
{
	const struct loss *loss = stage->scene->script;
	struct mends before = mends_so_far();
	uint64_t start_ns = now_ns();

	if (lost) {
		stage->path.skip_data[loss->reply] = loss->skip;
		stage->path.drop_data[loss->reply] = loss->drop;
	}
	write_all(fd, loss->ahead);
	write_all(fd, loss->bytes);
	if (!read_all(fd, 100))
		die("the server hung up");
	stage__request(stage, start_ns);
	if (!loss->seen_by_server)
		phases__end(phases, lost ? mended_by(loss, &before) : loss->otherwise);
	atomic_fetch_add(&stage->exchanges, 1);
}

static void client_loses(struct stage *stage)
{
	const struct loss *loss = stage->scene->script;
	struct phases phases;
	int fd = connect_to(stage);

	/* Nothing waits for the acknowledgement of what goes ahead. */
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, loss->ahead != 0);
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		if (i && loss->fresh) {
			close(fd);
			fd = connect_to(stage);
			if (!loss->seen_by_server)
				phases__end(&phases, loss->otherwise);
		}
		lose(stage, fd, &phases, i % (loss->good + 1) == loss->good);
	}
}

/* Where the round trip is long, the recovery alone is what a server sees: between two pieces of the
 * request. */
static void serve_losing(struct stage *stage, struct phases *phases, int fd)
{
	const struct loss *loss = stage->scene->script;

	while (read_all(fd, 1)) {
		phases__end(phases, "idle");
		if (loss->ahead) {
			struct part part = part__begin();

			/* Delayed acknowledgements would make the timer longer. */
			set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
			sleep_ms(loss->sleep);
			part__end(stage, &part);
		}
		if (!read_all(fd, loss->ahead + loss->bytes - 1))
			return;
		if (loss->seen_by_server)
			phases__end(phases, loss->seen_by_server);
		write_all(fd, 100);
	}
}

static void server_loses(struct stage *stage)
{
	struct phases phases;

	phases__begin(&phases, stage);
	for (;;) {
		int fd = accept_one(stage);

		phases__end(&phases, "idle");
		serve_losing(stage, &phases, fd);
		close(fd);
	}
}

/* ---- connections that do not come about at once ---- */

static void client_syn_lost(struct stage *stage)
{
	const struct loss *loss = stage->scene->script;
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		bool lost = loss->drop && i % 2;
		uint64_t start_ns = now_ns();
		int fd;

		stage->path.drop_syn = lost;
		fd = connect_to(stage);
		stage__request(stage, start_ns);
		phases__end(&phases, lost ? "syn-retransmit" : NULL);
		close(fd);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void server_accepts(struct stage *stage)
{
	for (;;)
		close(accept_one(stage));
}

static const int short_queue = 1, long_queue = 64;

/* The listener's queue is full: the SYN is not answered until the server takes one out. */
static void client_queue_full(struct stage *stage)
{
	struct phases phases;
	char byte;

	stage__wait_at_gate(stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		int first = connect_to(stage), second = connect_to(stage), third;

		phases__begin(&phases, stage);
		if (write(stage->duct[0][1], "", 1) != 1)
			die("the server is gone");
		third = connect_to(stage);
		stage__request(stage, phases.start_ns);
		phases__end(&phases, "syn-retransmit");
		if (read(stage->duct[1][0], &byte, 1) != 1)
			die("the server is gone");
		close(first);
		close(second);
		close(third);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static void server_queue_full(struct stage *stage)
{
	char byte;

	while (read(stage->duct[0][0], &byte, 1) == 1) {
		sleep_ms(500);
		close(accept_one(stage));
		close(accept_one(stage));
		close(accept_one(stage));
		if (write(stage->duct[1][1], "", 1) != 1)
			return;
	}
}

static void setup_queue_full(struct stage *stage)
{
	stage__listen(stage, *(const int *)stage->scene->script);
	if (pipe(stage->duct[0]) || pipe(stage->duct[1]))
		die("no pipe: %s", strerror(errno));
}

static void setup_path(struct stage *stage)
{
	stage__path(stage, 0);
}

static void setup_path_20ms(struct stage *stage)
{
	stage__path(stage, 10000);
}

static void setup_no_probes(struct stage *stage)
{
	stage__path_with(stage, 0, "net/ipv4/tcp_early_retrans", "0");
}

static void setup_path_30ms(struct stage *stage)
{
	stage__path(stage, 15000);
}

#define ON_PATH [4] = play_path
#define ENDS    client_loses, server_loses

/* clang-format off */
const struct scene loss_scenes[] = {
	{"rto", setup_no_probes, {ENDS, ON_PATH}, 1, 32, &by_timer, .makes = {"rto", 6, 0.80}, .quick = true},
	{"rto-twice", setup_no_probes, {ENDS, ON_PATH}, 1, 16, &by_timer_twice, .makes = {"rto", 3, 0.80}},
	{"rto-of-reply", setup_no_probes, {ENDS, ON_PATH}, 1, 24, &reply_by_timer, .makes = {"rto", 4, 0.80}},
	{"rto-each", setup_no_probes, {ENDS, ON_PATH}, 1, 8, &each_by_timer, .makes = {"rto", 5, 0.80}, .verdict = {"rto", .says = "without the loss"}, .followed = &none},
	{"unawaited-loss", setup_no_probes, {ENDS, ON_PATH}, 1, 12, &unawaited, .makes = {"peer-app", 9, 0.80}, .verdict = {"peer-app", .never = "dropped|rto_min"}, .followed = &unawaited_none, .in_vain = true},
	{"tlp", setup_path, {ENDS, ON_PATH}, 1, 24, &by_probe, .makes = {"tlp", 4, 0.80}, .followed = &none, .quick = true},
	{"tlp-far", setup_path_20ms, {ENDS, ON_PATH}, 1, 12, &tail_far, .makes = {"tlp", 4, 0.50}},
	{"fast-retransmit", setup_path_30ms, {ENDS, ON_PATH}, 2, 12, &in_the_middle, .makes = {"fast-retransmit", 8, 0.25}, .quick = true},
	{"syn-lost", setup_path, {client_syn_lost, server_accepts, ON_PATH}, 1, 6, &syn_each, .makes = {"syn-retransmit", 2, 0.80}, .followed = &syn_none},
	{"full-listen-queue", setup_queue_full, {client_queue_full, server_queue_full}, 1, 3, &short_queue, .makes = {"syn-retransmit", 2, 0.80}, .followed = &long_queue, .quick = true},
	{0},
};
/* clang-format on */
