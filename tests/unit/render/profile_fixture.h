/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Profiles made by hand, for the tests of what shows them: a real case, and nasty ones. */
#ifndef NETSTALL_TESTS_PROFILE_FIXTURE_H
#define NETSTALL_TESTS_PROFILE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "user/base/xalloc.h"
#include "user/render/profile/profile.h"

#define US 1000ull
#define MS 1000000ull

/* What a client of the demo sleeps in, and how the delayed ACK wakes its server. */
#define READ_USER                                                                                  \
	"__read_nocancel;endpoint__receive;client__step;client__run;main;__libc_start_main;_start"
#define READ_KERNEL                                                                                \
	"schedule_timeout;wait_woken;sk_wait_data;tcp_recvmsg_locked;tcp_recvmsg;inet_recvmsg;"    \
	"sock_read_iter;vfs_read;ksys_read;__x64_sys_read;do_syscall_64;"                          \
	"entry_SYSCALL_64_after_hwframe"
#define SERVER_USER "__read_nocancel;endpoint__receive;server__run;start_thread;clone3"
#define TIMER_WAKE                                                                                 \
	"sock_def_readable;tcp_data_queue;tcp_rcv_established;tcp_v4_do_rcv;tcp_v4_rcv;"           \
	"ip_local_deliver_finish;process_backlog;net_rx_action;handle_softirqs;do_softirq;"        \
	"__dev_queue_xmit;ip_finish_output2;__ip_queue_xmit;__tcp_transmit_skb;tcp_write_xmit;"    \
	"tcp_ack;tcp_v4_rcv;process_backlog;net_rx_action;handle_softirqs;__tcp_send_ack;"         \
	"tcp_delack_timer_handler;tcp_delack_timer;call_timer_fn;__run_timers;run_timer_softirq"
#define SEND_WAKE                                                                                  \
	"sock_def_readable;tcp_data_queue;tcp_rcv_established;tcp_v4_rcv;net_rx_action;"           \
	"__tcp_transmit_skb;tcp_write_xmit;tcp_sendmsg;sock_write_iter;vfs_write;ksys_write;"      \
	"__x64_sys_write;do_syscall_64;entry_SYSCALL_64_after_hwframe"
#define SEND_USER "__write_nocancel;endpoint__send;server__run;start_thread;clone3"

static inline struct profile *new_profile(const char *target)
{
	struct profile *profile = profile__new();

	snprintf(profile->target, sizeof(profile->target), "%s", target);
	snprintf(profile->kernel_release, sizeof(profile->kernel_release), "6.18.5");
	snprintf(profile->arch, sizeof(profile->arch), "x86_64");
	profile->start_ts = 1000 * 1000 * MS;
	profile->end_ts = profile->start_ts + 5000 * MS;
	profile->wall_offset_ns = 1700000000ll * 1000000000ll;
	profile->depth = 2;
	return profile;
}

/* Two hops: the client waits for its server, which waits for a delayed ACK. */
static inline struct profile *demo_profile(void)
{
	struct profile *profile = new_profile("pid 4242");
	struct profile_entry entry = {
		.pid = 4242,
		.tid = 4242,
		.comm = "demo-client",
		.state = 1,
		.has_cause = true,
		.cause = CAUSE_NAGLE_DELACK,
		.kernel = READ_KERNEL,
		.user = READ_USER,
		.hop_count = 2,
		.hops = {{.kind = WAKER_IS_THREAD,
			  .pid = 4243,
			  .tid = 4243,
			  .name = "demo-server",
			  .kernel = SEND_WAKE,
			  .user = SEND_USER,
			  .wait_kernel = READ_KERNEL,
			  .wait_user = SERVER_USER},
			 {.kind = WAKER_IS_SOFTIRQ, .name = "softirq:timer", .kernel = TIMER_WAKE}},
		.count = 106,
		.ns = 4341 * MS + 400,
		.runqueue_ns = 12 * MS,
	};

	profile->by_cause = true;
	profile__add(profile, &entry);
	entry.user =
		"__read_nocancel;endpoint__receive;client__greet;client__run;main;"
		"__libc_start_main;_start";
	entry.cause = CAUSE_PEER_APP;
	entry.hop_count = 1;
	entry.count = 1;
	entry.ns = 390 * MS + 300;
	profile__add(profile, &entry);
	entry.user = "nanosleep;backoff;client__run;main;__libc_start_main;_start";
	entry.kernel =
		"do_nanosleep;hrtimer_nanosleep;__x64_sys_nanosleep;do_syscall_64;"
		"entry_SYSCALL_64_after_hwframe";
	entry.cause = CAUSE_TIMER;
	entry.hops[0] = (struct profile_hop){
		.kind = WAKER_IS_IRQ,
		.name = "irq:hrtimer",
		.kernel =
			"hrtimer_wakeup;__hrtimer_run_queues;hrtimer_interrupt;"
			"sysvec_apic_timer_interrupt",
	};
	entry.count = 12;
	entry.ns = 231 * MS + 300;
	profile__add(profile, &entry);
	entry.cause = CAUSE_COUNT;
	entry.kernel = READ_KERNEL;
	entry.user = "[libc.so.6];[unknown]";
	entry.hops[0] = (struct profile_hop){.kind = WAKER_IS_UNKNOWN};
	entry.count = 1;
	entry.ns = 800 * US + 300;
	profile__add(profile, &entry);
	profile__finish(profile);
	return profile;
}

