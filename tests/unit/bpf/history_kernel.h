/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * bpf/lib/history.bpf.h as a program of user space: what it asks of the kernel, and what it tells.
 * One socket is watched.
 */
#ifndef NETSTALL_TESTS_HISTORY_KERNEL_H
#define NETSTALL_TESTS_HISTORY_KERNEL_H

#include <pthread.h>

#include "bpf/state.h"
#include "tests/unit/test.h"

/* ---- what the kernel gives, as far as bpf/lib/history.bpf.h asks for it ---- */

#undef __always_inline
#define __always_inline  inline __attribute__((always_inline))
#define __noinline       __attribute__((noinline, unused))
#define barrier()        __asm__ volatile("" ::: "memory")
#define barrier_var(var) __asm__ volatile("" : "+r"(var))
#define BPF_RB_NO_WAKEUP 1
#define BYTES            sizeof(((struct ns_slot *)0)->words)
#define TOLD_MOST        64

#define HISTORIES 8
static struct ns_config settings = {.trace = 1, .cpus = 2, .histories = HISTORIES};
static int records, vital_records, conns, histories, free_histories, active;
static int32_t active_holds;
static __thread uint32_t this_cpu;
static uint64_t lost[NS_LOST_KINDS];

/* What left, and what happens while a record is copied. */
static char told[TOLD_MOST][BYTES];
static size_t told_count;
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
static __thread char reserved[BYTES] __attribute__((aligned(8)));
static void (*while_copied)(void);
static void (*on_told)(const void *record);

static void count_lost(uint32_t kind)
{
	__sync_fetch_and_add(&lost[kind], 1);
}

static uint64_t bpf_get_current_pid_tgid(void)
{
	return 42ull << 32 | 43;
}

static uint32_t bpf_get_smp_processor_id(void)
{
	return this_cpu;
}

/* Sockets by their addresses, which are numbers from 1 here. */
#define WATCHED_MOST 64
static struct ns_conn_state sockets[WATCHED_MOST];
#define watched sockets[0]
static struct ns_history all_histories[HISTORIES];
static uint32_t histories_made, histories_asked;
static struct ns_slot spare_slot;
static uint64_t now_ns;

static uint64_t bpf_ktime_get_ns(void)
{
	return now_ns;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint64_t socket;

	if (map == &histories) {
		assert_true(*(const uint32_t *)key < HISTORIES);
		return &all_histories[*(const uint32_t *)key];
	}
	assert_ptr_equal(map, &conns);
	socket = *(const uint64_t *)key;
	assert_true(socket && socket <= WATCHED_MOST);
	return sockets[socket - 1].key ? &sockets[socket - 1] : NULL;
}

static uint32_t free_ones[HISTORIES];
static size_t free_count;

static long bpf_map_push_elem(void *map, const void *value, uint64_t flags)
{
	(void)flags;
	assert_ptr_equal(map, &free_histories);
	assert_true(free_count < HISTORIES);
	free_ones[free_count++] = *(const uint32_t *)value;
	return 0;
}

static long bpf_map_pop_elem(void *map, void *value)
{
	assert_ptr_equal(map, &free_histories);
	if (!free_count)
		return -2;
	*(uint32_t *)value = free_ones[0];
	memmove(free_ones, free_ones + 1, --free_count * sizeof(free_ones[0]));
	return 0;
}

/* The table `active`: under a lock, as a bucket of the kernel's is. */
#define ACTIVE_MOST 64
#define BPF_ANY     0
#define BPF_NOEXIST 1
static struct ns_active_key actives[ACTIVE_MOST];
static size_t active_count;
static volatile bool in_table;

static size_t find_active(const void *key)
{
	size_t i = 0;

	while (i < active_count && memcmp(&actives[i], key, sizeof(actives[i])))
		i++;
	return i;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	long err = -NS_EEXIST;

	assert_ptr_equal(map, &active);
	assert_int_equal(flags, BPF_NOEXIST);
	(void)value;
	in_table = true;
	barrier();
	if (find_active(key) == active_count) {
		assert_true(active_count < ACTIVE_MOST);
		memcpy(&actives[active_count++], key, sizeof(actives[0]));
		err = 0;
	}
	barrier();
	in_table = false;
	return err;
}

static long bpf_map_delete_elem(void *map, const void *key)
{
	long err = -2;
	size_t i;

	assert_ptr_equal(map, &active);
	in_table = true;
	barrier();
	i = find_active(key);
	if (i < active_count) {
		actives[i] = actives[--active_count];
		err = 0;
	}
	barrier();
	in_table = false;
	return err;
}

static void *bpf_ringbuf_reserve(void *ring, uint64_t size, uint64_t flags)
{
	(void)ring;
	(void)flags;
	assert_true(size <= BYTES);
	return reserved;
}

static void bpf_ringbuf_submit(void *record, uint64_t flags)
{
	(void)flags;
	pthread_mutex_lock(&telling);
	memcpy(told[told_count++ % TOLD_MOST], record, BYTES);
	if (on_told)
		on_told(record);
	pthread_mutex_unlock(&telling);
}

static void bpf_ringbuf_discard(void *record, uint64_t flags)
{
	(void)record;
	(void)flags;
}

static int bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags)
{
	memcpy(bpf_ringbuf_reserve(ring, size, flags), data, size);
	bpf_ringbuf_submit(reserved, flags);
	return 0;
}

/* The copy itself is where others get in. */
static void *copy(void *dst, const void *src, size_t size)
{
	if (while_copied)
		while_copied();
	return memcpy(dst, src, size);
}

#define __builtin_memcpy copy
/* Global, and of no header. */
int take_history(__u64 key);
int history_tell(__u64 key, __u32 turn, __u32 last);
int history_flush_of(__u64 key);
int keeps_history(__u32 at);
int look_tell(__u64 key, __u32 at);
int history_tell_many(__u64 key, __u32 first, __u32 count, __u32 last);
#include "bpf/lib/numbers.bpf.h"
#include "bpf/times.h"
/* These need those. */
#include "bpf/lib/active.bpf.h"
#include "bpf/lib/emit.bpf.h"
#include "bpf/lib/history.bpf.h"
#undef __builtin_memcpy

int know_conn(__u64 key)
{
	sockets[key - 1].untold = NS_TOLD;
	return 0;
}

/* ---- records ---- */

static int setup(void **state)
{
	(void)state;
	memset(sockets, 0, sizeof(sockets));
	watched.key = 1;
	memset(all_histories, 0, sizeof(all_histories));
	histories_made = histories_asked = 0;
	free_count = 0;
	now_ns = NS_HISTORY_YOUNG;
	memset(lost, 0, sizeof(lost));
	active_count = 0;
	active_holds = 0;
	settings.verbose = 0;
	told_count = 0;
	while_copied = NULL;
	on_told = NULL;
	this_cpu = 0;
	return 0;
}

/* All of its bytes tell which it is. */
static void fill(struct ns_segment *out, uint32_t number)
{
	out->seq = number;
	out->end = number;
	out->ack = number;
	out->flags = number;
	memset(out->comm, (int)(number & 0xff), sizeof(out->comm));
}

static __attribute__((unused)) void write_record(uint32_t number)
{
	struct ns_segment *out = history_slot(&watched, NS_TX, sizeof(*out), number);

	barrier(); /* others see what is written so far */
	fill(out, number);
	history_commit(&watched, out, sizeof(*out));
}

static __attribute__((unused)) const struct ns_segment *told_segment(size_t i)
{
	return (const struct ns_segment *)told[i];
}

#endif
