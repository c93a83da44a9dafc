// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/joined.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"

#define CONNS         1048576
#define PIDS          1048576
#define ALIKE         2 /* segments that two have in common are enough: it is chance once in 2^64 */
#define LEAST_OF_HALF 8 /* segments in each direction, for a drift, */
#define DRIFT_NS      10000000000ull /* which shows only in so long a time */
#define DRIFT_TIMES   8

struct conn {
	uint32_t number, other; /* of the other host; 0: it has none */
	uint32_t family, laddr[4], raddr[4], lport, rport;
	uint32_t likely, alike; /* one with so many of its segments */
	bool seen;              /* and the other one, when it is told who they are */
};

struct segment {
	uint64_t ts;
	uint32_t conn, seq, end, ack;
	bool received, again; /* there was another one like it */
};

struct host {
	FILE *in;
	struct recording *recording;
	struct table *conns; /* struct conn by number */
	struct table *pids;
	struct segment *segments;
	size_t segment_count, segment_room;
	uint32_t most_conn, most_ring, most_stack;
	struct ns_session session;
	/* What comes next, and the latest time by then, UINT64_MAX: it is over. */
	enum recording_gives gives;
	const void *next;
	size_t len;
	uint64_t next_ts;
	uint64_t upto_ts; /* it has told all up to then */
	uint64_t lost[NS_LOST_KINDS];
};

/* How far the second's clock is ahead, at a time of its own. */
struct clock {
	uint64_t at_ts;
	double offset_ns, drift; /* drift: ns for each ns */
};

struct joined {
	struct host hosts[2];
	struct joined_about about;
	struct clock clock;
	union record out, peer;
	bool has_peer; /* is to be given next */
};

static bool is_pid(const struct field *field)
{
	size_t length = strlen(field->name);

	return (length >= 3 && !strcmp(field->name + length - 3, "tid")) ||
	       (length >= 4 && !strcmp(field->name + length - 4, "tgid")) ||
	       !strcmp(field->name, "slept") || !strcmp(field->name, "master") ||
	       !strcmp(field->name, "ran0") || !strcmp(field->name, "ran1") ||
	       !strcmp(field->name, "ran2");
}

/* ---- what there is in each ---- */

static void learn_pid(struct host *host, uint32_t pid)
{
	static char known;

	if (pid && !table__get(host->pids, pid))
		table__put(host->pids, pid, &known);
}

static void learn_conn(struct host *host, const struct ns_conn *record)
{
	struct conn *conn = table__get(host->conns, record->head.conn);

	if (conn)
		return;
	conn = xcalloc(1, sizeof(*conn));
	*conn = (struct conn){.number = record->head.conn,
			      .family = record->family,
			      .lport = record->lport,
			      .rport = record->rport};
	memcpy(conn->laddr, record->laddr, sizeof(conn->laddr));
	memcpy(conn->raddr, record->raddr, sizeof(conn->raddr));
	if (!table__put(host->conns, conn->number, conn))
		free(conn);
}

static void learn_segment(struct host *host, const struct ns_segment *record)
{
	if (host->segment_count == JOINED_SEGMENTS)
		return;
	host->segments = xgrow(host->segments, host->segment_count, &host->segment_room,
			       sizeof(*host->segments));
	host->segments[host->segment_count++] =
		(struct segment){.ts = record->head.ts,
				 .conn = record->head.conn,
				 .seq = record->seq,
				 .end = record->end,
				 .ack = record->ack,
				 .received = record->head.type == NS_RX};
}

static void most(uint32_t *of, uint32_t number)
{
	if (number > *of)
		*of = number;
}

static void learn(struct host *host, const union record *record)
{
	const struct record_type *type = record_type__by_number(record->head.type);

	most(&host->most_conn, record->head.conn);
	learn_pid(host, record->head.tgid);
	learn_pid(host, record->head.tid);
	for (const struct field *field = type->fields; field->name; field++) {
		if (field->kind == FIELD_U32 && is_pid(field))
			learn_pid(host, (uint32_t)field__number(record, field));
		if (!strcmp(field->name, "ring"))
			most(&host->most_ring, (uint32_t)field__number(record, field));
	}
	switch (record->head.type) {
	case NS_SESSION:
		host->session = record->session;
		break;
	case NS_STACK:
		most(&host->most_stack, record->stack.id);
		break;
	case NS_CONN:
		learn_conn(host, &record->conn);
		break;
	case NS_TX:
	case NS_ACK:
	case NS_RX:
		learn_segment(host, &record->segment);
		break;
	default:
		break;
	}
}

