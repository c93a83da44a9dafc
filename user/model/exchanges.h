/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The recent exchanges, found by the thread that was at them or by their connection. */
#ifndef NETSTALL_MODEL_EXCHANGES_H
#define NETSTALL_MODEL_EXCHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"

/* As many as are under way, or were a moment ago: thousands, where each of as many threads waits.
 */
#define EXCHANGES_KEPT 4096 /* that are long, both sides; a power of two */
#define EXCHANGES_SERVED                                                                           \
	2048                   /* served sides of any length, until the asked ones come; likewise  \
				*/
#define EXCHANGES_BUCKETS 4096 /* likewise */

struct exchanges;

struct exchanges *exchanges__new(void);
void exchanges__free(struct exchanges *exchanges);

/* peer: the number of the other end of its connection, 0 not known. */
void exchanges__add(struct exchanges *exchanges, const struct ns_exchange *exchange, uint32_t peer);
/* A served side of any length, for asked ones that came before it and that are to come. */
void exchanges__add_served(struct exchanges *exchanges, const struct ns_exchange *served,
			   uint32_t peer);

/* The served side that an asked one has, of those that came; NULL: none did, or it is gone. */
const struct ns_exchange *exchanges__served_for(const struct exchanges *exchanges,
						const struct ns_exchange *asked, uint32_t peer);

/* Those of a thread and those on a connection, 0: of none; the last come first. */
struct exchange_walk {
	uint32_t tid;
	uint32_t conn;
	uint64_t by_tid; /* where it is, in the order of their coming; 0 behind the last */
	uint64_t by_conn;
};

struct exchange_walk exchanges__of(const struct exchanges *exchanges, uint32_t tid, uint32_t conn);
/* NULL behind the last. */
const struct ns_exchange *exchanges__next(const struct exchanges *exchanges,
					  struct exchange_walk *walk);
/* The other side of an asked one that was added; NULL: not seen. */
const struct ns_exchange *exchanges__served_side(const struct exchanges *exchanges,
						 const struct ns_exchange *asked);

/* When the first byte of its answer was written. */
uint64_t exchange__first_write(const struct ns_exchange *served);
/* Was it answered within the time of the asked one? Both are of one connection. */
bool exchange__is_within(const struct ns_exchange *asked, const struct ns_exchange *served);

#endif
