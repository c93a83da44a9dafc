// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Waits on sockets that are no TCP connections: for the answers of UDP, of name servers, and
 * through Unix sockets. Beside each goes a healthy TCP connection.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

static const struct script beside = {.request = {176}, .reply = {96}};

static void beside_server(struct stage *stage)
{
	serve(stage, accept_one(stage), &beside);
}

enum wait_way { BY_RECV, BY_POLL, BY_EPOLL, BY_SELECT, BY_RING };

struct asking {
	enum wait_way way;
	uint32_t late_ms;     /* the server sleeps before it answers */
	uint32_t lost_every;  /* of so many datagrams the server loses one; 0: none */
	uint32_t pause_ms;    /* between two requests: where the target is who answers */
	uint32_t patience_ms; /* then it asks again; 0: it waits for ever */
	const char *cause;
	/* Of a Unix socket: */
	int type; /* SOCK_*, 0: UDP */
	bool is_abstract;
};

/* ---- who asks ---- */

static int wait_by_epoll(int fd, int patience_ms)
{
	static int epoll = -1;
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll < 0) {
		epoll = epoll_create1(EPOLL_CLOEXEC);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
			die("epoll_ctl: %s", strerror(errno));
	}
	return epoll_wait(epoll, &event, 1, patience_ms);
}

static int wait_by_select(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, NULL);
}

/* Returns whether something came. */
static bool await_answer(const struct asking *asking, int fd)
{
	struct pollfd entry = {.fd = fd, .events = POLLIN};
	int patience_ms = asking->patience_ms ? (int)asking->patience_ms : -1;
	char answer[128];

	if (asking->way == BY_POLL && !poll(&entry, 1, patience_ms))
		return false;
	if (asking->way == BY_EPOLL && !wait_by_epoll(fd, patience_ms))
		return false;
	if (asking->way == BY_SELECT && wait_by_select(fd) < 0)
		die("select: %s", strerror(errno));
	if ((asking->way == BY_RING ? uring__read(fd, answer, sizeof(answer))
				    : recv(fd, answer, sizeof(answer), 0)) < 0)
		die("no answer: %s", strerror(errno));
	return true;
}

static void ask_once(struct phases *phases, const struct asking *asking, int fd)
{
	do {
		if (send(fd, "the question is forty bytes long, nearly", 40, 0) != 40)
			die("cannot send: %s", strerror(errno));
	} while (!await_answer(asking, fd));
	phases__end(phases, asking->cause);
}

static void ask_all(struct stage *stage, int fd)
{
	const struct asking *asking = stage->scene->script;
	int tcp = connect_to(stage);
	struct phases phases;

	if (asking->way == BY_RING)
		uring__open();
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, tcp, &beside);
		ask_once(&phases, asking, fd);
		if (asking->pause_ms)
			sleep_ms(asking->pause_ms);
	}
}

static struct sockaddr_in server_address(const struct stage *stage)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = stage->address ? stage->address
								      : htonl(INADDR_LOOPBACK),
				    .sin_port = htons(stage->datagram_port)};
}

static void asker(struct stage *stage)
{
	struct sockaddr_in address = server_address(stage);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("no UDP: %s", strerror(errno));
	ask_all(stage, fd);
}

/* Its socket is not connected, each datagram has an address. */
static void asker_by_address(struct stage *stage)
{
	const struct asking *asking = stage->scene->script;
	struct sockaddr_in address = server_address(stage);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), tcp = connect_to(stage);
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, tcp, &beside);
		if (sendto(fd, "?", 1, 0, (struct sockaddr *)&address, sizeof(address)) != 1)
			die("cannot send: %s", strerror(errno));
		await_answer(asking, fd);
		phases__end(&phases, asking->cause);
	}
}

/* ---- who answers ---- */

