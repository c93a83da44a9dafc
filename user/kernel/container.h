/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Containers, as the names of their cgroups tell them: docker, podman, containerd, CRI-O, and what
 * kubelet makes without systemd. Nobody is asked.
 */
#ifndef NETSTALL_KERNEL_CONTAINER_H
#define NETSTALL_KERNEL_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTAINER_ID_LEAST 4 /* digits that name one */

/* "docker 3f2a9c1d4b5e" of a cgroup's path, or of one of its parents'; false: it is of none. */
bool container__of_path(const char *path, char *out, size_t size);
/* The same of a process; false also where its cgroup cannot be read. */
bool container__of(pid_t pid, char *out, size_t size);

/*
 * The least limit of memory, in bytes, that the cgroups of this process have (v2 and v1, where they
 * are mounted at /sys/fs/cgroup); UINT64_MAX: there is none, or it cannot be read.
 */
uint64_t container__memory_limit(void);

enum container_found {
	CONTAINER_NONE,
	CONTAINER_ONE,
	CONTAINER_SEVERAL,
};

/* The cgroup below root of the container whose id begins so. */
enum container_found container__find(const char *root, const char *id, char *path, size_t size);

#endif
