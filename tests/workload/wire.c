// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A wire with a delay and losses, in user space, for kernels without netem. It needs a network
 * namespace for itself, in which it makes a TUN device:
 *
 *	10.211.0.1  this machine: client and server both run here
 *	10.211.0.2  what the client connects to: the server, beyond the wire
 *	10.211.0.3  what the server sees: the client, beyond the wire
 *
 * Addresses are rewritten on the way, so to netstall each end is on another host.
 *
 *	$ wire --delay 10 --lose request:5:2
 *	ready
 *	lost what=request seq=1200 bytes=40 copy=1		(one line for each)
 *	done forwarded=812 lost=7 episodes=4			(at SIGTERM)
 *
 * Exit status: 0 done, 1 it failed, 64 usage.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 64
#define HERE       0x0ad30001u
#define FAR_SERVER 0x0ad30002u
#define FAR_CLIENT 0x0ad30003u
#define MTU        1500
#define QUEUE      8192
#define WATCHED    64 /* segments whose copies are still to be lost */

#define TCP_SYN 2
#define TCP_ACK 16

static const char help[] =
	"Usage: wire [OPTION...]\n"
	"Connects 10.211.0.1 to itself by way of 10.211.0.2, with a delay and losses.\n"
	"\n"
	"  --delay MS                 each way (default 0)\n"
	"  --lose WHAT:EVERY:COPIES   lose each EVERY-th segment, so many times it is sent\n"
	"      WHAT: request, reply (segments with data), syn, synack\n";

enum what { REQUEST, REPLY, SYN, SYNACK, WHATS };
static const char *const what_names[WHATS] = {"request", "reply", "syn", "synack"};

struct rule {
	unsigned every; /* 0: none is lost */
	unsigned copies;
	unsigned seen;
	uint32_t newest; /* sequence number behind the newest segment; only one connection */
	bool any;
};

struct watched {
	enum what what;
	uint32_t seq;
	unsigned left;
	unsigned copy;
	uint16_t port; /* of the client */
};

struct packet {
	uint64_t due_ns;
	size_t len;
	uint8_t bytes[MTU + 100];
};

static struct rule rules[WHATS];
static struct watched watched[WATCHED];
static struct packet queue[QUEUE];
static size_t queue_first, queue_count;
static uint64_t delay_ns;
static unsigned forwarded, lost, episodes;
static volatile sig_atomic_t ended;

