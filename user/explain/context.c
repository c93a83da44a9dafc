// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who is who in a verdict. */
#include "user/explain/context.h"

#include <stdio.h>
#include <string.h>

#include "user/analyze/stall.h"
#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/explain/call_site.h"
#include "user/record/syscalls.h"
#include "user/record/uring_ops.h"

#define SAFE_COMM TEXT_SAFE(NS_COMM_LEN)

/* "" when nobody told it. */
static void comm_of(char *dst, size_t size, const struct report *report,
		    const struct report_conn *conn)
{
	const char *comm = report__end_comm(report, conn);

	text__safe(dst, size, comm ? comm : "", NS_COMM_LEN);
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

char *context__thread(char *dst, size_t size, const struct report *report, uint32_t pid,
		      uint32_t tid)
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

/* ---- how to trace one ---- */

/* Another process of the same name does the same work on another connection. */
static bool is_one_of_several(const struct report *report, const struct report_process *process)
{
	const struct report_conn *own = NULL, *other;

	for (size_t i = 0; i < report->conn_count && !own; i++) {
		if (report->conns[i].id.head.tgid == process->pid)
			own = &report->conns[i];
	}
	for (size_t i = 0; own && i < report->conn_count; i++) {
		const struct report_process *others;

		other = &report->conns[i];
		if (other->id.opener != own->id.opener ||
		    service__port(&other->id) != service__port(&own->id) ||
		    other->id.head.tgid == process->pid)
			continue;
		others = report__process(report, other->id.head.tgid);
		if (others && !strncmp(others->comm, process->comm, NS_COMM_LEN))
			return true;
	}
	return false;
}

/* As a word of a shell; NULL: it has a character that nobody can type. */
static char *shell_word(char *dst, size_t size, const char *comm)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"_-./:@+,%=";
	char name[NS_COMM_LEN + 1] = "";

	memcpy(name, comm, NS_COMM_LEN);
	for (const char *c = name; *c; c++) {
		if (*c < ' ' || *c > '~' || *c == '\'' || *c == '\\')
			return NULL;
	}
	if (!*name)
		return NULL;
	snprintf(dst, size, name[strspn(name, plain)] ? "'%s'" : "%s", name);
	return dst;
}

char *context__target(char *dst, size_t size, const struct report *report, uint32_t pid)
{
	const struct report_process *process = report__process(report, pid), *master;
	char name[NS_COMM_LEN + 3];

	if (process && (process->exited || is_one_of_several(report, process))) {
		master = report__process(report, process->master);
		if (process->master && !(master && master->exited)) {
			snprintf(dst, size, "-p %u --children", process->master);
			return dst;
		}
		if (shell_word(name, sizeof(name), process->comm)) {
			snprintf(dst, size, "--comm %s", name);
			return dst;
		}
	}
	if (process && process->exited)
		return NULL;
	snprintf(dst, size, "-p %u", pid);
	return dst;
}

uint32_t context__peer_pid(const struct context *context)
{
	const struct report *report = context->report;
	const struct report_conn *conn = context->conn, *peer = context->peer;

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *other = &report->conns[i];

		if (peer && peer->id.head.tgid)
			break;
		peer = NULL;
		if (conn && conn->id.opener != NS_OPENER_PEER &&
		    other->id.opener == conn->id.opener &&
		    service__port(&other->id) == service__port(&conn->id) &&
		    !memcmp(other->id.raddr, conn->id.raddr, sizeof(conn->id.raddr)))
			peer = report__peer(report, other);
	}
	return peer ? peer->id.head.tgid : 0;
}

char *context__profile(char *dst, size_t size, const struct report *report, uint32_t pid)
{
	const struct report_process *process = report__process(report, pid);
	char name[NS_COMM_LEN + 3];

	if (!process || !process->exited)
		snprintf(dst, size, "perf record -p %u", pid);
	else if (shell_word(name, sizeof(name), process->comm))
		snprintf(dst, size, "perf record -a, and perf report --comm %s", name);
	else
		snprintf(dst, size, "perf record -a");
	return dst;
}

char *context__operation(char *dst, size_t size, const struct ns_wait *wait)
{
	bool is_fixed = wait->op_flags & NS_SQE_FIXED_FILE;
	char name[URING_OP_TEXT];

	if (!wait->head.type || !wait->op_known || uring_wait__is_for_any(wait))
		return NULL;
	uring_op__text(name, sizeof(name), wait->op_code);
	if (wait->op_fd == NS_FD_UNKNOWN || wait->op_file == NS_URING_NO_FILE)
		snprintf(dst, size, "%s", name);
	else
		snprintf(dst, size, "%s on %s %u", name, is_fixed ? "registered file" : "fd",
			 wait->op_fd);
	return dst;
}

