// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The resolver's two processes: one reads files and answers; the other waits for its end, and
 * starts it anew. What ended two of them is answered with "not known". Neither has a right of its
 * own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/state.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/kernel/privileges.h"
#include "user/symbols/images/cut_files.h"
#include "user/symbols/python/python.h"
#include "user/symbols/resolver_parts.h"

/* libdw keeps much on the stack, and our own may be as small as `ulimit -s` says. */
#define STACK_BYTES (64u << 20)
/* For one file at one question, beyond which it is ended: on a CPU, as most is computing, and by
 * the clock, as a file may be on a disk that does not answer. */
#define CPU_SECONDS   5
#define CLOCK_SECONDS 10

struct worker {
	struct resolver_shared *shared;
	struct symbols *symbols;
	struct unwinder *unwinder;
	struct pythons *pythons;
	struct resolver_answer reply;
	union {
		struct question head;
		unsigned char bytes[sizeof(struct question) + RESOLVER_DATA];
	} question; /* at the end, as its data has any length */
};

/* ---- answers ---- */

/* The bytes of a reply that are used. */
static size_t length_of(const struct worker *worker)
{
	const struct resolver_answer *reply = &worker->reply;

	switch (worker->question.head.what) {
	case RESOLVER_CALL:
	case RESOLVER_STACK:
	case RESOLVER_PYTHON_NAMES:
		return offsetof(struct resolver_answer, text) + strlen(reply->text) + 1;
	case RESOLVER_PYTHON:
		return offsetof(struct resolver_answer, python) + sizeof(reply->python);
	case RESOLVER_SAMPLE:
		return offsetof(struct resolver_answer, pcs) + reply->count * sizeof(reply->pcs[0]);
	default:
		return offsetof(struct resolver_answer, text);
	}
}

static void answer_call(struct worker *worker)
{
	const struct question *question = &worker->question.head;
	const struct ns_call_raw *call = (const void *)question->data;
	struct resolver_answer *reply = &worker->reply;

	if (question->len < sizeof(*call))
		return;
	reply->truncated = unwinder__call(worker->unwinder, worker->symbols, question->pid, call,
					  reply->text, NS_STACK_TEXT_MAX);
	pythons__join(worker->pythons, question->pid, call->python,
		      call->python_count < NS_PYTHON_FRAMES ? call->python_count : NS_PYTHON_FRAMES,
		      reply->text, NS_STACK_TEXT_MAX);
	reply->known = 1;
}

static void answer_sample(struct worker *worker)
{
	const struct question *question = &worker->question.head;
	const struct ns_offcpu_sample *sample = (const void *)question->data;
	struct resolver_answer *reply = &worker->reply;
	struct unwind_frames frames;
	struct unwind_copy copy;
	const char *why;

	if (question->len < sizeof(*sample))
		return;
	copy = (struct unwind_copy){.regs = sample->regs,
				    .stack = sample->stack,
				    .stack_len = question->len - sizeof(*sample),
				    .base = sample->base,
				    .there = sample->there};
	why = unwinder__frames(worker->unwinder, question->pid, &copy, &frames);
	if (why) {
		log__debug("a stack of process %d was not unwound: %s", (int)question->pid, why);
		return;
	}
	reply->tgid = sample->tgid;
	reply->ip = sample->regs[NS_REG_IP];
	reply->sp = sample->regs[NS_REG_SP];
	reply->end = frames.end;
	reply->count = frames.count;
	memcpy(reply->pcs, frames.pcs, frames.count * sizeof(frames.pcs[0]));
	reply->known = 1;
}

static void answer(struct worker *worker)
{
	const struct question *question = &worker->question.head;
	struct resolver_answer *reply = &worker->reply;

	switch (question->what) {
	case RESOLVER_NOTE_UNWINDS:
		unwinder__note(worker->unwinder, question->pid);
		/* fall through */
	case RESOLVER_NOTE:
		symbols__note(worker->symbols, question->pid);
		break;
	case RESOLVER_FORK:
		symbols__fork(worker->symbols, question->pid, question->child);
		break;
	case RESOLVER_PYTHON:
		reply->known = pythons__find(worker->pythons, question->pid, &reply->python);
		break;
	case RESOLVER_PYTHON_NAMES:
		pythons__join(worker->pythons, question->pid, (const void *)question->data,
			      question->len / sizeof(struct ns_python_frame), reply->text,
			      sizeof(reply->text));
		reply->known = reply->text[0];
		break;
	case RESOLVER_CALL:
		answer_call(worker);
		break;
	case RESOLVER_SAMPLE:
		answer_sample(worker);
		break;
	case RESOLVER_STACK:
		reply->count =
			symbols__stack(worker->symbols, question->pid, (const void *)question->data,
				       question->len / sizeof(uint64_t), question->style,
				       reply->text, sizeof(reply->text));
		reply->known = 1;
		break;
	}
}

