// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A recording is read. */
#include "user/record/recording.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/record/recording_parts.h"

#define BLOCK_MOST  (4u << 20) /* bytes of a block, deflated or not */
#define TYPES_MOST  1024       /* numbers of types */
#define FIELDS_MOST 1024

/* ---- what its records are made of ---- */

/* One field of a record that was written, and where it is in ours. */
struct step {
	uint16_t from, to, size;
	bool is_string;
	uint32_t *values; /* NULL: numbers stay; else by number, values_count of them */
	size_t values_count;
};

struct form {
	uint32_t type; /* ours; 0: there is none */
	uint32_t size; /* as written */
	bool same;     /* as ours */
	struct step *steps;
	size_t count;
};

static size_t width_of(const struct field *field)
{
	switch (field->kind) {
	case FIELD_STRING:
		return field->size;
	case FIELD_ADDRESS:
		return 4 * sizeof(uint32_t);
	case FIELD_U64:
	case FIELD_HEX64:
	case FIELD_MS:
	case FIELD_TIME:
		return sizeof(uint64_t);
	default:
		return sizeof(uint32_t);
	}
}

static const struct field *field_of(const struct record_type *type, const char *name)
{
	const struct field *field = type->fields;

	while (field->name && strcmp(field->name, name) != 0)
		field++;
	return field->name ? field : NULL;
}

static void add_step(struct form *form, size_t from, const struct field *to, size_t size,
		     size_t offset)
{
	if (from + size > form->size || offset + size > record__size(form->type))
		return;
	form->steps = xreallocarray(form->steps, form->count + 1, sizeof(*form->steps));
	form->steps[form->count++] = (struct step){
		.from = from, .to = offset, .size = size, .is_string = to->kind == FIELD_STRING};
}

/* Names of values stand for what they mean here. */
static void map_values(struct step *step, const struct field *field, const json_t *values)
{
	size_t i;
	json_t *value;

	step->values_count = json_array_size(values);
	step->values = xcalloc(step->values_count + 1, sizeof(*step->values));
	json_array_foreach ((json_t *)values, i, value) {
		const char *name = json_string_value(value);

		for (uint32_t j = 0; name && field->values[j]; j++)
			if (!strcmp(field->values[j], name))
				step->values[i] = j;
	}
}

static void map_field(struct form *form, const struct record_type *type, const json_t *written)
{
	const char *name = json_string_value(json_object_get(written, "name"));
	json_int_t offset = json_integer_value(json_object_get(written, "offset"));
	json_int_t size = json_integer_value(json_object_get(written, "size"));
	json_int_t kind = json_integer_value(json_object_get(written, "kind"));
	const json_t *values = json_object_get(written, "values");
	const struct field *field = name ? field_of(type, name) : NULL;
	size_t before = form->count, width;

	if (!field || kind != field->kind || offset < 0 || offset > RECORDING_RECORD_MOST ||
	    size < 0 || size > RECORDING_RECORD_MOST)
		return;
	width = width_of(field);
	if (field->kind == FIELD_STRING && (size_t)size < width)
		width = (size_t)size;
	add_step(form, (size_t)offset, field, width, field->offset);
	if (field->kind == FIELD_ADDRESS)
		add_step(form, (size_t)size, field, sizeof(uint32_t), field->size);
	if (field->values && json_is_array(values) && form->count > before)
		map_values(&form->steps[form->count - 1], field, values);
}

/* Nothing is to be moved: the fields that are read lie where ours do, with the same meaning. */
static bool is_same(const struct form *form, const struct record_type *type)
{
	size_t fields = 0;

	for (const struct field *field = type->fields; field->name; field++)
		fields += 1 + (field->kind == FIELD_ADDRESS);
	if (form->size != type->size || form->count != fields)
		return false;
	for (size_t i = 0; i < form->count; i++) {
		const struct step *step = &form->steps[i];

		if (step->from != step->to)
			return false;
		for (size_t j = 0; j < step->values_count; j++)
			if (step->values[j] != j)
				return false;
	}
	return true;
}

