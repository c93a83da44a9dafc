/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The program of `-- PROGRAM`: started stopped, let go when all hooks are attached, and looked
 * after until its end. It runs as the user who called sudo, with the descriptors, the signal mask
 * and the signal dispositions that netstall was started with.
 *
 *   program__new       before netstall changes anything about its own signals
 *   program__release   it execs
 *   program__poll      again and again, at the latest when program__fd() is readable
 *   program__signal, program__end
 *   program__await
 *   program__outcome
 *   program__free
 */
#ifndef NETSTALL_PROCESS_PROGRAM_H
#define NETSTALL_PROCESS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/check/judge/outcome.h"

struct program;

/*
 * Fork; the child waits before its exec. own_group: it gets a process group, which gets the
 * terminal while netstall has it; signals go to that group; and whoever comes of it can be
 * counted and ended. Without, it stays in netstall's group and is left alone at our end. NULL
 * after it has said why. argv must live as long.
 */
struct program *program__new(char **argv, bool own_group);
pid_t program__pid(const struct program *program);
/* Readable when there is news of it. */
int program__fd(const struct program *program);
/* Let it exec. Returns 0, or -errno of the exec: nothing ran then. Says nothing. */
int program__release(struct program *program);
/* Takes the news. Returns false once it has ended, or never ran. */
bool program__poll(struct program *program);
/* To its group. passed_on: netstall got it itself. */
void program__signal(struct program *program, int signal_number, bool passed_on);
/*
 * SIGTERM for it and all that it has started, whatever group or session they are in; SIGKILL
 * for whoever still runs SUPERVISOR_GRACE_MS later. why: PROGRAM_TIMED_OUT, PROGRAM_NOT_READY or
 * PROGRAM_OUTLIVED. Does not wait.
 */
void program__end(struct program *program, enum program_end why);
/* SIGKILL for the same, at once: for one that does not heed what was passed on. */
void program__kill(struct program *program);
/* After its end, or program__end(): until it and what it left are counted; some seconds at most. */
void program__await(struct program *program);
/* What came of it; timeout_secs and the wait for a port are the caller's to fill in. */
void program__outcome(const struct program *program, struct program_outcome *out);
/* One that was never let go is ended. */
void program__free(struct program *program);

#endif
