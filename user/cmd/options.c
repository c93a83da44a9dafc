// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/offcpu_sample.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/record/record.h"

#define PID_LIMIT 4194304 /* PID_MAX_LIMIT, include/linux/threads.h */
#define FIRST_KEY 0x100   /* of options without a letter, from here on */

void options__init(struct options *options)
{
	memset(options, 0, sizeof(*options));
	options->session.way = WAY_AUTO;
	options->session.threshold_ns = DEFAULT_THRESHOLD_NS;
	options->show = SHOW_IN_REPORT;
}

void usage_error(const struct argp_state *state, const char *format, ...)
{
	char *raw, *line;
	va_list args;
	size_t size;

	va_start(args, format);
	raw = xvasprintf(format, args);
	va_end(args);
	size = TEXT_SAFE(strlen(raw));
	line = xcalloc(1, size);
	fprintf(stderr, "%s: %s (see `%s --help`)\n", state->name, text__safe_line(line, size, raw),
		state->name);
	free(line);
	free(raw);
	exit(EXIT_USAGE);
}

/* ---- values ---- */

long options__number(const char *text, const char *what, long low, long high,
		     const struct argp_state *state)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < low || value > high)
		usage_error(state, "%s must be a whole number from %ld to %ld, not '%s'", what, low,
			    high, text);
	return value;
}

double options__positive(const char *text, const char *what, double high,
			 const struct argp_state *state)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0 || value > high)
		usage_error(state, "%s must be more than 0 and at most %.10g, not '%s'", what, high,
			    text);
	return value;
}

/* "-o", "--keep" */
static const char *name_of(const struct option_row *row, char *out, size_t size)
{
	if (row->letter)
		snprintf(out, size, "-%c", row->letter);
	else
		snprintf(out, size, "--%s", row->name);
	return out;
}

void option__flag(const struct option_row *row, char *arg, void *to, const struct argp_state *state)
{
	(void)row;
	(void)arg;
	(void)state;
	*(bool *)to = true;
}

/* An empty one is most often an empty variable. */
void option__name(const struct option_row *row, char *arg, void *to, const struct argp_state *state)
{
	char name[32];

	if (!*arg)
		usage_error(state, "%s needs a name that is not empty",
			    name_of(row, name, sizeof(name)));
	*(const char **)to = arg;
}

void option__number(const struct option_row *row, char *arg, void *to,
		    const struct argp_state *state)
{
	char name[32];
	long value;

	value = options__number(arg, row->what ? row->what : name_of(row, name, sizeof(name)),
				row->low, row->high, state);
	if (row->size == sizeof(uint16_t))
		*(uint16_t *)to = value;
	else if (row->size == sizeof(uint32_t))
		*(uint32_t *)to = value;
	else
		*(uint64_t *)to = value;
}

void option__positive(const struct option_row *row, char *arg, void *to,
		      const struct argp_state *state)
{
	*(double *)to = options__positive(arg, row->what, row->high, state);
}

void option__threshold(const struct option_row *row, char *arg, void *to,
		       const struct argp_state *state)
{
	(void)row;
	*(uint64_t *)to =
		ceil(options__positive(arg, "the threshold in milliseconds", 3.6e6, state) * 1e6);
}

/* ---- targets ---- */

/* To those that pids has; too_many: the sentence where there is no room. */
static void add_pids(char *arg, pid_t *pids, size_t *count, const char *too_many,
		     const struct argp_state *state)
{
	char *word;

	while ((word = strsep(&arg, ","))) {
		if (*count == TARGET_PIDS)
			usage_error(state, too_many, TARGET_PIDS);
		pids[(*count)++] = options__number(word, "a pid", 1, PID_LIMIT, state);
	}
}

static void parse_pids(const struct option_row *row, char *arg, void *to,
		       const struct argp_state *state)
{
	struct target *target = to;

	(void)row;
	add_pids(arg, target->pids, &target->pid_count,
		 "-p takes at most %d pids; -c or --comm take any number", state);
}