/* NULL: fine. */
static const char *read_host(struct host *host)
{
	const char *why = NULL;
	struct recording *recording = recording__open(host->in, &why);
	enum recording_gives gives;
	union record record;
	const void *data;
	size_t len;

	if (!recording)
		return why;
	while ((gives = recording__next(recording, &data, &len)) != RECORDING_ENDS)
		if (gives == RECORDING_RECORD && !record__decode(data, len, &record))
			learn(host, &record);
	recording__free(recording);
	rewind(host->in);
	host->recording = recording__open(host->in, &why);
	return host->recording ? NULL : why;
}

/* ---- who is whose other end ---- */

static bool are_ends(const struct conn *a, const struct conn *b)
{
	return a->family == b->family && a->lport == b->rport && a->rport == b->lport &&
	       !memcmp(a->laddr, b->raddr, sizeof(a->laddr)) &&
	       !memcmp(a->raddr, b->laddr, sizeof(a->raddr));
}

static uint32_t hash_of_ends(const struct conn *conn, bool turned)
{
	const uint32_t *from = turned ? conn->raddr : conn->laddr;
	const uint32_t *to = turned ? conn->laddr : conn->raddr;
	uint32_t hash = turned ? conn->rport << 16 | conn->lport : conn->lport << 16 | conn->rport;

	for (unsigned i = 0; i < 4; i++)
		hash = (hash ^ from[i] ^ to[i] * 31) * 0x9e3779b1u;
	return hash;
}

/* Of several with the same addresses, one after the other, the first that is free. */
static void match_conns(struct joined *joined)
{
	struct table *by_ends = table__new(2 * CONNS);
	struct conn *conn, *other;
	size_t cursor = 0;
	uint32_t key;

	while ((conn = table__next(joined->hosts[0].conns, &cursor))) {
		for (key = hash_of_ends(conn, false); table__get(by_ends, key); key++)
			;
		table__put(by_ends, key, conn);
	}
	cursor = 0;
	while ((conn = table__next(joined->hosts[1].conns, &cursor))) {
		for (key = hash_of_ends(conn, true); (other = table__get(by_ends, key)); key++) {
			if (other->other || !are_ends(conn, other))
				continue;
			conn->other = other->number;
			other->other = conn->number;
			joined->about.connections++;
			break;
		}
	}
	table__free(by_ends, NULL);
}

static uint32_t hash_of_segment(const struct segment *segment, uint32_t conn, bool received)
{
	uint32_t hash = (conn * 2654435761u ^ segment->seq) * 0x9e3779b1u;

	hash = (hash ^ segment->end ^ segment->ack * 31) * 0x85ebca6bu;
	return hash ^ received;
}

static bool are_alike(const struct segment *a, const struct segment *b)
{
	return a->seq == b->seq && a->end == b->end && a->ack == b->ack;
}

/* One like it in a table of such, of that connection, or with 0 of any; else NULL, and *key is
 * free.
 */
static struct segment *find_alike(const struct table *table, const struct segment *segment,
				  uint32_t conn, bool received, uint32_t *key)
{
	struct segment *other;

	*key = hash_of_segment(segment, conn, received);
	for (; (other = table__get(table, *key)); ++*key)
		if ((!conn || other->conn == conn) && are_alike(other, segment) &&
		    other->received == received)
			return other;
	return NULL;
}

static struct conn *unmatched(struct host *host, const struct segment *segment)
{
	struct conn *conn = table__get(host->conns, segment->conn);

	return conn && !conn->other ? conn : NULL;
}

static void join_likely(struct joined *joined, struct conn *conn, const struct segment *segment)
{
	struct conn *other = unmatched(&joined->hosts[0], segment);

	if (!other)
		return;
	if (conn->likely != other->number)
		conn->alike = 0;
	conn->likely = other->number;
	if (++conn->alike < ALIKE)
		return;
	conn->other = other->number;
	other->other = conn->number;
	joined->about.connections++;
	joined->about.translated++;
}

/*
 * Address translation on the way changes addresses and ports, and leaves sequence numbers, which
 * begin by chance (RFC 9293, 3.4.1): who has received what the other has sent is its other end.
 */
static void match_translated(struct joined *joined)
{
	struct host *first = &joined->hosts[0], *second = &joined->hosts[1];
	struct table *table = table__new(2 * JOINED_SEGMENTS);
	struct segment *other;
	struct conn *conn;
	uint32_t key;

	for (size_t i = 0; i < first->segment_count; i++) {
		struct segment *segment = &first->segments[i];

		if (!unmatched(first, segment))
			continue;
		if (!find_alike(table, segment, 0, segment->received, &key))
			table__put(table, key, segment);
	}
	for (size_t i = 0; table__count(table) && i < second->segment_count; i++) {
		const struct segment *segment = &second->segments[i];

		if (!(conn = unmatched(second, segment)))
			continue;
		other = find_alike(table, segment, 0, !segment->received, &key);
		if (other)
			join_likely(joined, conn, other);
	}
	table__free(table, NULL);
}

