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

static const struct slot *find(const struct slot *slots, const char *name, size_t len)
{
	while (slots->name && (strncmp(slots->name, name, len) || slots->name[len]))
		slots++;
	assert(slots->name);
	return slots;
}

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

static void cut(char *text, size_t len)
{
	if (text)
		text[len] = '\0';
}

static bool fill(char **text, const struct slot *slot, const struct slot *slots,
		 const void *subject)
{
	size_t before = length(*text);

	if (slot->holds)
		return slot->holds(subject);
	if (slot->template)
		return builder__expand(text, slot->template, slots, subject);
	slot->add(text, subject);
	return length(*text) > before;
}

/* name is what stands between braces, and more. */
static bool expand_slot(char **text, const char *name, const struct slot *slots,
			const void *subject)
{
	bool asks_only = *name == '?' || *name == '!', is_negated = *name == '!', known;
	size_t before = length(*text);

	name += asks_only;
	known = fill(text, find(slots, name, strcspn(name, "}")), slots, subject);
	if (asks_only)
		cut(*text, before);
	return known != is_negated;
}

static bool expand_until(char **text, const char **at, const char *ends, const struct slot *slots,
			 const void *subject);

/* From behind '[' to behind its ']'. */
static void expand_choice(char **text, const char **at, const struct slot *slots,
			  const void *subject)
{
	bool found = false, known;

	do {
		size_t before = length(*text);

		known = expand_until(text, at, "|]", slots, subject);
		if (found || !known)
			cut(*text, before);
		found |= known;
	} while (*(*at)++ == '|');
}

/* Stops at one of ends. */
static bool expand_until(char **text, const char **at, const char *ends, const struct slot *slots,
			 const void *subject)
{
	bool known = true;

	for (;;) {
		size_t len = strcspn(*at, "{[|]");

		builder__add(text, "%.*s", (int)len, *at);
		*at += len;
		if (!**at || strchr(ends, **at))
			return known;
		if (*(*at)++ == '[') {
			expand_choice(text, at, slots, subject);
		} else {
			known &= expand_slot(text, *at, slots, subject);
			*at += strcspn(*at, "}") + 1;
		}
	}
}

bool builder__expand(char **text, const char *template, const struct slot *slots,
		     const void *subject)
{
	return expand_until(text, &template, "", slots, subject);
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
