// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The report and single records as JSON; docs/report-schema.json describes both. */
#include <stdlib.h>

#include "bpf/times.h"
#include "user/analyze/conns.h"
#include "user/analyze/tally.h"
#include "user/base/xalloc.h"
#include "user/record/facts.h"
#include "user/record/losses.h"
#include "user/render/json/json_values.h"
#include "user/render/render.h"
#include "user/render/words/names.h"

#define REPORT_SCHEMA "netstall.report/1"
#define EVENT_SCHEMA  "netstall.event/1"

#define CONNS_WORST 100 /* listed, with both their ends */

static const char *role_name(uint32_t role)
{
	if (role & NS_ROLE_TARGET)
		return "target";
	return role & NS_ROLE_PEER ? "peer" : role & NS_ROLE_CHAIN ? "chain" : "target";
}

static json_t *tool_of(const struct report *report)
{
	const struct ns_session *session = &report->session;
	json_t *tool = json_object();

	put(tool, "version", json_string(NETSTALL_VERSION));
	put(tool, "backend", json_value__name(session->way, sizeof(session->way)));
	put(tool, "kernel", json_value__name(session->kernel, sizeof(session->kernel)));
	put(tool, "arch", json_value__name(session->arch, sizeof(session->arch)));
	return tool;
}

static json_t *process_of(const struct report_process *process)
{
	json_t *object = json_object();

	put(object, "pid", json_value__count(process->pid));
	put(object, "namespace_pid", json_value__number_or_null(process->ns_pid, 0));
	put(object, "comm", json_value__name(process->comm, NS_COMM_LEN));
	put(object, "role", json_string(role_name(process->role)));
	put(object, "container",
	    process->container[0] ? json_value__name(process->container, NS_CONTAINER_LEN)
				  : json_null());
	put(object, "exited", json_boolean(process->exited));
	return object;
}

static json_t *target_of(const struct report *report)
{
	const struct ns_session *session = &report->session;
	json_t *target = json_object();

	put(target, "description", json_value__name(session->target, sizeof(session->target)));
	put(target, "threshold_ms", json_value__ms(session->threshold_ns));
	put_each(target, "processes", i, report->process_count, process_of(&report->processes[i]));
	return target;
}

json_t *json_value__window(uint64_t start_ts, uint64_t end_ts, int64_t wall_offset_ns)
{
	json_t *window = json_object();

	put(window, "duration_ms", json_value__ms(end_ts - start_ts));
	put(window, "monotonic_start_ms", json_value__ms(start_ts));
	put(window, "wall_offset_ms", json_real((double)wall_offset_ns / 1e6));
	return window;
}

static json_t *window_of(const struct report *report)
{
	json_t *object = json_value__window(report->start_ts, report->end_ts,
					    (int64_t)report->session.wall_offset_ns);

	if (report->interim)
		put(object, "interim", json_true());
	return object;
}

/* An empty list is left out. */
static void put_some(json_t *object, const char *key, json_t *array)
{
	if (json_array_size(array))
		put(object, key, array);
	else
		json_decref(array);
}

/* Of the missing facts, those that a refused program would have given. */
static json_t *refused_of(const struct report *report)
{
	json_t *refused = json_array();

	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		const struct ns_refused *one = &report->refused[fact];
		json_t *object;
		char *why;

		if (!one->head.type)
			continue;
		object = json_object();
		why = fact__refusal_text(one);
		put(object, "fact", json_string(fact__row(fact)->id));
		put(object, "program", json_value__name(one->program, NS_REFUSED_LEN));
		put(object, "why", json_value__text(why));
		json_array_append_new(refused, object);
		free(why);
	}
	return refused;
}

