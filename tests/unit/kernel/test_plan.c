// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The plan for each set of capabilities. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/test.h"
#include "user/kernel/plan.h"

#define ALL_VARIANTS (~0ull)

static const struct caps everything = {.btf = true,
				       .may_load = true,
				       .tracepoints = true,
				       .trampolines = true,
				       .kprobes = true,
				       .kernel_names = true,
				       .uring = true,
				       .variants = ALL_VARIANTS};

/* What a kernel has without the variants that hang on this function or tracepoint. */
static uint64_t without(uint64_t variants, const char *hook)
{
	size_t i;
	int j;

	for (i = 0; i < plan_variant_count; i++)
		for (j = 0; j < VARIANT_HOOKS && plan_variants[i].hooks[j].program; j++)
			if (!strcmp(plan_variants[i].hooks[j].name, hook))
				variants &= ~(1ull << i);
	return variants;
}

static struct plan plan_of(const struct caps *caps, enum way way)
{
	struct plan_request request = {.way = way};
	struct plan plan;

	plan__make(caps, &request, &plan);
	return plan;
}

static void fentry_is_first(void **state)
{
	struct plan plan = plan_of(&everything, WAY_AUTO);

	(void)state;
	assert_true(plan.possible);
	assert_int_equal(plan.way, WAY_FENTRY);
	assert_int_equal(plan.missing, 0);
	assert_true(plan__has_program(&plan, "fexit_send"));
	assert_true(plan__has_program(&plan, "fexit_decision"));
	assert_true(plan__has_program(&plan, "fentry_delack_fire"));
	assert_true(plan__has_program(&plan, "tp_switch"));
	assert_true(plan__has_program(&plan, "iter_tasks"));
	assert_false(plan__has_program(&plan, "tp_send"));
	assert_false(plan__has_program(&plan, "kprobe_send"));
}

static void kprobe_is_second(void **state)
{
	struct caps caps = everything;
	struct plan plan;

	(void)state;
	caps.trampolines = false;
	plan = plan_of(&caps, WAY_AUTO);
	assert_true(plan.possible);
	assert_int_equal(plan.way, WAY_KPROBE);
	assert_true(plan__has_program(&plan, "kprobe_send"));
	assert_true(plan__has_program(&plan, "kretprobe_send"));
	assert_false(plan__has_program(&plan, "fexit_send"));
}

static void tracepoints_are_last(void **state)
{
	struct caps caps = everything;
	struct plan plan;

	(void)state;
	caps.trampolines = caps.kprobes = false;
	plan = plan_of(&caps, WAY_AUTO);
	assert_true(plan.possible);
	assert_int_equal(plan.way, WAY_TRACEPOINT);
	assert_true(plan__has_program(&plan, "tp_send"));
	assert_true(plan__has_program(&plan, "tp_transmit"));
	assert_true(plan__has_program(&plan, "tp_delack_fire"));
	assert_true(plan.missing & 1u << NS_FACT_DECISION);
	assert_false(plan.missing & 1u << NS_FACT_SEND);
}

/* 5.10 and 6.1 have no sock_send_length. */
static void old_kernel_by_tracepoints_alone(void **state)
{
	struct caps caps = everything;
	struct plan plan;

	(void)state;
	caps.variants = without(ALL_VARIANTS, "sock_send_length");
	plan = plan_of(&caps, WAY_TRACEPOINT);
	assert_false(plan.possible);
	assert_non_null(strstr(plan.why_not, "sock_send_length"));
	assert_true(plan_of(&caps, WAY_FENTRY).possible);
	assert_true(plan_of(&caps, WAY_KPROBE).possible);
	assert_true(plan_of(&caps, WAY_AUTO).possible);
}

static void hidden_kernel_symbols_cost_names_alone(void **state)
{
	struct caps caps = everything;

	(void)state;
	assert_false(plan_of(&caps, WAY_AUTO).missing & 1u << NS_FACT_NAMES);
	caps.kernel_names = false;
	assert_true(plan_of(&caps, WAY_AUTO).possible);
	assert_true(plan_of(&caps, WAY_AUTO).missing & 1u << NS_FACT_NAMES);
}

static void paranoid_perf_is_told_from_kprobes_off(void **state)
{
	struct caps caps = everything;

	(void)state;
	caps.kprobes = false;
	assert_null(strstr(plan_of(&caps, WAY_KPROBE).why_not, "perf_event_paranoid"));
	caps.perf_paranoid = true;
	assert_non_null(strstr(plan_of(&caps, WAY_KPROBE).why_not, "perf_event_paranoid=2"));
}

