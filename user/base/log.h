/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sentences for people, on stderr, each behind "netstall: ". */
#ifndef NETSTALL_BASE_LOG_H
#define NETSTALL_BASE_LOG_H

#include <stdbool.h>

/* What went wrong and what to do about it; said once, by whoever knows why. */
void log__error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the user should know though the work goes on. */
void log__note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* With -v only. */
void log__debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The last error that was said, for a report that has it too; "" none. */
const char *log__last_error(void);
void log__set_verbose(bool verbose);
bool log__is_verbose(void);

#endif
