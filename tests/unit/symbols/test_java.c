// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Frames of a small Java virtual machine that is made here: its code, methods and tables. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "user/symbols/java/jvm.h"

/* Where things are in its memory. */
enum {
	HEAPS_AT = 0x08, /* the static field */
	ARRAY = 0x100,
	HEAP = 0x140,
	SEGMENTS = 0x180,
	NAMES_AT = 0x200,
	KLASS = 0x300,
	POOL = 0x340,
	METHODS = 0x400, /* two, of 0x80 bytes with all that belongs to them */
	STACK = 0x600,
	CODE = 0x1000, /* pieces of 0x200 bytes, segments of 0x40 */
	COMPILED = CODE,
	INTERPRETER = CODE + 0x200,
	STUBS = CODE + 0x400,
	SIZE = 0x2000,
	BLOCK = 0x10,   /* a piece's head */
	RETURN = 0x120, /* of the compiled piece, where its call returns to; */
	PCS = 0x80,     /* and its tables */
	SCOPES = 0xc0,
	METADATA = 0xe0,
};

struct made {
	unsigned char bytes[SIZE];
	struct jvm jvm;
};

static void put(struct made *made, uint64_t at, uint64_t value, size_t size)
{
	memcpy(made->bytes + at, &value, size);
}

static void lay_out(struct jvm *jvm)
{
	static const uint64_t fields[JVM_FIELDS] = {
		[JVM_HEAPS] = HEAPS_AT,
		[JVM_ARRAY_LEN] = 0,
		[JVM_ARRAY_DATA] = 8,
		[JVM_HEAP_MEMORY] = 0,
		[JVM_HEAP_SEGMENTS] = 16,
		[JVM_HEAP_LOG2] = 32,
		[JVM_SPACE_LOW] = 0,
		[JVM_SPACE_HIGH] = 8,
		[JVM_BLOB_NAME] = 0,
		[JVM_BLOB_FRAME] = 8,
		[JVM_BLOB_COMPLETE] = 12,
		[JVM_CODE_BEGIN] = 16,
		[JVM_METHOD] = 24,
		[JVM_SCOPES_PCS] = 32,
		[JVM_DEPENDENCIES] = 36,
		[JVM_METADATA] = 40,
		[JVM_SCOPES_BEGIN] = 48,
		[JVM_METHOD_CONST] = 8,
		[JVM_CONST_POOL] = 0,
		[JVM_CONST_FLAGS] = 8,
		[JVM_CONST_CODE_SIZE] = 10,
		[JVM_CONST_NAME] = 12,
		[JVM_POOL_HOLDER] = 0,
		[JVM_POOL_LENGTH] = 8,
		[JVM_POOL_FILE] = 12,
		[JVM_KLASS_NAME] = 0,
		[JVM_SYMBOL_LENGTH] = 0,
		[JVM_SYMBOL_BODY] = 2,
		[JVM_CODE_OFFSET] = JVM_NONE,
		[JVM_SCOPES_OFFSET] = JVM_NONE,
		[JVM_IMMUTABLE] = JVM_NONE,
		[JVM_MUTABLE] = JVM_NONE,
		[JVM_RELOCATION_SIZE] = JVM_NONE,
	};

	memcpy(jvm->fields, fields, sizeof(fields));
	jvm->types[JVM_HEAP_BLOCK] = BLOCK;
	jvm->types[JVM_CONST_METHOD] = 16;
	jvm->types[JVM_CONSTANT_POOL] = 16;
	jvm->types[JVM_PC_DESC] = 16;
	jvm->low = CODE;
	jvm->high = CODE + 0x600;
}

/* Symbols by number; 0 is none. */
static uint64_t symbol(struct made *made, unsigned number, const char *text)
{
	uint64_t at = NAMES_AT + 0x20 * number;

	put(made, at, strlen(text), 2);
	memcpy(made->bytes + at + 2, text, strlen(text));
	put(made, POOL + 16 + 8 * number, at, 8);
	return at;
}

static uint64_t method(unsigned number)
{
	return METHODS + 0x80 * number;
}

/* Its bytecodes are ten: 0 to 4 in a line, the others two lines on. */
static void make_method(struct made *made, unsigned number, unsigned name, unsigned line)
{
	uint64_t at = method(number), constant = at + 0x10;
	unsigned excluded = made->jvm.version >= 20;
	const unsigned char lines[] = {0xff, (unsigned char)excluded,
				       (unsigned char)(2 * line + excluded), 5 << 3 | 2, 0};

	put(made, at + 8, constant, 8);
	put(made, constant, POOL, 8);
	put(made, constant + 8, 1, 2);
	put(made, constant + 10, 10, 2);
	put(made, constant + 12, name, 2);
	memcpy(made->bytes + constant + 16 + 10, lines, sizeof(lines));
}

