// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/facts.h"

static const struct fact facts[NS_FACT_COUNT] = {
	[NS_FACT_SEND] = {"send", "the application's writes",
			  "what a send left unsent: no hold can be seen", .is_essential = true,
			  .finds_stalls = true},
	[NS_FACT_DECISION] =
		{"decision", "TCP's own decision to hold (judged from its state instead)",
		 "the mss and nonagle that tcp_write_xmit() decided by; worked out from the socket after the send"},
	[NS_FACT_TRANSMIT] = {"transmit", "segments sent", "when held bytes left",
			      .is_essential = true, .finds_stalls = true},
	[NS_FACT_RECEIVE] = {"receive", "segments received", "which ACK released held bytes",
			     .is_essential = true},
	[NS_FACT_DELACK_ARM] = {"delack-arm", "when a delayed ACK is armed",
				"when a delayed ACK was armed"},
	[NS_FACT_DELACK_FIRE] = {"delack-fire", "when a delayed ACK fires",
				 "when a delayed-ACK timer expired", .is_essential = true},
	[NS_FACT_SCHED] = {"sched", "threads' sleeps and wakes",
			   "who slept, how long, and who woke it", .is_essential = true,
			   .finds_stalls = true},
	[NS_FACT_LIFE] = {"life", "connections that open and close",
			  "connections opened after the attach, until their first send"},
	[NS_FACT_READ] = {"read", "the application's reads",
			  "the application's receive calls (with --all)"},
	[NS_FACT_SENDPAGE] = {"sendpage", "sendfile and splice",
			      "sendfile() and splice() before Linux 6.5"},
	[NS_FACT_RETRANS] = {"retrans", "segments sent again",
			     "segments sent again, and by which timer"},
	[NS_FACT_NAMES] =
		{"kernel-names",
		 "names of kernel functions (needs CAP_SYSLOG), so a wait outside TCP is known by its system call alone",
		 "what a thread slept in and who woke it, beyond its system call (ipc, "
		 "lock, disk, timer, softirq); give it CAP_SYSLOG"},
	[NS_FACT_URING] = {"uring", "io_uring operations",
			   "io_uring operations: what is submitted, what completes"},
	[NS_FACT_URING_COURSE] = {"uring-course",
				  "how io_uring operations went on, and who waits for them",
				  "io_uring operations that wait or go to a worker, and who waits "
				  "for them"},
};

const struct fact *fact__row(uint32_t fact)
{
	static const struct fact newer = {
		.id = "unknown", .words = "a fact of a newer version", .loss = "unknown"};

	return fact < NS_FACT_COUNT ? &facts[fact] : &newer;
}
