// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/report.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/holds/incident.h"
#include "user/analyze/report_update.h"
#include "user/analyze/tally.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/record/facts.h"
#include "user/record/losses.h"

/* ---- sorted arrays of anything whose first field, or first two, are its key ---- */

struct array {
	void *entries;
	size_t count;
	size_t size; /* of an entry */
	int (*compare)(const void *key, const void *entry);
};

/* Where the key is, or belongs. */
static size_t place_of(const struct array *array, const void *key, bool *there)
{
	size_t low = 0, high = array->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (array->compare(key, (const char *)array->entries + middle * array->size) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	*there = low < array->count &&
		 !array->compare(key, (const char *)array->entries + low * array->size);
	return low;
}

static void *find(const struct array *array, const void *key)
{
	bool there;
	size_t place = place_of(array, key, &there);

	return there ? (char *)array->entries + place * array->size : NULL;
}

/* The entry of the key; a new one is zeroed. Room doubles at each power of two. */
static void *upsert(struct array *array, const void *key)
{
	bool there;
	size_t place = place_of(array, key, &there);
	char *entry;

	if (!there && !(array->count & (array->count - 1)))
		array->entries = xreallocarray(array->entries, array->count ? 2 * array->count : 1,
					       array->size);
	entry = (char *)array->entries + place * array->size;
	if (there)
		return entry;
	memmove(entry + array->size, entry, (array->count - place) * array->size);
	memset(entry, 0, array->size);
	array->count++;
	return entry;
}

static int compare_conn(const void *key, const void *entry)
{
	return compare_u64(*(const uint32_t *)key,
			   ((const struct report_conn *)entry)->id.head.conn);
}

static int compare_process(const void *key, const void *entry)
{
	return compare_u64(*(const uint32_t *)key, ((const struct report_process *)entry)->pid);
}

static int compare_thread(const void *key, const void *entry)
{
	const struct report_thread *wanted = key, *thread = entry;
	int by_pid = compare_u64(wanted->pid, thread->pid);

	return by_pid ? by_pid : compare_u64(wanted->tid, thread->tid);
}

static int compare_ring(const void *key, const void *entry)
{
	return compare_u64(*(const uint32_t *)key, ((const struct report_ring *)entry)->id.ring);
}

static struct array conns_of(const struct report *report)
{
	return (struct array){report->conns, report->conn_count, sizeof(*report->conns),
			      compare_conn};
}

static struct array processes_of(const struct report *report)
{
	return (struct array){report->processes, report->process_count, sizeof(*report->processes),
			      compare_process};
}

struct report_conn *report__find_conn(struct report *report, uint32_t number)
{
	struct array conns = conns_of(report);

	return find(&conns, &number);
}

struct report_process *report__find_process(struct report *report, uint32_t pid)
{
	struct array processes = processes_of(report);

	return find(&processes, &pid);
}

const struct report_conn *report__conn(const struct report *report, uint32_t number)
{
	struct array conns = conns_of(report);

	return find(&conns, &number);
}

const struct report_conn *report__peer(const struct report *report, const struct report_conn *conn)
{
	return conn && conn->peer ? report__conn(report, conn->peer) : NULL;
}

const struct report_process *report__process(const struct report *report, uint32_t pid)
{
	struct array processes = processes_of(report);

	return find(&processes, &pid);
}

static int compare_stall(const void *key, const void *entry)
{
	return compare_u64(*(const uint32_t *)key, ((const struct stall *)entry)->number);
}

const struct stall *report__stall(const struct report *report, uint32_t number)
{
	struct array stalls = {report->stalls, report->stall_count, sizeof(*report->stalls),
			       compare_stall};

	return find(&stalls, &number);
}

const struct report_cause *report__cause(const struct report *report, enum cause cause)
{
	const struct report_cause *found = NULL;

	for (size_t i = 0; i < report->cause_count; i++) {
		if (report->causes[i].cause == cause && (!found || found->is_pace))
			found = &report->causes[i];
	}
	return found;
}

/* Of the requests that they held up. */
static uint64_t delay_of(const struct report_cause *cause)
{
	return cause->requests > cause->count ? cause->total_ns / cause->count * cause->requests
					      : cause->total_ns;
}

/* What of a cause's time counts for the verdict: of the pace none, which leads alone. */
static uint64_t weight(const struct report *report, const struct report_cause *cause)
{
	/* What its stalls hardly show is no finding. */
	uint64_t slow_ns = min_u64(cause->slow_ns, 2 * delay_of(cause));

	if (cause->is_pace)
		return 0;
	for (size_t i = 0; i < report->cause_count; i++) {
		if (report->causes[i].in_requests_ns)
			return max_u64(slow_ns, cause->in_requests_ns);
	}
	return max_u64(slow_ns, cause->covered_ns);
}

static const struct report_cause *heaviest_of(const struct report *report, bool is_given)
{
	const struct report_cause *most = NULL;

	for (size_t i = 0; i < report->cause_count; i++) {
		const struct report_cause *cause = &report->causes[i];

		if (cause__info(cause->cause)->is_given == is_given &&
		    (!most || weight(report, cause) > weight(report, most)))
			most = cause;
	}
	return most;
}

static const struct report_cause *heaviest(const struct report *report)
{
	const struct report_cause *changed = heaviest_of(report, false);
	const struct report_cause *given = heaviest_of(report, true);

	if (changed && given)
		return 2 * weight(report, changed) < weight(report, given) ? given : changed;
	return changed ? changed : given;
}

const struct report_cause *report__leading(const struct report *report)
{
	const struct report_cause *cause = heaviest(report);

	/* That some process sleeps between its requests is nothing to be told of a machine. */
	if (report->program_count && report->programs[0].stalls)
		return report__cause(report, report->programs[0].cause);
	return report->session.machine && cause && cause->is_pace ? NULL : cause;
}

static uint64_t distance(const struct stall *stall, uint64_t ns)
{
	uint64_t length = stall->end_ts - stall->start_ts;

	return length > ns ? length - ns : ns - length;
}

/* Seen whole, and as long as the verdict says that each of them is: one that the window's begin cut
 * is shorter. */
static bool is_better(const struct stall *stall, const struct stall *than, uint64_t median_ns)
{
	bool whole = !stall->missing && stall->exact && !stall->open;
	bool than_whole = !than->missing && than->exact && !than->open;

	if (whole != than_whole)
		return whole;
	return distance(stall, median_ns) < distance(than, median_ns);
}

const struct stall *report__example(const struct report *report, enum cause cause, uint32_t conn)
{
	const struct report_cause *figures = report__cause(report, cause);
	uint64_t median_ns = figures ? figures->p50_ns : 0;
	const struct tally *main = figures ? figures->main : NULL;
	const struct cause_end *at =
		figures && figures->end_count && !conn ? &figures->ends[0] : NULL;
	const struct stall *best = NULL;

	if (at)
		median_ns = at->p50_ns;
	/* Of several servers the one that the verdict is about. */
	if (main && tally__is_unanswered(main))
		median_ns = tally__server(main)->unanswered_ns / tally__server(main)->unanswered;

	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = &report->stalls[i];

		if (stall->cause != cause || (conn && stall->conn != conn) || !stall->step_count ||
		    (figures && stall__is_pace(stall) != figures->is_pace) ||
		    (at && report__cause_end(report, figures, stall->conn) != at))
			continue;
		if (!best || is_better(stall, best, median_ns))
			best = stall;
	}
	return best;
}

