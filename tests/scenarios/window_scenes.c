// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What else holds bytes back: windows, pacing, queues, buffers; and the path itself. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

/* One request of many bytes on each connection, one byte for an answer. */
struct transfer {
	uint32_t bytes;
	uint32_t piece;        /* of each write but the last, 0: all in one */
	uint32_t last;         /* bytes of a small last write */
	uint32_t server_sleep; /* ms before the server reads */
	uint32_t read_piece;   /* it reads so much at a time, 0: all at once ... */
	uint32_t read_gap;     /* ... and between them sleeps, ms */
	bool reader_computes;  /* ... or computes */
	int rcvbuf;
	int sndbuf;
	uint32_t pacing_rate; /* bytes per second */
	uint32_t count;       /* transfers on a connection */
	uint32_t pause;       /* ms that the client computes between two of them */
	bool nodelay;
	bool keeps_window;       /* also in a pause */
	const char *queue;       /* the queueing discipline of the client's device, NULL: none */
	const char *cause;       /* of the time until the answer */
	const char *write_cause; /* of writes that block */
};

/* clang-format off */
static const struct transfer prompt = {.bytes = 100, .count = 20, .cause = "network"};
static const struct transfer slow_start = {.bytes = 100000, .count = 1, .cause = "cwnd", .sndbuf = 1 << 20};
static const struct transfer small_window = {.bytes = 60000, .rcvbuf = 4096, .sndbuf = 1 << 20, .count = 1, .cause = "rwnd"};
static const struct transfer shut_window = {
	.bytes = 100000, .rcvbuf = 8192, .sndbuf = 1 << 20, .server_sleep = 60, .count = 1, .cause = "zero-window"};
static const struct transfer small_buffer = {
	.bytes = 20000, .piece = 1000, .sndbuf = 4096, .nodelay = true, .count = 3, .cause = "network", .write_cause = "sndbuf"};
static const struct transfer paced = {
	.bytes = 100000, .pacing_rate = 2000000, .count = 30, .nodelay = true, .cause = "pacing"};

/* A packet of full size takes 6 ms; 24 ms, and so long the small one behind it waits for its completion. */
#define SLOW        .queue = "tbf rate 2mbit burst 1600 limit 1000000"
#define SLOWER      .queue = "tbf rate 500kbit burst 1600 limit 1000000"
#define LONG_ENOUGH .bytes = 24000, .sndbuf = 1 << 20, .count = 1
#define WITH_A_TAIL .nodelay = true, .count = 6
static const struct transfer slow_device = {LONG_ENOUGH, SLOW, .cause = "tsq"};
static const struct transfer slow_device_tail = {WITH_A_TAIL, SLOWER, .bytes = 1448, .last = 200, .cause = "autocork"};

/* What the same transfers would be with larger windows and buffers, and no limit. */
static const struct transfer large_window = {.bytes = 60000, .sndbuf = 1 << 20, .count = 1};
static const struct transfer prompt_reader = {.bytes = 100000, .rcvbuf = 8192, .sndbuf = 1 << 20, .count = 1};
static const struct transfer large_buffer = {.bytes = 20000, .piece = 1000, .nodelay = true, .count = 3};
static const struct transfer kept_connection = {.bytes = 100000, .count = 6, .sndbuf = 1 << 20};
static const struct transfer unpaced = {.bytes = 100000, .count = 30, .nodelay = true};
static const struct transfer fast_device = {LONG_ENOUGH};
static const struct transfer fast_device_tail = {WITH_A_TAIL, .bytes = 1448, .last = 200};
/* What lies in the device's queue then is no sooner there. */
static const struct transfer slow_device_at_once = {WITH_A_TAIL, SLOWER, .bytes = 1648};

/* A connection that is kept, and pauses. */
#define WITH_PAUSES .bytes = 100000, .count = 6, .sndbuf = 1 << 20, .pause = 300
static const struct transfer pauses = {WITH_PAUSES, .cause = "cwnd"};
static const struct transfer pauses_keeping_window = {WITH_PAUSES, .keeps_window = true};

/*
 * The same to a program that does something else meanwhile: it would not read sooner. Its window takes all of them:
 * else they wait for the reader with the window shut, which is another cause, as long as the buffer grows by itself.
 */
#define LATER(ms)   .server_sleep = (ms), .cause = "peer-app"
#define WIDE_WINDOW .rcvbuf = 1 << 20
static const struct transfer paced_for_later = {WIDE_WINDOW, .bytes = 100000, .pacing_rate = 2000000, .count = 20, .nodelay = true, LATER(70)};
static const struct transfer unpaced_for_later = {WIDE_WINDOW, .bytes = 100000, .count = 20, .nodelay = true, LATER(70)};
static const struct transfer slow_device_for_later = {LONG_ENOUGH, SLOW, LATER(120)};
static const struct transfer fast_device_for_later = {LONG_ENOUGH, LATER(120)};
static const struct transfer tail_for_later = {WITH_A_TAIL, SLOWER, .bytes = 2896, .last = 200, LATER(60)};
static const struct transfer tail_at_once_for_later = {WITH_A_TAIL, SLOWER, .bytes = 3096, LATER(60)};

