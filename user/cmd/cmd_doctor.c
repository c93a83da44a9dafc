// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall doctor: what this machine allows, what is missing, and the remedy. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/commands.h"
#include "user/cmd/live.h"
#include "user/cmd/options.h"
#include "user/demo/workload.h"
#include "user/kernel/caps.h"
#include "user/kernel/plan.h"
#include "user/record/facts.h"

#define SELF_TEST_EXCHANGES 40

struct doctor {
	struct options common;
	bool self_test;
};

static void refuse_word(char *word, void *options, const struct argp_state *state)
{
	(void)options;
	usage_error(state, "doctor takes no argument, not '%s'", word);
}

static const struct option_row rows[] = {
	{0, "self-test", NULL, "Make a known stall and check the verdict", option__flag,
	 INTO(struct doctor, self_test)},
	{0},
};

static const struct command_options command = {
	.command = COMMAND_DOCTOR,
	.help = "Show what netstall can do on this machine, what it cannot see, and what to do about it.\v"
		"Exit status: 0 tracing is possible, 2 it is not, 64 wrong usage.",
	.rows = rows,
	.word = refuse_word,
};

static void line(const char *what, const char *state, const char *more)
{
	printf("  %-22s %-8s%s%s\n", what, state, *more ? "  " : "", more);
}

static void print_kernel(const struct caps *caps)
{
	const char *lockdown = caps__lockdown();
	char lacking[128];
	struct utsname uts;

	if (!uname(&uts))
		printf("netstall %s, Linux %s on %s\n\n", NETSTALL_VERSION, uts.release,
		       uts.machine);
	line("kernel types (BTF)", caps->btf ? "yes" : "no", "/sys/kernel/btf/vmlinux");
	caps__lacking(lacking, sizeof(lacking));
	line("privileges", *lacking ? "missing" : "yes",
	     *lacking       ? lacking
	     : caps->userns ? "of a user namespace alone: not to BPF"
			    : "");
	line("lockdown", lockdown, caps->lockdown ? "forbids reading kernel memory" : "");
	/* One reason refuses all that hangs on it. */
	if (caps__refusal(caps)) {
		line("attach", caps->may_load ? "refused" : "unknown",
		     caps->may_load ? "" : "cannot be tried without the privileges");
		return;
	}
	line("BTF tracepoints", "attach", "");
	line("fentry, fexit", caps->trampolines ? "attach" : "refused",
	     caps->trampolines ? "" : "trampolines are off or forbidden by the security policy");
	line("kprobes", caps->kprobes ? "attach" : "refused",
	     caps->kprobes         ? ""
	     : caps->perf_paranoid ? "kernel.perf_event_paranoid is above 2: only root gets them"
				   : "CONFIG_KPROBES is off, or the security policy forbids them");
	line("CPU clocks", caps->clocks ? "attach" : "refused",
	     caps->clocks ? ""
			  : "where a thread computes is not seen: perf events are off or refused");
	line("kernel symbols", caps->kernel_names ? "yes" : "hidden",
	     caps->kernel_names ? "" : "CAP_SYSLOG shows them");
	line("call sites", caps__may_look_inside() ? "yes" : "own",
	     caps__may_look_inside() ? ""
				     : "CAP_SYS_PTRACE names those of other users' programs too");
}

static void print_way(const struct caps *caps, enum way way, enum way chosen)
{
	struct plan_request request = {.way = way, .verbose = true};
	struct plan plan;

	plan__make(caps, &request, &plan);
	if (!plan.possible) {
		printf("  %-12s no   %s\n", way__name(way), plan.why_not);
		return;
	}
	printf("  %-12s yes  %s%s\n", way__name(way), plan.missing ? "" : "sees everything",
	       way == chosen ? (plan.missing ? "used" : "; used") : "");
	if (plan.missing)
		printf("               not visible:\n");
	for (int fact = 0; fact < NS_FACT_COUNT; fact++)
		if (plan.missing & 1u << fact)
			printf("                 %-14s %s\n", fact__row(fact)->id,
			       fact__row(fact)->loss);
}