static void forced_way_is_kept_or_refused(void **state)
{
	struct caps caps = everything;

	(void)state;
	assert_int_equal(plan_of(&caps, WAY_KPROBE).way, WAY_KPROBE);
	assert_true(plan_of(&caps, WAY_KPROBE).possible);
	caps.kprobes = false;
	assert_false(plan_of(&caps, WAY_KPROBE).possible);
	assert_non_null(strstr(plan_of(&caps, WAY_KPROBE).why_not, "kprobes"));
	caps.trampolines = false;
	assert_false(plan_of(&caps, WAY_FENTRY).possible);
	assert_non_null(strstr(plan_of(&caps, WAY_FENTRY).why_not, "fentry"));
}

/* A function that is not there costs that fact alone: another variant serves, or it is missing. */
static void absent_function_costs_one_fact(void **state)
{
	struct caps caps = everything;
	struct plan plan;

	(void)state;
	caps.variants = without(ALL_VARIANTS, "__tcp_transmit_skb");
	plan = plan_of(&caps, WAY_FENTRY);
	assert_true(plan.possible);
	assert_true(plan__has_program(&plan, "tp_transmit"));
	assert_int_equal(plan.missing, 0);

	caps.variants = without(ALL_VARIANTS, "tcp_write_xmit");
	plan = plan_of(&caps, WAY_AUTO);
	assert_true(plan.possible);
	assert_int_equal(plan.way, WAY_FENTRY);
	assert_int_equal(plan.missing, 1u << NS_FACT_DECISION);
}

static void absent_sender_moves_to_next_way(void **state)
{
	struct caps caps = everything;
	struct plan plan;

	(void)state;
	caps.variants = without(ALL_VARIANTS, "tcp_sendmsg_locked");
	plan = plan_of(&caps, WAY_AUTO);
	assert_true(plan.possible);
	assert_int_equal(plan.way, WAY_TRACEPOINT);
}

/* sendfile needs no hook of its own since Linux 6.5: then it is not missing either. */
static void sendpage_is_not_missed_where_it_is_gone(void **state)
{
	struct caps caps = everything;

	(void)state;
	caps.variants = without(ALL_VARIANTS, "do_tcp_sendpages");
	assert_int_equal(plan_of(&caps, WAY_FENTRY).missing, 0);
	assert_int_not_equal(plan_of(&everything, WAY_TRACEPOINT).missing & 1u << NS_FACT_SENDPAGE,
			     0);
}

/* What a kernel has whose hooks on that tracepoint take so many arguments. */
static uint64_t with_arguments(uint64_t variants, const char *hook, int arguments)
{
	size_t i;
	int j;

	for (i = 0; i < plan_variant_count; i++)
		for (j = 0; j < VARIANT_HOOKS && plan_variants[i].hooks[j].program; j++)
			if (!strcmp(plan_variants[i].hooks[j].name, hook) &&
			    plan_variants[i].hooks[j].exactly != arguments)
				variants &= ~(1ull << i);
	return variants;
}

static struct plan plan_of_uring(const char *submit, int submit_arguments, int done_arguments)
{
	struct caps caps = everything;

	caps.variants = without(caps.variants, strcmp(submit, "io_uring_submit_req")
						       ? "io_uring_submit_req"
						       : "io_uring_submit_sqe");
	caps.variants = with_arguments(caps.variants, submit, submit_arguments);
	caps.variants = with_arguments(caps.variants, "io_uring_complete", done_arguments);
	return plan_of(&caps, WAY_AUTO);
}

#define URING_FACTS (1u << NS_FACT_URING | 1u << NS_FACT_URING_COURSE)

/* Linux 5.10, 6.1, 6.12, 6.18: each has it otherwise. */
static void uring_is_taken_as_the_kernel_has_it(void **state)
{
	struct plan plan = plan_of_uring("io_uring_submit_sqe", 7, 4);

	(void)state;
	assert_true(plan__has_program(&plan, "tp_uring_submit_7"));
	assert_true(plan__has_program(&plan, "tp_uring_done_4"));
	assert_false(plan__has_program(&plan, "tp_uring_overflow"));
	plan = plan_of_uring("io_uring_submit_sqe", 2, 7);
	assert_true(plan__has_program(&plan, "tp_uring_submit_2"));
	assert_true(plan__has_program(&plan, "tp_uring_done_7"));
	assert_true(plan__has_program(&plan, "tp_uring_overflow"));
	plan = plan_of_uring("io_uring_submit_req", 1, 7);
	assert_true(plan__has_program(&plan, "tp_uring_submit"));
	assert_true(plan__has_program(&plan, "tp_uring_done_7"));
	plan = plan_of_uring("io_uring_submit_req", 1, 3);
	assert_true(plan__has_program(&plan, "tp_uring_done"));
	assert_false(plan__has_program(&plan, "tp_uring_done_7"));
	assert_true(plan__has_program(&plan, "each_ring"));
	assert_int_equal(plan.missing & URING_FACTS, 0);
}

