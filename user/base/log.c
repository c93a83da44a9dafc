// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"

static bool talkative;
static char *last_error;

/* A sentence repeats names of files and programs, which may hold anything. */
static char *say(const char *format, va_list args)
{
	char *raw = xvasprintf(format, args), *line;
	size_t size = TEXT_SAFE(strlen(raw));

	line = xcalloc(1, size);
	text__safe_line(line, size, raw);
	free(raw);
	fprintf(stderr, "netstall: %s\n", line);
	return line;
}

void log__error(const char *format, ...)
{
	char *line;
	va_list args;

	va_start(args, format);
	line = say(format, args);
	va_end(args);
	free(last_error);
	last_error = line;
}

const char *log__last_error(void)
{
	return last_error ? last_error : "";
}

void log__note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	free(say(format, args));
	va_end(args);
}

void log__debug(const char *format, ...)
{
	va_list args;

	if (!talkative)
		return;
	va_start(args, format);
	free(say(format, args));
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
