// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Retransmissions, call sites and exchanges in words. */
#include <stdio.h>

#include "user/render/words_parts.h"

void words__retrans(const struct scene *scene, const union record *record, struct words *words)
{
	static const char *const kinds[NS_RETRANS_KINDS] = {
		[NS_RETRANS_UNKNOWN] = "why was not seen",
		[NS_RETRANS_RTO] = "the retransmission timer ran out",
		[NS_RETRANS_TLP] = "a tail loss probe",
		[NS_RETRANS_FAST] = "acknowledgements told of the loss",
		[NS_RETRANS_SYN] = "nobody answered the connection request",
	};
	const struct ns_retrans *retrans = &record->retrans;
	char rto[TEXT_DURATION], ago[TEXT_DURATION];

	(void)scene;
	words->colour = COLOUR_FIRED;
	snprintf(words->what, sizeof(words->what), "%s AGAIN",
		 retrans->kind == NS_RETRANS_SYN ? "SYN" : "sent");
	if (retrans->end != retrans->seq)
		text__bytes(words->amount, sizeof(words->amount), retrans->end - retrans->seq);
	snprintf(words->note, sizeof(words->note), "RETRANSMISSION: %s", kinds[retrans->kind]);
	text__duration(rto, sizeof(rto), retrans->rto_us * 1000ull);
	text__duration(ago, sizeof(ago), record->head.ts - retrans->sent_ts);
	snprintf(words->aside, sizeof(words->aside), "sequence %u to %u%s%s%s%s%s%s", retrans->seq,
		 retrans->end, retrans->sent_ts ? ", sent before " : "",
		 retrans->sent_ts ? ago : "", retrans->sent_ts ? " ago" : "",
		 retrans->rto_us ? ", timer " : "", retrans->rto_us ? rto : "",
		 retrans->retries > 1 ? ", not the first time" : "");
}

void words__call(const struct scene *scene, const union record *record, struct words *words)
{
	(void)scene;
	snprintf(words->what, sizeof(words->what), "called");
	text__bytes(words->amount, sizeof(words->amount), record->call.bytes);
	snprintf(words->note, sizeof(words->note), "where its write was called: stack %u%s",
		 record->call.stack_id, record->call.truncated ? ", cut off" : "");
}

void words__exchange(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_exchange *exchange = &record->exchange;
	char took[TEXT_DURATION];

	(void)scene;
	snprintf(words->what, sizeof(words->what), "%s",
		 exchange->side == NS_EXCHANGE_SERVED ? "served" : "has its answer");
	text__bytes(words->amount, sizeof(words->amount), exchange->bytes_out);
	snprintf(words->note, sizeof(words->note), "%s %s",
		 exchange->side == NS_EXCHANGE_SERVED ? "after" : "an exchange of",
		 text__duration(took, sizeof(took), exchange->head.ts - exchange->begin_ts));
}
