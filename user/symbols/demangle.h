/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names as their programmers wrote them: C++ (Itanium), Rust (legacy and v0), ELF versions. */
#ifndef NETSTALL_SYMBOLS_DEMANGLE_H
#define NETSTALL_SYMBOLS_DEMANGLE_H

#include <stddef.h>
#include <stdint.h>

#define DEMANGLE_NAME 256 /* bytes of a name that are kept, with its NUL */

/*
 * "_ZN3net4sendEv" is "net::send": parameters are left out. What is no mangled name stays as it
 * is, but for a version ("@@GLIBC_2.2.5"). A ';' becomes ':', control characters '?'; what does
 * not fit is cut. Names come from files that anybody may have written: work and memory are
 * bounded. Returns out.
 */
char *demangle(const char *name, char *out, size_t size);
/* With the place in it: "net::send+0x12". */
void demangle__at(const char *name, uint64_t offset, char *out, size_t size);
/* The characters that a frame may not have, in place. */
void demangle__clean(char *text);

#endif