static void parse_not_pids(const struct option_row *row, char *arg, void *to,
			   const struct argp_state *state)
{
	struct target *target = to;

	(void)row;
	add_pids(arg, target->not_pids, &target->not_pid_count,
		 "--not-pid takes at most %d pids; --not-comm takes any number", state);
}

static void parse_tids(const struct option_row *row, char *arg, void *to,
		       const struct argp_state *state)
{
	struct target *target = to;
	char *word;

	(void)row;
	target->tid_count = 0;
	while ((word = strsep(&arg, ","))) {
		if (target->tid_count == TARGET_TIDS)
			usage_error(state, "-t takes at most %d tids", TARGET_TIDS);
		target->tids[target->tid_count++] =
			options__number(word, "a tid", 1, PID_LIMIT, state);
	}
	target->tid = target->tids[0];
}

static void check_target(const struct target *target, unsigned command,
			 const struct argp_state *state)
{
	char name[128];

	if (target->everything &&
	    (!target__is_any_process(target) || target->lport || target->rport))
		usage_error(state, "-a is every process: leave out what else names a target");
	/* offwake has -a beside them, and says so itself. */
	if (target__is_empty(target) && command == COMMAND_OFFWAKE)
		return;
	if (target->program && !*target->program[0])
		usage_error(state, "-- needs a name that is not empty");
	if (target__is_empty(target))
		usage_error(
			state,
			"name a target: -p PID, -t TID, --comm NAME, -c CGROUP, -L PORT, -D PORT, "
			"-- PROGRAM, or -a for every process");
	if (target->program && (target->pid_count || target->tid || target->comm || target->cgroup))
		usage_error(state,
			    "'%s' is a program to run, as it follows the options, and -p, -t, "
			    "--comm and -c name another target: leave out the one or the other; "
			    "pids are joined by commas",
			    text__safe(name, sizeof(name), target->program[0], 64));
	if (target->tid && (target->pid_count || target->comm || target->cgroup))
		usage_error(state, "-t excludes -p, --comm and -c: leave them out");
	if (target->tid_count > 1 && command != COMMAND_OFFWAKE)
		usage_error(state, "-t takes one thread here; offwake takes several");
}

/* The first of all cgroups has every process. */
static void parse_cgroup(const struct option_row *row, char *arg, void *to,
			 const struct argp_state *state)
{
	struct target *target = to;

	if (!strcmp(arg, "/"))
		target->everything = true;
	else
		option__name(row, arg, &target->cgroup, state);
}

#define FOR_MACHINE (COMMAND_TRACE | COMMAND_RECORD | COMMAND_CHECK)

static const struct option_row target_rows[] = {
	{.help = "Target:"},
	{'a', "all-processes", NULL,
	 "Every process that uses the network: which of them stalls, worst first", option__flag,
	 INTO(struct options, target.everything), .commands = FOR_MACHINE},
	{'p', "pid", "PID[,PID]", "Processes, by pid", parse_pids, INTO(struct options, target)},
	{'t', "tid", "TID", "One thread (offwake: up to 5, TID,TID)", parse_tids,
	 INTO(struct options, target)},
	{0, "comm", "NAME", "Processes with this name, also those that start or take it later",
	 option__name, INTO(struct options, target.comm)},
	{'c', "cgroup", "PATH", "Processes in this cgroup (version 2) and below", parse_cgroup,
	 INTO(struct options, target)},
	{0, "container", "ID", "Processes of this container, by the first digits of its id",
	 option__name, INTO(struct options, target.cgroup)},
	{'L', "lport", "PORT", "Only connections with this local port", option__number,
	 INTO(struct options, target.lport), 1, 65535, "a local port"},
	{'D', "rport", "PORT", "Only connections with this remote port", option__number,
	 INTO(struct options, target.rport), 1, 65535, "a remote port"},
	{0, "not-comm", "NAME", "No processes with this name", option__name,
	 INTO(struct options, target.not_comm)},
	{0, "not-pid", "PID[,PID]", "Not these processes", parse_not_pids,
	 INTO(struct options, target)},
	{0, "children", NULL, "Also the targets' children, present and future", option__flag,
	 INTO(struct options, target.children)},
	{0},
};

