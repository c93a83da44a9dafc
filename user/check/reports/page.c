// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/reports/page.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/render/terminal/wrap.h"

struct paragraph {
	unsigned rank;
	size_t lines; /* 0: left out */
	char *text;   /* with colours, each line ended */
};

struct page {
	const struct render_style *style;
	size_t count;
	size_t room;
	struct paragraph *v;
};

struct page *page__new(const struct render_style *style)
{
	struct page *page = xcalloc(1, sizeof(*page));

	page->style = style;
	return page;
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* Takes the text. */
static void append(struct page *page, unsigned rank, char *text)
{
	page->v = xgrow(page->v, page->count, &page->room, sizeof(*page->v));
	page->v[page->count++] = (struct paragraph){rank, count_lines(text), text};
}

void page__add(struct page *page, unsigned rank, unsigned indent, enum colour colour,
	       const char *format, ...)
{
	char *text, *wrapped = NULL;
	size_t size, first;
	va_list args;
	FILE *out;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	first = strspn(text, " ");
	out = xmemstream(&wrapped, &size);
	wrap__item(out, "", text + first, (unsigned)first, indent, colour, page->style);
	fclose(out);
	append(page, rank, wrapped);
	free(text);
}

void page__block(struct page *page, unsigned rank, const char *lines)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		append(page, rank, xasprintf("%.*s\n", (int)len, lines));
		lines += len + (lines[len] == '\n');
	}
}

static void fit(struct page *page, size_t most)
{
	size_t lines = 0;

	for (size_t i = 0; i < page->count; i++)
		lines += page->v[i].lines;
	while (lines > most) {
		struct paragraph *least = NULL;

		for (size_t i = 0; i < page->count; i++)
			if (page->v[i].lines && (!least || page->v[i].rank >= least->rank))
				least = &page->v[i];
		lines -= least->lines;
		least->lines = 0;
	}
}

/* As runners look for them: "::" behind the blanks of a line, "##[" anywhere in it. */
static void print_harmless(FILE *out, const char *text)
{
	bool fresh = true;

	for (; *text; text++) {
		if ((fresh && !strncmp(text, "::", 2)) || !strncmp(text, "##[", 3))
			fprintf(out, "%c ", *text);
		else
			fputc(*text, out);
		fresh = *text == '\n' || (fresh && *text == ' ');
	}
}

void page__end(struct page *page, FILE *out, size_t most)
{
	fit(page, most);
	for (size_t i = 0; i < page->count; i++) {
		if (page->v[i].lines)
			print_harmless(out, page->v[i].text);
		free(page->v[i].text);
	}
	free(page->v);
	free(page);
}
