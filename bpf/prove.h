/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sockets of which `netstall prove` changes an option, and what it was: both sides. */
#ifndef NETSTALL_BPF_PROVE_H
#define NETSTALL_BPF_PROVE_H

#define NS_PROVE_SOCKETS 1024

/* As ns_conn has it. */
struct ns_prove_key {
	__u32 family;
	__u32 lport;
	__u32 rport;
	__u32 laddr[4];
	__u32 raddr[4];
};

struct ns_prove_socket {
	__u64 cookie; /* 0: it was not seen yet */
	__u32 before;
	__u32 now; /* as it was set last */
	__s32 err; /* -errno of that, 0 none; once the program has set it itself that stays */
	__u32 pad;
};

#define NS_PROVE_OWNER_SET 116 /* ESTALE */

/*
 * All connections that a port accepts, those to come among them: they have the option of their
 * listening socket, tcp_create_openreq_child() copies it.
 */
struct ns_prove_service {
	__u32 port; /* 0: there is none */
	__u32 family;
	__u32 addr[4]; /* at which one of them was accepted */
	/* What was found when nothing was changed yet. */
	__u32 listeners;
	__u32 is_any;     /* one of them takes connections to every address */
	__u32 before;     /* theirs */
	__u32 set_by_own; /* connections that have it: the program itself sets it */
	__s32 err;        /* -errno of the first that could not be changed since */
};

#endif
