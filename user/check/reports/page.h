/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A text that may take so many lines and no more: what matters least gives way. Lines that a CI
 * system would take for a command of its own ("::error ...", "##[error] ...") come out harmless.
 */
#ifndef NETSTALL_CHECK_REPORTS_PAGE_H
#define NETSTALL_CHECK_REPORTS_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "user/render/terminal/colour.h"

struct page;

/* style must live as long. */
struct page *page__new(const struct render_style *style);
/*
 * A paragraph: wrapped, its further lines behind indent blanks, kept or left out as a whole. Of
 * several the one of the greatest rank goes first, and of these the last one.
 */
void page__add(struct page *page, unsigned rank, unsigned indent, enum colour colour,
	       const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Lines as they are, each a paragraph of its own. */
void page__block(struct page *page, unsigned rank, const char *lines);
/* Print at most so many lines, and free it. */
void page__end(struct page *page, FILE *out, size_t most);

#endif