static void answer_from(struct stage *stage, int fd)
{
	const struct asking *asking = stage->scene->script;
	struct sockaddr_storage from;
	socklen_t length;
	char question[128];
	ssize_t size;

	stage__enter(stage);
	for (uint32_t i = 1;; i++) {
		length = sizeof(from);
		size = recvfrom(fd, question, sizeof(question), 0, (struct sockaddr *)&from,
				&length);
		if (size <= 0)
			return;
		if (asking->lost_every && i % asking->lost_every == 1)
			continue;
		if (asking->late_ms)
			sleep_ms(asking->late_ms);
		if (sendto(fd, question, size, 0, length ? (struct sockaddr *)&from : NULL,
			   length) != size)
			return;
	}
}

static void answerer(struct stage *stage)
{
	answer_from(stage, stage->datagrams);
}

/* ---- names ---- */

#define NAME_SERVER "127.0.0.1"
#define DEAD_SERVER "127.0.0.2"
#define DNS_HEADER  12

struct lookup {
	const char *resolv_conf;
	uint32_t late_ms;
	const char *cause;
	bool in_turn; /* both kinds of address are asked for */
};

/* The file that others see under this name is ours from now on; but for this scene nobody does. */
static void put_over(const char *path, const char *text)
{
	char name[] = "/tmp/netstall-scene-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0 || fchmod(fd, 0644) || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("cannot write %s: %s", name, strerror(errno));
	close(fd);
	if (mount(name, path, NULL, MS_BIND, NULL))
		cannot("nothing can be mounted over %s: %s", path, strerror(errno));
	unlink(name);
}

static int name_socket(const char *address)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, address, &in.sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof(in)))
		die("no port 53: %s", strerror(errno));
	return fd;
}

static void setup_names(struct stage *stage)
{
	const struct lookup *lookup = stage->scene->script;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		cannot("no mount namespace: %s", strerror(errno));
	put_over("/etc/resolv.conf", lookup->resolv_conf);
	put_over("/etc/nsswitch.conf", "hosts: dns\n");
	stage__private_loopback(stage);
	close(stage->datagrams);
	stage->datagrams = name_socket(NAME_SERVER);
	name_socket(DEAD_SERVER); /* nobody reads there */
}

/* RFC 1035, 4.1: the question comes back, and one address for it, of an AAAA question none. */
static size_t make_answer(unsigned char *message, size_t size)
{
	static const unsigned char record[] = {0xc0, DNS_HEADER, 0, 1, 0,  1, 0, 0,
					       0,    0,          0, 4, 10, 0, 0, 1};
	size_t end = DNS_HEADER;
	bool is_a;

	while (end < size && message[end])
		end += message[end] + 1u;
	end += 5;
	if (end > size)
		die("a question that is none");
	is_a = message[end - 3] == 1;
	message[2] = 0x81;
	message[3] = 0x80;
	memset(message + 6, 0, 6);
	message[7] = is_a;
	if (is_a)
		memcpy(message + end, record, sizeof(record));
	return end + (is_a ? sizeof(record) : 0);
}

static void name_server(struct stage *stage)
{
	const struct lookup *lookup = stage->scene->script;
	unsigned char message[512];
	struct sockaddr_in from;
	socklen_t length;
	ssize_t size;

	stage__enter(stage);
	for (;;) {
		length = sizeof(from);
		size = recvfrom(stage->datagrams, message, sizeof(message) - 16, 0,
				(struct sockaddr *)&from, &length);
		if (size < DNS_HEADER)
			return;
		if (lookup->late_ms)
			sleep_ms(lookup->late_ms);
		size = (ssize_t)make_answer(message, (size_t)size);
		sendto(stage->datagrams, message, (size_t)size, 0, (struct sockaddr *)&from,
		       length);
	}
}

