/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For what renders the golden traces: a text trace as a file into a pipeline. */
#ifndef NETSTALL_TESTS_GOLDEN_TRACE_H
#define NETSTALL_TESTS_GOLDEN_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "user/analyze/pipeline.h"
#include "user/record/text.h"

/* False when the file or a line of it cannot be read; says which. */
static inline bool trace__feed(struct pipeline *pipeline, const char *path)
{
	FILE *trace = fopen(path, "r");
	char line[4096], error[256];
	union record record;
	int read = 0;

	if (!trace) {
		perror(path);
		return false;
	}
	for (unsigned number = 1; read >= 0 && fgets(line, sizeof(line), trace); number++) {
		read = text__parse(line, &record, error, sizeof(error));
		if (read < 0)
			fprintf(stderr, "%s:%u: %s\n", path, number, error);
		if (read == 1)
			read = pipeline__feed(pipeline, &record, record.head.len);
	}
	fclose(trace);
	return read >= 0;
}

#endif
