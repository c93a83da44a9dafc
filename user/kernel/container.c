// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/container.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "user/base/array.h"

#define ID_SHOWN   12 /* digits, as docker ps */
#define ID_WHOLE   64
#define PATH_SIZE  4096
#define DEPTH_MOST 16

/* What stands before the id, in its own name or in the one above. */
static const struct {
	const char *prefix, *name;
} kinds[] = {
	{"docker-", "docker"}, {"cri-containerd-", "containerd"}, {"crio-", "cri-o"},
	{"libpod-", "podman"}, {"nerdctl-", "containerd"},        {"containerd-", "containerd"},
};

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Of the name of a cgroup, so many bytes; above: of the cgroup that it is in. NULL: it is none. */
static const char *kind_of(const char *name, size_t len, const char *above, const char **id)
{
	*id = name;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t prefix = strlen(kinds[i].prefix);

		if (len < prefix + ID_WHOLE || strncmp(name, kinds[i].prefix, prefix) != 0)
			continue;
		*id = name + prefix;
		return hex_digits(*id) == ID_WHOLE ? kinds[i].name : NULL;
	}
	if (len != ID_WHOLE || hex_digits(name) != ID_WHOLE)
		return NULL;
	if (!strncmp(above, "docker/", 7))
		return "docker";
	return strncmp(above, "pod", 3) ? NULL : "kubernetes";
}

bool container__of_path(const char *path, char *out, size_t size)
{
	const char *name = path, *above = "", *kind, *id;
	bool found = false;

	while (*name) {
		size_t len = strcspn(name, "/");

		kind = len ? kind_of(name, len, above, &id) : NULL;
		if (kind) {
			snprintf(out, size, "%s %.*s", kind, ID_SHOWN, id);
			found = true;
		}
		above = name;
		name += len + (name[len] == '/');
	}
	return found;
}

bool container__of(pid_t pid, char *out, size_t size)
{
	char file[32], line[PATH_SIZE];
	bool found = false;
	FILE *in;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	in = fopen(file, "re");
	while (in && !found && fgets(line, sizeof(line), in)) {
		char *path = strchr(line, ':');

		path = path ? strchr(path + 1, ':') : NULL;
		line[strcspn(line, "\n")] = '\0';
		found = path && container__of_path(path + 1, out, size);
	}
	if (in)
		fclose(in);
	return found;
}

static uint64_t read_limit(const char *root, const char *path, const char *name)
{
	unsigned long long limit;
	char file[PATH_SIZE];
	FILE *in = NULL;
	bool found;

	if (snprintf(file, sizeof(file), "%s%s/%s", root, path, name) < (int)sizeof(file))
		in = fopen(file, "re");
	found = in && fscanf(in, "%llu", &limit) == 1; /* else "max" */
	if (in)
		fclose(in);
	return found ? limit : UINT64_MAX;
}

/* Of a cgroup and all above it. A container that is a namespace's root sees itself at the top. */
static uint64_t least_limit(const char *root, char *path, const char *name)
{
	uint64_t least = UINT64_MAX;
	char *end;

	for (;;) {
		least = min_u64(least, read_limit(root, path, name));
		end = strrchr(path, '/');
		if (!end)
			return least;
		*end = '\0';
	}
}

uint64_t container__memory_limit(void)
{
	uint64_t least = UINT64_MAX, limit;
	FILE *in = fopen("/proc/self/cgroup", "re");
	char line[PATH_SIZE];

	while (in && fgets(line, sizeof(line), in)) {
		char *controllers = strchr(line, ':'), *path;

		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (!controllers[1])
			limit = least_limit("/sys/fs/cgroup", path, "memory.max");
		else if (!strcmp(controllers + 1, "memory"))
			limit = least_limit("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
		else
			continue;
		least = min_u64(least, limit);
	}
	if (in)
		fclose(in);
	return least;
}

struct search {
	const char *id;
	char *path;
	size_t size;
	enum container_found found;
};

static void look_below(struct search *search, const char *above, const char *path, unsigned depth)
{
	const struct dirent *entry;
	char below[PATH_SIZE];
	DIR *dir = depth < DEPTH_MOST ? opendir(path) : NULL;

	while (dir && (entry = readdir(dir))) {
		const char *id, *name = entry->d_name;
		int len = snprintf(below, sizeof(below), "%s/%s", path, name);
		struct stat st;

		if (*name == '.' || len >= (int)sizeof(below) || lstat(below, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		if (!kind_of(name, strlen(name), above, &id)) {
			char parent[300];

			snprintf(parent, sizeof(parent), "%s/", name);
			look_below(search, parent, below, depth + 1);
		} else if (!strncmp(id, search->id, strlen(search->id))) {
			search->found = search->found ? CONTAINER_SEVERAL : CONTAINER_ONE;
			snprintf(search->path, search->size, "%s", below);
		}
	}
	if (dir)
		closedir(dir);
}

enum container_found container__find(const char *root, const char *id, char *path, size_t size)
{
	struct search search = {.id = id, .path = path, .size = size};

	if (strlen(id) >= CONTAINER_ID_LEAST && hex_digits(id) == strlen(id))
		look_below(&search, "", root, 0);
	return search.found;
}