struct recording {
	FILE *in;
	struct recording_about about;
	struct form forms[TYPES_MOST]; /* by the number of the type as written */
	unsigned char *stored, *bytes;
	size_t used, at; /* of bytes */
	uint64_t counted;
	union record out;
};

static void read_type(struct recording *recording, const json_t *written)
{
	json_int_t number = json_integer_value(json_object_get(written, "type"));
	const char *name = json_string_value(json_object_get(written, "name"));
	json_int_t size = json_integer_value(json_object_get(written, "size"));
	const json_t *fields = json_object_get(written, "fields");
	const struct record_type *type = name ? record_type__by_name(name) : NULL;
	struct form *form;
	json_t *field;
	size_t i;

	if (!type || number <= 0 || number >= TYPES_MOST || size < (int)sizeof(struct ns_head) ||
	    size > RECORDING_RECORD_MOST || recording->forms[number].type ||
	    json_array_size(fields) > FIELDS_MOST)
		return;
	form = &recording->forms[number];
	form->type = type->type;
	form->size = (uint32_t)size;
	json_array_foreach ((json_t *)fields, i, field)
		map_field(form, type, field);
	form->same = is_same(form, type);
}

/* ---- blocks ---- */

/* Goes on behind what was no block: to the next one, if there is any. */
static bool find_block(struct recording *recording, long from)
{
	uint32_t seen = 0;
	int byte;

	if (fseek(recording->in, from, SEEK_SET))
		return false;
	while ((byte = getc(recording->in)) != EOF) {
		seen = seen >> 8 | (uint32_t)byte << 24;
		if (seen == RECORDING_MAGIC)
			return !fseek(recording->in, -(long)sizeof(seen), SEEK_CUR);
	}
	return false;
}

static bool read_block(struct recording *recording, struct block *block)
{
	uLongf bytes;

	if (fread(block, sizeof(*block), 1, recording->in) != 1 ||
	    block->magic != RECORDING_MAGIC || block->stored > BLOCK_MOST ||
	    block->bytes > BLOCK_MOST)
		return false;
	recording->stored = xreallocarray(recording->stored, block->stored + 1, 1);
	recording->bytes = xreallocarray(recording->bytes, block->bytes + 1, 1);
	recording->used = recording->at = 0;
	if (fread(recording->stored, 1, block->stored, recording->in) != block->stored ||
	    block->crc != block__checksum(block, recording->stored))
		return false;
	bytes = block->bytes;
	return uncompress(recording->bytes, &bytes, recording->stored, block->stored) == Z_OK &&
	       bytes == block->bytes;
}

/* The next one that is whole. False: there is none. */
static bool next_block(struct recording *recording, struct block *block)
{
	for (;;) {
		long at = ftell(recording->in);
		int byte = getc(recording->in);

		if (byte == EOF || at < 0)
			return false;
		ungetc(byte, recording->in);
		if (read_block(recording, block))
			return true;
		/* The last one of a file that was cut says nothing but that. */
		if (!find_block(recording, at + 1))
			return false;
		recording->about.damaged++;
	}
}

static const char *read_about(struct recording *recording, const struct block *block)
{
	json_t *about = json_loadb((const char *)recording->bytes, block->bytes, 0, NULL), *type;
	const char *host = json_string_value(json_object_get(about, "host"));
	const char *tool = json_string_value(json_object_get(about, "tool"));
	const char *why = NULL;
	size_t i;

	if (json_integer_value(json_object_get(about, "netstall-recording")) < 1)
		why = "its beginning is damaged";
	json_array_foreach (json_object_get(about, "types"), i, type)
		read_type(recording, type);
	snprintf(recording->about.host, sizeof(recording->about.host), "%s", host ? host : "");
	snprintf(recording->about.tool, sizeof(recording->about.tool), "%s", tool ? tool : "");
	recording->about.created_s =
		(uint64_t)json_integer_value(json_object_get(about, "created_s"));
	json_decref(about);
	return why;
}

