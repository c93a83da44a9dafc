// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/python/python.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/symbols/demangle.h"
#include "user/symbols/images/maps.h"
#include "user/symbols/python/layout.h"
#include "user/symbols/read_budget.h"

#define NAME_MOST  512   /* characters of a name, or of a path */
#define TABLE_MOST 65536 /* bytes of a table of lines */
#define THREADS    64    /* of an interpreter that are looked at */

/* struct pthread of glibc on x86-64, which the thread pointer points to: its first keys' data. */
#define TLS_FIRST 0x318
#define TLS_EACH  16
#define TLS_KEYS  32

struct python {
	pid_t pid;
	int memory; /* /proc/PID/mem, as the process was then */
	uint64_t used;
	struct python_layout layout;
};

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

/* ---- memory ---- */

static bool read_memory(const struct python *python, uint64_t at, void *out, size_t size)
{
	return at < INT64_MAX && pread(python->memory, out, size, (off_t)at) == (ssize_t)size;
}

/* 0: there is none, or it cannot be read. */
static uint64_t read_pointer(const struct python *python, uint64_t at)
{
	uint64_t pointer = 0;

	return read_memory(python, at, &pointer, sizeof(pointer)) ? pointer : 0;
}

static uint32_t read_number(const struct python *python, uint64_t at)
{
	uint32_t number = 0;

	return read_memory(python, at, &number, sizeof(number)) ? number : 0;
}

/* ---- where it is ---- */

/* What of a file's symbols is of interest here; 0: it has none. */
struct known_symbols {
	uint64_t runtime; /* _PyRuntime */
	uint64_t version; /* Py_Version, from 3.11 on */
	uint64_t base;    /* the address of the file's first byte */
};

static void take_symbol(const char *name, uint64_t value, struct known_symbols *out)
{
	if (name && !strcmp(name, "_PyRuntime"))
		out->runtime = value;
	else if (name && !strcmp(name, "Py_Version"))
		out->version = value;
}

static void read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *head, struct known_symbols *out)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; data && i < count && gelf_getsym(data, (int)i, &symbol); i++)
		if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
			take_symbol(elf_strptr(elf, head->sh_link, symbol.st_name), symbol.st_value,
				    out);
}

static bool read_symbols(int fd, struct known_symbols *out)
{
	Elf *elf = elf_version(EV_CURRENT) ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	Elf_Scn *section = NULL;
	size_t count = 0;
	GElf_Shdr head;
	GElf_Phdr segment;

	*out = (struct known_symbols){.base = UINT64_MAX};
	while (elf && !out->runtime && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_DYNSYM || head.sh_type == SHT_SYMTAB))
			read_table(elf, section, &head, out);
	if (elf && !elf_getphdrnum(elf, &count))
		for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &segment); i++)
			if (segment.p_type == PT_LOAD && !segment.p_offset)
				out->base = segment.p_vaddr;
	elf_end(elf);
	return out->runtime && out->base != UINT64_MAX;
}

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

/* The thread's state is where each thread is to have it: by the one that is first in the list. */
static bool find_key(const struct python *python, uint64_t runtime, uint32_t *tls)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter = read_pointer(python, runtime + layout->interpreters);
	uint64_t state = read_pointer(python, interpreter + layout->threads), self;
	uint32_t made = read_number(python, runtime + layout->key);
	uint32_t key = read_number(python, runtime + layout->key + sizeof(made));

	if (!interpreter || !made || key >= TLS_KEYS)
		return false;
	*tls = TLS_FIRST + key * TLS_EACH;
	for (size_t i = 0; i < THREADS && state; i++) {
		self = read_pointer(python, state + layout->thread_id);
		if (self && read_pointer(python, self + *tls) == state)
			return true;
		state = read_pointer(python, state + layout->next);
	}
	return false;
}

static bool choose_layout(struct python *python, const struct known_symbols *symbols, uint64_t bias,
			  const char *path)
{
	const char *slash = strrchr(path, '/');
	uint32_t version = symbols->version ? read_number(python, bias + symbols->version) : 0;
	uint32_t minor = version ? version >> 16 & 0xff : minor_by_name(slash ? slash + 1 : path);
	const struct python_layout *layout =
		version && version >> 24 != 3 ? NULL : python_layout__of(minor);
	unsigned char said[PYTHON_SAYS];

	if (!layout)
		return false;
	python->layout = *layout;
	return minor < 13 || (read_memory(python, bias + symbols->runtime, said, sizeof(said)) &&
			      python_layout__read(&python->layout, said));
}

