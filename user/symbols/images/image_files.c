// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/image_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "user/base/xalloc.h"
#include "user/symbols/demangle.h"
#include "user/symbols/images/debug_file.h"
#include "user/symbols/images/image_lines.h"
#include "user/symbols/images/image_names.h"
#include "user/symbols/images/own_code.h"
#include "user/symbols/read_budget.h"

struct image_file {
	struct image_files *files;
	uint64_t number;
	uint64_t device, inode;
	char *path;
	char *called; /* image_files__called(); NULL: by its path */
	pid_t pid;    /* who has it mapped, for its debug file */
	size_t users;
	uint64_t used;     /* by the count of uses */
	uint64_t spent_ns; /* on reading it */
	int fd, debug_fd;  /* until it is read; -1 */
	bool tried_lines;
	struct image_names *names;
	struct image_lines *lines;
};

#define NAMES_KNOWN (1u << 16) /* a power of two */
#define MODULE_NAME 64

struct name_key {
	uint64_t file;    /* its number, not 0 */
	uint64_t address; /* offset in it */
	uint64_t style;
};

/* What an address was described as last; another one with the same hash takes its place. */
struct known_name {
	struct name_key key;
	char *text;
};

struct image_files {
	struct file_broker *broker;
	struct image_file *v[IMAGE_FILES];
	size_t count;
	size_t open;     /* not yet read */
	size_t symbols;  /* of those that are read */
	uint64_t mapped; /* bytes of these */
	uint64_t uses, numbers;
	uint64_t closed, refused;
	struct known_name names[NAMES_KNOWN];
};

struct image_files *image_files__new(struct file_broker *broker)
{
	struct image_files *files = xcalloc(1, sizeof(*files));

	files->broker = broker;
	return files;
}

/* ---- room ---- */

static void close_file(struct image_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
		file->files->open--;
	}
	if (file->debug_fd >= 0)
		close(file->debug_fd);
	if (file->names) {
		file->files->symbols -= image_names__count(file->names);
		file->files->mapped -= image_names__size(file->names);
	}
	image_lines__free(file->lines);
	image_names__free(file->names);
	file->fd = file->debug_fd = -1;
	file->names = NULL;
	file->lines = NULL;
	file->tried_lines = false;
}

static void drop(struct image_file *file)
{
	close_file(file);
	free(file->path);
	free(file->called);
	free(file);
}

void image_files__free(struct image_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++)
		drop(files->v[i]);
	for (size_t i = 0; i < NAMES_KNOWN; i++)
		free(files->names[i].text);
	free(files);
}

void image_file__put(struct image_file *file)
{
	if (file)
		file->users--; /* kept for the next one, as long as there is room */
}

void image_file__hold(struct image_file *file)
{
	file->users++;
}

/* Closes what was used longest ago of those that are open, or of those that are read. */
static void make_room(struct image_files *files, bool of_open, const struct image_file *but)
{
	struct image_file *oldest = NULL;

	for (size_t i = 0; i < files->count; i++) {
		struct image_file *file = files->v[i];

		if (file == but || (of_open ? file->fd < 0 : !file->names))
			continue;
		if (!oldest || file->used < oldest->used)
			oldest = file;
	}
	if (!oldest)
		return;
	close_file(oldest);
	files->closed++;
}

/* A place in the table: a new one, or that of a file that nobody maps any more. */
static struct image_file **place_in(struct image_files *files)
{
	struct image_file **oldest = NULL;

	if (files->count < IMAGE_FILES)
		return &files->v[files->count++];
	for (size_t i = 0; i < files->count; i++)
		if (!files->v[i]->users && (!oldest || files->v[i]->used < (*oldest)->used))
			oldest = &files->v[i];
	if (oldest)
		drop(*oldest);
	else
		files->refused++;
	return oldest;
}

/* ---- opening ---- */

static bool is_behind(int fd, const struct maps_line *line)
{
	struct stat stat;

	return fd >= 0 && !fstat(fd, &stat) && stat.st_ino == line->inode &&
	       ((uint64_t)major(stat.st_dev) << 32 | minor(stat.st_dev)) == line->device;
}

/* By its name; when another file has it by now, by the mapping. Some file systems number their
 * files otherwise in maps: then the name has to do. */
static int open_mapped(struct file_broker *broker, pid_t pid, const struct maps_line *line)
{
	int by_name = file_broker__open(broker, FILE_BROKER_IMAGE, pid, line->path), mapped;

	if (is_behind(by_name, line))
		return by_name;
	mapped = file_broker__open_mapped(broker, pid, line->start, line->end);
	if (mapped < 0)
		return by_name;
	if (by_name >= 0)
		close(by_name);
	return mapped;
}

static bool enter(const struct image_file *file)
{
	const struct read_budget_subject subject = {.device = file->device, .inode = file->inode};

	return read_budget__enter(&subject, file->path, &file->spent_ns);
}

