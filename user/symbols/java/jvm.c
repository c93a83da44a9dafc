// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The processes' virtual machines, and the frames of the code that they have made. */
#include "user/symbols/java/jvm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/symbols/images/data_symbols.h"
#include "user/symbols/images/maps.h"
#include "user/symbols/peek.h"
#include "user/symbols/read_budget.h"

#define JVMS_MOST                                                                                  \
	256 /* processes that are known at a time; the one used longest ago makes room             \
	     */
/* One that runs none may by then: the virtual machine is loaded by its launcher. */
#define AGAIN_NS 1000000000ull

#define PLACES_MOST 32768 /* whose methods are kept: a power of two */
#define PROBES_MOST 16    /* of a full neighbourhood none is kept */

struct kept {
	uint64_t place;
	pid_t pid;
	char *methods; /* NULL: nothing is kept here */
};

struct javas {
	struct file_broker *broker;
	struct jvm *v[JVMS_MOST];
	uint64_t uses;
	struct kept *kept;
};

struct javas *javas__new(struct file_broker *broker)
{
	struct javas *javas = xcalloc(1, sizeof(*javas));

	javas->broker = broker;
	javas->kept = xcalloc(PLACES_MOST, sizeof(*javas->kept));
	return javas;
}

static void free_jvm(struct jvm *jvm)
{
	if (jvm && jvm->memory >= 0)
		close(jvm->memory);
	free(jvm);
}

void javas__free(struct javas *javas)
{
	if (!javas)
		return;
	for (size_t i = 0; i < JVMS_MOST; i++)
		free_jvm(javas->v[i]);
	for (size_t i = 0; i < PLACES_MOST; i++)
		free(javas->kept[i].methods);
	free(javas->kept);
	free(javas);
}

/* ---- the methods of places ---- */

/* Where it is, or may go. NULL: there is no room. */
static struct kept *kept_at(const struct javas *javas, pid_t pid, uint64_t place)
{
	uint64_t hash = (place ^ (uint64_t)pid << 32) * 0xff51afd7ed558ccdull >> 32;

	for (uint64_t i = 0; i < PROBES_MOST; i++) {
		struct kept *kept = &javas->kept[(hash + i) & (PLACES_MOST - 1)];

		if (!kept->methods || (kept->place == place && kept->pid == pid))
			return kept;
	}
	return NULL;
}

/* Where one piece of code has taken another's place, nobody knows which of them was meant. */
void javas__keep(struct javas *javas, pid_t pid, uint64_t place, const char *methods)
{
	struct kept *kept = methods[0] == ';' ? kept_at(javas, pid, place) : NULL;

	if (!kept || (kept->methods && !strcmp(kept->methods, methods + 1)))
		return;
	methods = kept->methods ? "[java]" : methods + 1;
	free(kept->methods);
	*kept = (struct kept){place, pid, xstrdup(methods)};
}

const char *javas__kept(const struct javas *javas, pid_t pid, uint64_t place)
{
	const struct kept *kept = kept_at(javas, pid, place);

	return kept ? kept->methods : NULL;
}

#define IS_METHOD   (1ull << 63)
#define METHOD_BITS 47 /* of an address in user mode */
#define BCI_MOST    0xffff

static uint64_t place_of_method(uint64_t method, int64_t bci)
{
	return IS_METHOD | (bci >= 0 && bci < BCI_MOST ? (uint64_t)bci : BCI_MOST) << METHOD_BITS |
	       (method & ((1ull << METHOD_BITS) - 1));
}

bool java_place__is_method(uint64_t place)
{
	return place & IS_METHOD;
}

/* ---- where it is ---- */

static bool look_at(struct javas *javas, struct jvm *jvm, const struct maps_line *line)
{
	uint64_t symbols[JVM_SYMBOLS];

	return data_symbols__find(javas->broker, jvm->pid, line, jvm_symbols, JVM_SYMBOLS,
				  symbols) &&
	       jvm__read_layout(jvm, symbols);
}

