// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/tally.h"

#include <string.h>

#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/wait.h"

const struct ns_wait *stall__socket_wait(const struct stall *stall)
{
	for (size_t i = 0; i < stall->link_count; i++) {
		if (stall->links[i].cause == stall->cause && stall->links[i].wait.socket.family)
			return &stall->links[i].wait;
	}
	return &stall->wait;
}

bool stall__is_whole(const struct stall *stall)
{
	return stall->exact && !stall->missing && stall->confidence == CONFIDENCE_OBSERVED;
}

/*
 * A hold whose release was not seen is dated until the next sight of its socket, however long
 * after: perhaps it was over at once. One that still lasted when the window or the connection
 * closed was a stall by then; what TCP sent again, and a chain with its delayed ACK, prove
 * themselves.
 */
static bool end_is_a_guess(const struct stall *stall)
{
	return stall->held_bytes && !stall->exact && !stall->open && !stall->retrans.head.type &&
	       stall->cause != CAUSE_NAGLE_DELACK;
}

/*
 * The acknowledgement of a far peer came within what round trips explain (analyze/holds/nagle.c
 * calls it a delayed one else): all that can be seen of it was seen.
 */
static bool is_far_and_prompt(const struct stall *stall)
{
	uint32_t rtt_us = stall->hold.head.type ? stall->hold.min_rtt_us : 0;

	return stall->exact && !stall->peer && stall->ack.head.type && rtt_us &&
	       rtt_us != UINT32_MAX;
}

static bool has_connection(const struct stall *stall)
{
	if (stall->conn || stall->held_bytes || stall->retransmits)
		return true;
	for (size_t i = 0; i < stall->link_count; i++) {
		if (stall->links[i].wait.head.conn)
			return true;
	}
	return false;
}

bool stall__is_pace(const struct stall *stall)
{
	return stall->is_between && stall->cause == CAUSE_TIMER;
}

unsigned stall__traits(const struct stall *stall)
{
	bool unseen = (!stall->exact || stall->missing) && !is_far_and_prompt(stall);

	return (stall__is_whole(stall) ? STALL_WHOLE : 0) |
	       (end_is_a_guess(stall) ? STALL_END_GUESSED : 0) | (unseen ? STALL_PEER_UNSEEN : 0) |
	       (has_connection(stall) ? STALL_ON_CONN : 0) | (stall->held_bytes ? STALL_HELD : 0) |
	       (stall->is_between ? STALL_BETWEEN : 0) | (stall__is_pace(stall) ? STALL_PACE : 0);
}

struct stall_brief stall__brief(const struct stall *stall)
{
	return (struct stall_brief){.start_ts = stall->start_ts,
				    .ns = stall->end_ts - stall->start_ts,
				    .conn = stall->conn,
				    .cause = (uint16_t)stall->cause,
				    .traits = (uint16_t)stall__traits(stall)};
}

static void widen(struct range *range, uint64_t value, bool begins)
{
	if (begins || value < range->least)
		range->least = value;
	if (begins || value > range->most)
		range->most = value;
}

static void tally_writes(struct tally *tally, const struct stall *stall)
{
	const struct ns_send *first = &stall->first, *second = &stall->second;
	uint64_t held_at = second->head.type ? second->head.ts : stall->hold.head.ts;

	if (second->head.type) {
		bool begins = !tally->second_bytes.most;

		widen(&tally->second_bytes, second->bytes, begins);
		widen(&tally->joined, stall->joined, begins);
	}
	if (!first->head.type || held_at < first->head.ts)
		return;
	widen(&tally->gap_ns, held_at - first->head.ts, !tally->first_bytes.most);
	widen(&tally->first_bytes, first->bytes, !tally->first_bytes.most);
}

static uint64_t held_part(const struct stall *stall)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < stall->slice_count; i++)
		ns += stall->slices[i].cause == stall->cause ? stall->slices[i].ns : 0;
	return ns;
}

static void take_site(const char **had, const char *site)
{
	if (!*had)
		*had = site;
}

/*
 * The one that most of them have (Boyer and Moore's vote), if one has: the first of a process may
 * be copied before its interpreter was found.
 */