static json_t *completeness_of(const struct report *report)
{
	json_t *object = json_object(), *by_kind, *missing;

	put(object, "events", json_value__count(report->events));
	put(object, "lost", json_value__count(losses__events(report->lost)));
	by_kind = put_object(object, "lost_by_kind");
	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++) {
		if (loss_kind(kind) && report->lost[kind])
			put(by_kind, loss_kind(kind)->id, json_value__count(report->lost[kind]));
	}
	put(object, "sockets", json_value__count(report->conn_count + report->past.ends));
	put(object, "stalls_not_kept", json_value__count(report->stalls_not_kept));
	if (report->past.ends)
		put(object, "connections_not_kept", json_value__count(report->past.ends));
	if (report->past_without_end)
		put(object, "connections_without_endpoint",
		    json_value__count(report->past_without_end));
	if (report->processes_not_kept)
		put(object, "processes_not_kept", json_value__count(report->processes_not_kept));
	if (report->threads_not_kept)
		put(object, "threads_not_kept", json_value__count(report->threads_not_kept));
	if (report->failed_not_kept)
		put(object, "failed_connects_not_kept", json_value__count(report->failed_not_kept));
	if (report->unanswered_count) {
		put(object, "unanswered_requests", json_value__count(report->unanswered_count));
		put(object, "unanswered_median_ms", json_value__ms(report->unanswered_ns));
	}
	if (report->open_count > REPORT_OPEN)
		put(object, "open_requests_not_kept",
		    json_value__count(report->open_count - REPORT_OPEN));
	if (report->drops_not_kept)
		put(object, "listen_queue_drops_not_kept",
		    json_value__count(report->drops_not_kept));
	missing = json_array();
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++)
		if (report->session.missing & 1u << fact)
			json_array_append_new(missing, json_string(fact__row(fact)->id));
	put(object, "missing", missing);
	put_some(object, "refused", refused_of(report));
	put(object, "complete", json_boolean(report->complete));
	if (!report->complete)
		put(object, "incomplete_ms", json_value__ms(report->blind_ns));
	return object;
}

json_t *json_value__thread(const struct report_thread *thread)
{
	json_t *object = json_object();

	put(object, "pid", json_value__count(thread->pid));
	put(object, "tid", json_value__count(thread->tid));
	put(object, "comm", json_value__name(thread->comm, NS_COMM_LEN));
	put(object, "role", json_string(role_name(thread->role)));
	put(object, "on_cpu_ms", json_value__ms(thread->on_cpu_ns));
	put(object, "blocked_ms", json_value__ms(thread->blocked_ns));
	put(object, "runqueue_ms", json_value__ms(thread->runqueue_ns));
	put(object, "switches",
	    json_value__count((uint64_t)thread->voluntary + thread->involuntary));
	put(object, "voluntary", json_value__count(thread->voluntary));
	put(object, "involuntary", json_value__count(thread->involuntary));
	put(object, "migrations", json_value__count(thread->migrations));
	put(object, "wakes", json_value__count(thread->wakes));
	put(object, "empty_wakes", json_value__count(thread->empty_wakes));
	return object;
}

static const char *opener_name(uint32_t opener)
{
	return opener == NS_OPENER_SELF ? "self" : opener == NS_OPENER_PEER ? "peer" : NULL;
}

static void set_retransmitted(json_t *object, const struct ns_conn_totals *totals)
{
	static const char *const kinds[NS_RETRANS_KINDS] = {
		[NS_RETRANS_UNKNOWN] = "unknown",
		[NS_RETRANS_RTO] = "rto",
		[NS_RETRANS_TLP] = "tlp",
		[NS_RETRANS_FAST] = "fast-retransmit",
		[NS_RETRANS_SYN] = "syn-retransmit",
	};
	json_t *by_kind;

	put(object, "retransmitted", json_value__count(totals->retrans));
	by_kind = put_object(object, "retransmitted_by");
	for (uint32_t kind = 0; kind < NS_RETRANS_KINDS; kind++)
		if (totals->retrans_by[kind] > 0)
			put(by_kind, kinds[kind], json_value__count(totals->retrans_by[kind]));
}

