// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/model/owners.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"
#include "user/model/model.h"

struct owners {
	struct table *owners;  /* of those to whom something belongs */
	struct table *waiters; /* by connection */
	struct owned_by_targets targets;
	uint64_t waited_until; /* the latest end of a wait so far */
};

/* Whatever belongs to somebody has a bound of its own: so many owners there can be. */
struct owners *owners__new(size_t most, size_t conns)
{
	struct owners *owners = xcalloc(1, sizeof(*owners));

	owners->owners = table__new(most);
	owners->waiters = table__new(conns);
	return owners;
}

static void drop_waiters(void *value)
{
	struct waiters *waiters = value;

	free(waiters->tids);
	free(waiters);
}

void owners__free(struct owners *owners)
{
	if (!owners)
		return;
	table__free(owners->owners, free);
	table__free(owners->waiters, drop_waiters);
	free(owners);
}

const struct owner *owners__of(const struct owners *owners, uint32_t pid)
{
	return table__get(owners->owners, pid);
}

const struct owned_by_targets *owners__targets(const struct owners *owners)
{
	return &owners->targets;
}

const struct waiters *owners__waiters(const struct owners *owners, uint32_t conn)
{
	return table__get(owners->waiters, conn);
}

static struct owner *entry(struct owners *owners, uint32_t pid)
{
	struct owner *owner = table__get(owners->owners, pid);

	if (owner)
		return owner;
	owner = xcalloc(1, sizeof(*owner));
	owner->pid = pid;
	table__put(owners->owners, pid, owner);
	return owner;
}

static void drop_if_empty(struct owners *owners, struct owner *owner)
{
	if (!owner->threads && !owner->conns && !owner->workers)
		free(table__take(owners->owners, owner->pid));
}

/* ---- threads ---- */

static void link_first(struct owner *owner, struct model_thread *thread)
{
	thread->next_of_owner = owner->threads;
	thread->before_of_owner = NULL;
	if (owner->threads)
		owner->threads->before_of_owner = thread;
	owner->threads = thread;
}

static void take_out(struct owner *owner, struct model_thread *thread)
{
	if (thread->before_of_owner)
		thread->before_of_owner->next_of_owner = thread->next_of_owner;
	else
		owner->threads = thread->next_of_owner;
	if (thread->next_of_owner)
		thread->next_of_owner->before_of_owner = thread->before_of_owner;
}

void owners__add_thread(struct owners *owners, struct model_thread *thread)
{
	/* Its waits may have come already, when its process was not known. */
	thread->waited_until = owners->waited_until;
	link_first(entry(owners, thread->tgid), thread);
}

void owners__take_thread(struct owners *owners, struct model_thread *thread)
{
	struct owner *owner = entry(owners, thread->tgid);

	take_out(owner, thread);
	drop_if_empty(owners, owner);
}

/* ---- connections and processes ---- */

static void count_conn(struct owners *owners, struct owner *owner, const struct model_conn *conn,
		       size_t by)
{
	bool is_accepted = conn->id.opener == NS_OPENER_PEER;

	owner->conns += by;
	owner->accepted += is_accepted ? by : 0;
	if (!(conn->id.role & NS_ROLE_TARGET))
		return;
	owners->targets.conns += by;
	owners->targets.accepted += is_accepted ? by : 0;
}

void owners__add_conn(struct owners *owners, const struct model_conn *conn)
{
	if (conn->id.head.type)
		count_conn(owners, entry(owners, conn->id.head.tgid), conn, 1);
}

void owners__take_conn(struct owners *owners, const struct model_conn *conn)
{
	struct owner *owner;

	if (!conn->id.head.type)
		return;
	owner = entry(owners, conn->id.head.tgid);
	count_conn(owners, owner, conn, (size_t)-1);
	drop_if_empty(owners, owner);
}

static void count_process(struct owners *owners, const struct model_process *process, size_t by)
{
	if (!(process->role & NS_ROLE_TARGET))
		return;
	owners->targets.readers += process->reads_messages ? by : 0;
	owners->targets.requesters += process->has_requests ? by : 0;
}

void owners__add_process(struct owners *owners, const struct model_process *process)
{
	count_process(owners, process, 1);
	if (process->master)
		entry(owners, process->master)->workers++;
}

void owners__take_process(struct owners *owners, const struct model_process *process)
{
	struct owner *master;

	count_process(owners, process, (size_t)-1);
	if (!process->master)
		return;
	master = entry(owners, process->master);
	master->workers--;
	drop_if_empty(owners, master);
}

/* ---- waits ---- */

bool owners__add_waiter(struct owners *owners, uint32_t conn, uint32_t tid)
{
	struct waiters *waiters = table__get(owners->waiters, conn);

	if (!waiters) {
		waiters = xcalloc(1, sizeof(*waiters));
		waiters->conn = conn;
		if (!table__put(owners->waiters, conn, waiters)) {
			free(waiters);
			return false;
		}
	}
	/* Nearly always it is the last one. */
	for (size_t i = waiters->count; i-- > 0;) {
		if (waiters->tids[i] == tid)
			return true;
	}
	if (waiters->count == OWNERS_WAITERS) {
		memmove(waiters->tids, waiters->tids + 1,
			(OWNERS_WAITERS - 1) * sizeof(*waiters->tids));
		waiters->tids[OWNERS_WAITERS - 1] = tid;
		return false;
	}
	waiters->tids =
		xgrow(waiters->tids, waiters->count, &waiters->room, sizeof(*waiters->tids));
	waiters->tids[waiters->count++] = tid;
	return true;
}

void owners__waited(struct owners *owners, struct model_thread *thread, uint64_t ts)
{
	struct owner *owner = entry(owners, thread->tgid);

	if (ts > owners->waited_until)
		owners->waited_until = ts;
	/* The latest end of all so far, and not its own: so it only falls along the list. */
	thread->waited_until = owners->waited_until;
	take_out(owner, thread);
	link_first(owner, thread);
}

void owners__forget_waiters(struct owners *owners, uint32_t conn)
{
	struct waiters *waiters = table__take(owners->waiters, conn);

	if (waiters)
		drop_waiters(waiters);
}
