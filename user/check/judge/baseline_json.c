// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A baseline as a file:
 *
 *	{
 *	  "causes": {
 *	    "cork": 2
 *	  },
 *	  "exchanges": 4211,
 *	  "requests": [
 *	    {
 *	      "count": 4211,
 *	      "median_ns": 80123,
 *	      "port": 8080,
 *	      "program": "server",
 *	      "role": "serves"
 *	    }
 *	  ],
 *	  "schema": "netstall.baseline/1",
 *	  "threshold_ns": 10000000
 *	}
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/judge/baseline.h"
#include "user/render/json/json_values.h"

#define KEY_SHOWN   40
#define MOST        ((json_int_t)1 << 53)    /* beyond it a double skips numbers */
#define MOST_STALLS ((json_int_t)UINT32_MAX) /* struct report_cause counts no more */
#define SAVE_ANEW   "save it anew with --save-baseline"

/* A count from low to high; what, for people. */
static bool read_count(const json_t *value, const char *what, json_int_t low, json_int_t high,
		       uint64_t *out, const struct refusal *refusal)
{
	json_int_t count;

	if (!value)
		return refuse(refusal, "it has no %s; " SAVE_ANEW, what);
	if (!json_is_integer(value))
		return refuse(refusal, "its %s is no whole number; " SAVE_ANEW, what);
	count = json_integer_value(value);
	if (count < low || count > high)
		return refuse(refusal, "its %s is %lld, which cannot be; " SAVE_ANEW, what,
			      (long long)count);
	*out = (uint64_t)count;
	return true;
}

static bool read_causes(json_t *causes, struct baseline *baseline, const struct refusal *refusal)
{
	char shown[TEXT_SAFE(KEY_SHOWN)], what[TEXT_SAFE(KEY_SHOWN) + 32];
	const char *name;
	json_t *value;

	if (!json_is_object(causes))
		return refuse(refusal, "it has no object of causes; " SAVE_ANEW);
	json_object_foreach (causes, name, value) {
		enum cause cause = cause__find(name, strlen(name));

		text__safe(shown, sizeof(shown), name, KEY_SHOWN);
		if (cause == CAUSE_COUNT)
			return refuse(
				refusal,
				"it counts a cause that this netstall does not know, '%s'; " SAVE_ANEW,
				shown);
		snprintf(what, sizeof(what), "number of %s stalls", shown);
		if (!read_count(value, what, 0, MOST_STALLS, &baseline->stalls[cause], refusal))
			return false;
	}
	return true;
}

static bool read_endpoint(json_t *object, struct endpoint_time *time, const struct refusal *refusal)
{
	const char *role = json_string_value(json_object_get(object, "role"));
	const char *program = json_string_value(json_object_get(object, "program"));
	uint64_t port;
	int which = 0;

	while (which < REQUEST_ROLES &&
	       (!role || strcmp(role, request_role__id((enum request_role)which))))
		which++;
	if (which == REQUEST_ROLES)
		return refuse(
			refusal,
			"its requests are neither those that it makes nor serves; " SAVE_ANEW);
	if (!program || strlen(program) >= NS_COMM_LEN)
		return refuse(refusal, "its requests are of no program; " SAVE_ANEW);
	if (!read_count(json_object_get(object, "port"), "port", 0, UINT16_MAX, &port, refusal) ||
	    !read_count(json_object_get(object, "count"), "number of requests", 1, MOST,
			&time->count, refusal) ||
	    !read_count(json_object_get(object, "median_ns"), "median_ns", 0, MOST,
			&time->median_ns, refusal))
		return false;
	time->role = (enum request_role)which;
	time->port = (uint32_t)port;
	endpoint_time__call(time, program);
	return true;
}

/* One that was saved before there were any has none. */
static bool read_requests(json_t *requests, struct baseline *baseline,
			  const struct refusal *refusal)
{
	json_t *object;
	size_t i;

	if (!requests)
		return true;
	if (!json_is_array(requests) || json_array_size(requests) > ENDPOINTS_MOST)
		return refuse(refusal, "it has no list of requests, or one too long; " SAVE_ANEW);
	json_array_foreach (requests, i, object) {
		if (!read_endpoint(object, &baseline->endpoints[i], refusal))
			return false;
	}
	baseline->endpoint_count = json_array_size(requests);
	return true;
}

