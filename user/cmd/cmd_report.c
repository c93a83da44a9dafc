// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall report: what a recording has, as trace would have shown it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "user/analyze/profile/profile_records.h"
#include "user/base/array.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/cmd/commands.h"
#include "user/cmd/output.h"
#include "user/cmd/recorded.h"
#include "user/cmd/trace_options.h"
#include "user/process/as_caller.h"
#include "user/record/anonymize.h"
#include "user/record/joined.h"
#include "user/record/recording.h"
#include "user/record/text.h"

#define NAME_SHOWN 200

struct report_options {
	struct options common;
	const char *files[2]; /* NULL: there is no second */
};

static void take_word(char *word, void *parsed, const struct argp_state *state)
{
	struct report_options *options = parsed;

	if (!*word || options->files[1])
		usage_error(state, "one recording, or those of two hosts: '%s' is too many", word);
	options->files[options->files[0] != NULL] = word;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return a && b && !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/* What is written is emptied first. */
static void check_inputs(const struct report_options *options, const struct argp_state *state)
{
	const struct options *common = &options->common;
	const char *outputs[2 + EXTRAS] = {common->output, common->anonymized};

	memcpy(outputs + 2, common->extras, sizeof(common->extras));
	for (size_t i = 0; i < COUNT_OF(outputs); i++)
		for (unsigned j = 0; j < 2; j++)
			if (is_same_file(outputs[i], options->files[j]))
				usage_error(state, "%s is the recording itself: name another file",
					    outputs[i]);
}

static void check_offwake(const struct report_options *options, const struct argp_state *state)
{
	const struct options *common = &options->common;

	if (options->files[1])
		usage_error(state, "--offwake shows the profile of one recording: leave out %s",
			    options->files[1]);
	if (common->extras[EXTRA_HTML] || common->extras[EXTRA_PCAPNG] ||
	    common->extras[EXTRA_PERFETTO] || common->stalls.made || common->text || common->all ||
	    common->events || common->anonymized)
		usage_error(
			state,
			"--offwake shows the profile alone: leave out what chooses and shows stalls, or --offwake");
	if (common->folded && common->json)
		usage_error(state, "-f and --json exclude each other: name one of them");
}

static void check(void *parsed, const struct argp_state *state)
{
	const struct report_options *options = parsed;

	trace_options__check(parsed, state);
	if (!options->files[0])
		usage_error(state, "name the recording: netstall report FILE");
	if (options->common.offwake)
		check_offwake(options, state);
	check_inputs(options, state);
}

const struct command_options cmd_report_options = {
	.command = COMMAND_REPORT,
	.examples = {{"netstall report run.nsr", "as `netstall trace` would have shown it"},
		     {"netstall report --stall 3 run.nsr", "one stall, event by event"},
		     {"netstall report client.nsr server.nsr",
		      "both ends, recorded on two hosts with --all"}},
	.usage = "FILE [FILE-OF-THE-OTHER-HOST]",
	.help = "Show a recording of `netstall record` or `netstall trace --record`, as `trace` would have shown it; two of them, made with --all on two hosts that talk to each other, as one. No privileges are needed.\v"
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

/* ---- one recording, or two ---- */

struct source {
	FILE *in[2];
	struct recording *one;
	struct joined *both;
};

static const struct recording_about *source__about(const struct source *source, unsigned which)
{
	return source->both ? joined__recording(source->both, which)
			    : recording__about(source->one);
}

static enum recording_gives source__next(const struct source *source, const void **record,
					 size_t *len)
{
	return source->both ? joined__next(source->both, record, len)
			    : recording__next(source->one, record, len);
}

static uint64_t missing_of(const struct recording_about *about)
{
	uint64_t places = about->damaged + about->skipped;

	return places > about->missing ? places : about->missing;
}

/* What the recordings lack so far was lost between these times. */
static void tell_missing(struct pipeline *pipeline, const struct source *source, uint64_t from_ts,
			 uint64_t ts, uint64_t *told)
{
	struct ns_lost lost = {.head = {.type = NS_LOST, .len = sizeof(lost), .ts = ts},
			       .kind = NS_LOST_RECORDING,
			       .count = missing_of(source__about(source, 0)) +
					(source->both ? missing_of(source__about(source, 1)) : 0),
			       .from_ts = from_ts};

	if (lost.count > *told)
		pipeline__feed(pipeline, &lost, sizeof(lost));
	*told = lost.count;
}

/* False after it has said why: there is nothing to be shown. */
static bool play(const struct source *source, const struct options *options, struct output *output)
{
	struct printer printer;
	struct pipeline_sink sink;
	struct pipeline *pipeline;
	enum recording_gives gives;
	const union record *record;
	uint64_t told = 0, before_ts = 0;
	bool profiled = false, traced = false;
	const void *data;
	size_t len;

	printer__init(&printer, output, options);
	sink = printer__sink(&printer);
	pipeline = pipeline__new(&sink);
	while ((gives = source__next(source, &data, &len)) != RECORDING_ENDS) {
		record = data;
		tell_missing(pipeline, source, before_ts, record->head.ts, &told);
		before_ts = record->head.ts;
		if (gives == RECORDING_RECORD && profile_reader__is_its(record->head.type)) {
			profiled = true;
			continue;
		}
		if (gives == RECORDING_RECORD) {
			traced = true;
			pipeline__feed(pipeline, data, len);
			continue;
		}
		pipeline__idle(pipeline, record->head.ts);
		printer__idle(&printer, pipeline__report(pipeline), record->head.ts);
	}
	/* How many they were the end says. */
	tell_missing(pipeline, source, before_ts, before_ts, &told);
	if (traced || !profiled)
		printer__finish(&printer, pipeline__finish(pipeline));
	else
		log__error("it is a profile alone: `netstall report --offwake` shows it");
	printer__free(&printer);
	pipeline__free(pipeline);
	return traced || !profiled;
}

/* The profile. False after it has said why there is none. */
static bool play_profile(const struct source *source, const struct options *options,
			 struct output *output)
{
	struct profile_reader *reader = profile_reader__new();
	struct profile *profile;
	enum recording_gives gives;
	union record record;
	const void *data;
	bool has_causes;
	size_t len;

	while ((gives = source__next(source, &data, &len)) != RECORDING_ENDS)
		if (gives == RECORDING_RECORD && !record__decode(data, len, &record))
			profile_reader__take(reader, &record);
	profile = profile_reader__finish(reader, options->by_cause);
	profile_reader__free(reader);
	if (!profile) {
		log__error(
			"there is no profile in it: `record --offwake` and `offwake --record` write one");
		return false;
	}
	has_causes = profile->by_cause || !options->by_cause;
	profile->lost[PROFILE_LOST_RECORDS].count += missing_of(source__about(source, 0));
	if (has_causes)
		output__profile(output, options, profile);
	else
		log__error(
			"its profile has no causes: `record --offwake` and `offwake --by-cause --record` write them");
	profile__free(profile);
	return has_causes;
}

/* What others may see of it, as a recording. Returns 0, or -errno after it has said why. */
static int copy_anonymized(const struct source *source, const char *path)
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
	while ((gives = source__next(source, &data, &len)) != RECORDING_ENDS) {
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
static void print_text(const struct source *source, FILE *out)
{
	enum recording_gives gives;
	uint64_t origin_ns = 0;
	union record record;
	const void *data;
	size_t len;

	while ((gives = source__next(source, &data, &len)) != RECORDING_ENDS) {
		if (gives != RECORDING_RECORD || record__decode(data, len, &record))
			continue;
		if (!origin_ns)
			origin_ns = record.head.ts;
		text__print(out, &record, origin_ns);
	}
}

static void say_how_joined(const struct joined_about *about)
{
	char drift[64] = "", translated[64] = "";

	if (about->translated)
		print_to(translated, " (%s through address translation)",
			 count_text(about->translated));
	if (about->drift_ns_s)
		snprintf(drift, sizeof(drift), ", %s us more each second",
			 text__ms((char[TEXT_DURATION]){""}, TEXT_DURATION,
				  about->drift_ns_s * 1000, 3));
	log__note(
		"joined %s and %s: %s of both%s; the second's clock is %s ms %s%s, and that is wrong "
		"by %s at most (%s segments there, %s back)",
		about->hosts[0], about->hosts[1],
		text__counted((char[TEXT_COUNTED]){""}, TEXT_COUNTED, about->connections,
			      "connection"),
		translated,
		text__ms((char[TEXT_DURATION]){""}, TEXT_DURATION,
			 about->offset_ns < 0 ? -about->offset_ns : about->offset_ns, 3),
		about->offset_ns < 0 ? "behind" : "ahead", drift, duration_text(about->bound_ns),
		count_text(about->there), count_text(about->back));
}

/* False after it has said why. */
static bool open_source(struct source *source, const struct report_options *options)
{
	char names[2][TEXT_SAFE(NAME_SHOWN)];
	const char *why = NULL;
	int fd;

	for (unsigned i = 0; i < 2 && options->files[i]; i++) {
		text__safe(names[i], sizeof(names[i]), options->files[i], NAME_SHOWN);
		fd = as_caller__open(options->files[i], O_RDONLY);
		source->in[i] = fd < 0 ? NULL : fdopen(fd, "re");
		if (!source->in[i]) {
			log__error("cannot read %s: %s", names[i],
				   as_caller__why(fd < 0 ? fd : -errno));
			return false;
		}
	}
	if (source->in[1])
		source->both = joined__open(source->in[0], source->in[1], &why);
	else
		source->one = recording__open(source->in[0], &why);
	if (why && source->in[1])
		log__error("cannot join %s and %s: %s", names[0], names[1], why);
	else if (why)
		log__error("cannot read %s: %s", names[0], why);
	else if (source->both)
		say_how_joined(joined__about(source->both));
	return !why;
}

static void close_source(struct source *source)
{
	if (source->one)
		recording__free(source->one);
	if (source->both)
		joined__free(source->both);
	for (unsigned i = 0; i < 2; i++)
		if (source->in[i])
			fclose(source->in[i]);
}

static int show(const struct report_options *options, struct output *output)
{
	char name[TEXT_SAFE(NAME_SHOWN)];
	struct source source = {0};
	int err = open_source(&source, options) ? 0 : -EIO;

	if (!err && options->common.anonymized)
		err = copy_anonymized(&source, options->common.anonymized);
	else if (!err && options->common.text)
		print_text(&source, output->file);
	else if (!err && options->common.offwake)
		err = play_profile(&source, &options->common, output) ? 0 : -ENODATA;
	else if (!err)
		err = play(&source, &options->common, output) ? 0 : -ENODATA;
	for (unsigned i = 0; !err && i < 2 && options->files[i]; i++)
		say_what_is_missing(text__safe(name, sizeof(name), options->files[i], NAME_SHOWN),
				    source__about(&source, i));
	close_source(&source);
	return err ? EXIT_UNABLE : EXIT_OK;
}

int cmd_report(int argc, char **argv)
{
	struct report_options options = {0};
	struct output output;
	int status;

	options__init(&options.common);
	options__parse(&cmd_report_options, argc, argv, &options);
	if (output__open(&output, &options.common))
		return EXIT_UNABLE;
	status = show(&options, &output);
	if (output__close(&output) && status == EXIT_OK)
		status = EXIT_UNABLE;
	return status;
}
