/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs and libraries are read through memory maps (libdw offers no other way for modules),
 * and whoever may write to such a file can cut it short meanwhile: `cp` onto it does. Reading
 * what is gone then is a SIGBUS, which would end us. Here it finds zeroes instead, which the
 * libraries take as what a damaged file has: no name.
 */
#ifndef NETSTALL_SYMBOLS_IMAGES_CUT_FILES_H
#define NETSTALL_SYMBOLS_IMAGES_CUT_FILES_H

#include <stdbool.h>

/* From now on, in this process; once is enough. A SIGBUS of another cause ends it as ever. */
void cut_files__survive(void);
/* Has it happened? */
bool cut_files__seen(void);

#endif
