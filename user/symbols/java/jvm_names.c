// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What methods are called, and which of them compiled code is of. */
#include <stdio.h>
#include <string.h>

#include "user/symbols/demangle.h"
#include "user/symbols/java/jvm.h"
#include "user/symbols/peek.h"

#define NAME_MOST  512
#define TABLE_MOST 65536 /* bytes of a table, of lines or of scopes */
#define DEPTH_MOST 64    /* methods inlined into one another */

/* ---- numbers of one to five bytes, src/hotspot/share/utilities/unsigned5.hpp ---- */

struct bytes {
	const struct jvm *jvm;
	uint64_t at, end;
	uint64_t had_to; /* what is read already ends there; it lies at the end of had */
	unsigned char had[64];
};

/* A table may lie at the end of what can be read. */
static void read_more(struct bytes *bytes)
{
	size_t size = sizeof(bytes->had);

	while (size && !peek__read(bytes->jvm->memory, bytes->at,
				   bytes->had + sizeof(bytes->had) - size, size))
		size /= 2;
	bytes->had_to = bytes->at + size;
}

static unsigned next_byte(struct bytes *bytes)
{
	if (bytes->at < bytes->end && bytes->at >= bytes->had_to)
		read_more(bytes);
	if (bytes->at >= bytes->end || bytes->at >= bytes->had_to) {
		bytes->at = bytes->end;
		return 0;
	}
	return bytes->had[sizeof(bytes->had) - (bytes->had_to - bytes->at++)];
}

/* From 20 on no byte of them is 0. */
static uint32_t next_number(struct bytes *bytes)
{
	unsigned excluded = bytes->jvm->version >= 20, byte;
	uint32_t number = 0;

	for (unsigned shift = 0; shift <= 24; shift += 6) {
		byte = next_byte(bytes);
		number += (byte - excluded) << shift;
		if (byte < 192)
			break;
	}
	return number;
}

static int64_t next_signed(struct bytes *bytes)
{
	uint32_t number = next_number(bytes);

	return number & 1 ? -(int64_t)(number >> 1) - 1 : (int64_t)(number >> 1);
}

/* ---- methods ---- */

static bool read_symbol(const struct jvm *jvm, uint64_t symbol, char *out, size_t size)
{
	size_t length = jvm__half(jvm, symbol, JVM_SYMBOL_LENGTH);

	if (!length || length >= size ||
	    !peek__read(jvm->memory, symbol + jvm->fields[JVM_SYMBOL_BODY], out, length))
		return false;
	out[length] = '\0';
	return strlen(out) == length;
}

static bool read_constant(const struct jvm *jvm, uint64_t pool, unsigned at, char *out, size_t size)
{
	return at && at < jvm__number(jvm, pool, JVM_POOL_LENGTH) &&
	       read_symbol(
		       jvm,
		       peek__pointer(jvm->memory, pool + jvm->types[JVM_CONSTANT_POOL] + 8 * at),
		       out, size);
}

static uint64_t bytecodes(const struct jvm *jvm, uint64_t constant)
{
	return constant + jvm->types[JVM_CONST_METHOD];
}

int64_t jvm__bci(const struct jvm *jvm, uint64_t method, uint64_t bytecode)
{
	uint64_t constant = jvm__pointer(jvm, method, JVM_METHOD_CONST);
	uint64_t begin = bytecodes(jvm, constant);

	return constant && bytecode >= begin &&
			       bytecode < begin + jvm__half(jvm, constant, JVM_CONST_CODE_SIZE)
		       ? (int64_t)(bytecode - begin)
		       : -1;
}

/* CompressedLineNumberReadStream, src/hotspot/share/oops/method.cpp: behind the bytecodes. */
static int64_t line_of(const struct jvm *jvm, uint64_t constant, int64_t bci)
{
	uint64_t begin = bytecodes(jvm, constant) + jvm__half(jvm, constant, JVM_CONST_CODE_SIZE);
	struct bytes table = {.jvm = jvm, .at = begin, .end = begin + TABLE_MOST};
	int64_t at = 0, line = 0, best = -1, found = 0;
	unsigned byte;

	if (bci < 0 || !(jvm__half(jvm, constant, JVM_CONST_FLAGS) & 1))
		return 0;
	while ((byte = next_byte(&table))) {
		if (byte == 0xff) {
			at += next_signed(&table);
			line += next_signed(&table);
		} else {
			at += byte >> 3;
			line += byte & 7;
		}
		if (at <= bci && at > best) {
			best = at;
			found = line;
		}
	}
	return found > 0 && found < INT32_MAX ? found : 0;
}

static void add(const char *text, char *out, size_t size)
{
	size_t used = strlen(out);

	if (used + strlen(text) + 2 <= size)
		snprintf(out + used, size - used, ";%s", text);
}