static void print_ways(const struct caps *caps, enum way chosen)
{
	int way;

	printf("\nWays to attach:\n");
	for (way = 0; way < WAY_COUNT; way++)
		print_way(caps, way, chosen);
}

static void print_remedy(const struct plan *plan)
{
	char lacking[128];

	printf("\nTracing is not possible: %s.\n", plan->why_not);
	caps__lacking(lacking, sizeof(lacking));
	if (*lacking)
		printf("Without root, netstall needs these capabilities:\n"
		       "  sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep $(command -v netstall)\n"
		       "cap_bpf and cap_perfmon are for tracing, cap_sys_ptrace for call sites, cap_syslog to "
		       "distinguish\nipc, lock, disk and timer. Before Linux 5.11 netstall also needs "
		       "cap_sys_resource, or ulimit -l unlimited.\n");
}

/* ---- --self-test ---- */

static void open_gate(void *workload)
{
	workload__open_gate(workload);
}

static bool verdict_is_right(const struct report *report, const struct workload *workload)
{
	const struct report_cause *cause = report__cause(report, CAUSE_NAGLE_DELACK);
	struct workload_summary truth;
	uint32_t found = cause ? cause->count : 0;

	workload__summarize(workload__result(workload), &truth);
	printf("\nSelf-test: %llu of %llu exchanges stalled by nagle-delack; netstall found %u, and "
	       "%zu other causes.\n",
	       (unsigned long long)truth.stalls, (unsigned long long)truth.exchanges, found,
	       report->cause_count - (cause ? 1 : 0));
	/* Stalls by the workload's clock may have other reasons on a busy machine, but not fewer.
	 */
	return truth.stalls >= SELF_TEST_EXCHANGES / 2 && found + 1 >= truth.stalls &&
	       found <= truth.exchanges && cause && report__leading(report) == cause;
}

static int trace_workload(const struct session_options *session, struct workload *workload)
{
	struct target target = {.pid_count = 1, .pids = {workload__client_pid(workload)}};
	struct live_options live = {.session = *session,
				    .target = &target,
				    .seconds = 30,
				    .silent = true,
				    .started = open_gate,
				    .context = workload};
	struct live *done;
	bool right;

	if (live__run(&live, &done))
		return EXIT_UNABLE;
	workload__stop(workload);
	workload__wait(workload);
	right = verdict_is_right(live__report(done), workload);
	printf("%s\n", right ? "Self-test passed: the verdict is right."
			     : "Self-test FAILED: the verdict is wrong.");
	live__free(done);
	return right ? EXIT_OK : EXIT_UNABLE;
}

static int self_test(const struct session_options *session)
{
	struct workload_options options;
	struct workload *workload;
	int status = EXIT_UNABLE;

	workload_options__init(&options, WORKLOAD_SPLIT);
	options.exchanges = SELF_TEST_EXCHANGES;
	workload = workload__new(&options);
	if (!workload || workload__start(workload))
		log__error("cannot start the workload: %s",
			   workload ? workload__error(workload) : "no memory");
	else
		status = trace_workload(session, workload);
	workload__free(workload);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct plan_request request = {0};
	struct doctor doctor = {0};
	struct caps caps;
	struct plan plan;

	options__init(&doctor.common);
	options__parse(&command, argc, argv, &doctor);
	caps__free_btf(caps__probe(&caps, doctor.common.session.btf_path));
	request.way = doctor.common.session.way;
	plan__make(&caps, &request, &plan);
	print_kernel(&caps);
	if (!caps__refusal(&caps))
		print_ways(&caps, plan.possible ? plan.way : WAY_COUNT);
	if (!plan.possible) {
		print_remedy(&plan);
		return EXIT_UNABLE;
	}
	printf("\nTracing is possible: netstall uses %s.\n", way__name(plan.way));
	fflush(stdout);
	return doctor.self_test ? self_test(&doctor.common.session) : EXIT_OK;
}
