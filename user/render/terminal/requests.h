/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the time of an exchange goes: a part of the summary; inside render/ only. */
#ifndef NETSTALL_RENDER_TERMINAL_REQUESTS_H
#define NETSTALL_RENDER_TERMINAL_REQUESTS_H

#include "user/render/render.h"

void requests__print(FILE *out, const struct report *report, const struct render_style *style);

#endif
