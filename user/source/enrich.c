// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/enrich.h"
#include "user/kernel/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/state.h"
#include "user/analyze/waits/kernel_stack.h"
#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/wakers.h"
#include "user/base/array.h"
#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/source/call_queue.h"
#include "user/source/full_queues.h"
#include "user/source/stack_ids.h"
#include "user/symbols/images/images.h"

/* The last processes told; one that was told before these is told again. */
#define MAX_PROCESSES 8192

#define FIRST_NO_TID (1u << 22) /* PID_MAX_LIMIT, include/linux/threads.h */

/* A process by the kernel's number, and by the one that it has, or had, where we are. */
struct told_process {
	uint32_t tgid;
	uint32_t view;
	bool ended;             /* the next one of that number is another */
	char comm[NS_COMM_LEN]; /* as it was told */
	uint32_t python_tries;
	uint64_t python_due_ns; /* when it is looked for CPython in it next */
	uint64_t python_ts;     /* when it was found; 0 not */
};

/* The list of threads is read anew in no more than this part of the time, or this often. */
#define REFRESH_PART 50
#define REFRESH_NS   100000000ull

/*
 * An interpreter is there some 15 ms behind its execve(), and a script may stall soon after; others
 * take their time, and the time to the next look doubles; later on, a call without its frames asks
 * for more.
 */
#define PYTHON_SOON    5
#define PYTHON_TRIES   16
#define PYTHON_STEP_NS 5000000ull

struct enrich {
	struct enrich_ways ways;
	struct tasks *tasks;
	struct call_queue *queue;
	bool same_numbers; /* ours are the kernel's */
	uint64_t refresh_due_ns;
	struct told_process *told;
	size_t told_count; /* ever */
	uint64_t pythons_due_ns;
	struct stack_ids *stack_ids;
	struct full_queues *full_queues;
};

static call_queue_out hand_on;

struct enrich *enrich__new(const struct enrich_ways *ways)
{
	struct enrich *enrich = xcalloc(1, sizeof(*enrich));

	enrich->ways = *ways;
	enrich->tasks = tasks__new();
	enrich->queue = call_queue__new(hand_on, enrich);
	enrich->same_numbers = tasks__in_first_namespace();
	enrich->stack_ids = stack_ids__new();
	enrich->full_queues = full_queues__new();
	enrich->told = xcalloc(MAX_PROCESSES, sizeof(*enrich->told));
	return enrich;
}

void enrich__free(struct enrich *enrich)
{
	if (!enrich)
		return;
	tasks__free(enrich->tasks);
	resolver__forget(enrich->ways.resolver, enrich);
	call_queue__free(enrich->queue);
	stack_ids__free(enrich->stack_ids);
	full_queues__free(enrich->full_queues);
	free(enrich->told);
	free(enrich);
}

const struct tasks *enrich__tasks(const struct enrich *enrich)
{
	return enrich->tasks;
}

int enrich__refresh(struct enrich *enrich)
{
	uint64_t begun_ns = clock__now(), pause_ns;
	int fd = enrich->ways.open_tasks(enrich->ways.context), err;

	if (fd < 0)
		return fd;
	err = tasks__read(enrich->tasks, fd);
	pause_ns = (clock__now() - begun_ns) * REFRESH_PART;
	enrich->refresh_due_ns = begun_ns + min_u64(pause_ns, REFRESH_NS);
	return err;
}

/* The entry of a thread; a thread that is new makes the list be read anew, not too often. */
static const struct ns_task_entry *find_task(struct enrich *enrich, uint32_t tid)
{
	const struct ns_task_entry *entry = tasks__by_tid(enrich->tasks, tid);

	if (entry || !tid || clock__now() < enrich->refresh_due_ns)
		return entry;
	enrich__refresh(enrich);
	return tasks__by_tid(enrich->tasks, tid);
}

