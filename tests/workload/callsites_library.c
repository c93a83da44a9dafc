// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The library of callsites --library. */
#include <stddef.h>
#include <unistd.h>

#include "tests/workload/kept.h"

int library_body(int fd, const char *bytes, size_t len);

static volatile unsigned written;

KEPT static int put(int fd, const char *bytes, size_t len)
{
	ssize_t put = write(fd, bytes, len);

	written += len;
	return put < 0;
}

int library_body(int fd, const char *bytes, size_t len)
{
	int failed = put(fd, bytes, len);

	written++;
	return failed;
}