struct recording *recording__open(FILE *in, const char **why)
{
	struct recording *recording = xcalloc(1, sizeof(*recording));
	struct block block;

	recording->in = in;
	if (!read_block(recording, &block))
		*why = block.magic == RECORDING_MAGIC ? "its beginning is damaged"
						      : "it is no recording of netstall";
	else if (block.kind != BLOCK_ABOUT)
		*why = "its beginning is missing";
	else
		*why = read_about(recording, &block);
	if (!*why)
		return recording;
	recording__free(recording);
	return NULL;
}

/* ---- records ---- */

static bool more(struct recording *recording)
{
	struct block block;

	while (next_block(recording, &block)) {
		if (block.kind == BLOCK_END) {
			recording->about.ended = true;
			if (block.records > recording->counted)
				recording->about.missing = block.records - recording->counted;
		}
		if (block.kind != BLOCK_RECORDS || !block.bytes)
			continue;
		recording->used = block.bytes;
		recording->at = 0;
		return true;
	}
	return false;
}

static void move(struct step *step, const unsigned char *from, unsigned char *to)
{
	uint32_t number;

	memcpy(to + step->to, from + step->from, step->size);
	if (step->is_string)
		to[step->to + step->size - 1] = '\0';
	if (!step->values)
		return;
	memcpy(&number, from + step->from, sizeof(number));
	if (number < step->values_count)
		memcpy(to + step->to, &step->values[number], sizeof(number));
}

/* Written by another version: field by field. */
static void convert(struct recording *recording, const struct form *form,
		    const unsigned char *record)
{
	unsigned char *out = (unsigned char *)&recording->out;

	memset(out, 0, sizeof(recording->out));
	memcpy(out, record, sizeof(struct ns_head));
	for (size_t i = 0; i < form->count; i++)
		move(&form->steps[i], record, out);
	recording->out.head.type = form->type;
	recording->out.head.len = (uint32_t)record__size(form->type);
}

static enum recording_gives take(struct recording *recording, const struct ns_head *head,
				 const unsigned char *record)
{
	const struct form *form =
		head->type < TYPES_MOST ? &recording->forms[head->type] : &recording->forms[0];

	recording->about.last_ts = head->ts;
	if (head->type == RECORDING_IDLE_TYPE) {
		recording->out.head = *head;
		return RECORDING_IDLE;
	}
	recording->counted++;
	if (!form->type || head->len < form->size || form->size > sizeof(recording->out)) {
		recording->about.skipped++;
		return RECORDING_ENDS;
	}
	recording->about.records++;
	if (form->same) {
		memcpy(&recording->out, record, form->size);
		recording->out.head.type = form->type;
		recording->out.head.len = form->size;
	} else {
		convert(recording, form, record);
	}
	return RECORDING_RECORD;
}

enum recording_gives recording__next(struct recording *recording, const void **record, size_t *len)
{
	enum recording_gives gives;
	struct ns_head head;

	for (;;) {
		const unsigned char *at = recording->bytes + recording->at;

		if (recording->used - recording->at < sizeof(head)) {
			if (!more(recording))
				return RECORDING_ENDS;
			continue;
		}
		memcpy(&head, at, sizeof(head));
		if (head.len < sizeof(head) || head.len > recording->used - recording->at) {
			recording->about.damaged++;
			recording->at = recording->used;
			continue;
		}
		recording->at += head.len;
		gives = take(recording, &head, at);
		if (gives == RECORDING_ENDS)
			continue;
		*record = &recording->out;
		*len = recording->out.head.len;
		return gives;
	}
}

const struct recording_about *recording__about(const struct recording *recording)
{
	return &recording->about;
}

void recording__free(struct recording *recording)
{
	for (size_t i = 0; i < TYPES_MOST; i++) {
		for (size_t j = 0; j < recording->forms[i].count; j++)
			free(recording->forms[i].steps[j].values);
		free(recording->forms[i].steps);
	}
	free(recording->stored);
	free(recording->bytes);
	free(recording);
}
