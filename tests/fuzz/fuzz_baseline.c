// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Anything as a baseline file: it is refused with a clause, or comes back the same when saved. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/check/judge/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void compare(const struct baseline *baseline)
{
	struct baseline other = *baseline;
	struct change changes[CAUSE_COUNT + 1];
	size_t count;

	other.exchanges = other.exchanges / 2 + 1;
	other.stalls[CAUSE_CORK] = 7;
	count = baseline__compare(baseline, &other, UINT32_MAX, BASELINE_CONFIDENCE, changes);
	for (size_t i = 0; i < count; i++) {
		char text[512];

		must(changes[i].p >= 0 && changes[i].p <= 1);
		must(!(changes[i].worse && changes[i].better));
		change__text(&changes[i], text, sizeof(text));
	}
	must(baseline__stays(baseline, baseline, UINT32_MAX, BASELINE_CONFIDENCE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct baseline first, second;
	char why[256] = "", *text, *again;

	if (!baseline__parse(&first, (const char *)data, size, why, sizeof(why))) {
		must(*why);
		return 0;
	}
	text = baseline__text(&first);
	must(baseline__parse(&second, text, strlen(text), why, sizeof(why)));
	must(!memcmp(&first, &second, sizeof(first)));
	again = baseline__text(&second);
	must(!strcmp(text, again));
	compare(&first);
	free(text);
	free(again);
	return 0;
}
