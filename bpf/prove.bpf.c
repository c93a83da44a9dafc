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

#define AF_INET       2
#define NS_TCP_LISTEN 10 /* include/net/tcp_states.h */

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
struct ns_prove_service service;
__u32 looks; /* at the service: nothing is changed */

static __always_inline void fill_key(struct ns_prove_key *key, struct sock_common *skc)
{
	*key = (struct ns_prove_key){.family = skc->skc_family,
				     .lport = skc->skc_num,
				     .rport = bpf_ntohs(skc->skc_dport)};
	if (key->family == AF_INET) {
		key->laddr[0] = skc->skc_rcv_saddr;
		key->raddr[0] = skc->skc_daddr;
		return;
	}
	for (int i = 0; i < 4; i++) {
		key->laddr[i] = skc->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
		key->raddr[i] = skc->skc_v6_daddr.in6_u.u6_addr32[i];
	}
	/* "::ffff:a.b.c.d" */
	if (!key->laddr[0] && !key->laddr[1] && key->laddr[2] == bpf_htonl(0xffff)) {
		key->family = AF_INET;
		key->laddr[0] = key->laddr[3];
		key->raddr[0] = key->raddr[3];
		for (int i = 1; i < 4; i++)
			key->laddr[i] = key->raddr[i] = 0;
	}
}

static __always_inline bool is_at_its_address(const struct ns_prove_key *key)
{
	bool is_same = key->family == service.family;

	for (int i = 0; i < 4; i++)
		is_same = is_same && key->laddr[i] == service.addr[i];
	return is_same;
}

static __always_inline bool is_any(const struct ns_prove_key *key)
{
	return !key->laddr[0] && !key->laddr[1] && !key->laddr[2] && !key->laddr[3];
}

/* It listens for the service, or was accepted there. */
static __always_inline bool is_of_service(const struct ns_prove_key *key, bool listens)
{
	if (!service.port || key->lport != service.port)
		return false;
	return is_at_its_address(key) || (listens ? is_any(key) : service.is_any);
}

/* Those that listen come first (tcp_seek_last_pos() in net/ipv4/tcp_ipv4.c). */
static __always_inline void look_at(const struct ns_prove_key *key, bool listens, int value)
{
	if (listens) {
		service.listeners++;
		service.before = value;
		service.is_any |= is_any(key);
	} else if (value == option_value) {
		service.set_by_own++;
	}
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

static __always_inline int set_to(struct tcp_sock *tp, int value)
{
	return bpf_setsockopt(tp, option_level, option_name, &value, sizeof(value));
}

/* Before the first time no connection had it, so one that has it now has it from its listener. */
static __always_inline int wanted_of_service(void)
{
	return on ? option_value : (int)service.before;
}

SEC("iter/tcp")
int set(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct ns_prove_socket *socket;
	struct ns_prove_key key;
	struct tcp_sock *tp;
	bool listens;
	int value, err;

	if (!skc)
		return 0;
	listens = skc->skc_state == NS_TCP_LISTEN;
	fill_key(&key, skc);
	socket = bpf_map_lookup_elem(&sockets, &key);
	if (!socket && !is_of_service(&key, listens))
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (!tp)
		return 0;
	err = bpf_getsockopt(tp, option_level, option_name, &value, sizeof(value));
	if (!socket) {
		if (!err && looks)
			look_at(&key, listens, value);
		else if (!err && value != wanted_of_service())
			err = set_to(tp, wanted_of_service());
		if (err)
			service.err = err;
		return 0;
	}
	if (err) {
		socket->err = err;
		return 0;
	}
	if (!is_ours(socket, skc, value))
		return 0;
	value = on ? option_value : (int)socket->before;
	socket->err = set_to(tp, value);
	if (!socket->err)
		socket->now = value;
	return 0;
}
