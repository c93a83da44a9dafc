/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A JSON document written piece by piece, as jansson writes it whole: of a long one only the
 * value at hand is in memory.
 *
 *   json_stream__begin(&stream, out, 0);          {
 *   json_stream__put(&stream, "schema", value);     "schema": "...",
 *   json_stream__array(&stream, "stalls");          "stalls": [
 *   json_stream__add(&stream, value);                 {...}
 *   json_stream__close(&stream);                    ]
 *   json_stream__end(&stream);                    }
 */
#ifndef NETSTALL_RENDER_JSON_JSON_STREAM_H
#define NETSTALL_RENDER_JSON_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define JSON_STREAM_DEPTH 4

struct json_stream {
	FILE *out;
	int indent; /* 0: one line */
	unsigned depth;
	struct {
		char end; /* '}' or ']' */
		bool has_any;
	} open[JSON_STREAM_DEPTH];
};

/* The document is an object. */
void json_stream__begin(struct json_stream *stream, FILE *out, int indent);
/* Open an object or an array in an object. */
void json_stream__object(struct json_stream *stream, const char *key);
void json_stream__array(struct json_stream *stream, const char *key);
/* Close what was opened last. */
void json_stream__close(struct json_stream *stream);
/* A value in an object, or in an array; takes the reference. */
void json_stream__put(struct json_stream *stream, const char *key, json_t *value);
void json_stream__add(struct json_stream *stream, json_t *value);
/* An array of a value for each i below count, one at a time in memory. */
#define json_stream__each(stream, key, i, count, value)                                            \
	do {                                                                                       \
		json_stream__array(stream, key);                                                   \
		for (size_t i = 0; i < (count); i++)                                               \
			json_stream__add(stream, value);                                           \
		json_stream__close(stream);                                                        \
	} while (0)
/* Close the document, and a newline. */
void json_stream__end(struct json_stream *stream);

#endif
