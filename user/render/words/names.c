// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/words/names.h"

#include <stdio.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/record/losses.h"
#include "user/record/record.h"
#include "user/record/syscalls.h"

/* "client/4242"; without a comm by its kind of number. */
static char *name_task(char *dst, size_t size, const char *comm, const char *kind, uint32_t number)
{
	if (number == 0)
		snprintf(dst, size, "?");
	else if (comm)
		snprintf(dst, size, "%s/%u", safe_text(comm, NS_COMM_LEN), number);
	else
		snprintf(dst, size, "%s %u", kind, number);
	return dst;
}

char *name__thread(char *dst, size_t size, const struct report *report, uint32_t pid, uint32_t tid)
{
	return name_task(dst, size, report__comm(report, pid, tid), "tid", tid);
}

char *name__process(char *dst, size_t size, const struct report *report, uint32_t pid)
{
	return name_task(dst, size, report__comm(report, pid, pid), "pid", pid);
}

char *name__owner(char *dst, size_t size, const struct report *report,
		  const struct report_conn *conn)
{
	if (conn && conn->id.head.tgid)
		return name__process(dst, size, report, conn->id.head.tgid);
	dst[0] = '\0';
	return dst;
}

char *name__end(char *dst, size_t size, const struct report *report, uint32_t number)
{
	const struct report_conn *conn = report__conn(report, number);
	const struct report_conn *peer = report__peer(report, conn);
	const char *comm = conn ? report__end_comm(report, conn) : NULL;
	const char *other = peer ? report__end_comm(report, peer) : NULL;

	if (!comm) {
		snprintf(dst, size, "c%u", number);
		return dst;
	}
	text__safe(dst, size, comm, NS_COMM_LEN);
	if (!other || strncmp(comm, other, NS_COMM_LEN) != 0)
		return dst;
	if (conn->id.head.tgid != peer->id.head.tgid)
		text__add(dst, size, "/", "%u", conn->id.head.tgid);
	else
		text__add(dst, size, ":", "%u", conn->id.lport);
	return dst;
}

char *name__far_end(char *dst, size_t size, const struct report *report, uint32_t number)
{
	const struct report_conn *conn = report__conn(report, number);

	if (!conn)
		snprintf(dst, size, "the peer");
	else if (report__peer(report, conn))
		name__end(dst, size, report, conn->peer);
	else
		text__address(dst, size, conn->id.family, conn->id.raddr, conn->id.rport);
	return dst;
}

char *name__addresses(char *dst, size_t size, const struct ns_conn *conn)
{
	char local[TEXT_ADDRESS], remote[TEXT_ADDRESS];

	text__address(local, sizeof(local), conn->family, conn->laddr, conn->lport);
	text__address(remote, sizeof(remote), conn->family, conn->raddr, conn->rport);
	snprintf(dst, size, "%s -> %s", local, remote);
	return dst;
}

char *name__endpoint(char *dst, size_t size, const struct request_end *end)
{
	const char *comm = safe_text(end->comm, NS_COMM_LEN);

	if (end->family)
		snprintf(dst, size, "%s -> %s", comm,
			 address_text(end->family, end->addr, end->port));
	else
		snprintf(dst, size, "%s :%u", comm, end->port);
	return dst;
}

char *name__syscall(char *dst, size_t size, const struct report *report, const struct ns_wait *wait)
{
	const char *arch = report->session.arch;
	const char *name = syscall__name(arch, wait->syscall);

	if (wait->syscall == NS_SYSCALL_NONE)
		snprintf(dst, size, "a call not known");
	else if (!name)
		snprintf(dst, size, "system call %u", wait->syscall);
	else if (syscall__wait(arch, wait->syscall) == SYSCALL_WAIT_FD)
		snprintf(dst, size, "%s fd %u", name, wait->arg0);
	else
		snprintf(dst, size, "%s", name);
	return dst;
}

char *name__lost(char *dst, size_t size, uint32_t kind, uint64_t count)
{
	const struct loss_kind *loss = loss_kind(kind);

	if (loss)
		snprintf(dst, size, "%s %s (%s)", count_text(count),
			 count == 1 ? loss->one : loss->many, loss->why);
	else
		snprintf(dst, size, "%s of kind %u", count_text(count), kind);
	return dst;
}

/* Every wake and every system call begins in these: they say nothing. */
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

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (strlen(names[i]) == bytes && memcmp(names[i], frame, bytes) == 0)
			return true;
	return false;
}

char *name__stack(char *dst, size_t size, const char *frames, unsigned most)
{
	unsigned shown = 0;
	size_t bytes;

	dst[0] = '\0';
	for (; *frames && shown <= most; frames += bytes + (frames[bytes] == ';')) {
		char frame[200] = "...";

		bytes = strcspn(frames, ";");
		if (is_commonplace(frames, bytes))
			continue;
		if (shown++ < most)
			text__safe(frame, sizeof(frame), frames, bytes);
		text__add(dst, size, " <- ", "%s", frame);
	}
	return dst;
}