static bool sees_stalls(const struct report *report)
{
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		if (report->session.missing >> fact & 1 && fact__row(fact)->finds_stalls)
			return false;
	}
	return true;
}

const char *request_role__id(enum request_role role)
{
	return role == REQUEST_MADE ? "makes" : "serves";
}

uint64_t request_view__part(const struct request_view *view, enum cause cause)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < view->slice_count; i++)
		ns += view->slices[i].cause == cause ? view->slices[i].ns : 0;
	return ns;
}

enum cause request_view__most(const struct request_view *view)
{
	const struct slice *most = NULL;

	for (size_t i = 0; i < view->slice_count; i++) {
		if (!most || view->slices[i].ns > most->ns)
			most = &view->slices[i];
	}
	return most ? most->cause : CAUSE_UNKNOWN;
}

bool report__is_endpoint(const struct report *report, size_t row)
{
	const struct report_requests *rows = report->requests;
	bool is_first = !row || rows[row - 1].role != rows[row].role;
	bool has_next = row + 1 < report->requests_count && rows[row + 1].role == rows[row].role;

	return !rows[row].conn && (!is_first || !has_next || rows[row + 1].conn);
}

bool report__is_complete(const struct report *report)
{
	return sees_stalls(report) && !losses__hiding(report->lost);
}

