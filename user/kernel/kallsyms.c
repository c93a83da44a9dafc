// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"

#define TRACER_FRAMES      8     /* at most so many of a stack's frames are the tracer's own */
#define MOST_OF_A_STUB     4096  /* bytes */
#define MOST_OF_A_FUNCTION 65536 /* bytes */

struct symbol {
	uint64_t address;
	uint32_t name; /* offset into names */
};

struct kallsyms {
	FILE *file; /* NULL once read, or when it could not be opened */
	struct symbol *symbols;
	size_t count, room;
	char *names;
	size_t names_used, names_room;
};

struct kallsyms *kallsyms__new(void)
{
	struct kallsyms *kallsyms = xcalloc(1, sizeof(*kallsyms));

	kallsyms->file = fopen("/proc/kallsyms", "re");
	return kallsyms;
}

void kallsyms__free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	if (kallsyms->file)
		fclose(kallsyms->file);
	free(kallsyms->symbols);
	free(kallsyms->names);
	free(kallsyms);
}

static void add_symbol(struct kallsyms *kallsyms, uint64_t address, const char *name)
{
	size_t length = strlen(name) + 1;

	kallsyms->symbols = xgrow(kallsyms->symbols, kallsyms->count, &kallsyms->room,
				  sizeof(*kallsyms->symbols));
	if (kallsyms->names_used + length > kallsyms->names_room) {
		kallsyms->names_room = (kallsyms->names_used + length) * 2 + (1 << 20);
		kallsyms->names = xreallocarray(kallsyms->names, kallsyms->names_room, 1);
	}
	memcpy(kallsyms->names + kallsyms->names_used, name, length);
	kallsyms->symbols[kallsyms->count++] =
		(struct symbol){.address = address, .name = kallsyms->names_used};
	kallsyms->names_used += length;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* "ffffffff81000000 T _text"; behind a module's, "\t[module]". False: no function. */
static bool read_symbol(char *line, uint64_t *address, const char **name)
{
	char *at;

	*address = strtoull(line, &at, 16);
	if (!*address || at[0] != ' ' || !at[1] || !strchr("tTwW", at[1]) || at[2] != ' ')
		return false;
	*name = at + 3;
	at[3 + strcspn(*name, "\t\n")] = '\0';
	return true;
}

/* All of the some 150,000 lines: sscanf() takes longer for them than the kernel. */
static void read_symbols(struct kallsyms *kallsyms)
{
	char line[512];
	const char *name;
	uint64_t address;

	while (fgets(line, sizeof(line), kallsyms->file))
		if (read_symbol(line, &address, &name))
			add_symbol(kallsyms, address, name);
	fclose(kallsyms->file);
	kallsyms->file = NULL;
	sort_array(kallsyms->symbols, kallsyms->count, sizeof(*kallsyms->symbols), by_address);
}

void kallsyms__load(struct kallsyms *kallsyms)
{
	if (kallsyms->file)
		read_symbols(kallsyms);
}

static const char *find_name(struct kallsyms *kallsyms, uint64_t address)
{
	size_t low;

	kallsyms__load(kallsyms);
	low = count_up_to(kallsyms->symbols, kallsyms->count, sizeof(*kallsyms->symbols), address);
	if (!low)
		return kallsyms->count ? "[unknown]" : "[hidden]";
	return kallsyms->names + kallsyms->symbols[low - 1].name;
}

/* /proc/sys/kernel/kptr_restrict: 2 hides addresses from everybody, 1 from most; -1 not known. */
static int read_restriction(void)
{
	FILE *file = fopen("/proc/sys/kernel/kptr_restrict", "re");
	int value = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

const char *kallsyms__hidden(struct kallsyms *kallsyms)
{
	kallsyms__load(kallsyms);
	if (kallsyms->count)
		return NULL;
	if (access("/proc/kallsyms", F_OK))
		return "Kernel functions have no names here: this kernel has no /proc/kallsyms "
		       "(CONFIG_KALLSYMS), or /proc is not mounted.";
	if (read_restriction() == 2)
		return "Kernel functions have no names here: kernel.kptr_restrict=2 hides them "
		       "from everybody; `sysctl kernel.kptr_restrict=1` shows them to programs "
		       "with CAP_SYSLOG.";
	return "Kernel functions have no names here: this takes CAP_SYSLOG, so run netstall as "
	       "root, or give it that capability.";
}

/*
 * The tracer's own frames on top of the traced ones. Its compiled code lies behind the kernel's,
 * of which the last symbol is all that a lookup finds; or among modules, where it finds
 * whatever function stands before it (5.10).
 */
static bool is_bpf_frame(const char *name)
{
	return !strncmp(name, "bpf_", 4) || !strncmp(name, "__bpf_", 6) ||
	       !strncmp(name, "__traceiter_", 12) || !strncmp(name, "trace_event_raw_event_", 22) ||
	       !strcmp(name, "_einittext") || !strcmp(name, "_etext");
}

/* How many frames, from the leaf on, belong to the tracepoint that took the stack. */
static size_t tracepoint_frames(struct kallsyms *kallsyms, const __u64 *addresses, size_t count)
{
	static const char *const leads[] = {"bpf_trace_run", "__bpf_trace_", "__traceiter_"};
	size_t own = 0;

	for (size_t i = 0; i < count && i < TRACER_FRAMES && addresses[i]; i++) {
		const char *name = find_name(kallsyms, addresses[i]);

		for (size_t j = 0; j < sizeof(leads) / sizeof(leads[0]); j++) {
			if (!strncmp(name, leads[j], strlen(leads[j])))
				own = i + 1;
		}
	}
	return own;
}

size_t kallsyms__stack(struct kallsyms *kallsyms, const __u64 *addresses, size_t count, char *out,
		       size_t size)
{
	size_t used = 0, written = 0, i;

	out[0] = '\0';
	for (i = tracepoint_frames(kallsyms, addresses, count); i < count && addresses[i]; i++) {
		const char *name = find_name(kallsyms, addresses[i]);
		int length;

		if (is_bpf_frame(name))
			continue;
		length = snprintf(out + used, size - used, "%s%s", written ? ";" : "", name);
		if (length < 0 || (size_t)length >= size - used) {
			out[used] = '\0';
			break;
		}
		used += length;
		written++;
	}
	return written;
}

/*
 * Where the code of this symbol ends. The last of a section may be followed by what is no function:
 * most is more than it has. 0: unknown.
 */
static uint64_t end_of(const struct kallsyms *kallsyms, size_t i, uint64_t most)
{
	uint64_t address = kallsyms->symbols[i].address;

	while (++i < kallsyms->count) {
		uint64_t next = kallsyms->symbols[i].address;

		if (next > address) /* else another name of the same */
			return next - address > most ? address + most : next;
	}
	return 0;
}

bool kallsyms__function(struct kallsyms *kallsyms, const char *name, uint64_t *begin, uint64_t *end)
{
	kallsyms__load(kallsyms);
	for (size_t i = 0; i < kallsyms->count; i++) {
		if (strcmp(kallsyms->names + kallsyms->symbols[i].name, name) != 0)
			continue;
		*begin = kallsyms->symbols[i].address;
		*end = end_of(kallsyms, i, MOST_OF_A_FUNCTION);
		return *end != 0;
	}
	return false;
}

bool kallsyms__span(struct kallsyms *kallsyms, const char *prefix, uint64_t *begin, uint64_t *end)
{
	size_t length = strlen(prefix), last = 0, i;

	kallsyms__load(kallsyms);
	*begin = 0;
	for (i = 0; i < kallsyms->count; i++) {
		if (strncmp(kallsyms->names + kallsyms->symbols[i].name, prefix, length) != 0)
			continue;
		if (!*begin)
			*begin = kallsyms->symbols[i].address;
		last = i;
	}
	if (!*begin)
		return false;
	*end = end_of(kallsyms, last, MOST_OF_A_STUB);
	return *end != 0;
}
