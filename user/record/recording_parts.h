/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the writer and the reader of recordings share; for recording*.c alone. */
#ifndef NETSTALL_RECORD_RECORDING_PARTS_H
#define NETSTALL_RECORD_RECORDING_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a recording is little-endian"
#endif

#define RECORDING_MAGIC       0x4253544eu /* "NTSB" */
#define RECORDING_IDLE_TYPE   0xf001u     /* a head alone: nothing came until then */
#define RECORDING_RECORD_MOST 65536u

enum block_kind { BLOCK_ABOUT = 1, BLOCK_RECORDS = 2, BLOCK_END = 3 };

struct block {
	uint32_t magic;
	uint32_t kind;
	uint32_t stored; /* bytes that follow */
	uint32_t bytes;  /* these are, inflated */
	uint64_t records;
	uint32_t crc; /* of what follows, begun with that of the fields above */
	uint32_t pad;
};

_Static_assert(sizeof(struct block) == 32, "no padding");

static inline uint32_t block__checksum(const struct block *block, const void *stored)
{
	uLong crc = crc32(0, (const Bytef *)block, offsetof(struct block, crc));

	return (uint32_t)crc32(crc, stored, block->stored);
}

#endif
