// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who is who in a verdict. */
#include "user/explain/story.h"

#include <stdio.h>
#include <string.h>

#include "user/base/text.h"
#include "user/record/syscalls.h"
#include "user/record/uring_ops.h"

#define SAFE_COMM TEXT_SAFE(NS_COMM_LEN)

/* "" when nobody told it. */
static void comm_of(char *dst, size_t size, const struct report *report,
		    const struct report_conn *conn)
{
	const struct report_process *process = report__process(report, conn->id.head.tgid);
	const char *comm = process && process->comm[0] ? process->comm : conn->id.comm;

	/* A process that was gone before anybody looked has told its name by its waits. */
	for (size_t i = 0; i < report->thread_count && !comm[0]; i++)
		if (conn->id.head.tgid && report->threads[i].tid == conn->id.head.tgid)
			comm = report->threads[i].comm;
	text__safe(dst, size, comm, NS_COMM_LEN);
}

static void name_end(char *dst, size_t size, const struct report *report,
		     const struct report_conn *conn)
{
	char comm[SAFE_COMM];

	comm_of(comm, sizeof(comm), report, conn);
	if (!conn->id.head.tgid)
		text__address(dst, size, conn->id.family, conn->id.laddr, conn->id.lport);
	else if (*comm)
		snprintf(dst, size, "%s/%u", comm, conn->id.head.tgid);
	else
		snprintf(dst, size, "pid %u", conn->id.head.tgid);
}

static void name_program(char *dst, size_t size, const struct report *report,
			 const struct report_conn *conn, const char *otherwise)
{
	char comm[SAFE_COMM];

	comm_of(comm, sizeof(comm), report, conn);
	snprintf(dst, size, "%s", *comm ? comm : otherwise);
}

char *story__thread(char *dst, size_t size, const struct report *report, uint32_t pid, uint32_t tid)
{
	const struct report_process *process = report__process(report, pid);
	const char *comm = NULL;
	char safe[SAFE_COMM];

	for (size_t i = 0; i < report->thread_count && !comm; i++) {
		if (report->threads[i].tid == tid && report->threads[i].comm[0])
			comm = report->threads[i].comm;
	}
	if (!comm && process && process->comm[0])
		comm = process->comm;
	if (!tid && !pid)
		snprintf(dst, size, "a thread that was not seen");
	else if (comm)
		snprintf(dst, size, "%s/%u", text__safe(safe, sizeof(safe), comm, NS_COMM_LEN),
			 tid ? tid : pid);
	else
		snprintf(dst, size, "%s %u", tid ? "thread" : "pid", tid ? tid : pid);
	return dst;
}

char *story__operation(char *dst, size_t size, const struct ns_wait *wait)
{
	bool is_fixed = wait->op_flags & NS_SQE_FIXED_FILE;
	char name[URING_OP_TEXT];

	if (!wait->head.type || !wait->op_known)
		return NULL;
	uring_op__text(name, sizeof(name), wait->op_code);
	if (wait->op_fd == NS_FD_UNKNOWN || wait->op_file == NS_URING_NO_FILE)
		snprintf(dst, size, "%s", name);
	else
		snprintf(dst, size, "%s on %s %u", name, is_fixed ? "registered file" : "fd",
			 wait->op_fd);
	return dst;
}

char *story__call(char *dst, size_t size, const struct report *report, const struct ns_wait *wait)
{
	const char *arch = report->session.arch;
	const char *name = syscall__name(arch, wait->syscall);
	char operation[48];

	if (!wait->head.type || !name)
		return NULL;
	if (story__operation(operation, sizeof(operation), wait))
		snprintf(dst, size, "%s (%s)", name, operation);
	else if (syscall__wait(arch, wait->syscall) == SYSCALL_WAIT_FD)
		snprintf(dst, size, "%s on fd %u", name, wait->arg0);
	else
		snprintf(dst, size, "%s", name);
	return dst;
}

