// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/image_names.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/symbols/images/go_names.h"
#include "user/symbols/own_machine.h"
#include "user/symbols/read_budget.h"

#define SEGMENTS 16 /* executable ones; there are one or two */

struct symbol {
	uint64_t start;
	uint64_t end;
	const char *name; /* the file's */
};

struct segment {
	uint64_t offset, size, address;
};

struct image_names {
	Dwfl *dwfl;
	Dwfl_Module *module;
	int debug_fd; /* until libdwfl asks for it; -1 */
	image_open *open;
	void *context;
	struct segment segments[SEGMENTS];
	size_t segment_count;
	struct symbol *symbols; /* by start, disjoint */
	uint64_t size;          /* of both files */
	size_t count, refused;
};

/* ---- what libdwfl asks for ---- */

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)elf;
	return -1; /* it was given */
}

/* Asked for the debug file first, then, by a path, for what debug files share. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	struct image_names *names = *userdata;
	int fd;

	(void)module;
	(void)name;
	(void)base;
	(void)file_name;
	(void)crc;
	if (!names)
		return -1;
	if (names->debug_fd >= 0) {
		fd = names->debug_fd;
		names->debug_fd = -1;
		*found = strdup("debug");
		return fd;
	}
	if (!link || link[0] != '/' || !names->open)
		return -1;
	fd = names->open(names->context, link);
	if (fd < 0)
		return -1;
	*found = strdup(link);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* ---- segments ---- */

static bool read_segments(struct image_names *names)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(names->module, &bias);
	GElf_Ehdr header;
	GElf_Phdr segment;
	size_t count;

	if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != OWN_MACHINE ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && names->segment_count < SEGMENTS; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		names->segments[names->segment_count++] = (struct segment){
			.offset = segment.p_offset,
			.size = segment.p_filesz,
			.address = segment.p_vaddr + bias,
		};
	}
	return true;
}

bool image_names__address(const struct image_names *names, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < names->segment_count; i++) {
		const struct segment *segment = &names->segments[i];

		if (offset - segment->offset < segment->size) {
			*address = offset - segment->offset + segment->address;
			return true;
		}
	}
	return false;
}

/* ---- symbols ---- */

struct raw {
	struct symbol symbol;
	uint32_t worth; /* of several with one address, the greatest is shown */
};

/* What a person would call it: a function, global, without underscores before its name. */
static uint32_t worth_of(const GElf_Sym *symbol, const char *name)
{
	unsigned bind = GELF_ST_BIND(symbol->st_info);
	uint32_t worth = symbol->st_size ? 8 : 0;

	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		worth += 16;
	worth += bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 2 : bind == STB_WEAK ? 1 : 0;
	return worth + (name[0] == '_' && name[1] != 'Z' && name[1] != 'R' ? 0 : 4);
}

