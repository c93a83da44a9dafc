// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Records as JSON: their fields by the decoder's tables, and what io_uring's have beside these. */
#include <string.h>

#include "user/base/text.h"
#include "user/record/syscalls.h"
#include "user/render/json/json_values.h"

static json_t *field_value(const struct report *report, const union record *record,
			   const struct field *field)
{
	const uint32_t *addr;
	uint32_t family, port;
	const char *name;
	char word[40];

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
	case FIELD_S32:
		return json_integer((int32_t)(uint32_t)field__number(record, field));
	case FIELD_HEX64: /* all 64 bits: many readers keep 53 of a number */
		snprintf(word, sizeof(word), "0x%llx",
			 (unsigned long long)field__number(record, field));
		return json_string(word);
	case FIELD_ERRNO:
		return json_string(error_text((uint32_t)field__number(record, field)));
	case FIELD_OPCODE:
		return json_string(
			uring_op__text(word, sizeof(word), (uint32_t)field__number(record, field)));
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

static bool is_shown(const union record *record, const struct field *field)
{
	switch (record->head.type) {
	case NS_CONN_TOTALS: /* of the counters by reason only those that count something */
		return field__is_set(record, field);
	case NS_URING_TOTALS: /* the histogram is an array */
		return field->offset < offsetof(struct ns_uring_totals, buckets) &&
		       (strncmp(field->name, "how_", 4) != 0 || field__is_set(record, field));
	default:
		return field__means_something(record, field);
	}
}

/* Of the buckets that count something: the least duration in it, and how many. */
static json_t *histogram_of(const struct ns_uring_totals *totals)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < NS_URING_BUCKETS; i++) {
		json_t *bucket;

		if (!totals->buckets[i])
			continue;
		bucket = json_object();
		put(bucket, "from_ms", json_value__ms(ns_uring_bucket_ns(i)));
		put(bucket, "count", json_value__count(totals->buckets[i]));
		json_array_append_new(array, bucket);
	}
	return array;
}

static void set_uring(json_t *object, const union record *record)
{
	switch (record->head.type) {
	case NS_URING:
		if (record->uring.step == NS_URING_DONE && (int32_t)record->uring.result < 0)
			put(object, "error", json_string(error_text(0 - record->uring.result)));
		break;
	case NS_URING_ERROR:
		put(object, "errno", json_integer(record->uring_error.error));
		break;
	case NS_URING_TOTALS:
		put(object, "durations", histogram_of(&record->uring_totals));
		break;
	default:
		break;
	}
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
		if (is_shown(record, field))
			set_field(object, report, record, field);
	}
	set_uring(object, record);
	if (record->head.type == NS_WAIT)
		call = syscall__name(report->session.arch, record->wait.syscall);
	if (call)
		put(object, "syscall_name", json_string(call));
}
