// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/collect/enrich.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/state.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/collect/kallsyms.h"
#include "user/collect/symbols.h"
#include "user/collect/unwind.h"

/* Processes told and stacks named; what comes beyond is told again or stays without a name. */
#define MAX_PROCESSES 8192
#define MAX_STACKS    4096
#define STACK_BUCKETS 4096 /* a power of two */

struct named_stack {
	uint64_t hash; /* of its addresses; 0: free */
	uint32_t id;
};

struct enrich {
	struct enrich_ways ways;
	struct tasks *tasks;
	struct kallsyms *kallsyms;
	struct unwinder *unwinder;
	struct symbols *symbols;
	bool same_numbers; /* ours are the kernel's */
	uint64_t refreshed_ns;
	uint32_t *told; /* processes, by the kernel's number */
	size_t told_count;
	struct named_stack stacks[STACK_BUCKETS];
	uint32_t stack_count;
	bool in_interrupt[MAX_STACKS]; /* by number */
};

struct enrich *enrich__new(const struct enrich_ways *ways)
{
	struct enrich *enrich = xcalloc(1, sizeof(*enrich));

	enrich->ways = *ways;
	enrich->tasks = tasks__new();
	enrich->kallsyms = kallsyms__new();
	/* Now, not at the first stall: a chain is followed while it happens. */
	kallsyms__load(enrich->kallsyms);
	enrich->unwinder = unwinder__new(ways->opener);
	enrich->symbols = symbols__new(ways->opener);
	enrich->same_numbers = tasks__in_first_namespace();
	enrich->told = xcalloc(MAX_PROCESSES, sizeof(*enrich->told));
	return enrich;
}

void enrich__free(struct enrich *enrich)
{
	if (!enrich)
		return;
	tasks__free(enrich->tasks);
	kallsyms__free(enrich->kallsyms);
	unwinder__free(enrich->unwinder);
	symbols__free(enrich->symbols);
	free(enrich->told);
	free(enrich);
}

const struct tasks *enrich__tasks(const struct enrich *enrich)
{
	return enrich->tasks;
}

int enrich__refresh(struct enrich *enrich)
{
	int fd = enrich->ways.open_tasks(enrich->ways.context);

	if (fd < 0)
		return fd;
	enrich->refreshed_ns = clock__now();
	return tasks__read(enrich->tasks, fd);
}

/* The entry of a thread; a thread that is new makes the list be read anew, not too often. */
static const struct ns_task_entry *find_task(struct enrich *enrich, uint32_t tid)
{
	const struct ns_task_entry *entry = tasks__by_tid(enrich->tasks, tid);

	if (entry || !tid || clock__now() - enrich->refreshed_ns < 100000000ull)
		return entry;
	enrich__refresh(enrich);
	return tasks__by_tid(enrich->tasks, tid);
}

/* What is not in our namespace has no number here: 0. */
static void translate(struct enrich *enrich, uint32_t *tgid, uint32_t *tid)
{
	const struct ns_task_entry *entry;

	if (enrich->same_numbers)
		return;
	entry = find_task(enrich, *tid ? *tid : *tgid);
	*tid = entry && *tid ? entry->view_tid : 0;
	*tgid = entry ? entry->view_tgid : 0;
}

static bool already_told(const struct enrich *enrich, uint32_t tgid)
{
	size_t i;

	for (i = enrich->told_count; i-- > 0;)
		if (enrich->told[i] == tgid)
			return true;
	return false;
}

static void send(struct enrich *enrich, const void *record, size_t len)
{
	enrich->ways.sink(enrich->ways.sink_context, record, len);
}

/* Its files are opened while it lives: it may have ended when a call of it is to be named. */
static void note_process(struct enrich *enrich, const struct ns_process *process)
{
	if (!(process->role & (NS_ROLE_TARGET | NS_ROLE_PEER)))
		return;
	symbols__note(enrich->symbols, process->head.tgid);
	if (enrich->told_count <= IMAGES_PROCESSES) /* further ones would push out the first */
		unwinder__note(enrich->unwinder, process->head.tgid);
}

