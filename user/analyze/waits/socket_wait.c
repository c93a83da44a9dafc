// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/socket_wait.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "user/analyze/waits/wait.h"
#include "user/base/array.h"

#define PORT_DNS         53
#define PORT_DNS_TLS     853
#define PROTOCOL_MPTCP   262 /* include/uapi/linux/in.h */
#define FAMILY_VSOCK     40
#define FAMILY_XDP       44
#define FAMILY_BLUETOOTH 31

static bool is_inet(const struct ns_socket *socket)
{
	return socket->family == AF_INET || socket->family == AF_INET6;
}

bool socket__is_udp(const struct ns_socket *socket)
{
	return is_inet(socket) && socket->type == SOCK_DGRAM && socket->protocol == IPPROTO_UDP;
}

bool socket__is_unix(const struct ns_socket *socket)
{
	return socket->family == AF_UNIX;
}

const char *socket__kind(const struct ns_socket *socket)
{
	static const struct {
		uint32_t family, protocol; /* protocol 0: any */
		const char *kind;
	} rows[] = {
		{AF_PACKET, 0, "packet sockets"},    {FAMILY_VSOCK, 0, "vsock"},
		{FAMILY_XDP, 0, "AF_XDP"},           {AF_CAN, 0, "CAN"},
		{FAMILY_BLUETOOTH, 0, "Bluetooth"},  {AF_INET, IPPROTO_ICMP, "ICMP"},
		{AF_INET6, IPPROTO_ICMPV6, "ICMP"},  {AF_INET, IPPROTO_SCTP, "SCTP"},
		{AF_INET6, IPPROTO_SCTP, "SCTP"},    {AF_INET, PROTOCOL_MPTCP, "MPTCP"},
		{AF_INET6, PROTOCOL_MPTCP, "MPTCP"}, {AF_INET, 0, "raw sockets"},
		{AF_INET6, 0, "raw sockets"},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (rows[i].family == socket->family &&
		    (!rows[i].protocol || rows[i].protocol == socket->protocol))
			return rows[i].kind;
	}
	return "sockets of another family";
}

bool socket__is_unfollowed(const struct ns_socket *socket)
{
	switch (socket->family) {
	case 0:
	case AF_UNIX:
	case AF_NETLINK: /* the kernel itself answers */
		return false;
	default:
		return !socket__is_udp(socket);
	}
}

bool socket_wait__awaits_datagram(const struct ns_wait *wait)
{
	const struct ns_socket *socket = &wait->socket;

	if (!wait->state || !socket__is_udp(socket) || socket->role != NS_ASKS)
		return false;
	/* It was asked before the window began, and it slept by then. */
	if (!socket->is_followed)
		return wait->began_ts;
	return socket->asked_ts && socket->asked_ts < wait__woken(wait);
}

static bool polls_one(const struct model *model, const struct ns_wait *wait)
{
	const char *name = syscall__name(model__session(model)->arch, wait->syscall);

	return name && (!strcmp(name, "poll") || !strcmp(name, "ppoll")) && wait->arg1 == 1;
}

bool socket_wait__awaits_message(const struct model *model, const struct ns_wait *wait)
{
	return wait->state && socket__is_unix(&wait->socket) && wait->socket.role == NS_ASKS &&
	       polls_one(model, wait);
}

bool socket_wait__is_for_request(const struct ns_wait *wait)
{
	const struct ns_socket *socket = &wait->socket;

	return socket->role == NS_ANSWERS && (socket__is_udp(socket) || socket__is_unix(socket));
}

/* Of the name service cache daemon (glibc's nscd/nscd-client.h), and of systemd-resolved. */
static bool is_name_service(const struct ns_socket *socket)
{
	static const char *const paths[] = {
		"/var/run/nscd/socket",
		"/run/nscd/socket",
		"/run/systemd/resolve/io.systemd.Resolve",
	};

	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		if (!strncmp(socket->path, paths[i], sizeof(socket->path)))
			return true;
	}
	return false;
}

static bool is_name_server(uint32_t port)
{
	return port == PORT_DNS || port == PORT_DNS_TLS;
}

enum cause socket_wait__cause(const struct ns_wait *wait, enum cause otherwise)
{
	const struct ns_socket *socket = &wait->socket;

	if (socket__is_unix(socket) ? is_name_service(socket)
				    : socket__is_udp(socket) && is_name_server(socket->rport))
		return CAUSE_DNS;
	return otherwise;
}

enum cause conn__answer_cause(const struct model_conn *conn)
{
	return conn && conn->id.opener == NS_OPENER_SELF && is_name_server(conn->id.rport)
		       ? CAUSE_DNS
		       : CAUSE_PEER_APP;
}