/* ---- rare knobs ---- */

static void parse_way(const struct option_row *row, char *arg, void *to,
		      const struct argp_state *state)
{
	enum way way = way__find(arg);

	(void)row;
	if (way == WAY_COUNT && strcmp(arg, "auto"))
		usage_error(state, "attach is auto, fentry, kprobe or tracepoint, not '%s'", arg);
	*(enum way *)to = way;
}

static void parse_btf(const struct option_row *row, char *arg, void *to,
		      const struct argp_state *state)
{
	(void)row;
	if (!*arg)
		usage_error(state, "btf takes a file: -C btf=FILE");
	*(const char **)to = arg;
}

static void parse_ring(const struct option_row *row, char *arg, void *to,
		       const struct argp_state *state)
{
	option__number(row, arg, to, state);
	if (*(unsigned *)to & (*(unsigned *)to - 1))
		usage_error(state, "ringbuf.bytes must be a power of two, not '%s'", arg);
}

#define MOST_TABLE     (1 << 20)
#define MOST_HISTORIES (1 << 17)

static const struct option_row knobs[] = {
	{0, "attach", "auto|fentry|kprobe|tracepoint", NULL, parse_way,
	 INTO(struct options, session.way), .about = "by-cause"},
	{0, "btf", "FILE", NULL, parse_btf, INTO(struct options, session.btf_path)},
	{0, "ringbuf.bytes", "N", NULL, parse_ring, INTO(struct options, session.ringbuf_bytes),
	 4096, 1 << 30, "ringbuf.bytes", .about = "by-cause"},
	{0, "conns.max", "N", NULL, option__number, INTO(struct options, session.max_conns), 1,
	 MOST_TABLE, "conns.max", .about = "by-cause"},
	{0, "histories.max", "N", NULL, option__number, INTO(struct options, session.max_histories),
	 1, MOST_HISTORIES, "histories.max", .about = "by-cause"},
	{0, "threads.max", "N", NULL, option__number, INTO(struct options, session.max_threads), 1,
	 MOST_TABLE, "threads.max", .about = "by-cause"},
	{0, "uring.max", "N", NULL, option__number, INTO(struct options, session.max_ops), 1,
	 MOST_TABLE, "uring.max", .about = "by-cause"},
	{0, "stack.bytes", "N", NULL, option__number, INTO(struct options, session.stack_bytes),
	 NS_OFFCPU_STACK_LEAST, NS_OFFCPU_STACK_MOST, "stack.bytes", .commands = COMMAND_OFFWAKE},
};

#define KNOBS (sizeof(knobs) / sizeof(knobs[0]))

/* ---- the command line ---- */

struct parser {
	const struct command_options *command;
	void *options;
	const struct option_row *rows[OPTION_ROWS];
	bool given[OPTION_ROWS];
	size_t count;
	const struct option_row *abouts[OPTION_ROWS]; /* that were given, of those that have one */
	size_t about_count;
};

static void note_about(struct parser *parser, const struct option_row *row)
{
	if (row->about && parser->about_count < OPTION_ROWS)
		parser->abouts[parser->about_count++] = row;
}

static void take_value(struct parser *parser, const struct option_row *row, char *arg,
		       const struct argp_state *state)
{
	row->parse(row, arg, (char *)parser->options + row->at, state);
}

