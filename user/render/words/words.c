// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The table of records: whose act each is, what it is, and who has the other words for it. */
#include <stdio.h>
#include <string.h>

#include "user/render/words/words_parts.h"

enum whose { UNKNOWN, NOBODY, NETSTALL, THREAD, PROCESS, TCP };

static const struct {
	enum whose whose; /* the actor, where the function does not name another */
	const char *what;
	words_fn *describe; /* NULL: that is all */
} table[NS_TYPE_MAX] = {
	[NS_SESSION] = {NETSTALL, "begins", words__session},
	[NS_PROCESS] = {NOBODY, "", words__process},
	[NS_CONN] = {TCP, "", words__conn},
	[NS_PEER] = {TCP, "peer found", words__peer},
	[NS_SEND] = {THREAD, "", words__send},
	[NS_HOLD] = {TCP, "not sent", words__hold},
	[NS_TX] = {TCP, "", words__segment},
	[NS_ACK] = {TCP, "", words__segment},
	[NS_RX] = {TCP, "", words__segment},
	[NS_DELACK_ARM] = {TCP, "delayed ACK armed", words__delack_arm},
	[NS_DELACK_FIRE] = {TCP, "delayed ACK FIRED", words__delack_fire},
	[NS_RELEASE] = {TCP, "", words__release},
	[NS_RECV] = {THREAD, "read", words__recv},
	[NS_WAIT] = {THREAD, "", words__wait},
	[NS_CLOSE] = {TCP, "closed", NULL},
	[NS_CONN_TOTALS] = {TCP, "totals", words__conn_totals},
	[NS_THREAD_TOTALS] = {THREAD, "totals", words__thread_totals},
	[NS_EXIT] = {PROCESS, "ended", NULL},
	[NS_LOST] = {NETSTALL, "LOST so far", words__lost},
	[NS_STACK] = {NETSTALL, "", words__stack},
	[NS_END] = {NETSTALL, "ends", NULL},
	[NS_RETRANS] = {TCP, "", words__retrans},
	[NS_CALL] = {THREAD, "called", words__call},
	[NS_EXCHANGE] = {THREAD, "", words__exchange},
	[NS_RING] = {PROCESS, "", words__ring},
	[NS_URING] = {THREAD, "", words__uring},
	[NS_REAP] = {PROCESS, "", words__reap},
	[NS_URING_TOTALS] = {PROCESS, "", words__uring_totals},
	[NS_URING_ERROR] = {PROCESS, "", words__uring_error},
	[NS_SUMS] = {THREAD, "ends a sleep", words__sums},
	[NS_THROTTLE] = {THREAD, "was throttled", words__throttle},
	[NS_FAILED] = {TCP, "connect FAILED", words__failed},
	[NS_RAN] = {THREAD, "waited for", words__ran},
	[NS_LISTENER] = {PROCESS, "queue FULL", words__listener},
	[NS_SERVICE] = {PROCESS, "healthy", words__service},
	[NS_MARK] = {NOBODY, "MARK", words__mark},
	[NS_PROFILE] = {NETSTALL, "off-CPU profile", NULL},
	[NS_PROFILE_TEXT] = {NETSTALL, "off-CPU profile: a stack", NULL},
	[NS_PROFILE_ENTRY] = {THREAD, "slept, in all", NULL},
	[NS_PROFILE_WAKE] = {THREAD, "woke it", NULL},
	[NS_REFUSED] = {NETSTALL, "does without", words__refused},
};

static void name_actor(const struct report *report, const struct ns_head *head, enum whose whose,
		       struct words *words)
{
	if (whose == NETSTALL)
		print_to(words->actor, "netstall");
	else if (whose == THREAD && head->tid) /* who submitted an operation may be unknown */
		print_to(words->actor, "%s", thread_text(report, head->tgid, head->tid));
	else if (whose == TCP)
		print_to(words->actor, "%s's TCP", end_text(report, head->conn));
	else if (whose != NOBODY && head->tgid)
		print_to(words->actor, "%s", process_text(report, head->tgid));
}

void words__record(const struct scene *scene, const union record *record, struct words *words)
{
	struct scene at_hand = {scene->report, scene->stall, record};
	uint32_t type = record->head.type;

	*words = (struct words){.ts = record->head.ts, .type = type};
	if (type >= NS_TYPE_MAX || table[type].whose == UNKNOWN) {
		print_to(words->what, "record of type %u", type);
		return;
	}
	name_actor(scene->report, &record->head, table[type].whose, words);
	print_to(words->what, "%s", table[type].what);
	if (table[type].describe)
		table[type].describe(&at_hand, words);
}

void words__held_send(const struct scene *scene, const union record *send, const union record *hold,
		      struct words *words)
{
	struct words held;

	words__record(scene, send, words);
	words__record(scene, hold, &held);
	words->ts = hold->head.ts;
	words->colour = held.colour;
	if (send->send.bytes == hold->hold.end - hold->hold.seq)
		words->note[0] = '\0';
	else
		print_to(words->note, "%s ", held.amount);
	add_to(words->note, "", "%s", held.note);
	memcpy(words->aside, held.aside, sizeof(words->aside));
}
