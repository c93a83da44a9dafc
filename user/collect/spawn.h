/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The program of `-- PROGRAM`: started stopped, released when all hooks are attached. */
#ifndef NETSTALL_COLLECT_SPAWN_H
#define NETSTALL_COLLECT_SPAWN_H

#include <sys/types.h>

struct spawn;

/* Fork; the child waits before its exec. NULL after it has said why. */
struct spawn *spawn__new(char **argv);
pid_t spawn__pid(const struct spawn *spawn);
/*
 * Let it exec, as the user who called sudo. Returns 0, or -errno of the exec after it has
 * said so.
 */
int spawn__release(struct spawn *spawn);
/* A child that was never released is ended; one that runs is left alone. */
void spawn__free(struct spawn *spawn);

#endif
