// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/clock.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"
#include "user/symbols/demangle.h"
#include "user/symbols/images/cut_files.h"
#include "user/symbols/images/image_files.h"
#include "user/symbols/images/mapped.h"
#include "user/symbols/images/maps.h"
#include "user/symbols/perfmap.h"
#include "user/symbols/read_budget.h"

#define PROCESSES 4096 /* the one used longest ago is forgotten */
#define PERFMAPS  64   /* likewise */

/*
 * An address that is not known makes us look again, not more often than this: soon at first, when
 * a program that we began with loads its libraries; later it is generated code, most likely.
 */
#define LOOK_AGAIN_NS    10000000ull
#define LOOK_AGAIN_TIMES 4 /* so often the time until the next look doubles */

/* What one address can come to: functions inlined in one another. */
#define FRAMES_ROOM 4096

struct process {
	pid_t pid;
	struct mapped *mapped;
	struct perfmap *perfmap;
	uint64_t looked_ns;
	unsigned looks; /* for an address that was not known */
	bool gone;      /* when it was looked at last */
	uint64_t used;  /* by the count of uses */
};

struct symbols {
	struct file_broker *broker;
	struct image_files *files;
	struct table *processes; /* by pid */
	const struct javas *javas;
	size_t perfmap_count;
	uint64_t uses;
	struct symbols_counts counts;
};

struct symbols *symbols__new(struct file_broker *broker)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	cut_files__survive();
	symbols->broker = broker;
	symbols->processes = table__new(PROCESSES);
	symbols->files = image_files__new(broker);
	return symbols;
}

/* ---- processes ---- */

static void drop_perfmap(struct symbols *symbols, struct process *process)
{
	if (!process->perfmap)
		return;
	perfmap__free(process->perfmap);
	process->perfmap = NULL;
	symbols->perfmap_count--;
}

static void free_process(void *value)
{
	struct process *process = value;

	perfmap__free(process->perfmap);
	mapped__free(process->mapped);
	free(process);
}

void symbols__free(struct symbols *symbols)
{
	if (!symbols)
		return;
	table__free(symbols->processes, free_process);
	image_files__free(symbols->files);
	free(symbols);
}

static struct process *find_process(struct symbols *symbols, pid_t pid)
{
	struct process *process = table__get(symbols->processes, pid);

	if (process)
		process->used = ++symbols->uses;
	return process;
}

/* The process used longest ago; of those with a perfmap alone, when asked so. */
static struct process *oldest_of(struct symbols *symbols, bool with_perfmap)
{
	struct process *oldest = NULL, *process;
	size_t cursor = 0;

	while ((process = table__next(symbols->processes, &cursor)))
		if ((!with_perfmap || process->perfmap) &&
		    (!oldest || process->used < oldest->used))
			oldest = process;
	return oldest;
}

static struct process *add_process(struct symbols *symbols, pid_t pid, struct mapped *mapped)
{
	struct process *process = xcalloc(1, sizeof(*process)), *oldest;

	if (table__count(symbols->processes) == PROCESSES) {
		oldest = oldest_of(symbols, false);
		drop_perfmap(symbols, oldest);
		free_process(table__take(symbols->processes, oldest->pid));
		symbols->counts.processes++;
	}
	process->pid = pid;
	process->mapped = mapped;
	process->used = ++symbols->uses;
	table__put(symbols->processes, pid, process);
	return process;
}

static void open_perfmap(struct symbols *symbols, struct process *process)
{
	int fd = file_broker__open(symbols->broker, FILE_BROKER_NAMES, process->pid, NULL);

	if (fd < 0)
		return;
	if (symbols->perfmap_count == PERFMAPS) {
		drop_perfmap(symbols, oldest_of(symbols, true));
		symbols->counts.processes++;
	}
	process->perfmap = perfmap__new(fd);
	symbols->perfmap_count++;
}

