// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/json_values.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/sites.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/trace/syscalls.h"

/* Digits that a double keeps: 11 days of ms with six decimals. */
#define REAL_DIGITS 15

static void *allocate(size_t size)
{
	return xcalloc(1, size);
}

void json_value__begin(void)
{
	json_set_alloc_funcs(allocate, free);
}

json_t *json_value__count(uint64_t count)
{
	return json_integer((json_int_t)count);
}

json_t *json_value__ms(uint64_t ns)
{
	return json_real((double)ns / 1e6);
}

json_t *json_value__time(const struct report *report, uint64_t ts)
{
	return ts ? json_real((double)(int64_t)(ts - report->start_ts) / 1e6) : json_null();
}

json_t *json_value__name(const char *name, size_t max)
{
	size_t len = strnlen(name, max), size = TEXT_SAFE(len);
	char *safe = xcalloc(1, size);
	json_t *value = json_string(text__safe(safe, size, name, len));

	free(safe);
	return value;
}

json_t *json_value__text(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	return value ? value : json_value__name(text, strlen(text)); /* not UTF-8 */
}

json_t *json_value__number_or_null(uint64_t number, uint64_t unknown)
{
	return number == unknown ? json_null() : json_integer((json_int_t)number);
}

json_t *json_value__address(uint32_t family, const uint32_t *addr, uint32_t port)
{
	char address[TEXT_ADDRESS];

	return json_string(text__address(address, sizeof(address), family, addr, port));
}

json_t *json_value__stack(const char *frames)
{
	json_t *array = json_array();

	while (frames && *frames != '\0') {
		size_t bytes = strcspn(frames, ";");

		json_array_append_new(array, json_value__name(frames, bytes));
		frames += bytes + (frames[bytes] == ';');
	}
	return array;
}

static json_t *place_of(const char *frames, const char *other)
{
	struct site_place place;
	json_t *object;

	if (!site__place(frames, other, &place))
		return json_null();
	object = json_object();
	put(object, "function", json_value__name(place.function, sizeof(place.function)));
	put(object, "file", json_value__name(place.file, sizeof(place.file)));
	put(object, "line", json_integer(place.line));
	return object;
}

json_t *json_value__sites(const char *first, const char *second)
{
	json_t *sites = json_object(), *places = json_object();

	put(places, "first_write", place_of(first, second));
	put(places, "second_write", place_of(second, first));
	put(sites, "first_write", json_value__stack(first));
	put(sites, "second_write", json_value__stack(second));
	put(sites, "places", places);
	return sites;
}

static json_t *field_value(const struct report *report, const union record *record,
			   const struct field *field)
{
	const uint32_t *addr;
	uint32_t family, port;
	const char *name;

	switch (field->kind) {
	case FIELD_MS:
		return json_value__ms(field__number(record, field));
	case FIELD_TIME:
		return json_value__time(report, field__number(record, field));
	case FIELD_ADDRESS:
		field__address(record, field, &family, &addr, &port);
		return json_value__address(family, addr, port);
	case FIELD_STRING:
		return json_value__name(field__string(record, field), field->size);
	case FIELD_NAME:
		name = field__value_name(field, field__number(record, field));
		return name ? json_string(name)
			    : json_integer((json_int_t)field__number(record, field));
	case FIELD_FD:
		return json_value__number_or_null(field__number(record, field), NS_FD_UNKNOWN);
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_HEX32:
		break;
	}
	return json_integer((json_int_t)field__number(record, field));
}

static void set_field(json_t *object, const struct report *report, const union record *record,
		      const struct field *field)
{
	bool timed = field->kind == FIELD_MS || field->kind == FIELD_TIME;
	char key[64];

	/* In JSON a unit stands in the name. */
	snprintf(key, sizeof(key), "%s%s", field->name, timed ? "_ms" : "");
	put(object, key, field_value(report, record, field));
}

void json_value__record(json_t *object, const struct report *report, const union record *record)
{
	const struct record_type *type = record_type__by_number(record->head.type);
	const char *call = NULL;

	put(object, "t_ms", json_value__time(report, record->head.ts));
	put(object, "event", json_string(type ? type->name : "unknown"));
	for (const struct field *field = record_head_fields; field->name; field++)
		set_field(object, report, record, field);
	for (const struct field *field = type ? type->fields : NULL; field && field->name;
	     field++) {
		/* Of the counters by reason only those that count something. */
		if (record->head.type == NS_CONN_TOTALS && !field__is_set(record, field))
			continue;
		set_field(object, report, record, field);
	}
	if (record->head.type == NS_WAIT)
		call = syscall__name(report->session.arch, record->wait.syscall);
	if (call)
		put(object, "syscall_name", json_string(call));
}

void json_value__dump(FILE *out, json_t *document, int indent)
{
	size_t flags = JSON_REAL_PRECISION(REAL_DIGITS) | JSON_ENSURE_ASCII;

	flags |= indent > 0 ? JSON_INDENT((size_t)indent) : 0;
	json_dumpf(document, out, flags);
	fputc('\n', out);
	json_decref(document);
}
