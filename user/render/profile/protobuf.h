/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * As much of the protocol buffers' encoding as a pprof profile needs
 * (protobuf.dev/programming-guides/encoding): varints, and fields that have a length.
 * A number that is 0 is not written: that is what its absence means.
 */
#ifndef NETSTALL_RENDER_PROFILE_PROTOBUF_H
#define NETSTALL_RENDER_PROFILE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct protobuf {
	unsigned char *bytes;
	size_t size;
	size_t room;
};

void protobuf__free(struct protobuf *buffer);
/* Empty again, its memory kept. */
void protobuf__clear(struct protobuf *buffer);

void protobuf__append(struct protobuf *buffer, const void *bytes, size_t size);
void protobuf__varint(struct protobuf *buffer, uint64_t value);
void protobuf__number(struct protobuf *buffer, unsigned field, uint64_t value);
/* Written even when they are empty, and so is a message within, or packed numbers. */
void protobuf__bytes(struct protobuf *buffer, unsigned field, const void *bytes, size_t size);
void protobuf__message(struct protobuf *buffer, unsigned field, const struct protobuf *message);

#endif
