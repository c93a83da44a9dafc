// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/facts.h"

#include <string.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"

static const struct fact facts[NS_FACT_COUNT] = {
	[NS_FACT_SEND] = {.id = "send",
			  .words = "the application's writes",
			  .loss = "what a send left unsent: no hold can be seen",
			  .is_essential = true,
			  .finds_stalls = true},
	[NS_FACT_DECISION] =
		{.id = "decision",
		 .words = "TCP's own decision to hold (judged from its state instead)",
		 .loss = "the mss and nonagle that tcp_write_xmit() decided by; worked out from the socket after the send"},
	[NS_FACT_TRANSMIT] = {.id = "transmit",
			      .words = "segments sent",
			      .loss = "when held bytes left",
			      .is_essential = true,
			      .finds_stalls = true},
	[NS_FACT_RECEIVE] = {.id = "receive",
			     .words = "segments received",
			     .loss = "which ACK released held bytes",
			     .is_essential = true},
	[NS_FACT_DELACK_ARM] = {.id = "delack-arm",
				.words = "when a delayed ACK is armed",
				.loss = "when a delayed ACK was armed"},
	[NS_FACT_DELACK_FIRE] = {.id = "delack-fire",
				 .words = "when a delayed ACK fires",
				 .loss = "when a delayed-ACK timer expired",
				 .is_essential = true},
	[NS_FACT_SCHED] = {.id = "sched",
			   .words = "threads' sleeps and wakes",
			   .loss = "who slept, how long, and who woke it",
			   .is_essential = true,
			   .finds_stalls = true},
	[NS_FACT_LIFE] = {.id = "life",
			  .words = "connections that open and close",
			  .loss = "connections opened after the attach, until their first send"},
	[NS_FACT_READ] = {.id = "read",
			  .words = "the application's reads",
			  .loss = "the last read of a reply, where a request ends: its first "
				  "bytes stand for it"},
	[NS_FACT_SENDPAGE] = {.id = "sendpage",
			      .words = "sendfile and splice",
			      .loss = "sendfile() and splice() before Linux 6.5"},
	[NS_FACT_RETRANS] = {.id = "retrans",
			     .words = "segments sent again",
			     .loss = "segments sent again, and by which timer"},
	[NS_FACT_NAMES] =
		{.id = "kernel-names",
		 .words =
			 "names of kernel functions (needs CAP_SYSLOG), so a wait outside TCP is known by its system call alone",
		 .loss = "what a thread slept in and who woke it, beyond its system call (ipc, "
			 "lock, disk, timer, softirq); give it CAP_SYSLOG"},
	[NS_FACT_URING] = {.id = "uring",
			   .words = "io_uring operations",
			   .loss = "io_uring operations: what is submitted, what completes"},
	[NS_FACT_URING_COURSE] =
		{.id = "uring-course",
		 .words = "how io_uring operations went on, and who waits for them",
		 .loss = "io_uring operations that wait or go to a worker, and who waits "
			 "for them"},
	[NS_FACT_DATAGRAM] = {.id = "datagram",
			      .words = "datagrams sent and read (UDP)",
			      .loss = "which datagrams wait for an answer (UDP, DNS)"},
	[NS_FACT_CHILDREN] = {.id = "children",
			      .words = "processes that watched ones start",
			      .loss = "what a child does that somebody waits for"},
	[NS_FACT_EARLY_SLEEPS] = {.id = "early-sleeps",
				  .words = "sleeps that began before the attach",
				  .loss = "how long threads sleep that sleep already at the attach",
				  .finds_stalls = true},
	[NS_FACT_OPEN_WAITS] = {.id = "open-waits",
				.words = "waits that last at the end of the window",
				.loss = "a wait that has not ended when the window does",
				.finds_stalls = true},
	[NS_FACT_BUSY] = {.id = "busy",
			  .words = "where busy threads compute",
			  .loss = "the function in which a thread computes meanwhile"},
	[NS_FACT_SLEEPING_STACKS] =
		{.id = "sleeping-stacks",
		 .words = "user stacks of threads that sleep on",
		 .loss = "the whole user stack of a thread that does not wake while it is profiled"},
};

const struct fact *fact__row(uint32_t fact)
{
	static const struct fact newer = {
		.id = "unknown", .words = "a fact of a newer version", .loss = "unknown"};

	return fact < NS_FACT_COUNT ? &facts[fact] : &newer;
}

char *fact__refusal_text(const struct ns_refused *refusal)
{
	char program[TEXT_SAFE(NS_REFUSED_LEN)], table[TEXT_SAFE(NS_REFUSED_LEN)];
	const char *error = strerror((int)refusal->error);

	text__safe(program, sizeof(program), refusal->program, NS_REFUSED_LEN);
	text__safe(table, sizeof(table), refusal->table, NS_REFUSED_LEN);
	if (table[0])
		return xasprintf("the kernel refuses the table %s, which %s needs: %s", table,
				 program[0] ? program : "netstall", error);
	if (refusal->step == NS_REFUSED_ATTACH || refusal->step == NS_REFUSED_RUN)
		return xasprintf("%s does not %s: %s", program,
				 refusal->step == NS_REFUSED_RUN ? "run" : "attach", error);
	return xasprintf("the kernel refuses %s: %s", program, error);
}
