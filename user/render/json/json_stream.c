// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/json/json_stream.h"

#include <assert.h>

#include "user/render/json/json_values.h"

/* Before a value, or before what closes the list. */
static void break_line(const struct json_stream *stream)
{
	if (stream->indent)
		fprintf(stream->out, "\n%*s", stream->indent * (int)stream->depth, "");
}

static void open_list(struct json_stream *stream, char begin, char end)
{
	assert(stream->depth < JSON_STREAM_DEPTH);
	fputc(begin, stream->out);
	stream->open[stream->depth].end = end;
	stream->open[stream->depth++].has_any = false;
}

static void begin_value(struct json_stream *stream, const char *key)
{
	bool *has_any = &stream->open[stream->depth - 1].has_any;

	if (*has_any)
		fputs(stream->indent ? "," : ", ", stream->out);
	*has_any = true;
	break_line(stream);
	if (key)
		fprintf(stream->out, "\"%s\": ", key);
}

void json_stream__begin(struct json_stream *stream, FILE *out, int indent)
{
	*stream = (struct json_stream){.out = out, .indent = indent};
	json_value__begin();
	open_list(stream, '{', '}');
}

void json_stream__object(struct json_stream *stream, const char *key)
{
	begin_value(stream, key);
	open_list(stream, '{', '}');
}

void json_stream__array(struct json_stream *stream, const char *key)
{
	begin_value(stream, key);
	open_list(stream, '[', ']');
}

void json_stream__close(struct json_stream *stream)
{
	stream->depth--;
	if (stream->open[stream->depth].has_any)
		break_line(stream);
	fputc(stream->open[stream->depth].end, stream->out);
}

/* A newline is one that jansson makes: in a string it would be escaped. */
static int write_indented(const char *text, size_t size, void *context)
{
	const struct json_stream *stream = context;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n')
			break_line(stream);
		else
			fputc(text[i], stream->out);
	}
	return 0;
}

void json_stream__put(struct json_stream *stream, const char *key, json_t *value)
{
	begin_value(stream, key);
	json_dump_callback(value, write_indented, stream,
			   json_value__flags(stream->indent) | JSON_ENCODE_ANY);
	json_decref(value);
}

void json_stream__add(struct json_stream *stream, json_t *value)
{
	json_stream__put(stream, NULL, value);
}

void json_stream__end(struct json_stream *stream)
{
	json_stream__close(stream);
	fputc('\n', stream->out);
}
