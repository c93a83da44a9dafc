// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <argp.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/base/descriptor.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/cmd/commands.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"
#include "user/kernel/privileges.h"
#include "user/process/exec.h"

static const struct {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"trace", "find why a program waits on the network", cmd_trace},
	{"record", "the same, into a file", cmd_record},
	{"report", "show such a file, anywhere", cmd_report},
	{"check", "fail when stalls exceed their budgets, for CI", cmd_check},
	{"offwake", "profile where threads sleep and who wakes them, for flame graphs",
	 cmd_offwake},
	{"doctor", "show what netstall can do on this machine", cmd_doctor},
	{"demo", "trace a built-in client and server that stall", cmd_demo},
};

/* To write a report with when memory runs out: several times what a ring buffer's records take. */
#define RESERVE_BYTES (32u << 20)

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	size_t i;

	fputs("netstall finds why a running program waits on the network, and which line to change.\n\n"
	      "Usage: netstall COMMAND [OPTIONS] [-- PROGRAM ARG...]\n\n",
	      out);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\nFirst steps:  sudo netstall demo     sudo netstall trace -p PID -d 5\n"
	      "Options:      netstall COMMAND --help\n",
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

int main(int argc, char **argv)
{
	size_t i;
	int status;

	xalloc__reserve(RESERVE_BYTES);
	fill_standard_descriptors();
	exec__ease_limits();
	output__watch_stdout();
	argp_err_exit_status = EXIT_USAGE;
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("netstall %s\n", NETSTALL_VERSION);
		return EXIT_OK;
	}
	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (!privileges__caller_is_clear())
			return EXIT_UNABLE;
		/* What argp calls the program in its own messages. */
		argv[1] = xasprintf("netstall %s", commands[i].name);
		status = commands[i].run(argc - 1, argv + 1);
		return status == EXIT_OK && xalloc__is_short() ? EXIT_UNABLE : status;
	}
	log__error("no command '%s': `netstall --help` lists them", argv[1]);
	return EXIT_USAGE;
}