/* ---- the clocks ---- */

/* 0 for what is no time: the files may say anything. */
static int64_t as_ns(double ns)
{
	return ns > -9e18 && ns < 9e18 ? (int64_t)ns : 0;
}

/* A segment that both have seen, each by its own clock. */
struct trip {
	uint64_t first_ts, second_ts;
	bool there; /* from the first to the second */
};

struct trips {
	struct trip *v;
	size_t count, room;
	uint64_t begin_ts, end_ts; /* of the second's clock */
};

/* The least times that they took by both clocks, there and back. */
struct least {
	double there, back;
	uint64_t there_count, back_count;
	double at_sum; /* of the second's clock, since the begin */
};

static struct table *by_what_they_are(struct host *host)
{
	struct table *table = table__new(2 * JOINED_SEGMENTS);

	for (size_t i = 0; i < host->segment_count; i++) {
		struct segment *segment = &host->segments[i], *other;
		uint32_t key;

		other = find_alike(table, segment, segment->conn, segment->received, &key);
		if (other)
			other->again = true;
		else
			table__put(table, key, segment);
	}
	return table;
}

static void note_trip(struct trips *trips, const struct segment *first,
		      const struct segment *second)
{
	trips->v = xgrow(trips->v, trips->count, &trips->room, sizeof(*trips->v));
	trips->v[trips->count++] = (struct trip){first->ts, second->ts, second->received};
	if (second->ts < trips->begin_ts)
		trips->begin_ts = second->ts;
	if (second->ts > trips->end_ts)
		trips->end_ts = second->ts;
}

static struct trips find_trips(struct joined *joined)
{
	struct host *first = &joined->hosts[0], *second = &joined->hosts[1];
	struct table *sent = by_what_they_are(first), *of_second = by_what_they_are(second);
	struct trips trips = {.begin_ts = UINT64_MAX};

	for (size_t i = 0; i < second->segment_count; i++) {
		const struct segment *segment = &second->segments[i], *other;
		const struct conn *conn = table__get(second->conns, segment->conn);
		uint32_t number = conn ? conn->other : 0, key;

		if (!number || segment->again)
			continue;
		other = find_alike(sent, segment, number, !segment->received, &key);
		if (other && !other->again)
			note_trip(&trips, other, segment);
	}
	table__free(sent, NULL);
	table__free(of_second, NULL);
	return trips;
}

static void take_least(struct least *least, const struct trip *trip, double since, double took)
{
	least->at_sum += since;
	if (trip->there) {
		if (!least->there_count++ || took < least->there)
			least->there = took;
	} else if (!least->back_count++ || -took < least->back) {
		least->back = -took;
	}
}

/* Of all, and of either half, by a clock of the second that does not drift so. */
static void find_least(const struct trips *trips, double drift, struct least *all,
		       struct least halves[2])
{
	uint64_t middle_ts = trips->begin_ts + (trips->end_ts - trips->begin_ts) / 2;

	*all = halves[0] = halves[1] = (struct least){0};
	for (size_t i = 0; i < trips->count; i++) {
		const struct trip *trip = &trips->v[i];
		double since = (double)(trip->second_ts - trips->begin_ts);
		double took = (double)(int64_t)(trip->second_ts - trip->first_ts) - drift * since;

		take_least(all, trip, since, took);
		take_least(&halves[trip->second_ts > middle_ts], trip, since, took);
	}
}

static double offset_of(const struct least *least)
{
	return (least->there - least->back) / 2;
}

static double mean_of(const struct least *least)
{
	return least->at_sum / (double)(least->there_count + least->back_count);
}

static bool is_enough(const struct least *least)
{
	return least->there_count >= LEAST_OF_HALF && least->back_count >= LEAST_OF_HALF;
}

