// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/offwake.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/kernel/caps.h"
#include "user/source/offwake_parts.h"

/* Stacks of threads that sleep long are copied so often. */
#define COPY_EVERY_NS 200000000ull
/* So long stacks that are being unwound are waited for at the end, and at the attach what is opened
 * of the targets. */
#define NAMES_END_NS    5000000000ull
#define NAMES_ATTACH_NS 1000000000ull

/* ---- open ---- */

static void watch_process(struct offwake *offwake, uint32_t tgid)
{
	uint32_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(offwake->skel->maps.procs), &tgid, &one, BPF_ANY)) {
		offwake->targets_refused++;
		return;
	}
	offwake->skel->bss->proc_flags[tgid & (NS_OW_FLAGS - 1)] = 1;
}

/* netstall's numbers as the kernel counts them: which of the tasks we are. */
static uint32_t own_number(const struct offwake *offwake)
{
	const struct ns_task_entry *self = tasks__by_view(offwake->tasks, getpid());

	return self ? self->tgid : (uint32_t)getpid();
}

static int find_targets(struct offwake *offwake)
{
	struct target target = *offwake->target;
	int err = offwake__read_tasks(offwake);

	if (err) {
		log__error("cannot list the tasks of this machine: %s", strerror(-err));
		return err;
	}
	if (offwake->program_pid && target.pid_count < TARGET_PIDS)
		target.pids[target.pid_count++] = offwake->program_pid;
	err = target__resolve(&target, offwake->tasks, &offwake->set);
	if (err)
		return err;
	_Static_assert(TARGET_TIDS == NS_OW_TIDS, "both sides have room for as many");
	memcpy(offwake->skel->bss->only_tids, offwake->set.only_tids,
	       sizeof(offwake->set.only_tids));
	offwake->skel->bss->self_tgid = own_number(offwake);
	for (size_t i = 0; i < offwake->set.count; i++)
		watch_process(offwake, offwake->set.processes[i].tgid);
	for (size_t i = 0; i < offwake->set.cgroup_count; i++) {
		uint32_t one = 1;

		bpf_map_update_elem(bpf_map__fd(offwake->skel->maps.cgroups),
				    &offwake->set.cgroups[i], &one, BPF_ANY);
	}
	return 0;
}

/* The kernel's entry stubs for interrupts, by their names: x86-64 has two sorts, arm64 one. */
static void find_interrupt_entries(struct offwake *offwake)
{
	static const char *const sorts[][2] = {{"asm_sysvec_", "el1h_64_irq"},
					       {"asm_common_interrupt", "gic_handle_irq"}};
	uint64_t begin, end;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 2; j++)
			if (kallsyms__span(offwake->kallsyms, sorts[i][j], &begin, &end))
				offwake->skel->bss->irq_entries[i] =
					(struct ns_ow_range){begin, end};
}

static void find_hooked_functions(struct offwake *offwake)
{
	static const char *const names[NS_OW_HOOKS] = {
		[NS_OW_AT_SWITCH] = "__schedule",
		[NS_OW_AT_WAKING] = "try_to_wake_up",
		[NS_OW_AT_SEND] = "__dev_queue_xmit",
	};
	uint64_t begin, end;

	for (size_t i = 0; i < NS_OW_HOOKS; i++)
		if (kallsyms__function(offwake->kallsyms, names[i], &begin, &end))
			offwake->skel->bss->hooked[i] = (struct ns_ow_range){begin, end};
}

static int check_kernel(struct offwake *offwake)
{
	struct caps caps;
	struct btf *btf = caps__probe(&caps, offwake->options.btf_path);
	const char *refusal = caps__refusal(&caps);

	if (btf)
		offwake->switch_program = caps__tracepoint_arguments(btf, "sched_switch") >= 4
						  ? "ow_switch"
						  : "ow_switch_3";
	caps__free_btf(btf);
	if (!refusal)
		return 0;
	log__error("%s (`netstall doctor` tells more)", refusal);
	return -ENOTSUP;
}

