/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits on sockets that are no TCP connections: for an answer, and of whom. */
#ifndef NETSTALL_ANALYZE_WAITS_SOCKET_WAIT_H
#define NETSTALL_ANALYZE_WAITS_SOCKET_WAIT_H

#include "user/analyze/cause.h"
#include "user/model/model.h"

bool socket__is_udp(const struct ns_socket *socket);
bool socket__is_unix(const struct ns_socket *socket);
/* Of a network or bus, and what goes on there netstall does not see. */
bool socket__is_unfollowed(const struct ns_socket *socket);
/* "ICMP", "a packet socket" */
const char *socket__kind(const struct ns_socket *socket);

/* What was sent there had no answer when it went to sleep, or was sent while it slept. */
bool socket_wait__awaits_datagram(const struct ns_wait *wait);
/* Its one Unix socket is one that it has connected, so that it waits for who listens there. */
bool socket_wait__awaits_message(const struct model *model, const struct ns_wait *wait);
/* For who asks there next: the socket is that of who answers. */
bool socket_wait__is_for_request(const struct ns_wait *wait);
/* CAUSE_DNS where a name server is asked, or who asks it for others; else what is said. */
enum cause socket_wait__cause(const struct ns_wait *wait, enum cause otherwise);
/* Likewise of a TCP connection, NULL not known: that of its server. */
enum cause conn__answer_cause(const struct model_conn *conn);

#endif
