// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The profile as pprof's profile.proto (github.com/google/pprof/blob/main/proto/profile.proto),
 * gzipped: the sleepers' stacks, with who slept, why, and who woke it as labels. The wakers'
 * stacks are not in it: pprof credits a sample to its leaf, which would be a waker's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "user/base/text.h"
#include "user/base/texts.h"
#include "user/base/xalloc.h"
#include "user/render/profile/frames.h"
#include "user/render/profile/profile.h"
#include "user/render/profile/protobuf.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES,
	MAPPING_HAS_LINE_NUMBERS,
	MAPPING_HAS_INLINE_FRAMES,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILENAME = 4 };

struct pprof {
	const struct profile *profile;
	struct protobuf out;
	struct protobuf string_table;
	struct texts *strings, *mappings, *functions, *locations;
	/* Of the sample at hand. */
	struct protobuf sample, ids;
	const char *comm;
};

/* The number of a text, from 1 on; *fresh: it is a new one. */
static size_t number_of(struct texts *texts, const char *text, bool *fresh)
{
	size_t before = texts__count(texts);

	texts__keep(texts, text);
	*fresh = texts__count(texts) > before;
	return texts__number(texts, text);
}

/* An index of the string table, whose entry 0 is "". */
static size_t string(struct pprof *pprof, const char *text)
{
	bool fresh;
	size_t number = *text ? number_of(pprof->strings, text, &fresh) : 0;

	if (number && fresh)
		protobuf__bytes(&pprof->string_table, PROFILE_STRING_TABLE, text, strlen(text));
	return number;
}

static void add_value_type(struct pprof *pprof, unsigned field, const char *type, const char *unit)
{
	struct protobuf value = {0};

	protobuf__number(&value, VALUE_TYPE, string(pprof, type));
	protobuf__number(&value, VALUE_UNIT, string(pprof, unit));
	protobuf__message(&pprof->out, field, &value);
	protobuf__free(&value);
}

/* pprof joins locations by mapping and address: a range for each, far from the others'. */
static size_t mapping(struct pprof *pprof, enum frame_kind kind)
{
	const char *name = kind == FRAME_KERNEL ? "[kernel.kallsyms]" : pprof->comm;
	struct protobuf message = {0};
	bool fresh;
	size_t id = number_of(pprof->mappings, name, &fresh);

	if (fresh) {
		protobuf__number(&message, MAPPING_ID, id);
		protobuf__number(&message, MAPPING_START, (uint64_t)id << 32);
		protobuf__number(&message, MAPPING_LIMIT, (uint64_t)(id + 1) << 32);
		protobuf__number(&message, MAPPING_FILENAME, string(pprof, name));
		/* They have what there is: pprof is not to look for symbols itself. */
		protobuf__number(&message, MAPPING_HAS_FUNCTIONS, 1);
		protobuf__number(&message, MAPPING_HAS_FILENAMES, 1);
		protobuf__number(&message, MAPPING_HAS_LINE_NUMBERS, 1);
		protobuf__number(&message, MAPPING_HAS_INLINE_FRAMES, 1);
		protobuf__message(&pprof->out, PROFILE_MAPPING, &message);
		protobuf__free(&message);
	}
	return id;
}

/* "name (file.c:31)", of --lines, in its parts; file "" and line 0 when it has none. */
static void split_frame(char *name, const char **file, uint64_t *line)
{
	char *open = strrchr(name, '('), *colon = open ? strrchr(open, ':') : NULL, *end;

	*file = "";
	*line = 0;
	if (!open || open == name || open[-1] != ' ' || !colon || colon == open + 1)
		return;
	*line = strtoull(colon + 1, &end, 10);
	if (end == colon + 1 || strcmp(end, ")") != 0) {
		*line = 0;
		return;
	}
	open[-1] = *colon = '\0';
	*file = open + 1;
}

