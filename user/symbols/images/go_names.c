// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/go_names.h"

#include <stdbool.h>
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
	uint64_t names;     /* where their names are, */
	uint64_t functions; /* and the table of them */
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
	table->names = number(table, 8 + first * 8, 8);
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

static const char *name_of(const struct go_table *table, uint64_t index)
{
	uint64_t function, at, room;

	if (table->by_offset)
		function = number(table, table->functions + index * 8 + 4, 4) + 4;
	else
		function = number(table, table->functions + index * 16 + 8, 8) + 8;
	if (function > table->size)
		return NULL;
	at = table->names + number(table, table->functions + function, 4);
	if (at >= table->size)
		return NULL;
	room = table->size - at < LONGEST_NAME ? table->size - at : LONGEST_NAME;
	if (!memchr(table->data + at, '\0', room))
		return NULL;
	return (const char *)table->data + at;
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

size_t go_names__read(Elf *elf, go_names_take *take, void *context)
{
	static const char *const tables[] = {".gopclntab", ".data.rel.ro.gopclntab", NULL};
	static const char *const texts[] = {".text", NULL};
	struct go_table table = {0};
	GElf_Shdr header, text = {0};
	Elf_Scn *section = find_section(elf, tables, &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	size_t named = 0;

	if (!data || !data->d_buf)
		return 0;
	table.data = data->d_buf;
	table.size = data->d_size;
	find_section(elf, texts, &text);
	if (!read_header(&table, text.sh_addr))
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
