// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any text as a text trace, through the parser and all that follows. What the
 * parser accepts must be printed in a form that it accepts again, as the same record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analyze/pipeline.h"
#include "user/record/text.h"
#include "user/render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As a line without its end; the caller's. */
static char *line_of(const union record *record)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	text__print(out, record, TEXT_TRACE_ORIGIN_NS);
	fclose(out);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void check_round_trip(const union record *record)
{
	union record again;
	char *text = line_of(record), *same, error[256];

	if (text__parse(text, &again, error, sizeof(error)) != 1) {
		fprintf(stderr, "not read back: %s: %s\n", text, error);
		abort();
	}
	if (again.head.type != record->head.type || again.head.ts != record->head.ts) {
		fprintf(stderr, "read back as another record: %s\n", text);
		abort();
	}
	same = line_of(&again);
	if (strcmp(text, same)) {
		fprintf(stderr, "printed otherwise when read back: %s and %s\n", text, same);
		abort();
	}
	free(text);
	free(same);
}

static void feed_line(struct pipeline *pipeline, const char *line)
{
	union record record;
	char error[256];

	if (text__parse(line, &record, error, sizeof(error)) != 1)
		return;
	check_round_trip(&record);
	pipeline__feed(pipeline, &record, record.head.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pipeline_sink sink = {0};
	struct pipeline *pipeline = pipeline__new(&sink);
	char *text = malloc(size + 1), *line, *rest = text;

	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")))
		feed_line(pipeline, line);
	pipeline__finish(pipeline);
	pipeline__free(pipeline);
	free(text);
	return 0;
}