/* One that hands over what nobody knows how to read: it is said, and nothing else suffers. */
static void strange_uring_is_missing(void **state)
{
	struct plan plan = plan_of_uring("io_uring_submit_sqe", 5, 3);

	(void)state;
	assert_true(plan.possible);
	assert_int_equal(plan.missing, 1u << NS_FACT_URING);
	assert_false(plan__has_program(&plan, "tp_uring_done"));
	assert_false(plan__has_program(&plan, "each_ring"));
}

static void kernel_without_uring_misses_nothing(void **state)
{
	static const char *const hooks[] = {"io_uring_complete", "io_uring_queue_async_work"};
	struct caps caps = everything;
	struct plan plan;
	size_t i;

	(void)state;
	caps.uring = false;
	for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		caps.variants = without(caps.variants, hooks[i]);
	plan = plan_of(&caps, WAY_AUTO);
	assert_int_equal(plan.missing, 0);
	assert_false(plan__has_program(&plan, "tp_uring_create"));
}

/* Each plan's programs have a place in it. */
static void all_programs_fit(void **state)
{
	struct plan_request request = {
		.way = WAY_KPROBE, .by_comm = true, .by_cgroup = true, .by_children = true};
	struct plan plan;

	(void)state;
	plan__make(&everything, &request, &plan);
	assert_in_range(plan.program_count, 1, PLAN_PROGRAMS - 1);
}

static void old_sched_switch_is_read_otherwise(void **state)
{
	struct caps caps = everything;
	struct plan plan;
	size_t i;

	(void)state;
	for (i = 0; i < plan_variant_count; i++)
		if (plan_variants[i].hooks[0].arguments)
			caps.variants &= ~(1ull << i);
	plan = plan_of(&caps, WAY_FENTRY);
	assert_true(plan__has_program(&plan, "tp_switch_3"));
	assert_false(plan__has_program(&plan, "tp_switch"));
	assert_true(plan__has_program(&plan, "tp_waking"));
}

static void reads_are_hooked_whatever_the_way(void **state)
{
	static const enum way ways[] = {WAY_FENTRY, WAY_KPROBE, WAY_TRACEPOINT};
	struct plan plan;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		plan = plan_of(&everything, ways[i]);
		assert_true(plan__has_program(&plan, "tp_read"));
		assert_true(plan__gives(&plan, NS_FACT_READ));
	}
}

static void comm_and_cgroup_bring_their_hooks(void **state)
{
	struct plan_request request = {.way = WAY_AUTO, .by_comm = true, .by_cgroup = true};
	struct plan plan;

	(void)state;
	plan__make(&everything, &request, &plan);
	assert_true(plan__has_program(&plan, "tp_exec"));
	assert_true(plan__has_program(&plan, "tp_rename"));
	assert_true(plan__has_program(&plan, "tp_cgroup_attach"));
}

static void plan_of_profile_is_possible(const struct caps *caps)
{
	const struct plan_request request = {
		.way = WAY_AUTO, .untraced = true, .profile = true, .unwind = true};
	struct plan plan;

	plan__make(caps, &request, &plan);
	assert_true(plan.possible);
	assert_true(plan__has_program(&plan, "tp_switch"));
	assert_false(plan__has_program(&plan, "iter_sleepers"));
}

