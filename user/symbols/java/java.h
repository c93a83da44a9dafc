/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * HotSpot's own frames: who called whom in code that it interprets or has compiled, and what these
 * methods are called. Such code has no call frame information and keeps no frame pointers; but the
 * virtual machine describes itself to debuggers (gHotSpotVMStructs, src/hotspot/share/runtime/
 * vmStructs.cpp): where it keeps its code, how large each piece's frame is, and which methods it is
 * of. So no version is known here, nothing is asked of the program, and no option of it is needed.
 *
 * All of it is read from the process's memory: tables of code, names of classes, methods and files,
 * tables of lines; nothing that a program works with. What does not check has no name.
 */
#ifndef NETSTALL_SYMBOLS_JAVA_JAVA_H
#define NETSTALL_SYMBOLS_JAVA_JAVA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/symbols/file_broker.h"

struct javas;
struct jvm;

struct javas *javas__new(struct file_broker *broker);
void javas__free(struct javas *javas);

/* The virtual machine that has made the code at pc; NULL: none has. javas', until its next call. */
struct jvm *javas__of_code(struct javas *javas, pid_t pid, uint64_t pc);

/* Where a thread stands, or will when a call returns. */
struct java_frame {
	uint64_t pc, sp, fp;
	bool is_leaf;      /* it stands there: no call was made */
	uint64_t bytecode; /* then, if the code is interpreted: in a register */
};

/* A word of the thread's stack. False: it is not there. */
typedef bool java_word(void *context, uint64_t at, uint64_t *out);

/*
 * frame: of code that the virtual machine has made; it becomes its caller's. False: that is not
 * known; its pc is 0 then if it has none, as the virtual machine began it. Its methods, inlined
 * ones first, go to the end of out, each with a ';' in front:
 * "com.acme.Server.handle (Server.java:42)". place: its pc; of interpreted code, which is the same
 * for all methods, a number that stands for its method and bytecode, and is no address.
 */
bool jvm__step(struct jvm *jvm, struct java_frame *frame, java_word *word, void *context,
	       uint64_t *place, char *out, size_t size);
bool jvm__has_code(const struct jvm *jvm, uint64_t pc);

/* The methods of a place stay known, also when the process has ended; methods is what jvm__step()
 * wrote. */
void javas__keep(struct javas *javas, pid_t pid, uint64_t place, const char *methods);
/* Without the ';' in front; NULL: none are known. */
const char *javas__kept(const struct javas *javas, pid_t pid, uint64_t place);
bool java_place__is_method(uint64_t place);

#endif
