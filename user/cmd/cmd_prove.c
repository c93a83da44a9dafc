// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * netstall prove: try a fix on the connections that stall, in windows with and without it
 * (cmd/prove_run.h), and say whether it helps (check/judge/effect.h).
 */
#include <stdlib.h>
#include <unistd.h>

#include "user/analyze/cause.h"
#include "user/base/array.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/cmd/commands.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"
#include "user/cmd/prove_run.h"
#include "user/explain/builder.h"
#include "user/render/json/json_values.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/wrap.h"

#define LOOK_SECS     3 /* -d */
#define NO_FIX_HELPS  1 /* exit statuses */
#define NOT_CONCLUDED 3

struct prove_options {
	struct options common;
	unsigned blocks; /* of each kind */
	unsigned port;   /* 0: the service that costs most */
	double required; /* ratio, that the interval may not go below; 0: any */
	bool yes, dry_run;
};

/* ---- what is said ---- */

static const char *const outcomes[] = {
	[EFFECT_PROVEN] = "proven",
	[EFFECT_NONE] = "no change",
	[EFFECT_WORSE] = "worse",
	[EFFECT_INCONCLUSIVE] = "inconclusive",
};

static const char *outcome_of(const struct prove_result *result, const struct effect *effect)
{
	return result->why_not ? "not-tried" : outcomes[effect->outcome];
}

/* Three digits: "1,748", "21.4", "0.96" */
#define number_text(value) text__number((char[32]){""}, 32, value)
static char *text__number(char *dst, size_t size, double value)
{
	if (value >= 1000)
		return text__count(dst, size, (uint64_t)(value + 0.5));
	snprintf(dst, size, "%.*f", value >= 100 ? 0 : value >= 10 ? 1 : 2, value);
	return dst;
}

/* "21.7 requests a second", "44.1 ms a request" */
#define value_text(value, measure) text__value((char[64]){""}, 64, value, measure)
static char *text__value(char *dst, size_t size, double value, enum prove_measure measure)
{
	if (measure == PROVE_RATE)
		snprintf(dst, size, "%s requests a second", number_text(value));
	else
		snprintf(dst, size, "%s a request",
			 value > 0 ? duration_text((uint64_t)(1e6 / value)) : "-");
	return dst;
}

static const char *interval_text_of(char *dst, size_t size, const struct effect_ratio *ratio)
{
	snprintf(dst, size, "%s to %s", number_text(ratio->low), number_text(ratio->high));
	return dst;
}
#define interval_text(ratio) interval_text_of((char[80]){""}, 80, ratio)

static double each(double sum, const struct prove_side *side)
{
	return side->requests > 0 ? sum / side->requests : 0;
}

static char *sentence_of(const struct prove_result *result, const struct effect *effect)
{
	const struct effect_ratio *change = &effect->change;
	const struct prove_side *without = &result->sides[0], *with = &result->sides[1];
	char *text = NULL;

	builder__add(&text, "%s: %s on %s", outcome_of(result, effect), socket_option__nodelay.name,
		     result->service);
	switch (effect->outcome) {
	case EFFECT_PROVEN:
	case EFFECT_WORSE:
		builder__add(&text, " turns %s into %s (x%s, 95%% %s)",
			     value_text(result->value[0][0], result->measure),
			     value_text(result->value[0][1], result->measure),
			     number_text(change->ratio), interval_text(change));
		if (!result->with_later)
			builder__add(&text, ", at %s segments each, %s before",
				     number_text(each(with->segments, with)),
				     number_text(each(without->segments, without)));
		break;
	case EFFECT_NONE:
		builder__add(&text, ": x%s, 95%% %s; this is not what holds it back",
			     number_text(change->ratio), interval_text(change));
		break;
	case EFFECT_INCONCLUSIVE:
		if (!change->blocks || !effect->control.blocks)
			builder__add(&text,
				     ": %zu blocks of windows had requests in each of them, %u are "
				     "wanted",
				     effect->blocks_used, 2 * EFFECT_BLOCKS_LEAST);
		else if (effect->moved_too)
			builder__add(
				&text,
				": x%s, and x%s (95%% %s) on connections of the target on which "
				"nothing was changed: something else did it",
				number_text(change->ratio), number_text(effect->others.ratio),
				interval_text(&effect->others));
		else
			builder__add(&text, ": x%s, 95%% %s, and %s where nothing was changed",
				     number_text(change->ratio), interval_text(change),
				     interval_text(&effect->control));
		if (change->blocks && effect->blocks_wanted > change->blocks)
			builder__add(&text, "; --blocks %zu would be enough, as it looks",
				     effect->blocks_wanted);
		break;
	}
	return text;
}

