// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/recording.h"

#include <endian.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a recording is little-endian"
#endif

#define MAGIC        0x4253544eu /* "NTSB" */
#define BLOCK_BYTES  (256u << 10)
#define BLOCK_MOST   (4u << 20) /* that a reader takes, deflated or not */
#define BLOCK_NS     1000000000ull
#define LEVEL        1
#define IDLE_TYPE    0xf001u /* a head alone: nothing came until then */
#define TYPES_MOST   1024    /* numbers of types that a reader takes */
#define FIELDS_MOST  1024
#define RECORD_BYTES 65536u
#define KEPT_STACKS  8192         /* as stacks are numbered anew */
#define KEPT_BYTES   (128u << 20) /* of blocks; beyond, there are fewer seconds of them */
#define KEPT_MOST    65536        /* records of a type that a flight recorder knows from before */

enum block_kind { BLOCK_ABOUT = 1, BLOCK_RECORDS = 2, BLOCK_END = 3 };

struct block {
	uint32_t magic;
	uint32_t kind;
	uint32_t stored; /* bytes that follow */
	uint32_t bytes;  /* these are, inflated */
	uint64_t records;
	uint32_t crc; /* of what follows, begun with that of the fields above */
	uint32_t pad;
};

_Static_assert(sizeof(struct block) == 32, "no padding");

static uint32_t checksum(const struct block *block, const void *stored)
{
	uLong crc = crc32(0, (const Bytef *)block, offsetof(struct block, crc));

	return (uint32_t)crc32(crc, stored, block->stored);
}

/* ---- writing ---- */

/* Of a flight recorder: a block, as it goes into the file. */
struct kept_block {
	struct kept_block *next;
	uint64_t begin_ts, end_ts; /* the first and the last of its times */
	struct block block;
	unsigned char stored[];
};

struct recording_writer {
	FILE *out; /* NULL: a flight recorder's, but for the time of a save */
	uint64_t last_ns;
	char *host, *tool;
	uint64_t created_s;
	struct kept_block *first, **end;
	size_t kept_bytes;
	struct table *kept[NS_TYPE_MAX]; /* of types that are kept, by what they are of */
	uint64_t begin_ts, end_ts;       /* of the block at hand */
	uint64_t flushed_ns;
	uint64_t records, in_block;
	size_t used;
	unsigned char *deflated;
	unsigned char bytes[BLOCK_BYTES];
};

static void keep_block(struct recording_writer *writer, const struct block *block)
{
	struct kept_block *kept = xcalloc(1, sizeof(*kept) + block->stored);

	kept->begin_ts = writer->begin_ts;
	kept->end_ts = writer->end_ts;
	kept->block = *block;
	memcpy(kept->stored, writer->deflated, block->stored);
	writer->kept_bytes += block->stored;
	*writer->end = kept;
	writer->end = &kept->next;
}

static void write_block(struct recording_writer *writer, enum block_kind kind, const void *bytes,
			size_t len, uint64_t records)
{
	struct block block = {.magic = MAGIC, .kind = kind, .bytes = len, .records = records};
	uLongf stored = compressBound(len);

	writer->deflated = xreallocarray(writer->deflated, stored, 1);
	if (compress2(writer->deflated, &stored, bytes, len, LEVEL) != Z_OK)
		return;
	block.stored = stored;
	block.crc = checksum(&block, writer->deflated);
	if (!writer->out) {
		keep_block(writer, &block);
		return;
	}
	fwrite(&block, sizeof(block), 1, writer->out);
	fwrite(writer->deflated, 1, stored, writer->out);
	fflush(writer->out);
}

static void write_records(struct recording_writer *writer)
{
	if (!writer->used)
		return;
	write_block(writer, BLOCK_RECORDS, writer->bytes, writer->used, writer->in_block);
	writer->records += writer->in_block;
	writer->used = writer->in_block = 0;
	writer->begin_ts = 0;
}

static json_t *fields_of(const struct record_type *type)
{
	json_t *fields = json_array();

	for (const struct field *field = type->fields; field->name; field++) {
		json_t *entry =
			json_pack("{s:s, s:i, s:i, s:i}", "name", field->name, "kind", field->kind,
				  "offset", field->offset, "size", field->size);
		json_t *values = field->values ? json_array() : NULL;

		for (size_t i = 0; values && field->values[i]; i++)
			json_array_append_new(values, json_string(field->values[i]));
		if (values)
			json_object_set_new(entry, "values", values);
		json_array_append_new(fields, entry);
	}
	return fields;
}