static void parse_knob(struct parser *parser, char *text, const struct argp_state *state)
{
	char *value = strchr(text, '='), names[128] = "";

	if (!value)
		usage_error(state, "-C takes KEY=VALUE, not '%s'", text);
	*value++ = '\0';
	for (size_t i = 0; i < KNOBS; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s",
			 !i              ? ""
			 : i + 1 < KNOBS ? ", "
					 : " and ",
			 knobs[i].name);
		if (strcmp(knobs[i].name, text) != 0)
			continue;
		if (knobs[i].commands && !(knobs[i].commands & parser->command->command))
			usage_error(state, "-C %s is for offwake: leave it out here", text);
		take_value(parser, &knobs[i], value, state);
		if (strcmp(value, "auto") != 0)
			note_about(parser, &knobs[i]);
		return;
	}
	usage_error(state, "-C knows no '%s': it knows %s", text, names);
}

static void parse_verbose(const struct option_row *row, char *arg, void *to,
			  const struct argp_state *state)
{
	option__flag(row, arg, to, state);
	log__set_verbose(true);
}

static const struct option_row common_rows[] = {
	{0, "json", NULL, "JSON Lines: events, then the report as the last line", option__flag,
	 INTO(struct options, json), .commands = COMMAND_TRACE | COMMAND_REPORT | COMMAND_DEMO},
	{'o', "output", "FILE", "Write to this file (readable by you alone) instead of stdout",
	 option__name, INTO(struct options, output),
	 .commands = COMMAND_TRACE | COMMAND_REPORT | COMMAND_OFFWAKE},
	{'o', "output", "FILE", "The recording, readable by you alone", option__name,
	 INTO(struct options, output), .commands = COMMAND_RECORD},
	{0, "own", "PATH",
	 "Code below this path is the program's own, in call sites, wherever it lies", option__name,
	 INTO(struct options, session.own_code),
	 .commands = COMMAND_TRACE | COMMAND_RECORD | COMMAND_CHECK},
	{0, "no-color", NULL, "No colours on a terminal (also: NO_COLOR set)", option__flag,
	 INTO(struct options, no_color), .commands = ~COMMAND_DOCTOR},
	{'v', "verbose", NULL, "The whole report; also log each step and the kernel's messages",
	 parse_verbose, INTO(struct options, verbose),
	 .commands = COMMAND_TRACE | COMMAND_REPORT | COMMAND_DEMO},
	{'v', "verbose", NULL, "Log each step and the kernel's messages", parse_verbose,
	 INTO(struct options, verbose),
	 .commands = ~(COMMAND_TRACE | COMMAND_REPORT | COMMAND_DEMO)},
	{0},
};

static size_t add_rows(const struct command_options *command, const struct option_row *rows,
		       const struct option_row **out, size_t count, size_t most)
{
	for (; rows->parse || rows->help; rows++)
		if ((!rows->commands || rows->commands & command->command) && count < most)
			out[count++] = rows;
	return count;
}

size_t options__rows(const struct command_options *command, const struct option_row **rows,
		     size_t most)
{
	size_t count = 0;

	if (command->takes_target)
		count = add_rows(command, target_rows, rows, count, most);
	count = add_rows(command, command->rows, rows, count, most);
	return add_rows(command, common_rows, rows, count, most);
}

const struct option_row *options__knobs(size_t *count)
{
	*count = KNOBS;
	return knobs;
}

static int key_of(const struct parser *parser, size_t i)
{
	return parser->rows[i]->letter ? parser->rows[i]->letter : FIRST_KEY + (int)i;
}

static void check_abouts(const struct parser *parser, const struct argp_state *state)
{
	for (size_t i = 0; i < parser->about_count; i++) {
		const struct option_row *row = parser->abouts[i];
		bool knob = row >= knobs && row < knobs + KNOBS;

		for (size_t j = 0; j < parser->count; j++) {
			const struct option_row *other = parser->rows[j];

			if (parser->given[j] || !other->name || strcmp(other->name, row->about))
				continue;
			if (knob)
				usage_error(state, "-C %s needs --%s: add it, or leave out -C",
					    row->name, other->name);
			usage_error(state, "--%s needs --%s%s%s: add it, or leave out --%s",
				    row->name, other->name, other->argument ? " " : "",
				    other->argument ? other->argument : "", row->name);
		}
	}
}

