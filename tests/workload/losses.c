// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Exchanges over loopback of which TCP loses segments, each mode recovered in one known way:
 *
 *	rto   the request and the probe that repeats it are lost: the retransmission timer
 *	tlp   the request is lost: a tail loss probe repeats it
 *	fast  a segment is lost, a later one arrives 20 ms after it: fast retransmit
 *	syn   connect() to a listener whose queue is full for a while: the SYN is repeated
 *	none  nothing is lost
 *
 * A BPF filter on the server's socket drops what is to be lost, as a full socket buffer would.
 *
 *	$ losses --mode rto -n 3
 *	ready client_pid=812 server_pid=811 fd=5 port=46465
 *	done mode=rto exchanges=3 stalls=3 lost=6 median_us=431023.1	(after a line on stdin)
 *
 * Exit status: 0 done, 1 it failed, 64 usage.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/bpf.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 64
#define STALL_US   10000
#define SMALL      100  /* bytes of a request, an answer, a piece behind the lost one */
#define LARGE      1000 /* bytes of what is lost: the filter goes by it */
#define PIECE_US   20000
#define FULL_US    300000 /* the listener's queue stays full; a SYN is repeated after 1 s */
#define MOST       1000

static const struct mode {
	const char *name;
	unsigned losses; /* of an exchange */
	unsigned pieces; /* written behind what is lost */
	bool connects;
} modes[] = {
	{"rto", 2, 0, false}, {"tlp", 1, 0, false},  {"fast", 1, 1, false},
	{"syn", 0, 0, true},  {"none", 0, 0, false},
};

static const struct mode *mode = &modes[0];
static unsigned rounds = 10;
static int losses_left = -1; /* a BPF array of one: segments that the filter has still to drop */
static double took_us[MOST];

static void die(const char *what)
{
	fprintf(stderr, "losses: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void pause_us(unsigned us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000l};

	nanosleep(&time, NULL);
}

/* ---- the filter ---- */

#define INSN(op, dst_, src_, off_, imm_)                                                           \
	((struct bpf_insn){                                                                        \
		.code = (op), .dst_reg = (dst_), .src_reg = (src_), .off = (off_), .imm = (imm_)})

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static void set_losses(unsigned count)
{
	uint32_t key = 0, value = count;
	union bpf_attr attr = {.map_fd = (uint32_t)losses_left,
			       .key = (uintptr_t)&key,
			       .value = (uintptr_t)&value};

	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		die("the map");
}

static unsigned get_losses(void)
{
	uint32_t key = 0, value = 0;
	union bpf_attr attr = {.map_fd = (uint32_t)losses_left,
			       .key = (uintptr_t)&key,
			       .value = (uintptr_t)&value};

	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		die("the map");
	return value;
}

static void make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	losses_left = bpf(BPF_MAP_CREATE, &attr);
	if (losses_left < 0)
		die("a BPF map");
}

/* if (skb->len > LARGE && losses_left) { losses_left--; return 0; } return all; */
static int load_filter(void)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 1, offsetof(struct __sk_buff, len), 0),
		INSN(BPF_JMP | BPF_JLE | BPF_K, 2, 0, 13, LARGE),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, losses_left),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_W, 1, 0, 0, 0),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 4, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -1),
		INSN(BPF_STX | BPF_MEM | BPF_W, 0, 1, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
			       .insns = (uintptr_t)insns,
			       .insn_cnt = sizeof(insns) / sizeof(insns[0]),
			       .license = (uintptr_t) "GPL"};
	int filter = bpf(BPF_PROG_LOAD, &attr);

	if (filter < 0)
		die("a BPF socket filter");
	return filter;
}

/* ---- both ends ---- */

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	return fd;
}

static void write_all(int fd, size_t size)
{
	static const char bytes[LARGE + SMALL];

	if (write(fd, bytes, size) != (ssize_t)size)
		die("write");
}

static void read_all(int fd, size_t size)
{
	char bytes[LARGE + SMALL];
	ssize_t got;

	while (size) {
		got = read(fd, bytes, size < sizeof(bytes) ? size : sizeof(bytes));
		if (got <= 0)
			die("read");
		size -= (size_t)got;
	}
}

static size_t request_bytes(void)
{
	return LARGE + SMALL + mode->pieces * SMALL;
}

static void answer(int listener)
{
	int filter = load_filter(), fd = accept(listener, NULL, NULL);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_BPF, &filter, sizeof(filter)))
		die("accept");
	for (unsigned i = 0; i <= 2 * rounds; i++) {
		read_all(fd, request_bytes());
		write_all(fd, SMALL);
	}
}

