// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Files that a user names: whose they are, which links are followed, and no loss without a word.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "user/base/log.h"
#include "user/kernel/privileges.h"
#include "user/process/as_caller.h"
#include "user/process/report_file.h"

#define CALLER  65534
#define ANOTHER 65533

static char folder[64]; /* that all may write to, as /tmp */
static char path[128];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void set_caller(const char *uid, const char *gid)
{
	uid ? setenv("SUDO_UID", uid, 1) : unsetenv("SUDO_UID");
	gid ? setenv("SUDO_GID", gid, 1) : unsetenv("SUDO_GID");
}

static int begin(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	set_caller(NULL, NULL);
	strcpy(folder, "/tmp/netstall-test-XXXXXX");
	return mkdtemp(folder) ? chmod(folder, 01777) : -1;
}

static int end(void **state)
{
	static const char *const names[] = {"file", "link", "fifo"};

	(void)state;
	set_caller(NULL, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_folder(names[i]));
	return rmdir(folder);
}

static void make(const char *name, mode_t mode, const char *text)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_EXCL, mode);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void expect_text(const char *name, const char *wanted)
{
	FILE *file = fopen(in_folder(name), "r");
	char text[64] = "";

	assert_non_null(file);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, file), strlen(wanted));
	fclose(file);
	assert_string_equal(text, wanted);
}

static void expect_owner(const char *name, uid_t uid)
{
	struct stat status;

	assert_int_equal(stat(in_folder(name), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_uid, uid);
}

static void write_to(FILE *file, const char *text)
{
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(report_file__close(file, "it", 0), 0);
}

static void said(const char *words)
{
	if (!strstr(log__last_error(), words))
		fail_msg("it said: %s", log__last_error());
}

/* ---- whose ---- */

static void a_new_file_is_its_owners_alone(void **state)
{
	(void)state;
	write_to(report_file__open(in_folder("file")), "a longer one");
	expect_owner("file", geteuid());
	write_to(report_file__open(in_folder("file")), "short");
	write_to(report_file__append(in_folder("file")), ", more");
	expect_text("file", "short, more");
}

static void under_sudo_it_is_the_callers(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	set_caller("65534", "65534");
	write_to(report_file__open(in_folder("file")), "text");
	expect_owner("file", CALLER);
}

/* sudo for netstall alone is no right to write as root. */
static void roots_files_are_left_alone(void **state)
{
	int fd;

	(void)state;
	if (geteuid())
		skip();
	make("file", 0644, "root's");
	set_caller("65534", "65534");
	assert_null(report_file__open(in_folder("file")));
	said("as the user who called sudo: Permission denied");
	assert_null(report_file__append(in_folder("file")));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_null(report_file__open(in_folder("link")));
	assert_int_equal(access(in_folder("link"), F_OK), -1);
	expect_text("file", "root's");
	/* Neither is it one to read. */
	assert_int_equal(chmod(in_folder("file"), 0600), 0);
	assert_int_equal(as_caller__open(in_folder("file"), O_RDONLY), -EACCES);
	set_caller(NULL, NULL);
	fd = as_caller__open(in_folder("file"), O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
}

static void a_caller_who_is_not_clear_is_refused(void **state)
{
	static const char *const bad[][2] = {
		{"1000", NULL},   {NULL, "1000"},
		{"abc", "1000"},  {"1000", "abc"},
		{"-1", "1000"},   {"4294967295", "1000"},
		{" 1000", "0"},   {"18446744073709552616", "1000"},
		{"1000 ", "0"},   {"+1000", "1000"},
		{"0x10", "1000"}, {"-18446744073709550616", "1000"},
	};
	static const char *const good[][2] = {
		{NULL, NULL}, {"", ""}, {"1000", "1000"}, {"1000", "0"}, {"0", "0"}};
	unsigned uid, gid;

	(void)state;
	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set_caller(bad[i][0], bad[i][1]);
		assert_false(privileges__caller_is_clear());
		said(bad[i][0] ? bad[i][0] : "SUDO_UID is not set");
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		set_caller(good[i][0], good[i][1]);
		assert_true(privileges__caller_is_clear());
		assert_int_equal(privileges__caller(&uid, &gid), i == 2 || i == 3);
	}
}

/* ---- which file ---- */

static void link_of(uid_t uid)
{
	char target[128];

	snprintf(target, sizeof(target), "%s/file", folder);
	assert_int_equal(symlink(target, in_folder("link")), 0);
	if (!geteuid())
		assert_int_equal(lchown(path, uid, uid), 0);
}

static void ones_own_link_is_followed(void **state)
{
	(void)state;
	link_of(geteuid() ? geteuid() : CALLER);
	if (!geteuid())
		set_caller("65534", "65534");
	write_to(report_file__open(in_folder("link")), "text");
	expect_text("file", "text");
}

static void anothers_link_is_not(void **state)
{
	bool link;

	(void)state;
	if (geteuid())
		skip();
	link_of(ANOTHER);
	set_caller("65534", "65534");
	assert_null(report_file__open(in_folder("link")));
	said("symbolic link of another user");
	assert_int_equal(as_caller__look(in_folder("link"), &link), -ELOOP);
	set_caller(NULL, NULL);
	assert_null(report_file__open(in_folder("link")));
	assert_int_equal(access(in_folder("file"), F_OK), -1);
}

static void a_descriptor_is_shared(void **state)
{
	char name[32];
	int fd;

	(void)state;
	set_caller("65534", "65534");
	fd = open(in_folder("file"), O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "before, ", 8), 8);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	write_to(report_file__open(name), "between");
	assert_int_equal(write(fd, ", after", 7), 7);
	expect_text("file", "before, between, after");
	assert_int_equal(as_caller__open(name, O_RDONLY), -EBADF);
	/* One of ours is nobody's to name. */
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	assert_int_equal(as_caller__open(name, O_WRONLY), -EBADF);
	close(fd);
	assert_int_equal(as_caller__open(name, O_WRONLY), -EBADF);
	assert_int_equal(as_caller__open("/dev/fd/", O_WRONLY | O_CREAT), -EISDIR);
	/* 1 and 2^32 more, and what strtoul() would take for 1. */
	assert_true(as_caller__open("/dev/fd/4294967297", O_WRONLY) < 0);
	assert_true(as_caller__open("/dev/fd/+1", O_WRONLY) < 0);
	assert_true(as_caller__open("/dev/fd/ 1", O_WRONLY) < 0);
}

