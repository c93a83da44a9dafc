// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An option of TCP sockets of other processes, on and off again: an iterator over the sockets of a
 * network namespace, which may call bpf_setsockopt() with each of them locked
 * (bpf_iter_tcp_seq_show(), bpf_iter_tcp_get_func_proto() in net/ipv4/tcp_ipv4.c). Nothing is
 * stopped, and no descriptor is duplicated.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/prove.h"

#define AF_INET 2

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NS_PROVE_SOCKETS);
	__type(key, struct ns_prove_key);
	__type(value, struct ns_prove_socket);
} sockets SEC(".maps");

const volatile __s32 option_level;
const volatile __s32 option_name;
const volatile __s32 option_value; /* with the change */
__u32 on;                          /* 0: as it was before */

static __always_inline struct ns_prove_socket *socket_of(struct sock_common *skc)
{
	struct ns_prove_key key = {.family = skc->skc_family,
				   .lport = skc->skc_num,
				   .rport = bpf_ntohs(skc->skc_dport)};

	if (key.family == AF_INET) {
		key.laddr[0] = skc->skc_rcv_saddr;
		key.raddr[0] = skc->skc_daddr;
		return bpf_map_lookup_elem(&sockets, &key);
	}
	for (int i = 0; i < 4; i++) {
		key.laddr[i] = skc->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
		key.raddr[i] = skc->skc_v6_daddr.in6_u.u6_addr32[i];
	}
	/* "::ffff:a.b.c.d" */
	if (!key.laddr[0] && !key.laddr[1] && key.laddr[2] == bpf_htonl(0xffff)) {
		key.family = AF_INET;
		key.laddr[0] = key.laddr[3];
		key.raddr[0] = key.raddr[3];
		for (int i = 1; i < 4; i++)
			key.laddr[i] = key.raddr[i] = 0;
	}
	return bpf_map_lookup_elem(&sockets, &key);
}

/*
 * False: it is not to be touched. Another socket may have these addresses by now, and the program
 * may have set the option itself.
 */
static __always_inline bool is_ours(struct ns_prove_socket *socket, struct sock_common *skc,
				    int value)
{
	if (!socket->cookie) {
		if (!on)
			return false;
		socket->cookie = bpf_get_socket_cookie(skc);
		socket->before = socket->now = value;
	} else if (socket->cookie != bpf_get_socket_cookie(skc)) {
		return false;
	}
	if (socket->now != (__u32)value)
		socket->err = -NS_PROVE_OWNER_SET;
	return socket->err != -NS_PROVE_OWNER_SET;
}

SEC("iter/tcp")
int set(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct ns_prove_socket *socket;
	struct tcp_sock *tp;
	int value, err;

	if (!skc)
		return 0;
	socket = socket_of(skc);
	tp = socket ? bpf_skc_to_tcp_sock(skc) : NULL;
	if (!tp)
		return 0;
	err = bpf_getsockopt(tp, option_level, option_name, &value, sizeof(value));
	if (err) {
		socket->err = err;
		return 0;
	}
	if (!is_ours(socket, skc, value))
		return 0;
	value = on ? option_value : (int)socket->before;
	socket->err = bpf_setsockopt(tp, option_level, option_name, &value, sizeof(value));
	if (!socket->err)
		socket->now = value;
	return 0;
}
