/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sockets that are no TCP connections: which one a wait was on, and whether a datagram that was
 * sent there has been answered. UDP knows no requests: what was sent since something was received
 * last is one, where the socket is of who asks. Of several that are sent at once, as for A and
 * AAAA, each has its answer; of what is sent again one answer is enough.
 */
#ifndef NETSTALL_BPF_THREAD_DATAGRAM_BPF_H
#define NETSTALL_BPF_THREAD_DATAGRAM_BPF_H

#define NS_AF_UNIX          1
#define NS_SOCK_DGRAM       2
#define NS_IPPROTO_UDP      17
#define NS_BOUND            12      /* include/net/sock.h: SOCK_BINDADDR_LOCK, SOCK_BINDPORT_LOCK */
#define NS_PORT_DNS         53      /* RFC 1035 */
#define NS_SERVICE_PORTS    1024    /* below them services listen: inet_prot_sock() */
#define NS_AT_ONCE_NS       5000000 /* who tries again waits longer than that before */
#define NS_UNIX_NAME_OFFSET 2       /* sun_path in struct sockaddr_un */

/* Entries go by age: the memory of a socket that is gone may be another's, whose port differs. */
NS_TABLE(datagrams, BPF_MAP_TYPE_LRU_HASH, __u64, struct ns_datagrams, 4096);

/* struct sockaddr_in and sockaddr_in6, as far as they matter */
struct inet_address {
	__u16 family;
	__be16 port;
	__u32 v4; /* of IPv6: the flow */
	__u32 v6[4];
};

static __always_inline bool is_udp(struct sock *sk)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	return (family == NS_AF_INET || family == NS_AF_INET6) &&
	       BPF_CORE_READ(sk, sk_type) == NS_SOCK_DGRAM &&
	       BPF_CORE_READ_BITFIELD_PROBED(sk, sk_protocol) == NS_IPPROTO_UDP;
}

/*
 * Who has the socket asks: it bound neither port nor address, it is connected, or it sends to a
 * service from no service's port. Others are there to be asked; so is who reads first.
 */
static __always_inline __u32 datagram_role(struct sock *sk, __u32 rport)
{
	if (!(BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks) & NS_BOUND) ||
	    BPF_CORE_READ(sk, __sk_common.skc_dport))
		return NS_ASKS;
	if (rport && rport < NS_SERVICE_PORTS &&
	    BPF_CORE_READ(sk, __sk_common.skc_num) >= NS_SERVICE_PORTS)
		return NS_ASKS;
	return NS_ANSWERS;
}

static __always_inline struct ns_datagrams *datagrams_of(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct ns_datagrams *known = bpf_map_lookup_elem(&datagrams, &key);

	return known && known->port == BPF_CORE_READ(sk, __sk_common.skc_num) ? known : NULL;
}

/* What a short wait behind it is for. */
static __always_inline enum ns_short short_of_datagram(struct sock *sk,
						       const struct ns_datagrams *known)
{
	__u32 rport = known->rport ?: bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));

	if (known->role != NS_ASKS)
		return 0;
	return rport == NS_PORT_DNS ? NS_SHORT_NAME : NS_SHORT_DATAGRAM;
}