/* ---- whether it got there ---- */

static void a_pipe_without_a_reader_is_lost(void **state)
{
	FILE *file;
	int reader;

	(void)state;
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	if (!geteuid()) {
		assert_int_equal(chown(in_folder("fifo"), CALLER, CALLER), 0);
		set_caller("65534", "65534");
	}
	reader = open(in_folder("fifo"), O_RDONLY | O_NONBLOCK);
	file = report_file__open(in_folder("fifo"));
	assert_non_null(file);
	assert_false(report_file__is_lost(file));
	close(reader);
	assert_true(report_file__is_lost(file));
	fputs("text", file);
	assert_int_equal(report_file__close(file, "the fifo", 0), -EPIPE);
	said("not everything could be written to the fifo: Broken pipe");
}

static void a_full_disk_is_said_whenever_it_was(void **state)
{
	FILE *file;

	(void)state;
	file = report_file__open("/dev/full");
	if (!file)
		skip();
	assert_false(report_file__is_lost(file));
	fputs("text", file);
	fflush(file);
	assert_true(report_file__is_lost(file));
	assert_int_equal(report_file__flush(file, "a/b"), -ENOSPC);
	said("not everything could be written to a/b: No space left on device; free some space");
	/* Once. */
	assert_int_equal(report_file__close(file, "c", 0), 0);
	said("to a/b");
}

static void what_is_closed_is_said(void **state)
{
	FILE *file = fopen("/dev/null", "r+");
	int closed = open("/dev/null", O_RDONLY);

	(void)state;
	assert_non_null(file);
	assert_true(dup2(closed, fileno(file)) >= 0);
	close(closed);
	fputs("text", file);
	assert_int_equal(report_file__close(file, "stdout", 0), -EBADF);
	said("cannot write to stdout, it is closed");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_file_is_its_owners_alone),
		TEST(under_sudo_it_is_the_callers),
		TEST(roots_files_are_left_alone),
		TEST(a_caller_who_is_not_clear_is_refused),
		TEST(ones_own_link_is_followed),
		TEST(anothers_link_is_not),
		TEST(a_descriptor_is_shared),
		TEST(a_pipe_without_a_reader_is_lost),
		TEST(a_full_disk_is_said_whenever_it_was),
		TEST(what_is_closed_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
