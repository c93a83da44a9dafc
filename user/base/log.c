// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/log.h"

#include <stdarg.h>
#include <stdio.h>

static bool talkative;
static char last_error[512];

static void say(const char *format, va_list args)
{
	fputs("netstall: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void log__error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_error, sizeof(last_error), format, args);
	va_end(args);
	va_start(args, format);
	say(format, args);
	va_end(args);
}

const char *log__last_error(void)
{
	return last_error;
}

void log__note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void log__debug(const char *format, ...)
{
	va_list args;

	if (!talkative)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void log__set_verbose(bool verbose)
{
	talkative = verbose;
}

bool log__is_verbose(void)
{
	return talkative;
}
