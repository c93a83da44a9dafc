// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/target.h"
#include "user/kernel/container.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "user/base/array.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"

#define CGROUP_ROOT  "/sys/fs/cgroup"
#define CGROUP_DEPTH 16
#define PATH_SIZE    4096

bool target__is_empty(const struct target *target)
{
	return !target->pid_count && !target->tid && !target->comm && !target->cgroup &&
	       !target->lport && !target->rport && !target->program && !target->everything;
}

bool target__takes_children(const struct target *target)
{
	return target->children || target->program || target->cgroup;
}

bool target__is_any_process(const struct target *target)
{
	return !target->pid_count && !target->tid && !target->comm && !target->cgroup &&
	       !target->program;
}

static void append(char *out, size_t size, const char *format, const char *text, long number)
{
	size_t used = strlen(out);

	if (used && used + 2 < size) {
		memcpy(out + used, ", ", 3);
		used += 2;
	}
	if (text)
		snprintf(out + used, size - used, format, text);
	else
		snprintf(out + used, size - used, format, number);
}

#define PIDS_DESCRIBED 4

static void append_pids(char *out, size_t size, const char *one, const char *more,
			const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count && i < PIDS_DESCRIBED; i++)
		append(out, size, one, NULL, pids[i]);
	if (count > PIDS_DESCRIBED)
		append(out, size, more, NULL, (long)(count - PIDS_DESCRIBED));
}

void target__describe(const struct target *target, char *out, size_t size)
{
	char safe[TEXT_SAFE(48)];
	size_t i;

	out[0] = '\0';
	if (target->everything)
		append(out, size, "all processes", NULL, 0);
	append_pids(out, size, "pid %ld", "and %ld more", target->pids, target->pid_count);
	for (i = 0; i < target->tid_count; i++)
		append(out, size, "thread %ld", NULL, target->tids[i]);
	if (target->comm)
		append(out, size, "comm %s", text__safe(safe, sizeof(safe), target->comm, 16), 0);
	if (target->cgroup)
		append(out, size, "cgroup %s", text__safe(safe, sizeof(safe), target->cgroup, 48),
		       0);
	if (target->program)
		append(out, size, "program %s",
		       text__safe(safe, sizeof(safe), target->program[0], 48), 0);
	if (target->lport)
		append(out, size, "local port %ld", NULL, target->lport);
	if (target->rport)
		append(out, size, "remote port %ld", NULL, target->rport);
	if (target->not_comm)
		append(out, size, "not comm %s",
		       text__safe(safe, sizeof(safe), target->not_comm, 16), 0);
	append_pids(out, size, "not pid %ld", "and not %ld more", target->not_pids,
		    target->not_pid_count);
}

static bool in_set(const struct target_set *set, uint32_t tgid)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->processes[i].tgid == tgid)
			return true;
	return false;
}

static bool is_left_out(const struct target_set *set, uint32_t tgid)
{
	for (size_t i = 0; i < set->left_out_count; i++)
		if (set->left_out[i] == tgid)
			return true;
	return false;
}

static void add_process(struct target_set *set, const struct ns_task_entry *entry)
{
	if (entry->kernel_thread || entry->view_tgid == (uint32_t)getpid() ||
	    in_set(set, entry->tgid) || is_left_out(set, entry->tgid))
		return;
	set->processes = xreallocarray(set->processes, set->count + 1, sizeof(*set->processes));
	set->processes[set->count++] = *entry;
}

/* That the kernel's list has no such number need not mean that it is nobody's. */
static int explain_absence(const char *what, const char *number, pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (!kill(pid, 0) || errno == EPERM) {
		log__error(
			"the kernel hides %s %d from BPF programs (by a security policy): it cannot be traced",
			what, pid);
		return -EACCES;
	}
	if (!access(path, F_OK)) {
		log__error(
			"%s %d is one of another pid namespace, which /proc shows: run netstall in "
			"that one (nsenter -p), or name it by its number in this one",
			what, pid);
		return -EINVAL;
	}
	log__error("no %s has %s %d: it has ended, or lives in another pid namespace (try %s)",
		   what, number, pid,
		   *number == 'p' ? "`pgrep -a NAME`" : "`ps -eLo pid,tid,comm`");
	return -ESRCH;
}

