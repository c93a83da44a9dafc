// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/template.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/analyze/waits/kernel_stack.h"
#include "user/analyze/waits/socket_wait.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/explain/call_site.h"
#include "user/explain/chain.h"
#include "user/explain/clauses.h"
#include "user/explain/coverage.h"
#include "user/explain/parts.h"
#include "user/record/syscalls.h"
#include "user/record/uring_ops.h"

/* ---- figures in room of their own ---- */

#define us_text(us)           duration_text(1000ull * (us))
#define range_text(range)     builder__bytes((char[2 *TEXT_BYTES + 8]){""}, 2 * TEXT_BYTES + 8, range)
#define cgroup_text(throttle) name_cgroup((char[CGROUP_TEXT]){""}, CGROUP_TEXT, throttle)
#define resumer_text(context)                                                                      \
	name_resumer((char[TEXT_SAFE(NS_COMM_LEN) + 16]){""}, TEXT_SAFE(NS_COMM_LEN) + 16, context)
#define runner_text(context)                                                                       \
	first_runner((char[TEXT_SAFE(NS_COMM_LEN) + 16]){""}, TEXT_SAFE(NS_COMM_LEN) + 16, context)
#define number_text(n) written((char[16]){""}, 16, "%u", n)
/* "2", "2.3" */
#define ratio_text(of, each)                                                                       \
	written((char[16]){""}, 16, "%.*f", 10 * (of) / (each) % 10 ? 1 : 0,                       \
		(double)(of) / (double)(each))

static char *written(char *dst, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static char *written(char *dst, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(dst, size, format, args);
	va_end(args);
	return dst;
}

#define CGROUP_TEXT (3 * TEXT_SAFE(NS_CGROUP_LEN) + 8)

/* "/kubepods/pod1/web", or what of it is known: ".../pod1/web". */
static char *name_cgroup(char *dst, size_t size, const struct ns_throttle *throttle)
{
	const char *const names[] = {throttle->cgroup_top, throttle->cgroup_above,
				     throttle->cgroup};
	char safe[TEXT_SAFE(NS_CGROUP_LEN)];
	size_t used = 0;

	if (throttle->deeper)
		used = (size_t)snprintf(dst, size, "...");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i][0] && used < size)
			used += (size_t)snprintf(
				dst + used, size - used, "/%s",
				text__safe(safe, sizeof(safe), names[i], NS_CGROUP_LEN));
	}
	return dst;
}

/* ---- conditions ---- */

/* The other end, which is out of sight, wrote the pieces: see remote_nagle.h. */
static bool is_receiver(const struct stall *stall)
{
	return stall->fire.head.type && stall->fire.head.conn == stall->conn;
}

/* A new connection meets it once: with its first exchange, or none again. */
static bool is_kept(const struct context *context)
{
	uint32_t exchanges = context->conn ? context->conn->totals.exchanges : 0;

	return exchanges > 1 && context->tally->count > 1 && 2 * context->tally->count >= exchanges;
}

/* Whom the delayed thread waited for is known, and what that one waited for. */
static bool has_root(const struct context *context)
{
	return context->stall->link_count > 1;
}

static bool is_mostly(const struct context *context, enum path_kind kind)
{
	return context->part && context->part->kind == kind;
}

/* A thread of HotSpot's that works while all others stand still, or for them: it collects garbage,
 * above all. */
static bool is_collecting(const struct context *context)
{
	static const char *const threads[] = {"VM Thread", "GC Thread#", "G1 ", "ZWorker",
					      "Shenandoah"};

	for (size_t i = 0; is_mostly(context, PATH_RUNS) && i < COUNT_OF(threads); i++)
		if (!strncmp(context->part->comm, threads[i], strlen(threads[i])))
			return true;
	return false;
}

/* Waits, long ones or many short ones. */
static bool mostly_waits(const struct context *context, enum cause cause)
{
	return (is_mostly(context, PATH_BLOCKED) || is_mostly(context, PATH_SHORTS)) &&
	       context->part->cause == cause;
}

/* Its largest part shows something to act on. */
static bool has_doer(const struct context *context)
{
	return is_mostly(context, PATH_RUNS) || is_mostly(context, PATH_READY) ||
	       is_mostly(context, PATH_UNREAD) || mostly_waits(context, CAUSE_TIMER) ||
	       mostly_waits(context, CAUSE_LOCK) || mostly_waits(context, CAUSE_DISK);
}

/* The thread that ended the wait is watched. */
static bool has_waker(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;

	return wait->head.type && wait->waker_tgid &&
	       report__process(context->report, wait->waker_tgid);
}

