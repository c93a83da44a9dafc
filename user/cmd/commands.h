/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The subcommands: each takes its own argv (argv[0] its name) and returns an exit status. */
#ifndef NETSTALL_CMD_COMMANDS_H
#define NETSTALL_CMD_COMMANDS_H

int cmd_trace(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_offwake(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_prove(int argc, char **argv);
int cmd_demo(int argc, char **argv);

/* What help, manual pages and completions are made of. */
extern const struct command_options cmd_trace_options, cmd_record_options, cmd_report_options,
	cmd_check_options, cmd_prove_options, cmd_offwake_options, cmd_doctor_options,
	cmd_demo_options;

struct command {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
	const struct command_options *options;
};

extern const struct command commands[];
#define COMMANDS 8
/* NULL: there is none of that name. */
const struct command *command__find(const char *name);

#endif