/* A watched process sends a datagram; to: where, unless the socket is connected. */
static __noinline int on_datagram_sent(struct sock *sk, const struct inet_address *to)
{
	struct ns_datagrams fresh = {}, *known;
	__u64 key = (__u64)sk, now;
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!sk || !to || !is_udp(sk))
		return 0;
	if (settings.everything && !is_left_out(tgid) && !(proc_role(tgid) & NS_ROLE_TARGET))
		add_proc(tgid, NS_ROLE_TARGET);
	known = datagrams_of(sk);
	if (!known) {
		fresh.port = BPF_CORE_READ(sk, __sk_common.skc_num);
		bpf_map_update_elem(&datagrams, &key, &fresh, BPF_ANY);
		known = bpf_map_lookup_elem(&datagrams, &key);
		if (!known)
			return 0;
	}
	if (known->reads_first)
		return 0;
	known->rport = 0;
	if (to->family == NS_AF_INET || to->family == NS_AF_INET6) {
		known->family = to->family;
		known->rport = bpf_ntohs(to->port);
		__builtin_memset(known->raddr, 0, sizeof(known->raddr));
		if (to->family == NS_AF_INET)
			known->raddr[0] = to->v4;
		else
			__builtin_memcpy(known->raddr, to->v6, sizeof(known->raddr));
	}
	known->role = datagram_role(sk, known->rport);
	now = bpf_ktime_get_ns();
	if (!known->tries++) {
		known->drops = datagrams_dropped(sk);
		known->asked_ts = now;
	}
	known->burst = ns_passed(known->sent_ts, now) < NS_AT_ONCE_NS ? known->burst + 1 : 1;
	known->sent_ts = now;
	note_asked(&last_send[bpf_get_smp_processor_id() & (NS_CPUS - 1)],
		   bpf_get_current_pid_tgid(), short_of_datagram(sk, known));
	return 0;
}

static __noinline int on_datagram_read(struct sock *sk)
{
	struct ns_datagrams *known, fresh = {.role = NS_ANSWERS, .reads_first = 1};
	__u64 key = (__u64)sk;

	if (!sk)
		return 0;
	known = datagrams_of(sk);
	if (!known && is_udp(sk) && !BPF_CORE_READ(sk, __sk_common.skc_dport)) {
		fresh.port = BPF_CORE_READ(sk, __sk_common.skc_num);
		bpf_map_update_elem(&datagrams, &key, &fresh, BPF_ANY);
	}
	if (!known || known->reads_first)
		return 0;
	if (known->burst > 1) {
		known->tries = --known->burst;
		return 0;
	}
	known->tries = known->burst = 0;
	known->asked_ts = 0;
	return 0;
}

/* ---- what a wait was on ---- */

/* The first datagram that lies there to be read, NULL none. */
static __always_inline struct sk_buff *first_datagram(struct sock *sk)
{
	void *queue = (void *)sk + bpf_core_field_offset(struct sock, sk_receive_queue);
	void *first = BPF_CORE_READ(sk, sk_receive_queue.next);

	if (first && first != queue)
		return first;
	if (!is_udp(sk))
		return NULL;
	/* UDP takes them over into a queue of its own (2276f58ac589 in 4.12). */
	queue = (void *)sk + bpf_core_field_offset(struct udp_sock, reader_queue);
	first = BPF_CORE_READ((struct udp_sock *)sk, reader_queue.next);
	return first == queue ? NULL : first;
}

/* Whom a datagram came from. */
static __always_inline void read_sender(struct sk_buff *skb, struct ns_socket *out)
{
	unsigned char *head = BPF_CORE_READ(skb, head);
	unsigned char *ip = head + BPF_CORE_READ(skb, network_header);
	__be16 port = 0;
	__u8 version = 0;

	bpf_probe_read_kernel(&version, sizeof(version), ip);
	bpf_probe_read_kernel(&port, sizeof(port), head + BPF_CORE_READ(skb, transport_header));
	out->rport = bpf_ntohs(port);
	if (version >> 4 == 4) {
		out->family = NS_AF_INET;
		bpf_probe_read_kernel(&out->raddr[0], sizeof(out->raddr[0]), ip + 12);
	} else {
		out->family = NS_AF_INET6;
		bpf_probe_read_kernel(out->raddr, sizeof(out->raddr), ip + 8);
	}
}

/* By hand: read_endpoints() takes more stack than is left below an unseen wait (512 bytes in all).
 */
static __always_inline void read_remote(struct sock *sk, struct ns_socket *out)
{
	out->lport = BPF_CORE_READ(sk, __sk_common.skc_num);
	out->rport = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (out->family == NS_AF_INET6) {
		BPF_CORE_READ_INTO(&out->raddr, sk, __sk_common.skc_v6_daddr);
		if (out->raddr[0] || out->raddr[1] || out->raddr[2] != NS_V4_MAPPED)
			return;
		out->family = NS_AF_INET;
		out->raddr[2] = out->raddr[3] = 0;
	}
	out->raddr[0] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
}

