/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A wait in none of the requests that the targets make or serve: a pool's spare thread, a clock, a
 * pause between two requests.
 */
#ifndef NETSTALL_ANALYZE_WAITS_BACKGROUND_H
#define NETSTALL_ANALYZE_WAITS_BACKGROUND_H

#include "user/analyze/cause.h"

struct model;
struct ns_wait;
struct path;
struct request_place;

enum background {
	BACKGROUND_NOT,
	BACKGROUND_MAYBE, /* there are connections, and no request was seen yet */
	BACKGROUND_IS,
	BACKGROUND_BETWEEN, /* a thread that asks has work of its own before it asks again */
};

/*
 * As far as is known by now, of a wait that lies there in requests. cause: what it was for; path:
 * what its time was made of.
 */
enum background background__find(const struct model *model, const struct ns_wait *wait,
				 const struct request_place *place, enum cause cause,
				 const struct path *path);

#endif