static bool elect_site(const char **had, uint32_t *votes, const char *site)
{
	if (!site)
		return false;
	if (*had && !strcmp(*had, site)) {
		++*votes;
		return false;
	}
	if (*had && *votes) {
		--*votes;
		return false;
	}
	*had = site;
	*votes = 1;
	return true;
}

/* Both are those of most stalls, by the second one, which was held. */
static void take_writes(struct tally *tally, const struct call_sites *sites)
{
	struct call_sites *had = &tally->sites;
	bool is_other = had->second_write && sites->second_write &&
			strcmp(had->second_write, sites->second_write);

	if (elect_site(&had->second_write, &tally->votes.write, sites->second_write) && is_other)
		had->first_write = sites->first_write;
	else if (!is_other)
		take_site(&had->first_write, sites->first_write);
}

static struct tally_place *place_at(struct tally *tally, const char *site)
{
	for (size_t i = 0; i < TALLY_PLACES; i++) {
		if (!tally->places[i].site)
			tally->places[i].site = site;
		if (!strcmp(tally->places[i].site, site))
			return &tally->places[i];
	}
	return NULL;
}

bool tally__serves_others(const struct tally *tally)
{
	return tally->cause == CAUSE_ACCEPT_QUEUE && tally->others_ns > tally->held_ns / 2;
}

/* The place with most of the time, but for one. */
static const struct tally_place *largest_place(const struct tally *tally, const char *but)
{
	const struct tally_place *best = NULL;

	for (size_t i = 0; i < TALLY_PLACES && tally->places[i].site; i++) {
		const struct tally_place *place = &tally->places[i];

		if (place->site != but && (!best || place->ns > best->ns))
			best = place;
	}
	return best;
}

/* Nearly all of what its stalls have in that call is at this place. */
static bool is_alone(const struct tally_place *place)
{
	return 5 * place->ns >= 4 * place->of_ns;
}

/* Do some of the stalls lie at the one place and some at the other, or is it where one of several
 * waits of each is? */
static bool is_now_here_now_there(const struct call_sites *sites, const struct tally_place *most,
				  const struct tally_place *besides)
{
	return is_alone(most) && is_alone(besides) && 10 * most->count < 9 * sites->wait_of_count;
}

/* The first of a process may be copied before its interpreter was found. */
static void take_wait(struct tally *tally, const struct call_sites *sites)
{
	struct call_sites *had = &tally->sites;
	const struct tally_place *most, *besides;
	struct tally_place *place;

	/* The longer the chain, the nearer to what it all waits for. */
	if (!sites->wait || (had->wait && sites->wait_link < had->wait_link))
		return;
	if (had->wait && sites->wait_link > had->wait_link) {
		memset(tally->places, 0, sizeof(tally->places));
		had->wait_of_ns = 0;
		had->wait_of_count = 0;
	}
	had->wait_of_ns += sites->wait_of_ns;
	had->wait_of_count += sites->wait_of_count;
	place = place_at(tally, sites->wait);
	if (!place)
		return;
	place->ns += sites->wait_ns;
	place->of_ns += sites->wait_of_ns;
	place->count += sites->wait_count ? sites->wait_count : sites->wait_of_count;
	most = largest_place(tally, NULL);
	besides = largest_place(tally, most->site);
	had->wait_ns = most->ns;
	had->wait_besides = NULL;
	had->wait_count = had->besides_count = 0;
	if (besides && 10 * besides->ns >= had->wait_of_ns) {
		had->wait_besides = besides->site;
		had->besides_ns = besides->ns;
		if (is_now_here_now_there(had, most, besides)) {
			had->wait_count = most->count;
			had->besides_count = besides->count;
		}
	}
	had->wait_link = sites->wait_link;
	if (had->wait && !strcmp(had->wait, most->site))
		return;
	had->wait = most->site;
	had->wait_pid = sites->wait_pid;
	had->wait_tid = sites->wait_tid;
	had->wait_call = sites->wait_call;
	had->lock = sites->lock;
}