char *context__call(char *dst, size_t size, const struct report *report, const struct ns_wait *wait)
{
	const char *arch = report->session.arch;
	const char *name = syscall__name(arch, wait->syscall);
	char operation[48];

	if (!wait->head.type || !name)
		return NULL;
	if (context__operation(operation, sizeof(operation), wait))
		snprintf(dst, size, "%s (%s)", name, operation);
	else if (syscall__wait(arch, wait->syscall) == SYSCALL_WAIT_FD)
		snprintf(dst, size, "%s on fd %u", name, wait->arg0);
	else
		snprintf(dst, size, "%s", name);
	return dst;
}

static void name_fd(struct context *context)
{
	uint32_t fd = context->stall->hold.head.type ? context->stall->hold.fd : NS_FD_UNKNOWN;

	if (fd == NS_FD_UNKNOWN)
		fd = context->conn->id.fd;
	if (fd == NS_FD_UNKNOWN)
		snprintf(context->fd, sizeof(context->fd), "its socket");
	else
		snprintf(context->fd, sizeof(context->fd), "fd %u", fd);
}

static void name_message(struct context *context)
{
	uint32_t opener = context->conn->id.opener;

	context->message = "message";
	context->a_message = "a message";
	if (opener == NS_OPENER_SELF) {
		context->message = "request";
		context->a_message = "a request";
	} else if (opener == NS_OPENER_PEER) {
		context->message = "answer";
		context->a_message = "an answer";
	}
}

static void name_other(struct context *context)
{
	const struct ns_conn *id = &context->conn->id;

	text__address(context->other, sizeof(context->other), id->family, id->raddr, id->rport);
	snprintf(context->other_program, sizeof(context->other_program), "%s", context->other);
	if (!context->peer)
		return;
	name_end(context->other, sizeof(context->other), context->report, context->peer);
	/* A process that talks to itself: only the addresses tell its ends apart. */
	if (!strcmp(context->other, context->sender))
		text__address(context->other, sizeof(context->other), id->family, id->raddr,
			      id->rport);
	name_program(context->other_program, sizeof(context->other_program), context->report,
		     context->peer, context->other);
}

/* By its connection, or by the process that has it: a target may have others as well. */
static bool is_target(const struct report *report, const struct report_conn *conn)
{
	const struct report_process *process = report__process(report, conn->id.head.tgid);

	return (conn->id.role | (process ? process->role : 0)) & NS_ROLE_TARGET;
}

static void name_ends(struct context *context)
{
	bool both;

	name_end(context->sender, sizeof(context->sender), context->report, context->conn);
	name_program(context->program, sizeof(context->program), context->report, context->conn,
		     context->sender);
	name_other(context);
	name_fd(context);
	name_message(context);
	context->sender_is_target = is_target(context->report, context->conn);
	both = context->sender_is_target && context->peer &&
	       is_target(context->report, context->peer);
	context->other_end = both                        ? "The receiving end"
			     : context->sender_is_target ? "The other end"
							 : "This end";
}

/* A name that it was bound to, or an address; what is not known is "the other end" already. */
static void name_socket(struct context *context, const struct ns_socket *socket)
{
	char path[TEXT_SAFE(NS_SOCKET_PATH)];

	if (socket__is_udp(socket) && socket->rport)
		text__address(context->other, sizeof(context->other), socket->family, socket->raddr,
			      socket->rport);
	else if (socket__is_unix(socket) && socket->path[0])
		snprintf(context->other, sizeof(context->other), "%s",
			 text__safe(path, sizeof(path), socket->path, NS_SOCKET_PATH));
	snprintf(context->other_program, sizeof(context->other_program), "%s", context->other);
}

/* A wait that no connection has a part in: its thread is all there is to name. */
static void name_thread_alone(struct context *context)
{
	const struct stall *stall = context->stall;
	const struct report_process *process = report__process(context->report, stall->pid);

	snprintf(context->sender, sizeof(context->sender), "%s", context->waiter);
	snprintf(context->program, sizeof(context->program), "%s", context->waiter);
	if (process && process->comm[0])
		text__safe(context->program, sizeof(context->program), process->comm, NS_COMM_LEN);
	snprintf(context->fd, sizeof(context->fd), "its socket");
	snprintf(context->other, sizeof(context->other), "the other end");
	snprintf(context->other_program, sizeof(context->other_program), "the other end");
	name_socket(context, &stall__socket_wait(stall)->socket);
	context->message = "message";
	context->a_message = "a message";
	context->other_end = "The other end";
	context->sender_is_target = process && process->role & NS_ROLE_TARGET;
}

