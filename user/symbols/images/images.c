// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/images.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/symbols/images/maps.h"
#include "user/symbols/own_machine.h"
#include "user/symbols/read_budget.h"

#define FRESH_NS 1000000000ull
#define AGAIN_NS 10000000ull /* generated code is in no module, however often one looks */

struct process {
	struct images *images;
	pid_t pid; /* 0: a free place */
	Dwfl *dwfl;
	bool attached; /* to the callbacks */
	uint64_t read_ns;
	uint64_t used;   /* by the count of uses */
	uint64_t mapped; /* bytes of its files */
};

struct images {
	struct file_broker *broker;
	const Dwfl_Thread_Callbacks *callbacks;
	void *argument; /* of these */
	uint64_t uses;
	Elf *machine; /* a file of this machine; NULL: none is at hand */
	struct process processes[IMAGES_PROCESSES];
};

struct images *images__new(struct file_broker *broker, const Dwfl_Thread_Callbacks *callbacks,
			   void *argument)
{
	struct images *images = xcalloc(1, sizeof(*images));

	images->broker = broker;
	images->callbacks = callbacks;
	images->argument = argument;
	return images;
}

static void forget(struct process *process)
{
	if (process->dwfl)
		dwfl_end(process->dwfl);
	memset(process, 0, sizeof(*process));
}

void images__free(struct images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < IMAGES_PROCESSES; i++)
		forget(&images->processes[i]);
	elf_end(images->machine);
	free(images);
}

/* The kernel maps the same code into every process of this machine's word size, into ours too. */
static Elf *own_vdso(void)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t size;

	if (!header || header->e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	/* The section headers come last. */
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	return elf_memory((char *)header, size);
}

/* What is read until another file is, or the question is answered. */
static bool may_read(struct process *process, int fd, const char *name)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return false;
	process->mapped += stat.st_size;
	return read_budget__enter(
		&(struct read_budget_subject){.device = stat.st_dev, .inode = stat.st_ino}, name,
		NULL);
}

/* libdwfl asks for the file of a module when the first address in it is looked at. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	struct process *process = *userdata;
	int fd;

	(void)module;
	(void)base;
	if (!strcmp(name, "[vdso]")) {
		*elf = own_vdso();
		return -1;
	}
	if (!process || name[0] != '/')
		return -1;
	fd = file_broker__open(process->images->broker, FILE_BROKER_IMAGE, process->pid, name);
	if (fd < 0)
		return -1;
	if (!may_read(process, fd, name)) {
		close(fd);
		return -1;
	}
	*file_name = strdup(name);
	return fd;
}

/* Symbols and call frame information of the file itself have to do. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	(void)found;
	return -1;
}

static const Dwfl_Callbacks callbacks_of_modules = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int give_process(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr start,
			void *process)
{
	(void)module;
	(void)name;
	(void)start;
	*userdata = process;
	return DWARF_CB_OK;
}

/* The kernel's own code in the process is no file, and not reported as one. */
static void report_vdso(Dwfl *dwfl, const char *text)
{
	const char *line = strstr(text, "[vdso]\n");
	unsigned long long start, end;

	while (line && line > text && line[-1] != '\n')
		line--;
	if (line && sscanf(line, "%llx-%llx", &start, &end) == 2)
		dwfl_report_module(dwfl, "[vdso]", start, end);
}

/* Modules that are still mapped where they were stay open. */
static bool report_maps(struct process *process)
{
	/* The whole text, so that a process that ends meanwhile is not taken for an empty one. */
	char *text = maps__read(process->images->broker, process->pid);
	FILE *file = text ? fmemopen(text, strlen(text), "r") : NULL;
	int err = -1;

	if (file) {
		dwfl_report_begin(process->dwfl);
		err = dwfl_linux_proc_maps_report(process->dwfl, file);
		report_vdso(process->dwfl, text);
		dwfl_report_end(process->dwfl, NULL, NULL);
		dwfl_getmodules(process->dwfl, give_process, process, 0);
		fclose(file);
	}
	free(text);
	process->read_ns = clock__now();
	return !err;
}