static bool is_code(const struct image_names *names, const GElf_Sym *symbol, GElf_Addr address,
		    const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (!name || !name[0] || name[0] == '$' || symbol->st_shndx == SHN_UNDEF ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return false;
	for (size_t i = 0; i < names->segment_count; i++)
		if (address - names->segments[i].address < names->segments[i].size)
			return true;
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;

	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	if (x->worth != y->worth)
		return x->worth > y->worth ? -1 : 1;
	/* __lll_lock_wait rather than __GI___lll_lock_wait */
	return (int)strnlen(x->symbol.name, 256) - (int)strnlen(y->symbol.name, 256);
}

/* One without a size, hand-written code mostly, lasts to the next. */
static uint64_t end_of(const struct image_names *names, const struct symbol *symbol)
{
	for (size_t i = 0; i < names->segment_count; i++) {
		const struct segment *segment = &names->segments[i];

		if (symbol->start - segment->address < segment->size)
			return segment->address + segment->size;
	}
	return symbol->start;
}

/* Sorted, one for an address, none beyond the beginning of the next. */
static void keep(struct image_names *names, struct raw *raw, size_t count)
{
	bool guessed = false; /* where the last one ends */

	sort_array(raw, count, sizeof(*raw), by_start);
	names->symbols = xcalloc(count + 1, sizeof(*names->symbols));
	for (size_t i = 0; i < count; i++) {
		struct symbol *last = names->count ? &names->symbols[names->count - 1] : NULL;
		bool sizeless = raw[i].symbol.end == raw[i].symbol.start;

		if (last && last->start == raw[i].symbol.start)
			continue;
		if (last && last->end > raw[i].symbol.start) {
			if (sizeless && !guessed)
				continue; /* a label within a function */
			last->end = raw[i].symbol.start;
		}
		names->symbols[names->count] = raw[i].symbol;
		last = &names->symbols[names->count++];
		guessed = sizeless;
		if (sizeless)
			last->end = end_of(names, last);
	}
}

/* All symbols of a file, unsorted. */
struct heap {
	struct image_names *names;
	struct raw *v;
	size_t count, room;
};

static void add(struct heap *heap, uint64_t start, uint64_t end, const char *name, uint32_t worth)
{
	if (heap->count == IMAGE_SYMBOLS) {
		heap->names->refused++;
		return;
	}
	heap->v = xgrow(heap->v, heap->count, &heap->room, sizeof(*heap->v));
	heap->v[heap->count++] = (struct raw){{start, end < start ? start : end, name}, worth};
}

static void add_go_function(void *context, uint64_t start, uint64_t end, const char *name)
{
	add(context, start, end, name, 0); /* what the symbol table says goes first */
}

/* It could not be read: for its size, or it has none. */
static void note_size(const struct image_names *names)
{
	if (names->size > READ_BUDGET_MAPPED)
		read_budget__exceed();
}

static void read_symbols(struct image_names *names)
{
	int total = dwfl_module_getsymtab(names->module);
	struct heap heap = {.names = names};
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(names->module, &bias);

	if (total < 0)
		note_size(names);
	for (int i = 0; i < total; i++) {
		GElf_Addr address;
		GElf_Sym symbol;
		const char *name;

		if (!read_budget__take(sizeof(symbol))) {
			names->refused += total - i;
			break;
		}
		name = dwfl_module_getsym_info(names->module, i, &symbol, &address, NULL, NULL,
					       NULL);
		if (name && is_code(names, &symbol, address, name))
			add(&heap, address, address + symbol.st_size, name,
			    worth_of(&symbol, name));
	}
	if (elf)
		go_names__read(elf, add_go_function, &heap);
	if (heap.count)
		keep(names, heap.v, heap.count);
	free(heap.v);
}

const char *image_names__find(const struct image_names *names, uint64_t address, uint64_t *offset)
{
	size_t low = count_up_to(names->symbols, names->count, sizeof(*names->symbols), address);

	if (!low || address >= names->symbols[low - 1].end)
		return NULL;
	*offset = address - names->symbols[low - 1].start;
	return names->symbols[low - 1].name;
}

/* ---- */

static bool begin(struct image_names *names, int fd)
{
	void **userdata;

	names->dwfl = dwfl_begin(&callbacks);
	if (names->dwfl)
		names->module = dwfl_report_elf(names->dwfl, "image", "image", fd, 0, true);
	if (!names->module) {
		close(fd);
		return false;
	}
	dwfl_report_end(names->dwfl, NULL, NULL);
	dwfl_module_info(names->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = names;
	return read_segments(names);
}

static uint64_t size_of(int fd)
{
	struct stat stat;

	return fd < 0 || fstat(fd, &stat) ? 0 : stat.st_size;
}

struct image_names *image_names__new(int fd, int debug_fd, image_open *open, void *context)
{
	struct image_names *names = xcalloc(1, sizeof(*names));

	names->debug_fd = debug_fd;
	names->size = size_of(fd) + size_of(debug_fd);
	names->open = open;
	names->context = context;
	if (!begin(names, fd)) {
		image_names__free(names);
		return NULL;
	}
	read_symbols(names);
	return names;
}

void image_names__free(struct image_names *names)
{
	if (!names)
		return;
	if (names->dwfl)
		dwfl_end(names->dwfl);
	if (names->debug_fd >= 0)
		close(names->debug_fd);
	free(names->symbols);
	free(names);
}

uint64_t image_names__size(const struct image_names *names)
{
	return names->size;
}

size_t image_names__count(const struct image_names *names)
{
	return names->count;
}

size_t image_names__refused(const struct image_names *names)
{
	return names->refused;
}

Dwarf *image_names__dwarf(struct image_names *names, Dwarf_Addr *bias)
{
	Dwarf *dwarf = dwfl_module_getdwarf(names->module, bias);

	if (!dwarf)
		note_size(names);
	return dwarf;
}

bool image_names__go_line(struct image_names *names, uint64_t address, char *path, size_t size,
			  int *line)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(names->module, &bias);

	return elf && go_names__line(elf, address - bias, path, size, line);
}
