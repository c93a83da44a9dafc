// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <argp.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/base/descriptor.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/cmd/commands.h"
#include "user/cmd/generate.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"
#include "user/kernel/privileges.h"
#include "user/process/exec.h"

const struct command commands[] = {
	{"trace", "find why a program waits on the network", cmd_trace, &cmd_trace_options},
	{"record", "the same, into a file", cmd_record, &cmd_record_options},
	{"report", "show such a file, anywhere", cmd_report, &cmd_report_options},
	{"check", "fail when stalls exceed their budgets, for CI", cmd_check, &cmd_check_options},
	{"prove", "try a fix on the running program, and believe it only if it helps", cmd_prove,
	 &cmd_prove_options},
	{"offwake", "profile where threads sleep and who wakes them, for flame graphs", cmd_offwake,
	 &cmd_offwake_options},
	{"doctor", "show what netstall can do on this machine", cmd_doctor, &cmd_doctor_options},
	{"demo", "trace a built-in client and server that stall", cmd_demo, &cmd_demo_options},
};

/* To write a report with when memory runs out: several times what a ring buffer's records take. */
#define RESERVE_BYTES (32u << 20)

_Static_assert(sizeof(commands) / sizeof(commands[0]) == COMMANDS, "commands.h says how many");

static void print_help(FILE *out)
{
	size_t i;

	fputs("netstall finds why a running program waits on the network, and which line to change.\n\n"
	      "Usage: netstall COMMAND [OPTIONS] [-- PROGRAM ARG...]\n\n",
	      out);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\nFirst steps:  sudo netstall demo     sudo netstall trace -p PID -d 5\n"
	      "Options:      netstall COMMAND -h, and all of them: netstall COMMAND --help\n",
	      out);
}

/*
 * Started with one of these closed, the next thing that is opened would take its number, and get
 * what is meant for a reader. A program that we start finds it closed as it was. To write to a
 * stdout that is closed still fails.
 */
static void fill_standard_descriptors(void)
{
	int fd = 0;

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = descriptor__open_null(fcntl(STDOUT_FILENO, F_GETFD) < 0 ? O_RDONLY : O_RDWR);
	if (fd >= 0)
		close(fd);
}

static void say_no_command(const char *word)
{
	const char *names[COMMANDS], *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	near = text__nearest(word, names, COMMANDS);
	if (near)
		log__error("no command '%s': did you mean %s? `netstall --help` lists them", word,
			   near);
	else if (text__is_number(word))
		log__error("no command '%s': for a pid, `netstall trace -p %s`", word, word);
	else
		log__error("no command '%s': `netstall --help` lists them", word);
}

const struct command *command__find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* With argv[1] as its name, which is what argp calls the program in its own messages. */
static int run(const struct command *command, int argc, char **argv)
{
	int status;

	if (!privileges__caller_is_clear())
		return EXIT_UNABLE;
	argv[1] = xasprintf("netstall %s", command->name);
	status = command->run(argc - 1, argv + 1);
	return status == EXIT_OK && xalloc__is_short() ? EXIT_UNABLE : status;
}

int main(int argc, char **argv)
{
	const struct command *command;

	xalloc__reserve(RESERVE_BYTES);
	fill_standard_descriptors();
	exec__ease_limits();
	output__watch_stdout();
	argp_err_exit_status = EXIT_USAGE;
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	command = argc == 3 && !strcmp(argv[1], "help") ? command__find(argv[2]) : NULL;
	if (command) {
		char *of_command[] = {argv[0], argv[2], "--help", NULL};

		return run(command, 3, of_command);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") ||
	    !strcmp(argv[1], "version")) {
		printf("netstall %s%s, libbpf %s\n", NETSTALL_VERSION, NETSTALL_COMMIT,
		       libbpf_version_string() + 1);
		return EXIT_OK;
	}
	command = command__find(argv[1]);
	if (command)
		return run(command, argc, argv);
	if (!strcmp(argv[1], "generate"))
		return generate__run(argc - 1, argv + 1);
	say_no_command(argv[1]);
	return EXIT_USAGE;
}
