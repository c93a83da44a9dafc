// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/go_names.h"

#include <stdio.h>
#include <string.h>

#include "user/symbols/read_budget.h"

#define MAGIC_116 0xfffffffau
#define MAGIC_118 0xfffffff0u
#define MAGIC_120 0xfffffff1u

#define MOST_FUNCTIONS (1u << 20)
#define LONGEST_NAME   4096 /* a longer one is none */

struct go_table {
	const unsigned char *data;
	uint64_t size;
	bool by_offset;     /* entries are offsets from text, of 32 bits; else addresses */
	uint64_t text;      /* where the Go code begins */
	uint64_t count;     /* functions */
	uint64_t step;      /* the least size of an instruction */
	uint64_t names;     /* where their names are, */
	uint64_t files;     /* and those of sources, */
	uint64_t units;     /* and of each unit the offsets of its sources there, */
	uint64_t steps;     /* and how values change from instruction to instruction, */
	uint64_t functions; /* and the table of functions */
};

/* 0 beyond the end: nobody vouches for the file. */
static uint64_t number(const struct go_table *table, uint64_t at, unsigned bytes)
{
	uint64_t value = 0;

	if (at > table->size || table->size - at < bytes)
		return 0;
	memcpy(&value, table->data + at, bytes); /* of a little-endian machine, as ours are */
	return value;
}

/* magic, two zeros, the least size of an instruction, the size of a pointer, then words. */
static bool read_header(struct go_table *table, uint64_t text_section)
{
	uint32_t magic = (uint32_t)number(table, 0, 4);
	unsigned first; /* word of the names' offset */

	if (number(table, 4, 2) || number(table, 7, 1) != 8)
		return false;
	table->by_offset = magic == MAGIC_118 || magic == MAGIC_120;
	if (!table->by_offset && magic != MAGIC_116)
		return false;
	first = table->by_offset ? 3 : 2;
	table->count = number(table, 8, 8);
	if (table->by_offset)
		table->text = number(table, 8 + 2 * 8, 8);
	if (!table->text)
		table->text = text_section; /* set when the program is loaded */
	table->step = number(table, 6, 1);
	table->names = number(table, 8 + first * 8, 8);
	table->units = number(table, 8 + (first + 1) * 8, 8);
	table->files = number(table, 8 + (first + 2) * 8, 8);
	table->steps = number(table, 8 + (first + 3) * 8, 8);
	table->functions = number(table, 8 + (first + 4) * 8, 8);
	return table->count && table->count <= MOST_FUNCTIONS && table->names < table->size &&
	       table->functions < table->size;
}

static uint64_t entry_of(const struct go_table *table, uint64_t index)
{
	if (table->by_offset)
		return table->text + number(table, table->functions + index * 8, 4);
	return number(table, table->functions + index * 16, 8);
}

/* Behind its entry, where a function is described; 0: nowhere. */
static uint64_t function_at(const struct go_table *table, uint64_t index)
{
	uint64_t function;

	if (table->by_offset)
		function = number(table, table->functions + index * 8 + 4, 4) + 4;
	else
		function = number(table, table->functions + index * 16 + 8, 8) + 8;
	return function > table->size ? 0 : table->functions + function;
}

static const char *text_at(const struct go_table *table, uint64_t at)
{
	uint64_t room;

	if (at >= table->size)
		return NULL;
	room = table->size - at < LONGEST_NAME ? table->size - at : LONGEST_NAME;
	if (!memchr(table->data + at, '\0', room))
		return NULL;
	return (const char *)table->data + at;
}

static const char *name_of(const struct go_table *table, uint64_t index)
{
	uint64_t function = function_at(table, index);

	return function ? text_at(table, table->names + number(table, function, 4)) : NULL;
}

