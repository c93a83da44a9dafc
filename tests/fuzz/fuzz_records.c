// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as a stream of records, through decode, model, analysis and the
 * renderers. The first two bytes of each record say how many bytes of the input it takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analyze/pipeline.h"
#include "user/render/render.h"
#include "user/render/terminal/uring_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;
static struct uring_list *list; /* of the present input */

static void on_record(void *context, const struct report *so_far, const union record *record)
{
	const struct render_style style = {0};

	(void)context;
	render__record(nowhere, so_far, record, &style);
	render__json_record(nowhere, so_far, record);
	uring_list__record(list, so_far, record);
}

static void on_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	const struct render_style style = {0};

	(void)context;
	render__stall(nowhere, so_far, stall, &style);
}

static void render_all(const struct report *report)
{
	const struct render_style style = {.width = 80};
	const struct render_style verbose = {.width = 80, .verbose = true};
	struct verdict verdict;

	verdict__write(&verdict, report);
	render__report(nowhere, report, &verdict, &style, true);
	render__report(nowhere, report, &verdict, &verbose, true);
	render__json(nowhere, report, &verdict, 0, CONNECTIONS_EACH);
	verdict__clear(&verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pipeline_sink sink = {.on_record = on_record, .on_stall = on_stall};
	struct pipeline *pipeline = pipeline__new(&sink);
	const struct report *report;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	list = uring_list__new(nowhere, &(const struct render_style){0});
	while (size > 2) {
		size_t len = data[0] | (data[1] & 3) << 8;
		/* A copy of its own, so that a read past its end is seen. */
		uint8_t *record;

		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		record = malloc(len ? len : 1);
		memcpy(record, data, len);
		pipeline__feed(pipeline, record, len);
		free(record);
		data += len;
		size -= len;
	}
	report = pipeline__finish(pipeline);
	uring_list__finish(list, report);
	uring_list__free(list);
	render_all(report);
	pipeline__free(pipeline);
	return 0;
}
