// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Clients and servers that work by a script. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

/* TCP_DELACK_MIN, include/net/tcp.h: 40 ms in jiffies, of which one may be over already. */
#define DELACK_SOONEST_NS MS(35)

static size_t sum(const uint32_t *pieces)
{
	size_t total = 0;

	for (int i = 0; i < PIECES; i++)
		total += pieces[i];
	return total;
}

static void nap_us(uint32_t us)
{
	if (us)
		sleep_until(now_ns() + us * 1000ull);
}

static void by_sendfile(int fd, size_t bytes)
{
	static int file = -1;
	off_t offset = 0;

	if (file < 0)
		file = memfd_create("body", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, bytes) ||
	    sendfile(fd, file, &offset, bytes) != (ssize_t)bytes)
		die("sendfile: %s", strerror(errno));
}

static void by_splice(int fd, size_t bytes)
{
	static int ends[2] = {-1, -1};

	if (ends[0] < 0 && pipe2(ends, O_CLOEXEC))
		die("no pipe: %s", strerror(errno));
	write_all(ends[1], bytes);
	if (splice(ends[0], NULL, fd, NULL, bytes, 0) != (ssize_t)bytes)
		die("splice: %s", strerror(errno));
}

static void by_sendmsg(int fd, size_t bytes)
{
	static char zeros[65536];
	struct iovec part = {.iov_base = zeros, .iov_len = bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (sendmsg(fd, &message, MSG_NOSIGNAL) != (ssize_t)bytes)
		die("sendmsg: %s", strerror(errno));
}

static void write_piece(int fd, size_t bytes, enum piece_way way)
{
	switch (way) {
	case BY_SENDFILE:
		by_sendfile(fd, bytes);
		break;
	case BY_SPLICE:
		by_splice(fd, bytes);
		break;
	case BY_SENDMSG:
		by_sendmsg(fd, bytes);
		break;
	default:
		write_all(fd, bytes);
	}
}

static void write_vector(int fd, const uint32_t *pieces)
{
	static char zeros[65536];
	struct iovec parts[PIECES];
	int count = 0;

	for (; count < PIECES && pieces[count]; count++)
		parts[count] = (struct iovec){.iov_base = zeros, .iov_len = pieces[count]};
	if (writev(fd, parts, count) != (ssize_t)sum(pieces))
		die("writev: %s", strerror(errno));
}

/* @phases: of a client; what it sleeps between its writes, while TCP holds nothing, is its own
 * wish.
 */
static void write_pieces(int fd, const uint32_t *pieces, enum piece_way way, uint32_t gap_us,
			 struct phases *phases)
{
	if (way == BY_WRITEV) {
		write_vector(fd, pieces);
		return;
	}
	for (int i = 0; i < PIECES && pieces[i]; i++) {
		if (i && gap_us) {
			nap_us(gap_us);
			if (phases)
				phases__end(phases, "timer");
		}
		if (way == BY_MORE)
			send_all(fd, pieces[i], MSG_MORE);
		else
			write_piece(fd, pieces[i], i ? way : BY_WRITE);
	}
}

/* Whether TCP holds back what was written: it has sent not all of it. */
static bool is_held(int fd)
{
	int unsent = 0;

	if (ioctl(fd, SIOCOUTQNSD, &unsent))
		die("SIOCOUTQNSD: %s", strerror(errno));
	return unsent;
}

/* Returns whether TCP held any of it back. */
static bool send_request(int fd, const struct script *script, struct phases *phases)
{
	bool held;

	if (script->cork)
		set_option(fd, IPPROTO_TCP, TCP_CORK, 1);
	write_pieces(fd, script->request, script->way, script->gap_us, phases);
	held = is_held(fd);
	if (script->cork) {
		nap_us(script->gap_us);
		set_option(fd, IPPROTO_TCP, TCP_CORK, 0);
	}
	if (script->nodelay_late_us) {
		nap_us(script->nodelay_late_us);
		set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
		set_option(fd, IPPROTO_TCP, TCP_NODELAY, 0);
	}
	return held;
}

/* What the verdict must be about is the server's own time, or what the client waited for. */
static bool is_about(const struct stage *stage, const char *cause)
{
	const char *about = stage->scene->verdict.cause;

	return about && cause && !strcmp(about, cause);
}

bool is_about_server(const struct stage *stage)
{
	return is_about(stage, "peer-app") || is_about(stage, "self");
}

void exchange(struct phases *phases, int fd, const struct script *script)
{
	uint32_t requests = script->pipelined ? script->pipelined : 1;
	const char *cause;
	bool held = false;
	uint64_t start_ns = now_ns();
	size_t rest = requests * sum(script->reply) + script->early_bytes;

	for (uint32_t i = 0; i < requests; i++)
		held |= send_request(fd, script, phases);
	cause = held || !script->unheld_cause ? script->cause : script->unheld_cause;
	if (script->early_bytes) {
		if (!read_all(fd, script->early_bytes))
			die("the server hung up");
		/* Which was first, its bytes or its delayed-ACK timer? */
		if (now_ns() - phases->start_ns >= DELACK_SOONEST_NS)
			cause = "unclear";
	}
	rest -= script->early_bytes;
	if (!read_all(fd, 1))
		die("the server hung up");
	/* Also what it waited for a CPU, if it is about that. */
	if (is_about(phases->stage, cause) && !is_about_server(phases->stage))
		atomic_fetch_add(&phases->stage->part_ns,
				 now_ns() - start_ns - script->beside_us * 1000ull);
	if (rest > 1) {
		phases__end(phases, cause);
		cause = script->reply_cause;
		if (!read_all(fd, rest - 1))
			die("the server hung up");
	}
	stage__request(phases->stage, start_ns);
	phases__end(phases, cause);
	atomic_fetch_add(&phases->stage->exchanges, requests);
}

void warm_up(int fd, const struct script *script)
{
	send_request(fd, script, NULL);
	if (!read_all(fd, sum(script->reply)))
		die("the server hung up");
}

void play_client(struct stage *stage)
{
	const struct script *script = stage->scene->script;
	struct phases phases;
	int fd = script->late ? -1 : connect_to(stage);

	for (uint32_t i = 0; i < script->warmup; i++)
		warm_up(fd, script);
	stage__wait_at_gate(stage);
	if (script->late)
		fd = connect_to(stage);
	if (script->nodelay)
		set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, fd, script);
		if (script->pause_us && (i + 1) % (script->burst ? script->burst : 1) == 0) {
			nap_us(script->pause_us);
			phases__end(&phases, script->pause_cause);
		}
	}
}

