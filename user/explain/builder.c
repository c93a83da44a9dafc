// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/builder.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const struct placeholder *find(const struct placeholder *placeholders, const char *name,
				      size_t len)
{
	while (placeholders->name &&
	       (strncmp(placeholders->name, name, len) || placeholders->name[len]))
		placeholders++;
	assert(placeholders->name);
	return placeholders;
}

void builder__expand(char **text, const char *template, const struct placeholder *placeholders,
		     const void *subject)
{
	while (*template) {
		size_t len = strcspn(template, "{");

		builder__add(text, "%.*s", (int)len, template);
		template += len;
		if (!*template)
			return;
		len = strcspn(++template, "}");
		find(placeholders, template, len)->add(text, subject);
		template += len + 1;
	}
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
