// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall report: what a recording has, as trace would have shown it. */
#include <errno.h>
#include <string.h>

#include "user/base/log.h"
#include "user/base/text.h"
#include "user/cmd/commands.h"
#include "user/cmd/output.h"
#include "user/cmd/recorded.h"
#include "user/cmd/trace_options.h"
#include "user/process/as_caller.h"
#include "user/record/anonymize.h"
#include "user/record/recording.h"
#include "user/record/text.h"

#define NAME_SHOWN 200

struct report_options {
	struct options common;
	const char *file;
};

static void take_word(char *word, void *parsed, const struct argp_state *state)
{
	struct report_options *options = parsed;

	if (options->file)
		usage_error(state, "one recording at a time: '%s' is too many", word);
	options->file = word;
}

static void check(void *parsed, const struct argp_state *state)
{
	const struct report_options *options = parsed;

	trace_options__check(parsed, state);
	if (!options->file || !*options->file)
		usage_error(state, "name the recording: netstall report FILE");
}

static const struct command_options command = {
	.command = COMMAND_REPORT,
	.usage = "FILE",
	.help = "Show a recording of `netstall record` or `netstall trace --record`, as `trace` would have shown it. No privileges are needed.\v"
		"Exit status: 0 done, 2 could not be read, 64 wrong usage.",
	.rows = trace_options,
	.word = take_word,
	.check = check,
};

/* What there is of it has been shown by now. */
static void say_what_is_missing(const char *name, const struct recording_about *about)
{
	if (!about->ended)
		log__note(
			"%s has no end: netstall was killed, or the disk was full, or it is not "
			"the whole file; up to a second of the run may be missing",
			name);
	else if (about->damaged)
		log__note("%s is damaged in %s: %s are missing", name,
			  text__counted((char[TEXT_COUNTED]){""}, TEXT_COUNTED, about->damaged,
					"place"),
			  text__counted((char[TEXT_COUNTED]){""}, TEXT_COUNTED, about->missing,
					"record"));
	if (about->skipped)
		log__note(
			"%s records of kinds that this version does not know were left out: use "
			"netstall %s",
			count_text(about->skipped), about->tool);
}

/* What the recording lacks so far was lost between these times. */
static void tell_missing(struct pipeline *pipeline, const struct recording_about *about,
			 uint64_t from_ts, uint64_t ts, uint64_t *told)
{
	uint64_t places = about->damaged + about->skipped;
	struct ns_lost lost = {.head = {.type = NS_LOST, .len = sizeof(lost), .ts = ts},
			       .kind = NS_LOST_RECORDING,
			       .count = places > about->missing ? places : about->missing,
			       .from_ts = from_ts};

	if (lost.count > *told)
		pipeline__feed(pipeline, &lost, sizeof(lost));
	*told = lost.count;
}

static void play(struct recording *recording, const struct options *options, struct output *output)
{
	const struct recording_about *about = recording__about(recording);
	struct printer printer;
	struct pipeline_sink sink;
	struct pipeline *pipeline;
	enum recording_gives gives;
	const union record *record;
	uint64_t told = 0, before_ts = 0;
	const void *data;
	size_t len;

	printer__init(&printer, output, options);
	sink = printer__sink(&printer);
	pipeline = pipeline__new(&sink);
	while ((gives = recording__next(recording, &data, &len)) != RECORDING_ENDS) {
		record = data;
		tell_missing(pipeline, about, before_ts, record->head.ts, &told);
		before_ts = about->last_ts;
		if (gives == RECORDING_RECORD) {
			pipeline__feed(pipeline, data, len);
			continue;
		}
		pipeline__idle(pipeline, record->head.ts);
		printer__idle(&printer, pipeline__report(pipeline), record->head.ts);
	}
	/* How many they were the end says. */
	tell_missing(pipeline, about, about->last_ts, about->last_ts, &told);
	printer__finish(&printer, pipeline__finish(pipeline));
	printer__free(&printer);
	pipeline__free(pipeline);
}

/* What others may see of it, as a recording. Returns 0, or -errno after it has said why. */
static int copy_anonymized(struct recording *recording, const char *path)
{
	struct anonymizer *anonymizer;
	struct recorded copy;
	enum recording_gives gives;
	union record record;
	const void *data;
	size_t len;

	if (recorded__open(&copy, path, "somewhere"))
		return -EIO;
	anonymizer = anonymizer__new();
	while ((gives = recording__next(recording, &data, &len)) != RECORDING_ENDS) {
		if (gives == RECORDING_IDLE) {
			recording__idle(copy.writer, ((const struct ns_head *)data)->ts);
			continue;
		}
		if (record__decode(data, len, &record))
			continue;
		anonymizer__record(anonymizer, &record);
		recording__add(copy.writer, &record, record.head.len);
	}
	anonymizer__free(anonymizer);
	return recorded__close(&copy);
}

/* As tests/golden has them: a fault that somebody recorded becomes a test. */
static void print_text(struct recording *recording, FILE *out)
{
	enum recording_gives gives;
	uint64_t origin_ns = 0;
	union record record;
	const void *data;
	size_t len;

	while ((gives = recording__next(recording, &data, &len)) != RECORDING_ENDS) {
		if (gives != RECORDING_RECORD || record__decode(data, len, &record))
			continue;
		if (!origin_ns)
			origin_ns = record.head.ts;
		text__print(out, &record, origin_ns);
	}
}

static int show(const struct report_options *options, struct output *output)
{
	char name[TEXT_SAFE(NAME_SHOWN)];
	struct recording *recording;
	const char *why = NULL;
	int err = 0;
	FILE *in = fopen(options->file, "re");

	text__safe(name, sizeof(name), options->file, NAME_SHOWN);
	if (!in) {
		log__error("cannot read %s: %s", name, strerror(errno));
		return EXIT_UNABLE;
	}
	recording = recording__open(in, &why);
	if (recording && options->common.anonymized) {
		err = copy_anonymized(recording, options->common.anonymized);
		say_what_is_missing(name, recording__about(recording));
		recording__free(recording);
	} else if (recording && options->common.text) {
		print_text(recording, output->file);
		say_what_is_missing(name, recording__about(recording));
		recording__free(recording);
	} else if (recording) {
		play(recording, &options->common, output);
		say_what_is_missing(name, recording__about(recording));
		recording__free(recording);
	} else {
		log__error("cannot read %s: %s", name, why);
	}
	fclose(in);
	return recording && !err ? EXIT_OK : EXIT_UNABLE;
}

int cmd_report(int argc, char **argv)
{
	struct report_options options = {0};
	struct output output;
	int status;

	options__init(&options.common);
	options__parse(&command, argc, argv, &options);
	if (output__open(&output, &options.common))
		return EXIT_UNABLE;
	status = show(&options, &output);
	if (output__close(&output) && status == EXIT_OK)
		status = EXIT_UNABLE;
	return status;
}
