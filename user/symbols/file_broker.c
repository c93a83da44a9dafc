// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/file_broker.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/descriptor.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/kernel/privileges.h"

#define END_MS 500 /* nothing that it does needs longer, but a file system that does not answer */

struct file_broker {
	bool gone; /* nobody answers */
	int socket;
	pid_t pid;
	uint64_t questions;
};

struct request {
	uint64_t number; /* that its answer has: who asked before may not have lived to take it */
	enum file_broker_what what;
	pid_t pid; /* FILE_BROKER_FILE: 0 is our own root */
	uint64_t start, end;
	char path[PATH_MAX];
};

/* ---- the process ---- */

static int open_proc(pid_t pid, const char *name, int flags)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The link leads to the file itself, also when its name is gone or another's by now. */
static bool is_its_program(pid_t pid, const char *path)
{
	char link[64], target[PATH_MAX + 1];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	len = readlink(link, target, sizeof(target) - 1);
	if (len < 0)
		return false;
	target[len] = '\0';
	return !strcmp(target, path);
}

/*
 * The same step by step, where a seccomp filter refuses openat2() because its flags cannot be
 * seen (systemd's RestrictSUIDSGID=, older container engines). No link is followed; the paths
 * that memory maps show have none.
 */
static int open_by_steps(int root, const char *path)
{
	const int flags = O_CLOEXEC | O_NOFOLLOW;
	char steps[PATH_MAX], *step, *next, *rest;
	int fd = fcntl(root, F_DUPFD_CLOEXEC, 0), above;

	snprintf(steps, sizeof(steps), "%s", path);
	for (step = strtok_r(steps, "/", &rest); step && fd >= 0; step = next) {
		next = strtok_r(NULL, "/", &rest);
		above = fd;
		fd = -1;
		if (next && strcmp(step, ".."))
			fd = openat(above, step, flags | O_PATH | O_DIRECTORY);
		else if (!next)
			fd = openat(above, step, flags | O_PATH);
		close(above);
	}
	return fd;
}

/* In the process's own root and mount namespace; links do not lead out of it. It leads to the file,
 * and has not opened it. */
static int open_in_root(pid_t pid, const char *path, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve};
	int root, fd;

	root = pid ? open_proc(pid, "root", O_PATH | O_DIRECTORY)
		   : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return root;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_by_steps(root, path);
	if (fd < 0)
		fd = -errno;
	close(root);
	return fd;
}

/* Leads to the file behind a mapping, whatever became of its name. */
static int open_mapped(pid_t pid, uint64_t start, uint64_t end)
{
	char name[64];

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, start, end);
	return open_proc(pid, name, O_PATH);
}

/*
 * Of a descriptor that leads to a file without having opened it (O_PATH), one to read from. A
 * target may name a device or a FIFO, and to open one does something already: a regular file or
 * nothing.
 */
static int only_regular(int at)
{
	struct stat stat;
	char path[32];
	int fd = -ENOEXEC;

	if (at < 0)
		return at;
	if (!fstat(at, &stat) && S_ISREG(stat.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(at);
	return fd;
}

static int only_elf(int at)
{
	char magic[SELFMAG];
	int fd = only_regular(at);

	if (fd < 0)
		return fd;
	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, ELFMAG, SELFMAG))
		return fd;
	close(fd);
	return -ENOEXEC;
}

/* Its number in its own pid namespace, and the user that it acts as. */
static int read_status(pid_t pid, pid_t *ns_pid, uid_t *uid)
{
	int fd = open_proc(pid, "status", O_RDONLY), found = 0;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[256], *last;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Uid: %*u %u", uid) == 1)
			found |= 1;
		if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t'))) {
			*ns_pid = atoi(last);
			found |= 2;
		}
	}
	if (file)
		fclose(file);
	return found == 3 && *ns_pid > 0 ? 0 : -ENOENT;
}