static bool look_at_file(struct pythons *pythons, struct python *python,
			 const struct maps_line *line)
{
	struct known_symbols symbols;
	uint64_t bias;
	bool known;
	int fd = file_broker__open(pythons->broker, FILE_BROKER_IMAGE, python->pid, line->path);

	if (fd < 0)
		return false;
	known = read_symbols(fd, &symbols);
	close(fd);
	bias = line->start - symbols.base;
	return known && choose_layout(python, &symbols, bias, line->path) &&
	       find_key(python, bias + symbols.runtime, &python->layout.frames.tls);
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

/* ---- names ---- */

/* PyASCIIObject, PyCompactUnicodeObject: their length, and in a word of bits of how many bytes
 * their characters are, and that they lie behind the head. */
#define STRING_LENGTH 16
#define STRING_STATE  32

/* As UTF-8. False: it is no string of a name's size. */
static bool read_string(const struct python *python, uint64_t at, char *out, size_t size)
{
	unsigned char raw[4 * NAME_MOST];
	uint64_t length = at ? read_pointer(python, at + STRING_LENGTH) : 0;
	uint32_t state = at ? read_number(python, at + STRING_STATE) : 0, width = state >> 2 & 7;
	bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
	size_t used = 0;

	if (!length || length > NAME_MOST || !is_compact ||
	    (width != 1 && width != 2 && width != 4) ||
	    !read_memory(python, at + (is_ascii ? python->layout.ascii : python->layout.compact),
			 raw, length * width))
		return false;
	for (size_t i = 0; i < length && used + 5 < size; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + i * width, width);
		if (!c || c > 0x10ffff)
			return false;
		if (c < 0x80) {
			out[used++] = (char)c;
		} else {
			unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

			out[used++] = (char)((0xff00 >> (more + 1) & 0xff) | c >> 6 * more);
			while (more--)
				out[used++] = (char)(0x80 | (c >> 6 * more & 63));
		}
	}
	out[used] = '\0';
	return true;
}

#define BYTES_LENGTH 16
#define BYTES_DATA   32

static unsigned line_of(const struct python *python, const struct ns_python_frame *frame)
{
	const struct python_layout *layout = &python->layout;
	uint64_t bytes = read_pointer(python, frame->code + layout->linetable), at;
	uint64_t size = bytes ? read_pointer(python, bytes + BYTES_LENGTH) : 0;
	uint32_t first = read_number(python, frame->code + layout->line);
	unsigned char *table;
	unsigned line = 0;

	if (!size || size > TABLE_MOST)
		return 0;
	if (layout->frames.lasti)
		at = frame->instr * (layout->minor == 10 ? 2 : 1);
	else
		at = frame->instr - frame->code - layout->code;
	table = xcalloc(1, size);
	if (read_memory(python, bytes + BYTES_DATA, table, size))
		line = python_layout__line(layout->minor, table, size, first, at);
	free(table);
	return line;
}

/* False: it does not check. */
static bool name_frame(const struct python *python, const struct ns_python_frame *frame, char *out,
		       size_t size)
{
	char function[4 * NAME_MOST], file[4 * NAME_MOST];
	unsigned line;

	if (!frame->code ||
	    !read_string(python, read_pointer(python, frame->code + python->layout.name), function,
			 sizeof(function)) ||
	    !read_string(python, read_pointer(python, frame->code + python->layout.filename), file,
			 sizeof(file)))
		return false;
	/* From 3.12 on the list has what no program wrote. */
	if (!strncmp(function, "<interpreter", strlen("<interpreter")))
		return false;
	line = line_of(python, frame);
	demangle__clean(function);
	demangle__clean(file);
	function[DEMANGLE_NAME - 1] = '\0';
	if (line)
		snprintf(out, size, "%s (%s:%u)", function, file, line);
	else
		snprintf(out, size, "%s", function);
	return true;
}

/* Where the interpreter's first frame begins, in text. */
static char *interpreters(char *stack)
{
	for (char *frame = stack; frame; frame = strchr(frame, ';')) {
		char *end, *module;

		frame += *frame == ';';
		end = strchrnul(frame, ';');
		module = memmem(frame, (size_t)(end - frame), " [", 2);
		if (module &&
		    (!strncmp(module + 2, "python", 6) || !strncmp(module + 2, "libpython", 9)))
			return frame;
	}
	return stack + strlen(stack);
}

void pythons__join(struct pythons *pythons, pid_t pid, const struct ns_python_frame *frames,
		   size_t count, char *stack, size_t size)
{
	struct python *python = *place_of(pythons, pid);
	char frame[8 * NAME_MOST + 32], *from;
	size_t used;

	if (!python || python->pid != pid || !count)
		return;
	python->used = ++pythons->uses;
	from = interpreters(stack);
	used = (size_t)(from - stack);
	used -= used && stack[used - 1] == ';';
	stack[used] = '\0';
	for (size_t i = 0; i < count; i++) {
		if (!name_frame(python, &frames[i], frame, sizeof(frame))) {
			/* From 3.12 on the list has the interpreter's own entries too, which are no
			 * functions. */
			if (python->layout.minor >= 12)
				continue;
			strcpy(frame, "[python]");
		}
		if (used + strlen(frame) + 2 > size)
			break;
		used += sprintf(stack + used, "%s%s", used ? ";" : "", frame);
	}
}
