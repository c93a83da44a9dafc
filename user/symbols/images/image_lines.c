// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/image_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/symbols/read_budget.h"

#define MOST_RANGES (4u << 20) /* of units, or of functions of one unit */
#define MOST_DEPTH  64         /* of what is nested in a unit */
#define ENTRY_BYTES 32         /* of an entry of the debug information, about */

/* Addresses of a unit, or of a function. */
struct range {
	uint64_t low, high;
	Dwarf_Off die;
};

struct ranges {
	struct range *v;
	size_t count, room;
};

struct unit {
	Dwarf_Off die;
	struct ranges functions;
};

struct image_lines {
	Dwarf *dwarf;
	Dwarf_Addr bias;
	struct ranges units;
	struct unit *parsed; /* units whose functions are known */
	size_t parsed_count;
};

/* ---- ranges ---- */

static void add_range(struct ranges *ranges, uint64_t low, uint64_t high, Dwarf_Off die)
{
	/* What the linker threw away begins at 0, or at -1. */
	if (!low || low >= high || ranges->count == MOST_RANGES)
		return;
	ranges->v = xgrow(ranges->v, ranges->count, &ranges->room, sizeof(*ranges->v));
	ranges->v[ranges->count++] = (struct range){low, high, die};
}

static void add_ranges_of(struct ranges *ranges, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while (read_budget__take(ENTRY_BYTES) &&
	       (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		add_range(ranges, low, high, dwarf_dieoffset(die));
}

static int by_low(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static void sort_ranges(struct ranges *ranges)
{
	sort_array(ranges->v, ranges->count, sizeof(*ranges->v), by_low);
}

static const struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	size_t low = count_up_to(ranges->v, ranges->count, sizeof(*ranges->v), address);

	return low && address < ranges->v[low - 1].high ? &ranges->v[low - 1] : NULL;
}

/* ---- units ---- */

/* Not by .debug_aranges, which many compilers do not write. */
static void read_units(struct image_lines *lines)
{
	Dwarf_Off offset = 0, next;
	size_t header;
	Dwarf_Die die;

	while (read_budget__take(ENTRY_BYTES) &&
	       !dwarf_nextcu(lines->dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		if (dwarf_offdie(lines->dwarf, offset + header, &die))
			add_ranges_of(&lines->units, &die);
		offset = next;
	}
	sort_ranges(&lines->units);
}

struct image_lines *image_lines__new(struct image_names *names)
{
	struct image_lines *lines;
	Dwarf_Addr bias;
	Dwarf *dwarf = image_names__dwarf(names, &bias);

	if (!dwarf)
		return NULL;
	lines = xcalloc(1, sizeof(*lines));
	lines->dwarf = dwarf;
	lines->bias = bias;
	read_units(lines);
	return lines;
}

void image_lines__free(struct image_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->parsed_count; i++)
		free(lines->parsed[i].functions.v);
	free(lines->parsed);
	free(lines->units.v);
	free(lines);
}

/* ---- functions ---- */

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_lexical_block;
}

/* Functions within functions too: closures, and those of Ada and Pascal. */
static void read_functions(struct ranges *functions, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth == MOST_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_ranges_of(functions, &die);
		if (holds_functions(tag))
			read_functions(functions, &die, depth + 1);
	} while (read_budget__take(ENTRY_BYTES) && !dwarf_siblingof(&die, &die));
}

static struct unit *unit_of(struct image_lines *lines, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	struct unit *unit;

	for (size_t i = lines->parsed_count; i-- > 0;)
		if (lines->parsed[i].die == offset)
			return &lines->parsed[i];
	if (!(lines->parsed_count & (lines->parsed_count + 1)))
		lines->parsed = xreallocarray(lines->parsed, 2 * (lines->parsed_count + 1),
					      sizeof(*lines->parsed));
	unit = &lines->parsed[lines->parsed_count++];
	*unit = (struct unit){.die = offset};
	read_functions(&unit->functions, die, 0);
	sort_ranges(&unit->functions);
	return unit;
}

