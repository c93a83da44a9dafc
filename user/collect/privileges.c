// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/collect/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "user/base/log.h"

void privileges__drop(void)
{
	const cap_value_t kept = CAP_BPF;
	cap_t now = cap_get_proc(), caps = cap_init();
	cap_flag_value_t have;

	if (!now || !caps)
		goto out;
	if (!cap_get_flag(now, kept, CAP_PERMITTED, &have) && have == CAP_SET) {
		cap_set_flag(caps, CAP_PERMITTED, 1, &kept, CAP_SET);
		cap_set_flag(caps, CAP_EFFECTIVE, 1, &kept, CAP_SET);
	}
	if (cap_set_proc(caps) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		log__debug("capabilities were not dropped: %s", strerror(errno));
out:
	cap_free(now);
	cap_free(caps);
}

static bool caller_id(const char *name, unsigned *out)
{
	const char *text = getenv(name);
	char *end;
	unsigned long value;

	if (!text || !*text)
		return false;
	value = strtoul(text, &end, 10);
	if (*end || value > 0xfffffffeul)
		return false;
	*out = value;
	return true;
}

bool privileges__caller(uid_t *uid, gid_t *gid)
{
	return !geteuid() && caller_id("SUDO_UID", uid) && caller_id("SUDO_GID", gid) && *uid;
}

int privileges__become_caller(void)
{
	struct passwd *user;
	uid_t uid;
	gid_t gid;

	if (!privileges__caller(&uid, &gid))
		return 0;
	user = getpwuid(uid);
	if (user ? initgroups(user->pw_name, gid) : setgroups(0, NULL))
		return -errno;
	if (setgid(gid) || setuid(uid))
		return -errno;
	if (user) {
		setenv("HOME", user->pw_dir, 1);
		setenv("USER", user->pw_name, 1);
		setenv("LOGNAME", user->pw_name, 1);
	}
	return 0;
}