/* False: no segment was seen at both, in both directions. */
static bool compare_clocks(struct joined *joined)
{
	struct trips trips = find_trips(joined);
	struct joined_about *about = &joined->about;
	struct clock *clock = &joined->clock;
	struct least all = {0}, halves[2];

	/* A clock that drifts makes the least times of a half those of its ends: each time less so.
	 */
	for (unsigned times = 0; times < DRIFT_TIMES && trips.count; times++) {
		find_least(&trips, clock->drift, &all, halves);
		if (is_enough(&halves[0]) && is_enough(&halves[1]) &&
		    trips.end_ts - trips.begin_ts >= DRIFT_NS &&
		    mean_of(&halves[1]) > mean_of(&halves[0]))
			clock->drift += (offset_of(&halves[1]) - offset_of(&halves[0])) /
					(mean_of(&halves[1]) - mean_of(&halves[0]));
	}
	if (trips.count)
		find_least(&trips, clock->drift, &all, halves);
	about->there = all.there_count;
	about->back = all.back_count;
	clock->at_ts = trips.begin_ts;
	clock->offset_ns = offset_of(&all);
	about->offset_ns = as_ns(clock->offset_ns);
	about->drift_ns_s = as_ns(clock->drift * 1e9);
	if (all.there + all.back > 0)
		about->bound_ns = (uint64_t)as_ns((all.there + all.back) / 2);
	free(trips.v);
	return all.there_count && all.back_count;
}

static uint64_t on_first_clock(const struct joined *joined, uint64_t ts)
{
	const struct clock *clock = &joined->clock;
	double offset = clock->offset_ns + clock->drift * ((double)(int64_t)(ts - clock->at_ts));

	return ts ? ts - (uint64_t)as_ns(offset) : 0;
}

/* ---- the two as one ---- */

static uint32_t other_pid(const struct joined *joined, uint32_t pid)
{
	return pid && table__get(joined->hosts[0].pids, pid) ? pid + JOINED_PIDS : pid;
}

static uint32_t as_peer(uint32_t role)
{
	return role & NS_ROLE_TARGET ? (role & ~(uint32_t)NS_ROLE_TARGET) | NS_ROLE_PEER : role;
}

static void adopt_field(const struct joined *joined, union record *record,
			const struct field *field)
{
	const struct host *first = &joined->hosts[0];
	uint64_t number;

	if (field->kind == FIELD_STRING || field->kind == FIELD_ADDRESS)
		return;
	number = field__number(record, field);
	if (!number)
		return;
	if (field->kind == FIELD_TIME)
		number = on_first_clock(joined, number);
	else if (field->kind == FIELD_U32 && is_pid(field))
		number = other_pid(joined, (uint32_t)number);
	else if (!strcmp(field->name, "ring"))
		number += first->most_ring;
	else if (!strcmp(field->name, "stack_id") || !strcmp(field->name, "waker_stack_id"))
		number += first->most_stack;
	else
		return;
	field__set_number(record, field, number);
}

/* A record of the second as one of the first's. */
static void adopt(const struct joined *joined, union record *record)
{
	const struct record_type *type = record_type__by_number(record->head.type);
	const struct host *first = &joined->hosts[0];

	for (const struct field *field = type->fields; field->name; field++)
		adopt_field(joined, record, field);
	record->head.ts = on_first_clock(joined, record->head.ts);
	record->head.tgid = other_pid(joined, record->head.tgid);
	record->head.tid = other_pid(joined, record->head.tid);
	if (record->head.conn)
		record->head.conn += first->most_conn;
	switch (record->head.type) {
	case NS_PEER:
		record->peer.peer += first->most_conn;
		break;
	case NS_STACK:
		record->stack.id += first->most_stack;
		break;
	case NS_PROCESS:
		record->process.role = as_peer(record->process.role);
		break;
	case NS_CONN:
		record->conn.role = as_peer(record->conn.role);
		break;
	default:
		break;
	}
}

/* Both ends have been told: that they are those of one connection is told next. */
static void note_peers(struct joined *joined, unsigned which, uint32_t number)
{
	struct conn *conn = table__get(joined->hosts[which].conns, number), *other;

	if (!conn || !conn->other)
		return;
	conn->seen = true;
	other = table__get(joined->hosts[!which].conns, conn->other);
	if (!other || !other->seen)
		return;
	memset(&joined->peer, 0, sizeof(joined->peer));
	joined->peer.peer = (struct ns_peer){.head = {.type = NS_PEER,
						      .len = sizeof(struct ns_peer),
						      .ts = joined->out.head.ts,
						      .conn = which ? other->number : conn->number},
					     .peer = (which ? conn->number : other->number) +
						     joined->hosts[0].most_conn};
	joined->has_peer = true;
}

