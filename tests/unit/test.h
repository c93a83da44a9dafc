/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What every unit test begins with: cmocka, questions about a text, chance that repeats. */
#ifndef NETSTALL_TESTS_TEST_H
#define NETSTALL_TESTS_TEST_H

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What write prints, allocated; out is the file that it prints to. */
#define PRINTED(out, write)                                                                        \
	({                                                                                         \
		char *text_ = NULL;                                                                \
		size_t size_ = 0;                                                                  \
		FILE *out = open_memstream(&text_, &size_);                                        \
		write;                                                                             \
		fclose(out);                                                                       \
		text_;                                                                             \
	})

static inline unsigned occurrences(const char *text, const char *what)
{
	const char *end = text + strlen(text);
	unsigned found = 0;

	/* The sanitizer's strstr() measures all that is left each time. */
	for (; (text = memmem(text, (size_t)(end - text), what, strlen(what))); text++)
		found++;
	return found;
}

/* To the byte: for layouts and formats. */
static inline void assert_in(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("\"%s\" is not in:\n%s", wanted, text);
}

static inline void assert_not_in(const char *text, const char *unwanted)
{
	if (strstr(text, unwanted))
		fail_msg("\"%s\" is in:\n%s", unwanted, text);
}

/*
 * How long this fact is where it stands at text, 0 not there. Words may stand on two lines; and
 * 3 is no part of 13, of 1.3 or of 30.
 */
static inline size_t says__fact_at(const char *text, const char *begin, const char *fact)
{
	const char *at = text;

	if (at > begin && isalnum(*fact) &&
	    (isalnum(at[-1]) ||
	     (isdigit(*fact) && at - begin > 1 && strchr(".,", at[-1]) && isdigit(at[-2]))))
		return 0;
	for (; *fact; fact++) {
		if (*fact == ' ') {
			if (!isspace(*at))
				return 0;
			while (isspace(*at))
				at++;
		} else if (*fact != *at++) {
			return 0;
		}
	}
	if (isalnum(fact[-1]) &&
	    (isalnum(*at) || (isdigit(fact[-1]) && *at && strchr(".,", *at) && isdigit(at[1]))))
		return 0;
	return (size_t)(at - text);
}

static inline bool says__fact(const char *text, const char *fact)
{
	for (const char *at = text; at && *at; at++) {
		if (says__fact_at(at, text, fact))
			return true;
	}
	return false;
}

static inline void says__check(const char *text, bool wanted, const char *const *facts)
{
	for (; *facts; facts++) {
		if (says__fact(text, *facts) != wanted)
			fail_msg("it %s \"%s\":\n%s", wanted ? "does not say" : "says", *facts,
				 text ? text : "(nothing)");
	}
}

/* All of these facts, in whatever words around them; none of these. */
#define assert_says(text, ...) says__check(text, true, (const char *const[]){__VA_ARGS__, NULL})
#define assert_silent_on(text, ...)                                                                \
	says__check(text, false, (const char *const[]){__VA_ARGS__, NULL})

static inline uint64_t random_next(uint64_t *state)
{
	/* xorshift64*: the same on every machine. */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return (random_next(state) >> 11) % bound;
}

#endif
