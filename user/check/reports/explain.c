// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/reports/explain.h"

#define LOSS_REMEDY                                                                                \
	"Look for loss on the path: ip -s link and nstat at both ends, full queues, a rate limit."

static const struct explanation explanations[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] =
		{"Not enough was seen to say why the thread waited.",
		 "The time line in the reports says what was missing; netstall doctor says what this "
		 "kernel does not show."},
	[CAUSE_NAGLE_DELACK] =
		{"The program sent one message in small writes. TCP kept a later one back until the first was "
		 "acknowledged (Nagle's algorithm), and the other end put that acknowledgement off (delayed "
		 "ACK), so that both waited for a timer.",
		 "Send the message with one call (one buffer, or writev()), or set TCP_NODELAY on the socket."},
	[CAUSE_NAGLE] =
		{"The program sent one message in small writes. TCP kept a later one back until the first was "
		 "acknowledged (Nagle's algorithm): a round trip lost for each message.",
		 "Send the message with one call (one buffer, or writev()), or set TCP_NODELAY on the socket."},
	[CAUSE_CORK] =
		{"The program told TCP to keep output back (TCP_CORK or MSG_MORE), and the end of the message "
		 "did not let it go.",
		 "Clear TCP_CORK when the message is complete, or send its last piece without MSG_MORE."},
	[CAUSE_NETWORK] = {"The bytes were on their way.",
			   "Ask less often or several things at once, or shorten the path."},
	[CAUSE_RUNQUEUE] = {"The thread was ready to run, and no CPU was free for it.",
			    "Give the job more CPUs, or run less beside it."},
	[CAUSE_CWND] =
		{"TCP had sent as much as it dares on a path that it does not know well yet (the "
		 "congestion window).",
		 "Keep connections open between messages, so that the window can grow."},
	[CAUSE_RWND] =
		{"The receiver's buffer had no room for more.",
		 "Let the other end read sooner, or give its socket a larger receive buffer."},
	[CAUSE_ZERO_WINDOW] =
		{"The receiver did not read: its buffer was full, and its window closed.",
		 "Let the other end read sooner, or give its socket a larger receive buffer."},
	[CAUSE_PACING] =
		{"A limit on the socket's rate spread its bytes over time.",
		 "Raise the limit (SO_MAX_PACING_RATE, or that of the queueing discipline)."},
	[CAUSE_TSQ] = {"The network device had not yet sent what it had of this connection.",
		       "Look for a device or a queueing discipline that is behind: tc -s qdisc."},
	[CAUSE_TSO_DEFER] = {"TCP waited for more bytes, to send them in one burst.",
			     "Write a whole message with one call."},
	[CAUSE_AUTOCORK] =
		{"TCP waited for an earlier segment to leave the device, to join small writes.",
		 "Write a whole message with one call, or set net.ipv4.tcp_autocorking=0."},
	[CAUSE_SNDBUF] =
		{"The send buffer was full, and the program slept in its write.",
		 "Let the other end read sooner, or give the socket a larger send buffer."},
	[CAUSE_RTO] =
		{"Segments were lost, and sent again only when the retransmission timer ran out, 200 ms "
		 "at the least.",
		 LOSS_REMEDY},
	[CAUSE_TLP] = {"The last segments of a message were lost, and a probe found that out.",
		       LOSS_REMEDY},
	[CAUSE_FAST_RETRANSMIT] =
		{"Segments were lost, and sent again when acknowledgements told of it.",
		 LOSS_REMEDY},
	[CAUSE_SYN_RETRANSMIT] =
		{"Nobody answered a connection request, and it was sent again a second later.",
		 "See whether the listener was up by then, whether its queue was full (ss -lnt, nstat "
		 "TcpExtListenDrops), and whether a firewall drops it."},
	[CAUSE_PEER_APP] =
		{"The program at the other end had the request and took its time to answer.",
		 "Look there: where it runs on this host, the time line says what it waited for."},
	[CAUSE_IDLE] = {"Nobody owed the thread anything.", "There is nothing to change."},
	[CAUSE_LOCK] = {"Another thread held a lock, or had not yet signalled.",
			"Hold the lock for shorter, and never while waiting for the network."},
	[CAUSE_IPC] =
		{"Another process or thread of this host had not yet answered through a pipe, a Unix "
		 "socket or an eventfd, or a child had not ended.",
		 "Look at that process: the time line names it."},
	[CAUSE_DISK] = {"The thread waited for a disk.",
			"Keep disk I/O out of the path of a request."},
	[CAUSE_TIMER] = {"The program asked to sleep, or its own time-out ran out.",
			 "Wait for the event itself in place of a fixed time."},
	[CAUSE_URING] = {"An io_uring operation was not complete.",
			 "The time line says what is known of the operation."},
	[CAUSE_SELF] = {"The program was busy itself.", "Profile it on the CPU."},
};

const struct explanation *explain__cause(enum cause cause)
{
	return &explanations[(unsigned)cause < CAUSE_COUNT ? cause : CAUSE_UNKNOWN];
}
