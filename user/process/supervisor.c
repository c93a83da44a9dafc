// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/kernel/privileges.h"
#include "user/process/exec.h"
#include "user/process/family.h"

/* While somebody is to be ended: new children of those are looked for again so often. */
#define SWEEP_MS 50
#define NEVER    UINT64_MAX

struct supervisor {
	const struct supervisor_options *options;
	int children; /* signalfd of SIGCHLD */
	pid_t program;
	bool ended;
	bool left_reported;
	uint64_t count_at; /* when those it left behind are counted, ms */
	uint64_t kill_at;  /* when those who were asked to end are made to, ms; NEVER: nobody was */
};

static uint64_t now_ms(void)
{
	return clock__now() / 1000000;
}

static void report(const struct supervisor *supervisor, enum supervisor_news what, int value,
		   pid_t pid)
{
	struct supervisor_message message = {
		.what = what, .value = value, .pid = pid, .ts = clock__now()};

	send(supervisor->options->socket, &message, sizeof(message), MSG_NOSIGNAL);
}

static void give_up(const struct supervisor *supervisor, int err)
{
	report(supervisor, SUPERVISOR_UNABLE, err, 0);
	_exit(1);
}

/* ---- the program ---- */

/* Everything is as netstall inherited it: signals, descriptors, limits. */
static void run_program(const struct supervisor_options *options)
{
	const char *slash = strrchr(options->argv[0], '/');
	char go;
	int err;

	/* Should the supervisor end, nobody is to be left who holds its end of it. */
	close(options->socket);
	if (options->own_group)
		setpgid(0, 0);
	/* The name that it will have, for those who look before its exec. */
	prctl(PR_SET_NAME, slash ? slash + 1 : options->argv[0]);
	if (read(options->gate, &go, 1) != 1)
		_exit(0);
	err = exec__program(options->argv);
	err = write(options->failure, &err, sizeof(err)) < 0;
	_exit(127);
}

/* ---- ourselves ---- */

/* What a terminal or a CI runner sends to netstall's group is netstall's to pass on. */
static void set_up_signals(struct supervisor *supervisor)
{
	const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
			       SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};
	sigset_t child;
	size_t i;

	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would take the exit status away */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
	supervisor->children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (supervisor->children < 0)
		give_up(supervisor, errno);
}

/* ---- its end, and that of its family ---- */

static void signal_group(const struct supervisor *supervisor, int signal_number)
{
	pid_t to = supervisor->options->own_group ? -supervisor->program : supervisor->program;

	/* Once it is reaped its number may be another's. */
	if (!supervisor->ended)
		kill(to, signal_number);
}

static void end_family(struct supervisor *supervisor, int signal_number)
{
	pid_t family[FAMILY_MOST];
	size_t i, count = family__find(getpid(), family);

	signal_group(supervisor, signal_number);
	for (i = 0; i < count; i++)
		kill(family[i], signal_number);
	/* A stopped one hears of it only when it goes on. */
	if (signal_number == SIGTERM)
		end_family(supervisor, SIGCONT);
}

static void count_left(struct supervisor *supervisor)
{
	pid_t family[FAMILY_MOST];
	size_t count = family__find(getpid(), family);

	report(supervisor, SUPERVISOR_LEFT, count, count ? family[0] : 0);
	supervisor->left_reported = true;
}

/* The end of the program is reported; those that came to us by their parents' end just go. */
static void reap(struct supervisor *supervisor)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(supervisor->children, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != supervisor->program)
			continue;
		if (WIFSTOPPED(status)) {
			report(supervisor, SUPERVISOR_STOPPED, WSTOPSIG(status), pid);
			continue;
		}
		supervisor->ended = true;
		supervisor->count_at = now_ms() + SUPERVISOR_ORPHANS_MS;
		report(supervisor, SUPERVISOR_ENDED, status, pid);
	}
	if (!supervisor->ended || pid >= 0 || errno != ECHILD)
		return;
	supervisor->kill_at = NEVER; /* nobody is left */
	if (!supervisor->left_reported)
		count_left(supervisor);
}

static void serve(struct supervisor *supervisor, const struct supervisor_message *message)
{
	if (message->what == SUPERVISOR_SIGNAL) {
		signal_group(supervisor, message->value);
	} else if (message->what == SUPERVISOR_END) {
		end_family(supervisor, message->value);
		supervisor->kill_at =
			now_ms() + (message->value == SIGKILL ? 0 : SUPERVISOR_GRACE_MS);
	}
}

/* Returns how long the next look may wait, ms, -1 for ever. */
static int do_what_is_due(struct supervisor *supervisor)
{
	uint64_t now = now_ms();
	bool counts = supervisor->ended && !supervisor->left_reported;

	if (counts && now >= supervisor->count_at && supervisor->kill_at == NEVER)
		count_left(supervisor);
	if (supervisor->kill_at != NEVER && now >= supervisor->kill_at)
		end_family(supervisor, SIGKILL);
	return counts || supervisor->kill_at != NEVER ? SWEEP_MS : -1;
}

/* netstall is gone: normally once all is over, so what still runs may; but not unwatched. */
static void end_without_netstall(struct supervisor *supervisor)
{
	if (!supervisor->ended && supervisor->options->own_group) {
		end_family(supervisor, SIGTERM);
		supervisor->kill_at = now_ms() + SUPERVISOR_GRACE_MS;
		while (!supervisor->ended) {
			struct pollfd poll_for = {.fd = supervisor->children, .events = POLLIN};

			poll(&poll_for, 1, do_what_is_due(supervisor));
			reap(supervisor);
		}
	}
	_exit(0);
}

void supervisor__run(const struct supervisor_options *options)
{
	struct supervisor supervisor = {.options = options, .kill_at = NEVER};
	struct supervisor_message message;
	int err;

	if (options->own_group)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	supervisor.program = fork();
	if (!supervisor.program)
		run_program(options);
	close(options->gate);
	close(options->failure);
	if (supervisor.program < 0)
		give_up(&supervisor, errno);
	if (options->own_group)
		setpgid(supervisor.program, supervisor.program); /* whoever comes first */
	prctl(PR_SET_NAME, "netstall-supervisor");
	set_up_signals(&supervisor);
	err = privileges__keep_only((const int[]){CAP_KILL}, 1);
	if (err)
		give_up(&supervisor, -err);
	report(&supervisor, SUPERVISOR_READY, 0, supervisor.program);
	while (true) {
		struct pollfd poll_for[] = {{.fd = options->socket, .events = POLLIN},
					    {.fd = supervisor.children, .events = POLLIN}};
		ssize_t got;

		poll(poll_for, 2, do_what_is_due(&supervisor));
		reap(&supervisor);
		got = recv(options->socket, &message, sizeof(message), MSG_DONTWAIT);
		if (got == sizeof(message))
			serve(&supervisor, &message);
		else if (!got || (errno != EAGAIN && errno != EINTR))
			end_without_netstall(&supervisor);
	}
}