static void name_fd(struct story *story)
{
	uint32_t fd = story->stall->hold.head.type ? story->stall->hold.fd : NS_FD_UNKNOWN;

	if (fd == NS_FD_UNKNOWN)
		fd = story->conn->id.fd;
	if (fd == NS_FD_UNKNOWN)
		snprintf(story->fd, sizeof(story->fd), "its socket");
	else
		snprintf(story->fd, sizeof(story->fd), "fd %u", fd);
}

static void name_message(struct story *story)
{
	uint32_t opener = story->conn->id.opener;

	story->message = "message";
	story->a_message = "a message";
	if (opener == NS_OPENER_SELF) {
		story->message = "request";
		story->a_message = "a request";
	} else if (opener == NS_OPENER_PEER) {
		story->message = "answer";
		story->a_message = "an answer";
	}
}

static void name_other(struct story *story)
{
	const struct ns_conn *id = &story->conn->id;

	text__address(story->other, sizeof(story->other), id->family, id->raddr, id->rport);
	snprintf(story->other_program, sizeof(story->other_program), "%s", story->other);
	if (!story->peer)
		return;
	name_end(story->other, sizeof(story->other), story->report, story->peer);
	/* A process that talks to itself: only the addresses tell its ends apart. */
	if (!strcmp(story->other, story->sender))
		text__address(story->other, sizeof(story->other), id->family, id->raddr, id->rport);
	name_program(story->other_program, sizeof(story->other_program), story->report, story->peer,
		     story->other);
}

/* By its connection, or by the process that has it: a target may have others as well. */
static bool is_target(const struct report *report, const struct report_conn *conn)
{
	const struct report_process *process = report__process(report, conn->id.head.tgid);

	return (conn->id.role | (process ? process->role : 0)) & NS_ROLE_TARGET;
}

static void name_ends(struct story *story)
{
	bool both;

	name_end(story->sender, sizeof(story->sender), story->report, story->conn);
	name_program(story->program, sizeof(story->program), story->report, story->conn,
		     story->sender);
	name_other(story);
	name_fd(story);
	name_message(story);
	story->sender_is_target = is_target(story->report, story->conn);
	both = story->sender_is_target && story->peer && is_target(story->report, story->peer);
	story->other_end = both                      ? "The receiving end"
			   : story->sender_is_target ? "The other end"
						     : "This end";
}

/* A wait that no connection has a part in: its thread is all there is to name. */
static void name_thread_alone(struct story *story)
{
	const struct stall *stall = story->stall;
	const struct report_process *process = report__process(story->report, stall->pid);

	snprintf(story->sender, sizeof(story->sender), "%s", story->waiter);
	snprintf(story->program, sizeof(story->program), "%s", story->waiter);
	if (process && process->comm[0])
		text__safe(story->program, sizeof(story->program), process->comm, NS_COMM_LEN);
	snprintf(story->fd, sizeof(story->fd), "its socket");
	snprintf(story->other, sizeof(story->other), "the other end");
	snprintf(story->other_program, sizeof(story->other_program), "the other end");
	story->message = "message";
	story->a_message = "a message";
	story->other_end = "The other end";
	story->sender_is_target = process && process->role & NS_ROLE_TARGET;
}

bool story__make(struct story *story, const struct report *report, const struct tally *tally)
{
	const struct stall *stall = &tally->example;

	*story = (struct story){.report = report, .tally = tally, .stall = stall};
	if (stall->link_count)
		story->root = &stall->links[stall->link_count - 1];
	if (tally->conn)
		story->conn = report__conn(report, tally->conn);
	if (tally->conn && (!story->conn || !story->conn->id.head.type))
		return false;
	if (story->conn && story->conn->peer)
		story->peer = report__conn(report, story->conn->peer);
	story->by_ring = stall->first.via != NS_VIA_CALL || stall->second.via != NS_VIA_CALL;
	story__thread(story->waiter, sizeof(story->waiter), report, stall->pid, stall->tid);
	if (story->conn)
		name_ends(story);
	else
		name_thread_alone(story);
	return true;
}

uint64_t story__held(const struct story *story)
{
	return story->tally->count ? story->tally->held_ns / story->tally->count : 0;
}
