// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Code points that are well-formed and still act on the terminal instead of showing. */
static bool acts_on_terminal(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	       code == 0xfeff;
}

/* Bytes of the well-formed, printable UTF-8 character at s, 0 when there is none. */
static size_t printable(const unsigned char *s, size_t left)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	size_t len;

	if (s[0] < 0x80)
		return acts_on_terminal(s[0]) ? 0 : 1;
	if (s[0] >= 0xf0)
		len = 4, code = s[0] & 0x0f;
	else if (s[0] >= 0xe0)
		len = 3, code = s[0] & 0x0f;
	else if (s[0] >= 0xc0)
		len = 2, code = s[0] & 0x1f;
	else
		return 0;
	if (s[0] > 0xf4 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
	    acts_on_terminal(code))
		return 0;
	return len;
}

static char *make_safe(char *dst, size_t size, const char *src, size_t max, bool doubled)
{
	const unsigned char *s = (const unsigned char *)src;
	size_t left = strnlen(src, max), at = 0;

	while (left) {
		char piece[8];
		size_t used = printable(s, left), len = used;

		if (doubled && used == 1 && *s == '\\') {
			len = 2;
			memcpy(piece, "\\\\", 2);
		} else if (used) {
			memcpy(piece, s, used);
		} else {
			used = 1;
			len = (size_t)snprintf(piece, sizeof(piece), "\\x%02x", *s);
		}
		if (at + len >= size)
			break;
		memcpy(dst + at, piece, len);
		at += len;
		s += used;
		left -= used;
	}
	dst[at] = '\0';
	return dst;
}

char *text__safe(char *dst, size_t size, const char *src, size_t max)
{
	return make_safe(dst, size, src, max, true);
}

char *text__safe_line(char *dst, size_t size, const char *src)
{
	return make_safe(dst, size, src, SIZE_MAX, false);
}

/* value / unit to three digits, at most two decimals; unit must be a multiple of 100. */
static void three_digits(char *dst, size_t size, uint64_t value, uint64_t unit, const char *name)
{
	uint64_t hundredths = value / (unit / 100);
	char whole[TEXT_COUNT];

	if (value % (unit / 100) >= unit / 200)
		hundredths++;
	if (hundredths < 1000) {
		snprintf(dst, size, "%u.%02u %s", (unsigned)(hundredths / 100),
			 (unsigned)(hundredths % 100), name);
		return;
	}
	/* From the value again: rounding twice would round 0.45 up. */
	if (value / (unit / 100) < 10000) {
		uint64_t tenths = value / (unit / 10) + (value % (unit / 10) >= unit / 20);

		if (tenths < 1000) {
			snprintf(dst, size, "%u.%u %s", (unsigned)(tenths / 10),
				 (unsigned)(tenths % 10), name);
			return;
		}
	}
	snprintf(dst, size, "%s %s",
		 text__count(whole, sizeof(whole), value / unit + (value % unit >= unit / 2)),
		 name);
}

char *text__duration(char *dst, size_t size, uint64_t ns)
{
	if (ns < 1000)
		snprintf(dst, size, "%u ns", (unsigned)ns);
	else if (ns < 999500)
		snprintf(dst, size, "%u us", (unsigned)((ns + 500) / 1000));
	else if (ns < 999500000)
		three_digits(dst, size, ns, 1000000, "ms");
	else
		three_digits(dst, size, ns, 1000000000, "s");
	return dst;
}

/* Drop the zeros at the end of a number with decimals, and its lonely point. */
static void drop_zeros(char *number)
{
	size_t len = strlen(number);

	if (!strchr(number, '.'))
		return;
	while (number[len - 1] == '0')
		number[--len] = '\0';
	if (number[len - 1] == '.')
		number[len - 1] = '\0';
}

char *text__nominal(char *dst, size_t size, uint64_t ns)
{
	static const struct {
		uint64_t unit;
		unsigned digits;
		const char *name;
	} units[] = {{1000000000, 9, "s"}, {1000000, 6, "ms"}, {1000, 3, "us"}, {1, 0, "ns"}};
	char number[40];
	size_t i = 0;

	while (i < 3 && ns < units[i].unit)
		i++;
	if (units[i].digits)
		snprintf(number, sizeof(number), "%llu.%0*llu",
			 (unsigned long long)(ns / units[i].unit), (int)units[i].digits,
			 (unsigned long long)(ns % units[i].unit));
	else
		snprintf(number, sizeof(number), "%u", (unsigned)ns);
	drop_zeros(number);
	snprintf(dst, size, "%s %s", number, units[i].name);
	return dst;
}

