/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of connections, a part of the summary. */
#ifndef NETSTALL_RENDER_TERMINAL_CONNECTIONS_H
#define NETSTALL_RENDER_TERMINAL_CONNECTIONS_H

#include "user/render/render.h"

void connections__print(FILE *out, const struct report *report, const struct render_style *style);

#endif
