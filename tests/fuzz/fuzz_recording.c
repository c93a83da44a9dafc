// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as a recording. The first byte says how: as the whole file; or as what an
 * intact file has in it, a JSON document up to the first NUL (when it is empty, our own) and
 * records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/record/blocks.h"
#include "user/analyze/pipeline.h"
#include "user/analyze/profile/profile_records.h"
#include "user/record/joined.h"
#include "user/record/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct profile_reader *reader; /* of the input at hand */

static void feed(struct pipeline *pipeline, enum recording_gives gives, const void *record,
		 size_t len)
{
	union record decoded;

	if (gives == RECORDING_RECORD)
		pipeline__feed(pipeline, record, len);
	if (gives == RECORDING_RECORD && !record__decode(record, len, &decoded))
		profile_reader__take(reader, &decoded);
	if (gives == RECORDING_IDLE)
		pipeline__idle(pipeline, ((const struct ns_head *)record)->ts);
}

static void play(char *bytes, size_t size)
{
	const struct pipeline_sink sink = {0};
	struct pipeline *pipeline = pipeline__new(&sink);
	FILE *in = fmemopen(bytes, size, "r");
	const char *why;
	struct recording *recording = recording__open(in, &why);
	enum recording_gives gives;
	const void *record;
	size_t len;

	while (recording && (gives = recording__next(recording, &record, &len)) != RECORDING_ENDS)
		feed(pipeline, gives, record, len);
	if (recording)
		recording__free(recording);
	pipeline__finish(pipeline);
	pipeline__free(pipeline);
	fclose(in);
}

static void play_both(char *bytes[2], const size_t sizes[2])
{
	const struct pipeline_sink sink = {0};
	struct pipeline *pipeline = pipeline__new(&sink);
	FILE *in[2] = {fmemopen(bytes[0], sizes[0], "r"), fmemopen(bytes[1], sizes[1], "r")};
	const char *why;
	struct joined *joined = joined__open(in[0], in[1], &why);
	enum recording_gives gives;
	const void *record;
	size_t len;

	while (joined && (gives = joined__next(joined, &record, &len)) != RECORDING_ENDS)
		feed(pipeline, gives, record, len);
	if (joined)
		joined__free(joined);
	pipeline__finish(pipeline);
	pipeline__free(pipeline);
	fclose(in[0]);
	fclose(in[1]);
}

static void write_file(FILE *out, const uint8_t *data, size_t size)
{
	static char *own;
	static size_t own_size;
	size_t json = strnlen((const char *)data, size);

	if (!own) {
		FILE *made = open_memstream(&own, &own_size);

		recording__end(recording__begin(made, "host", "1", 1));
		fclose(made);
	}
	if (json)
		put_block(out, BLOCK_ABOUT, data, json, 0);
	else
		fwrite(own, 1, own_size, out);
	json += json < size;
	put_block(out, BLOCK_RECORDS, data + json, size - json, 1);
	put_block(out, BLOCK_END, "", 0, 1);
}

/* Of those bytes a recording, in memory of its own. */
static char *made_of(uint8_t how, const uint8_t *data, size_t size, size_t *length)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, length);

	if (how & 1)
		write_file(out, data, size);
	else
		fwrite(data, 1, size, out);
	fclose(out);
	return bytes;
}

static void take(const uint8_t *data, size_t size)
{
	size_t half, lengths[2] = {0};
	char *bytes[2];

	if (!(data[0] & 2)) {
		bytes[0] = made_of(data[0], data + 1, size - 1, &lengths[0]);
		play(bytes[0], lengths[0]);
		free(bytes[0]);
		return;
	}
	half = 3 + (data[1] << 8 | data[2]) % (size - 3);
	bytes[0] = made_of(1, data + 3, half - 3, &lengths[0]);
	bytes[1] = made_of(1, data + half, size - half, &lengths[1]);
	play_both(bytes, lengths);
	free(bytes[0]);
	free(bytes[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	reader = profile_reader__new();
	take(data, size);
	profile__free(profile_reader__finish(reader, false));
	profile_reader__free(reader);
	return 0;
}
