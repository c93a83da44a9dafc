// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/json/json_values.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/call_site.h"
#include "user/explain/frame.h"

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

json_t *json_value__share(double share)
{
	return json_real((double)(int64_t)(share * 1e6 + 0.5) / 1e6);
}

json_t *json_value__ms(uint64_t ns)
{
	return json_real((double)ns / 1e6);
}

json_t *json_value__ms_or_null(uint64_t ns)
{
	return ns ? json_value__ms(ns) : json_null();
}

json_t *json_value__time(const struct report *report, uint64_t ts)
{
	return ts ? json_real((double)(int64_t)(ts - report->start_ts) / 1e6) : json_null();
}

json_t *json_value__name(const char *name, size_t max)
{
	size_t size = TEXT_SAFE(name ? strnlen(name, max) : 0);
	char *safe = xcalloc(1, size);
	json_t *value = name ? json_string(text__safe(safe, size, name, max)) : json_null();

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

/* The frames of a call site; whose code each is. */
static json_t *frames_of(const struct frame *list, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_value__name(list[i].text, list[i].len));
	return array;
}

static json_t *classes_of(const struct frame *list, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_string(frame_class__id(list[i].class)));
	return array;
}

static void put_site(json_t *sites, json_t *classes, const char *key, const char *frames)
{
	struct frame list[FRAMES_MOST];
	size_t count = frames__list(frames, list);

	put(sites, key, frames_of(list, count));
	put(classes, key, classes_of(list, count));
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

static json_t *looks_of(const struct site_busy *busy)
{
	json_t *object = json_pack("{s:i, s:i}", "same", busy->same, "of", busy->of);

	put(object, "share_least", busy->high > 0 ? json_value__share(busy->low) : json_null());
	put(object, "share_most", busy->high > 0 ? json_value__share(busy->high) : json_null());
	return object;
}

json_t *json_value__sites(const struct call_sites *sites)
{
	const struct site_busy busy = site__busy(sites);
	const struct {
		const char *key, *frames, *other;
	} rows[] = {
		{"first_write", sites->first_write, sites->second_write},
		{"second_write", sites->second_write, sites->first_write},
		{"read", sites->read, NULL},
		{"answer", sites->answer, NULL},
		{"wait", sites->wait, NULL},
		{"wait_besides", sites->wait ? sites->wait_besides : NULL, NULL},
		{"lock", sites->lock, NULL},
		{"release", sites->release, NULL},
		{"busy", busy.frames, NULL},
	};
	json_t *object = json_object(), *classes = json_object(), *places = json_object();

	if (busy.of)
		put(object, "busy_looks", looks_of(&busy));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		put_site(object, classes, rows[i].key, rows[i].frames);
		put(places, rows[i].key, place_of(rows[i].frames, rows[i].other));
	}
	put(object, "classes", classes);
	put(object, "places", places);
	return object;
}

size_t json_value__flags(int indent)
{
	return JSON_REAL_PRECISION(REAL_DIGITS) | JSON_ENSURE_ASCII |
	       (indent > 0 ? JSON_INDENT((size_t)indent) : 0);
}

void json_value__dump(FILE *out, json_t *document, int indent)
{
	json_dumpf(document, out, json_value__flags(indent));
	fputc('\n', out);
	json_decref(document);
}
