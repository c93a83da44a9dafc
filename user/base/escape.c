// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/escape.h"

#include <stdint.h>
#include <string.h>

/* The length that the first byte of a character promises. */
static size_t promised(unsigned char first)
{
	if (first < 0x80)
		return 1;
	return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

/*
 * The next character of *text, which moves behind it by *len; a byte that is no UTF-8 comes alone,
 * with *valid false.
 */
static uint32_t next(const char **text, size_t *len, bool *valid)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)*text;
	uint32_t code = s[0];

	*len = promised(s[0]);
	*valid = *len == 1 || (s[0] >= 0xc2 && s[0] <= 0xf4);
	if (*len > 1)
		code &= 0xffu >> (*len + 1);
	for (size_t i = 1; *valid && i < *len; i++) {
		*valid = (s[i] & 0xc0) == 0x80;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[*len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		*valid = false;
	if (!*valid) {
		*len = 1;
		code = s[0];
	}
	*text += *len;
	return code;
}

static void put_bytes(FILE *out, const char *end, size_t len)
{
	fwrite(end - len, 1, len, out);
}

/* https://www.w3.org/TR/xml/#charsets, without the control characters that it allows */
static bool is_xml(uint32_t code)
{
	if (code == '\t' || code == '\n')
		return true;
	return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0xfffe && code != 0xffff;
}

void escape__xml(FILE *out, const char *text, bool attribute)
{
	uint32_t code;
	size_t len;
	bool valid;

	while (*text) {
		code = next(&text, &len, &valid);
		if (!valid)
			fprintf(out, "\\x%02x", (unsigned)code);
		else if (!is_xml(code))
			continue;
		else if (code == '&')
			fputs("&amp;", out);
		else if (code == '<')
			fputs("&lt;", out);
		else if (code == '>') /* also because "]]>" may not stand in text */
			fputs("&gt;", out);
		else if (code == '"')
			fputs("&quot;", out);
		else if (attribute && (code == '\n' || code == '\t'))
			fprintf(out, "&#%u;", (unsigned)code);
		else
			put_bytes(out, text, len);
	}
}

/* What YAML does not count as printable, or takes for the end of a line. */
static bool is_yaml(uint32_t code)
{
	return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0x2028 && code != 0x2029 &&
	       code != 0xfeff && code != 0xfffe && code != 0xffff;
}

void escape__yaml(FILE *out, const char *text)
{
	/* The first word, and the blanks behind it. */
	const char *early = text + strcspn(text, " ");
	uint32_t code;
	size_t len;
	bool valid;

	early += strspn(early, " ");
	fputc('"', out);
	while (*text) {
		code = next(&text, &len, &valid);
		/* In a list Perl's reader would take what stands before it for a key. */
		if (code == ':' && text <= early + 1)
			fputs("\\x3a", out);
		else if (!valid)
			fprintf(out, "\\\\x%02x", (unsigned)code);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (char)code);
		else if (code == '\n')
			fputs("\\n", out);
		else if (!is_yaml(code))
			fprintf(out, "\\u%04x", (unsigned)code);
		else
			put_bytes(out, text, len);
	}
	fputc('"', out);
}

void escape__github(FILE *out, const char *text, bool property)
{
	for (; *text; text++) {
		if (strchr(property ? "%\r\n:," : "%\r\n", *text))
			fprintf(out, "%%%02X", (unsigned)*text);
		else
			fputc(*text, out);
	}
}

void escape__markdown(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '\n' || *text == '\r')
			fputc(' ', out);
		else if (*text == '@') /* calls nobody */
			fputs("&#64;", out);
		else if (strchr("\\`*_{}[]#|~!", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

void escape__fenced(FILE *out, const char *text)
{
	size_t most = 2, run = 0;

	for (const char *at = text; *at; at++) {
		run = *at == '`' ? run + 1 : 0;
		most = run > most ? run : most;
	}
	for (size_t i = 0; i <= most; i++)
		fputc('`', out);
	fprintf(out, "text\n%s", text);
	if (*text && text[strlen(text) - 1] != '\n')
		fputc('\n', out);
	for (size_t i = 0; i <= most; i++)
		fputc('`', out);
	fputc('\n', out);
}
