// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names that are tables, and of stacks. */
#include <stdio.h>
#include <string.h>

#include "user/base/text.h"
#include "user/render/names.h"

static const struct {
	const char *one;
	const char *many;
	const char *why;
} losses[NS_LOST_KINDS] = {
	[NS_LOST_RINGBUF] = {"record", "records", "ring buffer full"},
	[NS_LOST_CONNS] = {"connection", "connections", "table full"},
	[NS_LOST_THREADS] = {"thread", "threads", "table full"},
	[NS_LOST_PROCESSES] = {"process", "processes", "table full"},
	[NS_LOST_RELEASES] = {"release", "releases", "when held bytes left was not seen"},
	[NS_LOST_DAMAGED] = {"record", "records", "damaged"},
	[NS_LOST_KEPT] = {"record", "records", "no room to keep them"},
	[NS_LOST_SITES] = {"call site", "call sites", "a second's budget was used up"},
	[NS_LOST_RINGS] = {"io_uring ring", "io_uring rings", "table full"},
	[NS_LOST_OPS] = {"io_uring operation", "io_uring operations", "table full"},
	[NS_LOST_DONE] = {"io_uring completion", "io_uring completions",
			  "the kernel did not run netstall's program for them"},
	[NS_LOST_RUNS] = {"run of netstall's programs", "runs of netstall's programs",
			  "left out by the kernel, of any process; an event in them is not seen"},
	[NS_LOST_TORN] = {"record", "records", "written by two CPUs at a time"},
};

static const struct {
	const char *id;
	const char *words;
} facts[NS_FACT_COUNT] = {
	[NS_FACT_SEND] = {"send", "the application's writes"},
	[NS_FACT_DECISION] = {"decision",
			      "TCP's own decision to hold (judged from its state instead)"},
	[NS_FACT_TRANSMIT] = {"transmit", "segments sent"},
	[NS_FACT_RECEIVE] = {"receive", "segments received"},
	[NS_FACT_DELACK_ARM] = {"delack-arm", "when a delayed ACK is armed"},
	[NS_FACT_DELACK_FIRE] = {"delack-fire", "when a delayed ACK fires"},
	[NS_FACT_SCHED] = {"sched", "threads' sleeps and wakes"},
	[NS_FACT_LIFE] = {"life", "connections that open and close"},
	[NS_FACT_READ] = {"read", "the application's reads"},
	[NS_FACT_SENDPAGE] = {"sendpage", "sendfile and splice"},
	[NS_FACT_RETRANS] = {"retrans", "segments sent again"},
	[NS_FACT_URING] = {"uring", "io_uring operations"},
	[NS_FACT_URING_COURSE] = {"uring-course",
				  "how io_uring operations went on, and who waits for them"},
	[NS_FACT_NAMES] =
		{"kernel-names",
		 "names of kernel functions (CAP_SYSLOG), so waits but for TCP's are told "
		 "by the system call alone"},
};

char *name__lost(char *dst, size_t size, uint32_t kind, uint64_t count)
{
	char number[TEXT_COUNT];

	text__count(number, sizeof(number), count);
	if (kind < NS_LOST_KINDS && losses[kind].one)
		snprintf(dst, size, "%s %s (%s)", number,
			 count == 1 ? losses[kind].one : losses[kind].many, losses[kind].why);
	else
		snprintf(dst, size, "%s of kind %u", number, kind);
	return dst;
}

const char *name__fact(uint32_t fact)
{
	return fact < NS_FACT_COUNT ? facts[fact].words : "a fact of a newer version";
}

const char *name__fact_id(uint32_t fact)
{
	return fact < NS_FACT_COUNT ? facts[fact].id : "unknown";
}

/* Where every wake begins, and where every system call does: they tell nothing. */
static bool is_commonplace(const char *frame, size_t bytes)
{
	static const char *const names[] = {
		"try_to_wake_up",   "default_wake_function",
		"entry_SYSCALL_64", "entry_SYSCALL_64_after_hwframe",
		"do_syscall_64",    "x64_sys_call",
		"el0_svc",          "do_el0_svc",
		"el0t_64_sync",     "el0t_64_sync_handler",
		"invoke_syscall",   "invoke_syscall.constprop.0",
		"el0_svc_common",   "el0_svc_common.constprop.0",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == bytes && memcmp(names[i], frame, bytes) == 0)
			return true;
	return false;
}

char *name__stack(char *dst, size_t size, const char *frames, unsigned most)
{
	unsigned shown = 0;
	size_t used = 0;

	dst[0] = '\0';
	while (*frames != '\0' && used + 1 < size) {
		size_t bytes = strcspn(frames, ";");
		bool is_told = !is_commonplace(frames, bytes);
		char frame[200];

		text__safe(frame, sizeof(frame), frames, bytes);
		frames += bytes + (frames[bytes] == ';');
		if (!is_told)
			continue;
		used += (size_t)snprintf(dst + used, size - used, "%s%s", shown > 0 ? " <- " : "",
					 shown < most ? frame : "...");
		if (shown++ == most)
			break;
	}
	return dst;
}
