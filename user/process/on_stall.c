// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/on_stall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/split.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/judge/beyond.h"
#include "user/kernel/privileges.h"
#include "user/process/exec.h"
#include "user/render/words/names.h"

/*
 * The process runs the command, one at a time, in messages over a SOCK_SEQPACKET pair: a list of
 * NAME=VALUE, each with its NUL, begins one; struct hook_news comes back when it has ended.
 */
#define HOOK_MESSAGE  4096
#define HOOK_GRACE_MS 5000 /* for the last one, once the socket is closed */
#define HOOK_TERM_MS  1000 /* from SIGTERM to SIGKILL */

enum hook_what {
	HOOK_READY,   /* value: 0, or -errno: no such command */
	HOOK_ENDED,   /* value: wait status */
	HOOK_NOT_RUN, /* value: -errno of the exec */
	HOOK_KILLED,  /* value: wait status; it had not ended in its time */
};

struct hook_news {
	uint32_t what;
	int32_t value;
};

/* The process gives its last command up before this is over. */
#define FINISH_MS (HOOK_GRACE_MS + HOOK_TERM_MS + 2000)

struct hook {
	char **argv;
	pid_t pid; /* 0: none runs */
	int pidfd;
	int failure; /* the child's -errno comes here when its exec fails */
};

static void report_news(enum hook_what what, int value)
{
	struct hook_news news = {.what = what, .value = value};

	send(HELPER_SOCKET, &news, sizeof(news), MSG_NOSIGNAL);
}

/* ---- the process: is there such a command ---- */

static int look(const char *path, char **argv)
{
	(void)argv;
	return access(path, X_OK) ? -errno : 0;
}

/* As the user that it will run as: in a process that becomes that user. */
static int find(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		int err = privileges__become_caller();

		if (!err)
			err = strchr(argv[0], '/') ? look(argv[0], argv)
						   : exec__from_path(argv, look);
		_exit(-err);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -ECHILD;
	return -WEXITSTATUS(status);
}

/* ---- the process: one command ---- */