/* Of generated code: its map, which grows. */
static void look_at_names(struct symbols *symbols, struct process *process, bool gone)
{
	char path[64];

	if (!process->perfmap && (gone || !mapped__has_generated(process->mapped)))
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)process->pid);
	if (!read_budget__enter(&(struct read_budget_subject){.pid = process->pid}, path, NULL))
		return;
	if (process->perfmap)
		perfmap__refresh(process->perfmap); /* its file is open, whatever became of it */
	else
		open_perfmap(symbols, process);
	read_budget__leave(NULL);
}

/* Returns false when there is nothing to be seen; what was known stays. */
static bool look(struct symbols *symbols, struct process *process)
{
	char *text = maps__read(symbols->broker, process->pid);

	process->looked_ns = clock__now();
	process->gone = !text;
	if (text)
		mapped__look(process->mapped, symbols->files, process->pid, text);
	free(text);
	look_at_names(symbols, process, process->gone);
	return !process->gone;
}

bool symbols__note(struct symbols *symbols, pid_t pid)
{
	struct process *process = find_process(symbols, pid);

	if (!process)
		process = add_process(symbols, pid, mapped__new());
	return look(symbols, process);
}

void symbols__fork(struct symbols *symbols, pid_t parent, pid_t child)
{
	struct process *from = find_process(symbols, parent);

	if (from && !find_process(symbols, child))
		add_process(symbols, child, mapped__copy(from->mapped));
}

/* ---- names ---- */

/* Code that the program generated is there, and nobody wrote down its name; or nothing is. */
static void write_unknown(struct symbols *symbols, const struct process *process, uint64_t at,
			  char *out, size_t size)
{
	const struct mapping *mapping = mapped__find(process->mapped, at);

	symbols->counts.frames++;
	if (mapping)
		symbols->counts.nameless++;
	else
		symbols->counts.unknown++;
	snprintf(out, size, mapping ? "[jit]" : "[unknown]");
}

/* Of V8's "JS:~request /srv/app.js:8:21" the name, and where its function begins: "/srv/app.js:8".
 */
static bool read_script_name(const char *name, char *function, size_t size, char *place,
			     size_t place_size)
{
	static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
	const char *at = NULL, *blank, *column, *line;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !at; i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			at = name + strlen(kinds[i]);
	if (!at)
		return false;
	at += *at && strchr("~^*+", *at) != NULL;
	column = strrchr(at, ':');
	line = column ? memrchr(at, ':', (size_t)(column - at)) : NULL;
	blank = strchr(at, ' ');
	if (!line || !blank || blank > line ||
	    strspn(line + 1, "0123456789") != (size_t)(column - line - 1))
		return false;
	snprintf(function, size, "%.*s", blank > at ? (int)(blank - at) : 11,
		 blank > at ? at : "(anonymous)");
	snprintf(place, place_size, " (%.*s)", (int)(column - blank - 1), blank + 1);
	demangle__clean(function);
	demangle__clean(place);
	return true;
}

/* at: of the call, when returns. False: nobody wrote down a name for it. */
static bool write_generated(struct symbols *symbols, const struct process *process, uint64_t at,
			    bool returns, unsigned style, char *out, size_t size)
{
	uint64_t offset = 0;
	const char *name = process->perfmap ? perfmap__find(process->perfmap, at, &offset) : NULL;
	char function[DEMANGLE_NAME], place[2 * DEMANGLE_NAME];

	if (!name)
		return false;
	if (style & SYMBOLS_LINES &&
	    read_script_name(name, function, sizeof(function), place, sizeof(place)))
		snprintf(out, size, "%s+0x%llx%s", function, (unsigned long long)offset + returns,
			 place);
	else if (style & SYMBOLS_OFFSETS)
		demangle__at(name, offset + returns, out, size);
	else
		demangle(name, out, size < DEMANGLE_NAME ? size : DEMANGLE_NAME);
	symbols->counts.frames++;
	return true;
}

