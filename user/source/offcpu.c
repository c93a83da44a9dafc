// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/source/offcpu_parts.h"

#define PROCESSES 65536
#define SEEDS     65536
#define PYTHONS   16384
/* Stacks of threads that sleep long are copied so often. */
#define COPY_EVERY_NS 200000000ull
/* Short waits are looked at up to so many a second: a stack of each costs 2 us, and its waker's. */
#define LOOKS_PER_S   2000
#define PACE_EVERY_NS 50000000ull

const struct offcpu_options offcpu_default = {.depth = 2, .unwind = UNWIND_AUTO};

/* ---- before the window ---- */

struct offcpu *offcpu__new(struct session *session)
{
	struct offcpu *offcpu = xcalloc(1, sizeof(*offcpu));

	offcpu->session = session;
	offcpu->options = *session->options.offcpu;
	if (offcpu->options.unwind != UNWIND_FP && !offcpu->options.no_user_stacks)
		offcpu->unwound = unwound__new(offcpu->options.unwind, session->options.resolver);
	offcpu->processes = table__new(PROCESSES);
	offcpu->seeds = table__new(SEEDS);
	offcpu->pythons = table__new(PYTHONS);
	return offcpu;
}

void offcpu__free(struct offcpu *offcpu)
{
	if (!offcpu)
		return;
	resolver__forget(offcpu->session->options.resolver, offcpu);
	unwound__free(offcpu->unwound);
	table__free(offcpu->pythons, offcpu_python__drop);
	table__free(offcpu->processes, free);
	table__free(offcpu->seeds, free);
	free(offcpu);
}

bool offcpu__unwinds(const struct offcpu *offcpu)
{
	return offcpu->unwound;
}

static unsigned stack_bytes(const struct session_options *options)
{
	unsigned bytes = options->stack_bytes ? options->stack_bytes : NS_OFFCPU_STACK_DEFAULT;

	return bytes / NS_OFFCPU_STACK_BLOCK * NS_OFFCPU_STACK_BLOCK;
}

void offcpu__configure(struct offcpu *offcpu)
{
	const struct offcpu_options *options = &offcpu->options;
	const struct session *session = offcpu->session;
	struct netstall_bpf *skel = session->skel;
	struct ns_offcpu_config *config = (struct ns_offcpu_config *)&skel->rodata->offcpu;

	config->on = 1;
	config->everything = options->everything;
	config->least_ns = options->least_ns;
	config->most_ns = options->most_ns;
	config->tell_ns = options->by_cause ? session->options.threshold_ns : 0;
	config->depth = options->depth;
	/* A thread that was named is to be told by its number. */
	config->per_thread = options->per_thread || session->target->tid;
	config->user_threads = options->user_threads;
	config->kernel_threads = options->kernel_threads;
	config->user_stacks = !options->no_user_stacks;
	config->state_given = options->state_given;
	config->state = options->state;
	if (offcpu->unwound) {
		config->unwind_ns = session->options.threshold_ns;
		config->stack_bytes = stack_bytes(&session->options);
		config->exact_places = 1;
	}
	bpf_map__set_max_entries(skel->maps.stacks,
				 options->stacks ? options->stacks : OFFCPU_STACKS);
	bpf_map__set_key_size(skel->maps.sums,
			      sizeof(__u32) + options->depth * sizeof(struct ns_offcpu_hop));
}

/*
 * The kernel's entry stubs for interrupts, by their names. x86-64 has two sorts of several each;
 * arm64 has two, from the kernel and from user space, whose handlers lie elsewhere and begin alike.
 */
static void find_interrupt_entries(const struct session *session)
{
	static const struct {
		const char *sort, *stub;
	} entries[NS_OFFCPU_RANGES] = {{"asm_sysvec_", "el1h_64_irq"},
				       {"asm_common_interrupt", "el0t_64_irq"}};
	uint64_t begin, end;

	for (size_t i = 0; i < NS_OFFCPU_RANGES; i++)
		if (kallsyms__span(session->kallsyms, entries[i].sort, &begin, &end) ||
		    kallsyms__function(session->kallsyms, entries[i].stub, &begin, &end))
			session->skel->bss->irq_entries[i] = (struct ns_offcpu_range){begin, end};
}

static void find_hooked_functions(const struct session *session)
{
	static const char *const names[NS_OFFCPU_HOOKS] = {
		[NS_OFFCPU_AT_SWITCH] = "__schedule",
		[NS_OFFCPU_AT_WAKING] = "try_to_wake_up",
		[NS_OFFCPU_AT_SEND] = "__dev_queue_xmit",
	};
	uint64_t begin, end;

	for (size_t i = 0; i < NS_OFFCPU_HOOKS; i++)
		if (kallsyms__function(session->kallsyms, names[i], &begin, &end))
			session->skel->bss->hooked[i] = (struct ns_offcpu_range){begin, end};
}

