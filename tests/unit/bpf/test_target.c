// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel side's tables of processes and threads, as they are compiled for the kernel: what has
 * no room is counted, once, and what another CPU entered meanwhile is no loss.
 */
#include "bpf/offcpu.h"
#include "bpf/state.h"
#include "tests/unit/test.h"

/* ---- what the kernel gives, as far as bpf/lib/target.bpf.h asks for it ---- */

#undef __always_inline
#define __always_inline                           inline __attribute__((always_inline, unused))
#define __noinline                                __attribute__((noinline, unused))
#define BPF_NOEXIST                               1
#define NS_PF_KTHREAD                             0x200000
#define NS_PF_EXITING                             4
#define READ(from, field)                         ((from)->field)
#define READ_THROUGH(from, to, field)             ((from)->to->field)
#define PICK(to, field, NAME, ...)                NAME
#define BPF_CORE_READ(from, ...)                  PICK(__VA_ARGS__, READ_THROUGH, READ, )(from, __VA_ARGS__)
#define BPF_CORE_READ_STR_INTO(into, task, field) memcpy(into, (task)->field, sizeof(*(into)))

struct task_struct {
	uint32_t tgid, pid, flags;
	char comm[NS_COMM_LEN];
	const struct task_struct *real_parent;
};

struct net {
	struct {
		uint32_t inum;
	} ns;
};

struct sock {
	struct {
		struct {
			const struct net *net;
		} skc_net;
		uint16_t skc_num;
	} __sk_common;
};

static struct ns_config settings = {.trace = 1};
static struct ns_offcpu_config offcpu;
static struct ns_proc_hint proc_hints[NS_PROC_HINTS];
static struct ns_thread_state zero_thread;
static uint32_t only_tids[NS_TIDS], self_tgid = 1, unsure_owners;
static uint64_t lost[NS_LOST_KINDS];
static int procs, threads, conns;

/* A table of one entry, and whether it is full with others. */
static struct ns_proc_state proc_kept;
static struct ns_thread_state thread_kept;
static uint32_t proc_key, thread_key;
static bool is_full, is_entered_by_another;

static void count_lost(uint32_t kind)
{
	lost[kind]++;
}

static bool in_window(void)
{
	return true;
}

static void *bpf_map_lookup_elem(const void *map, const void *key)
{
	const uint32_t *number = (const uint32_t *)key;

	assert_ptr_not_equal(map, &conns);
	if (map == &procs)
		return proc_key && proc_key == *number ? &proc_kept : NULL;
	return thread_key && thread_key == *number ? &thread_kept : NULL;
}

static long bpf_map_update_elem(const void *map, const void *key, const void *value, uint64_t flags)
{
	bool is_proc = map == &procs;
	bool is_entered = is_full && is_entered_by_another;

	assert_int_equal(flags, BPF_NOEXIST);
	if (is_full && !is_entered_by_another)
		return -7; /* E2BIG */
	if (is_proc) {
		proc_key = *(const uint32_t *)key;
		proc_kept = is_entered ? (struct ns_proc_state){.peer = 1}
				       : *(const struct ns_proc_state *)value;
	} else {
		thread_key = *(const uint32_t *)key;
		thread_kept = *(const struct ns_thread_state *)value;
	}
	return is_entered ? -17 : 0; /* EEXIST */
}

static int listeners;

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* unroll */
#include "bpf/lib/target.bpf.h"

/* ---- */

#define TGID 42
#define TID  43

static int begin(void **state)
{
	(void)state;
	memset(lost, 0, sizeof(lost));
	memset(proc_hints, 0, sizeof(proc_hints));
	memset(only_tids, 0, sizeof(only_tids));
	proc_key = thread_key = 0;
	is_full = is_entered_by_another = false;
	return 0;
}

static void test_a_process_is_added(void **state)
{
	(void)state;
	assert_int_equal(proc_role(TGID), 0);
	add_proc(TGID, NS_ROLE_PEER);
	assert_int_equal(proc_role(TGID), NS_ROLE_PEER);
	assert_false(proc_hint(TGID)->threads); /* from the first hold on */
	add_proc(TGID, NS_ROLE_TARGET);
	assert_int_equal(proc_role(TGID), NS_ROLE_PEER | NS_ROLE_TARGET);
	assert_true(proc_hint(TGID)->threads);
	/* Another one of the same bucket is none. */
	assert_int_equal(proc_role(TGID + NS_PROC_HINTS), 0);
	assert_int_equal(lost[NS_LOST_PROCESSES], 0);
}

static void test_no_room_for_a_process(void **state)
{
	(void)state;
	is_full = true;
	add_proc(TGID, NS_ROLE_TARGET);
	assert_int_equal(lost[NS_LOST_PROCESSES], 1);
	assert_int_equal(proc_role(TGID), 0);
	assert_false(proc_hint(TGID)->threads);
}

static void test_another_cpu_added_it(void **state)
{
	(void)state;
	is_full = is_entered_by_another = true;
	add_proc(TGID, NS_ROLE_TARGET);
	assert_int_equal(lost[NS_LOST_PROCESSES], 0);
	assert_int_equal(proc_role(TGID), NS_ROLE_PEER | NS_ROLE_TARGET);
}

static void test_threads(void **state)
{
	struct task_struct parent = {.tgid = 7, .pid = 7};
	struct task_struct task = {
		.tgid = TGID, .pid = TID, .comm = "client", .real_parent = &parent};

	(void)state;
	assert_null(watched_thread(&task)); /* of no process that is watched */
	add_proc(TGID, NS_ROLE_TARGET);
	only_tids[0] = TID + 1;
	assert_null(watched_thread(&task));
	only_tids[NS_TIDS - 1] = TID;
	is_full = true;
	assert_null(watched_thread(&task));
	assert_int_equal(lost[NS_LOST_THREADS], 1);
	is_entered_by_another = true;
	assert_ptr_equal(watched_thread(&task), &thread_kept);
	assert_int_equal(lost[NS_LOST_THREADS], 1);
	assert_int_equal(thread_kept.tgid, TGID);
	assert_string_equal(thread_kept.comm, "client");
	/* Its last switch, when its totals are told. */
	thread_key = 0;
	task.flags = NS_PF_EXITING;
	assert_null(watched_thread(&task));
	assert_int_equal(lost[NS_LOST_THREADS], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_process_is_added, begin),
		cmocka_unit_test_setup(test_no_room_for_a_process, begin),
		cmocka_unit_test_setup(test_another_cpu_added_it, begin),
		cmocka_unit_test_setup(test_threads, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