/* Programs of another machine, or of 32 bits on this one, have other registers. */
static bool is_of_this_machine(struct process *process)
{
	Elf64_Ehdr header;
	int fd =
		file_broker__open(process->images->broker, FILE_BROKER_PROGRAM, process->pid, NULL);
	ssize_t len;

	if (fd < 0)
		return true; /* not known: its modules will tell */
	len = pread(fd, &header, sizeof(header), 0);
	close(fd);
	return len == sizeof(header) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_machine == OWN_MACHINE;
}

/* The one of all that was used longest ago; but: not this one. */
static void make_room(struct images *images, const struct process *but)
{
	struct process *oldest = NULL;
	uint64_t mapped = 0;

	for (size_t i = 0; i < IMAGES_PROCESSES; i++) {
		struct process *process = &images->processes[i];

		mapped += process->mapped;
		if (process != but && process->mapped && (!oldest || process->used < oldest->used))
			oldest = process;
	}
	if (oldest && mapped > READ_BUDGET_MAPPED)
		forget(oldest);
}

static struct process *place_for(struct images *images, pid_t pid)
{
	struct process *oldest = &images->processes[0];

	for (size_t i = 0; i < IMAGES_PROCESSES; i++) {
		struct process *process = &images->processes[i];

		if (process->pid == pid)
			return process;
		if (process->used < oldest->used)
			oldest = process;
	}
	forget(oldest);
	oldest->images = images;
	oldest->pid = pid;
	return oldest;
}

static bool refresh(struct process *process, const char **why)
{
	if (!is_of_this_machine(process)) {
		*why = "a program of another machine type";
		return false;
	}
	if (!process->dwfl)
		process->dwfl = dwfl_begin(&callbacks_of_modules);
	if (!process->dwfl)
		return false;
	if (report_maps(process) || process->attached)
		return true; /* what was known of a process that ended serves on */
	*why = file_broker__is_gone(process->images->broker)
		       ? "netstall's helper that opens its files was ended"
		       : "the process was gone, or may not be looked at";
	return false;
}

Dwfl *images__of(struct images *images, pid_t pid, Dwarf_Addr pc, const char **why)
{
	struct process *process = place_for(images, pid);
	bool fresh = process->dwfl && clock__now() - process->read_ns < FRESH_NS &&
		     dwfl_addrmodule(process->dwfl, pc);

	*why = "its programs and libraries cannot be opened";
	process->used = ++images->uses;
	make_room(images, process);
	if (!fresh && !refresh(process, why)) {
		forget(process);
		return NULL;
	}
	/*
	 * Without a file libdwfl takes a module's word for the machine, and keeps a pointer into
	 * it: an exec would free it.
	 */
	if (!images->machine)
		images->machine = own_vdso();
	if (!process->attached)
		process->attached = dwfl_attach_state(process->dwfl, images->machine, pid,
						      images->callbacks, images->argument);
	if (process->attached)
		return process->dwfl;
	forget(process);
	return NULL;
}

bool images__look_again(struct images *images, pid_t pid, Dwarf_Addr pc)
{
	struct process *process = place_for(images, pid);

	if (!process->attached || dwfl_addrmodule(process->dwfl, pc) ||
	    clock__now() - process->read_ns < AGAIN_NS)
		return false;
	return report_maps(process) && dwfl_addrmodule(process->dwfl, pc);
}

static int open_file(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr start,
		     void *argument)
{
	GElf_Addr bias;

	(void)userdata;
	(void)name;
	(void)start;
	(void)argument;
	dwfl_module_getelf(module, &bias);
	return DWARF_CB_OK;
}

void images__note(struct images *images, pid_t pid)
{
	const char *why;
	Dwfl *dwfl = images__of(images, pid, 0, &why);

	if (dwfl)
		dwfl_getmodules(dwfl, open_file, NULL, 0);
}