static bool read_schema(const json_t *document, const struct refusal *refusal)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));

	if (!schema)
		return refuse(refusal, "it is no baseline of netstall: it has no schema");
	if (!strcmp(schema, BASELINE_SCHEMA))
		return true;
	return refuse(refusal, "its schema is '%s', not " BASELINE_SCHEMA "; " SAVE_ANEW,
		      safe_text(schema, KEY_SHOWN));
}

/* A key that is not known may be one misspelt. */
static bool read_keys(json_t *document, const struct refusal *refusal)
{
	static const char *const keys[] = {"causes", "exchanges", "requests", "schema",
					   "threshold_ns"};
	const char *name;
	json_t *value;

	json_object_foreach (document, name, value) {
		size_t i = 0;

		while (i < sizeof(keys) / sizeof(keys[0]) && strcmp(name, keys[i]))
			i++;
		if (i < sizeof(keys) / sizeof(keys[0]))
			continue;
		return refuse(refusal, "it has a '%s', which is no part of a baseline; " SAVE_ANEW,
			      safe_text(name, KEY_SHOWN));
	}
	return true;
}

static bool read_document(json_t *document, struct baseline *baseline,
			  const struct refusal *refusal)
{
	if (!json_is_object(document))
		return refuse(refusal, "it is no baseline of netstall: it is no JSON object");
	return read_schema(document, refusal) && read_keys(document, refusal) &&
	       read_count(json_object_get(document, "exchanges"), "number of exchanges", 1, MOST,
			  &baseline->exchanges, refusal) &&
	       read_count(json_object_get(document, "threshold_ns"), "threshold_ns", 1, MOST,
			  &baseline->threshold_ns, refusal) &&
	       read_causes(json_object_get(document, "causes"), baseline, refusal) &&
	       read_requests(json_object_get(document, "requests"), baseline, refusal);
}

bool baseline__parse(struct baseline *baseline, const char *text, size_t bytes, char *why,
		     size_t size)
{
	const struct refusal refusal = {why, size};
	struct baseline found = {0};
	json_error_t error;
	json_t *document;
	bool good;

	if (bytes > BASELINE_BYTES)
		return refuse(&refusal, "it is larger than the %d bytes that a baseline may have",
			      BASELINE_BYTES);
	json_value__begin();
	document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (!document)
		return refuse(&refusal, "it is damaged, at line %d: %s; " SAVE_ANEW, error.line,
			      safe_text(error.text, sizeof(error.text)));
	good = read_document(document, &found, &refusal);
	json_decref(document);
	if (good)
		*baseline = found;
	return good;
}

static json_t *endpoint_of(const struct endpoint_time *time)
{
	json_t *object = json_object();

	put(object, "role", json_string(request_role__id(time->role)));
	put(object, "program", json_value__name(time->comm, sizeof(time->comm)));
	put(object, "port", json_value__count(time->port));
	put(object, "count", json_value__count(time->count));
	put(object, "median_ns", json_value__count(time->median_ns));
	return object;
}

char *baseline__text(const struct baseline *baseline)
{
	json_t *document, *causes;
	char *text, *line;

	json_value__begin();
	document = json_object();
	causes = json_object();
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		if (baseline->stalls[cause])
			put(causes, cause__info((enum cause)cause)->id,
			    json_value__count(baseline->stalls[cause]));
	}
	put(document, "causes", causes);
	put(document, "exchanges", json_value__count(baseline->exchanges));
	if (baseline->endpoint_count)
		put_each(document, "requests", i, baseline->endpoint_count,
			 endpoint_of(&baseline->endpoints[i]));
	put(document, "schema", json_string(BASELINE_SCHEMA));
	put(document, "threshold_ns", json_value__count(baseline->threshold_ns));
	text = json_dumps(document, JSON_INDENT(2) | JSON_SORT_KEYS);
	json_decref(document);
	line = xasprintf("%s\n", text);
	free(text);
	return line;
}