void jvm__add_method(const struct jvm *jvm, uint64_t method, int64_t bci, char *out, size_t size)
{
	uint64_t constant = jvm__pointer(jvm, method, JVM_METHOD_CONST);
	uint64_t pool = jvm__pointer(jvm, constant, JVM_CONST_POOL);
	uint64_t holder = jvm__pointer(jvm, pool, JVM_POOL_HOLDER);
	char class[NAME_MOST], name[NAME_MOST], file[NAME_MOST], text[3 * NAME_MOST + 32];
	int64_t line;

	if (!read_symbol(jvm, jvm__pointer(jvm, holder, JVM_KLASS_NAME), class, sizeof(class)) ||
	    !read_constant(jvm, pool, jvm__half(jvm, constant, JVM_CONST_NAME), name,
			   sizeof(name))) {
		add("[java]", out, size);
		return;
	}
	class[strcspn(class, "+")] = '\0'; /* a hidden class's address */
	for (char *c = class; *c; c++)
		*c = *c == '/' ? '.' : *c;
	snprintf(text, sizeof(text), "%s.%s", class, name);
	demangle__clean(text);
	text[DEMANGLE_NAME - 1] = '\0';
	line = line_of(jvm, constant, bci);
	if (line &&
	    read_constant(jvm, pool, jvm__half(jvm, pool, JVM_POOL_FILE), file, sizeof(file))) {
		demangle__clean(file);
		sprintf(text + strlen(text), " (%s:%d)", file, (int)line);
	}
	add(text, out, size);
}

/* ---- compiled ones ---- */

/* Where a piece of compiled code has its tables; each ends where another begins. */
struct scopes {
	uint64_t pcs, pcs_end;
	uint64_t data, data_end;
	uint64_t metadata;
};

static void find_scopes(const struct jvm *jvm, uint64_t blob, struct scopes *out)
{
	uint64_t immutable = jvm__pointer(jvm, blob, JVM_IMMUTABLE),
		 base = immutable ? immutable : blob;

	out->data = jvm->fields[JVM_SCOPES_BEGIN] != JVM_NONE
			    ? jvm__pointer(jvm, blob, JVM_SCOPES_BEGIN)
			    : base + jvm__number(jvm, blob, JVM_SCOPES_OFFSET);
	out->data_end = out->data + TABLE_MOST * 16ull;
	out->pcs = base + jvm__number(jvm, blob, JVM_SCOPES_PCS);
	out->pcs_end = jvm->fields[JVM_DEPENDENCIES] != JVM_NONE
			       ? base + jvm__number(jvm, blob, JVM_DEPENDENCIES)
			       : out->data;
	out->metadata = jvm->fields[JVM_METADATA] != JVM_NONE
				? blob + jvm__number(jvm, blob, JVM_METADATA)
				: jvm__pointer(jvm, blob, JVM_MUTABLE) +
					  jvm__number(jvm, blob, JVM_RELOCATION_SIZE);
}

/*
 * class PcDesc, src/hotspot/share/code/pcDesc.hpp: where in the code, what of the data; sorted. Of
 * a call that place is what it returns to; else the next one holds. 0: nothing is said of it.
 */
static uint32_t scope_at(const struct jvm *jvm, const struct scopes *scopes, int32_t wanted,
			 bool is_leaf)
{
	uint64_t size = jvm->types[JVM_PC_DESC], low = 0, high, count;

	if (scopes->pcs_end <= scopes->pcs || scopes->pcs_end - scopes->pcs > TABLE_MOST * 256ull)
		return 0;
	count = high = (scopes->pcs_end - scopes->pcs) / size;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, at = scopes->pcs + middle * size;
		int32_t offset = (int32_t)peek__number(jvm->memory, at);

		if (offset == wanted)
			return peek__number(jvm->memory, at + 4);
		if (offset < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	/* The last one stands behind all code. */
	return is_leaf && low + 1 < count ? peek__number(jvm->memory, scopes->pcs + low * size + 4)
					  : 0;
}

void jvm__add_compiled(const struct jvm *jvm, const struct jvm_blob *blob,
		       const struct java_frame *frame, char *out, size_t size)
{
	struct scopes scopes;
	uint32_t at;

	find_scopes(jvm, blob->at, &scopes);
	at = scope_at(jvm, &scopes, (int32_t)(frame->pc - blob->code), frame->is_leaf);
	if (!at)
		jvm__add_method(jvm, jvm__pointer(jvm, blob->at, JVM_METHOD), -1, out, size);
	/* ScopeDesc::decode_body(), src/hotspot/share/code/scopeDesc.cpp. */
	for (size_t depth = 0; at && depth < DEPTH_MOST; depth++) {
		struct bytes data = {.jvm = jvm, .at = scopes.data + at, .end = scopes.data_end};
		uint32_t caller = next_number(&data), method = next_number(&data);
		int64_t bci = (int64_t)next_number(&data) - 1;

		jvm__add_method(
			jvm,
			method ? peek__pointer(jvm->memory, scopes.metadata + 8ull * (method - 1))
			       : 0,
			bci, out, size);
		at = caller < at ? caller : 0;
	}
}