/* Signs of the program's habits, and of the path. */
static void set_habits(json_t *object, const struct ns_conn_totals *totals)
{
	put(object, "exchanges", json_value__count(totals->exchanges));
	put(object, "small_writes", json_value__count(totals->small_writes));
	put(object, "close_writes", json_value__count(totals->close_writes));
	put(object, "mss", json_value__number_or_null(totals->mss, 0));
	put(object, "srtt_ms", json_value__ms_or_null(1000ull * totals->srtt_us));
	put(object, "min_rtt_ms", json_value__ms_or_null(1000ull * totals->min_rtt_us));
}

static void set_totals(json_t *object, const struct ns_conn_totals *totals)
{
	json_t *held, *limited, *delacks;

	put(object, "writes", json_value__count(totals->writes));
	put(object, "reads", json_value__count(totals->reads));
	put(object, "segments_out", json_value__count(totals->segs_out));
	put(object, "data_segments_out", json_value__count(totals->data_segs_out));
	put(object, "segments_in", json_value__count(totals->segs_in));
	put(object, "bytes_out", json_value__count(totals->bytes_out));
	put(object, "bytes_in", json_value__count(totals->bytes_in));
	set_retransmitted(object, totals);
	held = put_object(object, "held");
	for (uint32_t reason = 0; reason < NS_HOLD_REASONS; reason++)
		if (totals->holds[reason] > 0)
			put(held, hold_reason__name(reason),
			    json_value__count(totals->holds[reason]));
	limited = put_object(object, "limited_ms");
	put(limited, "rwnd", json_value__ms(totals->limited_ns[NS_LIMIT_RWND]));
	put(limited, "sndbuf", json_value__ms(totals->limited_ns[NS_LIMIT_SNDBUF]));
	delacks = put_object(object, "delayed_acks");
	put(delacks, "armed", json_value__count(totals->delack_armed));
	put(delacks, "fired", json_value__count(totals->delack_fired));
}

static json_t *conn_of(const struct report *report, const struct report_conn *conn)
{
	const struct report_conn *peer = report__peer(report, conn);
	const struct ns_conn *id = &conn->id;
	json_t *object = json_object();

	put(object, "id", json_value__count(id->head.conn));
	put(object, "pid", json_value__number_or_null(id->head.tgid, 0));
	put(object, "comm", json_value__name(id->comm, NS_COMM_LEN));
	put(object, "role", json_string(role_name(id->role)));
	put(object, "fd", json_value__number_or_null(id->fd, NS_FD_UNKNOWN));
	put(object, "local", json_value__address(id->family, id->laddr, id->lport));
	put(object, "remote", json_value__address(id->family, id->raddr, id->rport));
	put(object, "peer", json_value__number_or_null(conn->peer, 0));
	put(object, "peer_pid", json_value__number_or_null(peer ? peer->id.head.tgid : 0, 0));
	put(object, "opener", json_value__text(opener_name(id->opener)));
	put(object, "closed", json_boolean(conn->closed));
	set_totals(object, &conn->totals);
	set_habits(object, &conn->totals);
	return object;
}

/* By their places in the report. */
static bool *choose_worst(const struct report *report)
{
	struct conn_rank *ranks = xcalloc(report->conn_count + 1, sizeof(*ranks));
	bool *chosen = xcalloc(report->conn_count + 1, sizeof(*chosen));
	size_t count = conns__rank(report, ranks);

	for (size_t i = 0; i < count && i < CONNS_WORST; i++) {
		const struct report_conn *peer = report__peer(report, ranks[i].conn);

		chosen[ranks[i].conn - report->conns] = true;
		if (peer)
			chosen[peer - report->conns] = true;
	}
	free(ranks);
	return chosen;
}

static void put_connections(struct json_stream *stream, const struct report *report,
			    enum render_connections connections)
{
	bool *chosen = connections == CONNECTIONS_EACH ? NULL : choose_worst(report);
	uint64_t listed = 0;

