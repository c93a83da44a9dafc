// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/words/chain_words.h"

#include <stdio.h>
#include <string.h>

#include "user/analyze/waits/wait_kind.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/explain/call_site.h"
#include "user/record/kernel_functions.h"

#define NAME_MOST 64 /* bytes that are shown of a function's name */

/* The first of these that a stack has, in the order of the table. */
struct sign {
	const char *functions;
	const char *words;
};

static const char *read_sign(const struct sign *signs, const char *stack)
{
	for (; signs->functions; signs++) {
		if (stack__has(stack, signs->functions))
			return signs->words;
	}
	return NULL;
}

/* The system call by one of its functions: "read" of __x64_sys_read or ksys_read. */
static size_t syscall_of(const char *kernel, const char **name)
{
	static const char *const leads[] = {"__x64_sys_", "__arm64_sys_", "__ia32_sys_", "ksys_",
					    "__sys_",     "__do_sys_",    "__se_sys_"};

	for (size_t i = 0; i < COUNT_OF(leads); i++) {
		for (const char *at = kernel; at && *at; at += strcspn(at, ";"), at += *at == ';') {
			if (strncmp(at, leads[i], strlen(leads[i])) != 0)
				continue;
			*name = at + strlen(leads[i]);
			return strcspn(*name, ";+.");
		}
	}
	return 0;
}

/* "words, in read()", or what there is of both. */
static char *join(char *dst, size_t size, const char *kernel, const char *words)
{
	const char *name = NULL;
	size_t bytes = syscall_of(kernel, &name);
	char safe[TEXT_SAFE(NAME_MOST)];

	snprintf(dst, size, "%s", words ? words : "");
	if (bytes)
		text__add(dst, size, ", in ", "%s()",
			  text__safe(safe, sizeof(safe), name,
				     bytes < NAME_MOST ? bytes : NAME_MOST));
	return dst;
}

static const char *waiting_words(const char *kernel)
{
	static const struct sign ipc[] = {
		{KFN_PIPE_READ "|pipe_wait_readable", "data in a pipe"},
		{KFN_PIPE_WRITE "|pipe_wait_writable", "room in a pipe"},
		{KFN_UNIX_STREAM_READ, "data of a Unix socket"},
		{"eventfd_read", "an eventfd"},
		{NULL, NULL},
	};
	static const struct sign others[] = {
		{"futex_wait|do_futex", "a futex"},
		{"worker_thread|kthread_worker_fn", "work to do"},
		{"io_wq_submit_work", "the work of its io_uring operation"},
		{NULL, NULL},
	};
	static const char *const words[] = {
		[WAIT_STOPPED] = "SIGCONT",
		[WAIT_RECEIVE] = "data of a socket",
		[WAIT_SEND] = "room in a socket's send buffer",
		[WAIT_CONNECT] = "a connection to be established",
		[WAIT_ACCEPT] = "an incoming connection",
		[WAIT_MANY] = "any of several descriptors",
		[WAIT_URING] = "an io_uring completion",
		[WAIT_MUTEX] = "a kernel lock",
		[WAIT_IPC] = "another process",
		[WAIT_CHILD] = "a child",
		[WAIT_DISK] = "the disk",
		[WAIT_MEMORY] = "memory",
		[WAIT_SLEEP] = "the end of the sleep it asked for",
		[WAIT_PAUSE] = "a signal",
		[WAIT_WORK] = "io_uring operations to do",
	};
	enum wait_kind kind = wait_kind__by_stack(kernel);
	const char *found = kind == WAIT_IPC ? read_sign(ipc, kernel) : NULL;

	if (found)
		return found;
	if (kind < COUNT_OF(words) && words[kind])
		return words[kind];
	return read_sign(others, kernel);
}

char *chain__slept_in(char *dst, size_t size, uint32_t state, const char *kernel)
{
	if (!state) {
		snprintf(dst, size, "a CPU, ready to run");
		return dst;
	}
	join(dst, size, kernel, waiting_words(kernel));
	if (!*dst)
		chain__kernel(dst, size, kernel, 3);
	return dst;
}

static const char *waker_words(const struct profile_hop *hop)
{
	/* On loopback a timer's stack goes on into the receiver: the timers first. */
	static const struct sign timers[] = {
		{KFN_TCP_DELACK_TIMER, "TCP's delayed-ACK timer expired"},
		{KFN_TCP_WRITE_TIMER, "TCP's retransmission timer expired"},
		{"io_timeout_fn", "an io_uring timeout expired"},
		{KFN_URING_WAIT_LIMIT, "the time limit of its wait expired"},
		{"io_link_timeout_fn", "the time limit of an io_uring operation expired"},
		{NULL, NULL},
	};
	static const struct sign others[] = {
		{"futex_wake|futex_wake_op|futex_requeue", "woke a futex"},
		{KFN_PIPE_WRITE, "wrote to a pipe"},
		{KFN_PIPE_READ, "read from a pipe"},
		{"unix_stream_sendmsg", "wrote to a Unix socket"},
		{"eventfd_write", "wrote to an eventfd"},
		{"mutex_unlock|rwsem_wake", "released a kernel lock"},
		{"do_exit", "ended"},
		{"complete_signal", "sent a signal"},
		{"io_poll_wake", "made ready what an io_uring operation waits for"},
		/* Of io_uring's own stacks the innermost first: work is passed on while some is
		   done. */
		{KFN_URING_ENQUEUE, "gave an io_uring operation to a worker"},
		{"io_msg_ring", "sent a message to the ring"},
		{"io_wq_submit_work", "completed an io_uring operation as a worker"},
		{KFN_URING_WORKER, "finished its io_uring work"},
		{"io_sq_thread", "completed an io_uring operation as the submission thread"},
		{"io_submit_sqes", "submitted an io_uring operation that was done at once"},
		{"tctx_task_work|__io_run_local_work", "completed an io_uring operation"},
		{KFN_URING_ENTER, "submitted io_uring operations"},
		{NULL, NULL},
	};
	static const char *const words[] = {
		[WAKER_NETWORK] = "a segment arrived",
		[WAKER_ROOM] = "an ACK made room",
		[WAKER_TIMER] = "a timer expired",
		[WAKER_DISK] = "block I/O completed",
	};
	enum waker waker = waker__by_stack_alone(hop->kernel);
	const char *found = read_sign(timers, hop->kernel);

	if (found)
		return found;
	if (hop->kind == WAKER_IS_THREAD && waker == WAKER_NETWORK)
		return "sent a segment";
	if (waker < COUNT_OF(words) && words[waker])
		return words[waker];
	return read_sign(others, hop->kernel);
}

