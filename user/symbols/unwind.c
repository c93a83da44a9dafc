// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/state.h"
#include "user/base/xalloc.h"
#include "user/symbols/java/java.h"
#include "user/symbols/read_budget.h"

/* Of registers, as DWARF has them. */
#if defined(__aarch64__)
enum { NUMBER_FP = 29, NUMBER_SP = 31 };
#define BYTECODE_OF(regs) 0
#else
enum { NUMBER_FP = 6, NUMBER_SP = 7 };
/* Interpreted code keeps there where it is: rbcp, src/hotspot/cpu/x86/register_x86.hpp. */
#define BYTECODE_OF(regs) (regs)[NS_REG_R12 + 1]
#endif

struct unwinder {
	struct images *images;
	struct javas *javas;
	/* Of the stack that is being unwound. */
	pid_t pid;
	const struct unwind_copy *copy;
	struct unwind_frames *out;
	bool ended;  /* nobody called the last frame */
	bool beyond; /* a caller's frame lies in what was not copied */
};

/* ---- what libdwfl asks for ---- */

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
	(void)dwfl;
	(void)argument;
	(void)thread;
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = argument;
	return true;
}

static bool was_copied(const struct unwind_copy *copy, uint64_t offset)
{
	uint64_t block = offset / UNWIND_BLOCK;

	return !copy->there || copy->there[block / 64] >> (block & 63) & 1;
}

/* Only the copied stack is there; what lies elsewhere may have changed since. */
static bool read_stack(void *argument, uint64_t address, uint64_t *result)
{
	struct unwinder *unwinder = argument;
	const struct unwind_copy *copy = unwinder->copy;
	uint64_t offset = address - copy->base;

	if (address < copy->base)
		return false;
	if (copy->stack_len < sizeof(*result) || offset > copy->stack_len - sizeof(*result) ||
	    !was_copied(copy, offset) || !was_copied(copy, offset + sizeof(*result) - 1)) {
		unwinder->beyond = true;
		return false;
	}
	memcpy(result, copy->stack + offset, sizeof(*result));
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *argument)
{
	(void)dwfl;
	return read_stack(argument, address, result);
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
	const struct unwinder *unwinder = argument;
	const __u64 *regs = unwinder->copy->regs;

	/* Numbers as DWARF has them for the machine. */
#if defined(__x86_64__)
	Dwarf_Word rbx = regs[NS_REG_BX];
	Dwarf_Word rbp_rsp[] = {regs[NS_REG_BP], regs[NS_REG_SP]};
	Dwarf_Word r12_to_rip[] = {regs[NS_REG_R12], regs[NS_REG_R12 + 1], regs[NS_REG_R12 + 2],
				   regs[NS_REG_R12 + 3], regs[NS_REG_IP]};

	return dwfl_thread_state_registers(thread, 3, 1, &rbx) &&
	       dwfl_thread_state_registers(thread, 6, 2, rbp_rsp) &&
	       dwfl_thread_state_registers(thread, 12, 5, r12_to_rip);
#elif defined(__aarch64__)
	Dwarf_Word x19_to_sp[13];

	for (int i = 0; i < 10; i++)
		x19_to_sp[i] = regs[NS_REG_X19 + i];
	x19_to_sp[10] = regs[NS_REG_FP];
	x19_to_sp[11] = regs[NS_REG_LR];
	x19_to_sp[12] = regs[NS_REG_SP];
	dwfl_thread_state_register_pc(thread, regs[NS_REG_IP]);
	return dwfl_thread_state_registers(thread, 19, 13, x19_to_sp);
#else
	(void)thread;
	(void)regs;
	return false;
#endif
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* To the end of out, as many as there is room for. False: not all. */
static bool add_frames(const char *frames, char *out, size_t size)
{
	size_t used = strlen(out), most = strlen(frames);

	while (most && used + most >= size) {
		const char *cut = memrchr(frames, ';', most);

		most = cut ? (size_t)(cut - frames) : 0;
	}
	sprintf(out + used, "%.*s", (int)most, frames);
	return !frames[most];
}

/*
 * Code that a Java virtual machine has made does not say where its caller is: from there on the
 * virtual machine is asked.
 */
static bool is_java(struct unwinder *unwinder, Dwfl_Frame *frame, Dwarf_Addr pc)
{
	struct unwind_frames *out = unwinder->out;
	struct java_frame java = {.pc = pc, .is_leaf = !out->count};
	struct jvm *jvm;

	jvm = javas__of_code(unwinder->javas, unwinder->pid, pc);
	if (!jvm || dwfl_frame_reg(frame, NUMBER_SP, &java.sp) ||
	    dwfl_frame_reg(frame, NUMBER_FP, &java.fp))
		return false;
	java.bytecode = java.is_leaf ? BYTECODE_OF(unwinder->copy->regs) : 0;
	out->native = out->count;
	while (jvm__has_code(jvm, java.pc) && out->count < UNWIND_FRAMES) {
		char methods[NS_STACK_TEXT_MAX] = "";
		bool goes_on = jvm__step(jvm, &java, read_stack, unwinder, &out->pcs[out->count],
					 methods, sizeof(methods));

		if (!java.pc) /* where the virtual machine calls it: of interest to nobody */
			break;
		javas__keep(unwinder->javas, unwinder->pid, out->pcs[out->count++], methods);
		add_frames(methods, out->java, sizeof(out->java));
		if (!goes_on)
			break;
	}
	unwinder->ended = !java.pc;
	return true;
}

/* An interrupted frame, below a signal handler's, stands where no call was: see symbols.h. */
static int take_frame(Dwfl_Frame *frame, void *argument)
{
	struct unwinder *unwinder = argument;
	struct unwind_frames *out = unwinder->out;
	bool is_activation;
	Dwarf_Addr pc;

	if (out->count == UNWIND_FRAMES) {
		unwinder->beyond = true;
		return DWARF_CB_ABORT;
	}
	if (!dwfl_frame_pc(frame, &pc, &is_activation))
		return DWARF_CB_ABORT;
	if (is_java(unwinder, frame, pc))
		return DWARF_CB_ABORT;
	out->pcs[out->count] = is_activation && out->count ? pc + 1 : pc;
	out->count++;
	return DWARF_CB_OK;
}

/* ---- */

struct unwinder *unwinder__new(struct file_broker *broker)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->images = images__new(broker, &callbacks, unwinder);
	unwinder->javas = javas__new(broker);
	return unwinder;
}

