/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A function that stays one of its own, with its frame and its name, whatever could be gained. */
#ifndef NETSTALL_TESTS_KEPT_H
#define NETSTALL_TESTS_KEPT_H

#if __has_attribute(noipa)
#define KEPT __attribute__((noipa))
#else /* clang */
#define KEPT __attribute__((noinline))
#endif

#endif