pid_t enrich__view(struct enrich *enrich, uint32_t tid)
{
	const struct ns_task_entry *entry;

	if (enrich->same_numbers || !tid)
		return tid;
	entry = find_task(enrich, tid);
	return entry ? entry->view_tid : 0;
}

/* NULL: it was not told. */
static struct told_process *find_told(const struct enrich *enrich, uint32_t tgid)
{
	size_t i = enrich->told_count < MAX_PROCESSES ? enrich->told_count : MAX_PROCESSES;

	while (i-- > 0)
		if (enrich->told[i].tgid == tgid)
			return &enrich->told[i];
	return NULL;
}

/*
 * What is not in our namespace has no number here: 0. A process that has ended, or is not in the
 * list yet, keeps the one that it was told by, and its first thread has that too.
 */
static void translate(struct enrich *enrich, uint32_t *tgid, uint32_t *tid)
{
	const struct ns_task_entry *entry;
	const struct told_process *told;

	if (enrich->same_numbers)
		return;
	entry = find_task(enrich, *tid ? *tid : *tgid);
	told = entry ? NULL : find_told(enrich, *tgid);
	if (*tid)
		*tid = entry ? entry->view_tid : told && *tid == *tgid ? told->view : 0;
	*tgid = entry ? entry->view_tgid : told ? told->view : 0;
}

/*
 * Of a record's own thread. One of a process that is known had ended before it was looked for, as
 * it can on a busy machine: it has a number that no thread can have.
 */
static void translate_head(struct enrich *enrich, struct ns_head *head)
{
	uint32_t tid = head->tid;

	translate(enrich, &head->tgid, &head->tid);
	if (head->tgid && tid && !head->tid)
		head->tid = tid | FIRST_NO_TID;
}

/* A thread that is named beside that of the head. */
static void translate_other(struct enrich *enrich, uint32_t *tid)
{
	uint32_t tgid = 0;

	if (*tid)
		translate(enrich, &tgid, tid);
}

static bool is_of_a_thread(uint32_t type)
{
	return type == NS_WAIT || type == NS_RAN || type == NS_THROTTLE || type == NS_THREAD_TOTALS;
}

/* What a process does that is not in our pid namespace is not told. */
static void send(struct enrich *enrich, const void *record, size_t len)
{
	const struct ns_head *head = record;

	if (len >= sizeof(*head) && is_of_a_thread(head->type) && !head->tid)
		return;
	call_queue__record(enrich->queue, record, len);
}

/* Its files are opened while it lives: it may have ended when a call of it is to be named. */
static void note_process(struct enrich *enrich, const struct ns_process *process)
{
	if (!(process->role & (NS_ROLE_TARGET | NS_ROLE_PEER)))
		return;
	/* Further ones would push out the first. */
	resolver__note(enrich->ways.resolver, process->head.tgid,
		       enrich->told_count <= IMAGES_PROCESSES);
}

/* tgid: the kernel's number of it. */
static void send_process(struct enrich *enrich, uint32_t tgid, struct ns_process *out)
{
	struct told_process *told = find_told(enrich, tgid);

	if (out->role & (NS_ROLE_TARGET | NS_ROLE_PEER))
		out->role &= ~NS_ROLE_CHAIN;
	if (!told || told->ended) {
		told = &enrich->told[enrich->told_count++ % MAX_PROCESSES];
		*told = (struct told_process){.tgid = tgid, .view = out->head.tgid};
		if (!(out->role & (NS_ROLE_TARGET | NS_ROLE_PEER)))
			told->python_tries = PYTHON_TRIES;
		enrich->pythons_due_ns = 0;
	}
	memcpy(told->comm, out->comm, sizeof(told->comm));
	send(enrich, out, sizeof(*out));
}