static int prepare(struct offwake *offwake)
{
	int err = check_kernel(offwake);

	if (!err)
		err = offwake__load(offwake);
	if (!err)
		err = offwake__make_iterators(offwake);
	if (!err)
		err = find_targets(offwake);
	if (!err) {
		find_interrupt_entries(offwake);
		find_hooked_functions(offwake);
	}
	return err;
}

int offwake__open(const struct offwake_options *options, const struct target *target,
		  pid_t program_pid, struct offwake **out)
{
	struct offwake *offwake = xcalloc(1, sizeof(*offwake));
	int err;

	*out = NULL;
	offwake->options = *options;
	offwake->target = target;
	offwake->program_pid = program_pid;
	offwake->tasks = tasks__new();
	offwake->same_numbers = tasks__in_first_namespace();
	offwake->kallsyms = kallsyms__new();
	kallsyms__load(offwake->kallsyms);
	if (options->unwind != UNWIND_FP && !options->no_user_stacks)
		offwake->unwound = unwound__new(options->unwind, options->resolver);
	offwake->processes = table__new(OFFWAKE_PROCESSES);
	offwake->seeds = table__new(OFFWAKE_SEEDS);
	err = prepare(offwake);
	if (err)
		offwake__close(offwake);
	else
		*out = offwake;
	return err;
}

/* ---- attach ---- */

static void note_exit(struct offwake *offwake, uint32_t tgid)
{
	for (size_t i = 0; i < offwake->set.count; i++)
		if (offwake->set.processes[i].tgid == tgid)
			offwake->targets_exited++;
}

static void tell_cause(struct offwake *offwake, const struct ns_ow_told *told)
{
	const struct by_cause_wait wait = {.key = told->sum,
					   .tid = offwake__view(offwake, told->tid),
					   .off_ts = told->off_ts,
					   .end_ts = told->end_ts,
					   .ns = told->ns};

	if (offwake->options.by_cause)
		by_cause__wait(offwake->options.by_cause, &wait);
}

static int on_record(void *context, void *data, size_t size)
{
	struct offwake *offwake = context;
	const struct ns_ow_process *process = data;

	if (size >= sizeof(struct ns_ow_told) && process->type == NS_OW_TOLD)
		tell_cause(offwake, data);
	else if (size >= sizeof(*process) && process->type == NS_OW_PROCESS && process->gone)
		note_exit(offwake, process->tgid);
	else if (size >= sizeof(*process) && process->type == NS_OW_PROCESS)
		offwake__process(offwake, process->tgid, process->parent);
	return 0;
}

static int on_sample(void *context, void *data, size_t size)
{
	struct offwake *offwake = context;
	const struct ns_ow_sample *sample = data;
	pid_t pid;

	if (size < sizeof(*sample) || sample->type != NS_OW_SAMPLE || !offwake->unwound)
		return 0;
	pid = offwake__view(offwake, sample->tgid);
	if (pid)
		unwound__sample(offwake->unwound, pid, data, size);
	return 0;
}

static int attach_hooks(struct offwake *offwake)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, offwake->skel->obj)
	{
		const char *name = bpf_program__name(program);
		struct bpf_link *link;

		if (!bpf_program__autoload(program) || !strncmp(name, "iter_", 5) ||
		    offwake->hook_count == OFFWAKE_HOOKS)
			continue;
		link = bpf_program__attach(program);
		if (!link) {
			log__error(
				"the program %s does not attach: %s (`netstall doctor` tells "
				"what this kernel can do)",
				name, strerror(errno));
			return -errno;
		}
		offwake->hooks[offwake->hook_count++] = link;
	}
	return 0;
}

static void copy_sleepers(struct offwake *offwake, uint64_t now)
{
	char nothing[256];
	int fd;

	if (!offwake->sleepers || now - offwake->copied_ns < COPY_EVERY_NS)
		return;
	offwake->copied_ns = now;
	fd = offwake__run(offwake->sleepers);
	if (fd < 0)
		return;
	while (read(fd, nothing, sizeof(nothing)) > 0)
		;
	close(fd);
}

