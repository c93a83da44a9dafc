// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/offcpu.h"

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
#include "user/source/offcpu_parts.h"

/* Stacks of threads that sleep long are copied so often. */
#define COPY_EVERY_NS 200000000ull
/* So long stacks that are being unwound are waited for at the end, and at the attach what is opened
 * of the targets. */
#define NAMES_END_NS    5000000000ull
#define NAMES_ATTACH_NS 1000000000ull

/* ---- open ---- */

static void watch_process(struct offcpu *offcpu, uint32_t tgid)
{
	uint32_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(offcpu->skel->maps.procs), &tgid, &one, BPF_ANY)) {
		offcpu->targets_refused++;
		return;
	}
	offcpu->skel->bss->proc_flags[tgid & (NS_OFFCPU_FLAGS - 1)] = 1;
}

/* netstall's numbers as the kernel counts them: which of the tasks we are. */
static uint32_t own_number(const struct offcpu *offcpu)
{
	const struct ns_task_entry *self = tasks__by_view(offcpu->tasks, getpid());

	return self ? self->tgid : (uint32_t)getpid();
}

static int find_targets(struct offcpu *offcpu)
{
	struct target target = *offcpu->target;
	int err = offcpu__read_tasks(offcpu);

	if (err) {
		log__error("cannot list the tasks of this machine: %s", strerror(-err));
		return err;
	}
	if (offcpu->program_pid && target.pid_count < TARGET_PIDS)
		target.pids[target.pid_count++] = offcpu->program_pid;
	err = target__resolve(&target, offcpu->tasks, &offcpu->set);
	if (err)
		return err;
	_Static_assert(TARGET_TIDS == NS_OFFCPU_TIDS, "both sides have room for as many");
	memcpy(offcpu->skel->bss->only_tids, offcpu->set.only_tids, sizeof(offcpu->set.only_tids));
	offcpu->skel->bss->self_tgid = own_number(offcpu);
	for (size_t i = 0; i < offcpu->set.count; i++)
		watch_process(offcpu, offcpu->set.processes[i].tgid);
	for (size_t i = 0; i < offcpu->set.cgroup_count; i++) {
		uint32_t one = 1;

		bpf_map_update_elem(bpf_map__fd(offcpu->skel->maps.cgroups),
				    &offcpu->set.cgroups[i], &one, BPF_ANY);
	}
	return 0;
}

/* The kernel's entry stubs for interrupts, by their names: x86-64 has two sorts, arm64 one. */
static void find_interrupt_entries(struct offcpu *offcpu)
{
	static const char *const sorts[][2] = {{"asm_sysvec_", "el1h_64_irq"},
					       {"asm_common_interrupt", "gic_handle_irq"}};
	uint64_t begin, end;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 2; j++)
			if (kallsyms__span(offcpu->kallsyms, sorts[i][j], &begin, &end))
				offcpu->skel->bss->irq_entries[i] =
					(struct ns_offcpu_range){begin, end};
}

static void find_hooked_functions(struct offcpu *offcpu)
{
	static const char *const names[NS_OFFCPU_HOOKS] = {
		[NS_OFFCPU_AT_SWITCH] = "__schedule",
		[NS_OFFCPU_AT_WAKING] = "try_to_wake_up",
		[NS_OFFCPU_AT_SEND] = "__dev_queue_xmit",
	};
	uint64_t begin, end;

	for (size_t i = 0; i < NS_OFFCPU_HOOKS; i++)
		if (kallsyms__function(offcpu->kallsyms, names[i], &begin, &end))
			offcpu->skel->bss->hooked[i] = (struct ns_offcpu_range){begin, end};
}

static int check_kernel(struct offcpu *offcpu)
{
	struct caps caps;
	struct btf *btf = caps__probe(&caps, offcpu->options.btf_path);
	const char *refusal = caps__refusal(&caps);

	if (btf)
		offcpu->switch_program = caps__tracepoint_arguments(btf, "sched_switch") >= 4
						 ? "offcpu_switch"
						 : "offcpu_switch_3";
	caps__free_btf(btf);
	if (!refusal)
		return 0;
	log__error("%s (see `netstall doctor`)", refusal);
	return -ENOTSUP;
}

