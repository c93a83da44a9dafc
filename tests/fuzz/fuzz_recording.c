// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as a recording. The first byte says how: as the whole file; or as what an
 * intact file has in it, a JSON document up to the first NUL (when it is empty, our own) and
 * records. Whatever can be made of a recording is made, and thrown away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/record/blocks.h"
#include "user/analyze/pipeline.h"
#include "user/analyze/profile/profile_records.h"
#include "user/explain/verdict.h"
#include "user/record/joined.h"
#include "user/record/recording.h"
#include "user/render/html/html.h"
#include "user/render/html/picture.h"
#include "user/render/pcapng/pcapng.h"
#include "user/render/perfetto/perfetto.h"
#include "user/render/profile/profile.h"
#include "user/render/terminal/uring_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct profile_reader *reader; /* of the input at hand */
static FILE *nowhere;
static const struct render_style style = {
	.colour = true, .verbose = true, .full_stacks = true, .connections = CONNECTIONS_EACH};
static const struct render_style narrow = {.width = 60};

/* What is made of the records as they come. */
struct makers {
	struct pcapng *pcapng;
	struct perfetto *perfetto;
	struct uring_list *uring;
};

static void make_of_record(void *context, const struct report *so_far, const union record *record)
{
	struct makers *makers = context;

	pcapng__record(makers->pcapng, so_far, record);
	perfetto__record(makers->perfetto, so_far, record);
	uring_list__record(makers->uring, so_far, record);
	render__json_record(nowhere, so_far, record);
	render__record(nowhere, so_far, record, &style);
}

static void make_of_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	struct makers *makers = context;

	perfetto__stall(makers->perfetto, stall);
	render__stall(nowhere, so_far, stall, &style);
}

static struct pipeline *new_pipeline(struct makers *makers)
{
	const struct pipeline_sink sink = {
		.on_record = make_of_record, .on_stall = make_of_stall, .context = makers};

	*makers = (struct makers){pcapng__new(), perfetto__new(), uring_list__new(nowhere, &style)};
	return pipeline__new(&sink);
}

static void finish(struct pipeline *pipeline, struct makers *makers)
{
	const struct report *report = pipeline__finish(pipeline);
	struct verdict verdict;

	verdict__write(&verdict, report);
	render__report(nowhere, report, &verdict, &style, true);
	render__report(nowhere, report, &verdict, &narrow, false);
	render__json(nowhere, report, &verdict, 0, CONNECTIONS_EACH);
	render__html(nowhere, report, &verdict, NULL);
	picture__svg(nowhere, report, picture__first(report, verdict.cause));
	pcapng__write(makers->pcapng, nowhere, report);
	perfetto__write(makers->perfetto, nowhere, report);
	uring_list__finish(makers->uring, report);
	verdict__clear(&verdict);
	pcapng__free(makers->pcapng);
	perfetto__free(makers->perfetto);
	uring_list__free(makers->uring);
	pipeline__free(pipeline);
}

static void finish_profile(void)
{
	struct profile *profile = profile_reader__finish(reader, false);

	if (profile) { /* else it has none */
		render__folded(nowhere, profile);
		render__profile_top(nowhere, profile, &style);
		render__profile_json(nowhere, profile);
		render__profile_svg(nowhere, profile);
		render__profile_pprof(nowhere, profile);
	}
	profile__free(profile);
	profile_reader__free(reader);
}

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
	struct makers makers;
	struct pipeline *pipeline = new_pipeline(&makers);
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
	finish(pipeline, &makers);
	fclose(in);
}

static void play_both(char *bytes[2], const size_t sizes[2])
{
	struct makers makers;
	struct pipeline *pipeline = new_pipeline(&makers);
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
	finish(pipeline, &makers);
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
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	reader = profile_reader__new();
	take(data, size);
	finish_profile();
	return 0;
}
