/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the fuzzers of ELF files share. */
#ifndef NETSTALL_TESTS_FUZZ_ELF_INPUT_H
#define NETSTALL_TESTS_FUZZ_ELF_INPUT_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user/symbols/images/image_names.h"
#include "user/symbols/read_budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/*
 * libelf and libdw ask for as much memory as a file says: here as where they run (RLIMIT_AS of
 * resolver_process.c) they do not get it, which is no finding.
 */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

/* NULL: it is none. The budget is that of one question. */
static inline struct image_names *read_elf(const uint8_t *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (write(fd, data, size) != (ssize_t)size)
		abort();
	read_budget__begin();
	return image_names__new(fd, -1, NULL, NULL);
}

#endif
