// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Gives a program far more to read than any honest one has, and leaves it a program:
 *
 *   bulk symbols FILE COUNT    a symbol table of so many entries, which are a hole in the file
 *   bulk lines FILE COUNT      debug information of one unit, for all addresses, with so many
 * lines; packed, a thousandth of what it comes to
 *
 * FILE is a program for x86-64 or arm64; its own sections are forgotten.
 */
#include <dwarf.h>
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MOST_SECTIONS 8
#define PAGE          4096

static const char section_names[] =
	"\0.symtab\0.strtab\0.shstrtab\0.debug_info\0.debug_abbrev\0.debug_line\0";

struct made {
	int fd;
	uint64_t end; /* of the file so far */
	Elf64_Shdr sections[MOST_SECTIONS];
	unsigned count;
};

static void put(struct made *made, const void *bytes, size_t size)
{
	while (size) {
		ssize_t done = pwrite(made->fd, bytes, size, made->end);

		if (done <= 0)
			err(1, "write");
		bytes = (const char *)bytes + done;
		made->end += done;
		size -= done;
	}
}

static Elf64_Shdr *section(struct made *made, const char *name, uint32_t type)
{
	const char *at = memmem(section_names, sizeof(section_names), name, strlen(name) + 1);
	Elf64_Shdr *header = &made->sections[made->count++];

	made->end = (made->end + PAGE - 1) / PAGE * PAGE;
	*header = (Elf64_Shdr){.sh_name = at - section_names,
			       .sh_type = type,
			       .sh_offset = made->end,
			       .sh_addralign = 8};
	return header;
}

static void with_bytes(struct made *made, const char *name, uint32_t type, const void *bytes,
		       size_t size)
{
	section(made, name, type)->sh_size = size;
	put(made, bytes, size);
}

static void add_symbols(struct made *made, uint64_t count)
{
	Elf64_Shdr *table = section(made, ".symtab", SHT_SYMTAB);

	table->sh_size = count * sizeof(Elf64_Sym);
	table->sh_entsize = sizeof(Elf64_Sym);
	table->sh_link = made->count;
	table->sh_info = 1;
	made->end += table->sh_size;
	with_bytes(made, ".strtab", SHT_STRTAB, "\0name", 6);
}

/* A program of lines of which each byte is one: DW_LNS_copy. */
static void add_lines(struct made *made, uint64_t count)
{
	static const unsigned char abbreviations[] = {1,
						      DW_TAG_compile_unit,
						      DW_CHILDREN_no,
						      DW_AT_low_pc,
						      DW_FORM_addr,
						      DW_AT_high_pc,
						      DW_FORM_data8,
						      DW_AT_stmt_list,
						      DW_FORM_sec_offset,
						      0,
						      0,
						      0};
	struct __attribute__((packed)) {
		uint32_t length;
		uint16_t version;
		uint32_t abbreviations;
		uint8_t address_size, code;
		uint64_t low, size;
		uint32_t lines;
	} unit = {sizeof(unit) - 4, 4, 0, 8, 1, 1, 1ull << 47, 0};
	static const unsigned char head[] = {
		/* least instruction, operations, is statement, line base, range, first special */
		1, 1, 1, 1, 1, 13,
		/* operands of the standard ones */
		0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
		/* no folders, one file, DW_LNE_set_address 1 */
		0, 'a', 0, 0, 0, 0, 0, 0, 9, DW_LNE_set_address, 1, 0, 0, 0, 0, 0, 0, 0};
	static unsigned char chunk[1 << 20], packed[1 << 20];
	const uint32_t head_length = 6 + 12 + 1 + 5 + 1;
	const uint64_t whole = 4 + 2 + 4 + sizeof(head) + count;
	const Elf64_Chdr packing = {
		.ch_type = ELFCOMPRESS_ZLIB, .ch_size = whole, .ch_addralign = 1};
	struct __attribute__((packed)) {
		uint32_t length;
		uint16_t version;
		uint32_t head_length;
	} begin = {whole - 4, 4, head_length};
	z_stream stream = {0};
	Elf64_Shdr *table;

	with_bytes(made, ".debug_info", SHT_PROGBITS, &unit, sizeof(unit));
	with_bytes(made, ".debug_abbrev", SHT_PROGBITS, abbreviations, sizeof(abbreviations));
	table = section(made, ".debug_line", SHT_PROGBITS);
	table->sh_flags = SHF_COMPRESSED;
	put(made, &packing, sizeof(packing));
	deflateInit(&stream, 6);
	memcpy(chunk, &begin, sizeof(begin));
	memcpy(chunk + sizeof(begin), head, sizeof(head));
	stream.avail_in = sizeof(begin) + sizeof(head);
	for (uint64_t left = count;;) {
		stream.next_in = chunk;
		do {
			stream.next_out = packed;
			stream.avail_out = sizeof(packed);
			deflate(&stream, left ? Z_NO_FLUSH : Z_FINISH);
			put(made, packed, sizeof(packed) - stream.avail_out);
		} while (!stream.avail_out);
		if (!left)
			break;
		memset(chunk, DW_LNS_copy, sizeof(chunk));
		stream.avail_in = left < sizeof(chunk) ? left : sizeof(chunk);
		left -= stream.avail_in;
	}
	deflateEnd(&stream);
	table->sh_size = made->end - table->sh_offset;
}

int main(int argc, char **argv)
{
	struct made made = {.count = 1};
	Elf64_Ehdr header;
	uint64_t count;

	if (argc != 4)
		errx(64, "usage: bulk symbols|lines FILE COUNT");
	count = strtoull(argv[3], NULL, 10);
	made.fd = open(argv[2], O_RDWR);
	if (made.fd < 0 || pread(made.fd, &header, sizeof(header), 0) != sizeof(header))
		err(1, "%s", argv[2]);
	made.end = lseek(made.fd, 0, SEEK_END);
	if (!strcmp(argv[1], "symbols"))
		add_symbols(&made, count);
	else
		add_lines(&made, count);
	header.e_shstrndx = made.count;
	with_bytes(&made, ".shstrtab", SHT_STRTAB, section_names, sizeof(section_names));
	made.end = (made.end + PAGE - 1) / PAGE * PAGE;
	header.e_shoff = made.end;
	header.e_shnum = made.count;
	header.e_shentsize = sizeof(Elf64_Shdr);
	put(&made, made.sections, made.count * sizeof(Elf64_Shdr));
	if (pwrite(made.fd, &header, sizeof(header), 0) != sizeof(header))
		err(1, "write");
	return 0;
}
