// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

void descriptor__send(int socket, int fd)
{
	struct iovec result = {&fd, sizeof(fd)};
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

int descriptor__receive(int socket)
{
	union control control = {0};
	struct iovec result;
	struct msghdr message = {.msg_iov = &result,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int status, fd;

	result = (struct iovec){&status, sizeof(status)};
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(status))
		return -EPIPE;
	if (status < 0)
		return status;
	if (message.msg_controllen < CMSG_LEN(sizeof(fd)) || control.header.cmsg_type != SCM_RIGHTS)
		return -EMFILE;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}
