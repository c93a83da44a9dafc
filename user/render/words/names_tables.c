// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names that are tables, and of stacks. */
#include <stdio.h>
#include <string.h>

#include "user/base/text.h"
#include "user/record/losses.h"
#include "user/render/words/names.h"

char *name__lost(char *dst, size_t size, uint32_t kind, uint64_t count)
{
	const struct loss_kind *loss = loss_kind(kind);
	char number[TEXT_COUNT];

	text__count(number, sizeof(number), count);
	if (loss)
		snprintf(dst, size, "%s %s (%s)", number, count == 1 ? loss->one : loss->many,
			 loss->why);
	else
		snprintf(dst, size, "%s of kind %u", number, kind);
	return dst;
}

/* Where every wake begins, and where every system call does: they tell nothing. */
static bool is_commonplace(const char *frame, size_t bytes)
{
	static const char *const names[] = {
		"try_to_wake_up",   "default_wake_function",
		"entry_SYSCALL_64", "entry_SYSCALL_64_after_hwframe",
		"do_syscall_64",    "x64_sys_call",
		"el0_svc",          "do_el0_svc",
		"el0t_64_sync",     "el0t_64_sync_handler",
		"invoke_syscall",   "invoke_syscall.constprop.0",
		"el0_svc_common",   "el0_svc_common.constprop.0",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == bytes && memcmp(names[i], frame, bytes) == 0)
			return true;
	return false;
}

char *name__stack(char *dst, size_t size, const char *frames, unsigned most)
{
	unsigned shown = 0;
	size_t used = 0;

	dst[0] = '\0';
	while (*frames != '\0' && used + 1 < size) {
		size_t bytes = strcspn(frames, ";");
		bool is_told = !is_commonplace(frames, bytes);
		char frame[200];

		text__safe(frame, sizeof(frame), frames, bytes);
		frames += bytes + (frames[bytes] == ';');
		if (!is_told)
			continue;
		used += (size_t)snprintf(dst + used, size - used, "%s%s", shown > 0 ? " <- " : "",
					 shown < most ? frame : "...");
		if (shown++ == most)
			break;
	}
	return dst;
}
