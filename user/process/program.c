// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/process/supervisor.h"
#include "user/process/terminal.h"

#define STATUS_NOT_FOUND 127
#define STATUS_NOT_RUN   126
/* How much longer than the supervisor may need we wait for its word. */
#define PATIENCE_MS 2000

struct program {
	char **argv;
	bool own_group;
	pid_t supervisor;
	pid_t pid;
	int pid_fd;  /* of pid, -1 none */
	int socket;  /* to the supervisor, -1 none */
	int gate;    /* a byte lets the child go; closed without one it ends */
	int failure; /* the child's errno comes here when its exec fails */
	struct terminal terminal;
	int exec_err;
	bool released;
	bool ended;
	bool counted; /* those it left behind */
	int status;   /* as of waitpid() */
	unsigned left;
	pid_t left_pid;
	uint64_t released_ns;
	uint64_t ended_ns;
	enum program_end why; /* netstall ended it; PROGRAM_NONE: not */
	int passed_on;        /* the last signal that was, 0 none */
};

/* ---- start ---- */

struct pipes {
	int gate[2];
	int failure[2];
};

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int make_pipes(struct pipes *pipes)
{
	memset(pipes, -1, sizeof(*pipes));
	return pipe2(pipes->gate, O_CLOEXEC) || pipe2(pipes->failure, O_CLOEXEC) ? -errno : 0;
}

static void run_supervisor(const struct program *program, struct pipes *pipes)
{
	const struct supervisor_options options = {.socket = program->socket,
						   .gate = pipes->gate[0],
						   .failure = pipes->failure[1],
						   .argv = program->argv,
						   .own_group = program->own_group};

	close(pipes->gate[1]);
	close(pipes->failure[0]);
	supervisor__run(&options);
}

static int await_supervisor(struct program *program)
{
	struct supervisor_message message;

	if (recv(program->socket, &message, sizeof(message), 0) != sizeof(message))
		return -ECHILD; /* somebody killed it */
	if (message.what == SUPERVISOR_UNABLE)
		return -message.value;
	program->pid = message.pid;
	program->pid_fd = (int)syscall(SYS_pidfd_open, program->pid, 0);
	return 0;
}

struct program *program__new(char **argv, bool own_group)
{
	struct program *program = xcalloc(1, sizeof(*program));
	struct pipes pipes;
	int err = make_pipes(&pipes);

	program->argv = argv;
	program->own_group = own_group;
	program->terminal.fd = program->socket = program->pid_fd = -1;
	if (!err) {
		program->supervisor = helper__fork(SOCK_SEQPACKET, &program->socket);
		if (!program->supervisor)
			run_supervisor(program, &pipes);
		if (program->supervisor < 0)
			err = program->supervisor;
	}
	close_one(&pipes.gate[0]);
	close_one(&pipes.failure[1]);
	program->gate = pipes.gate[1];
	program->failure = pipes.failure[0];
	if (!err)
		err = await_supervisor(program);
	if (!err) {
		if (own_group)
			terminal__open(&program->terminal);
		return program;
	}
	log__error("cannot start a process: %s%s", strerror(-err),
		   err == -EAGAIN ? " (see ulimit -u, and pids.max of its cgroup)" : "");
	program__free(program);
	return NULL;
}

pid_t program__pid(const struct program *program)
{
	return program->pid;
}

int program__fd(const struct program *program)
{
	return program->socket;
}

