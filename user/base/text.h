/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values as words. Every function writes a NUL-terminated string of at most size
 * bytes to dst (size > 0) and returns dst, so that it can stand in a printf()
 * argument. None depends on the locale.
 */
#ifndef NETSTALL_BASE_TEXT_H
#define NETSTALL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Room that always suffices. */
#define TEXT_SAFE(bytes) (4 * (bytes) + 1) /* of text__safe() for so many bytes */
#define TEXT_DURATION    24
#define TEXT_BYTES       32
#define TEXT_COUNT       32
#define TEXT_ADDRESS     64
#define TEXT_PERCENT     16
#define TEXT_ERROR       24
#define TEXT_COUNTED     64

/*
 * At most max bytes of src, or up to its NUL, made safe to print: what a process
 * calls itself must not move the cursor of whoever looks at it. Control
 * characters (also C1 and those that turn the writing direction) and bytes that
 * are no UTF-8 become \x1b, a backslash becomes \\; the rest stays.
 */
char *text__safe(char *dst, size_t size, const char *src, size_t max);
/* The same for a whole sentence, whose names may be safe already: a backslash stays. */
char *text__safe_line(char *dst, size_t size, const char *src);

/* Measured times, to three digits: "640 ns" "31 us" "1.23 ms" "40.6 ms" "412 ms" "4.94 s" */
char *text__duration(char *dst, size_t size, uint64_t ns);
/* Times that somebody set, without needless zeros: "10 ms" "2.5 ms" "40 ms" "5 s" */
char *text__nominal(char *dst, size_t size, uint64_t ns);
/* ns as ms with so many decimals (0 to 6), signed: "-0.231" "40.471" */
char *text__ms(char *dst, size_t size, int64_t ns, unsigned decimals);
/* "40 B" "65,536 B", from a million on "1.23 MB" "12.3 GB" */
char *text__bytes(char *dst, size_t size, uint64_t bytes);
/* "4,211" */
char *text__count(char *dst, size_t size, uint64_t count);
/* A share of 1: "98.8%" "0.2%" "130%"; "0%" is nothing at all, "<0.1%" a little */
char *text__percent(char *dst, size_t size, double share);
/* An error number, positive: "ECANCELED"; "error 4242" for one without a name */
char *text__error(char *dst, size_t size, uint32_t error);
/* Network byte order, IPv4 in addr[0]: "127.0.0.1:7000" "[::1]:7000"; "?:7000" for other families
 */
char *text__address(char *dst, size_t size, uint32_t family, const uint32_t addr[4], uint32_t port);
/* "1 stall" "4,211 stalls" */
char *text__counted(char *dst, size_t size, uint64_t count, const char *what);

/* The same in room of their own, which lasts as long as the block: for arguments of printf(). */
#define duration_text(ns)         text__duration((char[TEXT_DURATION]){""}, TEXT_DURATION, ns)
#define nominal_text(ns)          text__nominal((char[TEXT_DURATION]){""}, TEXT_DURATION, ns)
#define bytes_text(bytes)         text__bytes((char[TEXT_BYTES]){""}, TEXT_BYTES, bytes)
#define count_text(count)         text__count((char[TEXT_COUNT]){""}, TEXT_COUNT, count)
#define percent_text(share)       text__percent((char[TEXT_PERCENT]){""}, TEXT_PERCENT, share)
#define part_text(part, whole)    percent_text((whole) ? (double)(part) / (double)(whole) : 0)
#define error_text(error)         text__error((char[TEXT_ERROR]){""}, TEXT_ERROR, error)
#define ms_text(ns)               text__ms((char[TEXT_DURATION]){""}, TEXT_DURATION, ns, 3)
#define counted_text(count, what) text__counted((char[TEXT_COUNTED]){""}, TEXT_COUNTED, count, what)
#define address_text(family, addr, port)                                                           \
	text__address((char[TEXT_ADDRESS]){""}, TEXT_ADDRESS, family, addr, port)
#define safe_text(src, max) text__safe((char[TEXT_SAFE(max)]){""}, TEXT_SAFE(max), src, max)

/* Nothing but digits, and one at least. NULL is none. */
bool text__is_number(const char *text);

/* Append to what stands in dst, behind the separator if that is not empty. */
void text__add(char *dst, size_t size, const char *separator, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Into an array of char, and behind what stands there. */
#define print_to(array, ...)          snprintf(array, sizeof(array), __VA_ARGS__)
#define add_to(array, separator, ...) text__add(array, sizeof(array), separator, __VA_ARGS__)

/*
 * The name that a misspelt word is nearest to: at most a third of its letters are left out, put in
 * or others (Levenshtein). NULL: none is near. Names of at most 32 bytes.
 */
const char *text__nearest(const char *word, const char *const *names, size_t count);

#endif
