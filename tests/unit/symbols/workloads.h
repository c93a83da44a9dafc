/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the programs are whose addresses the tests name: tests/workload/, built. */
#ifndef NETSTALL_TESTS_WORKLOADS_H
#define NETSTALL_TESTS_WORKLOADS_H

#include <unistd.h>

#include "tests/unit/test.h"

static char folder[512];

/* A group's setup. */
static inline int find_folder(void **state)
{
	char self[400] = {0};

	(void)state;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return -1;
	/* build/tests/unit/symbols/test_X -> build/tests/workload */
	*strrchr(self, '/') = '\0';
	snprintf(folder, sizeof(folder), "%s/../../workload", self);
	return 0;
}

#endif