/* A first thread that has ended stays in the list as long as others of its process run. */
static bool has_ended(const struct tasks *tasks, const struct ns_task_entry *entry)
{
	for (size_t i = 0; i < tasks__count(tasks); i++) {
		const struct ns_task_entry *other = tasks__at(tasks, i);

		if (other->tgid == entry->tgid && !other->exiting)
			return false;
	}
	return true;
}

static int add_pid(const struct tasks *tasks, pid_t pid, struct target_set *set)
{
	const struct ns_task_entry *entry = tasks__by_view(tasks, pid);

	if (!entry)
		return explain_absence("process", "pid", pid);
	if (entry->kernel_thread) {
		log__error("pid %d is a kernel thread: name a user program", pid);
		return -EINVAL;
	}
	if (entry->view_tgid != (uint32_t)pid) {
		log__error(
			"%d is a thread of process %u: trace it with -t %d, or the process with -p %u",
			pid, entry->view_tgid, pid, entry->view_tgid);
		return -EINVAL;
	}
	if (pid == getpid()) {
		log__error("pid %d is netstall itself: name another process", pid);
		return -EINVAL;
	}
	if (has_ended(tasks, entry)) {
		log__error("process %d has ended (it is a zombie): there is nothing to trace", pid);
		return -ESRCH;
	}
	add_process(set, entry);
	return 0;
}

static int add_tid(const struct tasks *tasks, pid_t tid, size_t i, struct target_set *set)
{
	const struct ns_task_entry *entry = tasks__by_view(tasks, tid);

	if (!entry)
		return explain_absence("thread", "tid", tid);
	if (entry->kernel_thread) {
		log__error("tid %d is a kernel thread: name one of a user program", tid);
		return -EINVAL;
	}
	if (entry->view_tgid == (uint32_t)getpid()) {
		log__error("tid %d is netstall's own: name one of another process", tid);
		return -EINVAL;
	}
	set->only_tids[i] = entry->tid;
	add_process(set, entry);
	return 0;
}

static void add_comm(const struct tasks *tasks, const char *comm, struct target_set *set)
{
	size_t i, before = set->count;

	for (i = 0; i < tasks__count(tasks); i++) {
		const struct ns_task_entry *entry = tasks__at(tasks, i);

		if (entry->view_tgid && !strncmp(entry->comm, comm, NS_COMM_LEN - 1))
			add_process(set, entry);
	}
	if (set->count == before)
		log__note("no program is named %s yet: waiting for one to start", comm);
}

static void add_cgroup_processes(const char *path, const struct tasks *tasks,
				 struct target_set *set)
{
	char name[PATH_SIZE + 16];
	FILE *file;
	int pid;

	snprintf(name, sizeof(name), "%s/cgroup.procs", path);
	file = fopen(name, "re");
	if (!file)
		return;
	while (fscanf(file, "%d", &pid) == 1) {
		const struct ns_task_entry *entry = tasks__by_view(tasks, pid);

		if (entry)
			add_process(set, entry);
	}
	fclose(file);
}

/* The cgroup and all below it. Its inode number is the id that the kernel side compares. */
static void walk_cgroup(const char *path, unsigned depth, const struct tasks *tasks,
			struct target_set *set)
{
	struct dirent *entry;
	char below[PATH_SIZE];
	struct stat st;
	DIR *dir;

	if (stat(path, &st) || set->cgroup_count == TARGET_CGROUPS || depth > CGROUP_DEPTH)
		return;
	set->cgroups[set->cgroup_count++] = st.st_ino;
	add_cgroup_processes(path, tasks, set);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) <
		    sizeof(below))
			walk_cgroup(below, depth + 1, tasks, set);
	}
	closedir(dir);
}

