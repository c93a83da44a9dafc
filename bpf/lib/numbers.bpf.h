/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers that are given out once, from 0 on, by atomic additions that give no value back (before
 * Linux 5.12). */
#ifndef NETSTALL_BPF_LIB_NUMBERS_BPF_H
#define NETSTALL_BPF_LIB_NUMBERS_BPF_H

#define NS_NUMBER_TRIES 8

/*
 * Who was interrupted between its two looks, by one who took a number too, sees more than one step
 * and tries again. So often as there are tries nobody is: interrupts do not nest that deep.
 */
static __always_inline __u32 next_number(__u32 *counter)
{
	__u32 number = 0;

	for (int i = 0; i < NS_NUMBER_TRIES; i++) {
		number = *(volatile __u32 *)counter;
		__sync_fetch_and_add(counter, 1);
		if (*(volatile __u32 *)counter == number + 1)
			break;
	}
	return number;
}

/* From 1 on: each CPU counts on its own, and takes every so manieth number. */
static __always_inline __u32 cpu_number(__u32 *counters)
{
	__u32 cpu = bpf_get_smp_processor_id() & (NS_CPUS - 1);

	return next_number(&counters[cpu]) * settings.cpus + cpu + 1;
}

#endif
