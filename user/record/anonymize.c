// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/anonymize.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"

#define NAMES 1048576

/* What names are of; each has numbers of its own. */
enum kind { ADDRESS4, ADDRESS6, PROGRAM, PATH, KINDS };

struct name {
	enum kind kind;
	uint32_t number; /* from 1, in the order in which they came */
	size_t len;
	char from[];
};

struct anonymizer {
	struct table *names; /* by a hash, or the next free number behind it */
	uint32_t count[KINDS];
};

struct anonymizer *anonymizer__new(void)
{
	struct anonymizer *anonymizer = xcalloc(1, sizeof(*anonymizer));

	anonymizer->names = table__new(NAMES);
	return anonymizer;
}

void anonymizer__free(struct anonymizer *anonymizer)
{
	table__free(anonymizer->names, free);
	free(anonymizer);
}

static uint32_t number_of(struct anonymizer *anonymizer, enum kind kind, const void *from,
			  size_t len)
{
	uint32_t hash = 0x811c9dc5u + kind; /* FNV-1a */
	struct name *name;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const unsigned char *)from)[i]) * 0x01000193u;
	for (; (name = table__get(anonymizer->names, hash)); hash++)
		if (name->kind == kind && name->len == len && !memcmp(name->from, from, len))
			return name->number;
	name = xcalloc(1, sizeof(*name) + len);
	*name = (struct name){.kind = kind, .number = ++anonymizer->count[kind], .len = len};
	memcpy(name->from, from, len);
	if (!table__put(anonymizer->names, hash, name))
		free(name); /* another number each time, but no name */
	return anonymizer->count[kind];
}

/* ---- fields ---- */

static void hide_address(struct anonymizer *anonymizer, uint32_t family, uint32_t addr[4])
{
	static const uint32_t any[4], loopback[4] = {[3] = 0x01000000};
	uint32_t number;

	if (family == AF_INET6) {
		if (!memcmp(addr, any, sizeof(any)) || !memcmp(addr, loopback, sizeof(loopback)))
			return;
		number = number_of(anonymizer, ADDRESS6, addr, 4 * sizeof(*addr));
		memset(addr, 0, 4 * sizeof(*addr));
		addr[0] = htonl(0xfd000000); /* RFC 4193 */
		addr[3] = htonl(number);
		return;
	}
	if (!addr[0] || (ntohl(addr[0]) >> 24) == 127)
		return;
	number = number_of(anonymizer, ADDRESS4, addr, sizeof(*addr));
	addr[0] = htonl(0x0a000000 | (number & 0xffffff)); /* RFC 1918 */
}

