/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Signals that are noted and dealt with in the main loop: those that a person, a shell or a CI
 * runner sends, to be passed on to the program, or to end the window.
 */
#ifndef NETSTALL_PROCESS_SIGNALS_H
#define NETSTALL_PROCESS_SIGNALS_H

#include <stdbool.h>

/*
 * SIGINT, SIGTERM and SIGHUP; to be passed on also SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT.
 * SIGHUP stays ignored under nohup. For the rest of netstall's life.
 */
void signals__catch(bool to_pass_on);
/* The next that came, 0 none. */
int signals__take(void);
/* SIGINT, SIGTERM, SIGHUP, SIGQUIT: whoever sends it wants the end. */
bool signals__ends(int signal_number);

#endif
