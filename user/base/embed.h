/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files that are part of the program, as they are. */
#ifndef NETSTALL_BASE_EMBED_H
#define NETSTALL_BASE_EMBED_H

/* A NUL-terminated text; the file is looked for from where the compiler is called, the root. */
#define EMBED(name, path)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".global " #name "\n" #name                                                        \
		":\n"                                                                              \
		".incbin \"" path                                                                  \
		"\"\n"                                                                             \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char name[]

#endif