/* By TCP each message has its length before it (RFC 1035, 4.2.2). */
static void name_server_by_tcp(struct stage *stage)
{
	const struct lookup *lookup = stage->scene->script;
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	unsigned char message[514];
	ssize_t size;

	stage__enter(stage);
	inet_pton(AF_INET, NAME_SERVER, &in.sin_addr);
	if (listener < 0 || bind(listener, (struct sockaddr *)&in, sizeof(in)) ||
	    listen(listener, 8))
		die("no port 53: %s", strerror(errno));
	atomic_store(&stage->word, 1);
	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		size = read(fd, message, sizeof(message) - 16);
		if (size < 2 + DNS_HEADER)
			die("a question in pieces");
		sleep_ms(lookup->late_ms);
		size = (ssize_t)make_answer(message + 2, (size_t)size - 2);
		message[0] = 0;
		message[1] = (unsigned char)size;
		if (write(fd, message, (size_t)size + 2) != size + 2)
			die("cannot answer: %s", strerror(errno));
		close(fd);
	}
}

static void look_up(uint32_t number)
{
	static const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	char name[32];
	int error;

	snprintf(name, sizeof(name), "host-%u.example.org", number);
	error = getaddrinfo(name, "80", &hints, &found);
	if (error)
		die("%s: %s", name, gai_strerror(error));
	freeaddrinfo(found);
}

/* As the C library does with "options single-request", with a time of its own for each question. */
static void look_up_in_turn(struct phases *phases)
{
	static const unsigned char type_a = 1, type_aaaa = 28;
	unsigned char message[512], question[] = {0, 1,   1, 0,   0,   1,   0, 0, 0,      0, 0, 0,
						  1, 'a', 3, 'o', 'r', 'g', 0, 0, type_a, 0, 1};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd answer = {.fd = fd, .events = POLLIN};

	inet_pton(AF_INET, NAME_SERVER, &in.sin_addr);
	if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof(in)))
		die("no way to port 53: %s", strerror(errno));
	for (;;) {
		if (send(fd, question, sizeof(question), 0) < 0 || poll(&answer, 1, -1) != 1 ||
		    recv(fd, message, sizeof(message), 0) < DNS_HEADER)
			die("no answer: %s", strerror(errno));
		if (question[sizeof(question) - 3] == type_aaaa)
			break;
		phases__end(phases, "dns");
		question[sizeof(question) - 3] = type_aaaa;
	}
	close(fd);
}

static void looker(struct stage *stage)
{
	const struct lookup *lookup = stage->scene->script;
	int tcp = connect_to(stage);
	struct phases phases;

	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, tcp, &beside);
		if (lookup->in_turn)
			look_up_in_turn(&phases);
		else
			look_up(i);
		phases__end(&phases, lookup->cause);
	}
}

static void looker_by_tcp(struct stage *stage)
{
	while (!atomic_load(&stage->word))
		sleep_ms(1);
	looker(stage);
}

/* A thread of a pool asks for who waits, as in libuv. */
struct pool {
	struct stage *stage;
	int wanted[2];
	int done[2];
};

static void *pool_thread(void *arg)
{
	struct pool *pool = arg;
	char byte;

	stage__enter(pool->stage);
	for (uint32_t i = 0; read(pool->wanted[0], &byte, 1) == 1; i++) {
		look_up(i);
		if (write(pool->done[1], "", 1) != 1)
			die("nobody waits");
	}
	return NULL;
}

static void looker_with_pool(struct stage *stage)
{
	static struct pool pool;
	const struct lookup *lookup = stage->scene->script;
	int tcp = connect_to(stage);
	struct phases phases;
	char byte;

	pool.stage = stage;
	if (pipe(pool.wanted) || pipe(pool.done))
		die("no pipe: %s", strerror(errno));
	start_thread(pool_thread, &pool);
	stage__wait_at_gate(stage);
	phases__begin(&phases, stage);
	for (uint32_t i = 0; i < stage->count; i++) {
		exchange(&phases, tcp, &beside);
		if (write(pool.wanted[1], "", 1) != 1 || read(pool.done[0], &byte, 1) != 1)
			die("the pool is gone");
		phases__end(&phases, lookup->cause);
	}
}

/* ---- Unix sockets ---- */