static bool find_in(struct javas *javas, struct jvm *jvm, char *maps)
{
	struct maps_line line;

	while (maps__next(&maps, &line)) {
		const char *slash = strrchr(line.path, '/');

		if (line.inode && !line.offset && slash && !strcmp(slash, "/libjvm.so"))
			return look_at(javas, jvm, &line);
	}
	return false;
}

static struct jvm *find(struct javas *javas, pid_t pid)
{
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));
	char *maps = maps__read(javas->broker, pid);
	bool known = false;

	*jvm = (struct jvm){.pid = pid, .found = clock__now(), .memory = -1};
	if (maps && strstr(maps, "/libjvm.so"))
		jvm->memory = file_broker__open(javas->broker, FILE_BROKER_MEMORY, pid, NULL);
	if (jvm->memory >= 0)
		known = find_in(javas, jvm, maps);
	free(maps);
	if (!known && jvm->memory >= 0)
		close(jvm->memory);
	if (!known)
		jvm->memory = -1;
	return jvm;
}

static struct jvm **place_of(struct javas *javas, pid_t pid)
{
	struct jvm **oldest = &javas->v[0];

	for (size_t i = 0; i < JVMS_MOST; i++) {
		struct jvm **place = &javas->v[i];

		if (*place && (*place)->pid == pid)
			return place;
		if (!*place || (*oldest && (*place)->used < (*oldest)->used))
			oldest = place;
	}
	return oldest;
}

/* Of a process that has replaced its program the memory as it was is gone. */
static bool is_over(const struct jvm *jvm)
{
	return jvm->memory < 0 ? clock__now() - jvm->found > AGAIN_NS
			       : !peek__pointer(jvm->memory, jvm->fields[JVM_LOW]);
}

struct jvm *javas__of_code(struct javas *javas, pid_t pid, uint64_t pc)
{
	struct jvm **place = place_of(javas, pid);

	if (!*place || (*place)->pid != pid || is_over(*place)) {
		free_jvm(*place);
		*place = find(javas, pid);
	}
	(*place)->used = ++javas->uses;
	return jvm__has_code(*place, pc) ? *place : NULL;
}

bool jvm__has_code(const struct jvm *jvm, uint64_t pc)
{
	return jvm->memory >= 0 && pc >= jvm->low && pc < jvm->high;
}

/* ---- its code ---- */

#define HEAPS_MOST 16
#define HOPS_MOST  4096 /* from anywhere in a piece to its beginning: 250 segments each */

/* CodeHeap::find_block_for(), src/hotspot/share/memory/heap.cpp: a segment's byte says how far back
 * its piece begins, 0 there, or a part of the way. */
static uint64_t block_of(const struct jvm *jvm, uint64_t heap, uint64_t pc)
{
	uint64_t memory = heap + jvm->fields[JVM_HEAP_MEMORY], low, segments, segment;
	uint32_t log2 = jvm__number(jvm, heap, JVM_HEAP_LOG2);
	unsigned char back;

	low = jvm__pointer(jvm, memory, JVM_SPACE_LOW);
	if (!low || pc < low || pc >= jvm__pointer(jvm, memory, JVM_SPACE_HIGH) || log2 > 16)
		return 0;
	segments = jvm__pointer(jvm, heap + jvm->fields[JVM_HEAP_SEGMENTS], JVM_SPACE_LOW);
	segment = (pc - low) >> log2;
	for (size_t hops = 0; hops < HOPS_MOST; hops++) {
		if (!peek__read(jvm->memory, segments + segment, &back, 1) || back == 0xff ||
		    back > segment)
			return 0;
		if (!back)
			return low + (segment << log2);
		segment -= back;
	}
	return 0;
}