static error_t parse_option(struct parser *parser, int key, char *arg,
			    const struct argp_state *state)
{
	for (size_t i = 0; i < parser->count; i++) {
		const struct option_row *row = parser->rows[i];

		if (!row->parse || key != key_of(parser, i))
			continue;
		take_value(parser, row, arg, state);
		parser->given[i] = true;
		note_about(parser, row);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* One screen: 24 lines of 80 columns. */
#define SHORT_LINES 12
#define SHORT_WIDTH 79

/* So much of a sentence as has room and says something: up to where it goes into detail. */
static size_t short_size(const char *help, size_t room)
{
	bool is_aside = false;
	size_t size = 0;

	if (strlen(help) <= room)
		return strlen(help);
	for (size_t i = 1; i <= room; i++) {
		bool ends = strchr(":;,.", help[i]) && help[i + 1] == ' ';

		if (!is_aside && (ends || !strncmp(&help[i], " (", 2)))
			size = i;
		is_aside = help[i] == '(' || (is_aside && help[i] != ')');
	}
	return size ? size : room;
}

static void print_short_help(const struct parser *parser, const char *name)
{
	const struct command_options *command = parser->command;
	int lines = 0;

	printf("Usage: %s [OPTION...]%s%.*s\n\n", name, command->usage ? " " : "",
	       command->usage ? (int)strcspn(command->usage, "\n") : 0,
	       command->usage ? command->usage : "");
	for (size_t i = 0; i < 2 && command->examples[i].line; i++)
		printf("  %s\n      %s\n", command->examples[i].line, command->examples[i].what);
	putchar('\n');
	for (size_t i = 0; i < parser->count && lines < SHORT_LINES; i++) {
		const struct option_row *row = parser->rows[i];
		int size;

		if (!row->letter || !row->name || !row->help)
			continue;
		size = printf("  -%c, --%s%s%s", row->letter, row->name, row->argument ? "=" : "",
			      row->argument ? row->argument : "");
		size += printf("%*s", size < 24 ? 24 - size : 1, "");
		printf("%.*s\n", (int)short_size(row->help, (size_t)(SHORT_WIDTH - size)),
		       row->help);
		lines++;
	}
	printf("\nAll options: %s --help\n", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parser *parser = state->input;
	const struct command_options *command = parser->command;
	struct options *options = parser->options;

	switch (key) {
	case 'h':
		print_short_help(parser, state->name);
		exit(EXIT_OK);
	case 'C':
		if (command->command == COMMAND_REPORT)
			return ARGP_ERR_UNKNOWN;
		parse_knob(parser, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!command->word)
			return ARGP_ERR_UNKNOWN;
		command->word(arg, options, state);
		return 0;
	case ARGP_KEY_ARGS:
		options->target.program = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (command->takes_target)
			check_target(&options->target, command->command, state);
		check_abouts(parser, state);
		if (command->check)
			command->check(options, state);
		return 0;
	default:
		return parse_option(parser, key, arg, state);
	}
}

/* "attach=auto|fentry, ..., stack.bytes=N (offwake)" */
static char *knobs_help(void)
{
	char *text = xstrdup("Rarely needed: ");

	for (size_t i = 0; i < KNOBS; i++) {
		char *longer = xasprintf("%s%s%s=%s%s", text, i ? ", " : "", knobs[i].name,
					 knobs[i].argument,
					 knobs[i].commands == COMMAND_OFFWAKE ? " (offwake)" : "");

		free(text);
		text = longer;
	}
	return text;
}

/* Its last ones but the empty one are -h and -C. */
static void list_options(const struct parser *parser, struct argp_option *list, char *about_knobs)
{
	int group = 0;

	for (size_t i = 0; i < parser->count; i++) {
		const struct option_row *row = parser->rows[i];

		list[i] =
			row->parse
				? (struct argp_option){row->name,     key_of(parser, i),
						       row->argument, row->help ? 0 : OPTION_HIDDEN,
						       row->help,     group}
				: (struct argp_option){.doc = row->help, .group = ++group};
	}
	list[parser->count] = (struct argp_option){NULL, 'h', NULL, 0, "This, in one screen", -1};
	if (parser->command->command != COMMAND_REPORT)
		list[parser->count + 1] =
			(struct argp_option){NULL, 'C', "KEY=VALUE", 0, about_knobs, group};
}

/* What argp shows before and behind the options: \v divides. */
static char *doc_of(const struct command_options *command)
{
	const char *behind = strchr(command->help, '\v');
	size_t before = behind ? (size_t)(behind - command->help) : strlen(command->help);
	char *text = xasprintf("%.*s\vExamples:\n\n", (int)before, command->help), *longer;

	for (size_t i = 0; i < OPTION_EXAMPLES && command->examples[i].line; i++) {
		longer = xasprintf("%s  %s\n      %s\n", text, command->examples[i].line,
				   command->examples[i].what);
		free(text);
		text = longer;
	}
	longer = xasprintf("%s%s%s", text, behind ? "\n" : "", behind ? behind + 1 : "");
	free(text);
	return longer;
}

static const struct argp_option *option_of_letter(const struct argp_option *list, int letter)
{
	for (; list->name || list->key || list->doc; list++)
		if (list->key == letter)
			return list;
	return NULL;
}

/* By its name or the beginning of one, as argp does. */
static const struct argp_option *option_of_name(const struct argp_option *list, const char *name,
						size_t len)
{
	for (; list->name || list->key || list->doc; list++)
		if (list->name && !strncmp(list->name, name, len))
			return list;
	return NULL;
}

/* Is the next word the value of this one? */
static bool takes_next(const struct argp_option *list, const char *word)
{
	const struct argp_option *option;

	if (word[1] == '-') {
		option = option_of_name(list, word + 2, strcspn(word + 2, "="));
		return option && option->arg && !strchr(word, '=');
	}
	while (*++word) {
		option = option_of_letter(list, *word);
		if (option && option->arg)
			return !word[1];
	}
	return false;
}

/* argp would say no more than that it does not know it. */
static void check_names(const struct parser *parser, const struct argp_option *list, int argc,
			char **argv)
{
	const char *names[OPTION_ROWS], *near;
	size_t count = 0;

	for (size_t i = 0; i < parser->count; i++)
		if (list[i].name && !(list[i].flags & OPTION_HIDDEN))
			names[count++] = list[i].name;
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		size_t len = strcspn(argv[i], "=");
		char *name;

		if (argv[i][0] != '-' && !parser->command->word)
			return; /* a program, and its own options */
		if (argv[i][0] != '-')
			continue;
		if (strncmp(argv[i], "--", 2) || option_of_name(list, argv[i] + 2, len - 2) ||
		    !strncmp("help", argv[i] + 2, len - 2) ||
		    !strncmp("usage", argv[i] + 2, len - 2)) {
			i += takes_next(list, argv[i]);
			continue;
		}
		name = xasprintf("%.*s", (int)len - 2, argv[i] + 2);
		near = text__nearest(name, names, count);
		log__error("no option '--%s': %s%s%s`%s --help` lists them", name,
			   near ? "did you mean --" : "", near ? near : "", near ? "? " : "",
			   argv[0]);
		exit(EXIT_USAGE);
	}
}

void options__parse(const struct command_options *command, int argc, char **argv, void *options)
{
	struct parser parser = {.command = command, .options = options};
	struct argp_option list[OPTION_ROWS + 3] = {0};
	char *about_knobs = knobs_help(), *doc = doc_of(command);
	const struct argp argp = {
		.options = list, .parser = parse, .args_doc = command->usage, .doc = doc};

	parser.count = options__rows(command, parser.rows, OPTION_ROWS);
	list_options(&parser, list, about_knobs);
	check_names(&parser, list, argc, argv);
	argp_parse(&argp, argc, argv, command->word ? 0 : ARGP_IN_ORDER, NULL, &parser);
	free(about_knobs);
	free(doc);
}
