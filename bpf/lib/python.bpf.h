/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which functions CPython runs in a thread: of each frame the code object and the instruction, from
 * the interpreter's own list. Where that begins, and what its parts lie apart, user space has found
 * in the process (user/symbols/python/). What is read is checked there.
 */
#ifndef NETSTALL_BPF_LIB_PYTHON_BPF_H
#define NETSTALL_BPF_LIB_PYTHON_BPF_H

#ifdef __TARGET_ARCH_x86

struct thread_struct___python {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

struct task_struct___python {
	struct thread_struct___python thread;
} __attribute__((preserve_access_index));

static __always_inline __u64 thread_pointer(const void *of)
{
	const struct task_struct___python *task = of;

	return BPF_CORE_READ(task, thread.fsbase);
}

#else

static __always_inline __u64 thread_pointer(const void *of)
{
	return 0;
}

#endif

/* 0 where there is nothing to be read: bpf_probe_read_user() sees to that. */
static __always_inline __u64 read_user_word(__u64 from)
{
	__u64 word;

	bpf_probe_read_user(&word, sizeof(word), (const void *)from);
	return word;
}

/* Not inlined: where sites are told the stack has no room for it (MAX_BPF_STACK). */
static __noinline __u32 copy_python(struct ns_python_frame out[NS_PYTHON_FRAMES])
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, lasti = 0, i;
	const struct ns_python *python = bpf_map_lookup_elem(&pythons, &tgid);
	__u64 base, frame;

	if (!out || !python)
		return 0;
	base = thread_pointer((void *)bpf_get_current_task());
	frame = base ? read_user_word(base + python->tls) : 0; /* the thread's state, as yet */
	frame = frame ? read_user_word(frame + python->frame) : 0;
	if (frame && python->inner != NS_PYTHON_NONE)
		frame = read_user_word(frame + python->inner);
	for (i = 0; i < NS_PYTHON_FRAMES && frame; i++) {
		out[i].code = read_user_word(frame + python->code);
		if (python->lasti) {
			bpf_probe_read_user(&lasti, sizeof(lasti),
					    (const void *)(frame + python->instr));
			out[i].instr = lasti;
		} else {
			out[i].instr = read_user_word(frame + python->instr);
		}
		frame = read_user_word(frame + python->previous);
	}
	return i;
}

#endif