/* With no option set either: the window adapts, and is closed all the same. */
#define LONG .bytes = 1200000, .read_piece = 20000, .read_gap = 3, .count = 1
static const struct transfer busy_reader = {
	LONG, .server_sleep = 2, .reader_computes = true, .cause = "zero-window"};
static const struct transfer napping_reader = {LONG, .cause = "zero-window"};
static const struct transfer awake_reader = {.bytes = 1200000, .read_piece = 20000, .count = 1};

/* A reader that takes its time with what it reads: nothing but that counts. */
#define SLOWLY .bytes = 300000, .read_piece = 30000, .count = 2
static const struct transfer slow_reader = {SLOWLY, .rcvbuf = 8192, .read_gap = 15, .sndbuf = 1 << 20, .cause = "rwnd"};
static const struct transfer slow_reader_large_window = {SLOWLY, .rcvbuf = 4 << 20, .read_gap = 15, .sndbuf = 1 << 20};
static const struct transfer computing_reader = {SLOWLY, .rcvbuf = 8192, .read_gap = 15, .reader_computes = true, .sndbuf = 1 << 20, .cause = "rwnd"};
static const struct transfer computing_reader_large_window = {SLOWLY, .rcvbuf = 4 << 20, .read_gap = 15, .reader_computes = true, .sndbuf = 1 << 20};
static const struct transfer writes_to_slow_reader = {SLOWLY, .rcvbuf = 65536, .read_gap = 15, .sndbuf = 16384, .cause = "peer-app", .write_cause = "sndbuf"};
static const struct transfer writes_to_slow_reader_large_buffer = {SLOWLY, .rcvbuf = 65536, .read_gap = 15, .sndbuf = 1 << 20};
/* clang-format on */

static void transfer(struct phases *phases, int fd, const struct transfer *t)
{
	uint32_t piece = t->piece ? t->piece : t->bytes;
	uint64_t start_ns = now_ns();

	for (uint32_t done = 0; done < t->bytes; done += piece)
		write_all(fd, piece);
	if (t->write_cause)
		phases__end(phases, t->write_cause);
	if (t->last)
		write_all(fd, t->last);
	if (!read_all(fd, 1))
		die("the server hung up");
	stage__request(phases->stage, start_ns);
	phases__end(phases, t->cause);
	atomic_fetch_add(&phases->stage->exchanges, 1);
}

static void client_transfer(struct stage *stage)
{
	const struct transfer *t = stage->scene->script;
	struct phases phases;
	int fd;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		fd = connect_with(stage, t->sndbuf);
		if (t->pacing_rate)
			set_option(fd, SOL_SOCKET, SO_MAX_PACING_RATE, t->pacing_rate);
		set_option(fd, IPPROTO_TCP, TCP_NODELAY, t->nodelay);
		/* The handshake takes a round trip. */
		phases__end(&phases, "network");
		for (uint32_t n = 0; n < t->count; n++) {
			if (n && t->pause) {
				spin_ms(stage, t->pause);
				phases__end(&phases, "cpu");
			}
			transfer(&phases, fd, t);
		}
		close(fd);
	}
}

/* A reader that takes its time: no buffer makes it faster. */
static bool read_request(struct stage *stage, int fd, const struct transfer *t)
{
	uint32_t left = t->bytes + t->last, piece = t->read_piece ? t->read_piece : left;

	for (; left; left -= piece) {
		if (piece > left)
			piece = left;
		if (!read_all(fd, piece))
			return false;
		if (t->read_gap && t->reader_computes)
			spin_ms(stage, t->read_gap);
		else if (t->read_gap)
			sleep_ms(t->read_gap);
	}
	return true;
}

static void server_transfer(struct stage *stage)
{
	const struct transfer *t = stage->scene->script;

	if (t->rcvbuf)
		set_option(stage->listener, SOL_SOCKET, SO_RCVBUF, t->rcvbuf);
	for (;;) {
		int fd = accept_one(stage);
		char byte;

		while (recv(fd, &byte, 1, MSG_PEEK) == 1) {
			if (t->server_sleep)
				sleep_ms(t->server_sleep);
			if (!read_request(stage, fd, t))
				break;
			write_all(fd, 1);
		}
		close(fd);
	}
}

static void setup_path_20ms(struct stage *stage)
{
	const struct transfer *t = stage->scene->script;

	stage__path_with(stage, 20000,
			 t->keeps_window ? "net/ipv4/tcp_slow_start_after_idle" : NULL, "0");
}

static void setup_path(struct stage *stage)
{
	stage__path(stage, 0);
}

/* What waits in the device's queue still belongs to the sender. Packets of one segment each: TSO
 * would put off more than the queue does. */
static void setup_device(struct stage *stage)
{
	const struct transfer *t = stage->scene->script;
	char command[128];

	stage__path(stage, 0);
	if (!t->queue)
		return;
	snprintf(command, sizeof(command), "tc qdisc replace dev path root %s", t->queue);
	if (system("ip link set dev path gso_max_segs 1") || system(command))
		cannot("there is no tbf to slow a device");
}