static socklen_t unix_address(const struct stage *stage, const char *whose,
			      struct sockaddr_un *address)
{
	const struct asking *asking = stage->scene->script;
	size_t length;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/tmp/netstall-scene-%u-%s",
		 asking->is_abstract ? "@" : "", stage->port, whose);
	length = offsetof(struct sockaddr_un, sun_path) + strlen(address->sun_path);
	if (!asking->is_abstract)
		return length + 1;
	address->sun_path[0] = '\0';
	return length;
}

static void setup_unix(struct stage *stage)
{
	const struct asking *asking = stage->scene->script;
	struct sockaddr_un address;
	socklen_t length;

	stage__listen(stage, 64);
	close(stage->datagrams);
	length = unix_address(stage, "server", &address);
	stage->datagrams = socket(AF_UNIX, asking->type | SOCK_CLOEXEC, 0);
	if (stage->datagrams < 0 || bind(stage->datagrams, (struct sockaddr *)&address, length) ||
	    (asking->type != SOCK_DGRAM && listen(stage->datagrams, 8)))
		die("no Unix socket: %s", strerror(errno));
}

static void unix_asker(struct stage *stage)
{
	const struct asking *asking = stage->scene->script;
	int fd = socket(AF_UNIX, asking->type | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	socklen_t length = unix_address(stage, "client", &address);

	if (fd < 0 || (asking->type == SOCK_DGRAM && bind(fd, (struct sockaddr *)&address, length)))
		die("no Unix socket: %s", strerror(errno));
	length = unix_address(stage, "server", &address);
	if (connect(fd, (struct sockaddr *)&address, length))
		die("cannot connect: %s", strerror(errno));
	ask_all(stage, fd);
	unix_address(stage, "client", &address);
	unlink(address.sun_path);
	unix_address(stage, "server", &address);
	unlink(address.sun_path);
}

static void unix_answerer(struct stage *stage)
{
	const struct asking *asking = stage->scene->script;
	int fd = stage->datagrams;

	if (asking->type != SOCK_DGRAM)
		fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	answer_from(stage, fd);
}

/* ---- the scenes ---- */

static void setup_path_40ms(struct stage *stage)
{
	stage__path(stage, 20000);
}

#define LATE .late_ms = 40, .cause = "udp"

static const struct asking by_recv = {BY_RECV, LATE};
static const struct asking by_poll = {BY_POLL, LATE, .patience_ms = 5000};
static const struct asking by_epoll = {BY_EPOLL, LATE};
static const struct asking by_select = {BY_SELECT, LATE};
static const struct asking by_ring = {BY_RING, LATE};
static const struct asking far = {BY_RECV, .cause = "udp"};
static const struct asking prompt = {.way = BY_RECV};
static const struct asking paused = {.way = BY_RECV, .pause_ms = 40};
static const struct asking paused_stream = {.way = BY_RECV, .pause_ms = 40, .type = SOCK_STREAM};
static const struct asking with_losses = {BY_POLL, .lost_every = 2, .patience_ms = 60,
					  .cause = "udp"};

static const struct lookup late_names = {"nameserver " NAME_SERVER "\n", 40, "dns", false};
static const struct lookup dead_first = {"nameserver " DEAD_SERVER "\nnameserver " NAME_SERVER
					 "\noptions timeout:1\n",
					 0, "dns", false};
static const struct lookup late_by_tcp = {"nameserver " NAME_SERVER "\noptions use-vc\n", 40, "dns",
					  false};
static const struct lookup in_turn = {"nameserver " NAME_SERVER "\n", 40, "dns", true};
static const struct lookup prompt_names = {"nameserver " NAME_SERVER "\n", 0, NULL, false};

#define LATE_UNIX .late_ms = 40, .cause = "ipc"

static const struct asking stream = {BY_RECV, LATE_UNIX, .type = SOCK_STREAM};
static const struct asking stream_by_poll = {BY_POLL, LATE_UNIX, .patience_ms = 5000,
					     .type = SOCK_STREAM};
static const struct asking datagrams = {BY_RECV, LATE_UNIX, .type = SOCK_DGRAM};
static const struct asking packets = {BY_RECV, LATE_UNIX, .type = SOCK_SEQPACKET,
				      .is_abstract = true};

#define UDP  beside_server, answerer
#define DNS  beside_server, name_server
#define UNIX unix_asker, beside_server, unix_answerer

/* clang-format off */
const struct scene datagram_scenes[] = {
	{"udp-late", NULL, {asker, UDP}, 1, 12, &by_recv, .makes = {"udp", 10, 0.80}, .verdict = {"udp", .says = "do not sleep"}},
	{"udp-by-address", NULL, {asker_by_address, UDP}, 1, 12, &by_recv, .makes = {"udp", 10, 0.80}},
	{"udp-by-poll", NULL, {asker, UDP}, 1, 12, &by_poll, .makes = {"udp", 10, 0.80}, .quick = true},
	{"udp-by-epoll", NULL, {asker, UDP}, 1, 12, &by_epoll, .makes = {"udp", 10, 0.80}},
	{"udp-by-select", NULL, {asker, UDP}, 1, 12, &by_select, .makes = {"udp", 10, 0.80}},
	{"udp-by-ring", NULL, {asker, UDP}, 1, 12, &by_ring, .makes = {"udp", 10, 0.80}},
	{"udp-far", setup_path_40ms, {asker, UDP, [4] = play_path}, 1, 12, &far, .makes = {"udp", 10, 0.40}},
	{"udp-lost", NULL, {asker, UDP}, 1, 12, &with_losses, .makes = {"udp", 10, 0.80}, .verdict = {"udp", .says = "did not answer in time"}},
	{"udp-prompt", NULL, {asker, UDP}, 1, 200, &prompt, .makes = {.cause = NULL}},
	{"udp-server-idle", NULL, {asker, UDP}, 4, 12, &paused, .makes = {.cause = NULL}},
	{"dns-late", setup_names, {looker, DNS}, 1, 12, &late_names, .makes = {"dns", 10, 0.80}, .verdict = {"dns", .says = "127.0.0.1:53"}},
	{"dns-dead-first", setup_names, {looker, DNS}, 1, 3, &dead_first, .makes = {"dns", 3, 0.80}, .verdict = {"dns", .says = "Take 127.0.0.2:53 out of /etc/resolv.conf"}},
	{"dns-by-tcp", setup_names, {looker_by_tcp, beside_server, name_server_by_tcp}, 1, 10, &late_by_tcp, .makes = {"dns", 8, 0.80}},
	{"dns-in-pool", setup_names, {looker_with_pool, DNS}, 1, 12, &late_names, .makes = {"dns", 10, 0.80}},
	{"dns-in-turn", setup_names, {looker, DNS}, 1, 8, &in_turn, .makes = {"dns", 14, 0.80}, .verdict = {"dns", .says = "one after the other"}},
	{"dns-prompt", setup_names, {looker, DNS}, 1, 60, &prompt_names, .makes = {.cause = NULL}},
	{"unix-stream", setup_unix, {UNIX}, 1, 12, &stream, .makes = {"ipc", 10, 0.80}, .verdict = {"ipc", .says = "netstall-scene-[0-9]+-server"}},
	{"unix-stream-by-poll", setup_unix, {UNIX}, 1, 12, &stream_by_poll, .makes = {"ipc", 10, 0.80}, .verdict = {"ipc", .says = "netstall-scene-[0-9]+-server"}},
	{"unix-datagrams", setup_unix, {UNIX}, 1, 12, &datagrams, .makes = {"ipc", 10, 0.80}, .verdict = {"ipc", .says = "netstall-scene-[0-9]+-server"}},
	{"unix-server-idle", setup_unix, {UNIX}, 4, 12, &paused_stream, .makes = {.cause = NULL}},
	{"unix-packets", setup_unix, {UNIX}, 1, 12, &packets, .makes = {"ipc", 10, 0.80}, .verdict = {"ipc", .says = "@/tmp/netstall-scene-[0-9]+-server"}},
	{0},
};
/* clang-format on */
