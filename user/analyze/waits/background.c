// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/background.h"

#include <string.h>

#include "user/analyze/path.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/wait_kind.h"

/*
 * What the targets' connections and Unix sockets say, as long as no request was seen: those may be
 * too quick, and on a Unix socket none is.
 */
struct roles {
	bool has_connections; /* the process */
	bool targets_have;
	bool targets_serve;
	bool targets_have_requests;
};

static struct roles roles_of(const struct model *model, uint32_t tgid)
{
	const struct model_process *process = model__process(model, tgid);
	const struct owned_by_targets *targets = model__owned_by_targets(model);

	return (struct roles){
		.has_connections =
			(process && process->has_messages) || model__owned(model, tgid).conns,
		.targets_have = targets->conns,
		.targets_serve = targets->accepted || targets->readers,
		.targets_have_requests = targets->requesters,
	};
}

/* A thread of a pool that looks up names waits for the next one by a futex; so do those of Go. */
static bool asks(const struct model *model, const struct model_thread *thread,
		 const struct ns_wait *wait)
{
	enum wait_kind kind = wait_view__of(model, wait).kind;

	return thread && (thread->asks ||
			  (thread->asks_datagrams && kind != WAIT_SIGNAL && kind != WAIT_MUTEX));
}

static bool listens(const struct model *model, const struct model_process *process)
{
	const struct model_process *master =
		process && process->master ? model__process(model, process->master) : NULL;

	return process && (process->listens || (master && master->listens));
}

static bool is_by_clock(const struct model *model, const struct path_part *part)
{
	return part && part->cause == CAUSE_TIMER && part->kind == PATH_BLOCKED &&
	       syscall__wait_kind(model__session(model)->arch, part->syscall) != WAIT_SLEEP;
}

/*
 * A server's loop, or a thread of its pool, or its worker, looked after its own clock, and perhaps
 * woke another one for what it found: nobody came meanwhile. A plain sleep is somebody's own; a
 * ring's timer is its loop's.
 */
static bool is_tick(const struct model *model, const struct model_process *process,
		    const struct ns_wait *wait, enum cause cause, const struct path *path)
{
	const struct path_part *part;

	if (!listens(model, process))
		return false;
	if (cause == CAUSE_TIMER)
		return wait->ring || wait_view__of(model, wait).kind != WAIT_SLEEP;
	part = cause == CAUSE_LOCK ? path__main(path, cause) : NULL;
	return part && part->pid == process->pid && is_by_clock(model, part);
}

/* Threads of HotSpot that keep house for the JVM itself, by the names that the kernel has room for.
 */
static bool is_of_runtime(const char comm[NS_COMM_LEN])
{
	static const char *const names[] = {
		"VM Thread",       "VM Periodic Tas", "GC Thread#",      "G1 ",
		"Reference Handl", "Finalizer",       "Signal Dispatch", "Service Thread",
		"Monitor Deflati", "C1 CompilerThre", "C2 CompilerThre", "Sweeper thread",
		"Notification Th", "Common-Cleaner",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(comm, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/* It has nothing to do until another thread, or that one's clock, finds something. */
static bool is_parked(const struct model *model, const struct ns_wait *wait, enum cause cause)
{
	enum wait_kind kind = wait_view__of(model, wait).kind;

	return (cause == CAUSE_LOCK || cause == CAUSE_TIMER) &&
	       (kind == WAIT_MUTEX || kind == WAIT_SIGNAL);
}

/*
 * Where targets make or serve requests, what a thread does that serves nobody and asks nobody is of
 * no matter. A thread that asks, of a process that serves nobody, has its own work to do before it
 * asks again; when it sends and receives datagrams is not known.
 */
static enum background of_thread(const struct model *model, const struct ns_wait *wait,
				 enum cause cause, const struct path *path)
{
	const struct model_process *process = model__process(model, wait->head.tgid);
	const struct model_thread *thread = model__thread(model, wait->head.tid);
	bool knows_requests = process && (process->asks || process->serves);
	struct roles roles;

	if (is_of_runtime(wait->comm) ||
	    (process && process->parks && is_parked(model, wait, cause)))
		return BACKGROUND_IS;
	/* It lasted when the window began: how it came about nobody saw. */
	if (wait->began_ts && (knows_requests || (process && process->reads_messages)))
		return BACKGROUND_IS;
	if (knows_requests && (process->serves || !asks(model, thread, wait)))
		return BACKGROUND_IS;
	if (knows_requests)
		return thread->asks ? BACKGROUND_BETWEEN : BACKGROUND_NOT;
	roles = roles_of(model, wait->head.tgid);
	if (!roles.has_connections && (roles.targets_serve || roles.targets_have_requests))
		return BACKGROUND_IS;
	if (is_tick(model, process, wait, cause, path))
		return BACKGROUND_IS;
	/* A first request may be still to come, by TCP or by datagrams. */
	return BACKGROUND_MAYBE;
}

static bool has_requests(const struct model_thread *thread)
{
	return thread && (thread->asks || thread->serves);
}

/*
 * Two connected sockets on this host look alike: each end writes to the other one and waits for it.
 * Who makes or serves requests besides asks for the sake of these; for a thread that has none, what
 * such a one sends is the next one of its own.
 */
static enum background of_asked_by_datagram(const struct model *model, const struct ns_wait *wait)
{
	const struct model_process *waker = model__process(model, wait->waker_tgid);

	if (!socket_wait__awaits_datagram(wait) || wait_view__of(model, wait).waker != WAKER_TASK ||
	    has_requests(model__thread(model, wait->head.tid)))
		return BACKGROUND_NOT;
	if (has_requests(model__thread(model, wait->waker_tid)))
		return BACKGROUND_IS;
	/* The first one is over behind the datagram that was sent for it. */
	return waker && !waker->has_requests && roles_of(model, waker->pid).has_connections
		       ? BACKGROUND_MAYBE
		       : BACKGROUND_NOT;
}

enum background background__find(const struct model *model, const struct ns_wait *wait,
				 const struct request_place *place, enum cause cause,
				 const struct path *path)
{
	enum background asked = of_asked_by_datagram(model, wait);

	if (asked != BACKGROUND_NOT)
		return asked;
	/* What TCP and the other end do is of interest all the same, but not to whom they reach
	 * through other threads alone. */
	if (cause__rank(cause) == CAUSE_RANK_NETWORK &&
	    !wait_kind__is_thread(wait_view__of(model, wait).kind))
		return BACKGROUND_NOT;
	if (request_place__is_in(place))
		return BACKGROUND_NOT;
	return of_thread(model, wait, cause, path);
}
