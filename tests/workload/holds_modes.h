/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The messages of holds.c, and what TCP does with them. */
#ifndef NETSTALL_TESTS_HOLDS_MODES_H
#define NETSTALL_TESTS_HOLDS_MODES_H

#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>

/* One write of a message, and what the client does before it. */
struct piece {
	uint32_t bytes;
	bool sleep; /* for --ms */
	int option; /* then: of IPPROTO_TCP, 0 none */
	int value;
	int flags;      /* of the send */
	unsigned times; /* that it is written; 0: once */
};

#define PIECES 4

struct mode {
	const char *name;
	const char *cause; /* what holds the bytes longest */
	const char *description;
	unsigned ms;        /* unless --ms says otherwise */
	int sndbuf, rcvbuf; /* 0: as the system has it */
	uint32_t rate;      /* SO_MAX_PACING_RATE, bytes per second */
	bool nodelay;
	bool reader_sleeps; /* before it reads the message */
	bool reader_waits;  /* until all of it is there: only then it reads */
	bool nonblocking;   /* the client writes when poll() says so */
	bool reconnect;     /* each exchange on a connection of its own */
	struct piece pieces[PIECES];
};

static const struct mode modes[] = {
	{.name = "zero-window",
	 .cause = "zero-window",
	 .description = "the server does not read; the client is blocked in send()",
	 .ms = 250,
	 .sndbuf = 32768,
	 .rcvbuf = 32768,
	 .reader_sleeps = true,
	 .pieces = {{.bytes = 600000}}},
	{.name = "zero-window-poll",
	 .cause = "zero-window",
	 .description = "the server does not read; the client waits in poll() to go on",
	 .ms = 250,
	 .sndbuf = 32768,
	 .rcvbuf = 32768,
	 .reader_sleeps = true,
	 .nonblocking = true,
	 .pieces = {{.bytes = 600000}}},
	{.name = "rwnd",
	 .cause = "rwnd",
	 .description =
		 "the server's window is smaller than the second write, for as long as it does "
		 "not read",
	 .ms = 60,
	 .rcvbuf = 8192,
	 .nodelay = true,
	 .reader_sleeps = true,
	 .pieces = {{.bytes = 5000}, {.bytes = 5000}}},
	{.name = "cwnd",
	 .cause = "cwnd",
	 .description =
		 "14 small segments on a new connection, whose window is 10; the ACK is delayed "
		 "(without TLP, which is quicker: net.ipv4.tcp_early_retrans=0)",
	 .nodelay = true,
	 .reader_waits = true,
	 .reconnect = true,
	 .pieces = {{.bytes = 1, .times = 14}}},
	{.name = "pacing",
	 .cause = "pacing",
	 .description = "SO_MAX_PACING_RATE of 2 MB/s, messages of 250 KB",
	 .rate = 2000000,
	 .nodelay = true,
	 .pieces = {{.bytes = 250000}}},
	{.name = "sndbuf",
	 .cause = "sndbuf",
	 .description =
		 "the smallest send buffer, full of small segments whose ACK is delayed; the "
		 "client is blocked in send() (without TLP)",
	 .sndbuf = 1,
	 .nodelay = true,
	 .reader_waits = true,
	 .pieces = {{.bytes = 100, .times = 8}}},
	{.name = "autocork",
	 .cause = "autocork",
	 .description =
		 "a small write behind one that the slow device still has (tbf 400kbit, MTU 1500)",
	 .nodelay = true,
	 .pieces = {{.bytes = 3000}, {.bytes = 100}}},
	{.name = "tsq",
	 .cause = "tsq",
	 .description = "small segments over a slow device (tbf 400kbit, MTU 1500, "
			"net.ipv4.tcp_autocorking=0)",
	 .nodelay = true,
	 .pieces = {{.bytes = 1000, .times = 8}}},
	{.name = "nodelay-midway",
	 .cause = "nagle",
	 .description = "Nagle holds the second write until TCP_NODELAY is set",
	 .ms = 20,
	 .pieces = {{.bytes = 40, .option = TCP_NODELAY, .value = 0},
		    {.bytes = 136},
		    {.sleep = true, .option = TCP_NODELAY, .value = 1}}},
	{.name = "cork-nagle",
	 .cause = "nagle-delack",
	 .description =
		 "TCP_CORK holds the second write; when it is cleared Nagle does, and then the "
		 "delayed ACK comes",
	 .ms = 4,
	 .pieces = {{.bytes = 40},
		    {.bytes = 136, .option = TCP_CORK, .value = 1},
		    {.sleep = true, .option = TCP_CORK, .value = 0}}},
	{.name = "cork-nagle-writes",
	 .cause = "nagle-delack",
	 .description = "the same, and then more small writes than are remembered of a connection",
	 .ms = 4,
	 .pieces = {{.bytes = 40},
		    {.bytes = 136, .option = TCP_CORK, .value = 1},
		    {.sleep = true, .option = TCP_CORK, .value = 0},
		    {.bytes = 2, .times = 40}}},
	{.name = "cork-midway",
	 .cause = "cork",
	 .description = "TCP_CORK holds the message until it is cleared",
	 .ms = 30,
	 .pieces = {{.bytes = 300, .option = TCP_CORK, .value = 1},
		    {.sleep = true, .option = TCP_CORK, .value = 0}}},
	{.name = "good",
	 .cause = "",
	 .description = "whole messages, read at once",
	 .pieces = {{.bytes = 300}}},
};

#endif
