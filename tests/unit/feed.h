/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of the analysis: text traces in, reports out. */
#ifndef NETSTALL_TESTS_FEED_H
#define NETSTALL_TESTS_FEED_H

#include <glob.h>

#include "tests/unit/test.h"
#include "user/analyze/pipeline.h"
#include "user/record/text.h"

#define FEED_MOST 512

/* A trace in memory, so that a test can reorder it. */
struct feed {
	size_t count;
	union record *v;
};

static inline void feed__add_line(struct feed *feed, const char *line)
{
	char error[256] = "";
	int ret;

	if (!feed->v)
		feed->v = calloc(FEED_MOST, sizeof(*feed->v));
	assert_true(feed->count < FEED_MOST);
	ret = text__parse(line, &feed->v[feed->count], error, sizeof(error));
	if (ret < 0)
		fail_msg("%s: %s", line, error);
	feed->count += (size_t)ret;
}

/* Many lines in one string. */
static inline struct feed feed__text(const char *text)
{
	struct feed feed = {0};
	char line[4096];

	while (*text) {
		size_t len = strcspn(text, "\n");

		assert_true(len < sizeof(line));
		memcpy(line, text, len);
		line[len] = '\0';
		feed__add_line(&feed, line);
		text += len + (text[len] == '\n');
	}
	return feed;
}

/* From the root of the repository, where the tests run. */
static inline struct feed feed__golden(const char *name)
{
	struct feed feed = {0};
	char path[256], line[4096];
	FILE *file;

	snprintf(path, sizeof(path), "tests/golden/%s.trace", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s cannot be opened: run the tests from the root of the repository",
			 path);
	while (fgets(line, sizeof(line), file))
		feed__add_line(&feed, line);
	fclose(file);
	return feed;
}

/* The names of all golden traces, for feed__golden(). */
static inline const char *const *golden_names(size_t *count)
{
	static char names[256][64];
	static const char *list[256];
	glob_t found;

	assert_int_equal(glob("tests/golden/*.trace", 0, NULL, &found), 0);
	assert_true(found.gl_pathc < 256);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;

		snprintf(names[i], sizeof(names[i]), "%.*s", (int)strcspn(name, "."), name);
		list[i] = names[i];
	}
	*count = found.gl_pathc;
	globfree(&found);
	return list;
}

static inline void feed__free(struct feed *feed)
{
	free(feed->v);
	feed->v = NULL;
	feed->count = 0;
}

static inline void feed__run(const struct feed *feed, struct pipeline *pipeline)
{
	for (size_t i = 0; i < feed->count; i++)
		assert_int_equal(pipeline__feed(pipeline, &feed->v[i], feed->v[i].head.len), 0);
}

/* A new pipeline that was fed with it, and the feed's end. */
static inline struct pipeline *feed__pipeline(struct feed feed)
{
	struct pipeline *pipeline = pipeline__new(NULL);

	feed__run(&feed, pipeline);
	feed__free(&feed);
	return pipeline;
}

#endif