#define ENDS    client_transfer, server_transfer
#define ON_PATH [4] = play_path
#define LARGER  "SO_RCVBUF|SO_SNDBUF|tcp_[rw]mem|larger window|O_NONBLOCK"

/* clang-format off */
const struct scene window_scenes[] = {
	{"far-server", setup_path_20ms, {ENDS, ON_PATH}, 1, 1, &prompt, .makes = {"network", 15, 0.80}, .verdict = {"network", .says = "Fewer round trips", .never = "saves"}, .quick = true},
	{"slow-start", setup_path_20ms, {ENDS, ON_PATH}, 1, 8, &slow_start, .makes = {"cwnd", 6, 0.50}, .verdict = {"cwnd", .says = "Keep one connection"}, .followed = &kept_connection, .quick = true},
	{"slow-start-after-idle", setup_path_20ms, {ENDS, ON_PATH}, 1, 1, &pauses, .makes = {"cwnd", 5, 0.10}, .verdict = {"cwnd", .says = "slow_start_after_idle=0", .never = "new ones"}, .followed = &pauses_keeping_window, .computes = true},
	{"small-window", setup_path_20ms, {ENDS, ON_PATH}, 1, 4, &small_window, .makes = {"rwnd", 3, 0.80}, .verdict = {"rwnd", .says = "SO_RCVBUF"}, .followed = &large_window, .quick = true},
	{"shut-window", setup_path, {ENDS, ON_PATH}, 1, 12, &shut_window, .makes = {"zero-window", 9, 0.80}, .verdict = {"zero-window", .says = "slept", .never = LARGER}, .followed = &prompt_reader},
	{"small-buffer", setup_path_20ms, {ENDS, ON_PATH}, 1, 4, &small_buffer, .makes = {"sndbuf", 3, 0.50}, .verdict = {"sndbuf", .says = "SO_SNDBUF"}, .followed = &large_buffer},
	{"paced", NULL, {ENDS}, 1, 1, &paced, .makes = {"pacing", 12, 0.60}, .verdict = {.cause = "pacing"}, .followed = &unpaced, .quick = true},
	{"paced-for-later", NULL, {ENDS}, 1, 1, &paced_for_later, .makes = {"peer-app", 15, 0.80}, .verdict = {"peer-app", .never = "PACING"}, .followed = &unpaced_for_later, .in_vain = true},
	{"slow-device", setup_device, {ENDS, ON_PATH}, 1, 6, &slow_device, .makes = {"tsq", 3, 0.80}, .verdict = {"tsq", .says = "device is behind"}, .followed = &fast_device},
	{"slow-device-for-later", setup_device, {ENDS, ON_PATH}, 1, 6, &slow_device_for_later, .makes = {"peer-app", 4, 0.80}, .verdict = {"peer-app", .never = "device is behind"}, .followed = &fast_device_for_later, .in_vain = true},
	{"slow-device-tail", setup_device, {ENDS, ON_PATH}, 1, 3, &slow_device_tail, .makes = {"autocork", 8, 0.80}, .verdict = {"autocork", .says = "device is behind"}, .followed = &fast_device_tail},
	{"slow-device-tail-at-once", setup_device, {ENDS, ON_PATH}, 1, 3, &slow_device_tail, .makes = {"autocork", 8, 0.80}, .verdict = {"autocork", .never = "writev[^:]*: saves|tcp_autocorking=0[^:]*: the same saving"}, .followed = &slow_device_at_once, .in_vain = true},
	{"tail-for-later", setup_device, {ENDS, ON_PATH}, 1, 3, &tail_for_later, .makes = {"peer-app", 8, 0.80}, .verdict = {"peer-app", .never = "device is behind|writev"}, .followed = &tail_at_once_for_later, .in_vain = true},
	{"slow-reader", setup_path, {ENDS, ON_PATH}, 1, 3, &slow_reader, .makes = {"rwnd", 3, 0.60}, .verdict = {"rwnd", .never = LARGER}, .followed = &slow_reader_large_window, .in_vain = true},
	{"computing-reader", NULL, {ENDS}, 1, 3, &computing_reader, .makes = {"rwnd", 3, 0.60}, .verdict = {"rwnd", .never = LARGER}, .followed = &computing_reader_large_window, .in_vain = true, .computes = true},
	{"writes-to-slow-reader", NULL, {ENDS}, 1, 3, &writes_to_slow_reader, .makes = {"sndbuf", 3, 0.30}, .verdict = {"sndbuf", .says = "slept", .never = LARGER}, .followed = &writes_to_slow_reader_large_buffer, .in_vain = true},
	{"busy-reader", NULL, {ENDS}, 1, 8, &busy_reader, .makes = {"zero-window", 6, 0.80}, .verdict = {"zero-window", .says = "computed", .never = LARGER "|saves"}, .computes = true},
	{"napping-reader", NULL, {ENDS}, 1, 8, &napping_reader, .makes = {"zero-window", 6, 0.80}, .verdict = {"zero-window", .says = "slept", .never = LARGER}, .followed = &awake_reader},
	{0},
};
/* clang-format on */
