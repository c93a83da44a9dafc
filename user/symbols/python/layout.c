// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/python/layout.h"

#include <string.h>

#include "user/base/array.h"

/* clang-format off */
/* Include/internal/pycore_{runtime,interp,frame}.h, Include/cpython/{pystate,code,unicodeobject}.h of each. */
static const struct python_layout layouts[] = {
	{.minor = 9, .interpreters = 32, .key = 584, .threads = 8, .next = 8, .thread_id = 176,
	 .frames = {.frame = 24, .inner = NS_PYTHON_NONE, .code = 32, .previous = 24, .instr = 104, .lasti = 1},
	 .filename = 104, .name = 112, .line = 40, .linetable = 120, .ascii = 48, .compact = 72},
	{.minor = 10, .interpreters = 32, .key = 584, .threads = 8, .next = 8, .thread_id = 176,
	 .frames = {.frame = 24, .inner = NS_PYTHON_NONE, .code = 32, .previous = 24, .instr = 96, .lasti = 1},
	 .filename = 104, .name = 112, .line = 40, .linetable = 120, .ascii = 48, .compact = 72},
	{.minor = 11, .interpreters = 40, .key = 592, .threads = 16, .next = 8, .thread_id = 152,
	 .frames = {.frame = 56, .inner = 8, .code = 32, .previous = 48, .instr = 56},
	 .filename = 112, .name = 128, .line = 72, .linetable = 136, .code = 184, .ascii = 48, .compact = 72},
	{.minor = 12, .interpreters = 40, .key = 1544, .threads = 72, .next = 8, .thread_id = 136,
	 .frames = {.frame = 56, .inner = 0, .code = 0, .previous = 8, .instr = 56},
	 .filename = 112, .name = 128, .line = 68, .linetable = 136, .code = 192, .ascii = 40, .compact = 56},
	{.minor = 13, .interpreters = 632, .key = 2160, .threads = 7344, .next = 8, .thread_id = 152,
	 .frames = {.frame = 72, .inner = NS_PYTHON_NONE, .code = 0, .previous = 8, .instr = 56},
	 .filename = 112, .name = 128, .line = 68, .linetable = 136, .code = 200, .ascii = 40, .compact = 56},
};
/* clang-format on */

const struct python_layout *python_layout__of(uint32_t minor)
{
	for (size_t i = 0; i < COUNT_OF(layouts); i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

/* struct _Py_DebugOffsets, Include/internal/pycore_runtime.h of 3.13, by the number of the word. */
enum said {
	SAID_COOKIE = 0,
	SAID_FREE_THREADED = 2,
	SAID_INTERPRETERS = 5,
	SAID_ANOTHER = 8,
	SAID_THREADS = 9,
	SAID_NEXT = 21,
	SAID_FRAME = 23,
	SAID_THREAD_ID = 24,
	SAID_PREVIOUS = 29,
	SAID_CODE = 30,
	SAID_INSTR = 31,
	SAID_FILENAME = 35,
	SAID_NAME = 37,
	SAID_LINETABLE = 38,
	SAID_LINE = 39,
	SAID_INSTRUCTIONS = 43,
	SAID_WORDS = PYTHON_SAYS / 8,
};

bool python_layout__read(struct python_layout *layout, const unsigned char said[PYTHON_SAYS])
{
	uint64_t words[SAID_WORDS];

	memcpy(words, said, sizeof(words));
	if (memcmp(said, "xdebugpy", 8) || words[SAID_FREE_THREADED])
		return false;
	for (size_t i = SAID_INTERPRETERS; i <= SAID_INSTRUCTIONS; i++)
		if (words[i] >= 1 << 20)
			return false;
	if (words[SAID_FRAME] >= NS_PYTHON_NONE || words[SAID_PREVIOUS] >= NS_PYTHON_NONE ||
	    words[SAID_CODE] >= NS_PYTHON_NONE || words[SAID_INSTR] >= NS_PYTHON_NONE)
		return false;
	layout->interpreters = words[SAID_INTERPRETERS];
	layout->another = words[SAID_ANOTHER];
	layout->threads = words[SAID_THREADS];
	layout->next = words[SAID_NEXT];
	layout->thread_id = words[SAID_THREAD_ID];
	layout->frames.frame = words[SAID_FRAME];
	layout->frames.previous = words[SAID_PREVIOUS];
	layout->frames.code = words[SAID_CODE];
	layout->frames.instr = words[SAID_INSTR];
	layout->filename = words[SAID_FILENAME];
	layout->name = words[SAID_NAME];
	layout->linetable = words[SAID_LINETABLE];
	layout->line = words[SAID_LINE];
	layout->code = words[SAID_INSTRUCTIONS];
	return true;
}

/* ---- lines ---- */

/* What of a table is left to be read. */
struct table {
	const unsigned char *at, *end;
};

static unsigned next_byte(struct table *table)
{
	return table->at < table->end ? *table->at++ : 0;
}

/* Six bits in each byte, the lowest first; Objects/locations.md. */
static unsigned next_varint(struct table *table)
{
	unsigned byte = next_byte(table), value = byte & 63;

	for (unsigned shift = 6; byte & 64 && shift < 30; shift += 6) {
		byte = next_byte(table);
		value |= (byte & 63) << shift;
	}
	return value;
}

static int next_signed(struct table *table)
{
	unsigned value = next_varint(table);

	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

static unsigned as_line(int64_t line)
{
	return line > 0 && line < INT32_MAX ? (unsigned)line : 0;
}

/* From 3.11 on: an entry begins with a byte of which the highest bit is set. */
static unsigned line_by_locations(struct table table, int64_t line, uint64_t at)
{
	uint64_t passed = 0;

	while (table.at < table.end) {
		unsigned head = next_byte(&table), kind = head >> 3 & 15;
		bool has_line = true;

		if (kind == 15)
			has_line = false;
		else if (kind == 14 || kind == 13)
			line += next_signed(&table);
		else if (kind >= 10)
			line += (int)kind - 10;
		passed += 2 * ((head & 7) + 1);
		while (table.at < table.end && !(*table.at & 128))
			table.at++;
		if (at < passed)
			return has_line ? as_line(line) : 0;
	}
	return 0;
}

/* 3.10: PEP 626. */
static unsigned line_by_ranges(struct table table, int64_t line, uint64_t at)
{
	uint64_t passed = 0;

	while (table.at + 1 < table.end) {
		unsigned bytes = next_byte(&table);
		int step = (signed char)next_byte(&table);

		if (step != -128)
			line += step;
		passed += bytes;
		if (at < passed)
			return step != -128 ? as_line(line) : 0;
	}
	return 0;
}

/* Up to 3.9: Objects/lnotab_notes.txt. */
static unsigned line_by_steps(struct table table, int64_t line, uint64_t at)
{
	uint64_t passed = 0;

	while (table.at + 1 < table.end) {
		passed += next_byte(&table);
		if (passed > at)
			break;
		line += (signed char)next_byte(&table);
	}
	return as_line(line);
}

unsigned python_layout__line(uint32_t minor, const unsigned char *table, size_t size,
			     unsigned first, uint64_t at)
{
	const struct table rest = {table, table + size};

	if (minor >= 11)
		return line_by_locations(rest, first, at);
	return minor == 10 ? line_by_ranges(rest, first, at) : line_by_steps(rest, first, at);
}