static void open_file(struct image_files *files, struct image_file *file, pid_t pid,
		      const struct maps_line *line)
{
	if (!enter(file))
		return;
	while (files->open >= IMAGE_FILES_OPEN)
		make_room(files, true, file);
	file->pid = pid;
	if (!line->inode) {
		file->fd = debug_file__vdso(line->end - line->start);
	} else {
		file->fd = open_mapped(files->broker, pid, line);
		if (file->fd >= 0)
			file->debug_fd = debug_file__open(files->broker, pid, line->path, file->fd);
	}
	if (file->fd < 0)
		file->fd = -1;
	else
		files->open++;
	read_budget__leave(&file->spent_ns);
}

/* Of PID's first thread; "": it is gone. */
static void read_comm(pid_t pid, char *comm, int size)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(comm, size, file))
		comm[0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	if (file)
		fclose(file);
}

char *image_files__called(struct image_files *files, pid_t pid, const struct maps_line *line)
{
	const char *slash = strrchr(line->path, '/');
	struct stat other = {0};
	char comm[32], *path;
	int fd;

	if (!slash || !line->inode)
		return NULL;
	read_comm(pid, comm, sizeof(comm));
	if (!comm[0] || strchr(comm, '/') || !strncmp(slash + 1, comm, strlen(comm)))
		return NULL;
	path = xasprintf("%.*s%s", (int)(slash + 1 - line->path), line->path, comm);
	fd = file_broker__open(files->broker, FILE_BROKER_FILE, pid, path);
	free(path);
	if (fd < 0)
		return NULL;
	/* Its device is another one in maps, where file systems lie over each other. */
	if (fstat(fd, &other))
		other.st_ino = 0;
	close(fd);
	return other.st_ino == line->inode ? xstrdup(comm) : NULL;
}

static bool is_called(const struct image_file *file, const char *called)
{
	return called ? file->called && !strcmp(file->called, called) : !file->called;
}

struct image_file *image_files__get(struct image_files *files, pid_t pid,
				    const struct maps_line *line, const char *called)
{
	struct image_file *file = NULL, **place;

	if (line->path[0] != '/' && strcmp(line->path, "[vdso]"))
		return NULL;
	for (size_t i = 0; i < files->count && !file; i++)
		if (files->v[i]->inode == line->inode && files->v[i]->device == line->device &&
		    !strcmp(files->v[i]->path, line->path) && is_called(files->v[i], called))
			file = files->v[i];
	if (!file) {
		place = place_in(files);
		if (!place)
			return NULL;
		file = *place = xcalloc(1, sizeof(*file));
		*file = (struct image_file){.files = files,
					    .number = ++files->numbers,
					    .device = line->device,
					    .inode = line->inode,
					    .path = xstrdup(line->path),
					    .called = called ? xstrdup(called) : NULL,
					    .fd = -1,
					    .debug_fd = -1};
	}
	file->used = ++files->uses;
	if (file->fd < 0 && !file->names)
		open_file(files, file, pid, line);
	file->users++;
	return file;
}

/* ---- reading ---- */

/* What debug files share with one another lies where the distribution puts it. */
static int open_shared(void *context, const char *path)
{
	const struct image_file *file = context;
	int fd = file_broker__open(file->files->broker, FILE_BROKER_FILE, file->pid, path);

	return fd < 0 ? file_broker__open(file->files->broker, FILE_BROKER_FILE, 0, path) : fd;
}

static void read_names(struct image_files *files, struct image_file *file)
{
	int fd = file->fd, debug_fd = file->debug_fd;

	if (fd < 0)
		return;
	file->fd = file->debug_fd = -1;
	files->open--;
	file->names = image_names__new(fd, debug_fd, open_shared, file);
	if (!file->names)
		return;
	files->refused += image_names__refused(file->names);
	files->symbols += image_names__count(file->names);
	files->mapped += image_names__size(file->names);
	while ((files->symbols > IMAGE_FILES_READ || files->mapped > READ_BUDGET_MAPPED) &&
	       files->mapped != image_names__size(file->names))
		make_room(files, false, file);
}

/* ---- text ---- */

static void add_place(char *out, size_t size, const struct image_line *line, unsigned style)
{
	size_t used = strlen(out);
	const char *path = line->path, *slash = strrchr(path, '/');

	if (!path[0] || line->line <= 0)
		return;
	if (style & SYMBOLS_SHORT && slash)
		path = slash + 1;
	snprintf(out + used, size - used, " (%s:%d)", path, line->line);
	demangle__clean(out + used);
}

static const char *name_of(const struct image_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return file->called ? file->called : slash ? slash + 1 : file->path;
}