static size_t function(struct pprof *pprof, const char *name, const char *file)
{
	char *key = xasprintf("%s;%s", name, file); /* neither holds a ';' */
	struct protobuf message = {0};
	bool fresh;
	size_t id = number_of(pprof->functions, key, &fresh);

	free(key);
	if (fresh) {
		protobuf__number(&message, FUNCTION_ID, id);
		protobuf__number(&message, FUNCTION_NAME, string(pprof, name));
		/* No system name: with one that is the same pprof cuts arguments off the name. */
		protobuf__number(&message, FUNCTION_FILENAME, string(pprof, file));
		protobuf__message(&pprof->out, PROFILE_FUNCTION, &message);
		protobuf__free(&message);
	}
	return id;
}

static size_t location(struct pprof *pprof, enum frame_kind kind, const char *text)
{
	size_t mapping_id = mapping(pprof, kind), id;
	struct protobuf message = {0}, line = {0};
	char *key = xasprintf("%zu;%s", mapping_id, text), *name = xstrdup(text);
	const char *file;
	uint64_t number;
	bool fresh;

	id = number_of(pprof->locations, key, &fresh);
	if (fresh) {
		split_frame(name, &file, &number);
		protobuf__number(&line, LINE_FUNCTION_ID, function(pprof, name, file));
		protobuf__number(&line, LINE_LINE, number);
		protobuf__number(&message, LOCATION_ID, id);
		protobuf__number(&message, LOCATION_MAPPING_ID, mapping_id);
		protobuf__number(&message, LOCATION_ADDRESS, ((uint64_t)mapping_id << 32) + id);
		protobuf__message(&message, LOCATION_LINE, &line);
		protobuf__message(&pprof->out, PROFILE_LOCATION, &message);
		protobuf__free(&line);
		protobuf__free(&message);
	}
	free(key);
	free(name);
	return id;
}

/* Leaf first, as pprof has it and as the profile has it. */
static void add_stack(struct pprof *pprof, enum frame_kind kind, const char *stack)
{
	while (stack && *stack) {
		size_t bytes = strcspn(stack, ";");
		char text[FRAME_TEXT];

		if (bytes) {
			frame__text(text, stack, bytes);
			protobuf__varint(&pprof->ids, location(pprof, kind, text));
		}
		stack += bytes + (stack[bytes] == ';');
	}
}

static void add_label(struct pprof *pprof, const char *key, const char *text, uint64_t number)
{
	struct protobuf label = {0};

	protobuf__number(&label, LABEL_KEY, string(pprof, key));
	protobuf__number(&label, LABEL_STR, text ? string(pprof, text) : 0);
	protobuf__number(&label, LABEL_NUM, number);
	protobuf__message(&pprof->sample, SAMPLE_LABEL, &label);
	protobuf__free(&label);
}

static const char *waker_name(char *dst, const struct profile_hop *hop)
{
	const char *name = hop->kind == WAKER_IS_UNKNOWN ? "[unknown waker]" : hop->name;

	frame__text(dst, name ? name : "", FRAME_BYTES);
	return dst;
}

static void add_labels(struct pprof *pprof, const struct profile_entry *entry)
{
	char name[FRAME_TEXT], chain[PROFILE_HOPS * 64] = "";

	add_label(pprof, "thread", pprof->comm, 0);
	if (entry->pid)
		add_label(pprof, "pid", NULL, entry->pid);
	if (entry->tid)
		add_label(pprof, "tid", NULL, entry->tid);
	if (entry->has_cause)
		add_label(pprof, "cause", profile__cause(entry->cause), 0);
	if (entry->hop_count)
		add_label(pprof, "waker", waker_name(name, &entry->hops[0]), 0);
	for (size_t i = 0; i < entry->hop_count; i++)
		add_to(chain, " <- ", "%s", waker_name(name, &entry->hops[i]));
	if (entry->hop_count > 1)
		add_label(pprof, "wakers", chain, 0);
}