static void make_piece(struct made *made, uint64_t at, const char *name)
{
	uint64_t blob = at + BLOCK, text = blob + 0x40;

	strcpy((char *)made->bytes + text, name);
	put(made, blob, text, 8);
	put(made, blob + 8, 4, 4);
	put(made, blob + 12, 8, 2);
	put(made, blob + 16, at + 0x100, 8);
	for (size_t i = 0; i < 8; i++)
		made->bytes[SEGMENTS + (at - CODE) / 0x40 + i] = (unsigned char)i;
}

/* inner() is inlined in outer(), and its bytecode 6 calls; where outer() is at its 1. */
static void make_tables(struct made *made)
{
	uint64_t blob = COMPILED + BLOCK;
	unsigned excluded = made->jvm.version >= 20;
	const unsigned char outer[] = {0, 2, 1 + 1}, inner[] = {1, 1, 6 + 1};

	put(made, blob + 24, method(1), 8);
	put(made, blob + 32, PCS, 4);
	put(made, blob + 36, PCS + 3 * 16, 4);
	put(made, blob + 40, METADATA, 4);
	put(made, blob + 48, blob + SCOPES, 8);
	put(made, blob + PCS, UINT32_MAX, 4);
	put(made, blob + PCS + 16, RETURN - 0x100, 4);
	put(made, blob + PCS + 16 + 4, 5, 4);
	put(made, blob + PCS + 32, INT32_MAX, 4);
	for (size_t i = 0; i < 3; i++) {
		made->bytes[blob + SCOPES + 1 + i] = (unsigned char)(outer[i] + excluded);
		made->bytes[blob + SCOPES + 5 + i] = (unsigned char)(inner[i] + excluded);
	}
	put(made, blob + METADATA, method(0), 8);
	put(made, blob + METADATA + 8, method(1), 8);
}

static void make(struct made *made, uint32_t version)
{
	memset(made, 0, sizeof(*made));
	lay_out(&made->jvm);
	made->jvm.version = version;
	put(made, HEAPS_AT, ARRAY, 8);
	put(made, ARRAY, 1, 4);
	put(made, ARRAY + 8, ARRAY + 16, 8);
	put(made, ARRAY + 16, HEAP, 8);
	put(made, HEAP, CODE, 8);
	put(made, HEAP + 8, CODE + 0x600, 8);
	put(made, HEAP + 16, SEGMENTS, 8);
	put(made, HEAP + 32, 6, 4);
	put(made, KLASS, symbol(made, 1, "a/b/Server"), 8);
	symbol(made, 2, "inner");
	symbol(made, 3, "outer");
	symbol(made, 4, "Server.java");
	put(made, POOL, KLASS, 8);
	put(made, POOL + 8, 5, 4);
	put(made, POOL + 12, 4, 2);
	make_method(made, 0, 2, 10);
	make_method(made, 1, 3, 40);
	make_piece(made, COMPILED, "nmethod");
	make_piece(made, INTERPRETER, "Interpreter");
	make_piece(made, STUBS, "StubRoutines (initial stubs)");
	make_tables(made);
	made->jvm.memory = memfd_create("jvm", 0);
}

static void finish(struct made *made)
{
	assert_int_equal(pwrite(made->jvm.memory, made->bytes, SIZE, 0), SIZE);
}

static bool word(void *context, uint64_t at, uint64_t *out)
{
	struct made *made = context;

	if (at < STACK || at > STACK + 0x100)
		return false;
	memcpy(out, made->bytes + at, sizeof(*out));
	return true;
}

static bool step(struct made *made, struct java_frame *frame, char out[256])
{
	uint64_t place;

	out[0] = '\0';
	return jvm__step(&made->jvm, frame, word, made, &place, out, 256);
}

static void compiled_frames_have_the_methods_that_are_inlined(void **state)
{
	char text[256];

	(void)state;
	for (uint32_t version = 17; version <= 21; version += 4) {
		struct java_frame frame = {.pc = COMPILED + RETURN, .sp = STACK};
		struct made made;

		make(&made, version);
		put(&made, STACK + 16, 0x1234, 8);
		put(&made, STACK + 24, STUBS + 0x110, 8);
		finish(&made);
		assert_true(jvm__has_code(&made.jvm, frame.pc));
		assert_true(step(&made, &frame, text));
		assert_string_equal(
			text,
			";a.b.Server.inner (Server.java:12);a.b.Server.outer (Server.java:40)");
		assert_int_equal(frame.pc, STUBS + 0x110);
		assert_int_equal(frame.sp, STACK + 32);
		assert_int_equal(frame.fp, 0x1234);
		/* The virtual machine began it. */
		assert_false(step(&made, &frame, text));
		assert_int_equal(frame.pc, 0);
		assert_string_equal(text, "");
		close(made.jvm.memory);
	}
}