struct talk {
	int to_server[2];
	int to_client[2];
};

static void say(int fd)
{
	if (write(fd, "!", 1) != 1)
		die("a pipe");
}

static void hear(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		die("a pipe");
}

/* The queue holds one more than the backlog of 0 says: this connection, until it is accepted. */
static void fill_and_drain(int listener, uint16_t port, const struct talk *talk)
{
	for (unsigned i = 0; i < rounds; i++) {
		int filler;

		hear(talk->to_server[0]);
		filler = connect_to(port);
		pause_us(FULL_US / 10);
		say(talk->to_client[1]);
		pause_us(FULL_US);
		close(accept(listener, NULL, NULL));
		close(filler);
		close(accept(listener, NULL, NULL));
	}
}

/* Returns how long it took. */
static double ask(int fd, unsigned losses)
{
	double start = now_us();

	set_losses(losses);
	write_all(fd, LARGE + SMALL);
	for (unsigned i = 0; i < mode->pieces; i++) {
		pause_us(losses ? PIECE_US : 0);
		write_all(fd, SMALL);
	}
	read_all(fd, SMALL);
	return now_us() - start;
}

static double connect_once(uint16_t port, const struct talk *talk)
{
	double start;
	char byte;
	int fd;

	say(talk->to_server[1]);
	hear(talk->to_client[0]);
	start = now_us();
	fd = connect_to(port);
	start = now_us() - start;
	if (read(fd, &byte, 1) != 0)
		die("the end of the connection");
	close(fd);
	return start;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void tell_truth(unsigned lost)
{
	unsigned stalls = 0;

	for (unsigned i = 0; i < rounds; i++)
		stalls += took_us[i] >= STALL_US;
	qsort(took_us, rounds, sizeof(took_us[0]), by_value);
	printf("done mode=%s exchanges=%u stalls=%u lost=%u median_us=%.1f\n", mode->name, rounds,
	       stalls, lost, took_us[rounds / 2]);
}

static void be_client(uint16_t port, const struct talk *talk, pid_t server)
{
	int one = 1, fd = mode->connects ? -1 : connect_to(port);
	unsigned lost = 0;
	char line[16];

	if (fd >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		ask(fd, 0);
	}
	printf("ready client_pid=%d server_pid=%d fd=%d port=%u\n", getpid(), server, fd, port);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		_exit(1);
	for (unsigned i = 0; i < rounds; i++) {
		if (mode->connects) {
			took_us[i] = connect_once(port, talk);
		} else {
			/* A probe is sent only when the one before is settled:
			 * tcp_send_loss_probe(). */
			ask(fd, 0);
			took_us[i] = ask(fd, mode->losses);
			lost += mode->losses - get_losses();
		}
	}
	tell_truth(lost);
	fflush(stdout);
}

static void take_options(int argc, char **argv)
{
	static const struct option options[] = {{"mode", required_argument, NULL, 'm'},
						{"gate", required_argument, NULL, 'g'},
						{0}};
	int option;

	while ((option = getopt_long(argc, argv, "n:", options, NULL)) != -1) {
		size_t i = 0;

		if (option == 'n')
			rounds = (unsigned)strtoul(optarg, NULL, 10);
		while (option == 'm' && i < sizeof(modes) / sizeof(modes[0]) &&
		       strcmp(optarg, modes[i].name))
			i++;
		if (option == '?' || i == sizeof(modes) / sizeof(modes[0]) || rounds > MOST) {
			fputs("Usage: losses [--mode rto|tlp|fast|syn|none] [-n ROUNDS]\n", stderr);
			exit(EXIT_USAGE);
		}
		if (option == 'm')
			mode = &modes[i];
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), status = 1;
	struct talk talk;
	pid_t server;

	take_options(argc, argv);
	if (listener < 0 || pipe(talk.to_server) || pipe(talk.to_client) ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 0) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		die("listen");
	make_map();
	server = fork();
	if (server < 0)
		die("fork");
	if (!server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "loss-server");
		if (mode->connects)
			fill_and_drain(listener, ntohs(address.sin_port), &talk);
		else
			answer(listener);
		_exit(0);
	}
	close(listener);
	prctl(PR_SET_NAME, "loss-client");
	be_client(ntohs(address.sin_port), &talk, server);
	waitpid(server, &status, 0);
	return status ? 1 : 0;
}
