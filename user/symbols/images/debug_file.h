/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The separate debug file of a program or library, and our own vdso as a file. */
#ifndef NETSTALL_SYMBOLS_IMAGES_DEBUG_FILE_H
#define NETSTALL_SYMBOLS_IMAGES_DEBUG_FILE_H

#include <sys/types.h>

#include "user/symbols/file_broker.h"

/*
 * Of the file at fd, which PID sees by the name path: by its build-id, then by its
 * .gnu_debuglink, in PID's root, then in ours. One whose build-id or checksum is another is
 * not taken. The descriptor is the caller's; -ENOENT: there is none, or none is needed.
 */
int debug_file__open(struct file_broker *broker, pid_t pid, const char *path, int fd);

/* The code that the kernel maps into every process; size: of the mapping that is asked for.
 * The caller's; -ENOENT: it is not like ours. */
int debug_file__vdso(size_t size);

#endif