static const char *name_call(const struct context *context)
{
	return syscall__name(context->report->session.arch, context->stall->wait.syscall);
}

static bool is_for_a_child(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;
	const char *name = name_call(context);

	if (wait->op_known)
		return uring_op__act(wait->op_code) == ACT_REAPS;
	return name && (!strcmp(name, "wait4") || !strcmp(name, "waitid"));
}

/* A pipe or a Unix socket is full: what ends that is its reader. */
static bool is_for_its_reader(const struct context *context)
{
	const struct stall *stall = context->stall;
	const struct ns_wait *wait = &stall->wait;
	const char *name;

	/* Of many short ones one that was seen. */
	if (wait->syscall == NS_SYSCALL_NONE && stall->link_count &&
	    stall->links[0].wait.head.tid == stall->tid)
		wait = &stall->links[0].wait;
	name = syscall__name(context->report->session.arch, wait->syscall);
	return !wait->op_known && name && (!strncmp(name, "write", 5) || !strncmp(name, "send", 4));
}

static bool is_asleep(const struct context *context)
{
	const char *name = name_call(context);

	return name && strstr(name, "nanosleep");
}

/* All of them together; NULL: none was seen. */
static const struct report_requests *requests_made(const struct report *report)
{
	return report->requests_count && report->requests[0].role == REQUEST_MADE
		       ? &report->requests[0]
		       : NULL;
}

/* A call ended that gives a time-out, not one that sleeps. */
static bool is_time_out(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;

	return wait->head.type && name_call(context) &&
	       syscall__wait_of(context->report->session.arch, wait) != SYSCALL_WAIT_OTHER;
}

/* In an argument of the call that is recorded. */
static bool has_time_out(const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;
	const char *name = name_call(context);

	return name && (!strcmp(name, "poll") || !strncmp(name, "epoll_", 6)) &&
	       strcmp(name, "epoll_pwait2") != 0 && /* there it is a pointer */
	       wait->arg2 > 0 && wait->arg2 <= INT32_MAX;
}

static bool is_submitted_by_another(const struct ns_wait *wait)
{
	return wait->op_tid && wait->op_tid != wait->head.tid;
}

static uint64_t reader_all(const struct tally *tally)
{
	return tally->reader.waited_ns + tally->reader.ran_ns + tally->reader.away_ns;
}

static uint64_t reader_most(const struct tally *tally)
{
	const struct stall_reader *reader = &tally->reader;
	uint64_t most = reader->waited_ns;

	most = reader->ran_ns > most ? reader->ran_ns : most;
	return reader->away_ns > most ? reader->away_ns : most;
}

static const char *reader_deed(enum cause away)
{
	static const char *const deeds[CAUSE_COUNT] = {
		[CAUSE_TIMER] = "slept by its own timer",
		[CAUSE_DISK] = "waited for block I/O",
		[CAUSE_MEMORY] = "waited for memory",
		[CAUSE_STOPPED] = "was stopped, or frozen",
		[CAUSE_LOCK] = "waited for a lock, or a signal of another thread",
		[CAUSE_IPC] = "waited for another process or thread",
		[CAUSE_PEER_APP] = "waited for data of another connection",
		[CAUSE_SNDBUF] = "waited for room to write on another connection",
		[CAUSE_RUNQUEUE] = "waited for a CPU",
		[CAUSE_IDLE] = "waited for something else to do",
		[CAUSE_URING] = "waited for io_uring",
		[CAUSE_UDP] = "waited for the answer to a datagram",
		[CAUSE_DNS] = "waited for a name server",
	};

	return deeds[away] ? deeds[away] : "waited, for what was not seen";
}

/* ---- sockets that are no TCP connections ---- */

static const struct ns_socket *socket_of(const struct context *context)
{
	return &stall__socket_wait(context->stall)->socket;
}

/* "dnsmasq/812 (127.0.0.1:53)", "10.0.0.2:53" */
static void add_answerer(char **text, const struct context *context)
{
	const struct ns_wait *wait = stall__socket_wait(context->stall);

	if (context->stall->confidence != CONFIDENCE_INFERRED && wait->socket.is_ready &&
	    wait->waker_tgid && wait->waker_tgid != wait->head.tgid &&
	    report__process(context->report, wait->waker_tgid))
		builder__add(text, "%s (%s)",
			     thread_text(context->report, wait->waker_tgid, wait->waker_tid),
			     context->other);
	else
		builder__add(text, "%s", context->other);
}

static void add_outcome(char **text, const char *what, uint32_t count, uint64_t ns, bool begun)
{
	builder__add(text, "%s %s", begun ? "," : "", what);
	if (count == 1)
		builder__add(text, " once, for %s", duration_text(ns));
	else
		builder__add(text, " %s times, %s each", count_text(count),
			     duration_text(ns / count));
}