/* Causes that say that others took the time, or the thread itself: whose, and how, the parts say.
 */
static bool is_made_of_parts(enum cause cause)
{
	return cause == CAUSE_PEER_APP || cause == CAUSE_LOCK || cause == CAUSE_IPC ||
	       cause == CAUSE_SELF || cause == CAUSE_UDP || cause == CAUSE_DNS ||
	       cause == CAUSE_ACCEPT_QUEUE || cause == CAUSE_UNKNOWN;
}

/* Causes that say that something was due, and late. */
static bool is_of_what_is_due(enum cause cause)
{
	return cause == CAUSE_PEER_APP || cause == CAUSE_TIMER || cause == CAUSE_LOCK ||
	       cause == CAUSE_IPC;
}

char *context__other_end(char *dst, size_t size, const struct report *report,
			 const struct report_conn *conn)
{
	const struct report_conn *peer = report__peer(report, conn);

	if (peer)
		name_end(dst, size, report, peer);
	else
		text__address(dst, size, conn->id.family, conn->id.raddr, conn->id.rport);
	return dst;
}

static void find_acks(struct context *context)
{
	const struct report *report = context->report;
	const struct report_conn *conn = report__conn(report, stall__request(context->stall));
	uint32_t bytes = conn ? conn->acks.bytes : 0;
	bool is_acker = conn && conn->id.opener != NS_OPENER_PEER;

	if (!bytes || !is_of_what_is_due(context->tally->cause))
		return;
	context->acked_bytes = bytes;
	name_end(is_acker ? context->acker : context->pusher, CONTEXT_NAME, report, conn);
	context__other_end(is_acker ? context->pusher : context->acker, CONTEXT_NAME, report, conn);
}

bool context__make(struct context *context, const struct report *report, const struct tally *tally)
{
	const struct stall *stall = &tally->example;

	*context = (struct context){.report = report, .tally = tally, .stall = stall};
	if (stall->link_count)
		context->root = &stall->links[stall->link_count - 1];
	if (tally->conn)
		context->conn = report__conn(report, tally->conn);
	if (tally->conn && (!context->conn || !context->conn->id.head.type))
		return false;
	context->peer = report__peer(report, context->conn);
	context->by_ring = stall->first.via != NS_VIA_CALL || stall->second.via != NS_VIA_CALL;
	context__thread(context->waiter, sizeof(context->waiter), report, stall->pid, stall->tid);
	if (context->conn)
		name_ends(context);
	else
		name_thread_alone(context);
	context->path = tally->path;
	path__fold_unknown(&context->path);
	/* A timer that is another thread's is told by that one's part. */
	if (is_made_of_parts(tally->cause) ||
	    (tally->cause == CAUSE_TIMER && stall->link_count > 1))
		context->part = path__main(&context->path, tally->cause);
	find_acks(context);
	return true;
}

const struct cause_end *context__end(const struct context *context)
{
	const struct report_cause *cause = report__cause(context->report, context->tally->cause);

	return cause ? report__cause_end(context->report, cause, context->tally->conn) : NULL;
}

uint64_t context__each(const struct context *context)
{
	const struct cause_end *at = context__end(context);
	const struct report_cause *cause = report__cause(context->report, context->tally->cause);

	if (at && at->p50_ns)
		return at->p50_ns;
	if (cause && cause->p50_ns)
		return cause->p50_ns;
	return context->tally->count ? context->tally->total_ns / context->tally->count : 0;
}

const char *context__each_word(uint64_t p50_ns, uint64_t count, uint64_t total_ns)
{
	uint64_t sum = p50_ns * count;
	uint64_t off = sum > total_ns ? sum - total_ns : total_ns - sum;

	return !p50_ns || 20 * off <= total_ns ? " each" : " at the median";
}

static uint64_t held_each(const struct context *context)
{
	const struct tally *tally = context->tally;
	double share = tally->total_ns ? (double)tally->held_ns / (double)tally->total_ns : 0;
	uint64_t each = (uint64_t)(share * (double)context__each(context) + 0.5);

	/* The mean share of the median stall may be more than was held in any. */
	return each < tally->held_most_ns ? each : tally->held_most_ns;
}

/* Those of its connection, or of none: the first of all. */
static const struct report_requests *find_requests(const struct context *context, uint32_t conn)
{
	const struct report *report = context->report;
	uint32_t peer = conn && context->peer ? context->peer->id.head.conn : conn;

	for (size_t i = 0; i < report->requests_count; i++) {
		if (report->requests[i].conn == conn || report->requests[i].conn == peer)
			return &report->requests[i];
	}
	return NULL;
}