/* What the profile alone does not need is not loaded, and beside a trace it has all of its own. */
static void the_profile_is_a_mode(void **state)
{
	static const char *const of_trace[] = {"fexit_send",      "fentry_receive", "tp_set_state",
					       "tp_uring_submit", "iter_files",     "each_conn",
					       "iter_waits"};
	static const char *const of_both[] = {"tp_switch", "tp_waking",  "tp_exec",
					      "tp_exit",   "iter_tasks", "iter_seed"};
	static const char *const of_profile[] = {"tp_segment_sent", "tp_softirq_entry",
						 "tp_segment_received", "iter_sleepers"};
	struct caps caps = everything;

	(void)state;
	caps.copies = true;
	for (int mode = 0; mode < 3; mode++) {
		const struct plan_request request = {.way = WAY_AUTO,
						     .untraced = mode == 1,
						     .profile = mode > 0,
						     .unwind = mode > 0};
		struct plan plan;

		plan__make(&caps, &request, &plan);
		assert_true(plan.possible);
		for (size_t i = 0; i < sizeof(of_trace) / sizeof(of_trace[0]); i++)
			assert_int_equal(plan__has_program(&plan, of_trace[i]), mode != 1);
		for (size_t i = 0; i < sizeof(of_both) / sizeof(of_both[0]); i++)
			assert_true(plan__has_program(&plan, of_both[i]));
		for (size_t i = 0; i < sizeof(of_profile) / sizeof(of_profile[0]); i++)
			assert_int_equal(plan__has_program(&plan, of_profile[i]), mode > 0);
	}
	/* Neither trampolines, kprobes nor what a trace cannot do without: it needs sched alone. */
	caps.trampolines = caps.kprobes = caps.copies = false;
	caps.variants = without(caps.variants, "sock_send_length");
	plan_of_profile_is_possible(&caps);
}

static void children_bring_their_hook(void **state)
{
	struct plan_request request = {.way = WAY_AUTO, .by_children = true};
	struct plan plan;

	(void)state;
	plan__make(&everything, &request, &plan);
	assert_true(plan__has_program(&plan, "tp_fork"));
	assert_false(plan__has_program(&plan, "tp_rename"));
	/* A traced program may wait for its children, whether they are targets or not. */
	request = (struct plan_request){.way = WAY_AUTO};
	plan__make(&everything, &request, &plan);
	assert_true(plan__has_program(&plan, "tp_fork"));
	request = (struct plan_request){.way = WAY_AUTO, .untraced = true, .profile = true};
	plan__make(&everything, &request, &plan);
	assert_false(plan__has_program(&plan, "tp_fork"));
	assert_true(plan__has_program(&plan, "tp_exit"));
}

static bool refuse(struct caps *caps, const char *program, enum ns_refused_step step, int err)
{
	struct ns_refused refused = {.step = step, .error = (uint32_t)err};

	strcpy(refused.program, program);
	return caps__refuse(caps, &refused);
}

static struct caps refusing(const char *program)
{
	struct caps caps = everything;

	assert_true(refuse(&caps, program, NS_REFUSED_LOAD, EPERM));
	return caps;
}

static void assert_why_not(const struct plan *plan, const char *wanted)
{
	char *why_not = plan__why_not(plan);

	assert_non_null(why_not);
	if (!strstr(why_not, wanted))
		fail_msg("not \"%s\" in: %s", wanted, why_not);
	free(why_not);
}

/* Whatever refuses, there is an end: each of its programs can be refused once. */
static void refusals_come_to_an_end(void **state)
{
	struct caps caps = everything;
	struct plan plan = plan_of(&caps, WAY_AUTO);
	size_t count = 0;

	(void)state;
	caps.preempted = true;
	while (plan.possible && refuse(&caps, plan.programs[count % plan.program_count],
				       NS_REFUSED_ATTACH, EINVAL)) {
		plan = plan_of(&caps, WAY_AUTO);
		assert_true(++count <= MOST_REFUSALS);
	}
	assert_true(count > 0);
}

static void refused_program_that_is_needed_is_named(void **state)
{
	struct caps caps = refusing("tp_exit");
	struct plan plan = plan_of(&caps, WAY_AUTO);

	(void)state;
	assert_false(plan.possible);
	assert_why_not(&plan, "the kernel refuses tp_exit: Operation not permitted");
	assert_why_not(&plan, "does not see when threads and processes end");
	assert_why_not(&plan, "netstall doctor");
	assert_false(refuse(&caps, "tp_exit", NS_REFUSED_ATTACH, EBUSY));

	caps = everything;
	refuse(&caps, "tp_exit", NS_REFUSED_ATTACH, EBUSY);
	plan = plan_of(&caps, WAY_AUTO);
	assert_why_not(&plan, "tp_exit does not attach: ");
	assert_why_not(&plan, "other tracers");

	/* What is not asked for is not missed. */
	caps = refusing("tp_rename");
	assert_true(plan_of(&caps, WAY_AUTO).possible);
	plan__make(&caps, &(struct plan_request){.way = WAY_AUTO, .by_comm = true}, &plan);
	assert_why_not(&plan, "who takes that name later");
}