void tally__take_sites(struct tally *tally, const struct call_sites *sites)
{
	take_writes(tally, sites);
	elect_site(&tally->sites.read, &tally->votes.read, sites->read);
	elect_site(&tally->sites.answer, &tally->votes.answer, sites->answer);
	take_wait(tally, sites);
	take_site(&tally->sites.lock, sites->lock);
	/* Of one it was known who had it, of another not. */
	if (tally->sites.wait && tally->sites.lock && !strcmp(tally->sites.wait, tally->sites.lock))
		tally->sites.wait = NULL;
	take_site(&tally->sites.release, sites->release);
	take_site(&tally->sites.busy, sites->busy);
	take_site(&tally->sites.computes, sites->computes);
}

void tally__take_looks(struct tally *tally, const struct stall *stall)
{
	struct call_sites *sites = &tally->sites;

	for (size_t i = 0; i < stall->sites.busy_count && sites->busy_count < SITE_LOOKS; i++)
		sites->busy_looks[sites->busy_count++] = stall->sites.busy_looks[i];
}

/* Chains of one link have no root behind the delayed thread itself. */
static void tally_root(struct tally *tally, const struct stall *stall)
{
	const struct stall_link *last;

	if (stall->link_count < 2)
		return;
	last = &stall->links[stall->link_count - 1];
	for (size_t i = 0; i < TALLY_ROOTS; i++) {
		struct tally_root *root = &tally->roots[i];

		if (!root->count)
			*root = (struct tally_root){.cause = last->cause,
						    .tid = last->wait.head.tid,
						    .syscall = last->wait.syscall};
		if (root->cause == last->cause && root->tid == last->wait.head.tid &&
		    root->syscall == last->wait.syscall) {
			root->count++;
			return;
		}
	}
}

static bool is_server(const struct tally_server *server, const struct ns_socket *socket)
{
	return server->family == socket->family && server->port == socket->rport &&
	       !memcmp(server->addr, socket->raddr, sizeof(server->addr));
}

static void tally_in_turn(struct tally_in_turn *in_turn, const struct ns_wait *wait)
{
	const struct ns_socket *socket = &wait->socket;

	if (in_turn->lport == socket->lport && socket->asked_ts >= in_turn->answered_ts &&
	    socket->asked_ts - in_turn->answered_ts < WAIT_AT_ONCE_NS)
		in_turn->count++;
	in_turn->lport = socket->is_ready ? socket->lport : 0;
	in_turn->answered_ts = wait->head.ts;
}

/* Of a stall that was for an answer: a wait for a CPU may have been at a socket as well. */
static void tally_server(struct tally *tally, const struct stall *stall)
{
	const struct ns_wait *wait = stall__socket_wait(stall);
	const struct ns_socket *socket = &wait->socket;
	uint64_t ns = held_part(stall);

	if (!socket__is_udp(socket) || (stall->cause != CAUSE_UDP && stall->cause != CAUSE_DNS))
		return;
	tally_in_turn(&tally->in_turn, wait);
	for (size_t i = 0; i < TALLY_SERVERS; i++) {
		struct tally_server *server = &tally->servers[i];

		if (!server->family) {
			server->family = socket->family;
			server->port = socket->rport;
			memcpy(server->addr, socket->raddr, sizeof(server->addr));
		}
		if (!is_server(server, socket))
			continue;
		/* The window ended before it could. */
		if (wait__goes_on(wait) && server->answered &&
		    ns <= 2 * server->answered_ns / server->answered)
			return;
		*(socket->is_ready ? &server->answered : &server->unanswered) += 1;
		*(socket->is_ready ? &server->answered_ns : &server->unanswered_ns) += ns;
		return;
	}
}

const struct tally_server *tally__server(const struct tally *tally)
{
	const struct tally_server *most = NULL;

	for (size_t i = 0; i < TALLY_SERVERS && tally->servers[i].family; i++) {
		const struct tally_server *server = &tally->servers[i];

		if (!most || server->answered_ns + server->unanswered_ns >
				     most->answered_ns + most->unanswered_ns)
			most = server;
	}
	return most;
}

bool tally__is_unanswered(const struct tally *tally)
{
	const struct tally_server *server = tally__server(tally);

	return server && server->unanswered_ns > server->answered_ns;
}

