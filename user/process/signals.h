/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Signals that are noted and dealt with in the main loop: those that a person, a shell or a CI
 * runner sends, to be passed on to the program, or to end the window.
 */
#ifndef NETSTALL_PROCESS_SIGNALS_H
#define NETSTALL_PROCESS_SIGNALS_H

#include <stdbool.h>

enum signals_use {
	/* SIGINT, SIGTERM and SIGHUP; one a second later ends netstall at once. And SIGUSR1. */
	SIGNALS_END,
	SIGNALS_TAKE,    /* the same, however many come: reports are to be written */
	SIGNALS_PASS_ON, /* also SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT */
};

/*
 * For the rest of netstall's life: a Ctrl-C that comes when the target has just ended must not
 * take the report. SIGHUP stays ignored under nohup, SIGPIPE is ignored.
 */
void signals__catch(enum signals_use use);
/* The next that came, 0 none. */
int signals__take(void);
/* One of those that came wants the end; takes it. */
bool signals__end_was_asked(void);
/* SIGUSR1 came: a report of what there is so far is wanted; takes it. */
bool signals__report_was_asked(void);
/* SIGINT, SIGTERM, SIGHUP, SIGQUIT: whoever sends it wants the end. */
bool signals__ends(int signal_number);

#endif