void ask_by_turns(struct stage *stage, int fd, const char *(*ask)(struct phases *phases, int fd))
{
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		uint64_t start_ns = now_ns();
		const char *cause = ask(&phases, fd);

		stage__request(stage, start_ns);
		if (stage->scene->targets & 1) /* else its waits are no stalls */
			phases__end(&phases, cause);
		atomic_fetch_add(&stage->exchanges, 1);
	}
}

static bool take_request(int fd, const struct script *script)
{
	size_t bytes = sum(script->request), first = script->request[0];

	if (!script->early_bytes)
		return read_all(fd, bytes);
	if (!read_all(fd, first))
		return false;
	/* It has something to say when nothing more has come by then. */
	poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, script->early_us / 1000);
	write_all(fd, script->early_bytes);
	return read_all(fd, bytes - first);
}

void serve(struct stage *stage, int fd, const struct script *script)
{
	struct part part;

	do {
		/* It is not sticky: the kernel goes back by itself. */
		if (script->quickack)
			set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
		if (!take_request(fd, script))
			return;
		part = part__begin();
		nap_us(script->serve_us);
		if (script->spin_us)
			spin_ms(stage, script->spin_us / 1000);
		if (is_about_server(stage))
			part__end(stage, &part);
		write_pieces(fd, script->reply, BY_WRITE, script->reply_gap_us, NULL);
	} while (true);
}

void play_server(struct stage *stage)
{
	serve(stage, accept_one(stage), stage->scene->script);
}