static Elf_Scn *find_section(Elf *elf, const char *const names[], GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while (read_budget__take(sizeof(*header)) && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, header)
					   ? elf_strptr(elf, strings, header->sh_name)
					   : NULL;

		for (size_t i = 0; name && names[i]; i++)
			if (!strcmp(name, names[i]))
				return section;
	}
	return NULL;
}

static bool open_table(Elf *elf, struct go_table *table)
{
	static const char *const tables[] = {".gopclntab", ".data.rel.ro.gopclntab", NULL};
	static const char *const texts[] = {".text", NULL};
	GElf_Shdr header, text = {0};
	Elf_Scn *section = find_section(elf, tables, &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	*table = (struct go_table){0};
	if (!data || !data->d_buf)
		return false;
	table->data = data->d_buf;
	table->size = data->d_size;
	find_section(elf, texts, &text);
	return read_header(table, text.sh_addr);
}

size_t go_names__read(Elf *elf, go_names_take *take, void *context)
{
	struct go_table table;
	size_t named = 0;

	if (!open_table(elf, &table))
		return 0;
	for (uint64_t i = 0; i < table.count && read_budget__take(16); i++) {
		uint64_t start = entry_of(&table, i), end = entry_of(&table, i + 1);
		const char *name = name_of(&table, i);

		if (!name || !*name || end <= start)
			continue;
		take(context, start, end, name);
		named++;
	}
	return named;
}

/* ---- lines ---- */

/* What follows the name in a function's description, in bytes from there. */
#define IN_FUNCTION_FILE 16
#define IN_FUNCTION_LINE 20
#define IN_FUNCTION_UNIT 28

static uint64_t next_varint(const struct go_table *table, uint64_t *at)
{
	uint64_t value = 0, byte = 128;

	for (unsigned shift = 0; byte & 128 && shift < 35; shift += 7) {
		byte = number(table, (*at)++, 1);
		value |= (byte & 127) << shift;
	}
	return value;
}

/* A value that changes from instruction to instruction, at address; -1: it has none. */
static int32_t value_at(const struct go_table *table, uint64_t steps, uint64_t entry,
			uint64_t address)
{
	uint64_t at = table->steps + steps, pc = entry;
	int32_t value = -1;

	if (!steps)
		return -1;
	while (at < table->size && read_budget__take(2)) {
		uint32_t change = (uint32_t)next_varint(table, &at);

		if (!change && pc != entry)
			return -1;
		value = (int32_t)((uint32_t)value + (change & 1 ? ~(change >> 1) : change >> 1));
		pc += next_varint(table, &at) * table->step;
		if (address < pc)
			return value;
	}
	return -1;
}

/* The last function that begins there or before. */
static uint64_t index_of(const struct go_table *table, uint64_t address)
{
	uint64_t low = 0, high = table->count;

	while (low + 1 < high) {
		uint64_t middle = low + (high - low) / 2;

		if (entry_of(table, middle) <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool go_names__line(Elf *elf, uint64_t address, char *path, size_t size, int *line)
{
	struct go_table table;
	uint64_t index, function, entry, offset;
	const char *source;
	int32_t file;

	if (!open_table(elf, &table))
		return false;
	index = index_of(&table, address);
	function = function_at(&table, index);
	entry = entry_of(&table, index);
	if (!function || address < entry || address >= entry_of(&table, index + 1))
		return false;
	*line = value_at(&table, number(&table, function + IN_FUNCTION_LINE, 4), entry, address);
	file = value_at(&table, number(&table, function + IN_FUNCTION_FILE, 4), entry, address);
	if (*line <= 0 || file < 0)
		return false;
	offset = number(
		&table,
		table.units + 4 * (number(&table, function + IN_FUNCTION_UNIT, 4) + (uint64_t)file),
		4);
	source = offset == UINT32_MAX ? NULL : text_at(&table, table.files + offset);
	if (!source || !*source)
		return false;
	snprintf(path, size, "%s",
		 source + (strlen(source) < size ? 0 : strlen(source) - size + 1));
	return true;
}
