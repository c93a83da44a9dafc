// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/profile/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

enum wire_type { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

void protobuf__free(struct protobuf *buffer)
{
	free(buffer->bytes);
	*buffer = (struct protobuf){0};
}

void protobuf__clear(struct protobuf *buffer)
{
	buffer->size = 0;
}

void protobuf__append(struct protobuf *buffer, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	if (buffer->room - buffer->size < size) {
		buffer->room = 2 * buffer->room + size + 64;
		buffer->bytes = xreallocarray(buffer->bytes, buffer->room, 1);
	}
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

void protobuf__varint(struct protobuf *buffer, uint64_t value)
{
	unsigned char bytes[10];
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[size++] = (unsigned char)(value | 0x80);
	bytes[size++] = (unsigned char)value;
	protobuf__append(buffer, bytes, size);
}

void protobuf__number(struct protobuf *buffer, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	protobuf__varint(buffer, field << 3 | WIRE_VARINT);
	protobuf__varint(buffer, value);
}

void protobuf__bytes(struct protobuf *buffer, unsigned field, const void *bytes, size_t size)
{
	protobuf__varint(buffer, field << 3 | WIRE_LENGTH);
	protobuf__varint(buffer, size);
	protobuf__append(buffer, bytes, size);
}

void protobuf__message(struct protobuf *buffer, unsigned field, const struct protobuf *message)
{
	protobuf__bytes(buffer, field, message->bytes, message->size);
}
