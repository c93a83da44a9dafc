/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A process's virtual machine, and what it says of itself; for java/ alone. */
#ifndef NETSTALL_SYMBOLS_JAVA_JVM_H
#define NETSTALL_SYMBOLS_JAVA_JVM_H

#include "user/symbols/java/java.h"

/* A static field's value is its address, another's how far it lies in its object. */
enum jvm_field {
	JVM_VERSION,
	JVM_HEAPS, /* of code */
	JVM_LOW,   /* of all of them */
	JVM_HIGH,
	JVM_ARRAY_LEN,
	JVM_ARRAY_DATA,
	JVM_HEAP_MEMORY,
	JVM_HEAP_SEGMENTS,
	JVM_HEAP_LOG2,
	JVM_SPACE_LOW,
	JVM_SPACE_HIGH,
	JVM_BLOB_NAME,
	JVM_BLOB_FRAME, /* in words */
	JVM_BLOB_COMPLETE,
	JVM_METHOD, /* of compiled code */
	JVM_SCOPES_PCS,
	JVM_METHOD_CONST,
	JVM_CONST_POOL,
	JVM_CONST_FLAGS,
	JVM_CONST_CODE_SIZE,
	JVM_CONST_NAME,
	JVM_POOL_HOLDER,
	JVM_POOL_LENGTH,
	JVM_POOL_FILE,
	JVM_KLASS_NAME,
	JVM_SYMBOL_LENGTH,
	JVM_SYMBOL_BODY,
	JVM_NEEDED,
	/* One or the other, as versions have it. */
	JVM_CODE_BEGIN = JVM_NEEDED,
	JVM_CODE_OFFSET,
	JVM_SCOPES_BEGIN,
	JVM_SCOPES_OFFSET,
	JVM_DEPENDENCIES,
	JVM_METADATA,
	JVM_IMMUTABLE,
	JVM_MUTABLE,
	JVM_RELOCATION_SIZE,
	JVM_FIELDS,
};

enum jvm_type {
	JVM_HEAP_BLOCK,
	JVM_CONST_METHOD,
	JVM_CONSTANT_POOL,
	JVM_PC_DESC,
	JVM_TYPES,
};

#define JVM_NONE UINT64_MAX

struct jvm {
	pid_t pid;
	int memory;     /* /proc/PID/mem, as the process was then; -1: it runs none */
	uint64_t found; /* when that was found; of one that runs none, CLOCK_MONOTONIC in ns */
	uint64_t used;  /* when it was asked for last, by a count */
	uint32_t version;
	uint64_t low, high; /* of its code */
	uint64_t fields[JVM_FIELDS];
	uint64_t types[JVM_TYPES]; /* bytes */
};

/* A piece of code of its. */
struct jvm_blob {
	uint64_t at;
	uint64_t code, complete; /* where its code begins, and where that has made its frame */
	uint64_t frame;          /* bytes */
	char name[32];
};

uint64_t jvm__pointer(const struct jvm *jvm, uint64_t object, enum jvm_field field);
uint32_t jvm__number(const struct jvm *jvm, uint64_t object, enum jvm_field field);
unsigned jvm__half(const struct jvm *jvm, uint64_t object, enum jvm_field field);

/* What it says of itself. symbols: by enum jvm_symbol, addresses in the process. */
enum jvm_symbol {
	JVM_STRUCTS,
	JVM_STRUCT_STRIDE,
	JVM_STRUCT_TYPE,
	JVM_STRUCT_FIELD,
	JVM_STRUCT_OFFSET,
	JVM_STRUCT_ADDRESS,
	JVM_STRUCT_IS_STATIC,
	JVM_TYPES_TABLE,
	JVM_TYPE_STRIDE,
	JVM_TYPE_NAME,
	JVM_TYPE_SIZE,
	JVM_SYMBOLS,
};
extern const char *const jvm_symbols[JVM_SYMBOLS];
bool jvm__read_layout(struct jvm *jvm, const uint64_t symbols[JVM_SYMBOLS]);

/* To the end of out, ';' in front: the method by the bytecode at bci; -1: in no line. */
void jvm__add_method(const struct jvm *jvm, uint64_t method, int64_t bci, char *out, size_t size);
/* Likewise: those that the compiled code of a frame is of, inlined ones first. */
void jvm__add_compiled(const struct jvm *jvm, const struct jvm_blob *blob,
		       const struct java_frame *frame, char *out, size_t size);
/* The bytecode that interpreted code is at. */
int64_t jvm__bci(const struct jvm *jvm, uint64_t method, uint64_t bytecode);

#endif