static void another_place_in_the_code_says_the_method_alone(void **state)
{
	struct java_frame frame = {.pc = COMPILED + RETURN + 1, .sp = STACK};
	struct made made;
	char text[256];

	(void)state;
	make(&made, 17);
	finish(&made);
	step(&made, &frame, text);
	assert_string_equal(text, ";a.b.Server.outer");
	/* A thread that stands there: the next call's. */
	frame = (struct java_frame){.pc = COMPILED + RETURN - 1, .sp = STACK, .is_leaf = true};
	step(&made, &frame, text);
	assert_string_equal(text,
			    ";a.b.Server.inner (Server.java:12);a.b.Server.outer (Server.java:40)");
	/* Its frame is not made yet: who called is not known. */
	frame = (struct java_frame){.pc = COMPILED + 0x104, .sp = STACK, .is_leaf = true};
	assert_false(step(&made, &frame, text));
	close(made.jvm.memory);
}

static void interpreted_frames_have_their_bytecode(void **state)
{
	struct java_frame frame = {.pc = INTERPRETER + 0x120, .sp = STACK, .fp = STACK + 0x80};
	uint64_t bytecodes = method(0) + 0x10 + 16;
	struct made made;
	char text[256];

	(void)state;
	make(&made, 17);
	put(&made, STACK + 0x80, STACK + 0xf0, 8);
	put(&made, STACK + 0x80 + 8, COMPILED + RETURN, 8);
	put(&made, STACK + 0x80 - 8, STACK + 0x90, 8);
	put(&made, STACK + 0x80 - 24, method(0), 8);
	put(&made, STACK + 0x80 - 64, bytecodes + 4, 8);
	finish(&made);
	assert_true(step(&made, &frame, text));
	assert_string_equal(text, ";a.b.Server.inner (Server.java:10)");
	assert_int_equal(frame.pc, COMPILED + RETURN);
	assert_int_equal(frame.sp, STACK + 0x90);
	assert_int_equal(frame.fp, STACK + 0xf0);
	/* No bytecode of this method. */
	put(&made, STACK + 0x80 - 64, bytecodes + 10, 8);
	frame = (struct java_frame){.pc = INTERPRETER + 0x120, .sp = STACK, .fp = STACK + 0x80};
	step(&made, &frame, text);
	assert_string_equal(text, ";a.b.Server.inner");
	close(made.jvm.memory);
}

static void what_does_not_check_has_no_name(void **state)
{
	struct java_frame frame = {.pc = COMPILED + RETURN, .sp = STACK};
	struct made made;
	char text[256];

	(void)state;
	make(&made, 17);
	put(&made, POOL + 8, 3, 4); /* outer is number 3 */
	finish(&made);
	step(&made, &frame, text);
	assert_string_equal(text, ";a.b.Server.inner;[java]");
	/* No piece of code is there. */
	frame.pc = COMPILED + 0x5ff;
	made.bytes[SEGMENTS + 0x17] = 0xff;
	finish(&made);
	assert_false(step(&made, &frame, text));
	assert_string_equal(text, "");
	close(made.jvm.memory);
}

static void a_place_of_two_methods_is_of_none(void **state)
{
	struct javas *javas = javas__new(NULL);

	(void)state;
	assert_null(javas__kept(javas, 7, 0x1000));
	javas__keep(javas, 7, 0x1000, ";A.a (A.java:1);B.b");
	javas__keep(javas, 7, 0x1000, ";A.a (A.java:1);B.b");
	javas__keep(javas, 8, 0x1000, ";C.c");
	javas__keep(javas, 7, 0x1008, "");
	assert_string_equal(javas__kept(javas, 7, 0x1000), "A.a (A.java:1);B.b");
	assert_string_equal(javas__kept(javas, 8, 0x1000), "C.c");
	assert_null(javas__kept(javas, 7, 0x1008));
	javas__keep(javas, 7, 0x1000, ";D.d");
	assert_string_equal(javas__kept(javas, 7, 0x1000), "[java]");
	javas__keep(javas, 7, 0x1000, ";A.a (A.java:1);B.b");
	assert_string_equal(javas__kept(javas, 7, 0x1000), "[java]");
	javas__free(javas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiled_frames_have_the_methods_that_are_inlined),
		cmocka_unit_test(another_place_in_the_code_says_the_method_alone),
		cmocka_unit_test(interpreted_frames_have_their_bytecode),
		cmocka_unit_test(what_does_not_check_has_no_name),
		cmocka_unit_test(a_place_of_two_methods_is_of_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
