// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as an ELF file, for the lines and inlined functions at its addresses.
 * libFuzzer options: -max_len=65536 -malloc_limit_mb=1024 -rss_limit_mb=6144
 */
#include <string.h>

#include "tests/fuzz/elf_input.h"
#include "user/symbols/images/image_lines.h"

static void check(const struct image_line *line)
{
	if (!memchr(line->path, '\0', sizeof(line->path)))
		abort();
	if (line->function)
		(void)!strlen(line->function);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_names *names = read_elf(data, size);
	struct image_lines *lines = names ? image_lines__new(names) : NULL;
	struct image_line found[IMAGE_INLINED + 1];

	for (uint64_t at = 0; lines && at < size; at += 61) {
		uint64_t address = at;
		size_t count;

		if (!image_names__address(names, at, &address))
			continue;
		count = image_lines__find(lines, address, found);
		if (count > IMAGE_INLINED + 1)
			abort();
		for (size_t i = 0; i < count; i++)
			check(&found[i]);
	}
	image_lines__free(lines);
	image_names__free(names);
	return 0;
}