static void become_command(char **argv, char *variables, size_t size, int failure)
{
	int err;

	/* A group of its own, so that it and its children can be ended, and no Ctrl-C reaches it.
	 */
	setpgid(0, 0);
	helper__restore_signals();
	dup2(STDERR_FILENO, STDOUT_FILENO);
	/* Nothing else, whoever sent it: it may run with more rights than netstall has left. */
	for (char *at = variables; at < variables + size; at += strlen(at) + 1)
		if (!strncmp(at, "NETSTALL_", strlen("NETSTALL_")))
			putenv(at);
	err = exec__program(argv);
	if (write(failure, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static void begin(struct hook *hook, char *variables, size_t size)
{
	int failure[2];

	if (pipe2(failure, O_CLOEXEC | O_NONBLOCK)) {
		report_news(HOOK_NOT_RUN, -errno);
		return;
	}
	hook->pid = fork();
	if (!hook->pid)
		become_command(hook->argv, variables, size, failure[1]);
	close(failure[1]);
	hook->pidfd = hook->pid > 0 ? pidfd_open(hook->pid, 0) : -1;
	hook->failure = failure[0];
	if (hook->pid > 0)
		return;
	report_news(HOOK_NOT_RUN, -errno);
	close(hook->failure);
	hook->pid = 0;
}

static void reap(struct hook *hook, bool killed)
{
	int status = 0, err = 0;

	waitpid(hook->pid, &status, 0);
	if (read(hook->failure, &err, sizeof(err)) == sizeof(err))
		report_news(HOOK_NOT_RUN, err);
	else
		report_news(killed ? HOOK_KILLED : HOOK_ENDED, status);
	close(hook->failure);
	if (hook->pidfd >= 0)
		close(hook->pidfd);
	hook->pid = 0;
}

static bool has_ended(const struct hook *hook, int timeout_ms)
{
	struct pollfd wait = {.fd = hook->pidfd, .events = POLLIN};

	/* Without a pidfd (it takes Linux 5.3) there is nothing to wait for. */
	return hook->pidfd < 0 || poll(&wait, 1, timeout_ms) > 0;
}

/* Nobody asks any more. */
static void finish(struct hook *hook)
{
	bool killed = false;

	if (!hook->pid)
		_exit(0);
	if (!has_ended(hook, HOOK_GRACE_MS)) {
		killed = true;
		kill(-hook->pid, SIGTERM);
		if (!has_ended(hook, HOOK_TERM_MS))
			kill(-hook->pid, SIGKILL);
	}
	reap(hook, killed);
	_exit(0);
}

/* Its whole life. */
static _Noreturn void run(char **argv)
{
	struct hook hook = {.argv = argv, .pidfd = -1};
	char message[HOOK_MESSAGE + 1];
	int err = find(argv);

	report_news(HOOK_READY, err);
	if (err)
		_exit(1);
	for (;;) {
		struct pollfd wait[] = {{.fd = HELPER_SOCKET, .events = POLLIN},
					{.fd = hook.pid ? hook.pidfd : -1, .events = POLLIN}};
		ssize_t got;

		if (poll(wait, 2, -1) < 0)
			continue;
		if (wait[1].revents)
			reap(&hook, false);
		if (!wait[0].revents)
			continue;
		got = recv(HELPER_SOCKET, message, sizeof(message) - 1, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			finish(&hook);
		message[got] = '\0';
		if (!hook.pid)
			begin(&hook, message, (size_t)got);
	}
}

/* ---- ours ---- */

struct on_stall {
	struct on_stall_options options;
	struct beyond beyond;
	char **argv;
	int socket;
	pid_t pid;
	bool running;
	bool gone; /* the process */
	bool failure_shown;
	uint64_t last_ns; /* when the last one began; 0 none did */
	size_t begun;
	size_t skipped;
	size_t skipped_since; /* the last one began */
};

bool on_stall__check(const char *command, bool shell, char *why, size_t size)
{
	char **words = shell ? NULL : split__words(command, why, size);

	split__free(words);
	if (!shell)
		return words != NULL;
	if (command[strspn(command, " \t\n")])
		return true;
	snprintf(why, size, "it names no command");
	return false;
}

static char **words_of(const struct on_stall_options *options)
{
	char why[64], **words;

	if (!options->shell)
		return split__words(options->command, why, sizeof(why));
	words = xcalloc(4, sizeof(*words));
	words[0] = xstrdup("/bin/sh");
	words[1] = xstrdup("-c");
	words[2] = xstrdup(options->command);
	return words;
}

/* ---- news ---- */

static void say_failure(struct on_stall *on_stall, const struct hook_news *news)
{
	char name[TEXT_SAFE(64)];
	int status = news->value;

	if (on_stall->failure_shown)
		return;
	text__safe(name, sizeof(name), on_stall->options.command, 64);
	if (news->what == HOOK_NOT_RUN)
		log__note("--on-stall: cannot run %s: %s", name, strerror(-news->value));
	else if (news->what == HOOK_KILLED)
		log__note(
			"--on-stall: %s was still running %d s after the check and was terminated",
			name, HOOK_GRACE_MS / 1000);
	else if (WIFSIGNALED(status))
		log__note(
			"--on-stall: %s was killed by signal %d; further failures are not reported",
			name, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		log__note("--on-stall: %s ended with status %d; further failures are not reported",
			  name, WEXITSTATUS(status));
	else
		return;
	on_stall->failure_shown = true;
}

void on_stall__poll(struct on_stall *on_stall)
{
	struct hook_news news;
	ssize_t got;

	if (!on_stall || on_stall->gone)
		return;
	while ((got = recv(on_stall->socket, &news, sizeof(news), MSG_DONTWAIT)) == sizeof(news)) {
		on_stall->running = false;
		say_failure(on_stall, &news);
	}
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
		on_stall->gone = true;
		on_stall->running = false;
	}
}

/* ---- begin and end ---- */

int on_stall__open(const struct on_stall_options *options, const struct budgets *budgets,
		   struct on_stall **out)
{
	struct on_stall *on_stall = xcalloc(1, sizeof(*on_stall));
	struct hook_news news;
	char name[TEXT_SAFE(64)];

	*out = NULL;
	on_stall->options = *options;
	on_stall->argv = words_of(options);
	beyond__init(&on_stall->beyond, budgets);
	on_stall->pid = helper__fork(SOCK_SEQPACKET, &on_stall->socket);
	if (!on_stall->pid) {
		helper__settle("netstall-hook", on_stall->socket, -1, true);
		run(on_stall->argv);
	}
	if (on_stall->pid < 0) {
		news.value = on_stall->pid;
		log__error("cannot start a process: %s", strerror(-news.value));
		split__free(on_stall->argv);
		free(on_stall);
		return news.value;
	}
	if (recv(on_stall->socket, &news, sizeof(news), 0) != sizeof(news))
		news.value = -EPIPE;
	if (news.value) {
		log__error(
			"--on-stall: cannot run %s: %s; give its path, and see that the user "
			"who calls netstall may run it",
			text__safe(name, sizeof(name), on_stall->argv[0], 64),
			strerror(-news.value));
		on_stall__free(on_stall);
		return news.value;
	}
	*out = on_stall;
	return 0;
}

void on_stall__finish(struct on_stall *on_stall)
{
	uint64_t end = clock__now() + FINISH_MS * 1000000ull, now;

	if (!on_stall)
		return;
	on_stall__poll(on_stall);
	shutdown(on_stall->socket, SHUT_WR);
	while (!on_stall->gone && (now = clock__now()) < end) {
		struct pollfd wait = {.fd = on_stall->socket, .events = POLLIN};

		poll(&wait, 1, (int)((end - now) / 1000000) + 1);
		on_stall__poll(on_stall);
	}
	if (on_stall->skipped)
		log__note(
			"--on-stall: ran %zu time%s; %zu more stall%s came while it ran, or "
			"sooner than %g s after it began (--on-stall-every)",
			on_stall->begun, on_stall->begun == 1 ? "" : "s", on_stall->skipped,
			on_stall->skipped == 1 ? "" : "s", on_stall->options.every_secs);
}

void on_stall__free(struct on_stall *on_stall)
{
	if (!on_stall)
		return;
	close(on_stall->socket);
	if (on_stall->gone || !on_stall->begun)
		helper__end(on_stall->pid, FINISH_MS);
	split__free(on_stall->argv);
	free(on_stall);
}

/* ---- a stall ---- */

struct variables {
	char text[HOOK_MESSAGE];
	size_t len;
};

/* NAME=VALUE; one that does not fit is left out. */
static void set(struct variables *variables, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void set(struct variables *variables, const char *format, ...)
{
	size_t room = sizeof(variables->text) - variables->len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(variables->text + variables->len, room, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < room)
		variables->len += (size_t)len + 1;
}

static void set_time(struct variables *variables, const char *name, uint64_t ns)
{
	set(variables, "%s=%llu.%09llu", name, (unsigned long long)(ns / 1000000000u),
	    (unsigned long long)(ns % 1000000000u));
}

/* "client/4242" without the number. */
static void set_comm(struct variables *variables, const struct report *report,
		     const struct stall *stall)
{
	char name[NAME_SIZE], *slash;

	name__thread(name, sizeof(name), report, stall->pid, stall->tid ? stall->tid : stall->pid);
	slash = strrchr(name, '/');
	if (slash)
		*slash = '\0';
	set(variables, "NETSTALL_COMM=%s", slash ? name : "");
}

static void set_connection(struct variables *variables, const struct report *report,
			   const struct stall *stall)
{
	const struct report_conn *conn = report__conn(report, stall->conn);
	char addresses[2 * TEXT_ADDRESS + 8];

	set(variables, "NETSTALL_CONNECTION=%s",
	    conn ? name__addresses(addresses, sizeof(addresses), &conn->id) : "");
	if (conn && conn->id.fd != NS_FD_UNKNOWN)
		set(variables, "NETSTALL_FD=%u", conn->id.fd);
	else
		set(variables, "NETSTALL_FD=");
}

static void describe(struct variables *variables, const struct on_stall *on_stall,
		     const struct report *report, const struct stall *stall)
{
	char ms[40];

	text__ms(ms, sizeof(ms), (int64_t)(stall->end_ts - stall->start_ts), 3);
	set(variables, "NETSTALL_CAUSE=%s", cause__info(stall->cause)->id);
	set(variables, "NETSTALL_STALL=%u", stall->number);
	set(variables, "NETSTALL_PID=%u", stall->pid);
	if (stall->tid)
		set(variables, "NETSTALL_TID=%u", stall->tid);
	else
		set(variables, "NETSTALL_TID=");
	set_comm(variables, report, stall);
	set(variables, "NETSTALL_DURATION_MS=%s", ms);
	set_time(variables, "NETSTALL_START", stall->start_ts);
	set_time(variables, "NETSTALL_START_WALL",
		 stall->start_ts + report->session.wall_offset_ns);
	set_connection(variables, report, stall);
	set(variables, "NETSTALL_SKIPPED=%zu", on_stall->skipped_since);
}

/* Of a cause with a budget of its own, within it or not; or one that brings the total over its. */
static bool is_gated(struct on_stall *on_stall, const struct report *so_far,
		     const struct stall *stall)
{
	const struct budget *over = beyond__stall(&on_stall->beyond, so_far, stall);

	return over || budgets__gate(on_stall->beyond.budgets, stall->cause);
}

static bool is_due(const struct on_stall *on_stall, uint64_t now)
{
	return !on_stall->gone && !on_stall->running &&
	       (!on_stall->last_ns ||
		(double)(now - on_stall->last_ns) >= on_stall->options.every_secs * 1e9);
}

void on_stall__stall(struct on_stall *on_stall, const struct report *so_far,
		     const struct stall *stall)
{
	struct variables variables = {.len = 0};
	uint64_t now = clock__now();

	if (!on_stall || !is_gated(on_stall, so_far, stall))
		return;
	on_stall__poll(on_stall);
	if (is_due(on_stall, now)) {
		describe(&variables, on_stall, so_far, stall);
		if (send(on_stall->socket, variables.text, variables.len,
			 MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)variables.len) {
			on_stall->running = true;
			on_stall->last_ns = now;
			on_stall->begun++;
			on_stall->skipped_since = 0;
			return;
		}
	}
	on_stall->skipped++;
	on_stall->skipped_since++;
}
