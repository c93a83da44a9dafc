/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The lines of a time line; inside render/ only. */
#ifndef NETSTALL_RENDER_TERMINAL_TIMELINE_LINES_H
#define NETSTALL_RENDER_TERMINAL_TIMELINE_LINES_H

#include "user/analyze/report.h"
#include "user/render/terminal/grid.h"
#include "user/render/words/words.h"

/* In the order of their times: most steps give one, a wait gives two. */
struct lines {
	size_t count;
	struct words *words; /* each with its step */
};

struct lines *lines__new(const struct report *report, const struct stall *stall);
void lines__free(struct lines *lines);
/* Keep at most so many, those that prove the stall's cause first; returns how many went. */
size_t lines__keep_proof(struct lines *lines, const struct stall *stall, size_t most);

#endif
