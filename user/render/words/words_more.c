// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Retransmissions, call sites and exchanges in words. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/render/words/words_parts.h"

/* Append to the aside, with a comma when something stands there. */
static void __attribute__((format(printf, 2, 3))) add(struct words *words, const char *format, ...)
{
	size_t used = strlen(words->aside);
	va_list args;

	if (used > 0 && used + 3 < sizeof(words->aside)) {
		memcpy(words->aside + used, ", ", 3);
		used += 2;
	}
	va_start(args, format);
	vsnprintf(words->aside + used, sizeof(words->aside) - used, format, args);
	va_end(args);
}

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
	if (retrans->end != retrans->seq)
		add(words, "sequence %u to %u", retrans->seq, retrans->end);
	if (retrans->sent_ts)
		add(words, "sent %s before", ago);
	if (retrans->rto_us)
		add(words, "timer of %s", rto);
	if (retrans->retries > 1)
		add(words, "retry %u", retrans->retries);
	if (retrans->arrived)
		add(words, "it had arrived: its acknowledgement was lost");
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
