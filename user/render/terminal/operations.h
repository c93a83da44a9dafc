/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of io_uring's operations and its rings, a part of the summary. */
#ifndef NETSTALL_RENDER_TERMINAL_OPERATIONS_H
#define NETSTALL_RENDER_TERMINAL_OPERATIONS_H

#include "user/render/render.h"

/* Nothing when the target has neither. */
void operations__print(FILE *out, const struct report *report, const struct render_style *style);

#endif
