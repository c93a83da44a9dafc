/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of threads, a part of the report. */
#ifndef NETSTALL_RENDER_TERMINAL_THREADS_H
#define NETSTALL_RENDER_TERMINAL_THREADS_H

#include "user/render/render.h"

void threads__print(FILE *out, const struct report *report, const struct render_style *style);

#endif
