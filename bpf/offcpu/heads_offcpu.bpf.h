/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of the segments that timers send: for the off-CPU profile alone. */
#ifndef NETSTALL_BPF_OFFCPU_HEADS_OFFCPU_BPF_H
#define NETSTALL_BPF_OFFCPU_HEADS_OFFCPU_BPF_H

SEC("?tp_btf/softirq_entry")
int BPF_PROG(tp_softirq_entry, unsigned int vec)
{
	on_softirq_entry(vec);
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(tp_softirq_exit, unsigned int vec)
{
	on_softirq_exit(vec);
	return 0;
}

SEC("?tp_btf/net_dev_queue")
int BPF_PROG(tp_segment_sent, struct sk_buff *skb)
{
	on_segment_sent(ctx, skb);
	return 0;
}

SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(tp_segment_received, struct sk_buff *skb)
{
	on_segment_received(skb);
	return 0;
}

#endif
