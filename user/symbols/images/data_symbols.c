// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/data_symbols.h"

#include <gelf.h>
#include <string.h>
#include <unistd.h>

struct search {
	const char *const *names;
	size_t count;
	uint64_t *values;
};

static void take_symbol(const struct search *search, const char *name, uint64_t value)
{
	for (size_t i = 0; name && i < search->count; i++)
		if (!strcmp(name, search->names[i]))
			search->values[i] = value;
}

static void read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *head,
		       const struct search *search)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; data && i < count && gelf_getsym(data, (int)i, &symbol); i++)
		if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
			take_symbol(search, elf_strptr(elf, head->sh_link, symbol.st_name),
				    symbol.st_value);
}

/* base: the address that the file has for its first byte. */
static bool read_file(int fd, const char *const *names, size_t count, uint64_t *values,
		      uint64_t *base)
{
	Elf *elf = elf_version(EV_CURRENT) ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	const struct search search = {names, count, values};
	Elf_Scn *section = NULL;
	size_t segments = 0;
	GElf_Shdr head;
	GElf_Phdr segment;

	memset(values, 0, count * sizeof(*values));
	*base = UINT64_MAX;
	while (elf && !values[0] && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_DYNSYM || head.sh_type == SHT_SYMTAB))
			read_table(elf, section, &head, &search);
	if (elf && !elf_getphdrnum(elf, &segments))
		for (size_t i = 0; i < segments && gelf_getphdr(elf, (int)i, &segment); i++)
			if (segment.p_type == PT_LOAD && !segment.p_offset)
				*base = segment.p_vaddr;
	elf_end(elf);
	return values[0] && *base != UINT64_MAX;
}

bool data_symbols__find(struct file_broker *broker, pid_t pid, const struct maps_line *line,
			const char *const *names, size_t count, uint64_t *values)
{
	int fd = file_broker__open(broker, FILE_BROKER_IMAGE, pid, line->path);
	uint64_t base;
	bool known;

	if (fd < 0)
		return false;
	known = read_file(fd, names, count, values, &base);
	close(fd);
	for (size_t i = 0; i < count; i++)
		values[i] += values[i] ? line->start - base : 0;
	return known;
}