/* Of the exec, 0 when it succeeded: that closes the other end. */
static int read_failure(const struct program *program)
{
	ssize_t got;
	int err;

	do
		got = read(program->failure, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	return got == sizeof(err) ? err : 0;
}

int program__release(struct program *program)
{
	terminal__give(&program->terminal, program->pid);
	program->released_ns = clock__now();
	/* Who was killed at the gate has an end as others have: the supervisor reports it. */
	if (write(program->gate, "g", 1) != 1 && errno != EPIPE)
		return program->exec_err = -errno;
	close_one(&program->gate);
	program->released = true;
	program->exec_err = read_failure(program);
	return program->exec_err;
}

/* ---- while it runs ---- */

static void ask(struct program *program, enum supervisor_ask what, int value)
{
	const struct supervisor_message message = {.what = what, .value = value};

	if (program->socket >= 0)
		send(program->socket, &message, sizeof(message), MSG_NOSIGNAL);
	/* Stopped by somebody, it would not hear. */
	if (program->supervisor > 0)
		kill(program->supervisor, SIGCONT);
}

/* Our own job, with all that stand in the same pipe, so that the shell gets its terminal back. */
static void stop_ourselves(void)
{
	struct sigaction before, stops = {.sa_handler = SIG_DFL};

	sigaction(SIGTSTP, &stops, &before);
	kill(0, SIGTSTP);
	sigaction(SIGTSTP, &before, NULL);
}

/*
 * It was stopped: by Ctrl-Z, or because it asked for a terminal that it does not have. What is
 * done by hand, with SIGSTOP, concerns nobody but it, unless it has the terminal.
 */
static void on_stopped(struct program *program, int signal_number)
{
	bool wants_terminal = signal_number == SIGTTIN || signal_number == SIGTTOU;

	if (!program->terminal.given &&
	    ((signal_number != SIGTSTP && !wants_terminal) || program->terminal.fd < 0))
		return;
	terminal__take_back(&program->terminal);
	if (!wants_terminal || tcgetpgrp(program->terminal.fd) != getpgrp())
		stop_ourselves();
	terminal__give(&program->terminal, program->pid);
	ask(program, SUPERVISOR_SIGNAL, SIGCONT);
}

static void take(struct program *program, const struct supervisor_message *message)
{
	switch (message->what) {
	case SUPERVISOR_STOPPED:
		on_stopped(program, message->value);
		break;
	case SUPERVISOR_ENDED:
		program->ended = true;
		program->status = message->value;
		program->ended_ns = message->ts;
		terminal__take_back(&program->terminal);
		break;
	case SUPERVISOR_LEFT:
		program->counted = true;
		program->left = message->value;
		program->left_pid = message->pid;
		break;
	}
}

/* Somebody killed the supervisor: nothing is known of the program any more. */
static void lose_supervisor(struct program *program)
{
	char name[TEXT_SAFE(64)];

	log__error("the process of netstall that waits for %s was killed",
		   text__safe(name, sizeof(name), program->argv[0], 64));
	close_one(&program->socket);
	program->ended = program->counted = true;
	program->ended_ns = clock__now();
	program->status = SIGKILL;
	terminal__take_back(&program->terminal);
}

/* It says nothing of an end that is to be seen: somebody has stopped it. */
static void go_on_if_stopped(const struct program *program)
{
	struct pollfd end = {.fd = program->pid_fd, .events = POLLIN};

	if (!program->ended && program->pid_fd >= 0 && poll(&end, 1, 0) > 0)
		kill(program->supervisor, SIGCONT);
}

bool program__poll(struct program *program)
{
	struct supervisor_message message;
	ssize_t got = -1;

	if (program->exec_err)
		return false;
	while (program->socket >= 0 && (got = recv(program->socket, &message, sizeof(message),
						   MSG_DONTWAIT)) == sizeof(message))
		take(program, &message);
	if (!got)
		lose_supervisor(program);
	go_on_if_stopped(program);
	return !program->ended;
}

void program__signal(struct program *program, int signal_number, bool passed_on)
{
	/* Back in the foreground, for example. */
	if (signal_number == SIGCONT && !program->ended)
		terminal__give(&program->terminal, program->pid);
	if (passed_on && signal_number != SIGCONT && signal_number != SIGTSTP)
		program->passed_on = signal_number;
	ask(program, SUPERVISOR_SIGNAL, signal_number);
	if (signal_number == SIGTSTP)
		raise(SIGSTOP);
}

/* ---- its end ---- */

void program__end(struct program *program, enum program_end why)
{
	if (program->ended || program->why != PROGRAM_NONE)
		return;
	program->why = why;
	ask(program, SUPERVISOR_END, SIGTERM);
}

void program__kill(struct program *program)
{
	program->passed_on = SIGKILL;
	ask(program, SUPERVISOR_END, SIGKILL);
}

void program__await(struct program *program)
{
	uint64_t until = clock__now() + (SUPERVISOR_GRACE_MS + PATIENCE_MS) * 1000000ull;

	if (program->exec_err || !program->released)
		return;
	while (program__poll(program), !program->ended || !program->counted) {
		struct pollfd news = {.fd = program->socket, .events = POLLIN};
		uint64_t now = clock__now();

		/* One that not even SIGKILL ends, in a disk's hands for example. */
		if (now >= until)
			return;
		poll(&news, 1, (until - now) / 1000000 + 1);
	}
}

static void set_status(const struct program *program, struct program_outcome *out)
{
	out->signal = WIFSIGNALED(program->status) ? WTERMSIG(program->status) : 0;
	out->core = out->signal && WCOREDUMP(program->status);
	out->status = out->signal ? 128 + out->signal : WEXITSTATUS(program->status);
	out->passed_on = program->passed_on && out->signal == program->passed_on;
	out->ran_ns = program->ended_ns - program->released_ns;
	out->orphans = program->left;
	out->orphan_pid = program->left_pid;
}

void program__outcome(const struct program *program, struct program_outcome *out)
{
	memset(out, 0, sizeof(*out));
	out->name = program->argv[0];
	if (program->exec_err) {
		out->err = -program->exec_err;
		out->end = out->err == ENOENT ? PROGRAM_NOT_FOUND : PROGRAM_NOT_RUN;
		out->status = out->err == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
		return;
	}
	if (!program->released)
		return;
	if (program->ended)
		set_status(program, out);
	if (program->why != PROGRAM_NONE)
		out->end = program->why;
	else
		out->end = out->signal ? PROGRAM_SIGNALLED : PROGRAM_EXITED;
}

void program__free(struct program *program)
{
	if (!program)
		return;
	terminal__take_back(&program->terminal);
	terminal__close(&program->terminal);
	close_one(&program->gate);
	close_one(&program->failure);
	close_one(&program->pid_fd);
	/* Other processes of ours may still have it too. */
	if (program->socket >= 0)
		shutdown(program->socket, SHUT_RDWR);
	close_one(&program->socket);
	if (program->supervisor > 0)
		helper__end(program->supervisor, SUPERVISOR_GRACE_MS + PATIENCE_MS);
	free(program);
}
