// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What comes and goes, totals and losses in words: lines that only --all shows. */
#include <stdlib.h>

#include "user/base/array.h"
#include "user/record/facts.h"
#include "user/render/words/words_parts.h"

void words__session(const struct scene *scene, struct words *words)
{
	const struct ns_session *session = &scene->record->session;

	print_to(words->note, "%s, kernel %.64s, %.16s",
		 safe_text(session->target, sizeof(session->target)), session->kernel,
		 session->way);
}

void words__refused(const struct scene *scene, struct words *words)
{
	const struct ns_refused *refused = &scene->record->refused;
	char *why = fact__refusal_text(refused);

	print_to(words->note, "%s: %s", fact__row(refused->fact)->words, why);
	free(why);
}

void words__mark(const struct scene *scene, struct words *words)
{
	print_to(words->note, "%s", safe_text(scene->record->mark.text, NS_MARK_LEN));
}

void words__process(const struct scene *scene, struct words *words)
{
	const struct ns_process *process = &scene->record->process;

	print_to(words->actor, "%s/%u", safe_text(process->comm, NS_COMM_LEN), process->head.tgid);
	print_to(words->what, "watched as %s",
		 process->role == NS_ROLE_PEER ? "the peer" : "a target");
	if (process->ns_pid)
		print_to(words->note, "%u in its pid namespace", process->ns_pid);
}

void words__conn(const struct scene *scene, struct words *words)
{
	static const char *const origins[] = {
		[NS_ORIGIN_EXISTED] = "was open",
		[NS_ORIGIN_CONNECT] = "connects",
		[NS_ORIGIN_ACCEPT] = "accepts",
		[NS_ORIGIN_USE] = "is used",
	};
	const struct ns_conn *conn = &scene->record->conn;
	const char *origin = conn->origin < COUNT_OF(origins) ? origins[conn->origin] : NULL;

	print_to(words->what, "%s", origin ? origin : "is there");
	print_to(words->note, "%s", addresses_text(conn));
	if (conn->fd != NS_FD_UNKNOWN)
		add_to(words->note, ", ", "fd %u", conn->fd);
}

void words__peer(const struct scene *scene, struct words *words)
{
	print_to(words->note, "c%u and c%u are the two ends of one connection",
		 scene->record->head.conn, scene->record->peer.peer);
}

void words__conn_totals(const struct scene *scene, struct words *words)
{
	const struct ns_conn_totals *totals = &scene->record->conn_totals;

	print_to(words->note, "%s writes, %s out, %s in, %u ACKs delayed",
		 count_text(totals->writes), bytes_text(totals->bytes_out),
		 bytes_text(totals->bytes_in), totals->delack_fired);
}

void words__thread_totals(const struct scene *scene, struct words *words)
{
	const struct ns_thread_totals *totals = &scene->record->thread_totals;

	if (totals->comm[0])
		print_to(words->actor, "%s/%u", safe_text(totals->comm, NS_COMM_LEN),
			 totals->head.tid);
	print_to(words->note, "on CPU %s, blocked %s, run queue %s",
		 duration_text(totals->on_cpu_ns), duration_text(totals->blocked_ns),
		 duration_text(totals->runqueue_ns));
}

void words__lost(const struct scene *scene, struct words *words)
{
	words->colour = COLOUR_CAUSE;
	name__lost(words->note, sizeof(words->note), scene->record->lost.kind,
		   scene->record->lost.count);
}

void words__stack(const struct scene *scene, struct words *words)
{
	print_to(words->what, "stack %u", scene->record->stack.id);
	name__stack(words->note, sizeof(words->note), scene->record->stack.text, 8);
}
