// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/signals.h"

#include "user/base/array.h"
#include <signal.h>

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int others[] = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

static volatile sig_atomic_t came[NSIG];

static void note(int signal_number)
{
	came[signal_number] = 1;
}

static void catch (int signal_number, bool once)
{
	/* Who waits does so by the clock; and no write of a report is to fail for a signal. */
	const struct sigaction action = {.sa_handler = note,
					 .sa_flags = SA_RESTART | (once ? SA_RESETHAND : 0)};
	struct sigaction before;

	sigaction(signal_number, &action, &before);
	if (signal_number == SIGHUP && before.sa_handler == SIG_IGN)
		sigaction(signal_number, &before, NULL);
}

void signals__catch(enum signals_use use)
{
	size_t i;

	for (i = 0; i < COUNT_OF(ends); i++)
		if (use == SIGNALS_PASS_ON || ends[i] != SIGQUIT)
			catch (ends[i], use == SIGNALS_END);
	for (i = 0; use == SIGNALS_PASS_ON && i < COUNT_OF(others); i++)
		catch (others[i], false);
	/*
	 * Whoever reads our output may go: the files are still to be written, and the status
	 * counts.
	 */
	signal(SIGPIPE, SIG_IGN);
}

int signals__take(void)
{
	int number;

	for (number = 1; number < NSIG; number++)
		if (came[number]) {
			came[number] = 0;
			return number;
		}
	return 0;
}

bool signals__ends(int signal_number)
{
	size_t i;

	for (i = 0; i < COUNT_OF(ends); i++)
		if (ends[i] == signal_number)
			return true;
	return false;
}

bool signals__end_was_asked(void)
{
	int number = signals__take();

	return number && signals__ends(number);
}
