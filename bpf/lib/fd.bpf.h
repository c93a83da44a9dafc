/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a thread's system call names: its descriptor's socket. Read when a long wait has
 * ended, at the switch-in, before the thread itself has run: its kernel data is as it was
 * at the wake, its user memory is not mapped.
 */
#ifndef NETSTALL_BPF_LIB_FD_BPF_H
#define NETSTALL_BPF_LIB_FD_BPF_H

#define NS_SOCKFS_MAGIC 0x534f434b /* include/uapi/linux/magic.h */
#define NS_SOCK_STREAM  1

/*
 * Global functions are verified once in a program, not once for each way in which it comes to them:
 * these are what its many ways have in common. They take and give addresses as numbers, which all
 * verifiers allow. 0: none.
 */
__noinline __u64 file_in_table(__u64 fdtable, __u32 fd)
{
	struct fdtable *table = (void *)fdtable;
	struct file *file = NULL, **slots;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	slots = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), slots + fd);
	return (__u64)file;
}

static __always_inline struct file *task_file(struct task_struct *task, __u32 fd)
{
	return (struct file *)file_in_table((__u64)BPF_CORE_READ(task, files, fdt), fd);
}

static __always_inline bool is_socket(struct file *file)
{
	return BPF_CORE_READ(file, f_inode, i_sb, s_magic) == NS_SOCKFS_MAGIC;
}

/* Of a file that is_socket(). */
static __always_inline struct sock *sock_of(struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);

	return BPF_CORE_READ(socket, sk);
}

/* bpf_sock_from_file() came only with 5.11; the file system of the file's inode tells as well. */
__noinline __u64 sock_in_file(__u64 file)
{
	return is_socket((struct file *)file) ? (__u64)sock_of((struct file *)file) : 0;
}

static __always_inline struct sock *file_socket(struct file *file)
{
	return (struct sock *)sock_in_file((__u64)file);
}

static __always_inline bool is_tcp_stream(struct sock *sk)
{
	return is_tcp(sk) && BPF_CORE_READ(sk, sk_type) == NS_SOCK_STREAM;
}

/*
 * The file that became ready first: it ended the wait. The list is emptied by the thread
 * itself, later. NULL: nothing did, the wait timed out or was interrupted.
 */
static __always_inline struct file *epoll_ready(struct file *file)
{
	struct eventpoll *poll = BPF_CORE_READ(file, private_data);
	void *head = (void *)poll + bpf_core_field_offset(struct eventpoll, rdllist);
	void *first = BPF_CORE_READ(poll, rdllist.next);
	struct epitem *item;

	if (!poll || !first || first == head)
		return NULL;
	item = first - bpf_core_field_offset(struct epitem, rdllink);
	return BPF_CORE_READ(item, ffd.file);
}

/* Has it something to read, bytes or their end? */
static __always_inline bool has_unread(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;

	return BPF_CORE_READ(tp, rcv_nxt) != BPF_CORE_READ(tp, copied_seq);
}

#define NS_READY_LOOKS 4 /* at what an epoll set has ready */

/*
 * The struct sock whose data, end or opening ended the wait for an epoll set. A thread that goes to
 * sleep has emptied the list, but another one that waits on the same set puts back what it has
 * taken: a connection without anything to read is passed over for one that has. 0: none, or what
 * is no socket came first.
 */
__noinline __u64 epoll_ready_sock(__u64 file)
{
	struct eventpoll *poll = BPF_CORE_READ((struct file *)file, private_data);
	void *head = (void *)poll + bpf_core_field_offset(struct eventpoll, rdllist);
	void *next = BPF_CORE_READ(poll, rdllist.next);
	struct epitem *item;
	struct sock *sk;
	__u64 first = 0;
	__u32 i;

#pragma unroll /* 5.10 refuses a loop that is entered in its middle */
	for (i = 0; i < NS_READY_LOOKS; i++) {
		if (!poll || !next || next == head)
			break;
		item = next - bpf_core_field_offset(struct epitem, rdllink);
		sk = file_socket(BPF_CORE_READ(item, ffd.file));
		if (sk && !is_tcp_stream(sk))
			return (__u64)sk;
		if (!sk || BPF_CORE_READ(sk, __sk_common.skc_state) == NS_TCP_LISTEN)
			break;
		if (has_unread(sk))
			return (__u64)sk;
		if (!first)
			first = (__u64)sk;
		next = BPF_CORE_READ(item, rdllink.next);
	}
	return first;
}

struct call_names {
	struct file *file; /* NULL: it names none, or which one matters cannot be told */
	__u32 fd;          /* of file, NS_FD_UNKNOWN when not known */
};

static __always_inline void name_file(struct task_struct *task, const struct syscall_args *args,
				      struct call_names *names)
{
	names->file = NULL;
	names->fd = NS_FD_UNKNOWN;
	switch (call_kind(args->number)) {
	case NS_CALL_ON_FD:
		names->fd = args->arg0;
		names->file = task_file(task, args->arg0);
		break;
	case NS_CALL_ON_EPOLL:
		names->file = epoll_ready(task_file(task, args->arg0));
		break;
	default:
		break;
	}
}

#endif