void unwinder__free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	images__free(unwinder->images);
	javas__free(unwinder->javas);
	free(unwinder);
}

const struct javas *unwinder__javas(const struct unwinder *unwinder)
{
	return unwinder->javas;
}

static bool enter(pid_t pid)
{
	return read_budget__enter(&(struct read_budget_subject){.pid = pid}, "", NULL);
}

void unwinder__note(struct unwinder *unwinder, pid_t pid)
{
	if (!enter(pid))
		return;
	images__note(unwinder->images, pid);
	javas__of_code(unwinder->javas, pid, 0);
	read_budget__leave(NULL);
}

static void walk(struct unwinder *unwinder, Dwfl *dwfl, struct unwind_frames *out)
{
	int err;

	out->count = 0;
	out->native = UNWIND_FRAMES;
	out->java[0] = '\0';
	unwinder->beyond = unwinder->ended = false;
	/* The number of the thread is of no matter: there is one, that of the copy. */
	err = dwfl_getthread_frames(dwfl, 1, take_frame, unwinder);
	out->end = unwinder->beyond          ? UNWIND_BEYOND
		   : err && !unwinder->ended ? UNWIND_LOST
					     : UNWIND_WHOLE;
}

static const char *find_frames(struct unwinder *unwinder, pid_t pid, const struct unwind_copy *copy,
			       struct unwind_frames *out)
{
	const char *why;
	Dwfl *dwfl = images__of(unwinder->images, pid, copy->regs[NS_REG_IP], &why);

	if (!dwfl)
		return why;
	unwinder->pid = pid;
	unwinder->copy = copy;
	unwinder->out = out;
	walk(unwinder, dwfl, out);
	if (out->end == UNWIND_LOST && out->count &&
	    images__look_again(unwinder->images, pid, out->pcs[out->count - 1] - 1))
		walk(unwinder, dwfl, out);
	unwinder->copy = NULL;
	unwinder->out = NULL;
	return out->count ? NULL : "its registers lead nowhere";
}

const char *unwinder__frames(struct unwinder *unwinder, pid_t pid, const struct unwind_copy *copy,
			     struct unwind_frames *out)
{
	const char *why;

	out->count = 0;
	if (!enter(pid))
		return "its programs and libraries could not be read";
	why = find_frames(unwinder, pid, copy, out);
	read_budget__leave(NULL);
	return why;
}

bool unwinder__call(struct unwinder *unwinder, struct symbols *symbols, pid_t pid,
		    const struct ns_call_raw *call, char *out, size_t size)
{
	const struct unwind_copy copy = {
		.regs = call->regs,
		.stack = call->stack,
		.stack_len = call->stack_len < NS_CALL_STACK ? call->stack_len : NS_CALL_STACK,
		.base = call->regs[NS_REG_SP]};
	struct unwind_frames frames;
	const char *why = unwinder__frames(unwinder, pid, &copy, &frames), *java;
	size_t native, written;

	if (why) {
		snprintf(out, size, "[%s]", why);
		return true;
	}
	native = frames.count < frames.native ? frames.count : frames.native;
	*out = '\0';
	written = native ? symbols__stack(symbols, pid, frames.pcs, native,
					  SYMBOLS_OFFSETS | SYMBOLS_LINES | SYMBOLS_MODULES, out,
					  size)
			 : 0;
	java = native ? frames.java : frames.java + (frames.java[0] == ';');
	return written < native || !add_frames(java, out, size) || frames.end == UNWIND_BEYOND;
}
