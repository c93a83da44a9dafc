// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/model/exchanges.h"

#include <stddef.h>
#include <stdlib.h>

#include "user/base/xalloc.h"

/*
 * Numbers count from 1, in the order of coming. A bucket has the number of its last one, each the
 * number of the one before it in the same bucket: what was overwritten since ends the list.
 */
struct kept {
	struct ns_exchange exchange;
	struct ns_exchange served; /* of an asked one; head.type 0: not seen */
	uint64_t before_by_tid;
	uint64_t before_by_conn;
};

struct kept_served {
	struct ns_exchange exchange;
	uint64_t before;
};

struct exchanges {
	struct kept kept[EXCHANGES_KEPT];
	uint64_t count; /* ever */
	uint64_t by_tid[EXCHANGES_BUCKETS];
	uint64_t by_conn[EXCHANGES_BUCKETS];
	struct kept_served served[EXCHANGES_SERVED];
	uint64_t served_count;
	uint64_t served_by_conn[EXCHANGES_BUCKETS];
};

struct exchanges *exchanges__new(void)
{
	return xcalloc(1, sizeof(struct exchanges));
}

void exchanges__free(struct exchanges *exchanges)
{
	free(exchanges);
}

static size_t bucket_of(uint32_t key)
{
	return key * 2654435761u % EXCHANGES_BUCKETS; /* Knuth's: numbers follow each other */
}

/* NULL: it is gone, or there is none. */
static const struct kept *kept_at(const struct exchanges *exchanges, uint64_t number)
{
	return number && number + EXCHANGES_KEPT > exchanges->count
		       ? &exchanges->kept[number % EXCHANGES_KEPT]
		       : NULL;
}

static const struct kept_served *served_at(const struct exchanges *exchanges, uint64_t number)
{
	return number && number + EXCHANGES_SERVED > exchanges->served_count
		       ? &exchanges->served[number % EXCHANGES_SERVED]
		       : NULL;
}

uint64_t exchange__first_write(const struct ns_exchange *served)
{
	return served->answer_ts ? served->answer_ts : served->head.ts;
}

bool exchange__is_within(const struct ns_exchange *asked, const struct ns_exchange *served)
{
	uint64_t written = exchange__first_write(served);

	return asked->side == NS_EXCHANGE_ASKED && written > asked->begin_ts &&
	       written <= asked->head.ts;
}

const struct ns_exchange *exchanges__served_for(const struct exchanges *exchanges,
						const struct ns_exchange *asked, uint32_t peer)
{
	uint64_t number = exchanges->served_by_conn[bucket_of(peer)];
	const struct ns_exchange *served = NULL;
	const struct kept_served *known;

	for (; peer && (known = served_at(exchanges, number)); number = known->before) {
		if (known->exchange.head.conn == peer && known->exchange.head.ts < asked->begin_ts)
			break; /* and so all before it on that connection */
		if (known->exchange.head.conn == peer &&
		    exchange__is_within(asked, &known->exchange) &&
		    (!served || known->exchange.head.ts > served->head.ts))
			served = &known->exchange;
	}
	return served;
}

void exchanges__add(struct exchanges *exchanges, const struct ns_exchange *exchange, uint32_t peer)
{
	uint64_t number = ++exchanges->count;
	struct kept *kept = &exchanges->kept[number % EXCHANGES_KEPT];
	uint64_t *by_tid = &exchanges->by_tid[bucket_of(exchange->head.tid)];
	uint64_t *by_conn = &exchanges->by_conn[bucket_of(exchange->head.conn)];
	const struct ns_exchange *served;

	*kept = (struct kept){
		.exchange = *exchange, .before_by_tid = *by_tid, .before_by_conn = *by_conn};
	*by_tid = *by_conn = number;
	served = exchanges__served_for(exchanges, exchange, peer);
	if (served)
		kept->served = *served;
}

void exchanges__add_served(struct exchanges *exchanges, const struct ns_exchange *served,
			   uint32_t peer)
{
	uint64_t number = ++exchanges->served_count, at;
	struct kept_served *known = &exchanges->served[number % EXCHANGES_SERVED];
	uint64_t *by_conn = &exchanges->served_by_conn[bucket_of(served->head.conn)];
	const struct kept *kept;

	*known = (struct kept_served){*served, *by_conn};
	*by_conn = number;
	at = exchanges->by_conn[bucket_of(peer)];
	for (; peer && (kept = kept_at(exchanges, at)); at = kept->before_by_conn) {
		if (kept->exchange.head.conn == peer && !kept->served.head.type &&
		    exchange__is_within(&kept->exchange, served))
			exchanges->kept[at % EXCHANGES_KEPT].served = *served;
	}
}

struct exchange_walk exchanges__of(const struct exchanges *exchanges, uint32_t tid, uint32_t conn)
{
	return (struct exchange_walk){
		.tid = tid,
		.conn = conn,
		.by_tid = tid ? exchanges->by_tid[bucket_of(tid)] : 0,
		.by_conn = conn ? exchanges->by_conn[bucket_of(conn)] : 0,
	};
}

const struct ns_exchange *exchanges__next(const struct exchanges *exchanges,
					  struct exchange_walk *walk)
{
	const struct kept *kept;
	uint64_t number;

	do {
		number = walk->by_tid > walk->by_conn ? walk->by_tid : walk->by_conn;
		kept = kept_at(exchanges, number);
		if (!kept)
			return NULL;
		if (walk->by_tid == number)
			walk->by_tid = kept->before_by_tid;
		if (walk->by_conn == number)
			walk->by_conn = kept->before_by_conn;
	} while ((!walk->tid || kept->exchange.head.tid != walk->tid) &&
		 (!walk->conn || kept->exchange.head.conn != walk->conn));
	return &kept->exchange;
}

const struct ns_exchange *exchanges__served_side(const struct exchanges *exchanges,
						 const struct ns_exchange *asked)
{
	uint64_t number = exchanges->by_conn[bucket_of(asked->head.conn)];
	const struct kept *kept;

	for (; (kept = kept_at(exchanges, number)); number = kept->before_by_conn) {
		if (kept->exchange.side == NS_EXCHANGE_ASKED &&
		    kept->exchange.head.conn == asked->head.conn &&
		    kept->exchange.begin_ts == asked->begin_ts)
			return kept->served.head.type ? &kept->served : NULL;
	}
	return NULL;
}
