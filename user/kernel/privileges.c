// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/text.h"

#define MOST_GROUPS 1024 /* of one user; Linux allows 65,536 */
#define ID_SHOWN 32

int privileges__keep_only(const int *kept, size_t count)
{
	cap_t now = cap_get_proc(), caps = cap_init();
	cap_flag_value_t have;
	int err = 0;

	for (size_t i = 0; now && caps && i < count; i++) {
		if (cap_get_flag(now, kept[i], CAP_PERMITTED, &have) || have != CAP_SET)
			continue;
		cap_set_flag(caps, CAP_PERMITTED, 1, &kept[i], CAP_SET);
		cap_set_flag(caps, CAP_EFFECTIVE, 1, &kept[i], CAP_SET);
	}
	if (!now || !caps || cap_set_proc(caps) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	cap_free(now);
	cap_free(caps);
	return err;
}

void privileges__drop(void)
{
	int err = privileges__keep_only((const int[]){CAP_BPF}, 1);

	if (err)
		log__debug("capabilities were not dropped: %s", strerror(-err));
}

/* As sudo writes it: digits alone. The greatest is no id. */
static bool caller_id(const char *name, unsigned *out)
{
	const char *text = getenv(name);
	unsigned long long value;

	if (!text || !*text || text[strspn(text, "0123456789")])
		return false;
	value = strtoull(text, NULL, 10);
	if (value > 0xfffffffeull)
		return false;
	*out = value;
	return true;
}

static bool is_set(const char *name)
{
	const char *text = getenv(name);

	return text && *text;
}

static const char *shown(char *out, size_t size, const char *name)
{
	char safe[TEXT_SAFE(ID_SHOWN)];

	if (!is_set(name))
		return "not set";
	snprintf(out, size, "'%s'", text__safe(safe, sizeof(safe), getenv(name), ID_SHOWN));
	return out;
}

bool privileges__caller_is_clear(void)
{
	char uid_text[TEXT_SAFE(ID_SHOWN) + 2], gid_text[TEXT_SAFE(ID_SHOWN) + 2];
	unsigned uid, gid;

	if (geteuid() || (!is_set("SUDO_UID") && !is_set("SUDO_GID")) ||
	    (caller_id("SUDO_UID", &uid) && caller_id("SUDO_GID", &gid)))
		return true;
	log__error(
		"SUDO_UID is %s and SUDO_GID is %s, which names no user to write files and "
		"start programs as: call netstall by sudo, or, to do all of it as root, unset "
		"both",
		shown(uid_text, sizeof(uid_text), "SUDO_UID"),
		shown(gid_text, sizeof(gid_text), "SUDO_GID"));
	return false;
}

bool privileges__caller(uid_t *uid, gid_t *gid)
{
	return !geteuid() && caller_id("SUDO_UID", uid) && caller_id("SUDO_GID", gid) && *uid;
}

/*
 * In a static file the C library has no name services at hand (LDAP, SSSD): the two files alone are
 * read, and who is in neither has fewer groups.
 */
#ifdef NETSTALL_STATIC
static struct passwd *find_user(uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *user = NULL;

	while (file && (user = fgetpwent(file)) && user->pw_uid != uid)
		;
	if (file)
		fclose(file); /* what was read is not in its buffer */
	return user;
}

static bool has_member(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

static int take_groups(const struct passwd *user, gid_t gid)
{
	FILE *file = fopen("/etc/group", "re");
	const struct group *group;
	gid_t groups[MOST_GROUPS];
	size_t count = 0;

	groups[count++] = gid;
	while (file && count < MOST_GROUPS && (group = fgetgrent(file)))
		if (has_member(group, user->pw_name))
			groups[count++] = group->gr_gid;
	if (file)
		fclose(file);
	return setgroups(count, groups);
}
#else
static struct passwd *find_user(uid_t uid)
{
	return getpwuid(uid);
}

static int take_groups(const struct passwd *user, gid_t gid)
{
	return initgroups(user->pw_name, gid);
}
#endif

int privileges__become_caller(void)
{
	struct passwd *user;
	uid_t uid;
	gid_t gid;

	if (!privileges__caller(&uid, &gid))
		return 0;
	user = find_user(uid);
	if (user ? take_groups(user, gid) : setgroups(0, NULL))
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