/* Names that break whatever takes them as they are. */
static inline struct profile *hostile_profile(void)
{
	struct profile *profile = new_profile("comm <script>alert(\"1\")</script>");
	static const char *const comms[] = {
		"a;b",
		"worker 12",
		"-",
		"--",
		"",
		"\x1b[2J",
		"x\ny",
		"]]></text>",
		"\xff\xfe bad",
		"trail ",
		"&amp;'\"",
		"\xe2\x80\xaertl",
		"100%n%s",
		"back\\slash",
		"caf\xc3\xa9",
	};
	struct profile_entry entry = {
		.state = 2,
		.kernel = "",
		.user = "std::map<int, char>::find(int const&);operator 12;;<b>&\"'\t</b>;main 1.5",
		.hop_count = 1,
		.hops = {{.kind = WAKER_IS_THREAD, .user = "--;-;leaf 7"}},
		.count = 1,
	};

	profile->delimited = true;
	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		entry.pid = entry.tid = (uint32_t)i + 1;
		entry.comm = entry.hops[0].name = comms[i];
		entry.ns = (i + 1) * 10 * MS + 499;
		profile__add(profile, &entry);
	}
	profile__finish(profile);
	return profile;
}

/* As many hops as there are, with all that is told of one; and everything was lost that can be. */
static inline struct profile *deep_profile(void)
{
	struct profile *profile = new_profile("comm stage-0");
	struct profile_entry entry = {
		.pid = 100,
		.tid = 101,
		.comm = "stage-0",
		.state = 1,
		.kernel = "schedule;pipe_read;vfs_read;do_syscall_64",
		.user = "read (unistd.c:7);next_stage (stages.c:31);main (stages.c:90)",
		.hop_count = PROFILE_HOPS,
		.count = 3,
		.ns = 90 * MS,
	};
	char names[PROFILE_HOPS][16];

	for (size_t i = 0; i < PROFILE_HOPS; i++) {
		bool last = i + 1 == PROFILE_HOPS;

		snprintf(names[i], sizeof(names[i]), "stage-%zu", i + 1);
		entry.hops[i] = (struct profile_hop){
			.kind = last ? WAKER_IS_SOFTIRQ : WAKER_IS_THREAD,
			.pid = last ? 0 : 100,
			.tid = last ? 0 : 102 + (uint32_t)i,
			.name = last ? "softirq:net_rx" : names[i],
			.kernel = last ? "net_rx_action;handle_softirqs"
				       : "__wake_up_sync_key;pipe_write;vfs_write;do_syscall_64",
			.user = last ? NULL : "write;next_stage;main",
			.wait_kernel = last ? NULL : entry.kernel,
			.wait_user = last ? NULL : entry.user,
		};
	}
	profile->depth = PROFILE_DEPTH;
	profile->per_thread = profile->delimited = true;
	profile->least_ns = 50 * US;
	profile->most_ns = 2000 * MS;
	profile->hidden = "kernel addresses are hidden: set kernel.kptr_restrict to 1";
	for (size_t kind = 0; kind < PROFILE_LOST_KINDS; kind++)
		profile->lost[kind] = (struct profile_loss){7 + kind, 3 * MS * (kind + 1)};
	profile__add(profile, &entry);
	profile__finish(profile);
	return profile;
}

/* Many chains, most of them too narrow to be drawn. */
static inline struct profile *wide_profile(void)
{
	struct profile *profile = new_profile("comm pool");

	for (unsigned i = 0; i < 20000; i++) {
		char user[200], name[64];
		struct profile_entry entry = {
			.pid = 500,
			.comm = "pool",
			.state = 1,
			.kernel = "schedule;futex_wait;do_futex;__x64_sys_futex;do_syscall_64",
			.user = user,
			.hop_count = 1,
			.hops = {{.kind = WAKER_IS_THREAD, .name = name, .user = "unlock;work"}},
			.count = 1,
			.ns = i < 100 ? (i + 1) * MS : 1 + i,
		};

		snprintf(user, sizeof(user), "lock;job_%u;worker_%u;main", i, i % 100);
		snprintf(name, sizeof(name), "worker-%u", i % 100);
		profile__add(profile, &entry);
	}
	profile__finish(profile);
	return profile;
}

static inline struct profile *empty_profile(void)
{
	struct profile *profile = new_profile("pid 1");

	profile__finish(profile);
	return profile;
}

static const struct {
	const char *name;
	struct profile *(*make)(void);
} profile_fixtures[] = {
	{"demo", demo_profile}, {"hostile", hostile_profile}, {"deep", deep_profile},
	{"wide", wide_profile}, {"empty", empty_profile},
};

#endif
