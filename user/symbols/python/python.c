// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/python/python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/xalloc.h"
#include "user/symbols/images/data_symbols.h"
#include "user/symbols/images/maps.h"
#include "user/symbols/peek.h"
#include "user/symbols/python/memory.h"
#include "user/symbols/read_budget.h"

struct pythons {
	struct file_broker *broker;
	struct python *v[PYTHONS_MOST];
	uint64_t uses;
};

struct pythons *pythons__new(struct file_broker *broker)
{
	struct pythons *pythons = xcalloc(1, sizeof(*pythons));

	pythons->broker = broker;
	return pythons;
}

static void free_python(struct python *python)
{
	if (!python)
		return;
	close(python->memory);
	free(python);
}

void pythons__free(struct pythons *pythons)
{
	if (!pythons)
		return;
	for (size_t i = 0; i < PYTHONS_MOST; i++)
		free_python(pythons->v[i]);
	free(pythons);
}

/* ---- where it is ---- */

/* What of a file's symbols is of interest here: Py_Version is there from 3.11 on. */
enum symbol { RUNTIME, VERSION, SYMBOLS };

static const char *const symbol_names[] = {[RUNTIME] = "_PyRuntime", [VERSION] = "Py_Version"};

/* "python3.11", "libpython3.9.so.1.0": 9; 0: it is called otherwise. */
static uint32_t minor_by_name(const char *name)
{
	const char *at = strstr(name, "python3.");

	return at ? (uint32_t)strtoul(at + strlen("python3."), NULL, 10) : 0;
}

/* The next file in a process's maps that may be the interpreter's, of which the first byte is
 * there. */
static bool next_file(char **text, struct maps_line *line)
{
	while (maps__next(text, line)) {
		const char *slash = strrchr(line->path, '/'),
			   *name = slash ? slash + 1 : line->path;

		if (line->inode && !line->offset &&
		    (!strncmp(name, "python", 6) || !strncmp(name, "libpython", 9)))
			return true;
	}
	return false;
}

/* ---- is it what it is taken for ---- */

static bool choose_layout(struct python *python, const uint64_t symbols[], const char *path)
{
	const char *slash = strrchr(path, '/');
	uint32_t version = symbols[VERSION] ? peek__number(python->memory, symbols[VERSION]) : 0;
	uint32_t minor = version ? version >> 16 & 0xff : minor_by_name(slash ? slash + 1 : path);
	const struct python_layout *layout =
		version && version >> 24 != 3 ? NULL : python_layout__of(minor);
	unsigned char said[PYTHON_SAYS];

	if (!layout)
		return false;
	python->layout = *layout;
	return minor < 13 || (peek__read(python->memory, symbols[RUNTIME], said, sizeof(said)) &&
			      python_layout__read(&python->layout, said));
}

static bool look_at_file(struct pythons *pythons, struct python *python,
			 const struct maps_line *line)
{
	uint64_t symbols[SYMBOLS];

	return data_symbols__find(pythons->broker, python->pid, line, symbol_names, SYMBOLS,
				  symbols) &&
	       choose_layout(python, symbols, line->path) &&
	       python__find_key(python, symbols[RUNTIME], &python->layout.frames.tls);
}

/* A program may be no more than a call of its library. */
static bool look_at(struct pythons *pythons, struct python *python, char *maps)
{
	struct maps_line line;

	while (next_file(&maps, &line))
		if (look_at_file(pythons, python, &line))
			return true;
	return false;
}

/* ---- processes ---- */

static struct python **place_of(struct pythons *pythons, pid_t pid)
{
	struct python **oldest = &pythons->v[0];

	for (size_t i = 0; i < PYTHONS_MOST; i++) {
		struct python **place = &pythons->v[i];

		if (*place && (*place)->pid == pid)
			return place;
		if (!*place || (*oldest && (*place)->used < (*oldest)->used))
			oldest = place;
	}
	return oldest;
}

bool pythons__find(struct pythons *pythons, pid_t pid, struct ns_python *out)
{
	struct python **place = place_of(pythons, pid), *python;
	char *maps = maps__read(pythons->broker, pid);
	int memory =
		maps ? file_broker__open(pythons->broker, FILE_BROKER_MEMORY, pid, NULL) : -ENOENT;
	bool known = false;

	if (memory >= 0) {
		python = xcalloc(1, sizeof(*python));
		*python = (struct python){.pid = pid, .memory = memory, .used = ++pythons->uses};
		if (read_budget__enter(&(struct read_budget_subject){.pid = pid}, "python", NULL)) {
			known = look_at(pythons, python, maps);
			read_budget__leave(NULL);
		}
		free_python(known ? *place : python);
		if (known)
			*place = python;
	}
	free(maps);
	if (known)
		*out = (*place)->layout.frames;
	return known;
}

void pythons__join(struct pythons *pythons, pid_t pid, const struct ns_python_frame *frames,
		   size_t count, char *stack, size_t size)
{
	struct python *python = count ? *place_of(pythons, pid) : NULL;
	struct ns_python found;

	/* Whoever answered that it is one may have ended. */
	if (count && (!python || python->pid != pid))
		python = pythons__find(pythons, pid, &found) ? *place_of(pythons, pid) : NULL;
	if (!python)
		return;
	python->used = ++pythons->uses;
	python__join(python, frames, count, stack, size);
}
