// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/debug_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "user/symbols/read_budget.h"

#define BUILD_ID_MOST 64

/* What the file says of its debug file. */
struct wanted {
	bool needed;
	unsigned char build_id[BUILD_ID_MOST];
	size_t build_id_len;
	char link[NAME_MAX + 1];
	GElf_Word crc;
};

static bool has_debug_info(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while (read_budget__take(sizeof(header)) && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			return header.sh_type != SHT_NOBITS;
	}
	return false;
}

static void read_wanted(int fd, struct wanted *wanted)
{
	const void *id;
	const char *link;
	ssize_t len;
	Elf *elf;

	memset(wanted, 0, sizeof(*wanted));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return;
	wanted->needed = !has_debug_info(elf);
	len = dwelf_elf_gnu_build_id(elf, &id);
	if (len > 1 && len <= BUILD_ID_MOST) {
		memcpy(wanted->build_id, id, len);
		wanted->build_id_len = len;
	}
	link = dwelf_elf_gnu_debuglink(elf, &wanted->crc);
	if (link && *link && !strchr(link, '/') && strcmp(link, "..") && strlen(link) <= NAME_MAX)
		strcpy(wanted->link, link);
	elf_end(elf);
}

static bool has_checksum(int fd, GElf_Word wanted)
{
	static unsigned char chunk[1 << 16];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, chunk, sizeof(chunk), at)) > 0 && read_budget__take(got)) {
		crc = crc32(crc, chunk, got);
		at += got;
	}
	return !got && crc == wanted;
}

static bool is_it(int fd, const struct wanted *wanted)
{
	struct wanted has;

	if (!wanted->build_id_len)
		return has_checksum(fd, wanted->crc);
	read_wanted(fd, &has);
	return has.build_id_len == wanted->build_id_len &&
	       !memcmp(has.build_id, wanted->build_id, has.build_id_len);
}

static int try_path(struct file_broker *broker, pid_t root, const char *path,
		    const struct wanted *wanted)
{
	int fd = file_broker__open(broker, FILE_BROKER_FILE, root, path);

	if (fd < 0)
		return fd;
	if (is_it(fd, wanted))
		return fd;
	close(fd);
	return -ENOENT;
}

static int try_build_id(struct file_broker *broker, pid_t root, const struct wanted *wanted)
{
	char path[64 + 2 * BUILD_ID_MOST];
	size_t used =
		snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", wanted->build_id[0]);

	if (!wanted->build_id_len)
		return -ENOENT;
	for (size_t i = 1; i < wanted->build_id_len; i++)
		used += snprintf(path + used, sizeof(path) - used, "%02x", wanted->build_id[i]);
	snprintf(path + used, sizeof(path) - used, ".debug");
	return try_path(broker, root, path, wanted);
}

static int try_link(struct file_broker *broker, pid_t root, const char *path,
		    const struct wanted *wanted)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	const char *end = strrchr(path, '/');
	char candidate[PATH_MAX];

	if (!wanted->link[0] || path[0] != '/' || !end)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		int fd;

		snprintf(candidate, sizeof(candidate), forms[i], (int)(end - path), path,
			 wanted->link);
		fd = strcmp(candidate, path) ? try_path(broker, root, candidate, wanted) : -ENOENT;
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int debug_file__open(struct file_broker *broker, pid_t pid, const char *path, int fd)
{
	const pid_t roots[] = {pid, 0};
	struct wanted wanted;
	int found = -ENOENT;

	read_wanted(fd, &wanted);
	for (int i = 0; i < 2 && wanted.needed && found < 0; i++) {
		found = try_build_id(broker, roots[i], &wanted);
		if (found < 0)
			found = try_link(broker, roots[i], path, &wanted);
	}
	return found < 0 ? -ENOENT : found;
}

/* Up to the end of its section headers, which stand last. */
static size_t size_of_vdso(const Elf64_Ehdr *vdso)
{
	return vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize;
}

int debug_file__vdso(size_t size)
{
	const Elf64_Ehdr *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t own, page = sysconf(_SC_PAGESIZE);
	int fd;

	if (!vdso || vdso->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	own = size_of_vdso(vdso);
	if ((own + page - 1) / page * page != size)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, vdso, own) == (ssize_t)own)
		return fd;
	close(fd);
	return -EIO;
}
