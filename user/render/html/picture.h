/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The picture of a stall: lanes for its threads, its io_uring operations and the two ends of its
 * connections, and what happened on them. Up and down is decided here, in pixels; where a time
 * lies from left to right is up to page.js, which zooms, and picture__svg().
 */
#ifndef NETSTALL_RENDER_HTML_PICTURE_H
#define NETSTALL_RENDER_HTML_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "user/analyze/report.h"
#include "user/render/terminal/timeline_lines.h"

/* How what happened looks. */
enum picture_look {
	LOOK_SLICE, /* what the wait is made of */
	LOOK_RUNS,
	LOOK_WAITS,  /* the stall's own thread */
	LOOK_ASLEEP, /* another one */
	LOOK_READY,
	LOOK_ACT, /* of a thread: a send, a receive */
	LOOK_OPERATION,
	LOOK_HELD,
	LOOK_TIMER,
	LOOK_FIRE,
	LOOK_WRITTEN, /* into a socket */
	LOOK_READ,
	LOOK_AGAIN, /* a retransmission */
	LOOK_SEGMENT,
	LOOK_ACK,
	LOOK_WAKE,
	LOOKS
};

enum shape { SHAPE_BAR, SHAPE_DOT, SHAPE_ARROW };

struct picture_look_info {
	const char *name;
	enum shape shape;
	int height; /* a dot: its diameter */
	int down;   /* its middle below that of the lane */
	int radius; /* of a bar's corners */
	int least;  /* wide */
	bool dashed;
	bool hollow;
	bool beside; /* its label stands above it */
	bool light;  /* its label is */
};

struct picture_lane {
	char *name;
	int y;           /* of its middle */
	bool line;       /* it has one */
	bool absent;     /* nothing is known of what happens there */
	const char *dot; /* the colour of a dot before it, NULL: none */
	/* Which lane it is: see picture.c. */
	int kind;
	uint64_t number;
	size_t other; /* a connection's other end */
};

/* Colours are names of user/render/html/colours.css. */
struct picture_mark {
	enum picture_look look;
	size_t lane;
	size_t to; /* an arrow's other lane */
	const char *colour;
	uint64_t from_ts; /* an arrow: 0, it is not known when it left */
	uint64_t to_ts;   /* an arrow: 0, or came */
	char *label;      /* shown where it has room; NULL: none */
	char *title;      /* NULL: none */
};

struct picture {
	uint64_t from_ts; /* what is shown at first */
	uint64_t to_ts;
	int height;
	size_t lane_count;
	size_t lane_room;
	struct picture_lane *lanes;
	size_t mark_count;
	size_t mark_room;
	struct picture_mark *marks; /* in the order in which they are drawn */
};

extern const char netstall_colours_css[]; /* that file */

#define PICTURE_LEFT  190 /* pixels: the lanes' names */
#define PICTURE_RIGHT 16
#define PICTURE_AXIS  24

const struct picture_look_info *picture_look__info(enum picture_look look);
/* "tcp"; that of the cause's group */
const char *picture__colour(enum cause cause);
/* lines: of its time line, which the titles are; the caller's. */
struct picture *picture__new(const struct report *report, const struct stall *stall,
			     const struct lines *lines);
void picture__free(struct picture *picture);
/* The stall that a page opens with: the verdict's example, else the first that has a time line;
 * NULL when no stall has one. */
const struct stall *picture__first(const struct report *report, enum cause cause);
/* A still one, in a file of its own that needs nothing else and runs nothing. stall NULL: a
 * sentence instead. */
void picture__svg(FILE *out, const struct report *report, const struct stall *stall);

#endif
