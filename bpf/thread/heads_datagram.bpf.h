/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of datagrams sent and read, by each attach type. */
#ifndef NETSTALL_BPF_THREAD_HEADS_DATAGRAM_BPF_H
#define NETSTALL_BPF_THREAD_HEADS_DATAGRAM_BPF_H

static __always_inline bool datagram_matters(void)
{
	__u64 id = bpf_get_current_pid_tgid();

	return in_window() && (settings.everything || proc_hint(id >> 32)->watched) &&
	       !is_other_thread(id);
}

/* The address that current's call names, in its own memory. */
static __always_inline void read_named_address(struct inet_address *to)
{
	struct pt_regs *regs = current_regs();
	__u64 name = 0;

	switch (syscall_number(regs)) {
	case NS_SYS_SENDTO:
		name = fifth_argument(regs);
		break;
	case NS_SYS_SENDMSG:
	case NS_SYS_SENDMMSG: /* of the first message */
		bpf_probe_read_user(&name, sizeof(name), (void *)second_argument(regs));
		break;
	}
	if (name)
		bpf_probe_read_user(to, sizeof(*to), (void *)name);
}

/* At the end of a send, of whatever socket. */
static __noinline int datagram_sent_anyhow(struct sock *sk)
{
	struct inet_address to = {};

	if (!sk || !datagram_matters() || !is_udp(sk))
		return 0;
	if (!BPF_CORE_READ(sk, __sk_common.skc_dport))
		read_named_address(&to);
	return on_datagram_sent(sk, &to);
}

static __always_inline void datagram_sending(struct sock *sk, struct msghdr *msg)
{
	struct inet_address to = {};
	void *name;

	if (!datagram_matters())
		return;
	name = BPF_CORE_READ(msg, msg_name);
	if (name)
		bpf_probe_read_kernel(&to, sizeof(to), name);
	on_datagram_sent(sk, &to);
}

static __always_inline void datagram_reading(struct sock *sk)
{
	if (datagram_matters())
		on_datagram_read(sk);
}

HEAD("?fentry/udp_sendmsg", fentry_udp_send, datagram_sending(sk, msg), struct sock *sk,
     struct msghdr *msg)
HEAD("?fentry/udpv6_sendmsg", fentry_udp6_send, datagram_sending(sk, msg), struct sock *sk,
     struct msghdr *msg)
HEAD("?fentry/skb_consume_udp", fentry_udp_read, datagram_reading(sk), struct sock *sk)

KPROBE_HEAD("?kprobe/udp_sendmsg", kprobe_udp_send, datagram_sending(sk, msg), struct sock *sk,
	    struct msghdr *msg)
KPROBE_HEAD("?kprobe/udpv6_sendmsg", kprobe_udp6_send, datagram_sending(sk, msg), struct sock *sk,
	    struct msghdr *msg)
KPROBE_HEAD("?kprobe/skb_consume_udp", kprobe_udp_read, datagram_reading(sk), struct sock *sk)

/* Of all sockets: TCP's are the most, and pay for one look. Since 6.3. */
SEC("?tp_btf/sock_recv_length")
int BPF_PROG(tp_udp_read, struct sock *sk, int ret, int flags)
{
	if (sk->sk_protocol == NS_IPPROTO_UDP && ret >= 0)
		datagram_reading(sk);
	return 0;
}

#endif
