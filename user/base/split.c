// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/split.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

#define BLANKS " \t\n"

struct word {
	char *text; /* has room for all of the line */
	size_t len;
};

/* What stands between two quotes; *text moves behind the second. False: there is none. */
static bool take_quoted(const char **text, struct word *word)
{
	char quote = *(*text)++;

	for (; **text && **text != quote; ++*text) {
		if (quote == '"' && **text == '\\' && (*text)[1])
			++*text;
		word->text[word->len++] = **text;
	}
	if (!**text)
		return false;
	++*text;
	return true;
}

static bool take_word(const char **text, struct word *word)
{
	while (**text && !strchr(BLANKS, **text)) {
		if (**text == '\'' || **text == '"') {
			if (!take_quoted(text, word))
				return false;
			continue;
		}
		if (**text == '\\' && (*text)[1])
			++*text;
		word->text[word->len++] = *(*text)++;
	}
	return true;
}

char **split__words(const char *text, char *why, size_t size)
{
	/* No more words than bytes, and the NULL. */
	char **words = xcalloc(strlen(text) / 2 + 2, sizeof(*words));
	size_t count = 0;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		struct word word = {.text = xcalloc(1, strlen(text) + 1)};

		words[count++] = word.text;
		if (!take_word(&text, &word)) {
			snprintf(why, size, "a quote in it does not end");
			split__free(words);
			return NULL;
		}
	}
	if (count && words[0][0])
		return words;
	snprintf(why, size, "it names no command");
	split__free(words);
	return NULL;
}

void split__free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