static bool find_blob(const struct jvm *jvm, uint64_t pc, struct jvm_blob *out)
{
	uint64_t heaps = peek__pointer(jvm->memory, jvm->fields[JVM_HEAPS]), block = 0;
	uint64_t data = jvm__pointer(jvm, heaps, JVM_ARRAY_DATA);
	uint32_t count = jvm__number(jvm, heaps, JVM_ARRAY_LEN);

	for (uint32_t i = 0; i < count && i < HEAPS_MOST && !block; i++)
		block = block_of(jvm, peek__pointer(jvm->memory, data + 8 * i), pc);
	if (!block)
		return false;
	out->at = block + jvm->types[JVM_HEAP_BLOCK];
	out->frame = 8ull * jvm__number(jvm, out->at, JVM_BLOB_FRAME);
	out->code = jvm->fields[JVM_CODE_BEGIN] != JVM_NONE
			    ? jvm__pointer(jvm, out->at, JVM_CODE_BEGIN)
			    : out->at + jvm__number(jvm, out->at, JVM_CODE_OFFSET);
	out->complete = out->code + jvm__half(jvm, out->at, JVM_BLOB_COMPLETE);
	return peek__text(jvm->memory, jvm__pointer(jvm, out->at, JVM_BLOB_NAME), out->name,
			  sizeof(out->name));
}

/* ---- its frames, as frame_x86.cpp has them ---- */

/* Words from the frame pointer of interpreted code, src/hotspot/cpu/x86/frame_x86.hpp. */
enum {
	SENDER_SP = -1,
	METHOD = -3,
	BYTECODE = -8,
};

#if defined(__x86_64__)
#define LAYOUT_IS_KNOWN true
#else
#define LAYOUT_IS_KNOWN false
#endif

static uint64_t slot(const struct java_frame *frame, int words)
{
	return frame->fp + 8 * (int64_t)words;
}

static bool step_interpreted(const struct jvm *jvm, struct java_frame *frame, java_word *word,
			     void *context, uint64_t *place, char *out, size_t size)
{
	uint64_t method, bytecode = frame->bytecode;
	int64_t bci;
	struct java_frame caller = {0};

	if (!word(context, slot(frame, METHOD), &method) ||
	    (!frame->is_leaf && !word(context, slot(frame, BYTECODE), &bytecode)))
		return false;
	bci = jvm__bci(jvm, method, bytecode);
	*place = place_of_method(method, bci);
	jvm__add_method(jvm, method, bci, out, size);
	if (!word(context, frame->fp, &caller.fp) || !word(context, slot(frame, 1), &caller.pc) ||
	    !word(context, slot(frame, SENDER_SP), &caller.sp))
		return false;
	*frame = caller;
	return true;
}

static bool step_compiled(struct java_frame *frame, const struct jvm_blob *blob, java_word *word,
			  void *context)
{
	struct java_frame caller = {.sp = frame->sp + blob->frame};

	/* Its frame is not made yet. */
	if (frame->is_leaf && frame->pc < blob->complete)
		return false;
	if (!blob->frame || !word(context, caller.sp - 8, &caller.pc) ||
	    !word(context, caller.sp - 16, &caller.fp))
		return false;
	*frame = caller;
	return true;
}

bool jvm__step(struct jvm *jvm, struct java_frame *frame, java_word *word, void *context,
	       uint64_t *place, char *out, size_t size)
{
	struct jvm_blob blob;
	uint64_t sp = frame->sp;
	bool is_known;

	*place = frame->pc;
	if (!LAYOUT_IS_KNOWN || !find_blob(jvm, frame->pc, &blob))
		return false;
	/* JavaCalls::call_helper() begins it by one of these. */
	if (!strncmp(blob.name, "StubRoutines", strlen("StubRoutines"))) {
		frame->pc = 0;
		return false;
	}
	if (!strcmp(blob.name, "Interpreter")) {
		is_known = step_interpreted(jvm, frame, word, context, place, out, size);
	} else {
		if (strstr(blob.name, "nmethod"))
			jvm__add_compiled(jvm, &blob, frame, out, size);
		is_known = step_compiled(frame, &blob, word, context);
	}
	return is_known && frame->sp > sp;
}
