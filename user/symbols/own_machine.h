/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which programs have the instructions and the registers of this machine. */
#ifndef NETSTALL_SYMBOLS_OWN_MACHINE_H
#define NETSTALL_SYMBOLS_OWN_MACHINE_H

#include <elf.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

#endif
