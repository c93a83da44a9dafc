// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/signals.h"

#include "user/base/array.h"
#include "user/base/clock.h"
#include <signal.h>

/*
 * What one act sends twice is one: timeout(1) sends its signal to its child and then to its group.
 */
#define ONE_ACT_NS 1000000000ull

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int others[] = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

static volatile sig_atomic_t came[NSIG];

static void note(int signal_number)
{
	came[signal_number] = 1;
}

/* The first is noted; who asks again gets the end at once, whatever is still to be reported. */
static void note_or_end(int signal_number)
{
	static uint64_t first_at; /* the handlers hold each other back */
	uint64_t now = clock__now();

	if (!first_at)
		first_at = now;
	if (now - first_at <= ONE_ACT_NS)
		return note(signal_number);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void catch (int signal_number, void (*handler)(int))
{
	/* Who waits does so by the clock; and no write of a report is to fail for a signal. */
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;

	sigfillset(&action.sa_mask);
	sigaction(signal_number, &action, &before);
	if (signal_number == SIGHUP && before.sa_handler == SIG_IGN)
		sigaction(signal_number, &before, NULL);
}

void signals__catch(enum signals_use use)
{
	size_t i;

	for (i = 0; i < COUNT_OF(ends); i++)
		if (use == SIGNALS_PASS_ON || ends[i] != SIGQUIT)
			catch (ends[i], use == SIGNALS_END ? note_or_end : note);
	for (i = 0; use == SIGNALS_PASS_ON && i < COUNT_OF(others); i++)
		catch (others[i], note);
	if (use == SIGNALS_END)
		catch (SIGUSR1, note);
	/*
	 * Whoever reads our output may go: the files are still to be written, and the status
	 * counts.
	 */
	signal(SIGPIPE, SIG_IGN);
}

static bool take(int number)
{
	bool is_there = came[number];

	came[number] = 0;
	return is_there;
}

int signals__take(void)
{
	int number;

	for (number = 1; number < NSIG; number++)
		if (take(number))
			return number;
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
	bool is_asked = false;

	for (size_t i = 0; i < COUNT_OF(ends); i++)
		is_asked |= take(ends[i]);
	return is_asked;
}

bool signals__report_was_asked(void)
{
	return take(SIGUSR1);
}
