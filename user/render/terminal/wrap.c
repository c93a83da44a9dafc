// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "user/base/array.h"

#define STEP 2 /* of further lines to the right */

static unsigned columns_of(const char *text, size_t bytes)
{
	unsigned columns = 0;

	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

unsigned wrap__columns(const char *text)
{
	return columns_of(text, strlen(text));
}

/* A number and its unit stay on one line: the bytes of " ms" behind a digit, else 0. */
static size_t unit_at(const char *text)
{
	static const char *const units[] = {" ns", " us", " ms", " s", " B", " MB", " GB", " TB"};

	for (size_t i = 0; i < COUNT_OF(units); i++) {
		size_t bytes = strlen(units[i]);

		if (strncmp(text, units[i], bytes) == 0 && !isalnum((unsigned char)text[bytes]))
			return bytes;
	}
	return 0;
}

static size_t word_at(const char *text)
{
	size_t bytes = strcspn(text, " ");
	size_t unit =
		bytes > 0 && isdigit((unsigned char)text[bytes - 1]) ? unit_at(text + bytes) : 0;

	/* A comma or a stop may follow the unit. */
	return unit ? bytes + unit + strcspn(text + bytes + unit, " ") : bytes;
}

void wrap__print(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
	bool fresh = true; /* nothing stands on this line yet */

	while (*text != '\0') {
		size_t blanks = strspn(text, " ");
		size_t bytes = word_at(text + blanks);
		unsigned word = columns_of(text + blanks, bytes);
		unsigned gap = fresh ? 0 : (unsigned)blanks;

		if (!fresh && column + gap + word > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			gap = 0;
		}
		if (bytes > 0)
			fprintf(out, "%*s%.*s", (int)gap, "", (int)bytes, text + blanks);
		column += gap + word;
		fresh = fresh && bytes == 0;
		text += blanks + bytes;
	}
}

void wrap__item(FILE *out, const char *label, const char *text, unsigned indent, unsigned further,
		enum colour colour, const struct render_style *style)
{
	unsigned column = indent + wrap__columns(label);

	fprintf(out, "%*s%s%s", (int)indent, "", label, colour__on(style, colour));
	wrap__print(out, text, column, further ? further : column, colour__width(style));
	fprintf(out, "%s\n", colour__off(style, colour));
}

void wrap__paragraph(FILE *out, const char *text, unsigned indent, enum colour colour,
		     const struct render_style *style)
{
	wrap__item(out, "", text, indent, indent + STEP, colour, style);
}
