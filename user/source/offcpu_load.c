// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The programs of the off-CPU profile, set up and loaded. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/kernel/load.h"
#include "user/source/offcpu_parts.h"

static unsigned stack_bytes(const struct offcpu_options *options)
{
	unsigned bytes = options->stack_bytes ? options->stack_bytes : NS_OFFCPU_STACK_DEFAULT;

	return bytes / NS_OFFCPU_STACK_BLOCK * NS_OFFCPU_STACK_BLOCK;
}

static void configure(struct offcpu *offcpu)
{
	const struct offcpu_options *options = &offcpu->options;
	const struct target *target = offcpu->target;
	struct offcpu_bpf *skel = offcpu->skel;
	struct ns_offcpu_config *config = (struct ns_offcpu_config *)&skel->rodata->settings;

	config->least_ns = options->least_ns;
	config->most_ns = options->most_ns;
	config->tell_ns = options->by_cause ? options->threshold_ns : 0;
	config->depth = options->depth;
	config->everything = options->everything;
	/* A thread that was named is to be told by its number. */
	config->per_thread = options->per_thread || target->tid;
	config->user_threads = options->user_threads;
	config->kernel_threads = options->kernel_threads;
	config->user_stacks = !options->no_user_stacks;
	config->state_given = options->state_given;
	config->state = options->state;
	config->follow_children = target__takes_children(target);
	config->by_comm = target->comm != NULL;
	config->by_cgroup = target->cgroup != NULL;
	config->cpus = libbpf_num_possible_cpus();
	if (target->comm)
		snprintf(config->comm, sizeof(config->comm), "%s", target->comm);
	if (offcpu->unwound) {
		config->unwind_ns = options->threshold_ns;
		config->stack_bytes = stack_bytes(options);
		config->exact_places = 1;
	}
	bpf_map__set_max_entries(skel->maps.stacks,
				 options->stacks ? options->stacks : OFFCPU_STACKS);
	bpf_map__set_key_size(skel->maps.sums,
			      sizeof(__u32) + options->depth * sizeof(struct ns_offcpu_hop));
}

static bool is_wanted(const struct offcpu *offcpu, const char *program, bool with_sleepers)
{
	const struct target *target = offcpu->target;

	if (!strcmp(program, "offcpu_switch") || !strcmp(program, "offcpu_switch_3"))
		return !strcmp(program, offcpu->switch_program);
	if (!strcmp(program, "offcpu_fork"))
		return target__takes_children(target) || target->comm;
	if (!strcmp(program, "offcpu_cgroup_attach"))
		return target->cgroup;
	if (!strcmp(program, "iter_sleepers"))
		return with_sleepers && offcpu->unwound;
	return true;
}

static int load(struct offcpu *offcpu, bool with_sleepers)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = offcpu->options.btf_path);
	struct bpf_program *program;
	int err;

	offcpu->skel = offcpu_bpf__open_opts(&opts);
	if (!offcpu->skel)
		return -errno;
	configure(offcpu);
	bpf_object__for_each_program(program, offcpu->skel->obj)
	{
		const char *name = bpf_program__name(program);

		bpf_program__set_autoload(program, is_wanted(offcpu, name, with_sleepers));
	}
	err = offcpu_bpf__load(offcpu->skel);
	if (!err)
		return 0;
	offcpu_bpf__destroy(offcpu->skel);
	offcpu->skel = NULL;
	return err;
}

static int explain(int err)
{
	if (!load__explain(err, "--stack-storage-size=N"))
		log__error(
			"the kernel did not take the programs of the profile: %s (-v shows its messages; `netstall doctor` shows what this kernel can do)",
			strerror(-err));
	return err;
}

int offcpu__load(struct offcpu *offcpu)
{
	int err;

	/* Copying the memory of a thread that sleeps came with 5.18. */
	err = load(offcpu, true);
	if (err && err != -EPERM && err != -ENOMEM)
		err = load(offcpu, false);
	return err ? explain(err) : 0;
}

static struct bpf_link *make_iterator(struct offcpu *offcpu, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(offcpu->skel->obj, name);

	if (!program || !bpf_program__autoload(program))
		return NULL;
	return bpf_program__attach_iter(program, NULL);
}

int offcpu__make_iterators(struct offcpu *offcpu)
{
	offcpu->task_list = make_iterator(offcpu, "iter_tasks");
	offcpu->seeder = make_iterator(offcpu, "iter_seed");
	offcpu->sleepers = make_iterator(offcpu, "iter_sleepers");
	if (offcpu->task_list && offcpu->seeder)
		return 0;
	log__error("BPF iterators do not attach on this kernel (%s): it needs Linux 5.9 or later",
		   strerror(errno));
	return -ENOTSUP;
}

int offcpu__run(struct bpf_link *iterator)
{
	int fd = iterator ? bpf_iter_create(bpf_link__fd(iterator)) : -1;

	return fd < 0 ? -errno : fd;
}