static void die(const char *what)
{
	fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return ntohl(value);
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* RFC 1624: a checksum after one 32-bit word changed. */
static void mend_checksum(uint8_t *at, uint32_t was, uint32_t is)
{
	uint32_t sum = (uint16_t)~get16(at);

	sum += (uint16_t) ~(was >> 16) + (uint16_t)~was;
	sum += (is >> 16) + (is & 0xffff);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum;
	at[0] = (uint8_t)(sum >> 8);
	at[1] = (uint8_t)sum;
}

static void rewrite(uint8_t *ip, size_t at, uint32_t to)
{
	uint32_t was = get32(ip + at), is = htonl(to);

	memcpy(ip + at, &is, sizeof(is));
	mend_checksum(ip + 10, was, to);
	mend_checksum(ip + (ip[0] & 15) * 4 + 16, was, to);
}

/* One more copy of a segment that is being lost? */
static bool lose_copy(enum what what, uint16_t port, uint32_t seq, uint32_t end)
{
	for (size_t i = 0; i < WATCHED; i++) {
		struct watched *one = &watched[i];

		if (!one->left || one->what != what || one->port != port ||
		    (int32_t)(one->seq - seq) < 0 || (int32_t)(one->seq - end) >= 0)
			continue;
		one->left--;
		printf("lost what=%s seq=%u bytes=%u copy=%u\n", what_names[what], seq, end - seq,
		       ++one->copy);
		lost++;
		return true;
	}
	return false;
}

static void begin_losing(enum what what, uint16_t port, uint32_t seq)
{
	for (size_t i = 0; i < WATCHED; i++) {
		if (watched[i].left)
			continue;
		watched[i] = (struct watched){
			.what = what, .seq = seq, .left = rules[what].copies, .port = port};
		episodes++;
		return;
	}
}

/* Decides by what a segment is, how many new ones there were before it, and copies. */
static bool loses(const uint8_t *ip, size_t len, bool to_server)
{
	const uint8_t *tcp = ip + (ip[0] & 15) * 4;
	uint32_t seq = get32(tcp + 4);
	uint32_t end = seq + (uint32_t)(len - (ip[0] & 15) * 4 - (tcp[12] >> 4) * 4);
	uint16_t port = to_server ? get16(tcp) : get16(tcp + 2);
	enum what what = to_server ? REQUEST : REPLY;
	struct rule *rule;
	bool is_new;

	if (tcp[13] & TCP_SYN) {
		what = tcp[13] & TCP_ACK ? SYNACK : SYN;
		end = seq + 1;
	}
	rule = &rules[what];
	if (seq == end || !rule->every)
		return false;
	if (lose_copy(what, port, seq, end))
		return true;
	/* Each connection request has a number of its own, and its copies have the same. */
	is_new = !rule->any || ((what == SYN || what == SYNACK) && end != rule->newest) ||
		 (int32_t)(end - rule->newest) > 0;
	if (!is_new)
		return false;
	rule->any = true;
	rule->newest = end;
	if (++rule->seen % rule->every)
		return false;
	begin_losing(what, port, seq);
	return lose_copy(what, port, seq, end);
}

static void take(int tun)
{
	struct packet *packet = &queue[(queue_first + queue_count) % QUEUE];
	uint8_t *ip = packet->bytes;
	ssize_t len;
	bool to_server;

	if (queue_count == QUEUE) {
		fprintf(stderr, "wire: the queue is full\n");
		exit(1);
	}
	len = read(tun, ip, sizeof(packet->bytes));
	if (len < 40 || ip[0] >> 4 != 4 || ip[9] != IPPROTO_TCP)
		return;
	to_server = get32(ip + 16) == FAR_SERVER;
	if ((!to_server && get32(ip + 16) != FAR_CLIENT) || loses(ip, (size_t)len, to_server))
		return;
	rewrite(ip, 12, to_server ? FAR_CLIENT : FAR_SERVER);
	rewrite(ip, 16, HERE);
	packet->len = (size_t)len;
	packet->due_ns = now_ns() + delay_ns;
	queue_count++;
}

static void give(int tun)
{
	while (queue_count && queue[queue_first].due_ns <= now_ns()) {
		struct packet *packet = &queue[queue_first];

		if (write(tun, packet->bytes, packet->len) < 0 && errno != EIO)
			die("write");
		queue_first = (queue_first + 1) % QUEUE;
		queue_count--;
		forwarded++;
	}
}

static void carry(int tun)
{
	while (!ended) {
		struct pollfd ready = {.fd = tun, .events = POLLIN};
		struct timespec wait = {0, 0};
		uint64_t now = now_ns();

		if (queue_count && queue[queue_first].due_ns > now) {
			wait.tv_sec = (time_t)((queue[queue_first].due_ns - now) / 1000000000);
			wait.tv_nsec = (long)((queue[queue_first].due_ns - now) % 1000000000);
		}
		if (ppoll(&ready, 1, queue_count ? &wait : NULL, NULL) > 0)
			take(tun);
		give(tun);
	}
}

static void set_address(struct ifreq *request, int command, int via, uint32_t address)
{
	struct sockaddr_in value = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};

	memcpy(&request->ifr_addr, &value, sizeof(value));
	if (ioctl(via, command, request))
		die("the address of the TUN device");
}

static int open_tun(void)
{
	struct ifreq request = {.ifr_name = "wire0", .ifr_flags = IFF_TUN | IFF_NO_PI};
	int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	int via = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (tun < 0 || via < 0 || ioctl(tun, TUNSETIFF, &request))
		die("/dev/net/tun");
	set_address(&request, SIOCSIFADDR, via, HERE);
	set_address(&request, SIOCSIFNETMASK, via, 0xffffff00);
	request.ifr_mtu = MTU;
	if (ioctl(via, SIOCSIFMTU, &request))
		die("the MTU of the TUN device");
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(via, SIOCSIFFLAGS, &request))
		die("wire0 up");
	close(via);
	return tun;
}

static void end(int number)
{
	(void)number;
	ended = 1;
}

static void add_rule(char *text)
{
	char *name = strtok(text, ":"), *every = strtok(NULL, ":"), *copies = strtok(NULL, ":");

	for (int what = 0; name && every && what < WHATS; what++) {
		if (strcmp(name, what_names[what]))
			continue;
		rules[what].every = (unsigned)strtoul(every, NULL, 10);
		rules[what].copies = copies ? (unsigned)strtoul(copies, NULL, 10) : 1;
		return;
	}
	fputs(help, stderr);
	exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"delay", required_argument, NULL, 'd'},
						{"lose", required_argument, NULL, 'l'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct sigaction action = {.sa_handler = end};
	int option, tun;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'd') {
			delay_ns = (uint64_t)(strtod(optarg, NULL) * 1e6);
		} else if (option == 'l') {
			add_rule(optarg);
		} else {
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : EXIT_USAGE;
		}
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	tun = open_tun();
	puts("ready");
	carry(tun);
	printf("done forwarded=%u lost=%u episodes=%u\n", forwarded, lost, episodes);
	return 0;
}
