// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/generate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analyze/cause.h"
#include "user/base/log.h"
#include "user/cmd/commands.h"
#include "user/cmd/options.h"

struct listed {
	const struct option_row *rows[OPTION_ROWS];
	size_t count;
};

static struct listed rows_of(const struct command *command)
{
	struct listed listed;

	listed.count = options__rows(command->options, listed.rows, OPTION_ROWS);
	return listed;
}

/* Without headings, and what help hides. */
static struct listed options_of(const struct command *command)
{
	const struct listed all = rows_of(command);
	struct listed listed = {.count = 0};

	for (size_t i = 0; i < all.count; i++)
		if (all.rows[i]->help && all.rows[i]->parse)
			listed.rows[listed.count++] = all.rows[i];
	return listed;
}

/* ---- manual pages: mdoc(7) ---- */

static void put_char(FILE *out, const char *at, size_t left)
{
	switch (*at) {
	case '\\':
		fputs("\\e", out);
		break;
	case '-':
		fputs("\\-", out);
		break;
	case '`':
		fputs("\\(oq", out);
		break;
	case '"':
		fputs("\\(dq", out);
		break;
	case '(': /* "accept()" is no macro's business */
		fputs(left > 1 && at[1] == ')' ? "\\&(" : "(", out);
		break;
	default:
		fputc(*at, out);
	}
}

static void put_chars(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		put_char(out, text + i, size - i);
}

/* A line that begins with a point would be a request; a backslash begins an escape. */
static void put_text(FILE *out, const char *text, size_t size)
{
	if (size && (*text == '.' || *text == '\''))
		fputs("\\&", out);
	put_chars(out, text, size);
}

#define LINE_MOST 60 /* of what is not escaped yet */

/* A new line for each sentence, as mdoc wants it, and for what is too long for one. */
static void put_sentences(FILE *out, const char *text, size_t size)
{
	size_t column = 0;

	while (size) {
		size_t word = 0;
		bool ends;

		while (word < size && !isspace((unsigned char)text[word]))
			word++;
		ends = word && strchr(".?!", text[word - 1]) && word < size;
		if (column && column + word > LINE_MOST) {
			fputc('\n', out);
			column = 0;
		}
		if (column && word)
			fputc(' ', out);
		if (word)
			column ? put_chars(out, text, word) : put_text(out, text, word);
		column = ends ? 0 : column + word + 1;
		if (ends)
			fputc('\n', out);
		text += word;
		size -= word;
		while (size && isspace((unsigned char)*text))
			text++, size--;
	}
	if (column)
		fputc('\n', out);
}

static const char *behind_options(const struct command_options *options)
{
	const char *behind = strchr(options->help, '\v');

	return behind ? behind + 1 : "";
}

static size_t before_options(const struct command_options *options)
{
	return strcspn(options->help, "\v");
}

static void put_head(FILE *out, const char *title, const char *name, const char *what)
{
	fprintf(out,
		".\\\" Made by `netstall generate man`: its rows are those of --help.\n"
		".Dd " NETSTALL_RELEASED "\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n",
		title, name, what);
}

static void put_item(FILE *out, const struct option_row *row)
{
	fputs(".It", out);
	if (row->letter)
		fprintf(out, " Fl %c%s", row->letter, row->name ? " ," : "");
	if (row->name) {
		fputs(" Fl \\-", out);
		put_text(out, row->name, strlen(row->name));
	}
	if (row->argument) {
		fputs(row->name ? " Ns = Ns Ar " : " Ar ", out);
		put_text(out, row->argument, strlen(row->argument));
	}
	fputc('\n', out);
	put_sentences(out, row->help, strlen(row->help));
}

static void put_options(FILE *out, const struct command *command)
{
	const struct listed listed = rows_of(command);
	const struct option_row *knobs;
	bool open = false;
	size_t count;

	for (size_t i = 0; i < listed.count; i++) {
		const struct option_row *row = listed.rows[i];

		if (!row->help)
			continue;
		if (!row->parse || !open) {
			if (open)
				fputs(".El\n", out);
			if (!row->parse) {
				fputs(".Ss ", out);
				put_text(out, row->help, strcspn(row->help, ":"));
				fputc('\n', out);
			}
			fputs(".Bl -tag -width Ds\n", out);
			open = true;
		}
		if (row->parse)
			put_item(out, row);
	}
	if (open)
		fputs(".El\n", out);
	if (command->options->command == COMMAND_REPORT)
		return;
	fputs(".Ss Rarely needed\n.Bl -tag -width Ds\n", out);
	knobs = options__knobs(&count);
	for (size_t i = 0; i < count; i++) {
		if (knobs[i].commands && !(knobs[i].commands & command->options->command))
			continue;
		fprintf(out, ".It Fl C Ar %s Ns = Ns Ar %s\n", knobs[i].name, knobs[i].argument);
	}
	fputs(".El\n", out);
}

