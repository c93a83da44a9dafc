// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/keeper.h"

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
#include "user/process/exec.h"
#include "user/process/family.h"

/* While somebody is to be ended: new children of those are looked for again so often. */
#define SWEEP_MS 50
#define NEVER    UINT64_MAX

struct keeper {
	const struct keeper_options *options;
	int children; /* signalfd of SIGCHLD */
	pid_t program;
	bool ended;
	bool told_left;
	uint64_t count_at; /* when those it left behind are counted, ms */
	uint64_t kill_at;  /* when those who were asked to end are made to, ms; NEVER: nobody was */
};

static uint64_t now_ms(void)
{
	return clock__now() / 1000000;
}

static void tell(const struct keeper *keeper, enum keeper_news what, int value, pid_t pid)
{
	struct keeper_message message = {
		.what = what, .value = value, .pid = pid, .ts = clock__now()};

	send(keeper->options->socket, &message, sizeof(message), MSG_NOSIGNAL);
}

static void give_up(const struct keeper *keeper)
{
	tell(keeper, KEEPER_UNABLE, errno, 0);
	_exit(1);
}

/* ---- the program ---- */

/* Everything is as netstall inherited it: signals, descriptors, limits. */
static void run_program(const struct keeper_options *options)
{
	const char *slash = strrchr(options->argv[0], '/');
	char go;
	int err;

	/* Should the keeper end, nobody is to be left who holds its end of it. */
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

static void keep_little(const struct keeper *keeper)
{
	const cap_value_t kept[] = {CAP_KILL};
	cap_t now = cap_get_proc(), caps = cap_init();
	cap_flag_value_t have;

	if (now && caps && !cap_get_flag(now, kept[0], CAP_PERMITTED, &have) && have == CAP_SET) {
		cap_set_flag(caps, CAP_PERMITTED, 1, kept, CAP_SET);
		cap_set_flag(caps, CAP_EFFECTIVE, 1, kept, CAP_SET);
	}
	if (!caps || cap_set_proc(caps) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		give_up(keeper);
	cap_free(now);
	cap_free(caps);
}

/* What a terminal or a CI runner sends to netstall's group is netstall's to pass on. */
static void set_up_signals(struct keeper *keeper)
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
	keeper->children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (keeper->children < 0)
		give_up(keeper);
}

/* ---- its end, and that of its family ---- */

static void signal_group(const struct keeper *keeper, int signal_number)
{
	pid_t to = keeper->options->own_group ? -keeper->program : keeper->program;

	/* Once it is reaped its number may be another's. */
	if (!keeper->ended)
		kill(to, signal_number);
}

static void end_family(struct keeper *keeper, int signal_number)
{
	pid_t family[FAMILY_MOST];
	size_t i, count = family__find(getpid(), family);

	signal_group(keeper, signal_number);
	for (i = 0; i < count; i++)
		kill(family[i], signal_number);
	/* A stopped one hears of it only when it goes on. */
	if (signal_number == SIGTERM)
		end_family(keeper, SIGCONT);
}

static void count_left(struct keeper *keeper)
{
	pid_t family[FAMILY_MOST];
	size_t count = family__find(getpid(), family);

	tell(keeper, KEEPER_LEFT, count, count ? family[0] : 0);
	keeper->told_left = true;
}

/* Of the program its end is told; those that came to us by their parents' end just go. */
static void reap(struct keeper *keeper)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(keeper->children, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != keeper->program)
			continue;
		if (WIFSTOPPED(status)) {
			tell(keeper, KEEPER_STOPPED, WSTOPSIG(status), pid);
			continue;
		}
		keeper->ended = true;
		keeper->count_at = now_ms() + KEEPER_ORPHANS_MS;
		tell(keeper, KEEPER_ENDED, status, pid);
	}
	if (!keeper->ended || pid >= 0 || errno != ECHILD)
		return;
	keeper->kill_at = NEVER; /* nobody is left */
	if (!keeper->told_left)
		count_left(keeper);
}

static void serve(struct keeper *keeper, const struct keeper_message *message)
{
	if (message->what == KEEPER_SIGNAL) {
		signal_group(keeper, message->value);
	} else if (message->what == KEEPER_END) {
		end_family(keeper, message->value);
		keeper->kill_at = now_ms() + (message->value == SIGKILL ? 0 : KEEPER_GRACE_MS);
	}
}

/* Returns how long the next look may wait, ms, -1 for ever. */
static int do_what_is_due(struct keeper *keeper)
{
	uint64_t now = now_ms();
	bool counts = keeper->ended && !keeper->told_left;

	if (counts && now >= keeper->count_at && keeper->kill_at == NEVER)
		count_left(keeper);
	if (keeper->kill_at != NEVER && now >= keeper->kill_at)
		end_family(keeper, SIGKILL);
	return counts || keeper->kill_at != NEVER ? SWEEP_MS : -1;
}

/* netstall is gone: normally once all is over, so what still runs may; but not unwatched. */
static void end_without_netstall(struct keeper *keeper)
{
	if (!keeper->ended && keeper->options->own_group) {
		end_family(keeper, SIGTERM);
		keeper->kill_at = now_ms() + KEEPER_GRACE_MS;
		while (!keeper->ended) {
			struct pollfd poll_for = {.fd = keeper->children, .events = POLLIN};

			poll(&poll_for, 1, do_what_is_due(keeper));
			reap(keeper);
		}
	}
	_exit(0);
}

void keeper__run(const struct keeper_options *options)
{
	struct keeper keeper = {.options = options, .kill_at = NEVER};
	struct keeper_message message;

	if (options->own_group)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	keeper.program = fork();
	if (!keeper.program)
		run_program(options);
	close(options->gate);
	close(options->failure);
	if (keeper.program < 0)
		give_up(&keeper);
	if (options->own_group)
		setpgid(keeper.program, keeper.program); /* whoever comes first */
	prctl(PR_SET_NAME, "netstall-keeper");
	set_up_signals(&keeper);
	keep_little(&keeper);
	tell(&keeper, KEEPER_READY, 0, keeper.program);
	while (true) {
		struct pollfd poll_for[] = {{.fd = options->socket, .events = POLLIN},
					    {.fd = keeper.children, .events = POLLIN}};
		ssize_t got;

		poll(poll_for, 2, do_what_is_due(&keeper));
		reap(&keeper);
		got = recv(options->socket, &message, sizeof(message), MSG_DONTWAIT);
		if (got == sizeof(message))
			serve(&keeper, &message);
		else if (!got || (errno != EAGAIN && errno != EINTR))
			end_without_netstall(&keeper);
	}
}