	json_stream__array(stream, "connections");
	for (size_t i = 0; i < report->conn_count; i++) {
		if (chosen && !chosen[i])
			continue;
		json_stream__add(stream, conn_of(report, &report->conns[i]));
		listed++;
	}
	json_stream__close(stream);
	json_stream__put(stream, "connections_not_listed",
			 json_value__count(report->conn_count + report->past.ends - listed));
	free(chosen);
}

static json_t *ends_of(const struct report_cause *cause)
{
	json_t *ends = json_array();

	for (size_t i = 0; i < cause->end_count; i++) {
		const struct cause_end *at = &cause->ends[i];
		json_t *object = json_object();

		put(object, "connection", json_value__count(at->main->conn));
		put(object, "connections", json_value__count(at->conns));
		put(object, "count", json_value__count(at->count));
		put(object, "total_ms", json_value__ms(at->total_ns));
		put(object, "p50_ms", json_value__ms(at->p50_ns));
		json_array_append_new(ends, object);
	}
	return ends;
}

json_t *json_value__cause(const struct report_cause *cause)
{
	json_t *object = json_object();

	put(object, "cause", json_string(cause__info(cause->cause)->id));
	put(object, "count", json_value__count(cause->count));
	put(object, "total_ms", json_value__ms(cause->total_ns));
	put(object, "p50_ms", json_value__ms(cause->p50_ns));
	put(object, "p99_ms", json_value__ms(cause->p99_ns));
	put(object, "max_ms", json_value__ms(cause->max_ns));
	put(object, "share", json_value__share(cause->share));
	if (cause->is_pace)
		put(object, "pace", json_true());
	if (cause->in_requests_share < cause->share)
		put(object, "share_in_requests", json_value__share(cause->in_requests_share));
	if (cause->slow_ns)
		put(object, "slow_requests_ms", json_value__ms(cause->slow_ns));
	if (cause->requests)
		put(object, "requests", json_value__count(cause->requests));
	if (cause->end_count)
		put(object, "endpoints", ends_of(cause));
	return object;
}

static json_t *saving_at(const struct verdict *verdict, size_t i)
{
	json_t *object = json_object();

	put(object, "saves_ms", json_value__ms(verdict->places[i].saves_ns));
	put(object, "stalls", json_value__count(verdict->places[i].stalls));
	return object;
}

json_t *json_value__verdict(const struct report *report, const struct verdict *verdict)
{
	const struct report_cause *cause =
		verdict->found ? report__cause(report, verdict->cause) : NULL;
	const struct stall *example = cause ? report__example(report, cause->cause, 0) : NULL;
	json_t *object = json_object();

	put(object, "cause",
	    verdict->found ? json_string(cause__info(verdict->cause)->id) : json_null());
	put(object, "share", json_value__share(cause ? cause->share : 0));
	put(object, "saves_ms", json_value__ms(verdict->saves_ns));
	put(object, "saves_of_ms", json_value__ms(verdict->saves_of_ns));
	if (verdict->place_count)
		put_each(object, "saves_at", i, verdict->place_count, saving_at(verdict, i));
	put(object, "parts", json_value__parts(report, verdict->path));
	put(object, "headline", json_value__text(verdict->headline));
	put(object, "title", json_value__text(verdict->title));
	put(object, "text", json_value__text(verdict->text));
	put(object, "example", example ? json_value__count(example->number) : json_null());
	put(object, "sites", json_value__sites(&verdict->sites));
	put_each(object, "advice", i, verdict->advice_count, json_value__text(verdict->advice[i]));
	put(object, "evidence", json_value__text(verdict->evidence));
	return object;
}

static json_t *failed_of(const struct report_failed *failed)
{
	json_t *object = json_object();

	put(object, "remote", json_value__address(failed->family, failed->addr, failed->port));
	put(object, "error", failed->error ? json_string(error_text(failed->error)) : json_null());
	put(object, "count", json_value__count(failed->count));
	put(object, "total_ms", json_value__ms(failed->total_ns));
	put(object, "pid", json_value__number_or_null(failed->pid, 0));
	return object;
}