/* How long, how it was judged, and what had been predicted. */
static char *remark_of(const struct prove_result *result, const struct effect *effect)
{
	const struct prove_side *without = &result->sides[0], *with = &result->sides[1];
	char *text = NULL;

	builder__add(
		&text,
		"%zu and %zu blocks of four windows; it was set for %s in all. Judged by %s.",
		effect->change.blocks, effect->control.blocks, duration_text(result->altered_ns),
		result->measure == PROVE_RATE ? "their rate: the next request follows the answer"
		: result->with_later
			? "the time that each takes"
			: "the time that each takes: most of the time none is under way");
	if (result->with_later)
		builder__add(&text,
			     " Connections made meanwhile had it from their listening socket.");
	if (!result->predicted.saves_of_ns || !result->predicted.is_removed)
		return text;
	builder__add(&text, " Predicted: saves %s of %s", duration_text(result->predicted.saves_ns),
		     duration_text(result->predicted.saves_of_ns));
	if (with->p50_ns && without->p50_ns >= with->p50_ns)
		builder__add(&text, "; measured, of the median request: %s of %s",
			     duration_text(without->p50_ns - with->p50_ns),
			     duration_text(without->p50_ns));
	builder__add(&text, ".");
	return text;
}

/* Takes the text. */
static void print_paragraph(FILE *out, char *text, unsigned indent,
			    const struct render_style *style)
{
	wrap__paragraph(out, text, indent, COLOUR_PLAIN, style);
	free(text);
}

static void add_ratio(struct grid *grid, const char *name, const struct prove_result *result,
		      const struct effect_ratio *ratio, bool control)
{
	grid__row(grid, COLOUR_PLAIN, name, value_text(result->value[control][0], result->measure),
		  value_text(result->value[control][1], result->measure), number_text(ratio->ratio),
		  interval_text(ratio));
}

/* Of two times: how many times shorter. */
static void add_times(struct grid *grid, const char *name, double without_ns, double with_ns)
{
	if (without_ns >= 1 && with_ns >= 1)
		grid__row(grid, COLOUR_PLAIN, name, duration_text((uint64_t)without_ns),
			  duration_text((uint64_t)with_ns), number_text(without_ns / with_ns), "");
}

static void print_table(FILE *out, const struct prove_result *result, const struct effect *effect,
			const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"", false}, {"WITHOUT", true}, {"WITH", true}, {"RATIO", true}, {"95%", true},
	};
	const struct prove_side *without = &result->sides[0], *with = &result->sides[1];
	struct grid *grid = grid__new(columns, COUNT_OF(columns));

	add_ratio(grid, "with the change", result, &effect->change, false);
	add_ratio(grid, "control, nothing changed", result, &effect->control, true);
	if (effect->others.blocks)
		grid__row(grid, COLOUR_PLAIN, "other connections",
			  value_text(result->others_value[0], PROVE_TIME),
			  value_text(result->others_value[1], PROVE_TIME),
			  number_text(effect->others.ratio), interval_text(&effect->others));
	add_times(grid, "median request", (double)without->p50_ns, (double)with->p50_ns);
	add_times(grid, "99th percentile", (double)without->p99_ns, (double)with->p99_ns);
	add_times(grid, result->both_ends ? "CPU of a request, both ends" : "CPU of a request",
		  each(without->cpu_ns, without), each(with->cpu_ns, with));
	grid__finish(grid, out, style, 2);
	print_paragraph(out, remark_of(result, effect), 2, style);
}