static void add_sample(struct pprof *pprof, const struct profile_entry *entry)
{
	char comm[FRAME_TEXT];
	struct protobuf values = {0};

	frame__text(comm, entry->comm ? entry->comm : "", FRAME_BYTES);
	pprof->comm = comm;
	protobuf__clear(&pprof->sample);
	protobuf__clear(&pprof->ids);
	mapping(pprof, FRAME_USER); /* the first of all is taken for the main program's */
	add_stack(pprof, FRAME_KERNEL, entry->kernel);
	add_stack(pprof, FRAME_USER, entry->user);
	protobuf__message(&pprof->sample, SAMPLE_LOCATION_ID, &pprof->ids);
	protobuf__varint(&values, entry->count);
	protobuf__varint(&values, entry->ns);
	protobuf__message(&pprof->sample, SAMPLE_VALUE, &values);
	protobuf__free(&values);
	add_labels(pprof, entry);
	protobuf__message(&pprof->out, PROFILE_SAMPLE, &pprof->sample);
}

static void add_all(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	char *comment;

	add_value_type(pprof, PROFILE_SAMPLE_TYPE, "events", "count");
	add_value_type(pprof, PROFILE_SAMPLE_TYPE, "delay", "nanoseconds");
	for (size_t i = 0; i < profile->entry_count; i++)
		add_sample(pprof, &profile->entries[i]);
	protobuf__number(&pprof->out, PROFILE_TIME_NANOS,
			 profile->start_ts + (uint64_t)profile->wall_offset_ns);
	protobuf__number(&pprof->out, PROFILE_DURATION_NANOS, profile->end_ts - profile->start_ts);
	add_value_type(pprof, PROFILE_PERIOD_TYPE, "delay", "nanoseconds");
	protobuf__number(&pprof->out, PROFILE_PERIOD, 1); /* every wait: nothing is sampled */
	comment = xasprintf("netstall offwake: blocked time of %s",
			    safe_text(profile->target, sizeof(profile->target)));
	protobuf__number(&pprof->out, PROFILE_COMMENT, string(pprof, comment));
	free(comment);
	protobuf__number(&pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE, string(pprof, "delay"));
	/* Last, as all above add to it; index 0 is the empty one, written all the same. */
	protobuf__message(&pprof->out, PROFILE_STRING_TABLE, &(struct protobuf){0});
	protobuf__append(&pprof->out, pprof->string_table.bytes, pprof->string_table.size);
}

/* gzip with no time and no name in its head: the same profile gives the same bytes. */
static int write_gzip(FILE *out, const struct protobuf *message)
{
	z_stream stream = {.next_in = message->bytes, .avail_in = (uInt)message->size};
	unsigned char bytes[16384];
	int err;

	if (message->size > UINT32_MAX)
		return -EFBIG;
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		size_t size;

		stream.next_out = bytes;
		stream.avail_out = sizeof(bytes);
		err = deflate(&stream, Z_FINISH);
		size = sizeof(bytes) - stream.avail_out;
		if (fwrite(bytes, 1, size, out) != size)
			err = Z_ERRNO;
	} while (err == Z_OK);
	deflateEnd(&stream);
	if (err == Z_ERRNO)
		return errno ? -errno : -EIO;
	return err == Z_STREAM_END ? 0 : -EIO;
}

int render__profile_pprof(FILE *out, const struct profile *profile)
{
	struct pprof pprof = {
		.profile = profile,
		.strings = texts__new(),
		.mappings = texts__new(),
		.functions = texts__new(),
		.locations = texts__new(),
	};
	int err;

	add_all(&pprof);
	err = write_gzip(out, &pprof.out);
	protobuf__free(&pprof.out);
	protobuf__free(&pprof.string_table);
	protobuf__free(&pprof.sample);
	protobuf__free(&pprof.ids);
	texts__free(pprof.strings);
	texts__free(pprof.mappings);
	texts__free(pprof.functions);
	texts__free(pprof.locations);
	return err;
}