static void add_server(char **text, const struct tally_server *server, const char *before)
{
	builder__add(text, "%s %s", before,
		     address_text(server->family, server->addr, server->port));
	if (server->unanswered)
		add_outcome(text, "did not answer in time", server->unanswered,
			    server->unanswered_ns, false);
	if (server->answered)
		add_outcome(text, "answered late", server->answered, server->answered_ns,
			    server->unanswered);
}

/* " 10.0.0.2:53 did not answer in time 12 times, 5.00 s each; 10.0.0.3:53 ..." */
static void add_servers(char **text, const struct context *context)
{
	const struct tally *tally = context->tally;
	const struct tally_server *servers = tally->servers, *most = tally__server(tally);

	if (!servers[1].family && !servers[0].unanswered)
		return;
	add_server(text, most, "");
	for (size_t i = 0; i < TALLY_SERVERS && servers[i].family; i++) {
		if (&servers[i] != most)
			add_server(text, &servers[i], ";");
	}
	builder__add(text, ".");
}

static bool is_blind(const struct context *context, enum ns_fact fact)
{
	return context->report->session.missing >> fact & 1;
}

static uint64_t held_ever(const struct report_conn *conn)
{
	uint64_t holds = 0;

	for (uint32_t reason = 0; reason < NS_HOLD_REASONS; reason++)
		holds += conn->totals.holds[reason];
	return holds;
}

/*
 * Ruled out is only what this way of attaching would have shown, at either end, and what did
 * not happen on this connection in all the time that it was watched.
 */
static bool had_no_holds(const struct context *context)
{
	return context->conn && !is_blind(context, NS_FACT_SEND) && !held_ever(context->conn) &&
	       (!context->peer || !held_ever(context->peer));
}

static bool had_no_losses(const struct context *context)
{
	return context->conn && !is_blind(context, NS_FACT_RETRANS) &&
	       !context->conn->totals.retrans && (!context->peer || !context->peer->totals.retrans);
}

/* The end that the connection is of is the one that accepts it. */
static bool is_accepting(const struct context *context)
{
	return context->conn && context->conn->id.opener == NS_OPENER_PEER;
}

/* A server that waits for what somebody sends has a request to answer that depends on it: a queue
 * that others fill, a pool of one. Who has asked for a thing waits on a connection that it opened.
 */
static bool is_depending(const struct context *context)
{
	return context->stall->cause == CAUSE_PEER_APP &&
	       (is_accepting(context) || !context->stall->conn);
}

/* ---- slots of several kinds of words ---- */

/* How many pieces are written for a message, at most. */
static uint64_t pieces(const struct tally *tally)
{
	return 2 + tally->joined.most;
}

/* "0.2 ms", "0.2 ms to 3 ms" */
static void add_gap(char **text, const struct context *context)
{
	const struct range *gap = &context->tally->gap_ns;

	if (gap->most > 2 * gap->least)
		builder__add(text, "%s to %s", duration_text(gap->least), duration_text(gap->most));
	else /* one figure to the reader */
		builder__add(text, "%s", duration_text((gap->least + gap->most) / 2));
}

static const char *each_word(const struct context *context)
{
	const struct cause_end *at = context__end(context);
	const struct report_cause *cause = report__cause(context->report, context->tally->cause);

	if (at)
		return context__each_word(at->p50_ns, at->count, at->total_ns);
	return cause ? context__each_word(cause->p50_ns, cause->count, cause->total_ns) : " each";
}

static bool is_by_exchange(const struct context *context)
{
	return context->conn->totals.exchanges >= context->tally->count;
}

/* How often it could have happened; 0: not counted, or oftener, as waits for a CPU may. */
static uint32_t occasions(const struct context *context)
{
	const struct ns_conn_totals *totals = context->conn ? &context->conn->totals : NULL;
	uint32_t count = !totals ? 0 : is_by_exchange(context) ? totals->exchanges : totals->writes;

	return count >= context->tally->count ? count : 0;
}

/* Until when an operation was completed, or ready, as far as before the thread ran again. */
static uint64_t done_ts(const struct ns_wait *wait)
{
	return wait->op_done_ts ? wait->op_done_ts : wait->head.ts;
}

/*
 * The largest part, behind whom the sentence names last: "; srv/4243 sleeps 40.1 ms in nanosleep",
 * or of the same thread ", which sleeps ...", or ": it sleeps ..." of the other end. For held bytes
 * what the chain ends in.
 */