static void tell_process(struct enrich *enrich, uint32_t tgid, const char *comm, uint64_t ts)
{
	struct ns_process out = {.head = {.type = NS_PROCESS, .len = sizeof(out), .ts = ts}};
	const struct ns_task_entry *entry;

	if (!tgid || already_told(enrich, tgid))
		return;
	out.role = enrich->ways.role(enrich->ways.context, tgid);
	if (!out.role)
		return;
	if (out.role & (NS_ROLE_TARGET | NS_ROLE_PEER))
		out.role &= ~NS_ROLE_CHAIN;
	entry = find_task(enrich, tgid);
	out.head.tgid = enrich->same_numbers ? tgid : entry ? entry->view_tgid : 0;
	if (!out.head.tgid)
		return;
	if (entry) {
		memcpy(out.comm, entry->comm, sizeof(out.comm));
		if (entry->ns_tgid != out.head.tgid)
			out.ns_pid = entry->ns_tgid;
	} else if (comm) {
		memcpy(out.comm, comm, sizeof(out.comm));
	}
	if (enrich->told_count < MAX_PROCESSES)
		enrich->told[enrich->told_count++] = tgid;
	note_process(enrich, &out);
	send(enrich, &out, sizeof(out));
}

void enrich__process(struct enrich *enrich, uint32_t tgid)
{
	tell_process(enrich, tgid, NULL, clock__now());
}

static uint64_t hash_stack(const __u64 *addresses)
{
	uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a */
	int i;

	for (i = 0; i < NS_STACK_MAX && addresses[i]; i++)
		hash = (hash ^ addresses[i]) * 0x100000001b3ull;
	return hash ? hash : 1;
}

/* The number of the stack with this hash, 0 when no more are numbered. *known: it was told. */
static uint32_t number_of(struct enrich *enrich, uint64_t hash, bool *known)
{
	size_t slot = hash & (STACK_BUCKETS - 1);

	while (enrich->stacks[slot].hash && enrich->stacks[slot].hash != hash)
		slot = (slot + 1) & (STACK_BUCKETS - 1);
	*known = enrich->stacks[slot].hash;
	if (*known)
		return enrich->stacks[slot].id;
	if (enrich->stack_count == MAX_STACKS - 1)
		return 0;
	enrich->stacks[slot].hash = hash;
	return enrich->stacks[slot].id = ++enrich->stack_count;
}

/* Or hidden: then nobody can tell. The thread that was interrupted is a victim, no waker. */
static bool in_interrupt(const char *stack)
{
	static const char *const functions[] = {"handle_softirqs",  "__do_softirq", "irq_exit_rcu",
						"common_interrupt", "sysvec_",      "el1h_64_irq",
						"gic_handle_irq",   "[hidden]"};
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strstr(stack, functions[i]))
			return true;
	return false;
}

/* The number of a stack; its names are told at the first sight of it. */
static uint32_t stack_id(struct enrich *enrich, const __u64 *addresses, uint64_t ts)
{
	struct ns_stack out = {.head = {.type = NS_STACK, .len = sizeof(out), .ts = ts}};
	bool known;

	if (!addresses[0])
		return 0;
	out.id = number_of(enrich, hash_stack(addresses), &known);
	if (known || !out.id)
		return out.id;
	kallsyms__stack(enrich->kallsyms, addresses, NS_STACK_MAX, out.text, sizeof(out.text));
	enrich->in_interrupt[out.id] = in_interrupt(out.text);
	send(enrich, &out, sizeof(out));
	return out.id;
}