static void refused_program_costs_one_fact(void **state)
{
	struct caps caps = refusing("tp_retrans");
	struct plan plan;

	(void)state;
	assert_int_equal(plan_of(&caps, WAY_AUTO).missing, 0);
	assert_true(refuse(&caps, "tp_retrans_3", NS_REFUSED_LOAD, EPERM));
	plan = plan_of(&caps, WAY_AUTO);
	assert_true(plan.possible);
	assert_int_equal(plan.missing, 1u << NS_FACT_RETRANS);
	assert_string_equal(caps__refusal_of(&caps, NS_FACT_RETRANS)->program, "tp_retrans_3");
	assert_null(caps__refusal_of(&caps, NS_FACT_READ));

	/* Where children are targets it is more than a fact. */
	caps = refusing("tp_fork");
	plan = plan_of(&caps, WAY_AUTO);
	assert_int_equal(plan.missing, 1u << NS_FACT_CHILDREN);
	assert_false(plan__has_program(&plan, "tp_fork"));
	plan__make(&caps, &(struct plan_request){.way = WAY_AUTO, .by_children = true}, &plan);
	assert_false(plan.possible);
	assert_why_not(&plan, "who is a child of the target");
}

static void assert_optional(const char *program, enum ns_fact fact)
{
	const struct plan_request request = {.way = WAY_AUTO, .profile = true, .unwind = true};
	struct caps caps = refusing(program);
	struct plan plan;

	caps.copies = caps.clocks = true;
	plan__make(&caps, &request, &plan);
	assert_true(plan.possible);
	assert_false(plan__has_program(&plan, program));
	assert_int_equal(plan.missing, 1u << fact);
}

/* Those that netstall runs itself, too. */
static void all_but_the_needed_is_optional(void **state)
{
	(void)state;
	assert_optional("pe_busy", NS_FACT_BUSY);
	assert_optional("iter_seed", NS_FACT_EARLY_SLEEPS);
	assert_optional("iter_waits", NS_FACT_OPEN_WAITS);
	assert_optional("iter_sleepers", NS_FACT_SLEEPING_STACKS);
	assert_optional("each_ring", NS_FACT_URING);
	assert_optional("tp_uring_wait", NS_FACT_URING_COURSE);
	assert_optional("tp_read", NS_FACT_READ);
}

/* In any way, one whose fact no stall can be found without; of the ways the nearest is named. */
static void refused_essential_fact_moves_to_the_next_way(void **state)
{
	struct caps caps = refusing("fexit_send");
	struct plan plan = plan_of(&caps, WAY_AUTO);

	(void)state;
	assert_int_equal(plan.way, WAY_KPROBE);
	assert_true(refuse(&caps, "kretprobe_send", NS_REFUSED_LOAD, EPERM));
	assert_int_equal(plan_of(&caps, WAY_AUTO).way, WAY_TRACEPOINT);
	assert_true(refuse(&caps, "tp_send", NS_REFUSED_LOAD, EPERM));
	plan = plan_of(&caps, WAY_AUTO);
	assert_false(plan.possible);
	assert_why_not(&plan, "the application's writes");
}

static void refused_table_is_named_with_its_own_error(void **state)
{
	struct ns_refused table = {.step = NS_REFUSED_TABLE, .error = EPERM, .table = "queued"};
	struct ns_refused needs = {
		.step = NS_REFUSED_TABLE, .error = EINVAL, .table = "queued", .program = "tp_exit"};
	struct caps caps = everything;
	struct plan plan;

	(void)state;
	assert_false(caps__refuses_table(&caps, "queued"));
	assert_true(caps__refuse(&caps, &table));
	assert_false(caps__refuse(&caps, &table));
	assert_true(caps__refuses_table(&caps, "queued"));
	assert_true(plan_of(&caps, WAY_AUTO).possible);
	assert_true(caps__refuse(&caps, &needs));
	plan = plan_of(&caps, WAY_AUTO);
	assert_why_not(&plan, "refuses the table queued, which tp_exit needs: Operation not");
}

static void spares_are_optional(void **state)
{
	struct caps caps = everything;

	(void)state;
	caps.preempted = true;
	assert_true(refuse(&caps, "fexit_send_spare", NS_REFUSED_ATTACH, EINVAL));
	assert_false(caps.preempted);
	assert_int_equal(caps.variants, everything.variants);
	assert_false(refuse(&caps, "fexit_send_spare", NS_REFUSED_ATTACH, EINVAL));
}