char *text__ms(char *dst, size_t size, int64_t ns, unsigned decimals)
{
	uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t unit = 1000000, parts;

	if (decimals > 6)
		decimals = 6;
	for (unsigned i = 0; i < decimals; i++)
		unit /= 10; /* ns of one step of the last decimal */
	parts = magnitude / unit + (unit > 1 && magnitude % unit >= unit / 2);
	unit = 1000000 / unit; /* steps in one ms */
	if (decimals)
		snprintf(dst, size, "%s%llu.%0*llu", ns < 0 && parts ? "-" : "",
			 (unsigned long long)(parts / unit), (int)decimals,
			 (unsigned long long)(parts % unit));
	else
		snprintf(dst, size, "%s%llu", ns < 0 && parts ? "-" : "",
			 (unsigned long long)parts);
	return dst;
}

char *text__bytes(char *dst, size_t size, uint64_t bytes)
{
	char whole[TEXT_COUNT];

	if (bytes < 1000000)
		snprintf(dst, size, "%s B", text__count(whole, sizeof(whole), bytes));
	else if (bytes < 999500000)
		three_digits(dst, size, bytes, 1000000, "MB");
	else if (bytes < 999500000000)
		three_digits(dst, size, bytes, 1000000000, "GB");
	else
		three_digits(dst, size, bytes, 1000000000000, "TB");
	return dst;
}

char *text__count(char *dst, size_t size, uint64_t count)
{
	char digits[24], out[32];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	snprintf(dst, size, "%s", out);
	return dst;
}

char *text__counted(char *dst, size_t size, uint64_t count, const char *what)
{
	snprintf(dst, size, "%s %s%s", count_text(count), what, count == 1 ? "" : "s");
	return dst;
}

char *text__percent(char *dst, size_t size, double share)
{
	double percent = share * 100;
	unsigned tenths;

	if (!(percent > 0)) { /* also NaN */
		snprintf(dst, size, "0%%");
	} else if (percent < 0.05) {
		snprintf(dst, size, "<0.1%%");
	} else if (percent < 99.95) {
		tenths = (unsigned)(percent * 10 + 0.5);
		snprintf(dst, size, "%u.%u%%", tenths / 10, tenths % 10);
	} else if (percent < 1e9) {
		snprintf(dst, size, "%u%%", (unsigned)(percent + 0.5));
	} else {
		snprintf(dst, size, ">999999999%%");
	}
	return dst;
}

char *text__error(char *dst, size_t size, uint32_t error)
{
	const char *name = error && error <= INT32_MAX ? strerrorname_np((int)error) : NULL;

	if (name)
		snprintf(dst, size, "%s", name);
	else
		snprintf(dst, size, "error %u", error);
	return dst;
}

char *text__address(char *dst, size_t size, uint32_t family, const uint32_t addr[4], uint32_t port)
{
	char host[INET6_ADDRSTRLEN];

	if (family == AF_INET && inet_ntop(AF_INET, addr, host, sizeof(host)))
		snprintf(dst, size, "%s:%u", host, port);
	else if (family == AF_INET6 && inet_ntop(AF_INET6, addr, host, sizeof(host)))
		snprintf(dst, size, "[%s]:%u", host, port);
	else
		snprintf(dst, size, "?:%u", port);
	return dst;
}

void text__add(char *dst, size_t size, const char *separator, const char *format, ...)
{
	size_t used = strlen(dst);
	va_list args;

	if (used)
		used += (size_t)snprintf(dst + used, size - used, "%s", separator);
	if (used >= size)
		return;
	va_start(args, format);
	vsnprintf(dst + used, size - used, format, args);
	va_end(args);
}

#define NEAR_BYTES 32

static unsigned distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned row[NEAR_BYTES + 1];

	for (size_t j = 0; j <= b_size; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_size; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_size; j++) {
			unsigned above = row[j], least = diagonal + (a[i - 1] != b[j - 1]);

			if (above + 1 < least)
				least = above + 1;
			if (row[j - 1] + 1 < least)
				least = row[j - 1] + 1;
			diagonal = above;
			row[j] = least;
		}
	}
	return row[b_size];
}

const char *text__nearest(const char *word, const char *const *names, size_t count)
{
	size_t size = strlen(word);
	const char *nearest = NULL;
	unsigned least = (unsigned)(size + 2) / 3 + 1;

	if (!size || size > NEAR_BYTES)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t name_size = strlen(names[i]);
		unsigned far =
			name_size > NEAR_BYTES ? least : distance(word, size, names[i], name_size);

		if (far < least) {
			least = far;
			nearest = names[i];
		}
	}
	return nearest;
}

bool text__is_number(const char *text)
{
	return text && *text && text[strspn(text, "0123456789")] == '\0';
}
