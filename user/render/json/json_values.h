/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values of the JSON outputs: each function gives a new reference, put() takes it.
 * Nothing is checked for NULL: memory is there, and names are UTF-8.
 */
#ifndef NETSTALL_RENDER_JSON_JSON_VALUES_H
#define NETSTALL_RENDER_JSON_JSON_VALUES_H

#include <jansson.h>

#include "user/analyze/report.h"
#include "user/explain/verdict.h"
#include "user/render/json/json_stream.h"
#include "user/render/render.h"

static inline void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

/* An object in it, to be filled: the reference stays the outer one's. */
static inline json_t *put_object(json_t *object, const char *key)
{
	put(object, key, json_object());
	return json_object_get(object, key);
}

/* An array in it, of a value for each i below count. */
#define put_each(object, key, i, count, value)                                                     \
	do {                                                                                       \
		json_t *each_ = json_array();                                                      \
		for (size_t i = 0; i < (count); i++)                                               \
			json_array_append_new(each_, value);                                       \
		put(object, key, each_);                                                           \
	} while (0)

#ifndef NETSTALL_VERSION
#define NETSTALL_VERSION "unknown"
#endif

json_t *json_value__count(uint64_t count);
/* Six decimals: a share is no measurement of fifteen digits. */
json_t *json_value__share(double share);
/* A duration in ns as ms; to the ns, so that slices sum exactly. */
json_t *json_value__ms(uint64_t ns);
/* null for 0: not known, or not asked for. */
json_t *json_value__ms_or_null(uint64_t ns);
/* A time in ns as ms since the window opened; null for 0, which no clock shows. */
json_t *json_value__time(const struct report *report, uint64_t ts);
/* What a process calls itself: see text__safe(). At most max bytes; null for NULL. */
json_t *json_value__name(const char *name, size_t max);
/* Our own sentences; null for NULL. */
json_t *json_value__text(const char *text);
/* null instead of the number that means "not known". */
json_t *json_value__number_or_null(uint64_t number, uint64_t unknown);
/* The time watched: CLOCK_MONOTONIC, and how far the wall clock was from that; ns. */
json_t *json_value__window(uint64_t start_ts, uint64_t end_ts, int64_t wall_offset_ns);
json_t *json_value__address(uint32_t family, const uint32_t *addr, uint32_t port);
/* A stack, leaf first, as an array; NULL gives an empty one. */
json_t *json_value__stack(const char *frames);
/* Call sites: stacks, whose code each frame is, and the program's own line in each. */
json_t *json_value__sites(const struct call_sites *sites);

/* A record as {"t_ms", "event", fields...}, by the tables of record.h, into object. */
void json_value__record(json_t *object, const struct report *report, const union record *record);

json_t *json_value__slices(const struct slice *slices, size_t count);
/* The tree of a path: each part with the number of the one above it. */
json_t *json_value__parts(const struct report *report, const struct path *path);
json_t *json_value__requests(const struct report_requests *requests);
json_t *json_value__program(const struct report *report, const struct report_program *program);
json_t *json_value__mark(const struct report *report, const struct report_mark *mark);
json_t *json_value__open(const struct report_open *open);
json_t *json_value__habit(const struct report *report, const struct report_habit *habit);
/* What the target's threads waited for, by cause, and the longest wait for a reply. */
json_t *json_value__waited(const struct report *report);
/* io_uring: the targets' rings, and what they did by them, by opcode. */
json_t *json_value__operations(const struct report *report);
json_t *json_value__stall(const struct report *report, const struct stall *stall);

/* netstall.report/1, the whole of it, into an object that is open; and parts of it */
void json_value__report(struct json_stream *stream, const struct report *report,
			const struct verdict *verdict, enum render_connections connections);
json_t *json_value__thread(const struct report_thread *thread);
json_t *json_value__cause(const struct report_cause *cause);
json_t *json_value__verdict(const struct report *report, const struct verdict *verdict);

/* One document on one line (indent 0) or pretty, and a newline; takes the reference. */
void json_value__dump(FILE *out, json_t *document, int indent);

/* How numbers and names are written, for jansson. */
size_t json_value__flags(int indent);

/* Out of memory dies where all of netstall dies of it; call before the first value. */
void json_value__begin(void);

#endif