static void take_python(void *context, uint64_t tgid, const struct resolver_answer *answer)
{
	struct enrich *enrich = context;
	struct told_process *told = find_told(enrich, (uint32_t)tgid);

	if (!answer)
		return;
	enrich->ways.python(enrich->ways.context, (uint32_t)tgid, &answer->python);
	if (!told)
		return;
	told->python_tries = PYTHON_TRIES;
	if (told->python_ts)
		return;
	told->python_ts = clock__now();
	log__debug("process %u runs CPython: stacks have its functions too", (uint32_t)tgid);
}

void enrich__look_for_python(struct enrich *enrich, uint32_t tgid, uint32_t view)
{
	if (enrich->ways.python)
		resolver__python(enrich->ways.resolver, view, take_python, enrich, tgid);
}

static void look_for_pythons(struct enrich *enrich)
{
	size_t count = enrich->told_count < MAX_PROCESSES ? enrich->told_count : MAX_PROCESSES;
	uint64_t now = clock__now();
	uint32_t tries;

	if (!enrich->ways.python || now < enrich->pythons_due_ns)
		return;
	enrich->pythons_due_ns = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		struct told_process *told = &enrich->told[i];

		if (told->ended || told->python_tries >= PYTHON_TRIES)
			continue;
		if (now >= told->python_due_ns) {
			tries = told->python_tries++;
			told->python_due_ns =
				now +
				(PYTHON_STEP_NS << (tries > PYTHON_SOON ? tries - PYTHON_SOON : 0));
			enrich__look_for_python(enrich, told->tgid, told->view);
		}
		if (told->python_due_ns < enrich->pythons_due_ns)
			enrich->pythons_due_ns = told->python_due_ns;
	}
}

/* It has loaded the interpreter, or become another program, since. */
static void look_again_for_python(struct enrich *enrich, const struct ns_call_raw *call)
{
	struct told_process *told = find_told(enrich, call->call.head.tgid);

	if (told && !call->python_count && told->python_tries >= PYTHON_TRIES) {
		told->python_tries = PYTHON_TRIES - 1;
		enrich->pythons_due_ns = 0;
	}
}

/* A process that forks and lets its children do the work has the same name as they. */
static uint32_t master_of(const struct enrich *enrich, const struct ns_task_entry *entry)
{
	const struct ns_task_entry *parent = tasks__by_tid(enrich->tasks, entry->parent);

	if (!parent || strncmp(parent->comm, entry->comm, sizeof(entry->comm)))
		return 0;
	return enrich->same_numbers ? parent->tgid : parent->view_tgid;
}

static void tell_process(struct enrich *enrich, uint32_t tgid, const char *comm, uint64_t ts)
{
	struct ns_process out = {.head = {.type = NS_PROCESS, .len = sizeof(out), .ts = ts}};
	const struct told_process *told = find_told(enrich, tgid);
	const struct ns_task_entry *entry;

	if (!tgid || (told && !told->ended))
		return;
	out.role = enrich->ways.role(enrich->ways.context, tgid);
	if (!out.role)
		return;
	entry = find_task(enrich, tgid);
	if (enrich->same_numbers)
		out.head.tgid = tgid;
	else if (entry)
		out.head.tgid = entry->view_tgid;
	else if (out.role & NS_ROLE_TARGET) /* it is in our namespace, and has ended */
		out.head.tgid = tgid | FIRST_NO_TID;
	else
		return;
	if (entry) {
		memcpy(out.comm, entry->comm, sizeof(out.comm));
		if (entry->ns_tgid != out.head.tgid)
			out.ns_pid = entry->ns_tgid;
		out.master = master_of(enrich, entry);
	} else if (comm) {
		memcpy(out.comm, comm, sizeof(out.comm));
	}
	container__of((pid_t)out.head.tgid, out.container, sizeof(out.container));
	note_process(enrich, &out);
	send_process(enrich, tgid, &out);
}

/* As the kernel side tells it at its end and at an execve(): it may have been too short for us, and
 * another program has another name, and may run CPython. */