static void set_timers(time_t cpu, time_t clock)
{
	const struct itimerval on_cpu = {.it_value.tv_sec = cpu};
	const struct itimerval by_clock = {.it_value.tv_sec = clock};

	setitimer(ITIMER_PROF, &on_cpu, NULL);
	setitimer(ITIMER_REAL, &by_clock, NULL);
}

static uint64_t memory(void)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE);

	return half < READ_BUDGET_MEMORY ? half : READ_BUDGET_MEMORY;
}

static void start_timers(void)
{
	set_timers(CPU_SECONDS, CLOCK_SECONDS);
}

static void *serve(void *argument)
{
	struct worker *worker = argument;
	ssize_t got;

	/* It stays there until it is answered: if that ends this process, the next one gets it. */
	while ((got = recv(HELPER_SOCKET, &worker->question, sizeof(worker->question), MSG_PEEK)) >
	       0) {
		if (got < (ssize_t)sizeof(struct question) ||
		    worker->question.head.len != got - sizeof(struct question))
			_exit(1);
		worker->shared->question = worker->question.head.number;
		memset(&worker->reply, 0, offsetof(struct resolver_answer, text) + 1);
		worker->reply.number = worker->question.head.number;
		start_timers();
		answer(worker);
		set_timers(0, 0);
		worker->shared->book.cut = cut_files__seen();
		recv(HELPER_SOCKET, &worker->question, sizeof(worker->question.head), 0);
		if (send(HELPER_SOCKET, &worker->reply, length_of(worker), MSG_NOSIGNAL) < 0)
			break;
		worker->shared->question = 0;
	}
	_exit(0);
}

/* ---- the processes ---- */

static void limit(int resource, rlim_t value)
{
	setrlimit(resource, &(struct rlimit){value, value});
}

/* Where memory is short it is the first to go, as another takes its place. */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		log__debug("the process that reads names is not marked for the OOM killer");
	if (fd >= 0)
		close(fd);
}

static _Noreturn void work(struct resolver_shared *shared, struct file_broker *broker)
{
	struct worker *worker = xcalloc(1, sizeof(*worker));
	pthread_attr_t attributes;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow is larger than any bound */
	limit(RLIMIT_AS, memory());
#endif
	limit(RLIMIT_CORE, 0);
	read_budget__limit(memory() / 2, start_timers);
	offer_to_oom_killer();
	worker->shared = shared;
	worker->symbols = symbols__new(broker);
	worker->unwinder = unwinder__new(broker);
	symbols__use_javas(worker->symbols, unwinder__javas(worker->unwinder));
	worker->pythons = pythons__new(broker);
	if (!pthread_attr_init(&attributes) &&
	    !pthread_attr_setstacksize(&attributes, STACK_BYTES) &&
	    !pthread_create(&thread, &attributes, serve, worker))
		pthread_join(thread, NULL);
	_exit(1);
}

/* It ends with us. A Ctrl-C is ours to deal with: it may still be asked after it. */
static void block_signals(void)
{
	static const int open[] = {SIGALRM, SIGPROF, SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGABRT};
	sigset_t blocked;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		sigdelset(&blocked, open[i]);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* With -v also what libraries say of damaged files. */
static bool says_all(void)
{
#ifdef __SANITIZE_ADDRESS__
	return true;
#else
	return log__is_verbose();
#endif
}

_Noreturn void resolver__run(struct resolver_shared *shared, struct file_broker *broker, int socket)
{
	struct resolver_answer none;
	uint64_t ended_by = 0; /* the question that ended the last one */
	pid_t pid;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	helper__settle("netstall-names", socket, *file_broker__socket(broker), says_all());
	*file_broker__socket(broker) = HELPER_ALSO;
	block_signals();
	if (privileges__keep_only(NULL, 0))
		_exit(1);
	read_budget__use(&shared->book);
	for (;;) {
		pid = fork();
		if (!pid)
			work(shared, broker);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			_exit(1);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			_exit(0);
		if (!read_budget__ended(&shared->book))
			_exit(1);
		if (shared->question && shared->question == ended_by) {
			recv(HELPER_SOCKET, &none, sizeof(none.number), 0);
			none = (struct resolver_answer){.number = shared->question};
			send(HELPER_SOCKET, &none, offsetof(struct resolver_answer, text),
			     MSG_NOSIGNAL);
		}
		ended_by = shared->question;
		shared->question = 0;
	}
}