static void write_about(struct recording_writer *writer)
{
	json_t *types = json_array(), *about;
	char *text;

	for (uint32_t number = 1; record_type__by_number(number); number++) {
		const struct record_type *type = record_type__by_number(number);

		json_array_append_new(types, json_pack("{s:i, s:s, s:i, s:o}", "type", number,
						       "name", type->name, "size", (int)type->size,
						       "fields", fields_of(type)));
	}
	about = json_pack("{s:i, s:s, s:s, s:I, s:o}", "netstall-recording", RECORDING_VERSION,
			  "host", writer->host, "tool", writer->tool, "created_s",
			  (json_int_t)writer->created_s, "types", types);
	text = about ? json_dumps(about, JSON_COMPACT) : NULL;
	if (text)
		write_block(writer, BLOCK_ABOUT, text, strlen(text), 0);
	free(text);
	json_decref(about);
}

static struct recording_writer *new_writer(const char *host, const char *tool, uint64_t created_s)
{
	struct recording_writer *writer = xcalloc(1, sizeof(*writer));

	writer->host = xstrdup(host);
	writer->tool = xstrdup(tool);
	writer->created_s = created_s;
	writer->end = &writer->first;
	return writer;
}

struct recording_writer *recording__begin(FILE *out, const char *host, const char *tool,
					  uint64_t created_s)
{
	struct recording_writer *writer = new_writer(host, tool, created_s);

	writer->out = out;
	write_about(writer);
	return writer;
}

static void append(struct recording_writer *writer, const void *record, size_t len)
{
	if (writer->used + len > sizeof(writer->bytes))
		write_records(writer);
	memcpy(writer->bytes + writer->used, record, len);
	writer->used += len;
}

/* Of all since the attach, or since the begin of a process. */
static bool is_sum(uint32_t type)
{
	return type == NS_CONN_TOTALS || type == NS_THREAD_TOTALS || type == NS_SERVICE ||
	       type == NS_URING_TOTALS || type == NS_URING_ERROR;
}

static void note_time(struct recording_writer *writer, uint64_t ts)
{
	if (!writer->begin_ts || ts < writer->begin_ts)
		writer->begin_ts = ts;
	if (ts > writer->end_ts)
		writer->end_ts = ts;
}

void recording__add(struct recording_writer *writer, const void *record, size_t len)
{
	const struct ns_head *head = record;

	/* What has another length than it says is damaged, and has been refused already. */
	if (len < sizeof(*head) || head->len < sizeof(*head) || head->len > len ||
	    head->len > RECORD_BYTES)
		return;
	if (writer->last_ns && is_sum(head->type))
		return;
	append(writer, record, head->len);
	note_time(writer, head->ts);
	writer->in_block++;
}

static void *take_kept(struct recording_writer *writer, uint32_t type, uint32_t key)
{
	return writer->kept[type] ? table__take(writer->kept[type], key) : NULL;
}

/* By what it is kept; 0: it is not, as it happened and was over. */
static uint32_t key_of(const union record *record)
{
	switch (record->head.type) {
	case NS_SESSION:
		return 1;
	case NS_PROCESS:
		return record->head.tgid;
	case NS_CONN:
	case NS_PEER:
		return record->head.conn;
	case NS_STACK:
		return record->stack.id;
	case NS_RING:
		return record->ring.ring;
	case NS_LOST:
		return record->lost.kind;
	case NS_CALL:
		return ((record->head.conn ? record->head.conn : record->head.tid) << 3) +
		       record->call.what + 1;
	default:
		return 0;
	}
}

static void keep_record(struct recording_writer *writer, const union record *record)
{
	uint32_t type = record->head.type, key = key_of(record);
	struct table **kept = &writer->kept[type];
	union record *copy;

	if (type == NS_STACK)
		free(take_kept(writer, NS_STACK, key - KEPT_STACKS));
	if (type == NS_EXIT)
		free(take_kept(writer, NS_PROCESS, record->head.tgid));
	if (type == NS_CLOSE) {
		free(take_kept(writer, NS_CONN, record->head.conn));
		free(take_kept(writer, NS_PEER, record->head.conn));
		for (uint32_t what = 0; what < NS_CALL_WHATS; what++)
			free(take_kept(writer, NS_CALL, (record->head.conn << 3) + what + 1));
	}
	if (!key)
		return;
	if (!*kept)
		*kept = table__new(KEPT_MOST);
	free(table__take(*kept, key));
	copy = xmemdup(record, record->head.len);
	if (!table__put(*kept, key, copy))
		free(copy);
}

