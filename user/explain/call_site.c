// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/call_site.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"

/* Frames of the program that a person is shown; the JSON has them all. */
#define SHOWN_FRAMES 5
#define NAME_SHOWN   96 /* bytes of a name */

struct frame {
	const char *text;
	size_t len; /* of text, with its offset and place */
	size_t name_len;
	size_t place; /* where " (path/file.c:123)" begins; len: it has none */
};

/* The offset at the end of text: "+0x1f"; len when there is none. */
static size_t offset_at(const char *text, size_t len)
{
	size_t digits = len;

	while (digits > 0 && isxdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits < len && digits > 3 && !memcmp(text + digits - 3, "+0x", 3))
		return digits - 3;
	return len;
}

/* The blank before " (path/file.c:123)" at the end of text; len when there is no such place. */
static size_t place_at(const char *text, size_t len)
{
	size_t digits = len - 1, open;

	if (len < 6 || text[len - 1] != ')')
		return len;
	while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits == len - 1 || digits < 2 || text[digits - 1] != ':')
		return len;
	/* A path may have parentheses, so that the first one behind the offset counts. */
	for (open = 1; open + 3 < digits; open++) {
		if (text[open] == ' ' && text[open + 1] == '(' &&
		    (offset_at(text, open) < open || !memmem(text + open, len - open, "+0x", 3)))
			return open;
	}
	return len;
}

static bool next_frame(const char **at, struct frame *frame)
{
	*at += strspn(*at, ";");
	if (!**at)
		return false;
	frame->text = *at;
	frame->len = strcspn(*at, ";");
	frame->place = place_at(frame->text, frame->len);
	frame->name_len = offset_at(frame->text, frame->place);
	*at += frame->len;
	return true;
}

static bool is_named(const struct frame *frame, const char *const names[])
{
	const char *name = frame->text;
	size_t len = frame->name_len;

	/* glibc calls its own functions by names of their own: __GI___libc_write. */
	for (size_t skip = 1; skip; name += skip, len -= skip)
		skip = len && *name == '_' ? 1 : len > 3 && !strncmp(name, "GI_", 3) ? 3 : 0;
	for (; *names; names++)
		if (strlen(*names) == len && !strncmp(*names, name, len))
			return true;
	return false;
}

/* A frame without a name of its own: "[libc.so.6]+0x2724a". */
static bool is_in_libc(const struct frame *frame)
{
	static const char *const modules[] = {"[libc.so", "[libc-", "[libpthread", "[ld-musl"};

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (frame->len > strlen(modules[i]) &&
		    !strncmp(frame->text, modules[i], strlen(modules[i])))
			return true;
	return false;
}

/* The C library's way into the kernel: every program's sends end there. */
static bool is_wrapper(const struct frame *frame)
{
	static const char *const names[] = {
		"write",         "writev",
		"pwritev2",      "send",
		"sendto",        "sendmsg",
		"sendmmsg",      "sendfile",
		"sendfile64",    "splice",
		"syscall",       "libc_write",
		"libc_writev",   "libc_send",
		"libc_sendto",   "libc_sendmsg",
		"IO_file_write", "IO_new_file_write",
		"IO_do_write",   "IO_new_do_write",
		"syscall_cp",    "syscall_cp_c",
		"stdio_write",   "new_do_write",
		"libc_sendmmsg", NULL,
	};

	return is_named(frame, names) || is_in_libc(frame);
}

/* What stands before every program's own code. */
static bool is_startup(const struct frame *frame)
{
	static const char *const names[] = {"libc_start_main",
					    "libc_start_main_impl",
					    "libc_start_call_main",
					    "start",
					    "start_thread",
					    "clone",
					    "clone3",
					    NULL};

	return is_named(frame, names) || is_in_libc(frame);
}

static void add(char *dst, size_t size, const char *text, size_t len)
{
	char safe[TEXT_SAFE(NAME_SHOWN)];
	size_t used = strlen(dst);

	text__safe(safe, sizeof(safe), text, len < NAME_SHOWN ? len : NAME_SHOWN);
	snprintf(dst + used, size - used, "%s", safe);
}

/* "name+0x12", or with a place "name (file.c:123)". */
static void add_frame(char *dst, size_t size, const struct frame *frame)
{
	const char *path = frame->text + frame->place + 2, *end = frame->text + frame->len, *slash;

	if (frame->place == frame->len) {
		add(dst, size, frame->text, frame->len);
		return;
	}
	slash = memrchr(path, '/', end - path);
	path = slash ? slash + 1 : path;
	add(dst, size, frame->text, frame->name_len);
	add(dst, size, " (", 2);
	add(dst, size, path, end - path);
}

char *site__describe(char *dst, size_t size, const char *frames)
{
	struct frame list[64], frame;
	size_t count = 0, from = 0, to, i;

	dst[0] = '\0';
	while (count < 64 && next_frame(&frames, &frame))
		list[count++] = frame;
	while (from < count && is_wrapper(&list[from]))
		from++;
	if (from == count)
		from = 0;
	for (to = count; to > from + 1 && is_startup(&list[to - 1]);)
		to--;
	for (i = from; i < to && i < from + SHOWN_FRAMES; i++) {
		add(dst, size, " <- ", i > from ? 4 : 0);
		add_frame(dst, size, &list[i]);
	}
	if (i < to)
		add(dst, size, " <- ...", 7);
	return dst;
}

static bool first_place(const char *frames, struct site_place *place)
{
	struct frame frame;

	while (frames && next_frame(&frames, &frame)) {
		const char *path = frame.text + frame.place + 2, *colon;

		if (is_startup(&frame) && !is_wrapper(&frame))
			break;
		if (frame.place == frame.len || is_wrapper(&frame))
			continue;
		colon = memrchr(path, ':', frame.len - frame.place - 2);
		snprintf(place->file, sizeof(place->file), "%.*s", (int)(colon - path), path);
		snprintf(place->function, sizeof(place->function), "%.*s", (int)frame.name_len,
			 frame.text);
		place->line = (unsigned)strtoul(colon + 1, NULL, 10);
		if ((size_t)(colon - path) < sizeof(place->file) && place->line > 0)
			return true;
	}
	return false;
}

/* Behind the frames that both have innermost. */
static const char *where_they_part(const char *frames, const char *other)
{
	struct frame a, b;
	const char *at = frames;

	while (next_frame(&at, &a) && next_frame(&other, &b) && a.len == b.len &&
	       !memcmp(a.text, b.text, a.len))
		frames = at;
	return frames;
}

bool site__place(const char *frames, const char *other, struct site_place *place)
{
	if (frames && other && first_place(where_they_part(frames, other), place))
		return true;
	return first_place(frames, place);
}

char *site__line(char *dst, size_t size, const struct stall *stall, unsigned index)
{
	const char *site = index ? stall->second_site : stall->first_site;
	char text[SITE_TEXT];
	const char *which = "first write";

	if (!site)
		return NULL;
	if (index)
		which = stall->reason == NS_HOLD_NAGLE ? "second write" : "held write";
	snprintf(dst, size, "%s: %s", which, site__describe(text, sizeof(text), site));
	return dst;
}