/* The inlined functions at address, from the function on inwards. */
static size_t find_inlined(Dwarf_Die *function, uint64_t address, Dwarf_Die out[IMAGE_INLINED])
{
	Dwarf_Die die = *function;
	size_t count = 0;

	for (int depth = 0; depth < MOST_DEPTH && count < IMAGE_INLINED; depth++) {
		bool inside = false;

		if (dwarf_child(&die, &die))
			break;
		do {
			int tag = dwarf_tag(&die);

			inside =
				(tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
				dwarf_haspc(&die, address) > 0;
			if (inside && tag == DW_TAG_inlined_subroutine)
				out[count++] = die;
		} while (!inside && read_budget__take(ENTRY_BYTES) && !dwarf_siblingof(&die, &die));
		if (!inside)
			break;
	}
	return count;
}

/* ---- what is asked of them ---- */

static const char *name_of(Dwarf_Die *die)
{
	static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

		if (name && *name)
			return name;
	}
	return NULL;
}

/* "/src/./a/../b//c.c" is "/src/b/c.c" */
static void set_path(char *out, size_t size, const char *path)
{
	size_t used = 0;

	if (!path)
		path = "";
	if (strlen(path) >= size)
		path += strlen(path) - size + 1;
	while (*path) {
		size_t len = strcspn(path, "/"), slash = path[len] == '/';
		bool up = len == 2 && !strncmp(path, "..", 2);

		if (len == 1 && *path == '.') {
			/* nothing */
		} else if (up && used > 1 && strncmp(out + used - 2, "./", 2)) {
			for (used--; used && out[used - 1] != '/';)
				used--;
		} else if (len || !used) {
			memcpy(out + used, path, len + slash);
			used += len + slash;
		}
		path += len + slash;
	}
	out[used] = '\0';
}

/*
 * DWARF 5 names files from the folder that they were compiled in; whoever built in a folder of its
 * own would look for them in the wrong place.
 */
static void set_source(struct image_line *out, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attribute;
	const char *folder = NULL;
	char joined[2 * sizeof(out->path)];

	if (path && *path != '/')
		folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (folder && *folder == '/' &&
	    (size_t)snprintf(joined, sizeof(joined), "%s/%s", folder, path) < sizeof(joined))
		path = joined;
	set_path(out->path, sizeof(out->path), path);
}

static void set_place(struct image_line *out, Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);

	out->line = 0;
	set_source(out, unit, line ? dwarf_linesrc(line, NULL, NULL) : NULL);
	if (line)
		dwarf_lineno(line, &out->line);
}

/* Where what was inlined would have been called. */
static void set_call_place(struct image_line *out, Dwarf_Die *unit, Dwarf_Die *inlined)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0;
	const char *path = NULL;
	Dwarf_Files *files;
	size_t count;

	dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file);
	dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line);
	if (!dwarf_getsrcfiles(unit, &files, &count) && file < count)
		path = dwarf_filesrc(files, file, NULL, NULL);
	set_source(out, unit, path);
	out->line = (int)line;
}

size_t image_lines__find(struct image_lines *lines, uint64_t address,
			 struct image_line out[IMAGE_INLINED + 1])
{
	uint64_t at = address - lines->bias;
	const struct range *in_unit = find_range(&lines->units, at), *in_function;
	Dwarf_Die unit, function, inlined[IMAGE_INLINED];
	size_t count = 0;

	if (!in_unit || !dwarf_offdie(lines->dwarf, in_unit->die, &unit))
		return 0;
	in_function = find_range(&unit_of(lines, &unit)->functions, at);
	if (in_function && dwarf_offdie(lines->dwarf, in_function->die, &function))
		count = find_inlined(&function, at, inlined);
	else
		in_function = NULL;
	set_place(&out[0], &unit, at);
	for (size_t i = 0; i < count; i++) {
		out[i].function = name_of(&inlined[count - 1 - i]);
		set_call_place(&out[i + 1], &unit, &inlined[count - 1 - i]);
	}
	out[count].function = in_function ? name_of(&function) : NULL;
	return count + 1;
}
