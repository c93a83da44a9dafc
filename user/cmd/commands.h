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
int cmd_demo(int argc, char **argv);

#endif
