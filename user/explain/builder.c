// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"

void builder__add(char **text, const char *format, ...)
{
	char *more, *joined;
	va_list args;

	va_start(args, format);
	more = xvasprintf(format, args);
	va_end(args);
	if (!*text) {
		*text = more;
		return;
	}
	joined = xasprintf("%s%s", *text, more);
	free(more);
	free(*text);
	*text = joined;
}

char *builder__bytes(char *dst, size_t size, const struct range *range)
{
	char least[TEXT_BYTES], most[TEXT_BYTES];

	text__bytes(least, sizeof(least), range->least);
	text__bytes(most, sizeof(most), range->most);
	if (range->least == range->most)
		snprintf(dst, size, "%s", least);
	else
		snprintf(dst, size, "%s to %s", least, most);
	return dst;
}

char *builder__number(char *dst, size_t size, uint64_t number)
{
	static const char *const words[] = {"no",  "one",   "two",   "three", "four", "five",
					    "six", "seven", "eight", "nine",  "ten"};

	if (number < sizeof(words) / sizeof(words[0]))
		snprintf(dst, size, "%s", words[number]);
	else
		text__count(dst, size, number);
	return dst;
}
