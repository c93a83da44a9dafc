// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/cut_files.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static long page_size;

/* The page was behind the file's end: one of zeroes takes its place, and the access is repeated. */
static void fill_hole(int signal_number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~((uintptr_t)page_size - 1);
	int error = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)page, page_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(signal_number, SIG_DFL); /* it comes again, and ends us */
	else
		seen = 1;
	errno = error;
}

void cut_files__survive(void)
{
	struct sigaction action = {.sa_sigaction = fill_hole, .sa_flags = SA_SIGINFO | SA_RESTART};

	page_size = sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

bool cut_files__seen(void)
{
	return seen;
}