/* Those of the other end that its connection goes to; where there is but one, or none is known, all
 * together. */
static const struct report_requests *endpoint_of(const struct context *context)
{
	const struct report *report = context->report;
	const struct report_requests *own = find_requests(context, context->tally->conn);
	const struct report_requests *found = find_requests(context, 0);

	for (size_t i = 0; own && i < report->requests_count; i++) {
		const struct report_requests *row = &report->requests[i];

		if (!row->conn && row->role == own->role &&
		    !memcmp(&row->end, &own->end, sizeof(row->end)))
			found = row;
	}
	return found;
}

/*
 * The requests that the stalls are in: of the connection, or if they are on several of its
 * endpoint. NULL: they were not followed, or it asks for several things at a time.
 */
static const struct report_requests *requests_of(const struct context *context)
{
	const struct report_cause *cause = report__cause(context->report, context->tally->cause);
	const struct report_requests *found =
		cause && cause->conns > 1 ? endpoint_of(context)
					  : find_requests(context, context->tally->conn);

	return found && !found->several ? found : NULL;
}

/*
 * A pool of too few connections, or one that threads lock: at a request nearly always, and then at
 * the next. Where one thread waits for that connection alone, nobody else can wait in front of it.
 */
#define QUEUE_BUSY   0.9
#define QUEUE_GAP_NS 1000000

static bool waits_for_it_alone(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;

	return syscall__wait_of(context->report->session.arch, wait) != SYSCALL_WAIT_MANY;
}

const struct report_requests *context__queue(const struct context *context)
{
	const struct report_requests *row = find_requests(context, context->tally->conn);

	if (!row || row->role != REQUEST_MADE || !row->threads || row->busy < QUEUE_BUSY ||
	    context__gap_ns(context->report, row) > QUEUE_GAP_NS ||
	    (row->threads == 1 && waits_for_it_alone(context)))
		return NULL;
	return row;
}

uint64_t context__gap_ns(const struct report *report, const struct report_requests *row)
{
	double window = (double)(report->end_ts - report->start_ts);

	return row->count ? (uint64_t)(window * (1 - row->busy) / (double)row->count) : 0;
}

enum reader_deed context__reader(const struct context *context)
{
	const struct stall_reader *reader = &context->tally->reader;

	if (!reader->seen)
		return READER_UNSEEN;
	if (reader->waited_ns >= reader->ran_ns && reader->waited_ns >= reader->away_ns)
		return READER_WAITS;
	if (reader->ran_ns >= reader->away_ns)
		return READER_COMPUTES;
	return reader->away == CAUSE_TIMER ? READER_SLEEPS : READER_IS_AWAY;
}

/*
 * No window and no buffer helps while their reader does other things: a larger one saves what the
 * reader waited for data, and reading sooner what it did instead. What it computes goes on to take
 * its time.
 */
static double reader_share(const struct context *context)
{
	const struct stall_reader *reader = &context->tally->reader;
	double all = (double)(reader->waited_ns + reader->ran_ns + reader->away_ns);

	switch (context__reader(context)) {
	case READER_WAITS:
		return (double)reader->waited_ns / all;
	case READER_COMPUTES:
		return 0;
	case READER_SLEEPS:
	case READER_IS_AWAY:
		return (double)reader->away_ns / all;
	case READER_UNSEEN:
		break;
	}
	return 1;
}

/* What the cause has of the median request; 0 too of none. */
static uint64_t of_median(const struct report_requests *requests, enum cause cause)
{
	return requests ? request_view__part(&requests->median, cause) : 0;
}

/* Is it the place where the thread waits that the stalls are the time of? What TCP does is done at
 * no place of a wait. */
static bool has_place(const struct context *context)
{
	const struct call_sites *sites = &context->tally->sites;
	const struct path_part *part = context->part;

	return sites->wait && sites->wait_of_ns &&
	       (part ? part->kind == PATH_BLOCKED && site__is_of(sites, part)
		     : cause__rank(context->tally->cause) != CAUSE_RANK_NETWORK);
}

/* Of a request that waits at both each is a part. */
bool context__has_places(const struct context *context)
{
	const struct call_sites *sites = &context->tally->sites;
	uint64_t both;

	if (!sites->wait_count || !has_place(context))
		return false;
	both = sites->wait_ns / sites->wait_count + sites->besides_ns / sites->besides_count;
	return 10 * of_median(requests_of(context), context->tally->cause) < 9 * both;
}