/* See bpf/lib/common.bpf.h. */
static void set_window(struct offwake *offwake, uint64_t end)
{
	__atomic_store_n(&offwake->skel->bss->window_end, end, __ATOMIC_SEQ_CST);
}

int offwake__attach(struct offwake *offwake)
{
	int err = attach_hooks(offwake);

	if (err)
		return err;
	offwake->start_ts = clock__now();
	set_window(offwake, NS_WINDOW_OPEN);
	offwake->ring = ring_buffer__new(bpf_map__fd(offwake->skel->maps.records), on_record,
					 offwake, NULL);
	if (!offwake->ring ||
	    ring_buffer__add(offwake->ring, bpf_map__fd(offwake->skel->maps.samples), on_sample,
			     offwake)) {
		log__error("cannot map the ring buffers: %s", strerror(errno));
		return -errno;
	}
	for (size_t i = 0; i < offwake->set.count; i++)
		offwake__process(offwake, offwake->set.processes[i].tgid, 0);
	offwake__seed(offwake);
	resolver__poll(offwake->options.resolver, NAMES_ATTACH_NS);
	copy_sleepers(offwake, clock__now());
	return 0;
}

/* ---- run ---- */

void offwake__poll(struct offwake *offwake, int timeout_ms)
{
	ring_buffer__poll(offwake->ring, timeout_ms);
	ring_buffer__consume(offwake->ring);
	offwake__note_processes(offwake, false);
	resolver__poll(offwake->options.resolver, 0);
	copy_sleepers(offwake, clock__now());
}

bool offwake__targets_gone(const struct offwake *offwake)
{
	const struct target *target = offwake->target;

	if (target->comm || target->cgroup || !offwake->set.count || target->children)
		return false;
	if (offwake->targets_exited >= offwake->set.count)
		return true; /* also when nobody has waited for them yet */
	for (size_t i = 0; i < offwake->set.count; i++)
		if (!kill(offwake->set.processes[i].view_tgid, 0) || errno != ESRCH)
			return false;
	return true;
}

/* ---- the end ---- */

void offwake__detach(struct offwake *offwake)
{
	if (offwake->end_ts)
		return;
	copy_sleepers(offwake, UINT64_MAX / 2);
	set_window(offwake, clock__now());
	offwake->end_ts = clock__now();
	while (offwake->hook_count)
		bpf_link__destroy(offwake->hooks[--offwake->hook_count]);
	ring_buffer__consume(offwake->ring);
	offwake__note_processes(offwake, true);
	resolver__poll(offwake->options.resolver, NAMES_END_NS);
}

void offwake__close(struct offwake *offwake)
{
	if (!offwake)
		return;
	while (offwake->hook_count)
		bpf_link__destroy(offwake->hooks[--offwake->hook_count]);
	bpf_link__destroy(offwake->task_list);
	bpf_link__destroy(offwake->seeder);
	bpf_link__destroy(offwake->sleepers);
	ring_buffer__free(offwake->ring);
	offwake_bpf__destroy(offwake->skel);
	unwound__free(offwake->unwound);
	kallsyms__free(offwake->kallsyms);
	tasks__free(offwake->tasks);
	table__free(offwake->processes, free);
	table__free(offwake->seeds, free);
	target_set__clear(&offwake->set);
	free(offwake);
}

size_t offwake__target_count(const struct offwake *offwake)
{
	return offwake->set.count;
}

void offwake__first_target(const struct offwake *offwake, char *out, size_t size)
{
	const struct ns_task_entry *first = offwake->set.processes;
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	out[0] = '\0';
	if (offwake->set.count)
		snprintf(out, size, "%s (%u)",
			 text__safe(safe, sizeof(safe), first->comm, NS_COMM_LEN),
			 first->view_tgid);
}
