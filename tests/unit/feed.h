/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of the analysis: text traces in, reports out. */
#ifndef NETSTALL_TESTS_FEED_H
#define NETSTALL_TESTS_FEED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "user/analyze/pipeline.h"
#include "user/record/text.h"

/* Every hand-written trace that has a connection. */
static const char *const golden[] __attribute__((unused)) = {
	"nagle-delack",
	"server-side",
	"nagle-data",
	"nagle-prompt",
	"cork",
	"msg-more",
	"remote-inferred",
	"remote-far",
	"peer-app",
	"idle-server",
	"harmless-timer",
	"open-hold",
	"inexact",
	"owned-timer",
	"ipv6",
	"both-sides",
	"hostile-comm",
	"many-connections",
	"lost-events",
	"three-pieces",
	"rwnd",
	"lock",
	"hold-change",
	"rto",
	"requests",
	"cork-then-nagle",
	"zero-window",
	"pacing",
	"sndbuf",
	"rto-after-probe",
	"tlp",
	"fast-retransmit",
	"syn-retransmit",
	"receiver-inferred",
	"uring-cause-nagle",
	"uring-cause-worker",
};

#define GOLDEN (sizeof(golden) / sizeof(golden[0]))

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

static inline uint64_t random_next(uint64_t *state)
{
	/* xorshift64*: the same on every machine. */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return (random_next(state) >> 11) % bound;
}

#endif