/* A block goes; what of it has to be known later on stays. */
static void keep_records(struct recording_writer *writer, const struct kept_block *block)
{
	uLongf size = block->block.bytes;
	unsigned char *bytes = xcalloc(1, size + 1);
	union record record;
	size_t at = 0;

	if (uncompress(bytes, &size, block->stored, block->block.stored) == Z_OK) {
		while (size - at >= sizeof(record.head)) {
			memcpy(&record.head, bytes + at, sizeof(record.head));
			if (record.head.type != IDLE_TYPE &&
			    !record__decode(bytes + at, record.head.len, &record))
				keep_record(writer, &record);
			at += record.head.len;
		}
	}
	free(bytes);
}

static void forget_before(struct recording_writer *writer, uint64_t ts)
{
	struct kept_block *oldest;

	while ((oldest = writer->first) && oldest->next &&
	       (oldest->end_ts < ts || writer->kept_bytes > KEPT_BYTES)) {
		writer->kept_bytes -= oldest->block.stored;
		keep_records(writer, oldest);
		writer->first = oldest->next;
		free(oldest);
	}
}

void recording__idle(struct recording_writer *writer, uint64_t now_ns)
{
	const struct ns_head idle = {.type = IDLE_TYPE, .len = sizeof(idle), .ts = now_ns};

	append(writer, &idle, sizeof(idle));
	note_time(writer, now_ns);
	if (now_ns - writer->flushed_ns < BLOCK_NS)
		return;
	write_records(writer);
	writer->flushed_ns = now_ns;
	if (writer->last_ns)
		forget_before(writer, now_ns - writer->last_ns);
}

static void free_writer(struct recording_writer *writer)
{
	struct kept_block *kept;

	while ((kept = writer->first)) {
		writer->first = kept->next;
		free(kept);
	}
	for (uint32_t type = 0; type < NS_TYPE_MAX; type++)
		if (writer->kept[type])
			table__free(writer->kept[type], free);
	free(writer->host);
	free(writer->tool);
	free(writer->deflated);
	free(writer);
}

void recording__end(struct recording_writer *writer)
{
	if (!writer)
		return;
	if (!writer->last_ns) {
		write_records(writer);
		write_block(writer, BLOCK_END, "", 0, writer->records);
	}
	free_writer(writer);
}

/* ---- the last of it ---- */

struct recording_writer *recording__begin_last(const char *host, const char *tool,
					       uint64_t created_s, uint64_t last_ns)
{
	struct recording_writer *writer = new_writer(host, tool, created_s);

	writer->last_ns = last_ns;
	return writer;
}

/* Those of before that are kept stand at the begin, as if they had come then. */
static void write_kept(struct recording_writer *writer, uint64_t begin_ts)
{
	for (uint32_t type = 0; type < NS_TYPE_MAX; type++) {
		size_t cursor = 0;
		struct ns_head *head;

		while (writer->kept[type] && (head = table__next(writer->kept[type], &cursor))) {
			head->ts = begin_ts;
			append(writer, head, head->len);
			writer->in_block++;
		}
	}
	write_records(writer);
}

void recording__save(struct recording_writer *writer, FILE *out)
{
	const struct kept_block *kept;

	write_records(writer);
	writer->out = out;
	writer->records = 0;
	write_about(writer);
	if (writer->first)
		write_kept(writer, writer->first->begin_ts);
	for (kept = writer->first; kept; kept = kept->next) {
		fwrite(&kept->block, sizeof(kept->block), 1, out);
		fwrite(kept->stored, 1, kept->block.stored, out);
		writer->records += kept->block.records;
	}
	write_block(writer, BLOCK_END, "", 0, writer->records);
	writer->out = NULL;
}

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

	if (!field || kind != field->kind || offset < 0 || offset > RECORD_BYTES || size < 0 ||
	    size > RECORD_BYTES)
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
	    size > RECORD_BYTES || recording->forms[number].type ||
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
		if (seen == MAGIC)
			return !fseek(recording->in, -(long)sizeof(seen), SEEK_CUR);
	}
	return false;
}

static bool read_block(struct recording *recording, struct block *block)
{
	uLongf bytes;

	if (fread(block, sizeof(*block), 1, recording->in) != 1 || block->magic != MAGIC ||
	    block->stored > BLOCK_MOST || block->bytes > BLOCK_MOST)
		return false;
	recording->stored = xreallocarray(recording->stored, block->stored + 1, 1);
	recording->bytes = xreallocarray(recording->bytes, block->bytes + 1, 1);
	recording->used = recording->at = 0;
	if (fread(recording->stored, 1, block->stored, recording->in) != block->stored ||
	    block->crc != checksum(block, recording->stored))
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
		*why = block.magic == MAGIC ? "its beginning is damaged"
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
	if (head->type == IDLE_TYPE) {
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