char *chain__woke_by(char *dst, size_t size, const struct profile_hop *hop)
{
	return join(dst, size, hop->kind == WAKER_IS_THREAD ? hop->kernel : NULL, waker_words(hop));
}

char *chain__callers(char *dst, size_t size, const char *user)
{
	*dst = '\0';
	if (user && *user)
		site__callers(dst, size, user);
	return dst;
}

/* Every sleep and every system call goes through these: they say nothing. */
#define EVERYWHERE                                                                                 \
	"__schedule|schedule|schedule_timeout|schedule_hrtimeout_range|"                           \
	"schedule_hrtimeout_range_clock|wait_woken|do_syscall_64|"                                 \
	"entry_SYSCALL_64_after_hwframe|x64_sys_call|el0t_64_sync_handler|el0_svc|do_el0_svc|"     \
	"el0t_64_sync|invoke_syscall|el0_svc_common"

char *chain__kernel(char *dst, size_t size, const char *kernel, unsigned most)
{
	unsigned shown = 0;
	size_t bytes;

	*dst = '\0';
	for (; kernel && *kernel && shown <= most; kernel += bytes + (kernel[bytes] == ';')) {
		char safe[TEXT_SAFE(NAME_MOST)] = "...";

		bytes = strcspn(kernel, ";");
		if (!bytes || frame__is(kernel, EVERYWHERE))
			continue;
		if (shown++ < most)
			text__safe(safe, sizeof(safe), kernel,
				   bytes < NAME_MOST ? bytes : NAME_MOST);
		text__add(dst, size, " <- ", "%s", safe);
	}
	return dst;
}

/* Of which the chains have nothing: nobody wakes who has not slept. */
static uint64_t unslept_ns(const struct profile *profile)
{
	uint64_t ns = profile->runqueue_ns;

	for (size_t i = 0; i < profile->entry_count; i++) {
		uint64_t own = profile->entries[i].state ? profile->entries[i].runqueue_ns
							 : profile->entries[i].ns;

		ns -= own < ns ? own : ns;
	}
	return ns;
}

/* From so many waits a second on a sample is taken of the short ones, if all are not asked for. */
#define MANY_WAITS 2000

static char *name_sample(char *dst, size_t size, const struct profile *profile)
{
	const struct profile_sample *sample = &profile->sample;
	uint64_t window = profile->end_ts - profile->start_ts;

	if (!sample->waits && (!window || profile->waits / (window / 1e9) <= MANY_WAITS))
		return NULL;
	if (!sample->waits) {
		snprintf(
			dst, size,
			"each of %s was looked at, which takes some microseconds of the CPU: it is in the times on the run queue too, and what runs there is slower",
			counted_text(profile->waits, "wait"));
		return dst;
	}
	snprintf(dst, size, "of %s below 1 ms (%s) %s were looked at%s; --exact looks at each",
		 counted_text(sample->waits, "wait"), duration_text(sample->ns),
		 sample->looked_at ? count_text(sample->looked_at) : "none",
		 sample->looked_at ? ", and stand for the others" : "");
	return dst;
}

char *profile__note(char *dst, size_t size, const struct profile *profile, enum profile_note note)
{
	uint64_t unslept;

	if (note == PROFILE_NOTE_SAMPLE)
		return name_sample(dst, size, profile);
	unslept = unslept_ns(profile);
	if (unslept < (profile->end_ts - profile->start_ts) / 100)
		return NULL;
	snprintf(
		dst, size,
		"%s on the run queue are in no chain: preempted, or out of a CPU quota (cpu.stat); --state=0 shows where",
		duration_text(unslept));
	return dst;
}

char *profile__lost(char *dst, size_t size, const struct profile *profile,
		    enum profile_loss_kind kind)
{
	static const struct {
		const char *one, *what;
	} words[PROFILE_LOST_KINDS] = {
		[PROFILE_LOST_STACKS] = {"stack", "without room (--stack-storage-size)"},
		[PROFILE_LOST_KEYS] = {"wait", "without room, in none of the chains"},
		[PROFILE_LOST_THREADS] = {"thread", "without room, not watched"},
		[PROFILE_LOST_UNWINDS] = {"user stack", "not copied or not unwound"},
		[PROFILE_LOST_RECORDS] = {"record", "without room: names or causes may be missing"},
	};
	const struct profile_loss *lost = &profile->lost[kind];
	uint64_t whole = profile->total_ns + profile->lost[PROFILE_LOST_KEYS].ns;

	snprintf(dst, size, "%s %s", counted_text(lost->count, words[kind].one), words[kind].what);
	if (lost->ns)
		text__add(dst, size, ": ", "%s, %s of the time", duration_text(lost->ns),
			  part_text(lost->ns, whole));
	return dst;
}