/* What takes the time where no option does: how much at most it is. */
static void print_not_tried(FILE *out, const struct prove_result *result,
			    const struct render_style *style)
{
	uint64_t left_ns = result->predicted.saves_of_ns - result->predicted.saves_ns;
	char *text = NULL;

	builder__add(&text, "not tried: %s", result->why_not);
	print_paragraph(out, text, 0, style);
	if (!result->predicted.found)
		return;
	wrap__paragraph(out, result->predicted.headline, 2, COLOUR_PLAIN, style);
	if (!result->predicted.saves_ns || !left_ns)
		return;
	text = NULL;
	builder__add(
		&text,
		"Predicted, and not tried: without that a request takes %s in place of %s, at most x%s.",
		duration_text(left_ns), duration_text(result->predicted.saves_of_ns),
		number_text((double)result->predicted.saves_of_ns / (double)left_ns));
	print_paragraph(out, text, 2, style);
}

static json_t *ratio_of(const struct effect_ratio *ratio)
{
	return json_pack("{s:f, s:f, s:f, s:I}", "ratio", ratio->ratio, "low", ratio->low, "high",
			 ratio->high, "blocks", (json_int_t)ratio->blocks);
}

static json_t *side_of(const struct prove_result *result, bool with)
{
	const struct prove_side *side = &result->sides[with];

	return json_pack("{s:f, s:f, s:f, s:f, s:o, s:f}", "requests", side->requests,
			 "requests_per_s", result->rate[with], "p50_ms", (double)side->p50_ns / 1e6,
			 "p99_ms", (double)side->p99_ns / 1e6, "segments_per_request",
			 result->with_later ? json_null() : json_real(each(side->segments, side)),
			 "cpu_us_per_request", each(side->cpu_ns, side) / 1e3);
}

static json_t *predicted_of(const struct prove_result *result)
{
	if (!result->predicted.found)
		return json_null();
	return json_pack("{s:s, s:s, s:f, s:f}", "cause", cause__info(result->predicted.cause)->id,
			 "headline", result->predicted.headline, "saves_ms",
			 (double)result->predicted.saves_ns / 1e6, "of_ms",
			 (double)result->predicted.saves_of_ns / 1e6);
}

static void print_json(FILE *out, const struct prove_result *result, const struct effect *effect)
{
	json_t *object;

	json_value__begin();
	object = json_object();
	json_object_set_new(object, "schema", json_string("netstall.prove/1"));
	json_object_set_new(object, "fix", json_string("nodelay"));
	json_object_set_new(object, "connections", json_integer((json_int_t)result->conns));
	json_object_set_new(object, "later_connections", json_boolean(result->with_later));
	json_object_set_new(object, "outcome", json_string(outcome_of(result, effect)));
	json_object_set_new(object, "why", json_value__text(result->why_not));
	json_object_set_new(object, "cut_short", json_boolean(result->is_cut_short));
	json_object_set_new(object, "judged_by",
			    json_string(result->measure == PROVE_RATE ? "rate" : "request-time"));
	json_object_set_new(object, "change", ratio_of(&effect->change));
	json_object_set_new(object, "control", ratio_of(&effect->control));
	json_object_set_new(object, "others",
			    effect->others.blocks ? ratio_of(&effect->others) : json_null());
	json_object_set_new(object, "without", side_of(result, false));
	json_object_set_new(object, "with", side_of(result, true));
	json_object_set_new(object, "predicted", predicted_of(result));
	json_object_set_new(object, "altered_ms", json_real((double)result->altered_ns / 1e6));
	json_value__dump(out, object, 0);
}

/* It is better, but not surely by as much as is asked for. */
static void print_required(FILE *out, double required, const struct effect *effect,
			   const struct render_style *style)
{
	char *text = NULL;

	builder__add(&text, "--require %s is not met: the interval begins at %s",
		     number_text(required), number_text(effect->change.low));
	print_paragraph(out, text, 0, style);
}

static bool is_enough(const struct prove_options *options, const struct effect *effect)
{
	return effect->outcome == EFFECT_PROVEN && effect->change.low >= options->required;
}