/* False: it is not told. */
static bool take(struct joined *joined, unsigned which)
{
	union record *record = &joined->out;
	uint32_t number = record->head.conn, type = record->head.type;

	/* What sums there are of the second's threads are of another time than the first's. */
	if (which && (type == NS_SESSION || type == NS_END || type == NS_THREAD_TOTALS))
		return false;
	if (which)
		adopt(joined, record);
	if (type == NS_CONN)
		note_peers(joined, which, number);
	if (type == NS_LOST && record->lost.kind < NS_LOST_KINDS) {
		joined->hosts[which].lost[record->lost.kind] = record->lost.count;
		record->lost.count += joined->hosts[!which].lost[record->lost.kind];
	}
	return true;
}

/* What is told ahead goes at once: by its own time it, and what follows, would wait for all that
 * the other host has. */
static void advance(struct joined *joined, unsigned which)
{
	struct host *host = &joined->hosts[which];
	const struct ns_head *head;
	uint64_t ts;

	host->gives = recording__next(host->recording, &host->next, &host->len);
	if (host->gives == RECORDING_ENDS) {
		host->next_ts = host->upto_ts = UINT64_MAX;
		return;
	}
	head = host->next;
	if (host->gives == RECORDING_RECORD && record__is_told_ahead(head->type))
		return;
	ts = which ? on_first_clock(joined, head->ts) : head->ts;
	if (ts > host->next_ts)
		host->next_ts = ts;
}

/* Time has passed up to there in both. */
static enum recording_gives idle(struct joined *joined, const void **record)
{
	uint64_t first_ts = joined->hosts[0].upto_ts, second_ts = joined->hosts[1].upto_ts;

	memset(&joined->out, 0, sizeof(joined->out));
	joined->out.head.ts = first_ts < second_ts ? first_ts : second_ts;
	*record = &joined->out;
	return RECORDING_IDLE;
}

enum recording_gives joined__next(struct joined *joined, const void **record, size_t *len)
{
	if (joined->has_peer) {
		joined->has_peer = false;
		*record = &joined->peer;
		*len = sizeof(struct ns_peer);
		return RECORDING_RECORD;
	}
	for (;;) {
		unsigned which = joined->hosts[1].next_ts < joined->hosts[0].next_ts;
		struct host *host = &joined->hosts[which];
		bool told = false;

		if (host->gives == RECORDING_ENDS)
			return RECORDING_ENDS;
		if (host->gives == RECORDING_IDLE) {
			host->upto_ts = host->next_ts;
			advance(joined, which);
			if (joined->hosts[!which].upto_ts)
				return idle(joined, record);
			continue;
		}
		told = !record__decode(host->next, host->len, &joined->out) && take(joined, which);
		advance(joined, which);
		if (!told)
			continue;
		*record = &joined->out;
		*len = joined->out.head.len;
		return RECORDING_RECORD;
	}
}

/* A window is opened at one nanosecond of one clock: no two begin alike. */
static bool are_one(const struct host *a, const struct host *b)
{
	return a->session.head.type && a->session.head.ts == b->session.head.ts &&
	       a->session.wall_offset_ns == b->session.wall_offset_ns &&
	       !strcmp(a->session.target, b->session.target);
}

struct joined *joined__open(FILE *first, FILE *second, const char **why)
{
	struct joined *joined = xcalloc(1, sizeof(*joined));

	*why = NULL;
	for (unsigned i = 0; i < 2 && !*why; i++) {
		struct host *host = &joined->hosts[i];

		host->in = i ? second : first;
		host->conns = table__new(CONNS);
		host->pids = table__new(PIDS);
		*why = read_host(host);
	}
	if (!*why && are_one(&joined->hosts[0], &joined->hosts[1]))
		*why = "both are one recording: give one of each host";
	if (!*why)
		match_conns(joined);
	if (!*why)
		match_translated(joined);
	if (!*why && !joined->about.connections)
		*why = "they have no connection in common";
	if (!*why && !compare_clocks(joined))
		*why = "no segment of their connections was seen on both: record both with --all";
	if (*why) {
		joined__free(joined);
		return NULL;
	}
	advance(joined, 0);
	advance(joined, 1);
	for (unsigned i = 0; i < 2; i++)
		snprintf(joined->about.hosts[i], sizeof(joined->about.hosts[i]), "%s",
			 recording__about(joined->hosts[i].recording)->host);
	return joined;
}

const struct joined_about *joined__about(const struct joined *joined)
{
	return &joined->about;
}

const struct recording_about *joined__recording(const struct joined *joined, unsigned which)
{
	return recording__about(joined->hosts[which].recording);
}

void joined__free(struct joined *joined)
{
	for (unsigned i = 0; i < 2; i++) {
		struct host *host = &joined->hosts[i];

		if (host->recording)
			recording__free(host->recording);
		table__free(host->conns, free);
		table__free(host->pids, NULL);
		free(host->segments);
	}
	free(joined);
}