static json_t *listener_of(const struct report_listener *listener)
{
	json_t *object = json_object();

	put(object, "port", json_value__number_or_null(listener->port, 0));
	put(object, "dropped", json_value__count(listener->drops));
	put(object, "backlog", json_value__count(listener->backlog));
	put(object, "somaxconn", json_value__number_or_null(listener->somaxconn, 0));
	put(object, "pid", json_value__number_or_null(listener->pid, 0));
	return object;
}

json_t *json_value__mark(const struct report *report, const struct report_mark *mark)
{
	json_t *object = json_object();

	put(object, "text", json_value__name(mark->text, sizeof(mark->text)));
	put(object, "at_ms", json_value__ms(ns_passed(report->start_ts, mark->ts)));
	put(object, "stalls", json_value__count(mark->stalls));
	put(object, "stalled_ms", json_value__ms(mark->stalled_ns));
	return object;
}

void json_value__report(struct json_stream *stream, const struct report *report,
			const struct verdict *verdict, enum render_connections connections)
{
	json_stream__put(stream, "schema", json_string(REPORT_SCHEMA));
	json_stream__put(stream, "tool", tool_of(report));
	json_stream__put(stream, "target", target_of(report));
	json_stream__put(stream, "window", window_of(report));
	json_stream__put(stream, "completeness", completeness_of(report));
	json_stream__each(stream, "threads", i, report->thread_count,
			  json_value__thread(&report->threads[i]));
	put_connections(stream, report, connections);
	json_stream__put(stream, "uring", json_value__operations(report));
	json_stream__each(stream, "stalls", i, report->stall_count,
			  json_value__stall(report, &report->stalls[i]));
	json_stream__each(stream, "causes", i, report->cause_count,
			  json_value__cause(&report->causes[i]));
	json_stream__put(stream, "waited", json_value__waited(report));
	json_stream__each(stream, "requests", i, report->requests_count,
			  json_value__requests(&report->requests[i]));
	if (report->session.machine) {
		json_stream__each(stream, "processes", i, report->program_count,
				  json_value__program(report, &report->programs[i]));
		json_stream__put(stream, "processes_not_listed",
				 json_value__count(report->programs_not_listed));
	}
	if (report->open_count)
		json_stream__each(stream, "open_requests", i,
				  report->open_count < REPORT_OPEN ? report->open_count
								   : REPORT_OPEN,
				  json_value__open(&report->open[i]));
	json_stream__each(stream, "failed_connects", i, report->failed_count,
			  failed_of(&report->failed[i]));
	json_stream__each(stream, "full_listen_queues", i, report->listener_count,
			  listener_of(&report->listeners[i]));
	if (report->mark_count)
		json_stream__each(stream, "marks", i, report->mark_count,
				  json_value__mark(report, &report->marks[i]));
	json_stream__each(stream, "habits", i, report->habit_count,
			  json_value__habit(report, &report->habits[i]));
	json_stream__put(stream, "verdict", json_value__verdict(report, verdict));
}

void render__json(FILE *out, const struct report *report, const struct verdict *verdict, int indent,
		  enum render_connections connections)
{
	struct json_stream stream;

	json_stream__begin(&stream, out, indent);
	json_value__report(&stream, report, verdict, connections);
	json_stream__end(&stream);
}

static json_t *event_of(const struct report *report, const union record *record)
{
	json_t *object = json_object();

	put(object, "schema", json_string(EVENT_SCHEMA));
	json_value__record(object, report, record);
	return object;
}

void render__json_record(FILE *out, const struct report *report, const union record *record)
{
	json_value__begin();
	json_value__dump(out, event_of(report, record), 0);
}

void render__json_stall(FILE *out, const struct report *report, const struct stall *stall)
{
	json_t *line;

	json_value__begin();
	line = json_object();
	put(line, "schema", json_string(EVENT_SCHEMA));
	put(line, "t_ms", json_value__time(report, stall->end_ts));
	put(line, "event", json_string("stall"));
	put(line, "stall", json_value__stall(report, stall));
	json_value__dump(out, line, 0);
}