bool report__is_nearly_complete(const struct report *report)
{
	return !report->complete && sees_stalls(report) &&
	       100 * report->blind_ns <= report->end_ts - report->start_ts;
}

uint64_t report__threshold(const struct report *report)
{
	return report->session.head.type ? report->session.threshold_ns : DEFAULT_THRESHOLD_NS;
}

/* ---- endpoints ---- */

enum request_role request_role__of(const struct ns_conn *conn)
{
	return conn->opener == NS_OPENER_PEER ? REQUEST_SERVED : REQUEST_MADE;
}

uint32_t service__port(const struct ns_conn *conn)
{
	return conn->opener == NS_OPENER_PEER ? conn->lport : conn->rport;
}

struct request_end request_end__of(const struct ns_conn *conn, const char *comm,
				   enum request_role role)
{
	struct request_end end = {.port = conn->lport};

	/* Not every connection's record has a name. */
	memcpy(end.comm, conn->comm[0] || !comm ? conn->comm : comm, NS_COMM_LEN);
	if (role == REQUEST_SERVED)
		return end;
	end.port = conn->rport;
	end.family = conn->family;
	memcpy(end.addr, conn->raddr, sizeof(end.addr));
	return end;
}

bool request_end__is(const struct request_end *a, const struct request_end *b)
{
	return a->port == b->port && a->family == b->family &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr)) &&
	       !strncmp(a->comm, b->comm, sizeof(a->comm));
}

struct request_end report_conn__end(const struct report *report, const struct report_conn *conn)
{
	const struct report_process *process = report__process(report, conn->id.head.tgid);

	return request_end__of(&conn->id, process ? process->comm : NULL,
			       request_role__of(&conn->id));
}

bool report__have_same_end(const struct report *report, enum cause cause, uint32_t a, uint32_t b)
{
	const struct report_conn *one = report__conn(report, a), *other = report__conn(report, b);
	struct request_end x, y;

	if (!one || !other || !one->id.head.type || !other->id.head.type)
		return false;
	x = report_conn__end(report, one);
	y = report_conn__end(report, other);
	if (x.family && y.family && cause__info(cause)->group != CAUSE_GROUP_WRITES)
		memcpy(x.comm, y.comm, sizeof(x.comm));
	return request_end__is(&x, &y);
}

const struct cause_end *report__cause_end(const struct report *report,
					  const struct report_cause *cause, uint32_t conn)
{
	for (size_t i = 0; i < cause->end_count; i++) {
		if (report__have_same_end(report, cause->cause, conn, cause->ends[i].main->conn))
			return &cause->ends[i];
	}
	return NULL;
}

/* ---- what the model learnt ---- */

static void learn_conn(struct report *report, const struct model_conn *conn)
{
	struct array conns = conns_of(report);
	struct report_conn *entry;

	/* Only its events came yet: nobody could say which connection it is. */
	if (!conn || !conn->id.head.type)
		return;
	entry = upsert(&conns, &conn->number);
	report->conns = conns.entries;
	report->conn_count = conns.count;
	entry->id = conn->id;
	entry->totals = conn->totals;
	entry->peer = conn->peer;
	if (!conn->closed || entry->closed)
		return;
	entry->closed = true;
	entry->closing = ++report->closings;
	report->closed_count++;
}

static struct array threads_of(const struct report *report)
{
	return (struct array){report->threads, report->thread_count, sizeof(*report->threads),
			      compare_thread};
}

/* Threads may have been known before their process. */
static void pass_role(struct report *report, const struct model_process *process)
{
	const struct array threads = threads_of(report);
	const struct report_thread first = {.pid = process->pid};
	bool there;

	for (size_t i = place_of(&threads, &first, &there);
	     i < report->thread_count && report->threads[i].pid == process->pid; i++)
		report->threads[i].role = process->role;
}

