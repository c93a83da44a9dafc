// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/anonymize.h"

#include <arpa/inet.h>
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

/* Of "send (/srv/app.py:21)" the file: "send (file-3.py:21)". */
static void hide_files(struct anonymizer *anonymizer, char *stack, size_t size)
{
	char *out, *at = stack, *open, *end, *close, *colon, *dot;
	size_t length;
	FILE *to = xmemstream(&out, &length);

	while ((open = strstr(at, " ("))) {
		end = strchrnul(open, ';');
		close = memrchr(open, ')', (size_t)(end - open));
		colon = close ? memrchr(open, ':', (size_t)(close - open)) : NULL;
		if (!colon) {
			fwrite(at, 1, (size_t)(end - at), to);
			at = end;
			continue;
		}
		fwrite(at, 1, (size_t)(open + 2 - at), to);
		dot = memrchr(open, '.', (size_t)(colon - open));
		if (!dot || memchr(dot, '/', (size_t)(colon - dot)))
			dot = colon;
		fprintf(to, "file-%u%.*s",
			number_of(anonymizer, PATH, open + 2, (size_t)(colon - open - 2)),
			(int)(close - dot), dot);
		at = close;
	}
	fputs(at, to);
	fclose(to);
	memset(stack, 0, size);
	snprintf(stack, size, "%s", out);
	free(out);
}

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