bool context__besides(const struct context *context, struct tally *tally, struct context *besides)
{
	const struct call_sites *sites = &context->tally->sites;

	if (!context__has_places(context))
		return false;
	*tally = *context->tally;
	*besides = *context;
	besides->tally = tally;
	tally->sites.wait = sites->wait_besides;
	tally->sites.wait_besides = sites->wait;
	tally->sites.wait_ns = sites->besides_ns;
	tally->sites.besides_ns = sites->wait_ns;
	tally->sites.wait_count = sites->besides_count;
	tally->sites.besides_count = sites->wait_count;
	return true;
}

/* What changes at one place helps the waits there alone. */
static double place_share(const struct context *context)
{
	const struct call_sites *sites = &context->tally->sites;

	return has_place(context) ? (double)sites->wait_ns / (double)sites->wait_of_ns : 1;
}

/* Stalls that are at this place, of those that are here and there: of what a stall would be shorter
 * by at the mean, if all were alike. */
static void save_at_place(const struct context *context, struct saving *saving)
{
	const struct call_sites *sites = &context->tally->sites;
	uint64_t each = context__each(context);
	double share = (double)min_u64(saving->ns, each) / (double)each;

	saving->of_ns = sites->wait_ns / sites->wait_count;
	saving->ns = (uint64_t)(share * (double)saving->of_ns);
	saving->count = sites->wait_count;
	saving->of_count = sites->wait_of_count;
}

uint64_t context__queue_ns(const struct context *context)
{
	const struct report_cause *queue = report__cause(context->report, CAUSE_ACCEPT_QUEUE);

	if (context->tally->cause == CAUSE_ACCEPT_QUEUE || !queue || !queue->main ||
	    !tally__serves_others(queue->main))
		return 0;
	return of_median(requests_of(context), CAUSE_ACCEPT_QUEUE);
}

/*
 * Whose bytes are held, the thread that wrote them is free for others meanwhile; what is no longer
 * held comes back the sooner with the next request. Those who ask it for one thing at a time wait
 * for it in turn then: a request with the pause behind it takes as long at least as the service of
 * all of them (asymptotic bounds of a closed queueing network; Denning and Buzen, ACM Computing
 * Surveys 10.3, 1978). By how much it can be shorter; UINT64_MAX: that is not known.
 */
static uint64_t left_of_service(const struct context *context,
				const struct request_service *service, uint64_t request_ns)
{
	uint64_t all;

	if (cause__info(context->tally->cause)->group != CAUSE_GROUP_WRITES ||
	    service->callers <= service->threads || !service->threads ||
	    service->pause_ns == UINT64_MAX)
		return UINT64_MAX;
	all = service->callers * service->each_ns / service->threads;
	return all < request_ns + service->pause_ns ? request_ns + service->pause_ns - all : 0;
}

/* What the largest part has of each, whether it can be named or not. */
static uint64_t of_largest_part(const struct context *context, uint32_t *threads)
{
	const struct path_part *part = context->part;
	uint64_t taken = 0;

	if (!part && is_made_of_parts(context->tally->cause))
		part = path__next_largest(&context->path, context->tally->cause, &taken);
	if (!part)
		return UINT64_MAX;
	return path__share_of_alike(&context->path, part, context__each(context), threads);
}

struct saving context__saving(const struct context *context)
{
	const struct report_requests *requests = requests_of(context), *row;
	struct saving saving = {.ns = held_each(context), .of_ns = context__each(context)};
	uint64_t part;

	/* Perhaps nobody waits for it. */
	if (context->acked_bytes)
		return (struct saving){0};
	part = context__has_places(context) ? 0 : of_median(requests, context->tally->cause);
	/* Else the median request is none of those that were delayed. */
	if (2 * part >= saving.ns && part)
		saving = (struct saving){
			.ns = part, .of_ns = requests->median.total_ns, .is_of_request = true};
	saving.ns = min_u64(saving.ns, of_largest_part(context, &saving.threads));
	row = saving.is_of_request ? endpoint_of(context) : NULL;
	if (row) {
		part = left_of_service(context, &row->service, saving.of_ns);
		saving.service = saving.ns > part ? &row->service : NULL;
		saving.ns = min_u64(saving.ns, part);
	}
	/* The others of its stalls were answered, late. */
	if (tally__is_unanswered(context->tally))
		saving.ns = saving.of_ns = tally__server(context->tally)->unanswered_ns /
					   tally__server(context->tally)->unanswered;
	if (context__has_places(context))
		save_at_place(context, &saving);
	else
		saving.ns = (uint64_t)(place_share(context) * (double)saving.ns);
	saving.ns = (uint64_t)(reader_share(context) * (double)saving.ns);
	return saving;
}
