// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a virtual machine says of itself: its tables of fields and of types. */
#include <string.h>

#include "user/base/array.h"
#include "user/symbols/java/jvm.h"
#include "user/symbols/peek.h"
#include "user/symbols/read_budget.h"

#define ENTRIES_MOST 16384 /* of a table: 17 has 1,100 and 700 */
#define STRIDE_MOST  128
#define NAME_SIZE    40 /* more than the longest of those below */

const char *const jvm_symbols[JVM_SYMBOLS] = {
	[JVM_STRUCTS] = "gHotSpotVMStructs",
	[JVM_STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[JVM_STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[JVM_STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[JVM_STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[JVM_STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[JVM_STRUCT_IS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[JVM_TYPES_TABLE] = "gHotSpotVMTypes",
	[JVM_TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[JVM_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[JVM_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
};

/* As src/hotspot/share/runtime/vmStructs.cpp of 11 to 25 has them; a field has moved, or changed
 * its name. */
static const struct {
	enum jvm_field field;
	const char *type, *name;
} fields[] = {
	{JVM_VERSION, "Abstract_VM_Version", "_vm_major_version"},
	{JVM_HEAPS, "CodeCache", "_heaps"},
	{JVM_LOW, "CodeCache", "_low_bound"},
	{JVM_HIGH, "CodeCache", "_high_bound"},
	{JVM_ARRAY_LEN, "GrowableArrayBase", "_len"},
	{JVM_ARRAY_LEN, "GenericGrowableArray", "_len"},
	{JVM_ARRAY_DATA, "GrowableArray<int>", "_data"},
	{JVM_HEAP_MEMORY, "CodeHeap", "_memory"},
	{JVM_HEAP_SEGMENTS, "CodeHeap", "_segmap"},
	{JVM_HEAP_LOG2, "CodeHeap", "_log2_segment_size"},
	{JVM_SPACE_LOW, "VirtualSpace", "_low"},
	{JVM_SPACE_HIGH, "VirtualSpace", "_high"},
	{JVM_BLOB_NAME, "CodeBlob", "_name"},
	{JVM_BLOB_FRAME, "CodeBlob", "_frame_size"},
	{JVM_BLOB_COMPLETE, "CodeBlob", "_frame_complete_offset"},
	{JVM_METHOD, "CompiledMethod", "_method"},
	{JVM_METHOD, "nmethod", "_method"},
	{JVM_SCOPES_PCS, "nmethod", "_scopes_pcs_offset"},
	{JVM_METHOD_CONST, "Method", "_constMethod"},
	{JVM_CONST_POOL, "ConstMethod", "_constants"},
	{JVM_CONST_FLAGS, "ConstMethod", "_flags"},
	{JVM_CONST_FLAGS, "ConstMethod", "_flags._flags"},
	{JVM_CONST_CODE_SIZE, "ConstMethod", "_code_size"},
	{JVM_CONST_NAME, "ConstMethod", "_name_index"},
	{JVM_POOL_HOLDER, "ConstantPool", "_pool_holder"},
	{JVM_POOL_LENGTH, "ConstantPool", "_length"},
	{JVM_POOL_FILE, "ConstantPool", "_source_file_name_index"},
	{JVM_KLASS_NAME, "Klass", "_name"},
	{JVM_SYMBOL_LENGTH, "Symbol", "_length"},
	{JVM_SYMBOL_BODY, "Symbol", "_body"},
	{JVM_CODE_BEGIN, "CodeBlob", "_code_begin"},
	{JVM_CODE_OFFSET, "CodeBlob", "_code_offset"},
	{JVM_SCOPES_BEGIN, "CompiledMethod", "_scopes_data_begin"},
	{JVM_SCOPES_OFFSET, "nmethod", "_scopes_data_offset"},
	{JVM_DEPENDENCIES, "nmethod", "_dependencies_offset"},
	{JVM_METADATA, "nmethod", "_metadata_offset"},
	{JVM_IMMUTABLE, "nmethod", "_immutable_data"},
	{JVM_MUTABLE, "CodeBlob", "_mutable_data"},
	{JVM_RELOCATION_SIZE, "CodeBlob", "_relocation_size"},
};

static const char *const types[JVM_TYPES] = {
	[JVM_HEAP_BLOCK] = "HeapBlock",
	[JVM_CONST_METHOD] = "ConstMethod",
	[JVM_CONSTANT_POOL] = "ConstantPool",
	[JVM_PC_DESC] = "PcDesc",
};

/* A table of its: the numbers are where its symbols say that they are. */
struct table {
	uint64_t at, stride;
	uint64_t in[5]; /* an entry, what is read of it */
};

static bool open_table(const struct jvm *jvm, const uint64_t symbols[], enum jvm_symbol first,
		       size_t count, struct table *out)
{
	out->at = peek__pointer(jvm->memory, symbols[first]);
	out->stride = peek__pointer(jvm->memory, symbols[first + 1]);
	for (size_t i = 0; i < count; i++) {
		out->in[i] = peek__pointer(jvm->memory, symbols[first + 2 + i]);
		if (out->in[i] > STRIDE_MOST - sizeof(uint64_t))
			return false;
	}
	return out->at && out->stride >= sizeof(uint64_t) && out->stride <= STRIDE_MOST;
}

/* False: it is the last one. */
static bool next_entry(const struct jvm *jvm, struct table *table, unsigned char *entry)
{
	memset(entry, 0, STRIDE_MOST);
	if (!read_budget__take(table->stride) ||
	    !peek__read(jvm->memory, table->at, entry, table->stride))
		return false;
	table->at += table->stride;
	return true;
}

static uint64_t word_of(const unsigned char *entry, uint64_t at)
{
	uint64_t word;

	memcpy(&word, entry + at, sizeof(word));
	return word;
}

static void take_field(struct jvm *jvm, const char *type, const char *name, uint64_t value)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (!strcmp(type, fields[i].type) && !strcmp(name, fields[i].name))
			jvm->fields[fields[i].field] = value;
}

enum { OF_TYPE, OF_FIELD, OF_OFFSET, OF_ADDRESS, OF_IS_STATIC };

static void read_fields(struct jvm *jvm, struct table table)
{
	unsigned char entry[STRIDE_MOST];
	char type[NAME_SIZE], name[NAME_SIZE];

	for (size_t i = 0; i < ENTRIES_MOST && next_entry(jvm, &table, entry); i++) {
		bool is_static = (uint32_t)word_of(entry, table.in[OF_IS_STATIC]);

		if (!peek__text(jvm->memory, word_of(entry, table.in[OF_TYPE]), type, sizeof(type)))
			return;
		if (peek__text(jvm->memory, word_of(entry, table.in[OF_FIELD]), name, sizeof(name)))
			take_field(jvm, type, name,
				   word_of(entry, table.in[is_static ? OF_ADDRESS : OF_OFFSET]));
	}
}

static void read_types(struct jvm *jvm, struct table table)
{
	unsigned char entry[STRIDE_MOST];
	char type[NAME_SIZE];

	for (size_t i = 0; i < ENTRIES_MOST && next_entry(jvm, &table, entry); i++) {
		if (!peek__text(jvm->memory, word_of(entry, table.in[0]), type, sizeof(type)))
			return;
		for (size_t k = 0; k < JVM_TYPES; k++)
			if (!strcmp(type, types[k]))
				jvm->types[k] = word_of(entry, table.in[1]);
	}
}

#define OBJECT_MOST 4096 /* bytes into an object */

static bool is_whole(const struct jvm *jvm)
{
	for (size_t i = 0; i < JVM_NEEDED; i++)
		if (jvm->fields[i] == JVM_NONE)
			return false;
	for (size_t i = JVM_ARRAY_LEN; i < JVM_FIELDS; i++)
		if (jvm->fields[i] != JVM_NONE && jvm->fields[i] > OBJECT_MOST)
			return false;
	for (size_t i = 0; i < JVM_TYPES; i++)
		if (!jvm->types[i] || jvm->types[i] > OBJECT_MOST)
			return false;
	return true;
}

bool jvm__read_layout(struct jvm *jvm, const uint64_t symbols[JVM_SYMBOLS])
{
	struct table of_fields, of_types;

	memset(jvm->fields, 0xff, sizeof(jvm->fields));
	for (size_t i = 0; i < JVM_SYMBOLS; i++)
		if (!symbols[i])
			return false;
	if (!open_table(jvm, symbols, JVM_STRUCTS, 5, &of_fields) ||
	    !open_table(jvm, symbols, JVM_TYPES_TABLE, 2, &of_types))
		return false;
	read_fields(jvm, of_fields);
	read_types(jvm, of_types);
	if (!is_whole(jvm))
		return false;
	jvm->version = peek__number(jvm->memory, jvm->fields[JVM_VERSION]);
	jvm->low = peek__pointer(jvm->memory, jvm->fields[JVM_LOW]);
	jvm->high = peek__pointer(jvm->memory, jvm->fields[JVM_HIGH]);
	return jvm->low && jvm->low < jvm->high;
}

uint64_t jvm__pointer(const struct jvm *jvm, uint64_t object, enum jvm_field field)
{
	return object && jvm->fields[field] != JVM_NONE
		       ? peek__pointer(jvm->memory, object + jvm->fields[field])
		       : 0;
}

uint32_t jvm__number(const struct jvm *jvm, uint64_t object, enum jvm_field field)
{
	return object && jvm->fields[field] != JVM_NONE
		       ? peek__number(jvm->memory, object + jvm->fields[field])
		       : 0;
}

unsigned jvm__half(const struct jvm *jvm, uint64_t object, enum jvm_field field)
{
	return object && jvm->fields[field] != JVM_NONE
		       ? peek__half(jvm->memory, object + jvm->fields[field])
		       : 0;
}