static __always_inline void describe_udp(struct sock *sk, struct ns_socket *out)
{
	const struct ns_datagrams *known = datagrams_of(sk);
	struct sk_buff *answer;

	read_remote(sk, out);
	if (out->rport) /* of others more has to be seen */
		out->role = datagram_role(sk, 0);
	answer = out->rport ? NULL : first_datagram(sk);
	if (known) {
		out->role = known->role;
		out->is_followed = 1;
		out->tries = known->tries;
		out->asked_ts = known->asked_ts;
		out->drops = datagrams_dropped(sk) - known->drops;
	}
	if (answer) {
		read_sender(answer, out);
	} else if (!out->rport && known && known->rport) {
		out->family = known->family;
		out->rport = known->rport;
		__builtin_memcpy(out->raddr, known->raddr, sizeof(out->raddr));
	}
}

/* The name that a Unix socket was bound to; '@' stands for the zero byte of an abstract one. */
static __always_inline bool read_unix_name(struct sock *sk, char *out)
{
	struct unix_address *address = BPF_CORE_READ((struct unix_sock *)sk, addr);
	void *path = (void *)address + bpf_core_field_offset(struct unix_address, name) +
		     NS_UNIX_NAME_OFFSET;
	__u32 length;
	char first = 0;

	if (!address || bpf_probe_read_kernel(&first, sizeof(first), path))
		return false;
	if (first) {
		bpf_probe_read_kernel_str(out, NS_SOCKET_PATH, path);
		return true;
	}
	/* Its length ends it, no zero byte. */
	length = BPF_CORE_READ(address, len) - NS_UNIX_NAME_OFFSET;
	bpf_probe_read_kernel_str(out + 1, NS_SOCKET_PATH - 1, path + 1);
	out[0] = '@';
	if (length < NS_SOCKET_PATH)
		out[length] = '\0';
	return length > 1;
}

/* Its own name is a server's; the other end's process is who listened, or who made the pair. */
static __always_inline void describe_unix(struct sock *sk, struct ns_socket *out)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
	struct pid *pid = BPF_CORE_READ(sk, sk_peer_pid);
	/* Who sends datagrams has a name too, for the answers. */
	bool is_bound = out->type != NS_SOCK_DGRAM && read_unix_name(sk, out->path);

	if (is_bound)
		out->role = NS_ANSWERS;
	else if (peer && read_unix_name(peer, out->path))
		out->role = NS_ASKS;
	else if (out->type == NS_SOCK_DGRAM && read_unix_name(sk, out->path))
		out->role = NS_ANSWERS;
	if (!pid)
		return;
	out->peer_tgid = BPF_CORE_READ(upid_at(pid, 0), nr);
}

/*
 * Where a look at a thread's sockets is put down: of the switch each CPU has a place; an iterator,
 * that a switch may interrupt, has its own, for one runs at a time.
 */
static __always_inline __u32 place_of_look(bool by_iterator)
{
	__u32 cpu = bpf_get_smp_processor_id() & (NS_CPUS - 1);
	__u32 place = by_iterator ? NS_CPUS : cpu;

	barrier_var(place);
	return place <= NS_CPUS ? place : NS_CPUS;
}

struct ns_socket described[NS_CPUS + 1]; /* (place_of_look()) */

/* Global, and so verified once, not for each of the ways that a wait ends. */
__noinline int describe_socket(__u64 key, __u32 place)
{
	struct ns_socket *out;
	struct sock *sk = (struct sock *)key;

	barrier_var(place); /* else the verifier sees another register checked */
	if (!settings.trace || !sk || place > NS_CPUS)
		return 0;
	out = &described[place];
	__builtin_memset(out, 0, sizeof(*out));
	out->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	out->type = BPF_CORE_READ(sk, sk_type);
	out->protocol = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_protocol);
	out->is_ready = first_datagram(sk) != NULL;
	if (is_udp(sk))
		describe_udp(sk, out);
	else if (out->family == NS_AF_UNIX)
		describe_unix(sk, out);
	return 0;
}

#endif