static void refusals_name_their_remedy(void **state)
{
	struct caps caps = everything;

	(void)state;
	caps.btf = false;
	assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "CONFIG_DEBUG_INFO_BTF"));
	caps = everything;
	caps.may_load = false;
	assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "CAP_BPF"));
	caps = everything;
	caps.lockdown = true;
	assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "lockdown=integrity"));
	caps = everything;
	caps.tracepoints = false;
	assert_false(plan_of(&caps, WAY_AUTO).possible);
	assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "CONFIG_BPF_SYSCALL"));
}

static struct caps refused_with(int err)
{
	struct caps caps = everything;

	caps.tracepoints = false;
	caps.refused = err;
	return caps;
}

/* Each names what the user can change, and not the kernel for what is none of its faults. */
static void refusals_tell_who_refuses(void **state)
{
	static const struct {
		int err;
		const char *remedy;
	} refusals[] = {{EMFILE, "ulimit -n"},
			{ENFILE, "ulimit -n"},
			{EPERM, "seccomp"},
			{EACCES, "security policy"},
			{ENOMEM, "ulimit -l"}};
	struct caps caps;

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		caps = refused_with(refusals[i].err);
		assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, refusals[i].remedy));
		assert_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "CONFIG_"));
	}
	/* Without a file to open not even the kernel's types can be read. */
	caps = refused_with(EMFILE);
	caps.btf = false;
	assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "ulimit -n"));
}

static void capabilities_of_a_user_namespace_are_none(void **state)
{
	struct caps caps = refused_with(EPERM);

	(void)state;
	caps.userns = true;
	assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "user namespace"));
	caps.may_load = false;
	assert_non_null(strstr(plan_of(&caps, WAY_AUTO).why_not, "user namespace"));
	caps = everything;
	caps.userns = true; /* where the kernel takes the programs all the same */
	assert_true(plan_of(&caps, WAY_AUTO).possible);
}

static void bad_btf_file_is_named(void **state)
{
	struct caps caps = everything;

	(void)state;
	strcpy(caps.bad_btf, "-C btf=FILE: no types in it");
	assert_false(plan_of(&caps, WAY_AUTO).possible);
	assert_string_equal(plan_of(&caps, WAY_AUTO).why_not, caps.bad_btf);
}

static void ways_have_names(void **state)
{
	int way;

	(void)state;
	for (way = 0; way < WAY_COUNT; way++)
		assert_int_equal(way__find(way__name(way)), way);
	assert_int_equal(way__find("magic"), WAY_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fentry_is_first),
		cmocka_unit_test(kprobe_is_second),
		cmocka_unit_test(tracepoints_are_last),
		cmocka_unit_test(old_kernel_by_tracepoints_alone),
		cmocka_unit_test(hidden_kernel_symbols_cost_names_alone),
		cmocka_unit_test(paranoid_perf_is_told_from_kprobes_off),
		cmocka_unit_test(forced_way_is_kept_or_refused),
		cmocka_unit_test(absent_function_costs_one_fact),
		cmocka_unit_test(absent_sender_moves_to_next_way),
		cmocka_unit_test(sendpage_is_not_missed_where_it_is_gone),
		cmocka_unit_test(uring_is_taken_as_the_kernel_has_it),
		cmocka_unit_test(strange_uring_is_missing),
		cmocka_unit_test(kernel_without_uring_misses_nothing),
		cmocka_unit_test(all_programs_fit),
		cmocka_unit_test(old_sched_switch_is_read_otherwise),
		cmocka_unit_test(reads_are_hooked_whatever_the_way),
		cmocka_unit_test(comm_and_cgroup_bring_their_hooks),
		cmocka_unit_test(children_bring_their_hook),
		cmocka_unit_test(refusals_come_to_an_end),
		cmocka_unit_test(refused_program_that_is_needed_is_named),
		cmocka_unit_test(refused_program_costs_one_fact),
		cmocka_unit_test(all_but_the_needed_is_optional),
		cmocka_unit_test(refused_essential_fact_moves_to_the_next_way),
		cmocka_unit_test(refused_table_is_named_with_its_own_error),
		cmocka_unit_test(spares_are_optional),
		cmocka_unit_test(refusals_name_their_remedy),
		cmocka_unit_test(refusals_tell_who_refuses),
		cmocka_unit_test(capabilities_of_a_user_namespace_are_none),
		cmocka_unit_test(bad_btf_file_is_named),
		cmocka_unit_test(ways_have_names),
		cmocka_unit_test(the_profile_is_a_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
