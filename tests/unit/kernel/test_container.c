// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Containers by the names of their cgroups. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "user/kernel/container.h"

#define ID   "3f2a9c1d4b5e60718293a4b5c6d7e8f90123456789abcdef0123456789abcdef"
#define ID_2 "3f2affff4b5e60718293a4b5c6d7e8f90123456789abcdef0123456789abcdef"
#define POD  "pod12345678-1234-1234-1234-123456789012"

static void is_in(const char *path, const char *wanted)
{
	char out[24];
	bool found = container__of_path(path, out, sizeof(out));

	assert_int_equal(found, wanted != NULL);
	if (wanted)
		assert_string_equal(out, wanted);
}

static void test_paths(void **state)
{
	(void)state;
	is_in("/system.slice/docker-" ID ".scope", "docker 3f2a9c1d4b5e");
	is_in("/docker/" ID, "docker 3f2a9c1d4b5e");
	is_in("/docker/" ID "/init.scope", "docker 3f2a9c1d4b5e");
	is_in("/kubepods.slice/kubepods-" POD ".slice/cri-containerd-" ID ".scope",
	      "containerd 3f2a9c1d4b5e");
	is_in("/kubepods.slice/crio-" ID ".scope/container", "cri-o 3f2a9c1d4b5e");
	is_in("/kubepods/burstable/" POD "/" ID, "kubernetes 3f2a9c1d4b5e");
	is_in("/machine.slice/libpod-" ID ".scope", "podman 3f2a9c1d4b5e");
	/* A container in another one: the inner. */
	is_in("/docker/" ID "/docker/" ID_2, "docker 3f2affff4b5e");
	is_in("/", NULL);
	is_in("", NULL);
	is_in("/user.slice/user-1000.slice/session-2.scope", NULL);
	is_in("/machine.slice/libpod-conmon-" ID ".scope", NULL);
	is_in("/builds/" ID, NULL);
	is_in("/docker/3f2a9c1d4b5e", NULL);
	is_in("/docker/" ID "0", NULL);
	is_in("/system.slice/docker-" ID "0.scope", NULL);
}

static void make(const char *root, const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	assert_int_equal(mkdir(whole, 0700), 0);
}

static void test_find(void **state)
{
	char root[] = "/tmp/netstall-container-XXXXXX", path[512], wanted[512], command[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	make(root, "system.slice");
	make(root, "system.slice/docker-" ID ".scope");
	make(root, "docker");
	make(root, "docker/" ID_2);
	snprintf(wanted, sizeof(wanted), "%s/system.slice/docker-" ID ".scope", root);
	assert_int_equal(container__find(root, "3f2a9", path, sizeof(path)), CONTAINER_ONE);
	assert_string_equal(path, wanted);
	assert_int_equal(container__find(root, ID_2, path, sizeof(path)), CONTAINER_ONE);
	assert_int_equal(container__find(root, "3f2a", path, sizeof(path)), CONTAINER_SEVERAL);
	assert_int_equal(container__find(root, "3f2", path, sizeof(path)), CONTAINER_NONE);
	assert_int_equal(container__find(root, "4444", path, sizeof(path)), CONTAINER_NONE);
	assert_int_equal(container__find(root, "system.slice", path, sizeof(path)), CONTAINER_NONE);
	assert_int_equal(container__find("/no/such", "3f2a9", path, sizeof(path)), CONTAINER_NONE);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
