// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as the names of generated code, half of which are written later. What is
 * found must be a name at this address.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user/symbols/demangle.h"
#include "user/symbols/perfmap.h"
#include "user/symbols/read_budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct perfmap *perfmap, uint64_t pc)
{
	char text[DEMANGLE_NAME];
	uint64_t offset = 0;
	const char *name = perfmap__find(perfmap, pc, &offset);

	if (!name)
		return;
	if (!*name || offset > pc)
		abort();
	demangle(name, text, sizeof(text));
	if (strpbrk(text, ";\n"))
		abort();
}

static void append(int fd, const uint8_t *data, size_t size)
{
	if (size && write(fd, data, size) != (ssize_t)size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perfmap", MFD_CLOEXEC);
	struct perfmap *perfmap;

	read_budget__begin();
	append(fd, data, size / 2);
	perfmap = perfmap__new(dup(fd));
	append(fd, data + size / 2, size - size / 2);
	perfmap__refresh(perfmap);
	for (size_t i = 0; i + 1 < size; i++) {
		uint64_t pc = strtoull((char[]){data[i], data[i + 1], '\0'}, NULL, 16);

		look(perfmap, pc);
		look(perfmap, pc << 8);
	}
	look(perfmap, UINT64_MAX);
	perfmap__free(perfmap);
	close(fd);
	return 0;
}
