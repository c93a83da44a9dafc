/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records on their way out. In the quiet volume most wait in the history of their socket, see
 * history.bpf.h; with --all they leave at once.
 * BPF_RB_NO_WAKEUP: the reader polls by the clock, a wake-up for each record
 * would cost more than all the rest.
 */
#ifndef NETSTALL_BPF_LIB_EMIT_BPF_H
#define NETSTALL_BPF_LIB_EMIT_BPF_H

static __always_inline void stream(void *record, __u32 len)
{
	if (bpf_ringbuf_output(&records, record, len, BPF_RB_NO_WAKEUP))
		count_lost(NS_LOST_RINGBUF);
}

/*
 * What is told once and is needed to make sense of all else: who is who, and totals. When the ring
 * buffer is full it takes the one that is kept for such.
 */
static __always_inline void stream_vital(void *record, __u32 len)
{
	if (bpf_ringbuf_output(&records, record, len, BPF_RB_NO_WAKEUP) &&
	    bpf_ringbuf_output(&vital_records, record, len, BPF_RB_NO_WAKEUP))
		count_lost(NS_LOST_RINGBUF);
}

static __always_inline void fill_head_on(__u32 cpu, struct ns_head *head, __u32 type, __u32 len,
					 __u64 ts, __u32 conn)
{
	__u64 id = bpf_get_current_pid_tgid();

	head->type = type;
	head->len = len;
	head->ts = ts;
	head->conn = conn;
	head->cpu = cpu;
	head->tgid = id >> 32;
	head->tid = id;
}

static __always_inline void fill_head(struct ns_head *head, __u32 type, __u32 len, __u64 ts,
				      __u32 conn)
{
	fill_head_on(bpf_get_smp_processor_id(), head, type, len, ts, conn);
}

#endif
