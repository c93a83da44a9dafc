// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/exec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/xalloc.h"
#include "user/kernel/privileges.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define LOOK_BYTES   80 /* as bash: a NUL in the first line says that it is no text */

extern char **environ;

static void (*file_size_handler)(int);
static struct rlimit files; /* as netstall was started; rlim_max 0: not raised */

void exec__ease_limits(void)
{
	struct rlimit raised;

	file_size_handler = signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur == files.rlim_max)
		return;
	raised = files;
	raised.rlim_cur = raised.rlim_max;
	setrlimit(RLIMIT_NOFILE, &raised);
}

static bool is_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char start[LOOK_BYTES];
	ssize_t len = fd < 0 ? -1 : read(fd, start, sizeof(start)), i;

	if (fd >= 0)
		close(fd);
	for (i = 0; i < len && start[i] != '\n'; i++)
		if (iscntrl(start[i]) && !isspace(start[i]))
			return false;
	return len >= 0;
}

static int run_script(const char *path, char **argv)
{
	size_t count = 0;
	char **args;

	while (argv[count])
		count++;
	args = xcalloc(count + 2, sizeof(*args));
	args[0] = "sh";
	args[1] = (char *)path;
	memcpy(args + 2, argv + 1, count * sizeof(*args)); /* with the NULL at its end */
	execve("/bin/sh", args, environ);
	return -errno;
}

static int run_file(const char *path, char **argv)
{
	execve(path, argv, environ);
	if (errno == ENOEXEC && is_text(path))
		return run_script(path, argv);
	return -errno;
}

int exec__from_path(char **argv, int (*run)(const char *path, char **argv))
{
	const char *rest = getenv("PATH");
	char path[PATH_MAX];
	int err, result = -ENOENT;

	for (rest = rest ? rest : DEFAULT_PATH; rest; rest = *rest ? rest + 1 : NULL) {
		int len = strcspn(rest, ":");

		if ((size_t)snprintf(path, sizeof(path), "%.*s%s%s", len, rest, len ? "/" : "",
				     argv[0]) < sizeof(path)) {
			err = run(path, argv);
			if (err != -ENOENT && err != -ENOTDIR && err != -EACCES)
				return err;
			if (err == -EACCES && !access(path, F_OK))
				result = err;
		}
		rest += len;
	}
	return result;
}

int exec__program(char **argv)
{
	int err = privileges__become_caller();
	struct stat st;

	if (err)
		return err;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	signal(SIGXFSZ, file_size_handler);
	if (files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files);
	if (!*argv[0])
		return -ENOENT;
	if (!strchr(argv[0], '/'))
		return exec__from_path(argv, run_file);
	err = run_file(argv[0], argv);
	return err == -EACCES && !stat(argv[0], &st) && S_ISDIR(st.st_mode) ? -EISDIR : err;
}
