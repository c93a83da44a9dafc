// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as an ELF file (or one with a few of its bytes changed), for the names of
 * its functions. libFuzzer options: -max_len=65536 -malloc_limit_mb=1024 -rss_limit_mb=6144
 */
#include <string.h>

#include "tests/fuzz/elf_input.h"
#include "user/symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_names *names = read_elf(data, size);
	char text[DEMANGLE_NAME];

	for (uint64_t at = 0; names && at < size; at += 7) {
		uint64_t address = at, offset = 0;
		const char *name;
		int line;

		if (!image_names__address(names, at, &address))
			continue;
		name = image_names__find(names, address, &offset);
		if (name && offset > address)
			abort();
		image_names__go_line(names, address, text, sizeof(text), &line);
		if (name && strpbrk(demangle(name, text, sizeof(text)), ";\n"))
			abort();
	}
	image_names__free(names);
	return 0;
}