/* Of a user stack, whose addresses say nothing beyond their process. */
static uint32_t text_id(struct enrich *enrich, const struct ns_stack *stack)
{
	uint64_t hash = 0x9ae16a3b2f90404full; /* not that of kernel stacks */
	struct ns_stack out = *stack;
	bool known;

	for (const char *at = stack->text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3ull;
	out.id = number_of(enrich, hash ? hash : 1, &known);
	if (!known && out.id)
		send(enrich, &out, sizeof(out));
	return out.id;
}

/* A thread that woke another on its own account: what it waits for is part of the chain. */
static void tell_waker(struct enrich *enrich, const struct ns_wait *wait)
{
	const struct ns_task_entry *waker;

	if (!wait->state || !wait->waker_tid || !wait->waker_stack_id ||
	    enrich->in_interrupt[wait->waker_stack_id] || already_told(enrich, wait->waker_tgid) ||
	    enrich->ways.role(enrich->ways.context, wait->waker_tgid))
		return;
	waker = find_task(enrich, wait->waker_tid);
	if (waker && !waker->kernel_thread)
		enrich->ways.waker(enrich->ways.context, wait, waker);
}

/* The kernel side takes the name only together with the stack. */
static void name_waker(struct enrich *enrich, struct ns_wait *wait)
{
	const struct ns_task_entry *waker;

	if (!wait->waker_tid || wait->waker_comm[0])
		return;
	waker = tasks__by_tid(enrich->tasks, wait->waker_tid);
	if (waker)
		memcpy(wait->waker_comm, waker->comm, sizeof(wait->waker_comm));
}

static void enrich_wait(struct enrich *enrich, const struct ns_wait_raw *raw)
{
	struct ns_wait out = raw->wait;

	out.head.len = sizeof(out);
	out.stack_id = stack_id(enrich, raw->stack, out.head.ts);
	out.waker_stack_id = stack_id(enrich, raw->waker_stack, out.head.ts);
	tell_waker(enrich, &out);
	name_waker(enrich, &out);
	tell_process(enrich, out.head.tgid, out.comm, out.head.ts);
	translate(enrich, &out.head.tgid, &out.head.tid);
	translate(enrich, &out.waker_tgid, &out.waker_tid);
	send(enrich, &out, sizeof(out));
}

static void enrich_call(struct enrich *enrich, const struct ns_call_raw *raw)
{
	struct ns_stack stack = {
		.head = {.type = NS_STACK, .len = sizeof(stack), .ts = raw->call.head.ts}};
	struct ns_call out = raw->call;

	out.head.len = sizeof(out);
	tell_process(enrich, out.head.tgid, NULL, out.head.ts);
	translate(enrich, &out.head.tgid, &out.head.tid);
	if (out.head.tgid) {
		out.truncated = unwinder__call(enrich->unwinder, enrich->symbols, out.head.tgid,
					       raw, stack.text, sizeof(stack.text));
		out.stack_id = text_id(enrich, &stack);
	}
	send(enrich, &out, sizeof(out));
}

static void enrich_conn(struct enrich *enrich, const struct ns_conn *raw)
{
	const struct ns_task_entry *entry =
		raw->head.tgid ? find_task(enrich, raw->head.tgid) : NULL;
	struct ns_conn out = *raw;

	if (entry)
		memcpy(out.comm, entry->comm, sizeof(out.comm));
	tell_process(enrich, out.head.tgid, NULL, out.head.ts);
	translate(enrich, &out.head.tgid, &out.head.tid);
	send(enrich, &out, sizeof(out));
}

void enrich__record(struct enrich *enrich, const void *record, size_t len)
{
	union {
		struct ns_head head;
		struct ns_thread_totals thread;
		unsigned char bytes[sizeof(struct ns_conn_totals)];
	} out;
	const struct ns_head *head = record;

	if (len >= sizeof(*head) && head->type == NS_WAIT && len >= sizeof(struct ns_wait_raw)) {
		enrich_wait(enrich, record);
		return;
	}
	if (len >= sizeof(*head) && head->type == NS_CALL && len >= sizeof(struct ns_call_raw)) {
		enrich_call(enrich, record);
		return;
	}
	if (len >= sizeof(*head) && head->type == NS_CONN && len >= sizeof(struct ns_conn)) {
		enrich_conn(enrich, record);
		return;
	}
	if (len < sizeof(*head) || len > sizeof(out)) {
		send(enrich, record, len);
		return;
	}
	memcpy(&out, record, len);
	if (out.head.type == NS_THREAD_TOTALS && len >= sizeof(out.thread))
		tell_process(enrich, out.head.tgid, out.thread.comm, out.head.ts);
	translate(enrich, &out.head.tgid, &out.head.tid);
	send(enrich, &out, len);
}