static int prepare(struct offcpu *offcpu)
{
	int err = check_kernel(offcpu);

	if (!err)
		err = offcpu__load(offcpu);
	if (!err)
		err = offcpu__make_iterators(offcpu);
	if (!err)
		err = find_targets(offcpu);
	if (!err) {
		find_interrupt_entries(offcpu);
		find_hooked_functions(offcpu);
	}
	return err;
}

int offcpu__open(const struct offcpu_options *options, const struct target *target,
		 pid_t program_pid, struct offcpu **out)
{
	struct offcpu *offcpu = xcalloc(1, sizeof(*offcpu));
	int err;

	*out = NULL;
	offcpu->options = *options;
	offcpu->target = target;
	offcpu->program_pid = program_pid;
	offcpu->tasks = tasks__new();
	offcpu->same_numbers = tasks__in_first_namespace();
	offcpu->kallsyms = kallsyms__new();
	kallsyms__load(offcpu->kallsyms);
	if (options->unwind != UNWIND_FP && !options->no_user_stacks)
		offcpu->unwound = unwound__new(options->unwind, options->resolver);
	offcpu->processes = table__new(OFFCPU_PROCESSES);
	offcpu->seeds = table__new(OFFCPU_SEEDS);
	err = prepare(offcpu);
	if (err)
		offcpu__close(offcpu);
	else
		*out = offcpu;
	return err;
}

/* ---- attach ---- */

static void note_exit(struct offcpu *offcpu, uint32_t tgid)
{
	for (size_t i = 0; i < offcpu->set.count; i++)
		if (offcpu->set.processes[i].tgid == tgid)
			offcpu->targets_exited++;
}

static void tell_cause(struct offcpu *offcpu, const struct ns_offcpu_told *told)
{
	const struct by_cause_wait wait = {.key = told->sum,
					   .tid = offcpu__view(offcpu, told->tid),
					   .off_ts = told->off_ts,
					   .end_ts = told->end_ts,
					   .ns = told->ns};

	if (offcpu->options.by_cause)
		by_cause__wait(offcpu->options.by_cause, &wait);
}

static int on_record(void *context, void *data, size_t size)
{
	struct offcpu *offcpu = context;
	const struct ns_offcpu_process *process = data;

	if (size >= sizeof(struct ns_offcpu_told) && process->type == NS_OFFCPU_TOLD)
		tell_cause(offcpu, data);
	else if (size >= sizeof(*process) && process->type == NS_OFFCPU_PROCESS && process->gone)
		note_exit(offcpu, process->tgid);
	else if (size >= sizeof(*process) && process->type == NS_OFFCPU_PROCESS)
		offcpu__process(offcpu, process->tgid, process->parent);
	return 0;
}

static int on_sample(void *context, void *data, size_t size)
{
	struct offcpu *offcpu = context;
	const struct ns_offcpu_sample *sample = data;
	pid_t pid;

	if (size < sizeof(*sample) || sample->type != NS_OFFCPU_SAMPLE || !offcpu->unwound)
		return 0;
	pid = offcpu__view(offcpu, sample->tgid);
	if (pid)
		unwound__sample(offcpu->unwound, pid, data, size);
	return 0;
}

static int attach_hooks(struct offcpu *offcpu)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, offcpu->skel->obj)
	{
		const char *name = bpf_program__name(program);
		struct bpf_link *link;

		if (!bpf_program__autoload(program) || !strncmp(name, "iter_", 5) ||
		    offcpu->hook_count == OFFCPU_HOOKS)
			continue;
		link = bpf_program__attach(program);
		if (!link) {
			log__error(
				"the program %s does not attach: %s (`netstall doctor` shows what this kernel can do)",
				name, strerror(errno));
			return -errno;
		}
		offcpu->hooks[offcpu->hook_count++] = link;
	}
	return 0;
}

static void copy_sleepers(struct offcpu *offcpu, uint64_t now)
{
	char nothing[256];
	int fd;

	if (!offcpu->sleepers || now - offcpu->copied_ns < COPY_EVERY_NS)
		return;
	offcpu->copied_ns = now;
	fd = offcpu__run(offcpu->sleepers);
	if (fd < 0)
		return;
	while (read(fd, nothing, sizeof(nothing)) > 0)
		;
	close(fd);
}