/* What a compiler at run time writes down, for perf. The process's own file, or none. */
static int open_names(pid_t pid)
{
	pid_t ns_pid = 0;
	struct stat stat;
	char path[64];
	uid_t uid = 0;
	int fd = read_status(pid, &ns_pid, &uid);

	if (fd)
		return fd;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", ns_pid);
	fd = only_regular(open_in_root(pid, path, RESOLVE_NO_SYMLINKS));
	if (fd == -ENOEXEC) /* that is said of programs */
		return -EACCES;
	if (fd < 0 || (!fstat(fd, &stat) && stat.st_uid == uid))
		return fd;
	close(fd);
	return -EACCES;
}

static int serve(const struct request *request)
{
	switch (request->what) {
	case FILE_BROKER_MAPS:
		return open_proc(request->pid, "maps", O_RDONLY);
	case FILE_BROKER_IMAGE:
		if (!is_its_program(request->pid, request->path))
			return only_elf(open_in_root(request->pid, request->path, 0));
		/* fall through */
	case FILE_BROKER_PROGRAM:
		return only_elf(open_proc(request->pid, "exe", O_PATH));
	case FILE_BROKER_MAPPED:
		return only_elf(open_mapped(request->pid, request->start, request->end));
	case FILE_BROKER_FILE:
		return only_elf(open_in_root(request->pid, request->path, 0));
	case FILE_BROKER_NAMES:
		return open_names(request->pid);
	case FILE_BROKER_MEMORY:
		return open_proc(request->pid, "mem", O_RDONLY);
	}
	return -EINVAL;
}

static void run(int socket)
{
	/* The last, since Linux 5.9, leads to files that are mapped and have no name any more. */
	const int kept[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE};
	struct request request;
	sigset_t all;
	int fd;

	helper__settle("netstall-files", socket, -1, false);
	/* It ends when we do, and we may still ask after a Ctrl-C. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (privileges__keep_only(kept, 3))
		_exit(1);
	while (recv(HELPER_SOCKET, &request, sizeof(request), 0) == sizeof(request)) {
		request.path[sizeof(request.path) - 1] = '\0';
		fd = serve(&request);
		descriptor__send(HELPER_SOCKET, request.number, fd);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

struct file_broker *file_broker__new(void)
{
	struct file_broker *broker;
	int socket;
	pid_t pid = helper__fork(SOCK_SEQPACKET, &socket);

	if (!pid)
		run(socket);
	if (pid < 0) {
		log__debug("no names of user stacks: %s", strerror(-pid));
		return NULL;
	}
	broker = xcalloc(1, sizeof(*broker));
	broker->socket = socket;
	broker->pid = pid;
	return broker;
}

void file_broker__free(struct file_broker *broker)
{
	bool ended, killed;

	if (!broker)
		return;
	ended = helper__has_ended(broker->pid, &killed);
	if (killed)
		log__note(
			"names of functions may be missing: netstall's helper that opens "
			"programs' files, netstall-files, was ended");
	close(broker->socket);
	if (!ended)
		helper__end(broker->pid, END_MS);
	free(broker);
}

int *file_broker__socket(struct file_broker *broker)
{
	return &broker->socket;
}

static int ask(struct file_broker *broker, struct request *request)
{
	uint64_t number = 0;
	int fd;

	if (!broker)
		return -ENOSYS;
	/* Of several processes that share it, one after the other, each goes on from another. */
	if (!broker->questions)
		broker->questions = (uint64_t)getpid() << 32;
	request->number = ++broker->questions;
	if (send(broker->socket, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		fd = -EPIPE;
	else
		while ((fd = descriptor__receive(broker->socket, &number)) != -EPIPE &&
		       number != request->number)
			if (fd >= 0)
				close(fd);
	broker->gone = fd == -EPIPE;
	return fd;
}

bool file_broker__is_gone(const struct file_broker *broker)
{
	return broker && broker->gone;
}

int file_broker__open(struct file_broker *broker, enum file_broker_what what, pid_t pid,
		      const char *path)
{
	struct request request = {.what = what, .pid = pid};

	if (path && strlen(path) >= sizeof(request.path))
		return -ENAMETOOLONG;
	strcpy(request.path, path ? path : "");
	return ask(broker, &request);
}

int file_broker__open_mapped(struct file_broker *broker, pid_t pid, uint64_t start, uint64_t end)
{
	struct request request = {
		.what = FILE_BROKER_MAPPED, .pid = pid, .start = start, .end = end};

	return ask(broker, &request);
}