static void learn_process(struct report *report, const struct model_process *process)
{
	struct array processes = processes_of(report);
	struct report_process *entry;

	if (!process)
		return;
	entry = upsert(&processes, &process->pid);
	report->processes = processes.entries;
	report->process_count = processes.count;
	entry->pid = process->pid;
	entry->ns_pid = process->ns_pid;
	entry->role = process->role;
	entry->master = process->master;
	memcpy(entry->container, process->container, NS_CONTAINER_LEN);
	entry->exited = process->exited;
	if (process->ended && !entry->ended)
		entry->ended = ++report->processes_ended;
	else if (!process->ended)
		entry->ended = 0;
	memcpy(entry->comm, process->comm, NS_COMM_LEN);
	pass_role(report, process);
}

/* The name of a process is that of its first thread. */
static void learn_name(struct report *report, const struct model_process *process)
{
	const struct array processes = processes_of(report);
	struct report_process *entry = find(&processes, &process->pid);

	if (entry)
		memcpy(entry->comm, process->comm, NS_COMM_LEN);
}

static void learn_thread(struct report *report, const struct model *model,
			 const struct model_thread *thread)
{
	struct array threads = threads_of(report);
	const struct model_process *process;
	struct report_thread key, *entry;

	if (!thread)
		return;
	memset(&key, 0, sizeof(key));
	key.pid = thread->tgid;
	key.tid = thread->tid;
	entry = upsert(&threads, &key);
	report->threads = threads.entries;
	report->thread_count = threads.count;
	process = model__process(model, thread->tgid);
	entry->pid = thread->tgid;
	entry->tid = thread->tid;
	entry->role = process ? process->role : 0;
	entry->voluntary = thread->totals.voluntary;
	entry->involuntary = thread->totals.involuntary;
	entry->on_cpu_ns = thread->totals.on_cpu_ns;
	entry->blocked_ns = thread->totals.blocked_ns;
	entry->runqueue_ns = thread->totals.runqueue_ns;
	entry->migrations = thread->totals.migrations;
	entry->wakes = thread->totals.wakes;
	entry->empty_wakes = thread->totals.empty_wakes;
	if (thread->ended && !entry->ended)
		entry->ended = ++report->threads_ended;
	else if (!thread->ended)
		entry->ended = 0;
	memcpy(entry->comm, thread->comm, NS_COMM_LEN);
	if (process && thread->tid == thread->tgid)
		learn_name(report, process);
}

static void learn_ring(struct report *report, const struct model_ring *ring)
{
	struct array rings = {report->rings, report->ring_count, sizeof(*report->rings),
			      compare_ring};
	struct report_ring *entry;

	if (!ring)
		return;
	entry = upsert(&rings, &ring->number);
	report->rings = rings.entries;
	report->ring_count = rings.count;
	entry->id = ring->id;
}

/* Most first; else in an order that does not depend on which came first. */
static bool goes_before(const struct report_failed *a, const struct report_failed *b)
{
	int by_address = memcmp(a->addr, b->addr, sizeof(a->addr));

	if (a->count != b->count)
		return a->count > b->count;
	if (a->error != b->error)
		return a->error > b->error;
	return by_address ? by_address < 0 : a->port < b->port;
}

static void learn_failed(struct report *report, const struct ns_failed *failed)
{
	struct report_failed *entry = report->failed, *end = entry + report->failed_count;

	while (entry < end && (entry->error != failed->error || entry->family != failed->family ||
			       entry->port != failed->rport ||
			       memcmp(entry->addr, failed->raddr, sizeof(entry->addr))))
		entry++;
	if (entry == report->failed + REPORT_FAILED) {
		report->failed_not_kept++;
		return;
	}
	if (entry == end) {
		report->failed_count++;
		*entry = (struct report_failed){
			.error = failed->error, .family = failed->family, .port = failed->rport};
		memcpy(entry->addr, failed->raddr, sizeof(entry->addr));
	}
	if (failed->head.ts >= entry->last_ts) {
		entry->last_ts = failed->head.ts;
		entry->pid = failed->head.tgid;
	}
	entry->count++;
	entry->total_ns += failed->head.ts - failed->began_ts;
	for (; entry > report->failed && goes_before(entry, entry - 1); entry--) {
		struct report_failed other = entry[-1];

		entry[-1] = *entry;
		*entry = other;
	}
}

static void learn_mark(struct report *report, const struct ns_marked *mark)
{
	struct report_mark *entry;

	if (report->mark_count == REPORT_MARKS) {
		report->marks_not_kept++;
		return;
	}
	entry = &report->marks[report->mark_count++];
	entry->ts = mark->head.ts;
	memcpy(entry->text, mark->text, sizeof(entry->text));
}

