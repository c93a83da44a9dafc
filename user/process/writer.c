// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/descriptor.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/kernel/privileges.h"
#include "user/process/as_caller.h"

#define FINISH_MS 10000

/* Before each file. */
struct header {
	uint64_t size;
	char name[WRITER_NAME + 4];
	char replaced[WRITER_NAME + 4]; /* "": none is */
};

enum step { STEP_USER, STEP_MAKE, STEP_OPEN, STEP_OLD, STEP_WRITE, STEP_REPLACE, STEP_END };

/* Of the directory, then of each file. */
struct news {
	int32_t err; /* -errno; 0 done */
	uint32_t step;
	char name[WRITER_NAME + 4];
};

struct writer {
	const char *dir;
	int socket;
	pid_t pid;
	char *queue;
	size_t taken;  /* of it, from its begin */
	size_t queued; /* and not yet taken, behind that */
	size_t room;
	size_t put;
	size_t answered;
	size_t written;
	struct news failure; /* the first; err 0: none */
};

/* ---- the process ---- */

static void report_step(enum step step, int err, const char *name)
{
	struct news news = {.err = err, .step = step};

	snprintf(news.name, sizeof(news.name), "%.*s", WRITER_NAME, name);
	if (send(HELPER_SOCKET, &news, sizeof(news), MSG_NOSIGNAL) != sizeof(news))
		_exit(1);
}

static void refuse(enum step step, int err, const char *name)
{
	report_step(step, err, name);
	_exit(1);
}

static int open_directory(const char *dir, bool (*is_old)(const char *name))
{
	const struct dirent *entry;
	int err, fd;
	bool link;
	DIR *list;

	err = privileges__become_caller();
	if (err)
		refuse(STEP_USER, err, "");
	if (mkdir(dir, 0700) && errno != EEXIST)
		refuse(STEP_MAKE, -errno, "");
	err = as_caller__look(dir, &link);
	if (err)
		refuse(STEP_OPEN, err, "");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		refuse(STEP_OPEN, -errno, "");
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		refuse(STEP_WRITE, -errno, "");
	list = opendir(dir);
	while (list && (entry = readdir(list)))
		if (is_old(entry->d_name))
			refuse(STEP_OLD, -EEXIST, entry->d_name);
	if (list)
		closedir(list);
	return fd;
}

