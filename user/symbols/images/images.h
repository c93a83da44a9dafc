/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The programs and libraries that processes have mapped, for unwinding and for names. A
 * process is looked at when it is first asked for, a file opened when an address lies in it.
 * What is mapped is read anew when it is older than a second or an address is unknown, so
 * that dlopen() and exec() are followed. The process used longest ago makes room.
 */
#ifndef NETSTALL_SYMBOLS_IMAGES_IMAGES_H
#define NETSTALL_SYMBOLS_IMAGES_IMAGES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <sys/types.h>

#include "user/symbols/file_broker.h"

#define IMAGES_PROCESSES 32

struct images;

/*
 * broker stays the caller's and must outlive it; NULL: nothing will be known. The callbacks, with
 * argument, read the threads that are unwound.
 */
struct images *images__new(struct file_broker *broker, const Dwfl_Thread_Callbacks *callbacks,
			   void *argument);
void images__free(struct images *images);

/*
 * What the process has mapped, and state for its frames. The result is images', until its next
 * call. NULL: nothing is to be had, and *why says so, a clause.
 */
Dwfl *images__of(struct images *images, pid_t pid, Dwarf_Addr pc, const char **why);

/*
 * Unwinding came to pc, which may lie in a library that was opened since the last look. True:
 * the process was looked at again, and it does.
 */
bool images__look_again(struct images *images, pid_t pid, Dwarf_Addr pc);

/* Look at the process and open its files now, so that it has them after its end. */
void images__note(struct images *images, pid_t pid);

#endif