/* One of version 1 has numbers of its own, which the kernel side does not see. */
static bool is_cgroup(const char *path)
{
	char test[PATH_SIZE + 16];
	struct statfs fs;

	snprintf(test, sizeof(test), "%s/cgroup.procs", path);
	return !access(test, R_OK) && !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* A whole path, of a hybrid hierarchy for example, one below the usual mount point, or the id of a
 * container. */
static bool find_cgroup(const char *name, char *path, size_t size, enum container_found *found)
{
	snprintf(path, size, "%s", name);
	if (*name == '/' && is_cgroup(path))
		return true;
	snprintf(path, size, CGROUP_ROOT "/%s", name + strspn(name, "/"));
	if (is_cgroup(path))
		return true;
	*found = container__find(is_cgroup(CGROUP_ROOT) ? CGROUP_ROOT : CGROUP_ROOT "/unified",
				 name, path, size);
	return *found == CONTAINER_ONE && is_cgroup(path);
}

static int add_cgroup(const char *name, const struct tasks *tasks, struct target_set *set)
{
	char path[PATH_SIZE];
	enum container_found found = CONTAINER_NONE;
	size_t before = set->count;

	if (!find_cgroup(name, path, sizeof(path), &found)) {
		if (found == CONTAINER_SEVERAL)
			log__error(
				"several containers have an id that begins with %s: give more of it",
				name);
		else
			log__error(
				"no cgroup %s: name one of version 2, whole or relative to " CGROUP_ROOT
				" (try `systemd-cgls`), or a container by its id (try `docker ps`)",
				name);
		return -ENOENT;
	}
	walk_cgroup(path, 0, tasks, set);
	if (set->count == before)
		log__note("cgroup %s has no process yet: waiting for one", name);
	return 0;
}

/* What they have started before; the kernel side follows what they start from now on. */
static void add_children(const struct tasks *tasks, struct target_set *set)
{
	size_t i, before;

	do {
		before = set->count;
		for (i = 0; i < tasks__count(tasks); i++) {
			const struct ns_task_entry *entry = tasks__at(tasks, i);

			if (entry->tid == entry->tgid && in_set(set, entry->parent))
				add_process(set, entry);
		}
	} while (set->count > before);
}

static bool is_not_wanted(const struct target *target, const struct ns_task_entry *entry,
			  bool by_pid)
{
	if (!by_pid)
		return target->not_comm && !strncmp(entry->comm, target->not_comm, NS_COMM_LEN - 1);
	for (size_t i = 0; i < target->not_pid_count; i++)
		if (entry->view_tgid == (uint32_t)target->not_pids[i])
			return true;
	return false;
}

static void leave_some_out(const struct target *target, const struct tasks *tasks,
			   struct target_set *set, bool by_pid)
{
	size_t room = set->left_out_count;

	for (size_t i = 0; i < tasks__count(tasks); i++) {
		const struct ns_task_entry *entry = tasks__at(tasks, i);

		if (entry->tid != entry->tgid || !is_not_wanted(target, entry, by_pid) ||
		    is_left_out(set, entry->tgid))
			continue;
		set->left_out =
			xgrow(set->left_out, set->left_out_count, &room, sizeof(*set->left_out));
		set->left_out[set->left_out_count++] = entry->tgid;
	}
	if (by_pid)
		set->left_out_by_pid = set->left_out_count;
}

int target__resolve(const struct target *target, const struct tasks *tasks, struct target_set *set)
{
	size_t i;
	int err = 0;

	memset(set, 0, sizeof(*set));
	leave_some_out(target, tasks, set, true);
	leave_some_out(target, tasks, set, false);
	for (i = 0; i < target->pid_count && !err; i++)
		err = add_pid(tasks, target->pids[i], set);
	for (i = 0; i < target->tid_count && !err; i++)
		err = add_tid(tasks, target->tids[i], i, set);
	if (!err && target->comm)
		add_comm(tasks, target->comm, set);
	if (!err && target->cgroup)
		err = add_cgroup(target->cgroup, tasks, set);
	if (!err && target->children && !target->tid)
		add_children(tasks, set);
	return err;
}

void target_set__clear(struct target_set *set)
{
	free(set->processes);
	free(set->left_out);
	memset(set, 0, sizeof(*set));
}