static void write_nameless(const struct image_file *file, uint64_t address, unsigned style,
			   char *out, size_t size)
{
	char clean[DEMANGLE_NAME];

	if (!file->names && maps__is_memory(file->path)) {
		snprintf(out, size, "[jit]");
		return;
	}
	/* "[vdso]" has its brackets already. */
	demangle(name_of(file), clean, sizeof(clean));
	if (style & SYMBOLS_OFFSETS)
		snprintf(out, size, clean[0] == '[' ? "%s+0x%llx" : "[%s]+0x%llx", clean,
			 (unsigned long long)address);
	else
		snprintf(out, size, clean[0] == '[' ? "%s" : "[%s]", clean);
}

static void add_module(char *out, size_t size, const struct image_file *file, unsigned style)
{
	char clean[MODULE_NAME];
	size_t used = strlen(out);

	if (!(style & SYMBOLS_MODULES) || own_code__is(file->path))
		return;
	demangle(name_of(file), clean, sizeof(clean));
	snprintf(out + used, size - used, clean[0] == '[' ? " %s" : " [%s]", clean);
}

/* What stands in the symbol table; false: nothing does. */
static bool write_function(const struct image_file *file, uint64_t address, bool returns,
			   const char *other, unsigned style, char *out, size_t size)
{
	uint64_t offset = 0;
	const char *name = image_names__find(file->names, address, &offset);

	if (name && style & SYMBOLS_OFFSETS)
		demangle__at(name, offset + returns, out, size);
	else if (name || other)
		demangle(name ? name : other, out, size < DEMANGLE_NAME ? size : DEMANGLE_NAME);
	return name || other;
}

static size_t find_lines(struct image_file *file, uint64_t address, unsigned style,
			 struct image_line lines[IMAGE_INLINED + 1])
{
	bool wanted = style & SYMBOLS_LINES && read_budget__lines();
	size_t count = 0;

	if (wanted && !file->tried_lines) {
		file->tried_lines = true;
		file->lines = image_lines__new(file->names);
	}
	if (wanted && file->lines)
		count = image_lines__find(file->lines, address, lines);
	if (count)
		return count;
	memset(lines, 0, sizeof(*lines));
	if (style & SYMBOLS_LINES && !file->lines)
		image_names__go_line(file->names, address, lines->path, sizeof(lines->path),
				     &lines->line);
	return 1;
}

/* Returns false when there is no name for it. address: of the call, when returns. */
static bool write_frames(struct image_file *file, uint64_t address, bool returns, unsigned style,
			 char *out, size_t size)
{
	struct image_line lines[IMAGE_INLINED + 1];
	size_t count = find_lines(file, address, style, lines), used = 0, i;
	char frame[DEMANGLE_NAME + sizeof(lines->path) + MODULE_NAME + 64];
	bool named = true;

	for (i = 0; i < count && named; i++) {
		if (i + 1 < count)
			demangle(lines[i].function ? lines[i].function : "?", frame, DEMANGLE_NAME);
		else
			named = write_function(file, address, returns, lines[i].function, style,
					       frame, sizeof(frame));
		if (!named)
			write_nameless(file, address + returns, style, frame, sizeof(frame));
		add_place(frame, sizeof(frame), &lines[i], style);
		add_module(frame, sizeof(frame), file, style);
		if (used + strlen(frame) + 2 > size)
			break;
		used += sprintf(out + used, "%s%s", i ? ";" : "", frame);
	}
	return named;
}

static struct known_name *known_name_of(struct image_files *files, const struct name_key *key)
{
	uint64_t hash = (key->file * 31 + key->style) * 0x9e3779b97f4a7c15ull ^ key->address;

	return &files->names[(hash * 0x9e3779b97f4a7c15ull) >> 40 & (NAMES_KNOWN - 1)];
}

void image_file__describe(struct image_files *files, struct image_file *file, uint64_t offset,
			  bool returns, unsigned style, char *out, size_t size,
			  struct symbols_counts *counts)
{
	const struct name_key key = {
		.file = file->number, .address = offset, .style = style | (uint64_t)returns << 32};
	struct known_name *known = known_name_of(files, &key);
	uint64_t address = offset;
	bool named, entered;

	file->used = ++files->uses;
	counts->frames++;
	if (!memcmp(&known->key, &key, sizeof(key))) {
		snprintf(out, size, "%s", known->text);
		counts->nameless += known->text[0] == '[';
		return;
	}
	entered = enter(file);
	if (entered)
		read_names(files, file);
	out[0] = '\0';
	if (!file->names || !image_names__address(file->names, offset - returns, &address)) {
		write_nameless(file, address, style, out, size);
		add_module(out, size, file, style);
		counts->nameless++; /* it may be opened again */
	} else {
		named = write_frames(file, address, returns,
				     entered ? style : style & ~SYMBOLS_LINES, out, size);
		counts->nameless += !named;
		free(known->text);
		*known = (struct known_name){key, xstrdup(out)};
	}
	if (entered)
		read_budget__leave(&file->spent_ns);
}

void image_files__counts(const struct image_files *files, struct symbols_counts *counts)
{
	counts->files += files->closed;
	counts->symbols += files->refused;
}