static bool take(void *out, size_t size)
{
	char *at = out;

	while (size > 0) {
		ssize_t got = recv(HELPER_SOCKET, at, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

static int write_file(int dir, const char *name, const char *text, size_t size)
{
	int fd, err;

	/* Whoever asks for it, in this folder alone. */
	if (strchr(name, '/'))
		return -EINVAL;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	err = descriptor__write(fd, text, size);
	/* Some file systems report a full disk only now. */
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlinkat(dir, name, 0);
	return err;
}

static int take_away(int dir, const char *name)
{
	if (strchr(name, '/'))
		return -EINVAL;
	return unlinkat(dir, name, 0) ? -errno : 0;
}

/* Writes one, and then takes away the one that it replaces, if that is still there. */
static void keep(int dir, const struct header *header, const char *text)
{
	int err = write_file(dir, header->name, text, header->size);
	bool replaces = !err && header->replaced[0];

	if (replaces)
		err = take_away(dir, header->replaced);
	if (replaces && err != -ENOENT)
		report_step(STEP_REPLACE, err, header->replaced);
	else
		report_step(STEP_WRITE, replaces ? 0 : err, header->name);
}

static void run(const char *dir, bool (*is_old)(const char *name))
{
	struct header header;
	int fd = open_directory(dir, is_old);

	report_step(STEP_OPEN, 0, "");
	while (take(&header, sizeof(header))) {
		char *text = xcalloc(1, header.size + 1);

		header.name[sizeof(header.name) - 1] = '\0';
		header.replaced[sizeof(header.replaced) - 1] = '\0';
		if (!take(text, header.size))
			break;
		keep(fd, &header, text);
		free(text);
	}
	_exit(0);
}

/* ---- ours ---- */

static void say(const struct writer *writer, const struct news *news)
{
	char dir[TEXT_SAFE(256)], name[TEXT_SAFE(WRITER_NAME)];
	const char *why = as_caller__why(news->err);

	text__safe(dir, sizeof(dir), writer->dir, 256);
	text__safe(name, sizeof(name), news->name, WRITER_NAME);
	switch ((enum step)news->step) {
	case STEP_USER:
		log__error("cannot become the user who called sudo to write to %s: %s", dir, why);
		break;
	case STEP_MAKE:
		log__error("cannot make the folder %s: %s; name another one with --keep", dir, why);
		break;
	case STEP_OPEN:
		log__error("cannot open the folder %s: %s; name another one with --keep", dir, why);
		break;
	case STEP_OLD:
		log__error(
			"%s has files of an earlier run (%s): remove them, or name another folder",
			dir, name);
		break;
	case STEP_WRITE:
		if (!news->name[0])
			log__error(
				"cannot write to the folder %s: %s; name another one with --keep",
				dir, why);
		else
			log__error(
				"could not keep %s/%s: %s%s", dir, name, why,
				news->err == -ENOSPC || news->err == -EDQUOT
					? "; free some space, or name a folder elsewhere with --keep"
					: "");
		break;
	case STEP_REPLACE:
		log__error("could not take away %s/%s, which a later one replaces: %s", dir, name,
			   why);
		break;
	case STEP_END:
		log__error("not all that was to be kept in %s was written: %s", dir,
			   news->err == -ETIMEDOUT ? "its disk took too long"
						   : "netstall's process for it was killed");
		break;
	}
}

/* Takes what was answered; false: the process is gone. */
static bool collect(struct writer *writer)
{
	struct news news;
	ssize_t got;

	/* Small enough to come whole. */
	while ((got = recv(writer->socket, &news, sizeof(news), MSG_DONTWAIT)) == sizeof(news)) {
		news.name[sizeof(news.name) - 1] = '\0';
		writer->answered++;
		/* What replaces one makes it no more. */
		if (news.err ? news.step == STEP_REPLACE : news.step == STEP_WRITE)
			writer->written++;
		if (news.err && !writer->failure.err)
			writer->failure = news;
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

int writer__open(const char *dir, bool (*is_old)(const char *name), struct writer **out)
{
	struct writer *writer = xcalloc(1, sizeof(*writer));
	struct news news = {.err = -EPIPE, .step = STEP_OPEN};

	*out = NULL;
	writer->dir = dir;
	writer->pid = helper__fork(SOCK_STREAM, &writer->socket);
	if (!writer->pid) {
		helper__settle("netstall-keep", writer->socket, -1, false);
		run(dir, is_old);
	}
	if (writer->pid < 0) {
		news.err = writer->pid;
		log__error("cannot start a process: %s", strerror(-news.err));
		free(writer);
		return news.err;
	}
	if (recv(writer->socket, &news, sizeof(news), MSG_WAITALL) != sizeof(news))
		news = (struct news){.err = -EPIPE, .step = STEP_OPEN};
	if (news.err) {
		say(writer, &news);
		writer__free(writer);
		return news.err;
	}
	*out = writer;
	return 0;
}

static void enqueue(struct writer *writer, const void *bytes, size_t size)
{
	/* Not with each piece that is taken: what is left may be many times as long. */
	if (writer->taken)
		memmove(writer->queue, writer->queue + writer->taken, writer->queued);
	writer->taken = 0;
	if (writer->queued + size > writer->room) {
		writer->room = 2 * (writer->queued + size);
		writer->queue = xreallocarray(writer->queue, writer->room, 1);
	}
	memcpy(writer->queue + writer->queued, bytes, size);
	writer->queued += size;
}

void writer__put(struct writer *writer, const char *name, const char *replaced, const char *text,
		 size_t size)
{
	struct header header = {.size = size};

	snprintf(header.name, sizeof(header.name), "%.*s", WRITER_NAME, name);
	snprintf(header.replaced, sizeof(header.replaced), "%.*s", WRITER_NAME,
		 replaced ? replaced : "");
	enqueue(writer, &header, sizeof(header));
	enqueue(writer, text, size);
	writer->put++;
	writer__push(writer);
}

void writer__push(struct writer *writer)
{
	while (writer->queued > 0) {
		ssize_t sent = send(writer->socket, writer->queue + writer->taken, writer->queued,
				    MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		writer->queued -= (size_t)sent;
		writer->taken += (size_t)sent;
	}
	collect(writer);
}

static int64_t now_ms(void)
{
	return (int64_t)(clock__now() / 1000000);
}

int writer__finish(struct writer *writer)
{
	int64_t end = now_ms() + FINISH_MS, left;
	int err = -ETIMEDOUT;

	writer__push(writer);
	while (writer->answered < writer->put && (left = end - now_ms()) > 0) {
		struct pollfd wait = {.fd = writer->socket,
				      .events = POLLIN | (writer->queued ? POLLOUT : 0)};

		poll(&wait, 1, (int)left);
		writer__push(writer);
		if ((wait.revents & (POLLHUP | POLLERR)) && !collect(writer)) {
			err = -EPIPE;
			break;
		}
	}
	if (writer->answered < writer->put && !writer->failure.err)
		writer->failure = (struct news){.err = err, .step = STEP_END};
	if (writer->failure.err)
		say(writer, &writer->failure);
	return writer->failure.err;
}

size_t writer__count(const struct writer *writer)
{
	return writer->written;
}

void writer__free(struct writer *writer)
{
	if (!writer)
		return;
	close(writer->socket);
	/* One that hangs on a disk is left to it. */
	if (writer->answered == writer->put)
		helper__end(writer->pid, FINISH_MS);
	free(writer->queue);
	free(writer);
}
