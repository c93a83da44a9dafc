/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Blocks of a recording, with whatever in them: as the format says, not as its writer would. */
#ifndef NETSTALL_TESTS_BLOCKS_H
#define NETSTALL_TESTS_BLOCKS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK_ABOUT = 1, BLOCK_RECORDS = 2, BLOCK_END = 3 };

static inline void put_block(FILE *out, uint32_t kind, const void *bytes, size_t len,
			     uint64_t records)
{
	uLongf stored = compressBound(len);
	unsigned char *deflated = malloc(stored);
	uint32_t words[8] = {
		0x4253544e, kind, 0, (uint32_t)len, (uint32_t)records, (uint32_t)(records >> 32)};

	compress2(deflated, &stored, bytes, len, 6);
	words[2] = (uint32_t)stored;
	words[6] = (uint32_t)crc32(crc32(0, (const Bytef *)words, 24), deflated, (uInt)stored);
	fwrite(words, sizeof(words), 1, out);
	fwrite(deflated, 1, stored, out);
	free(deflated);
}

#endif
