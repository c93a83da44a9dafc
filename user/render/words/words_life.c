// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What comes and goes, totals and losses in words: lines that only --all shows. */
#include <stdio.h>

#include "user/render/words/words_parts.h"

void words__session(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_session *session = &record->session;
	char target[TEXT_SAFE(sizeof(session->target))];

	(void)scene;
	snprintf(words->actor, sizeof(words->actor), "netstall");
	snprintf(words->what, sizeof(words->what), "begins");
	snprintf(words->note, sizeof(words->note), "%s, kernel %.64s, %.16s",
		 text__safe(target, sizeof(target), session->target, sizeof(session->target)),
		 session->kernel, session->way);
}

void words__end(const struct scene *scene, const union record *record, struct words *words)
{
	(void)scene;
	(void)record;
	snprintf(words->actor, sizeof(words->actor), "netstall");
	snprintf(words->what, sizeof(words->what), "ends");
}

void words__process(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_process *process = &record->process;
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	(void)scene;
	snprintf(words->actor, sizeof(words->actor), "%s/%u",
		 text__safe(safe, sizeof(safe), process->comm, NS_COMM_LEN), process->head.tgid);
	snprintf(words->what, sizeof(words->what), "watched as %s",
		 process->role == NS_ROLE_PEER ? "the peer" : "a target");
	if (process->ns_pid)
		snprintf(words->note, sizeof(words->note), "%u in its pid namespace",
			 process->ns_pid);
}

void words__conn(const struct scene *scene, const union record *record, struct words *words)
{
	static const char *const origins[] = {
		[NS_ORIGIN_EXISTED] = "was open",
		[NS_ORIGIN_CONNECT] = "connects",
		[NS_ORIGIN_ACCEPT] = "accepts",
		[NS_ORIGIN_USE] = "is used",
	};
	const struct ns_conn *conn = &record->conn;
	char addresses[2 * TEXT_ADDRESS + 4];

	(void)scene;
	snprintf(words->what, sizeof(words->what), "%s",
		 conn->origin >= NS_ORIGIN_EXISTED && conn->origin <= NS_ORIGIN_USE
			 ? origins[conn->origin]
			 : "is there");
	name__addresses(addresses, sizeof(addresses), conn);
	if (conn->fd == NS_FD_UNKNOWN)
		snprintf(words->note, sizeof(words->note), "%s", addresses);
	else
		snprintf(words->note, sizeof(words->note), "%s, fd %u", addresses, conn->fd);
}

void words__peer(const struct scene *scene, const union record *record, struct words *words)
{
	(void)scene;
	snprintf(words->what, sizeof(words->what), "peer found");
	snprintf(words->note, sizeof(words->note), "c%u and c%u are the two ends of one connection",
		 record->head.conn, record->peer.peer);
}

void words__close(const struct scene *scene, const union record *record, struct words *words)
{
	(void)scene;
	(void)record;
	snprintf(words->what, sizeof(words->what), "closed");
}

void words__conn_totals(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_conn_totals *totals = &record->conn_totals;
	char out[TEXT_BYTES], in[TEXT_BYTES], writes[TEXT_COUNT];

	(void)scene;
	snprintf(words->what, sizeof(words->what), "totals");
	snprintf(words->note, sizeof(words->note), "%s writes, %s out, %s in, %u ACKs delayed",
		 text__count(writes, sizeof(writes), totals->writes),
		 text__bytes(out, sizeof(out), totals->bytes_out),
		 text__bytes(in, sizeof(in), totals->bytes_in), totals->delack_fired);
}

void words__thread_totals(const struct scene *scene, const union record *record,
			  struct words *words)
{
	const struct ns_thread_totals *totals = &record->thread_totals;
	char on[TEXT_DURATION], blocked[TEXT_DURATION], queue[TEXT_DURATION];
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	(void)scene;
	if (totals->comm[0])
		snprintf(words->actor, sizeof(words->actor), "%s/%u",
			 text__safe(safe, sizeof(safe), totals->comm, NS_COMM_LEN),
			 totals->head.tid);
	snprintf(words->what, sizeof(words->what), "totals");
	snprintf(words->note, sizeof(words->note), "on CPU %s, blocked %s, run queue %s",
		 text__duration(on, sizeof(on), totals->on_cpu_ns),
		 text__duration(blocked, sizeof(blocked), totals->blocked_ns),
		 text__duration(queue, sizeof(queue), totals->runqueue_ns));
}

void words__exit(const struct scene *scene, const union record *record, struct words *words)
{
	name__process(words->actor, sizeof(words->actor), scene->report, record->head.tgid);
	snprintf(words->what, sizeof(words->what), "ended");
}

void words__lost(const struct scene *scene, const union record *record, struct words *words)
{
	(void)scene;
	words->colour = COLOUR_CAUSE;
	snprintf(words->actor, sizeof(words->actor), "netstall");
	snprintf(words->what, sizeof(words->what), "LOST so far");
	name__lost(words->note, sizeof(words->note), record->lost.kind, record->lost.count);
}

void words__stack(const struct scene *scene, const union record *record, struct words *words)
{
	(void)scene;
	snprintf(words->actor, sizeof(words->actor), "netstall");
	snprintf(words->what, sizeof(words->what), "stack %u", record->stack.id);
	name__stack(words->note, sizeof(words->note), record->stack.text, 8);
}
