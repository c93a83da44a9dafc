// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A path that a scene rules over: two network namespaces, in each a TUN device, and a process that
 * carries packets from one to the other, late or not at all. So a loss is this very segment, and
 * not a matter of luck.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define CLIENT_ADDRESS "10.77.0.1"
#define SERVER_ADDRESS "10.77.0.2"
#define MTU            1500
#define QUEUE          4096 /* packets under way in one direction */

struct packet {
	uint64_t due_ns;
	uint32_t length;
	unsigned char bytes[MTU];
};

struct queue {
	uint32_t first, count;
	struct packet packets[QUEUE];
};

static void set_device(int fd, struct ifreq *request, unsigned long what, const char *word)
{
	if (ioctl(fd, what, request))
		die("cannot set the %s of %s: %s", word, request->ifr_name, strerror(errno));
}

static void set_up(const char *device, const char *address, const char *mask)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(request.ifr_name, device);
	if (address) {
		inet_pton(AF_INET, address, &in.sin_addr);
		memcpy(&request.ifr_addr, &in, sizeof(in));
		set_device(fd, &request, SIOCSIFADDR, "address");
		inet_pton(AF_INET, mask, &in.sin_addr);
		memcpy(&request.ifr_netmask, &in, sizeof(in));
		set_device(fd, &request, SIOCSIFNETMASK, "netmask");
	}
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	set_device(fd, &request, SIOCSIFFLAGS, "flags");
	close(fd);
}

static void new_namespace(void)
{
	if (unshare(CLONE_NEWNET))
		cannot("no network namespace: %s", strerror(errno));
	set_up("lo", NULL, NULL);
}

static int new_tun(const char *address)
{
	struct ifreq request = {.ifr_name = "path", .ifr_flags = IFF_TUN | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		cannot("no TUN device: %s", strerror(errno));
	set_up("path", address, "255.255.255.0");
	return fd;
}

void stage__private_loopback(struct stage *stage)
{
	new_namespace();
	stage__listen(stage, 64);
}

void stage__path(struct stage *stage, uint32_t delay_us)
{
	stage__path_with(stage, delay_us, NULL, NULL);
}

void stage__path_with(struct stage *stage, uint32_t delay_us, const char *name, const char *value)
{
	stage->path.delay_us = delay_us;
	stage->address = inet_addr(SERVER_ADDRESS);
	new_namespace();
	stage->tun[1] = new_tun(SERVER_ADDRESS);
	stage__listen(stage, 64);
	if (name)
		sysctl(name, value);
	new_namespace(); /* here the client will live */
	stage->tun[0] = new_tun(CLIENT_ADDRESS);
	if (name)
		sysctl(name, value);
}

/* Takes one from a counter that is not yet at zero. */
static bool take(_Atomic uint32_t *counter)
{
	if (!atomic_load(counter))
		return false;
	atomic_fetch_sub(counter, 1);
	return true;
}

static bool is_lost(struct path *path, int dir, const unsigned char *ip, uint32_t length)
{
	uint32_t header = (ip[0] & 15) * 4;
	const unsigned char *tcp = ip + header;
	bool lost = false;

	if (ip[0] >> 4 != 4 || ip[9] != IPPROTO_TCP || length < header + 20)
		return false;
	if (tcp[13] & 2) /* SYN */
		lost = !(tcp[13] & 16) && take(&path->drop_syn);
	else if (length > header + (tcp[12] >> 4) * 4u)
		lost = !take(&path->skip_data[dir]) && take(&path->drop_data[dir]);
	if (lost)
		atomic_fetch_add(&path->dropped, 1);
	return lost;
}

static void take_in(struct stage *stage, struct queue *queue, int dir)
{
	struct packet *packet;
	ssize_t length;

	while (queue->count < QUEUE) {
		packet = &queue->packets[(queue->first + queue->count) % QUEUE];
		length = read(stage->tun[dir], packet->bytes, sizeof(packet->bytes));
		if (length <= 0)
			return;
		if (is_lost(&stage->path, dir, packet->bytes, length))
			continue;
		packet->length = length;
		packet->due_ns = now_ns() + stage->path.delay_us * 1000ull;
		queue->count++;
	}
}

/* Returns when the next one is due. */
static uint64_t deliver(struct stage *stage, struct queue *queue, int dir)
{
	while (queue->count) {
		struct packet *packet = &queue->packets[queue->first % QUEUE];

		if (packet->due_ns > now_ns())
			return packet->due_ns;
		if (write(stage->tun[!dir], packet->bytes, packet->length) < 0 && errno == EAGAIN)
			return now_ns();
		queue->first++;
		queue->count--;
	}
	return UINT64_MAX;
}

void play_path(struct stage *stage)
{
	struct queue *queues = calloc(2, sizeof(*queues));
	struct pollfd fds[2] = {{.fd = stage->tun[0], .events = POLLIN},
				{.fd = stage->tun[1], .events = POLLIN}};

	if (!queues)
		die("no memory for the path");
	prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		uint64_t due = UINT64_MAX, now;
		struct timespec wait = {.tv_sec = 3600};

		for (int dir = 0; dir < 2; dir++) {
			uint64_t next = deliver(stage, &queues[dir], dir);

			due = next < due ? next : due;
		}
		now = now_ns();
		if (due != UINT64_MAX)
			wait = (struct timespec){.tv_nsec = due > now ? due - now : 0};
		ppoll(fds, 2, &wait, NULL);
		for (int dir = 0; dir < 2; dir++)
			take_in(stage, &queues[dir], dir);
	}
}
