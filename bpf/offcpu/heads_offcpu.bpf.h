/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of the segments that timers send: for the off-CPU profile alone. */
#ifndef NETSTALL_BPF_OFFCPU_HEADS_OFFCPU_BPF_H
#define NETSTALL_BPF_OFFCPU_HEADS_OFFCPU_BPF_H

HEAD("?tp_btf/softirq_entry", tp_softirq_entry, on_softirq_entry(vec), unsigned int vec)

HEAD("?tp_btf/softirq_exit", tp_softirq_exit, on_softirq_exit(vec), unsigned int vec)

HEAD("?tp_btf/net_dev_queue", tp_segment_sent, on_segment_sent(ctx, skb), struct sk_buff *skb)

HEAD("?tp_btf/netif_receive_skb", tp_segment_received, on_segment_received(skb),
     struct sk_buff *skb)

#endif
