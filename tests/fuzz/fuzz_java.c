// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as the memory of a process that runs a Java virtual machine: what it says of
 * itself, its pieces of code, methods, names and tables; and as the stack of a thread. What comes
 * of it must be frames that can be printed.
 *
 * libFuzzer options: -max_len=4096
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user/symbols/java/jvm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
};

static bool read_word(void *context, uint64_t at, uint64_t *out)
{
	const struct memory *memory = context;

	if (at > memory->size || memory->size - at < sizeof(*out))
		return false;
	memcpy(out, memory->data + at, sizeof(*out));
	return true;
}

/* Numbers in the bytes, near enough for pointers to hit them. */
static uint64_t number_at(struct memory *memory, size_t at)
{
	uint64_t word = 0;

	read_word(memory, at, &word);
	return word & 1 ? word : word % (memory->size + 1);
}

static void walk(struct jvm *jvm, struct memory *memory, bool is_leaf)
{
	struct java_frame frame = {.pc = number_at(memory, 0),
				   .sp = number_at(memory, 8),
				   .fp = number_at(memory, 16),
				   .bytecode = number_at(memory, 24),
				   .is_leaf = is_leaf};
	char stack[512] = "";
	uint64_t place;

	for (size_t i = 0; i < 8; i++)
		if (!jvm__step(jvm, &frame, read_word, memory, &place, stack, sizeof(stack)))
			break;
	for (const char *at = stack; *at; at++)
		if ((unsigned char)*at < ' ')
			abort();
}

/* By fields of a byte's size each: small numbers, as they are in the ones that there are. */
static void lay_out(struct jvm *jvm, const struct memory *memory, size_t from)
{
	for (size_t i = 0; i < JVM_FIELDS; i++) {
		uint8_t byte = from + i < memory->size ? memory->data[from + i] : 0;

		jvm->fields[i] = byte == 0xff && i >= JVM_NEEDED ? JVM_NONE : byte;
	}
	for (size_t i = 0; i < JVM_TYPES; i++)
		jvm->types[i] = 8 * (i + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = {data, size};
	struct jvm jvm = {.memory = memfd_create("fuzz", 0), .high = UINT64_MAX};
	uint64_t symbols[JVM_SYMBOLS];

	if (jvm.memory < 0 || write(jvm.memory, data, size) != (ssize_t)size)
		abort();
	for (size_t i = 0; i < JVM_SYMBOLS; i++)
		symbols[i] = number_at(&memory, 32 + 8 * i);
	if (jvm__read_layout(&jvm, symbols))
		walk(&jvm, &memory, false);
	lay_out(&jvm, &memory, 128);
	jvm.version = size ? data[0] & 31 : 0;
	walk(&jvm, &memory, false);
	walk(&jvm, &memory, true);
	close(jvm.memory);
	return 0;
}
