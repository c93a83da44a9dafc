// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A recording is written, as it comes or (a flight recorder) of the last seconds. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"
#include "user/record/recording.h"
#include "user/record/recording_parts.h"

#define BLOCK_BYTES (256u << 10)
#define BLOCK_NS    1000000000ull
#define LEVEL       1

#define KEPT_MOST   65536 /* records of a type that a flight recorder knows from before */
#define KEPT_STACKS 8192  /* as stacks are numbered anew */

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
	uint64_t most_bytes; /* of blocks in memory; beyond, there are fewer seconds of them */
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
	struct block block = {
		.magic = RECORDING_MAGIC, .kind = kind, .bytes = len, .records = records};
	uLongf stored = compressBound(len);

	writer->deflated = xreallocarray(writer->deflated, stored, 1);
	if (compress2(writer->deflated, &stored, bytes, len, LEVEL) != Z_OK)
		return;
	block.stored = stored;
	block.crc = block__checksum(&block, writer->deflated);
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
	    head->len > RECORDING_RECORD_MOST)
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
			if (record.head.type != RECORDING_IDLE_TYPE &&
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
	       (oldest->end_ts < ts || writer->kept_bytes > writer->most_bytes)) {
		writer->kept_bytes -= oldest->block.stored;
		keep_records(writer, oldest);
		writer->first = oldest->next;
		free(oldest);
	}
}

void recording__idle(struct recording_writer *writer, uint64_t now_ns)
{
	const struct ns_head idle = {
		.type = RECORDING_IDLE_TYPE, .len = sizeof(idle), .ts = now_ns};

	append(writer, &idle, sizeof(idle));
	note_time(writer, now_ns);
	if (now_ns - writer->flushed_ns < BLOCK_NS)
		return;
	write_records(writer);
	writer->flushed_ns = now_ns;
	if (writer->last_ns)
		forget_before(writer, ns_passed(writer->last_ns, now_ns));
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
					       uint64_t created_s, uint64_t last_ns,
					       uint64_t most_bytes)
{
	struct recording_writer *writer = new_writer(host, tool, created_s);

	writer->last_ns = last_ns;
	writer->most_bytes = most_bytes;
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