static void add_because(char **text, const struct context *context)
{
	static const char *const deeds[CAUSE_COUNT] = {
		[CAUSE_RUNQUEUE] = "waits for a CPU",
		[CAUSE_THROTTLED] = "waits for its CPU quota",
		[CAUSE_LOCK] = "waits for a lock",
		[CAUSE_IPC] = "waits for another process or thread",
		[CAUSE_DISK] = "waits for block I/O",
		[CAUSE_MEMORY] = "waits for memory",
		[CAUSE_STOPPED] = "is stopped, or frozen",
		[CAUSE_TIMER] = "sleeps",
		[CAUSE_URING] = "waits for io_uring",
	};
	char name[CONTEXT_NAME];
	size_t len, used;

	if (context->part)
		context__thread(name, sizeof(name), context->report, context->part->pid,
				context->part->tid);
	else if (!context->tally->path.count && has_root(context) && deeds[context->root->cause])
		context__thread(name, sizeof(name), context->report, context->root->wait.head.tgid,
				context->root->wait.head.tid);
	else
		return;
	len = strlen(name);
	used = *text ? strlen(*text) : 0;
	if (used >= len && !strcmp(*text + used - len, name))
		builder__add(text, ", which");
	else if (!strcmp(name, context->other) || context->tally->cause == CAUSE_SELF)
		builder__add(text, ": it");
	else
		builder__add(text, "; %s", name);
	builder__add(text, " ");
	if (context->part) {
		parts__add_deed(text, context, context->part);
		parts__add_held_up(text, context, context->part);
	} else {
		builder__add(text, "%s", deeds[context->root->cause]);
		template__add(text, "[ in {root_call}]", context);
	}
}

/* Whose time it was; where that was not seen, the chain as far as it goes. */
static void add_made_of(char **text, const struct context *context)
{
	if (context->part)
		parts__add(text, context);
	else
		chain__add(text, context);
}

/* A thread that was ready to run, and for how long it did not. */
struct queued {
	uint32_t pid, tid; /* 0: the delayed one */
	uint64_t ns;       /* 0 not known */
};

static struct queued queued_in(const struct ns_wait *wait)
{
	uint64_t ready_ts = wait->state ? wait->wake_ts : wait->off_ts;

	return (struct queued){wait->head.tgid, wait->head.tid,
			       wait->head.type && ready_ts ? ns_passed(ready_ts, wait->head.ts)
							   : 0};
}

/* The one that waited longest for a CPU: by the path, which has all of its turns, else by a wait of
 * the chain. Where it is known who ran meanwhile, the one that these kept waiting. */
static struct queued longest_queued(const struct stall *stall)
{
	struct queued longest = {0}, next;

	for (size_t i = 0; i < stall->path.count; i++) {
		const struct path_part *part = &stall->path.parts[i];

		if (part->kind != PATH_READY || part->cause != CAUSE_RUNQUEUE ||
		    part->ns <= longest.ns ||
		    (stall->ran.head.type && part->tid != stall->ran.head.tid))
			continue;
		longest = (struct queued){part->pid, part->tid, part->ns};
	}
	if (longest.ns)
		return longest;
	longest = queued_in(&stall->wait);
	for (size_t i = 0; i < stall->link_count; i++) {
		next = queued_in(&stall->links[i].wait);
		if (next.ns > longest.ns)
			longest = next;
	}
	return longest;
}

/* Who let a stopped thread go on: mostly no process that is watched. */
static char *name_resumer(char *dst, size_t size, const struct context *context)
{
	const struct ns_wait *wait = &context->stall->wait;
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	if (wait->waker_comm[0])
		return written(dst, size, "%s/%u",
			       text__safe(safe, sizeof(safe), wait->waker_comm, NS_COMM_LEN),
			       wait->waker_tid);
	return context__thread(dst, size, context->report, wait->waker_tgid, wait->waker_tid);
}

/* A wait for a CPU of which it is known who ran there. */
static bool has_ran(const struct stall *stall)
{
	return stall->ran.head.type && stall->ran.runners[0].us;
}

static bool is_pinned(const struct stall *stall)
{
	return stall->ran.head.type && stall->ran.allowed && stall->ran.allowed < stall->ran.cpus;
}

/* The program that answers the requests. */
static char *name_server(char *dst, size_t size, const struct context *context)
{
	const struct report_conn *conn = context->conn;
	const struct report_conn *serves =
		conn && conn->id.opener != NS_OPENER_PEER ? context->peer : conn;
	char safe[TEXT_SAFE(NS_COMM_LEN)];
	const char *comm = serves ? report__end_comm(context->report, serves) : NULL;

	if (!comm)
		return written(dst, size, "the other end");
	return written(dst, size, "%s", text__safe(safe, sizeof(safe), comm, NS_COMM_LEN));
}