static int say(const struct prove_options *options, const struct prove_result *result)
{
	struct render_style style = {0};
	struct effect effect;

	output__style(&style, stdout, options->common.no_color);
	effect__judge(&effect, result->blocks, result->block_count);
	effect__judge_others(&effect, result->others, result->block_count);
	if (options->common.json) {
		print_json(stdout, result, &effect);
	} else if (result->why_not) {
		print_not_tried(stdout, result, &style);
	} else {
		print_paragraph(stdout, sentence_of(result, &effect), 0, &style);
		if (effect.change.blocks)
			print_table(stdout, result, &effect, &style);
		if (effect.outcome == EFFECT_PROVEN && !is_enough(options, &effect))
			print_required(stdout, options->required, &effect, &style);
	}
	if (result->why_not)
		return options->dry_run      ? EXIT_OK
		       : result->saw_nothing ? NOT_CONCLUDED
					     : NO_FIX_HELPS;
	if (is_enough(options, &effect))
		return EXIT_OK;
	return effect.outcome == EFFECT_INCONCLUSIVE ? NOT_CONCLUDED : NO_FIX_HELPS;
}

/* ---- the command line ---- */

#define PROVE(field) INTO(struct prove_options, field)

static const struct option_row rows[] = {
	{.help = "What is tried, and how long:"},
	{'d', "duration", "SECS",
	 "Look for what stalls so long before anything is changed (default 3)", option__positive,
	 INTO(struct options, seconds), .high = 3600, .what = "the duration in seconds"},
	{0, "port", "PORT",
	 "Connections of the service at this port (default: the one whose stalls cost most)",
	 option__number, PROVE(port), 1, 65535, "a port"},
	{0, "blocks", "N",
	 "Blocks of four windows with the change, and as many without, which are the control (default 8, the least)",
	 option__number, PROVE(blocks), EFFECT_BLOCKS_LEAST, EFFECT_BLOCKS_MOST / 2, "--blocks"},
	{0, "require", "RATIO",
	 "Exit with 0 only if it is better by this ratio, surely: the interval begins there or above",
	 option__positive, PROVE(required), .high = 1e6, .what = "the ratio of --require"},
	{0, "dry-run", NULL, "Say what would be changed, and change nothing", option__flag,
	 PROVE(dry_run)},
	{0, "yes", NULL, "Do not ask before sockets are changed", option__flag, PROVE(yes)},
	{.help = "Output:"},
	{0, "json", NULL, "JSON", option__flag, INTO(struct options, json)},
	{0},
};

static void check(void *parsed, const struct argp_state *state)
{
	const struct prove_options *options = parsed;

	if (options->common.target.program)
		usage_error(state, "prove tries a program that runs: name it by -p PID");
}

const struct command_options cmd_prove_options = {
	.command = COMMAND_PROVE,
	.examples = {{"sudo netstall prove -p PID",
		      "sets TCP_NODELAY where bytes are held back, on and off, and back"}},
	.usage = "-p PID",
	.help = "Try a fix on the running program's connections, and believe it only if it helps.\v"
		"Exit status: 0 proven, 1 not, 2 could not try, 3 inconclusive, 64 wrong usage.",
	.rows = rows,
	.takes_target = true,
	.check = check,
};

/* On a terminal it asks; a script says --yes. */
static bool may_change(const struct prove_options *options)
{
	char answer[8] = "";

	if (options->yes || options->dry_run)
		return true;
	if (!isatty(STDIN_FILENO)) {
		log__error(
			"prove changes sockets of running programs: say so with --yes, or look "
			"with --dry-run");
		return false;
	}
	fprintf(stderr,
		"netstall will set %s on connections of the target, on and off, and set it back. Go on? [y/N] ",
		socket_option__nodelay.name);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int cmd_prove(int argc, char **argv)
{
	struct prove_options options = {.blocks = EFFECT_BLOCKS_LEAST};
	struct prove_result result;
	int status = EXIT_UNABLE;

	options__init(&options.common);
	options__parse(&cmd_prove_options, argc, argv, &options);
	if (!may_change(&options))
		return EXIT_UNABLE;
	if (!prove_run(&(struct prove_plan){.target = &options.common.target,
					    .session = &options.common.session,
					    .change = &socket_option__nodelay,
					    .look_s = options.common.seconds
							      ? options.common.seconds
							      : LOOK_SECS,
					    .blocks = options.blocks,
					    .port = options.port,
					    .dry_run = options.dry_run},
		       &result))
		status = say(&options, &result);
	prove_result__clear(&result);
	return status;
}