static void put_examples(FILE *out, const struct command_options *options)
{
	for (size_t i = 0; i < OPTION_EXAMPLES && options->examples[i].line; i++) {
		put_sentences(out, options->examples[i].what, strlen(options->examples[i].what));
		fputs(".Pp\n.Dl ", out);
		put_text(out, options->examples[i].line, strlen(options->examples[i].line));
		fputs("\n.Pp\n", out);
	}
}

static void put_command_page(FILE *out, const struct command *command)
{
	const struct command_options *options = command->options;
	const char *behind = behind_options(options);
	const char *usage = options->usage ? options->usage : "";
	char title[32], name[32];

	snprintf(name, sizeof(name), "netstall\\-%s", command->name);
	snprintf(title, sizeof(title), "NETSTALL-%s", command->name);
	for (char *at = title; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	put_head(out, title, name, command->help);
	fputs(".Sh SYNOPSIS\n", out);
	do {
		size_t size = strcspn(usage, "\n");

		fprintf(out, ".Nm netstall %s\n.Op Ar option ...\n", command->name);
		if (size) {
			put_text(out, usage, size);
			fputc('\n', out);
		}
		usage += size + (usage[size] == '\n');
	} while (*usage);
	fputs(".Sh DESCRIPTION\n", out);
	put_sentences(out, options->help, before_options(options));
	fputs(".Pp\nFor example:\n.Pp\n", out);
	put_examples(out, options);
	fputs("The options are:\n", out);
	put_options(out, command);
	if (*behind) { /* of the exit status, and no more */
		fputs(".Sh EXIT STATUS\n", out);
		put_sentences(out, behind, strlen(behind));
	}
	fputs(".Sh SEE ALSO\n.Xr netstall 1\n", out);
}

static int by_name(const void *a, const void *b)
{
	const struct command *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void put_pages(FILE *out)
{
	const struct command *sorted[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		sorted[i] = &commands[i];
	qsort(sorted, COMMANDS, sizeof(sorted[0]), by_name);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, ".Xr netstall\\-%s 1%s\n", sorted[i]->name,
			i + 1 < COMMANDS ? " ," : "");
}

static void put_page(FILE *out)
{
	put_head(out, "NETSTALL", "netstall",
		 "find why a running program waits on the network, and which line to change");
	fputs(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n.Op Fl \\- Ar program ...\n"
	      ".Sh DESCRIPTION\n.Nm\n"
	      "traces a program with eBPF, and explains each of its stalls:\n"
	      "Nagle's algorithm against delayed ACKs, corks, retransmissions,\n"
	      "slow peers, locks, disks, CPUs that were not to be had.\nFor example:\n.Pp\n",
	      out);
	put_examples(out, &cmd_trace_options);
	fputs("The commands are:\n.Bl -tag -width offwake\n", out);
	for (size_t i = 0; i < COMMANDS; i++) {
		fprintf(out, ".It Cm %s\n", commands[i].name);
		put_sentences(out, commands[i].help, strlen(commands[i].help));
		fprintf(out, "(see\n.Xr netstall\\-%s 1 )\n", commands[i].name);
	}
	fputs(".El\n.Ss Causes\nThe causes of stalls:\n.Bl -tag -width Ds\n", out);
	for (enum cause cause = 0; cause < CAUSE_COUNT; cause++) {
		const struct cause_info *info = cause__info(cause);

		if (info->never_of_stall)
			continue;
		fputs(".It Cm ", out);
		put_text(out, info->id, strlen(info->id));
		fputc('\n', out);
		put_sentences(out, info->meaning, strlen(info->meaning));
	}
	fputs(".El\n.Sh ENVIRONMENT\n.Bl -tag -width NO_COLOR\n.It Ev NO_COLOR\n"
	      "If set, nothing is coloured; nor is it where TERM is dumb.\n.El\n"
	      ".Sh EXIT STATUS\n0 done, 2 it could not be done, 64 wrong usage; "
	      "netstall check has more.\n.Sh SEE ALSO\n",
	      out);
	put_pages(out);
}

/* ---- completions ---- */

enum value {
	VALUE_NONE,
	VALUE_ANY, /* nothing can be offered */
	VALUE_PID,
	VALUE_NAME,
	VALUE_FILE,
	VALUE_CAUSE,
	VALUE_CHOICE, /* "a|b|c" */
};

static enum value value_of(const struct option_row *row)
{
	static const struct {
		const char *argument;
		enum value value;
	} values[] = {
		{"PID", VALUE_PID},     {"TID", VALUE_PID},  {"FILE", VALUE_FILE},
		{"PATH", VALUE_FILE},   {"DIR", VALUE_FILE}, {"NAME", VALUE_NAME},
		{"CAUSE", VALUE_CAUSE},
	};

	if (!row->argument)
		return VALUE_NONE;
	if (strchr(row->argument, '|'))
		return VALUE_CHOICE;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		size_t size = strlen(values[i].argument);

		if (!strncmp(row->argument, values[i].argument, size) &&
		    !isalpha((unsigned char)row->argument[size]))
			return values[i].value;
	}
	return VALUE_ANY;
}

static void put_choices(FILE *out, const char *argument)
{
	for (; *argument; argument++)
		fputc(*argument == '|' ? ' ' : *argument, out);
}

static void put_causes(FILE *out)
{
	for (enum cause cause = 0; cause < CAUSE_COUNT; cause++)
		if (!cause__info(cause)->never_of_stall)
			fprintf(out, "%s%s", cause ? " " : "", cause__info(cause)->id);
}

/* Of CAUSE and CHOICE all that there is. */
static void put_words(FILE *out, const struct option_row *row)
{
	if (value_of(row) == VALUE_CAUSE)
		put_causes(out);
	else
		put_choices(out, row->argument);
}

static void put_bash_row(FILE *out, const char *command, const struct option_row *row)
{
	static const char *const offers[] = {
		[VALUE_PID] = "$(cd /proc && echo [0-9]*)",
		[VALUE_NAME] = "$(cat /proc/[0-9]*/comm 2>/dev/null | sort -u)",
	};
	enum value value = value_of(row);

	if (value == VALUE_NONE)
		return;
	fputs("    ", out);
	if (row->letter)
		fprintf(out, "'%s -%c'%s", command, row->letter, row->name ? " | " : "");
	if (row->name)
		fprintf(out, "'%s --%s'", command, row->name);
	fputs(") ", out);
	if (value == VALUE_FILE) {
		fputs("compopt -o default; return", out);
	} else if (value == VALUE_ANY) {
		fputs("return", out);
	} else {
		fputs("words=\"", out);
		if (value == VALUE_CHOICE || value == VALUE_CAUSE)
			put_words(out, row);
		else
			fputs(offers[value], out);
		fputc('"', out);
	}
	fputs(" ;;\n", out);
}

static void put_bash(FILE *out)
{
	fputs("# bash completion for netstall; made by `netstall generate bash`\n_netstall() {\n"
	      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	      "  # \"--name=value\" comes as three words\n"
	      "  [ \"$current\" != = ] || current=\n"
	      "  [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "  if [ \"$COMP_CWORD\" = 1 ]; then\n    words=\"",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "%s ", commands[i].name);
	fputs("--help --version\"\n  else\n    case \"${COMP_WORDS[1]} $before\" in\n", out);
	for (size_t i = 0; i < COMMANDS; i++) {
		const struct listed listed = options_of(&commands[i]);

		for (size_t j = 0; j < listed.count; j++)
			put_bash_row(out, commands[i].name, listed.rows[j]);
		fprintf(out, "    %s*) words=\"", commands[i].name);
		for (size_t j = 0; j < listed.count; j++)
			if (listed.rows[j]->name)
				fprintf(out, "--%s ", listed.rows[j]->name);
		fputs("--help\"\n", out);
		if (commands[i].options->command == COMMAND_REPORT)
			fputs("      [[ $current = -* ]] || { compopt -o default; return; }\n",
			      out);
		fputs("      ;;\n", out);
	}
	fputs("    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
	      "complete -F _netstall netstall\n",
	      out);
}

/* In single quotes. */
static void put_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr(special, *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void put_zsh_value(FILE *out, const struct option_row *row)
{
	switch (value_of(row)) {
	case VALUE_NONE:
		break;
	case VALUE_PID:
		fputs(":pid:_pids", out);
		break;
	case VALUE_FILE:
		fputs(":file:_files", out);
		break;
	case VALUE_NAME:
		fputs(":name:(${(u)$(cat /proc/[0-9]*/comm(N) 2>/dev/null)})", out);
		break;
	case VALUE_CAUSE:
	case VALUE_CHOICE:
		fputs(value_of(row) == VALUE_CAUSE ? ":cause:(" : ":value:(", out);
		put_words(out, row);
		fputc(')', out);
		break;
	case VALUE_ANY:
		fputs(":value: ", out);
		break;
	}
}

static void put_zsh_item(FILE *out, const char *dashes, const char *name,
			 const struct option_row *row)
{
	fprintf(out, "        '*%s%s%s[", dashes, name, row->argument ? dashes[1] ? "=" : "+" : "");
	put_quoted(out, row->help, "[]:\\");
	fputc(']', out);
	put_zsh_value(out, row);
	fputs("' \\\n", out);
}

static void put_zsh(FILE *out)
{
	fputs("#compdef netstall\n# made by `netstall generate zsh`\n_netstall() {\n"
	      "  local -a commands\n  commands=(\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++) {
		fprintf(out, "    '%s:", commands[i].name);
		put_quoted(out, commands[i].help, ":");
		fputs("'\n", out);
	}
	fputs("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
	      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++) {
		const struct listed listed = options_of(&commands[i]);

		fprintf(out, "    %s)\n      _arguments \\\n", commands[i].name);
		for (size_t j = 0; j < listed.count; j++) {
			const char letter[2] = {(char)listed.rows[j]->letter};

			if (*letter)
				put_zsh_item(out, "-", letter, listed.rows[j]);
			if (listed.rows[j]->name)
				put_zsh_item(out, "--", listed.rows[j]->name, listed.rows[j]);
		}
		fputs(commands[i].options->command == COMMAND_REPORT ? "        '*:file:_files'\n"
								     : "        '*:: :_normal'\n",
		      out);
		fputs("      ;;\n", out);
	}
	fputs("  esac\n}\n_netstall \"$@\"\n", out);
}

static void put_fish_row(FILE *out, const char *command, const struct option_row *row)
{
	enum value value = value_of(row);

	fprintf(out, "complete -c netstall -n '__fish_seen_subcommand_from %s'", command);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	if (row->name)
		fprintf(out, " -l %s", row->name);
	if (value == VALUE_FILE)
		fputs(" -r -F", out);
	else if (value != VALUE_NONE)
		fputs(" -x", out);
	if (value == VALUE_PID)
		fputs(" -a '(__fish_complete_pids)'", out);
	if (value == VALUE_NAME)
		fputs(" -a '(cat /proc/*/comm 2>/dev/null | sort -u)'", out);
	if (value == VALUE_CAUSE || value == VALUE_CHOICE) {
		fputs(" -a '", out);
		put_words(out, row);
		fputc('\'', out);
	}
	fputs(" -d '", out);
	for (const char *at = row->help; *at; at++)
		fprintf(out, *at == '\'' || *at == '\\' ? "\\%c" : "%c", *at);
	fputs("'\n", out);
}

static void put_fish(FILE *out)
{
	fputs("# fish completion for netstall; made by `netstall generate fish`\n"
	      "complete -c netstall -f\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++) {
		const struct listed listed = options_of(&commands[i]);

		fprintf(out, "complete -c netstall -n __fish_use_subcommand -a %s -d '%s'\n",
			commands[i].name, commands[i].help);
		if (commands[i].options->command == COMMAND_REPORT)
			fputs("complete -c netstall -n '__fish_seen_subcommand_from report' -F\n",
			      out);
		for (size_t j = 0; j < listed.count; j++)
			put_fish_row(out, commands[i].name, listed.rows[j]);
	}
}

/* ---- the command ---- */

int generate__run(int argc, char **argv)
{
	static const struct {
		const char *shell;
		void (*put)(FILE *out);
	} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
	const char *what = argc > 1 ? argv[1] : "";

	for (size_t i = 0; argc == 2 && i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(what, shells[i].shell) != 0)
			continue;
		shells[i].put(stdout);
		return EXIT_OK;
	}
	if (!strcmp(what, "man") && argc == 2) {
		put_page(stdout);
		return EXIT_OK;
	}
	if (argc == 3 && !strcmp(what, "man") && command__find(argv[2])) {
		put_command_page(stdout, command__find(argv[2]));
		return EXIT_OK;
	}
	log__error("netstall generate man [COMMAND], bash, zsh or fish");
	return EXIT_USAGE;
}
