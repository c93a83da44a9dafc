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
#include "user/record/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
		if (gives == RECORDING_RECORD)
			pipeline__feed(pipeline, record, len);
		else
			pipeline__idle(pipeline, ((const struct ns_head *)record)->ts);
	if (recording)
		recording__free(recording);
	pipeline__finish(pipeline);
	pipeline__free(pipeline);
	fclose(in);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = NULL;
	size_t length = 0;
	FILE *out;

	if (size < 2)
		return 0;
	out = open_memstream(&bytes, &length);
	if (data[0] & 1)
		write_file(out, data + 1, size - 1);
	else
		fwrite(data + 1, 1, size - 1, out);
	fclose(out);
	play(bytes, length);
	free(bytes);
	return 0;
}
