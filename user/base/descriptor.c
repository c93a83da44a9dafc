// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

struct sent {
	uint64_t number;
	int64_t fd; /* -errno: none comes with it */
};

void descriptor__send(int socket, uint64_t number, int fd)
{
	struct sent sent = {number, fd};
	struct iovec result = {&sent, sizeof(sent)};
	struct msghdr message = {.msg_iov = &result, .msg_iovlen = 1};
	union control control = {0};

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	sendmsg(socket, &message, MSG_NOSIGNAL);
}

int descriptor__receive(int socket, uint64_t *number)
{
	union control control = {0};
	struct sent sent;
	struct iovec result = {&sent, sizeof(sent)};
	struct msghdr message = {.msg_iov = &result,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(sent))
		return -EPIPE;
	*number = sent.number;
	if (sent.fd < 0)
		return sent.fd;
	if (message.msg_controllen < CMSG_LEN(sizeof(fd)) || control.header.cmsg_type != SCM_RIGHTS)
		return -EMFILE;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

int descriptor__open_null(int flags)
{
	int fd = open("/dev/null", flags | O_CLOEXEC);

	return fd >= 0 ? fd : open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int descriptor__write(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(fd, bytes, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		count -= (size_t)written;
	}
	return 0;
}