static void find_scheduler(const struct session *session)
{
	uint64_t begin, end, ignored;

	if (kallsyms__function(session->kallsyms, "__sched_text_start", &begin, &ignored) &&
	    kallsyms__function(session->kallsyms, "__sched_text_end", &end, &ignored))
		session->skel->bss->scheduler = (struct ns_offcpu_range){begin, end};
}

void offcpu__prepare(struct offcpu *offcpu)
{
	find_interrupt_entries(offcpu->session);
	find_hooked_functions(offcpu->session);
	find_scheduler(offcpu->session);
	offcpu->session->skel->bss->every_seed = (uint32_t)clock__now();
}

/* ---- the window ---- */

static void tell_cause(struct offcpu *offcpu, const struct ns_offcpu_told *told)
{
	const struct by_cause_wait wait = {.key = told->sum,
					   .tid = enrich__view(offcpu->session->enrich, told->tid),
					   .off_ts = told->off_ts,
					   .ns = told->ns};

	if (offcpu->options.by_cause)
		by_cause__wait(offcpu->options.by_cause, &wait);
}

bool offcpu__record(struct offcpu *offcpu, const void *record, size_t size)
{
	const struct ns_offcpu_process *process = record;

	if (size >= sizeof(struct ns_offcpu_told) && process->type == NS_OFFCPU_TOLD)
		tell_cause(offcpu, record);
	else if (size >= sizeof(*process) && process->type == NS_OFFCPU_PROCESS)
		offcpu__process(offcpu, process->tgid, process->parent);
	else if (size >= sizeof(struct ns_offcpu_python) && process->type == NS_OFFCPU_PYTHON)
		offcpu_python__told(offcpu, record);
	else
		return false;
	return true;
}

int offcpu__sample(void *context, void *record, size_t size)
{
	struct offcpu *offcpu = context;
	const struct ns_offcpu_sample *sample = record;
	pid_t pid;

	if (size < sizeof(*sample) || sample->type != NS_OFFCPU_SAMPLE || !offcpu->unwound)
		return 0;
	pid = enrich__view(offcpu->session->enrich, sample->tgid);
	if (pid)
		unwound__sample(offcpu->unwound, pid, record, size);
	return 0;
}

/* A wait that is told by itself is never left to chance; and a place has to be known again. */
static bool may_sample(const struct offcpu *offcpu)
{
	const struct ns_offcpu_config *config =
		(const struct ns_offcpu_config *)&offcpu->session->skel->rodata->offcpu;

	return !offcpu->options.exact && offcpu->session->skel->bss->scheduler.end &&
	       (!config->tell_ns || config->tell_ns >= NS_OFFCPU_SHORT_NS) &&
	       (!config->unwind_ns || config->unwind_ns >= NS_OFFCPU_SHORT_NS);
}

static void pace(struct offcpu *offcpu, uint64_t now)
{
	struct netstall_bpf *skel = offcpu->session->skel;
	uint64_t passed = now - offcpu->paced_ns, waits = 0;
	uint32_t bits = 0;

	if (passed < PACE_EVERY_NS || !may_sample(offcpu))
		return;
	for (uint32_t cpu = 0; cpu < skel->rodata->settings.cpus && cpu < NS_CPUS; cpu++)
		waits += skel->bss->segment_cpus[cpu].looked_at +
			 skel->bss->segment_cpus[cpu].passed;
	while (bits < NS_OFFCPU_EVERY &&
	       ((waits - offcpu->paced) * 1000000000 / passed >> bits) > LOOKS_PER_S)
		bits++;
	if (!offcpu->paced_ns)
		bits = 0;
	skel->bss->every_bits = bits;
	offcpu->samples |= bits > 0;
	offcpu->paced_ns = now;
	offcpu->paced = waits;
}

/* Some sleep in places that nobody looked at as they began. */
static void find_sleepers(struct offcpu *offcpu)
{
	if (offcpu->samples)
		session__seed_threads(offcpu->session);
}

static void copy_sleepers(struct offcpu *offcpu, uint64_t now)
{
	if (now - offcpu->copied_ns < COPY_EVERY_NS)
		return;
	offcpu->copied_ns = now;
	find_sleepers(offcpu);
	session__iterate(offcpu->session, ITERATE_SLEEPERS);
}

void offcpu__begin(struct offcpu *offcpu, uint64_t start_ts)
{
	const struct target_set *set = &offcpu->session->set;

	offcpu->start_ts = start_ts;
	for (size_t i = 0; i < set->count; i++)
		offcpu__process(offcpu, set->processes[i].tgid, 0);
}

void offcpu__poll(struct offcpu *offcpu)
{
	offcpu__note_processes(offcpu, false);
	offcpu_python__poll(offcpu, clock__now());
	pace(offcpu, clock__now());
	copy_sleepers(offcpu, clock__now());
}

void offcpu__closing(struct offcpu *offcpu)
{
	find_sleepers(offcpu);
	session__iterate(offcpu->session, ITERATE_SLEEPERS);
}

void offcpu__end(struct offcpu *offcpu)
{
	offcpu__note_processes(offcpu, true);
}