/* See bpf/lib/common.bpf.h. */
static void set_window(struct offcpu *offcpu, uint64_t end)
{
	__atomic_store_n(&offcpu->skel->bss->window_end, end, __ATOMIC_SEQ_CST);
}

int offcpu__attach(struct offcpu *offcpu)
{
	int err = attach_hooks(offcpu);

	if (err)
		return err;
	offcpu->start_ts = clock__now();
	set_window(offcpu, NS_WINDOW_OPEN);
	offcpu->ring =
		ring_buffer__new(bpf_map__fd(offcpu->skel->maps.records), on_record, offcpu, NULL);
	if (!offcpu->ring || ring_buffer__add(offcpu->ring, bpf_map__fd(offcpu->skel->maps.samples),
					      on_sample, offcpu)) {
		log__error("cannot map the ring buffers: %s", strerror(errno));
		return -errno;
	}
	for (size_t i = 0; i < offcpu->set.count; i++)
		offcpu__process(offcpu, offcpu->set.processes[i].tgid, 0);
	offcpu__seed(offcpu);
	resolver__poll(offcpu->options.resolver, NAMES_ATTACH_NS);
	copy_sleepers(offcpu, clock__now());
	return 0;
}

/* ---- run ---- */

void offcpu__poll(struct offcpu *offcpu, int timeout_ms)
{
	ring_buffer__poll(offcpu->ring, timeout_ms);
	ring_buffer__consume(offcpu->ring);
	offcpu__note_processes(offcpu, false);
	resolver__poll(offcpu->options.resolver, 0);
	copy_sleepers(offcpu, clock__now());
}

bool offcpu__targets_gone(const struct offcpu *offcpu)
{
	const struct target *target = offcpu->target;

	if (target->comm || target->cgroup || !offcpu->set.count || target->children)
		return false;
	if (offcpu->targets_exited >= offcpu->set.count)
		return true; /* also when nobody has waited for them yet */
	for (size_t i = 0; i < offcpu->set.count; i++)
		if (!kill(offcpu->set.processes[i].view_tgid, 0) || errno != ESRCH)
			return false;
	return true;
}

/* ---- the end ---- */

void offcpu__detach(struct offcpu *offcpu)
{
	if (offcpu->end_ts)
		return;
	copy_sleepers(offcpu, UINT64_MAX / 2);
	set_window(offcpu, clock__now());
	offcpu->end_ts = clock__now();
	while (offcpu->hook_count)
		bpf_link__destroy(offcpu->hooks[--offcpu->hook_count]);
	ring_buffer__consume(offcpu->ring);
	offcpu__note_processes(offcpu, true);
	resolver__poll(offcpu->options.resolver, NAMES_END_NS);
}

void offcpu__close(struct offcpu *offcpu)
{
	if (!offcpu)
		return;
	while (offcpu->hook_count)
		bpf_link__destroy(offcpu->hooks[--offcpu->hook_count]);
	bpf_link__destroy(offcpu->task_list);
	bpf_link__destroy(offcpu->seeder);
	bpf_link__destroy(offcpu->sleepers);
	ring_buffer__free(offcpu->ring);
	offcpu_bpf__destroy(offcpu->skel);
	unwound__free(offcpu->unwound);
	kallsyms__free(offcpu->kallsyms);
	tasks__free(offcpu->tasks);
	table__free(offcpu->processes, free);
	table__free(offcpu->seeds, free);
	target_set__clear(&offcpu->set);
	free(offcpu);
}

size_t offcpu__target_count(const struct offcpu *offcpu)
{
	return offcpu->set.count;
}

void offcpu__first_target(const struct offcpu *offcpu, char *out, size_t size)
{
	const struct ns_task_entry *first = offcpu->set.processes;
	char safe[TEXT_SAFE(NS_COMM_LEN)];

	out[0] = '\0';
	if (offcpu->set.count)
		snprintf(out, size, "%s (%u)",
			 text__safe(safe, sizeof(safe), first->comm, NS_COMM_LEN),
			 first->view_tgid);
}