static bool is_of_kernel(const char *comm)
{
	static const char *const begins[] = {"swapper/", "kworker/", "ksoftirqd/", "migration/",
					     "irq/",     "irq:",     "rcu_",       "kcompactd",
					     "kswapd",   "iou-",     "netstall",   "softirq:"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(comm, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static void hide_program(struct anonymizer *anonymizer, char *comm, size_t size)
{
	uint32_t number;

	if (!*comm || is_of_kernel(comm))
		return;
	number = number_of(anonymizer, PROGRAM, comm, strlen(comm));
	memset(comm, 0, size);
	snprintf(comm, size, "program-%u", number);
}

static void hide_path(struct anonymizer *anonymizer, char *path, size_t size)
{
	uint32_t number;

	if (!*path)
		return;
	number = number_of(anonymizer, PATH, path, strlen(path));
	memset(path, 0, size);
	snprintf(path, size, "name-%u", number);
}

/* ---- frames ---- */

/* A frame, or a part of one; not terminated. */
struct span {
	const char *text;
	size_t len;
};

static bool begins(struct span span, const char *with)
{
	size_t len = strlen(with);

	return span.len >= len && !memcmp(span.text, with, len);
}

/* What stands in brackets in place of a name, or as a frame's module: these say nothing of anybody.
 */
static bool is_public(struct span name)
{
	static const char *const words[] = {"unknown", "unread", "hidden", "jit",
					    "java",    "python", "vdso",   "vsyscall"};
	static const char *const leads[] = {/* what netstall itself says */
					    "its programs and libraries", "the process was gone",
					    "a program of another machine", "netstall's helper",
					    /* libraries that explain/frame.c knows the class of */
					    "libc.so", "libc-", "libpthread", "ld-linux", "ld-musl",
					    "libm.so", "libstdc++.", "libgcc_s.", "libpython",
					    "libjvm."};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (name.len == strlen(words[i]) && begins(name, words[i]))
			return true;
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (begins(name, leads[i]))
			return true;
	return false;
}

/* "file-3.py": what behind the last dot of its name says of which language it is. */
static void put_file(struct anonymizer *anonymizer, FILE *to, struct span path)
{
	const char *dot = memrchr(path.text, '.', path.len);
	size_t rest = dot ? path.len - (size_t)(dot - path.text) : 0;

	if (dot && memchr(dot, '/', rest))
		rest = 0;
	fprintf(to, "file-%u%.*s", number_of(anonymizer, PATH, path.text, path.len), (int)rest,
		rest ? dot : "");
}

/* How much of it stands before ":12" or ":12:3". */
static size_t before_line(struct span place)
{
	size_t len = place.len, digits = len;

	for (int i = 0; i < 2; i++) {
		while (digits > 0 && isdigit((unsigned char)place.text[digits - 1]))
			digits--;
		if (digits == len || !digits || place.text[digits - 1] != ':')
			break;
		len = --digits;
	}
	return len;
}

static void put_place(struct anonymizer *anonymizer, FILE *to, struct span place)
{
	size_t len = before_line(place);

	put_file(anonymizer, to, (struct span){place.text, len});
	fprintf(to, "%.*s", (int)(place.len - len), place.text + len);
}

/* "[orders]" and what follows of "+0x1234"; or a function's words, of which V8's have paths. */
static void put_name(struct anonymizer *anonymizer, FILE *to, struct span name)
{
	const char *close =
		name.len && *name.text == '[' ? memrchr(name.text, ']', name.len) : NULL;
	struct span word = {name.text, 0};

	if (close) {
		word = (struct span){name.text + 1, (size_t)(close - name.text) - 1};
		fputc('[', to);
		if (is_public(word))
			fprintf(to, "%.*s", (int)word.len, word.text);
		else
			put_file(anonymizer, to, word);
		fprintf(to, "%.*s", (int)(name.len - word.len - 1), close);
		return;
	}
	for (size_t at = 0, end; at <= name.len; at = end + 1) {
		const char *blank = memchr(name.text + at, ' ', name.len - at);

		end = blank ? (size_t)(blank - name.text) : name.len;
		word = (struct span){name.text + at, end - at};
		if (begins(word, "/") || memmem(word.text, word.len, "://", 3)) {
			/* To its end, as paths have blanks. */
			put_place(anonymizer, to, (struct span){word.text, name.len - at});
			return;
		}
		fprintf(to, "%.*s%s", (int)word.len, word.text, blank ? " " : "");
	}
}

/* Where " [libc.so.6]" begins at its end; its length: there is none. */
static size_t module_at(struct span frame)
{
	size_t at = frame.len;

	if (!at || frame.text[at - 1] != ']')
		return frame.len;
	while (at > 1 && !(frame.text[at - 1] == '[' && frame.text[at - 2] == ' '))
		at--;
	return at > 1 ? at - 2 : frame.len;
}

/* Where " (/srv/app.py:21)" or " (app.py)" begins at its end; its length: there is none. */
static size_t place_at(struct span frame)
{
	size_t close = frame.len, at;
	struct span inside;

	if (close < 4 || frame.text[close - 1] != ')')
		return frame.len;
	inside = (struct span){frame.text, close - 1};
	if (before_line(inside) < inside.len) {
		/* Paths have brackets, and types in a function's name no blank before theirs. */
		const char *open = memmem(frame.text, frame.len, " (", 2);

		return open ? (size_t)(open - frame.text) : frame.len;
	}
	for (at = close - 1; at > 1; at--) {
		if (frame.text[at - 1] == ')')
			return frame.len;
		if (frame.text[at - 1] == '(' && frame.text[at - 2] == ' ')
			return at - 2;
	}
	return frame.len;
}

static void put_frame(struct anonymizer *anonymizer, FILE *to, struct span frame)
{
	size_t module = module_at(frame), place = place_at((struct span){frame.text, module});

	put_name(anonymizer, to, (struct span){frame.text, place});
	if (place < module) {
		fputs(" (", to);
		put_place(anonymizer, to,
			  (struct span){frame.text + place + 2, module - place - 3});
		fputc(')', to);
	}
	if (module < frame.len) {
		fputc(' ', to);
		put_name(anonymizer, to,
			 (struct span){frame.text + module + 1, frame.len - module - 1});
	}
}

/* Functions stay: of "send (/srv/app.py:21)" the file is "file-3.py:21". */
static void hide_files(struct anonymizer *anonymizer, char *stack, size_t size)
{
	size_t length;
	char *out;
	FILE *to = xmemstream(&out, &length);

	for (const char *at = stack, *end;; at = end + 1) {
		end = strchrnul(at, ';');
		put_frame(anonymizer, to, (struct span){at, (size_t)(end - at)});
		if (!*end)
			break;
		fputc(';', to);
	}
	fclose(to);
	memset(stack, 0, size);
	snprintf(stack, size, "%s", out);
	free(out);
}

/* ---- records ---- */

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), of_end = strlen(end);

	return length >= of_end && !strcmp(name + length - of_end, end);
}

static void hide_string(struct anonymizer *anonymizer, union record *record,
			const struct field *field)
{
	char *text = (char *)record + field->offset;

	switch (record->head.type) {
	case NS_STACK:
	case NS_PROFILE_TEXT:
		hide_files(anonymizer, text, field->size);
		return;
	case NS_SESSION:
	case NS_PROFILE:
		if (!strcmp(field->name, "target"))
			hide_path(anonymizer, text, field->size);
		return;
	default:
		if (ends_with(field->name, "comm"))
			hide_program(anonymizer, text, field->size);
		else if (strcmp(field->name, "cause") != 0)
			hide_path(anonymizer, text, field->size);
	}
}

void anonymizer__record(struct anonymizer *anonymizer, union record *record)
{
	const struct record_type *type = record_type__by_number(record->head.type);

	for (const struct field *field = type->fields; field->name; field++) {
		if (field->kind == FIELD_STRING)
			hide_string(anonymizer, record, field);
		else if (field->kind == FIELD_ADDRESS)
			hide_address(anonymizer, *field__family(record),
				     (uint32_t *)(void *)((char *)record + field->offset));
	}
}