void report__count_at_mark(struct report *report, uint64_t start_ts, uint64_t stalls, uint64_t ns)
{
	struct report_mark *mark = report->marks + report->mark_count;

	while (mark > report->marks && mark[-1].ts > start_ts)
		mark--;
	if (mark == report->marks)
		return;
	mark[-1].stalls += stalls;
	mark[-1].stalled_ns += ns;
}

static void learn_listener(struct report *report, const struct ns_listener *listener)
{
	struct report_listener *entry = report->listeners, *end = entry + report->listener_count;

	if (!listener->drops)
		return;
	while (entry < end && entry->port != listener->listen_port)
		entry++;
	if (entry == report->listeners + REPORT_LISTENERS) {
		report->drops_not_kept += listener->drops;
		return;
	}
	if (entry == end) {
		report->listener_count++;
		*entry = (struct report_listener){.port = listener->listen_port};
	}
	if (listener->head.ts >= entry->last_ts) {
		entry->last_ts = listener->head.ts;
		entry->pid = listener->head.tgid;
		entry->backlog = listener->backlog_max;
		entry->somaxconn = listener->somaxconn;
	}
	entry->drops += listener->drops;
	/* Most first; else by port, not by which came first. */
	for (; entry > report->listeners &&
	       (entry->drops > entry[-1].drops ||
		(entry->drops == entry[-1].drops && entry->port < entry[-1].port));
	     entry--) {
		struct report_listener other = entry[-1];

		entry[-1] = *entry;
		*entry = other;
	}
}

void report__update(struct report *report, const struct model *model, const union record *record)
{
	const struct ns_head *head = &record->head;

	switch (head->type) {
	case NS_SESSION:
		report->session = record->session;
		break;
	case NS_PROCESS:
	case NS_EXIT:
		learn_process(report, model__process(model, head->tgid));
		break;
	case NS_CONN:
	case NS_CLOSE:
	case NS_CONN_TOTALS:
		learn_conn(report, model__conn(model, head->conn));
		break;
	case NS_PEER:
		learn_conn(report, model__conn(model, head->conn));
		learn_conn(report, model__conn(model, record->peer.peer));
		break;
	case NS_WAIT:
	case NS_THREAD_TOTALS:
		learn_thread(report, model, model__thread(model, head->tid));
		break;
	case NS_FAILED:
		learn_failed(report, &record->failed);
		break;
	case NS_LISTENER:
		learn_listener(report, &record->listener);
		break;
	case NS_REFUSED:
		if (record->refused.fact < NS_FACT_COUNT)
			report->refused[record->refused.fact] = record->refused;
		break;
	case NS_MARK:
		learn_mark(report, &record->mark);
		break;
	case NS_RING:
		learn_ring(report, model__ring(model, record->ring.ring));
		break;
	default:
		break;
	}
}

void report__free_entries(struct report *report)
{
	free(report->conns);
	free(report->services);
	free(report->processes);
	free(report->threads);
	free(report->rings);
	free(report->uring);
}

static const struct report_thread *find_thread(const struct report *report, uint32_t tid)
{
	for (size_t i = 0; i < report->thread_count; i++)
		if (report->threads[i].tid == tid)
			return &report->threads[i];
	return NULL;
}

const char *report__comm(const struct report *report, uint32_t pid, uint32_t tid)
{
	const struct report_thread *thread = tid ? find_thread(report, tid) : NULL;
	const struct report_process *process = pid ? report__process(report, pid) : NULL;

	if (thread && thread->comm[0])
		return thread->comm;
	if (process && process->comm[0])
		return process->comm;
	for (size_t i = 0; pid && i < report->conn_count; i++) {
		const struct ns_conn *conn = &report->conns[i].id;

		if (conn->head.tgid == pid && conn->comm[0])
			return conn->comm;
	}
	/* A process that was gone before anybody looked has told its name by its waits. */
	thread = pid ? find_thread(report, pid) : NULL;
	return thread && thread->comm[0] ? thread->comm : NULL;
}

const char *report__end_comm(const struct report *report, const struct report_conn *conn)
{
	const char *comm = report__comm(report, conn->id.head.tgid, 0);

	return comm || !conn->id.comm[0] ? comm : conn->id.comm;
}
