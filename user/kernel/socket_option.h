/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An option of TCP sockets of other processes, on and off again (bpf/prove.bpf.c): of no socket but
 * those that are named, in one network namespace. A small process of ours does it there, with the
 * rights that netstall has before the attach. What the option was is set again on every way out: by
 * socket_option__free(), and where netstall is killed by that process, which sees its end.
 *
 *   socket_option__open     before the session drops its privileges
 *   socket_option__add      each socket
 *   socket_option__set      on, off, on ...
 *   socket_option__free
 */
#ifndef NETSTALL_KERNEL_SOCKET_OPTION_H
#define NETSTALL_KERNEL_SOCKET_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/event.h"

struct socket_option;

/* Which one, and what it is set to. */
struct socket_option_change {
	const char *name; /* "TCP_NODELAY" */
	int level, option, value;
};

extern const struct socket_option_change socket_option__nodelay;

/* It is tried, on a socket of our own. NULL: the kernel allows it; else why not, the caller's. */
char *socket_option__why_not(const struct socket_option_change *change);
/*
 * Of sockets in the network namespace of pid, 0: ours. It is tried on a socket of our own there.
 * Returns 0, or -errno after it has said why, and what would help: -EBUSY, another netstall changes
 * sockets there.
 */
int socket_option__open(const struct socket_option_change *change, pid_t pid,
			struct socket_option **out);
/* Returns 0, or -errno: -E2BIG after NS_PROVE_SOCKETS. */
int socket_option__add(struct socket_option *option, const struct ns_conn *conn);
/*
 * All connections that the port of this one accepts, and those that it will: what listens there is
 * changed as well. Nothing is changed yet. Returns 0, or -errno: -ENOENT, nothing listens there;
 * -EALREADY, it is set on some, so that what each had before would not be known.
 */
int socket_option__add_service(struct socket_option *option, const struct ns_conn *conn);
/*
 * Returns 0, or -errno of the first socket on which it failed: -ESTALE, the program itself has set
 * the option meanwhile; such a socket is left as it is from then on.
 */
int socket_option__set(struct socket_option *option, bool on);
/* Of those that were added: on how many it was set already before anything was changed. */
size_t socket_option__set_before(const struct socket_option *option);
/* The inode of the namespace. */
uint32_t socket_option__netns(const struct socket_option *option);
/* Restores. Takes NULL. Returns 0, or -errno of the first socket on which that failed. */
int socket_option__free(struct socket_option *option);

#endif
