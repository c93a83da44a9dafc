/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A command line into words without a shell. */
#ifndef NETSTALL_BASE_SPLIT_H
#define NETSTALL_BASE_SPLIT_H

#include <stddef.h>

/*
 * Words between blanks; '...' and "..." keep blanks, \x is x outside of '...'. Nothing is
 * expanded. Returns a list that ends in NULL, to be freed by split__free(); or NULL, and why, a
 * clause for people, in why: no word at all, a quote that does not end.
 */
char **split__words(const char *text, char *why, size_t size);
/* Takes NULL. */
void split__free(char **words);

#endif
