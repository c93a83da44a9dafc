// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The workload's two processes. What they do is in client.c and server.c. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/xalloc.h"
#include "user/demo/endpoint.h"
#include "user/demo/workload.h"

struct workload {
	struct workload_options options;
	struct workload_shared *shared;
	volatile pid_t client_pid; /* 0: not started, or already reaped */
	volatile pid_t server_pid;
	uint16_t port;
	int control_fd; /* to the client; -1: no client waits at its gate */
	char error[ENDPOINT_ERROR_SIZE];
};

void workload_options__init(struct workload_options *options, enum workload_mode mode)
{
	*options = (struct workload_options){
		.mode = mode,
		.connections = 1,
		.cpu = -1,
		.gap_us = -1,
		.client_name = "demo-client",
		.server_name = "demo-server",
	};
}

struct workload *workload__new(const struct workload_options *options)
{
	struct workload *w = xcalloc(1, sizeof(*w));

	w->options = *options;
	w->control_fd = -1;
	/* Only the pages of samples that are really written take up memory. */
	w->shared = mmap(NULL, sizeof(*w->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->shared == MAP_FAILED) {
		free(w);
		return NULL;
	}
	w->shared->client_fd = -1;
	return w;
}

static int refuse_bad_options(struct workload *w)
{
	const struct workload_options *o = &w->options;
	size_t size = sizeof(w->error);

	if ((unsigned int)o->mode >= WORKLOAD_MODES)
		snprintf(w->error, size, "there is no workload mode %u", o->mode);
	else if (o->connections < 1 || o->connections > WORKLOAD_MAX_CONNECTIONS)
		snprintf(w->error, size, "%u connections are not possible, 1 to %d are",
			 o->connections, WORKLOAD_MAX_CONNECTIONS);
	else if (o->reply_bytes > WORKLOAD_MAX_MESSAGE)
		snprintf(w->error, size, "a reply of %u bytes is too long, %d is the limit",
			 o->reply_bytes, WORKLOAD_MAX_MESSAGE);
	else if (o->request_bytes > WORKLOAD_MAX_MESSAGE)
		snprintf(w->error, size, "a request of %u bytes is too long, %d is the limit",
			 o->request_bytes, WORKLOAD_MAX_MESSAGE);
	else if (o->role == WORKLOAD_CLIENT_ONLY && !o->port)
		snprintf(w->error, size, "a client alone needs the server's port");
	else
		return 0;
	return -EINVAL;
}

static int pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* As fork(); the child is named, pinned, has plain signals, and goes when its parent does. */
static pid_t spawn(struct workload *w, const char *name, char *child_error)
{
	pid_t parent = getpid();
	sigset_t none;
	pid_t pid = fork();
	int err;

	if (pid < 0)
		return endpoint__fail(w->error, -errno, "cannot start %s", name);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before it could have been noticed */
		_exit(1);
	prctl(PR_SET_NAME, name);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	err = pin(w->options.cpu);
	if (err) {
		endpoint__fail(child_error, err, "cannot run on CPU %d", w->options.cpu);
		_exit(1);
	}
	return 0;
}

static int start_server(struct workload *w)
{
	int listener = endpoint__open(&w->options, w->options.port, true, w->error);
	pid_t pid;

	if (listener < 0)
		return listener;
	w->port = endpoint__port(listener);
	pid = spawn(w, w->options.server_name, w->shared->server_error);
	if (!pid)
		_exit(server__run(&w->options, listener, w->shared) ? 1 : 0);
	close(listener);
	if (pid < 0)
		return pid;
	w->server_pid = pid;
	return 0;
}

/*
 * One byte either way: the client says that it is ready, the parent that the gate is open. The end
 * of the file means that neither will ever be so.
 */
static bool send_byte(int control)
{
	return send(control, "", 1, MSG_NOSIGNAL) == 1;
}

static bool await_byte(int control)
{
	char byte;
	ssize_t n;

	do
		n = recv(control, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static int be_client(struct workload *w, int control)
{
	struct client *client = client__new(&w->options, w->shared);
	bool late = w->options.connect_after_gate;
	int err = late ? 0 : client__connect(client, w->port);

	if (err)
		return err;
	if (!send_byte(control) || !await_byte(control))
		return 0;
	close(control);
	err = late ? client__connect(client, w->port) : 0;
	return err ? err : client__run(client, w->server_pid);
}

static int start_client(struct workload *w)
{
	int control[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
		return endpoint__fail(w->error, -errno, "cannot create a pair of sockets");
	pid = spawn(w, w->options.client_name, w->shared->client_error);
	if (!pid) {
		close(control[0]);
		_exit(be_client(w, control[1]) ? 1 : 0);
	}
	close(control[1]);
	w->control_fd = control[0];
	if (pid < 0)
		return pid;
	w->client_pid = pid;
	if (await_byte(w->control_fd))
		return 0;
	if (!*workload__error(w))
		endpoint__fail(w->error, -ECHILD, "%s ended early", w->options.client_name);
	return -ECHILD;
}

int workload__start(struct workload *w)
{
	int err = refuse_bad_options(w);

	w->port = w->options.port;
	if (!err && w->options.role != WORKLOAD_CLIENT_ONLY)
		err = start_server(w);
	if (!err && w->options.role != WORKLOAD_SERVER_ONLY)
		err = start_client(w);
	return err;
}

/* If the client has been killed while it waited, that is for workload__wait() to say. */
void workload__open_gate(struct workload *w)
{
	if (w->control_fd < 0)
		return;
	send_byte(w->control_fd);
	close(w->control_fd);
	w->control_fd = -1;
}

/* The pid is forgotten before it is free, so that workload__stop() never signals a stranger. */
static int reap(volatile pid_t *child, struct rusage *usage)
{
	siginfo_t info;
	pid_t pid = *child;
	int status;

	while (waitid(P_PID, pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	*child = 0;
	return wait4(pid, &status, 0, usage) < 0 ? -errno : status;
}

static int explain_end(struct workload *w, const char *name, int status)
{
	if (status < 0)
		return endpoint__fail(w->error, status, "lost track of %s", name);
	if ((WIFEXITED(status) && !WEXITSTATUS(status)) ||
	    (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM))
		return 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return endpoint__fail(w->error, -ETIMEDOUT, "the last exchange of %s did not end",
				      name);
	if (*workload__error(w))
		return -EIO;
	if (WIFSIGNALED(status))
		snprintf(w->error, sizeof(w->error), "%s was ended by signal %d", name,
			 WTERMSIG(status));
	else
		snprintf(w->error, sizeof(w->error), "%s failed without a reason", name);
	return -EIO;
}

static int wait_for_server(struct workload *w)
{
	struct workload_result *r = &w->shared->result;
	struct rusage usage;
	int status = reap(&w->server_pid, &usage);

	atomic_store(&r->exchanges, atomic_load(&r->served));
	r->server_cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
			   (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
	return explain_end(w, w->options.server_name, status);
}

int workload__wait(struct workload *w)
{
	struct rusage usage;

	if (w->client_pid)
		return explain_end(w, w->options.client_name, reap(&w->client_pid, &usage));
	return w->server_pid ? wait_for_server(w) : 0;
}

void workload__stop(struct workload *w)
{
	pid_t pid = w->options.role == WORKLOAD_SERVER_ONLY ? w->server_pid : w->client_pid;

	if (pid)
		kill(pid, SIGTERM);
}

static void end_child(volatile pid_t *child)
{
	struct rusage usage;

	if (!*child)
		return;
	kill(*child, SIGKILL);
	reap(child, &usage);
}

void workload__free(struct workload *w)
{
	if (!w)
		return;
	end_child(&w->client_pid);
	end_child(&w->server_pid);
	if (w->control_fd >= 0)
		close(w->control_fd);
	munmap(w->shared, sizeof(*w->shared));
	free(w);
}

pid_t workload__client_pid(const struct workload *w)
{
	return w->client_pid;
}

pid_t workload__server_pid(const struct workload *w)
{
	return w->server_pid;
}

uint16_t workload__port(const struct workload *w)
{
	return w->port;
}

int workload__client_fd(const struct workload *w)
{
	return w->shared->client_fd;
}

/* The server's word first: when it fails, the client knows only that the server went away. */
const char *workload__error(const struct workload *w)
{
	if (w->error[0])
		return w->error;
	return w->shared->server_error[0] ? w->shared->server_error : w->shared->client_error;
}

const struct workload_result *workload__result(const struct workload *w)
{
	return &w->shared->result;
}
