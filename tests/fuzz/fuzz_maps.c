// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any two texts, with a NUL between, as what a process has mapped at two moments. Every
 * mapping must be found by its addresses, and none beside them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/symbols/images/image_files.h"
#include "user/symbols/images/mapped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void check(const struct mapped *mapped, uint64_t pc)
{
	const struct mapping *mapping = mapped__find(mapped, pc);

	if (!mapping)
		return;
	must(mapping->start <= pc && pc < mapping->end);
	must(mapping->file || mapping->generated || !strcmp(mapping->name, "[vsyscall]"));
	must(memchr(mapping->name, '\0', sizeof(mapping->name)));
}

static void look(struct mapped *mapped, struct image_files *files, const char *text)
{
	char *copy = strdup(text), *at = copy;
	struct maps_line line;

	mapped__look(mapped, files, 1, copy);
	strcpy(copy, text);
	while (maps__next(&at, &line)) {
		must(line.start < line.end);
		check(mapped, line.start);
		check(mapped, line.end - 1);
		check(mapped, line.end);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image_files *files; /* of all inputs: it has large tables */
	struct mapped *mapped = mapped__new(), *copy;
	char *text = calloc(size + 2, 1);

	if (!files)
		files = image_files__new(NULL);
	if (size)
		memcpy(text, data, size);
	look(mapped, files, text);
	copy = mapped__copy(mapped);
	look(mapped, files, text + strlen(text) + 1);
	mapped__has_generated(copy);
	mapped__free(copy);
	mapped__free(mapped);
	free(text);
	return 0;
}