static bool is_background(const struct stall *stall)
{
	enum { BATCH = 3, IDLE = 5 }; /* SCHED_* */

	return stall->ran.head.type &&
	       (stall->ran.nice > 0 || stall->ran.policy == BATCH || stall->ran.policy == IDLE);
}

/* " hog/12 (real-time) for 28.0 ms, w/13 of its own process for 2.00 ms and others for 1.00 ms" */
static void add_runners(char **text, const struct context *context)
{
	const struct ns_ran *ran = &context->stall->ran;
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	for (size_t i = 0; i < NS_RUNNERS && ran->runners[i].us; i++) {
		const struct ns_runner *runner = &ran->runners[i];

		builder__add(text, "%s", i ? ", " : "");
		if (runner->comm[0])
			builder__add(text, "%s/%u",
				     text__safe(safe, sizeof(safe), runner->comm, NS_COMM_LEN),
				     runner->tid);
		else if (runner->tid)
			builder__add(text, "thread %u", runner->tid);
		else
			builder__add(text, "a thread that is not visible here");
		if (runner->tgid && runner->tgid == ran->head.tgid)
			builder__add(text, " of its own process");
		if (runner->prio < 100)
			builder__add(text, " (real-time)");
		builder__add(text, " for %s", duration_text(1000ull * runner->us));
	}
	if (ran->others_us >= 1000)
		builder__add(text, ", others for %s", duration_text(1000ull * ran->others_us));
}

/* Of the wait for a CPU so much, in us, is a considerable part; or most of it. */
static bool is_quarter(const struct stall *stall, uint32_t us)
{
	return stall->ran.head.type && us &&
	       4000ull * us >= stall->ran.head.ts - stall->ran.from_ts;
}

static bool is_most(const struct stall *stall, uint32_t us)
{
	return is_quarter(stall, us) && 2000ull * us >= stall->ran.head.ts - stall->ran.from_ts;
}

/* The one that ran longest. */
static const char *first_runner(char *dst, size_t size, const struct context *context)
{
	const struct ns_runner *runner = &context->stall->ran.runners[0];
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	return runner->comm[0] ? written(dst, size, "%s/%u",
					 text__safe(safe, sizeof(safe), runner->comm, NS_COMM_LEN),
					 runner->tid)
			       : "what runs there";
}

/* Of the throttled thread of the chain. */
static bool is_throttled_itself(const struct stall *stall)
{
	return stall->throttle.head.tid == stall->tid;
}

/* ---- the slots, as slots.def has them ---- */

#define SUBJECT                                                                                    \
	const struct context *context = of;                                                        \
	const struct stall *stall = context->stall;                                                \
	const struct tally *tally = context->tally;                                                \
                                                                                                   \
	(void)stall, (void)tally

#define OWN(name, function)                                                                        \
	static void slot_##name(char **text, const void *of)                                       \
	{                                                                                          \
		function(text, of);                                                                \
	}
#define SLOT(name, known, word)                                                                    \
	static void slot_##name(char **text, const void *of)                                       \
	{                                                                                          \
		SUBJECT;                                                                           \
		const char *added = (known) ? (word) : NULL;                                       \
                                                                                                   \
		if (added)                                                                         \
			builder__add(text, "%s", added);                                           \
	}
#define NAME(name) SLOT(name, true, context->name)
#define PART(name, text)
#define ASKED(name, condition)                                                                     \
	static bool slot_##name(const void *of)                                                    \
	{                                                                                          \
		SUBJECT;                                                                           \
		return condition;                                                                  \
	}
#include "user/explain/slots.def"
#undef SLOT
#undef NAME
#undef OWN
#undef PART
#undef ASKED

static const struct slot slots[] = {
#define SLOT(slot, known, word) {.name = #slot, .add = slot_##slot},
#define NAME(slot)              SLOT(slot, , )
#define OWN(slot, function)     SLOT(slot, , )
#define PART(slot, text)        {.name = #slot, .template = text},
#define ASKED(slot, condition)  {.name = #slot, .holds = slot_##slot},
#include "user/explain/slots.def"
	{.name = NULL},
};

bool template__add(char **text, const char *template, const struct context *context)
{
	char *added = NULL;
	bool applies = builder__expand(&added, template, slots, context);

	if (applies)
		builder__add(text, "%s", added);
	free(added);
	return applies;
}

bool template__add_row(char **text, const struct template *row, const struct context *context)
{
	return row->causes >> context->tally->cause & 1 && template__add(text, row->text, context);
}