/* It is of those that took most of the time; true too of all that sent no datagram. */
static bool is_typical(const struct tally *tally, const struct stall *stall)
{
	const struct tally_server *server = tally__server(tally);
	const struct ns_socket *socket = &stall__socket_wait(stall)->socket;

	return !server || !socket__is_udp(socket) ||
	       (is_server(server, socket) && !socket->is_ready == tally__is_unanswered(tally));
}

/* Of a thread that is watched only from this stall on, not all was seen. */
static void add_path(struct tally *tally, const struct path *path, uint32_t stalls, bool whole)
{
	if (tally->path_is_whole && !whole)
		return;
	if (!tally->path_is_whole && whole) {
		tally->path.count = 0;
		tally->followed = 0;
	}
	path__merge(&tally->path, path);
	tally->path_is_whole = whole;
	tally->followed += stalls;
}

/* A whole one, and of these one whose chain goes further back: it tells more. */
static bool is_better_example(const struct tally *tally, const struct stall *stall)
{
	if (!tally->count || (stall__is_whole(stall) && !tally->whole))
		return true;
	return stall__is_whole(stall) >= stall__is_whole(&tally->example) &&
	       stall->link_count > tally->example.link_count;
}

void stall_reader__add(struct stall_reader *sum, const struct stall_reader *reader)
{
	if (!reader->seen)
		return;
	/* The name and deed are those of one with most of it. */
	if (!sum->seen || 2 * reader->away_ns > sum->away_ns) {
		sum->pid = reader->pid;
		sum->tid = reader->tid;
		sum->away = reader->away;
	}
	sum->seen = true;
	sum->waited_ns += reader->waited_ns;
	sum->ran_ns += reader->ran_ns;
	sum->away_ns += reader->away_ns;
}

/*
 * Stalls of no connection are those of any thread: the example is of the one that stalled longest.
 * Whoever has more than half of the time is found with one sum.
 */
static bool is_of_longer_thread(struct tally *tally, const struct stall *stall)
{
	uint64_t ns = stall->end_ts - stall->start_ts;

	if (stall->tid == tally->example.tid) {
		tally->lead_ns += ns;
		return is_better_example(tally, stall);
	}
	if (tally->lead_ns >= ns) {
		tally->lead_ns -= ns;
		return false;
	}
	tally->lead_ns = ns - tally->lead_ns;
	return true;
}

static bool is_to_be_example(struct tally *tally, const struct stall *stall)
{
	if (is_typical(tally, stall) != is_typical(tally, &tally->example))
		return is_typical(tally, stall);
	return stall->conn ? is_better_example(tally, stall) : is_of_longer_thread(tally, stall);
}

void tally__add(struct tally *tally, const struct stall *stall)
{
	tally_server(tally, stall);
	if (is_to_be_example(tally, stall)) {
		tally->example = *stall;
		tally->example.steps = NULL;
		tally->example.step_count = 0;
	}
	tally->cause = stall->cause;
	tally->is_pace = stall__is_pace(stall);
	tally->conn = stall->conn;
	tally->count++;
	tally->inferred += stall->confidence == CONFIDENCE_INFERRED;
	tally->by_data += stall->ack.head.type && stall->ack.seq != stall->ack.end;
	tally->total_ns += stall->end_ts - stall->start_ts;
	tally->others += stall->others;
	tally->others_ns += stall->others_ns;
	tally->held_ns += held_part(stall);
	if (held_part(stall) > tally->held_most_ns)
		tally->held_most_ns = held_part(stall);
	add_path(tally, &stall->path, 1, stall__is_whole(stall) && path__is_seen(&stall->path));
	tally->whole += stall__is_whole(stall);
	tally__take_sites(tally, &stall->sites);
	tally_root(tally, stall);
	stall_reader__add(&tally->reader, &stall->reader);
	tally_writes(tally, stall);
}

void tally__join(struct tally *tally, const struct tally *other)
{
	add_path(tally, &other->path, other->followed, other->path_is_whole);
	stall_reader__add(&tally->reader, &other->reader);
}

void tally__extend(struct tally *tally, const struct stall *more)
{
	tally->total_ns += more->end_ts - more->start_ts;
	tally->held_ns += held_part(more);
	tally->held_most_ns += held_part(more);
	stall_reader__add(&tally->reader, &more->reader);
}