static void enrich_process(struct enrich *enrich, const struct ns_process *raw)
{
	struct told_process *told = find_told(enrich, raw->head.tgid);
	struct ns_process out = *raw;

	if (told && !strncmp(told->comm, raw->comm, sizeof(told->comm)))
		return;
	if (told && raw->role & (NS_ROLE_TARGET | NS_ROLE_PEER)) {
		told->python_tries = 0;
		told->python_due_ns = 0;
		told->python_ts = 0;
		enrich->pythons_due_ns = 0;
	}
	translate_head(enrich, &out.head);
	out.head.tid = 0;
	if (out.head.tgid)
		send_process(enrich, raw->head.tgid, &out);
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

/* Its names are sent at the first sight of it. */
static struct stack_id kernel_stack(struct enrich *enrich, const __u64 *addresses, uint64_t ts)
{
	struct ns_stack out = {.head = {.type = NS_STACK, .len = sizeof(out), .ts = ts}};
	const struct wake_context context = {.kernel = out.text, .comm = "a thread"};
	struct stack_id *stack;

	if (!addresses[0])
		return (struct stack_id){0};
	stack = stack_ids__find(enrich->stack_ids, hash_stack(addresses));
	if (stack->is_new) {
		out.id = stack->id;
		kallsyms__stack(enrich->ways.kallsyms, addresses, NS_STACK_MAX, out.text,
				sizeof(out.text));
		/* Of hidden names nobody can tell. */
		stack->in_interrupt =
			stack__in_interrupt(out.text) || stack__has(out.text, "[hidden]");
		stack->by_sender = wake__is_by_sender(&context);
		send(enrich, &out, sizeof(out));
	}
	return *stack;
}

/* The number of a user stack, whose addresses say nothing beyond their process. */
static uint32_t user_stack(struct enrich *enrich, const char *text, uint64_t ts)
{
	struct ns_stack out = {.head = {.type = NS_STACK, .len = sizeof(out), .ts = ts}};
	uint64_t hash = 0x9ae16a3b2f90404full; /* not that of kernel stacks */
	const struct stack_id *stack;

	snprintf(out.text, sizeof(out.text), "%s", text);
	for (const char *at = out.text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3ull;
	stack = stack_ids__find(enrich->stack_ids, hash ? hash : 1);
	out.id = stack->id;
	if (stack->is_new)
		enrich->ways.sink(enrich->ways.sink_context, &out, sizeof(out));
	return out.id;
}

/* Copied then, it is a place in the interpreter: the next copy has that in its program. */
static bool is_from_before_python(const struct enrich *enrich, const struct ns_call *call)
{
	size_t i = enrich->told_count < MAX_PROCESSES ? enrich->told_count : MAX_PROCESSES;

	while (i-- > 0)
		if (enrich->told[i].view == call->head.tgid)
			return call->head.ts < enrich->told[i].python_ts;
	return false;
}

/* Out of the queue: nothing is behind in front of it any more. */
static void hand_on(void *context, const void *record, size_t len, const char *text)
{
	struct enrich *enrich = context;
	struct ns_call call;

	if (text) {
		memcpy(&call, record, sizeof(call));
		if (is_from_before_python(enrich, &call))
			return;
		call.stack_id = user_stack(enrich, text, call.head.ts);
		record = &call;
	}
	enrich->ways.sink(enrich->ways.sink_context, record, len);
}

/* A thread that woke another on its own account: what it waits for is part of the chain. */
static void tell_waker(struct enrich *enrich, const struct ns_wait *wait,
		       const struct stack_id *waker_stack)
{
	const struct ns_task_entry *waker;

	bool is_own_doing =
		socket__is_udp(&wait->socket) ? waker_stack->by_sender : !waker_stack->in_interrupt;

	if (!wait->state || !wait->waker_tid || !waker_stack->id || !is_own_doing ||
	    find_told(enrich, wait->waker_tgid) ||
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
	struct stack_id waker_stack = kernel_stack(enrich, raw->waker_stack, out.head.ts);

	out.head.len = sizeof(out);
	out.stack_id = kernel_stack(enrich, raw->stack, out.head.ts).id;
	out.waker_stack_id = waker_stack.id;
	tell_waker(enrich, &out, &waker_stack);
	name_waker(enrich, &out);
	tell_process(enrich, out.head.tgid, out.comm, out.head.ts);
	translate_head(enrich, &out.head);
	translate(enrich, &out.waker_tgid, &out.waker_tid);
	translate_other(enrich, &out.op_tid);
	translate_other(enrich, &out.op_by_tid);
	translate_other(enrich, &out.socket.peer_tgid);
	send(enrich, &out, sizeof(out));
}

static int by_time(const void *a, const void *b)
{
	const struct ns_runner_raw *left = a, *right = b;

	return left->us < right->us ? 1 : left->us > right->us ? -1 : 0;
}

/* The three that ran longest, with their names as far as they are still there. */
static void enrich_ran(struct enrich *enrich, const struct ns_ran_raw *raw)
{
	struct ns_ran out = raw->ran;
	struct ns_runner_raw runners[NS_RUNNERS_RAW];

	memcpy(runners, raw->runners, sizeof(runners));
	sort_array(runners, NS_RUNNERS_RAW, sizeof(runners[0]), by_time);
	for (size_t i = 0; i < NS_RUNNERS_RAW; i++) {
		const struct ns_task_entry *task;

		if (i >= NS_RUNNERS) {
			out.others_us += runners[i].us;
			continue;
		}
		out.runners[i] = (struct ns_runner){.tgid = runners[i].tgid,
						    .tid = runners[i].tid,
						    .us = runners[i].us,
						    .prio = runners[i].prio};
		task = find_task(enrich, runners[i].tid);
		if (task)
			memcpy(out.runners[i].comm, task->comm, NS_COMM_LEN);
		translate(enrich, &out.runners[i].tgid, &out.runners[i].tid);
	}
	out.head.len = sizeof(out);
	out.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	translate_head(enrich, &out.head);
	send(enrich, &out, sizeof(out));
}

static void take_names(void *context, uint64_t tag, const struct resolver_answer *answer)
{
	struct enrich *enrich = context;

	call_queue__answer(enrich->queue, tag, answer ? answer->text : NULL,
			   !answer || answer->truncated);
}

static void enrich_call(struct enrich *enrich, const struct ns_call_raw *raw)
{
	struct ns_call out = raw->call;

	out.head.len = sizeof(out);
	tell_process(enrich, out.head.tgid, NULL, out.head.ts);
	look_again_for_python(enrich, raw);
	look_for_pythons(enrich); /* before the names are asked for, which may take long */
	translate_head(enrich, &out.head);
	if (out.head.tgid)
		resolver__call(enrich->ways.resolver, out.head.tgid, raw, take_names, enrich,
			       call_queue__call(enrich->queue, &out));
}

/* It may have taken another name since it was told: a child that was forked as a rule does. */
static void tell_name(struct enrich *enrich, const struct ns_conn *raw)
{
	struct ns_process out = {.head = raw->head};

	out.head.type = NS_PROCESS;
	out.head.len = sizeof(out);
	out.head.conn = 0;
	out.role = raw->role;
	memcpy(out.comm, raw->comm, sizeof(out.comm));
	enrich_process(enrich, &out);
}

static void enrich_conn(struct enrich *enrich, const struct ns_conn *raw)
{
	const struct ns_task_entry *entry =
		raw->head.tgid ? find_task(enrich, raw->head.tgid) : NULL;
	const struct told_process *told;
	struct ns_conn out = *raw;

	tell_process(enrich, raw->head.tgid, raw->comm, raw->head.ts);
	if (raw->comm[0])
		tell_name(enrich, raw);
	told = find_told(enrich, raw->head.tgid);
	if (told)
		memcpy(out.comm, told->comm, sizeof(out.comm));
	else if (entry && !out.comm[0])
		memcpy(out.comm, entry->comm, sizeof(out.comm));
	translate_head(enrich, &out.head);
	send(enrich, &out, sizeof(out));
}

/* Any other record: only numbers in it change. */
static void enrich_plain(struct enrich *enrich, const void *record, size_t len)
{
	union {
		struct ns_head head;
		struct ns_thread_totals thread;
		struct ns_ring ring;
		struct ns_uring uring;
		struct ns_throttle throttle;
		struct ns_uring_totals longest;
	} out;

	if (len < sizeof(out.head) || len > sizeof(out)) {
		send(enrich, record, len);
		return;
	}
	memcpy(&out, record, len);
	if (out.head.type == NS_THREAD_TOTALS && len >= sizeof(out.thread))
		tell_process(enrich, out.head.tgid, out.thread.comm, out.head.ts);
	else if (out.head.type == NS_RING || out.head.type == NS_URING_TOTALS)
		tell_process(enrich, out.head.tgid, NULL, out.head.ts);
	if (out.head.type == NS_RING && len >= sizeof(out.ring))
		translate_other(enrich, &out.ring.sq_tid);
	if (out.head.type == NS_URING && len >= sizeof(out.uring))
		translate_other(enrich, &out.uring.by_tid);
	translate_head(enrich, &out.head);
	send(enrich, &out, len);
}

/* That it listens, or what it dropped for want of room. */
static void enrich_listener(struct enrich *enrich, const struct ns_listener *raw)
{
	pid_t pid = enrich__view(enrich, raw->head.tgid);
	struct ns_listener out = *raw;

	out.drops = full_queues__drops(enrich->full_queues, pid, raw->drops);
	if (out.drops || !raw->drops)
		enrich_plain(enrich, &out, sizeof(out));
}

static void enrich_exit(struct enrich *enrich, const struct ns_head *raw)
{
	struct told_process *told = find_told(enrich, raw->tgid);

	enrich_plain(enrich, raw, sizeof(*raw));
	if (told)
		told->ended = true;
	full_queues__forget(enrich->full_queues, enrich__view(enrich, raw->tgid));
}

void enrich__record(struct enrich *enrich, const void *record, size_t len)
{
	const struct ns_head *head = record;
	uint32_t type = len >= sizeof(*head) ? head->type : 0;

	if (type == NS_WAIT && len >= sizeof(struct ns_wait_raw))
		enrich_wait(enrich, record);
	else if (type == NS_RAN && len >= sizeof(struct ns_ran_raw))
		enrich_ran(enrich, record);
	else if (type == NS_CALL && len >= sizeof(struct ns_call_raw))
		enrich_call(enrich, record);
	else if (type == NS_CONN && len >= sizeof(struct ns_conn))
		enrich_conn(enrich, record);
	else if (type == NS_PROCESS && len >= sizeof(struct ns_process))
		enrich_process(enrich, record);
	else if (type == NS_LISTENER && len >= sizeof(struct ns_listener))
		enrich_listener(enrich, record);
	else if (type == NS_EXIT)
		enrich_exit(enrich, head);
	else
		enrich_plain(enrich, record, len);
}

uint64_t enrich__due_ns(const struct enrich *enrich)
{
	return enrich->ways.python ? enrich->pythons_due_ns : UINT64_MAX;
}

bool enrich__settle(struct enrich *enrich, uint64_t wait_ns)
{
	look_for_pythons(enrich);
	resolver__poll(enrich->ways.resolver, call_queue__empty(enrich->queue) ? 0 : wait_ns);
	return call_queue__empty(enrich->queue);
}

void enrich__flush(struct enrich *enrich)
{
	call_queue__flush(enrich->queue);
}