/* False: the address is in nothing that is known. */
static bool write_name(struct symbols *symbols, struct process *process, uint64_t pc, bool returns,
		       unsigned style, char *out, size_t size)
{
	uint64_t at = pc - returns;
	const struct mapping *mapping = mapped__find(process->mapped, at);
	char clean[sizeof(mapping->name)];

	if (!mapping || mapping->generated) {
		if (write_generated(symbols, process, at, returns, style, out, size))
			return true;
		if (!mapping || (!mapping->file && !mapping->name[0]))
			return false;
	}
	if (mapping->file) {
		image_file__describe(symbols->files, mapping->file,
				     pc - mapping->start + mapping->offset, returns, style, out,
				     size, &symbols->counts);
		return true;
	}
	symbols->counts.frames++;
	symbols->counts.nameless++;
	demangle(mapping->name, clean, sizeof(clean));
	snprintf(out, size, clean[0] == '[' ? "%s" : "[%s]", clean);
	return true;
}

/* All frames of one address. False: nothing is mapped there, though the process could be looked at:
 * no code has been there. */
static bool name_frames(struct symbols *symbols, pid_t pid, uint64_t pc, bool returns,
			unsigned style, char out[FRAMES_ROOM])
{
	struct process *process = find_process(symbols, pid);

	if (!process) {
		symbols__note(symbols, pid);
		process = find_process(symbols, pid);
	}
	if (write_name(symbols, process, pc, returns, style, out, FRAMES_ROOM))
		return true;
	if (clock__now() - process->looked_ns >= LOOK_AGAIN_NS << process->looks) {
		look(symbols, process);
		if (process->looks < LOOK_AGAIN_TIMES)
			process->looks++;
		if (write_name(symbols, process, pc, returns, style, out, FRAMES_ROOM))
			return true;
	}
	write_unknown(symbols, process, pc - returns, out, FRAMES_ROOM);
	return process->gone || mapped__find(process->mapped, pc - returns);
}

size_t symbols__name(struct symbols *symbols, pid_t pid, uint64_t pc, bool returns, unsigned style,
		     char *out, size_t size)
{
	char frames[FRAMES_ROOM];

	name_frames(symbols, pid, pc, returns, style, frames);
	snprintf(out, size, "%s", frames);
	return strlen(out);
}

void symbols__use_javas(struct symbols *symbols, const struct javas *javas)
{
	symbols->javas = javas;
}

/* Java's names are whole without their lines. */
static void cut_lines(char *frames)
{
	char *to = frames;

	for (char *at = frames; *at;) {
		size_t len = strcspn(at, ";"), name = strcspn(at, " ;");
		char end = at[len];

		memmove(to, at, name);
		to += name;
		at += len + (end == ';');
		if (end == ';')
			*to++ = ';';
	}
	*to = '\0';
}

/* False: it is none of Java's, or not known. */
static bool name_java(const struct symbols *symbols, pid_t pid, uint64_t place, unsigned style,
		      char out[FRAMES_ROOM])
{
	const char *methods = symbols->javas ? javas__kept(symbols->javas, pid, place) : NULL;

	if (!methods && !java_place__is_method(place))
		return false;
	snprintf(out, FRAMES_ROOM, "%s", methods ? methods : "[java]");
	if (!(style & SYMBOLS_LINES))
		cut_lines(out);
	return true;
}

size_t symbols__stack(struct symbols *symbols, pid_t pid, const uint64_t *pcs, size_t count,
		      unsigned style, char *out, size_t size)
{
	char frames[FRAMES_ROOM];
	size_t used = 0, i;
	bool is_code = true;

	out[0] = '\0';
	for (i = 0; i < count && pcs[i] && is_code; i++) {
		is_code = name_java(symbols, pid, pcs[i], style, frames) ||
			  name_frames(symbols, pid, pcs[i], i > 0, style, frames);
		if (used + strlen(frames) + 2 > size)
			return i;
		used += sprintf(out + used, "%s%s", i ? ";" : "", frames);
	}
	return i;
}

void symbols__counts(const struct symbols *symbols, struct symbols_counts *counts)
{
	*counts = symbols->counts;
	image_files__counts(symbols->files, counts);
}
