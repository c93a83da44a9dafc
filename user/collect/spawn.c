// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/collect/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/collect/privileges.h"

struct spawn {
	pid_t pid;
	const char *name;
	int gate;    /* a byte lets the child go; closed without one it ends */
	int failure; /* the child's errno comes here when its exec fails */
};

static void run_child(char **argv, int gate, int failure)
{
	const char *slash = strrchr(argv[0], '/');
	char go;
	int err;

	/* The name that it will have, for those who look before its exec. */
	prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]);
	if (read(gate, &go, 1) != 1)
		_exit(0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	err = privileges__become_caller();
	if (!err) {
		execvp(argv[0], argv);
		err = -errno;
	}
	err = write(failure, &err, sizeof(err)) < 0;
	_exit(127);
}

struct spawn *spawn__new(char **argv)
{
	struct spawn *spawn = xcalloc(1, sizeof(*spawn));
	int gate[2], failure[2];

	spawn->name = argv[0];
	if (pipe2(gate, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
		log__error("cannot make a pipe: %s", strerror(errno));
		free(spawn);
		return NULL;
	}
	spawn->pid = fork();
	if (!spawn->pid) {
		close(gate[1]);
		close(failure[0]);
		run_child(argv, gate[0], failure[1]);
	}
	close(gate[0]);
	close(failure[1]);
	spawn->gate = gate[1];
	spawn->failure = failure[0];
	if (spawn->pid < 0) {
		log__error("cannot start a process: %s", strerror(errno));
		spawn__free(spawn);
		return NULL;
	}
	return spawn;
}

pid_t spawn__pid(const struct spawn *spawn)
{
	return spawn->pid;
}

int spawn__release(struct spawn *spawn)
{
	int err = 0;

	if (write(spawn->gate, "g", 1) != 1)
		return -errno;
	close(spawn->gate);
	spawn->gate = -1;
	/* A successful exec closes the other end. */
	if (read(spawn->failure, &err, sizeof(err)) != sizeof(err))
		return 0;
	log__error("cannot run %s: %s", spawn->name, strerror(-err));
	return err;
}

void spawn__free(struct spawn *spawn)
{
	if (!spawn)
		return;
	if (spawn->gate >= 0) {
		close(spawn->gate);
		if (spawn->pid > 0)
			waitpid(spawn->pid, NULL, 0);
	}
	close(spawn->failure);
	free(spawn);
}
