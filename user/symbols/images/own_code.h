/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Is a file the code of who wrote the program, or what a distribution or a package manager brought?
 */
#ifndef NETSTALL_SYMBOLS_IMAGES_OWN_CODE_H
#define NETSTALL_SYMBOLS_IMAGES_OWN_CODE_H

#include <stdbool.h>

/*
 * path: as the process has it mapped. A program is own wherever it lies, unless it runs other
 * programs (an interpreter); a library is own unless it lies where packages are installed. Which
 * these are is in the tables of own_code.c, and in docs/symbols.md.
 */
bool own_code__is(const char *path);
/* What begins with prefix is own all the same. The caller's, and not copied; NULL: nothing is. */
void own_code__add(const char *prefix);

#endif
