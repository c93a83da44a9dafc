// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The table of records: whose act each is, and who has the words for it. */
#include <stdio.h>
#include <string.h>

#include "user/render/words/words_parts.h"

enum whose { NOBODY, THREAD, TCP };

typedef void (*describe_fn)(const struct scene *, const union record *, struct words *);

static const struct {
	enum whose whose; /* the actor, where the function does not name another */
	describe_fn describe;
} table[NS_TYPE_MAX] = {
	[NS_SESSION] = {NOBODY, words__session},
	[NS_PROCESS] = {NOBODY, words__process},
	[NS_CONN] = {TCP, words__conn},
	[NS_PEER] = {TCP, words__peer},
	[NS_SEND] = {THREAD, words__send},
	[NS_HOLD] = {TCP, words__hold},
	[NS_TX] = {TCP, words__segment},
	[NS_ACK] = {TCP, words__segment},
	[NS_RX] = {TCP, words__segment},
	[NS_DELACK_ARM] = {TCP, words__delack_arm},
	[NS_DELACK_FIRE] = {TCP, words__delack_fire},
	[NS_RELEASE] = {TCP, words__release},
	[NS_RECV] = {THREAD, words__recv},
	[NS_WAIT] = {THREAD, words__wait},
	[NS_CLOSE] = {TCP, words__close},
	[NS_CONN_TOTALS] = {TCP, words__conn_totals},
	[NS_THREAD_TOTALS] = {THREAD, words__thread_totals},
	[NS_EXIT] = {NOBODY, words__exit},
	[NS_LOST] = {NOBODY, words__lost},
	[NS_STACK] = {NOBODY, words__stack},
	[NS_END] = {NOBODY, words__end},
	[NS_RETRANS] = {TCP, words__retrans},
	[NS_CALL] = {THREAD, words__call},
	[NS_EXCHANGE] = {THREAD, words__exchange},
	[NS_RING] = {NOBODY, words__ring},
	[NS_URING] = {THREAD, words__uring},
	[NS_REAP] = {NOBODY, words__reap},
	[NS_URING_TOTALS] = {NOBODY, words__uring_totals},
	[NS_URING_ERROR] = {NOBODY, words__uring_error},
};

static void name_actor(const struct scene *scene, const struct ns_head *head, enum whose whose,
		       struct words *words)
{
	char end[NAME_SIZE];

	if (whose == THREAD)
		name__thread(words->actor, sizeof(words->actor), scene->report, head->tgid,
			     head->tid);
	else if (whose == TCP)
		snprintf(words->actor, sizeof(words->actor), "%s's TCP",
			 name__end(end, sizeof(end), scene->report, head->conn));
}

void words__record(const struct scene *scene, const union record *record, struct words *words)
{
	uint32_t type = record->head.type;

	*words = (struct words){.ts = record->head.ts, .type = type};
	if (type >= NS_TYPE_MAX || !table[type].describe) {
		snprintf(words->what, sizeof(words->what), "record of type %u", type);
		return;
	}
	name_actor(scene, &record->head, table[type].whose, words);
	table[type].describe(scene, record, words);
}

void words__held_send(const struct scene *scene, const union record *send, const union record *hold,
		      struct words *words)
{
	struct words held;
	size_t used;

	words__record(scene, send, words);
	words__record(scene, hold, &held);
	words->ts = hold->head.ts;
	words->colour = held.colour;
	if (send->send.bytes == hold->hold.end - hold->hold.seq)
		words->note[0] = '\0';
	else
		snprintf(words->note, sizeof(words->note), "%s ", held.amount);
	used = strlen(words->note);
	snprintf(words->note + used, sizeof(words->note) - used, "%s", held.note);
	memcpy(words->aside, held.aside, sizeof(words->aside));
}
