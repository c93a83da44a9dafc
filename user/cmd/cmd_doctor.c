// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall doctor: what this machine allows, what is missing, and the remedy. */
#include <stdio.h>
#include <stdlib.h>
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
#include "user/kernel/socket_option.h"
#include "user/record/facts.h"
#include "user/source/session.h"

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

const struct command_options cmd_doctor_options = {
	.command = COMMAND_DOCTOR,
	.examples = {{"netstall doctor", "what this kernel allows, and what to do about the rest"},
		     {"sudo netstall doctor --self-test",
		      "makes a known stall, and looks whether it is found"}},
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
	struct plan_request request = {.way = way};
	struct plan plan;

	plan__make(caps, &request, &plan);
	if (!plan.possible) {
		char *why_not = plan__why_not(&plan);

		printf("  %-12s no   %s\n", way__name(way), why_not);
		free(why_not);
		return;
	}
	printf("  %-12s yes  %s%s\n", way__name(way), plan.missing ? "" : "sees everything",
	       way == chosen ? (plan.missing ? "used" : "; used") : "");
	if (plan.missing)
		printf("               not visible:\n");
	for (int fact = 0; fact < NS_FACT_COUNT; fact++)
		if (plan.missing & 1u << fact)
			printf("                 %-15s %s\n", fact__row(fact)->id,
			       fact__row(fact)->loss);
}

static void print_ways(const struct caps *caps, enum way chosen)
{
	int way;

	printf("\nWays to attach:\n");
	for (way = 0; way < WAY_COUNT; way++)
		print_way(caps, way, chosen);
}

/* ---- what the commands can do: they are tried ---- */

struct trial {
	const char *what;
	bool profile;             /* `offwake` alone */
	struct plan_request more; /* than the plainest target asks for */
};

/* What has no name is tried first, as it needs all that the others do. */
static const struct trial trials[] = {
	{NULL, false, {.by_children = true, .by_comm = true, .by_cgroup = true}},
	{"trace, check, record", false, {0}},
	{"  of --children", false, {.by_children = true}},
	{"  of --comm NAME", false, {.by_comm = true}},
	{"  of -c CGROUP", false, {.by_cgroup = true}},
	{"offwake", true, {0}},
};

#define TRIALS (sizeof(trials) / sizeof(trials[0]))

/* All programs of the one are in the other. */
static bool is_part_of(const struct plan *plan, const struct plan *other)
{
	for (size_t i = 0; i < plan->program_count; i++)
		if (!plan__has_program(other, plan->programs[i]))
			return false;
	return plan->possible && other->possible && plan->way == other->way;
}

/* NULL: it works. */
static char *try_one(const struct session_options *options, const struct trial *trial,
		     const struct plan *works, struct caps *caps, struct plan *plan)
{
	const struct target target = {.pid_count = 1, .pids = {getpid()}};
	struct session_options session = *options;
	struct plan_request request = trial->more;

	session.untraced = trial->profile;
	session.offcpu = trial->profile ? &offcpu_default : NULL;
	request.way = session.way;
	if (!trial->profile) {
		plan__make(caps, &request, plan);
		if (is_part_of(plan, works))
			return NULL;
		if (!plan->possible)
			return plan__why_not(plan);
	}
	return session__try(&session, &target, &trial->more, caps, plan);
}

/* " without cpu-places (pe_busy does not attach: Permission denied)" */
static void print_without(const struct caps *caps, const struct plan *plan)
{
	bool first = true;

	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		const struct ns_refused *refusal = caps__refusal_of(caps, fact);
		char *why;

		if (!refusal || !(plan->missing >> fact & 1))
			continue;
		why = fact__refusal_text(refusal);
		printf("%s %s (%s)", first ? " without" : ",", fact__row(fact)->words, why);
		first = false;
		free(why);
	}
}

static void print_trial(const char *what, const struct caps *caps, const struct plan *plan,
			const char *why_not)
{
	printf("  %-22s %s", what, why_not ? "not possible: " : "possible");
	if (why_not)
		printf("%s", why_not);
	else
		print_without(caps, plan);
	printf("\n");
}

/* A part of `trace` that is worth a row of its own. */
static void print_uring(const struct caps *caps, const struct plan *trace)
{
	const struct ns_refused *refusal = caps__refusal_of(caps, NS_FACT_URING);
	bool missing = !trace->possible || trace->missing >> NS_FACT_URING & 1;
	char *why = missing && refusal ? fact__refusal_text(refusal) : NULL;

	if (!caps->uring)
		printf("  %-22s not possible: this kernel has none\n", "io_uring operations");
	else if (missing)
		printf("  %-22s not possible%s%s\n", "io_uring operations", why ? ": " : "",
		       why ? why : "");
	else
		printf("  %-22s possible\n", "io_uring operations");
	free(why);
}

static void print_prove(void)
{
	char *why_not = socket_option__why_not(&socket_option__nodelay);

	printf("  %-22s %s%s\n", "prove", why_not ? "not possible: " : "possible",
	       why_not ? why_not : "");
	free(why_not);
}

/* Fills plan with that of `trace`; NULL, or why that is not possible, the caller's. */
static char *print_trials(const struct session_options *options, struct caps *caps,
			  struct plan *plan)
{
	struct plan plans[TRIALS], works = {0};
	char *why_not[TRIALS];

	for (size_t i = 0; i < TRIALS; i++) {
		why_not[i] = try_one(options, &trials[i], &works, caps, &plans[i]);
		if (!why_not[i] && !trials[i].profile && !works.possible)
			works = plans[i];
	}
	printf("\nWhat the commands can do here, as tried:\n");
	for (size_t i = 1; i < TRIALS; i++)
		print_trial(trials[i].what, caps, &plans[i], why_not[i]);
	print_uring(caps, &plans[1]);
	print_prove();
	*plan = plans[1];
	for (size_t i = 0; i < TRIALS; i++)
		if (i != 1)
			free(why_not[i]);
	return why_not[1];
}

static void print_remedy(const char *why_not)
{
	char lacking[128];

	printf("\nTracing is not possible: %s.\n", why_not);
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
	const struct session_options *session;
	struct plan_request request = {0};
	struct doctor doctor = {0};
	struct caps caps;
	struct plan plan;
	char *why_not;

	options__init(&doctor.common);
	options__parse(&cmd_doctor_options, argc, argv, &doctor);
	session = &doctor.common.session;
	caps__free_btf(caps__probe(&caps, session->btf_path));
	print_kernel(&caps);
	request.way = session->way;
	plan__make(&caps, &request, &plan);
	if (plan.possible) {
		fflush(stdout);
		why_not = print_trials(session, &caps, &plan);
	} else {
		why_not = plan__why_not(&plan);
	}
	if (!caps__refusal(&caps))
		print_ways(&caps, why_not ? WAY_COUNT : plan.way);
	if (why_not) {
		print_remedy(why_not);
		free(why_not);
		return EXIT_UNABLE;
	}
	printf("\nTracing is possible: netstall uses %s.\n", way__name(plan.way));
	fflush(stdout);
	return doctor.self_test ? self_test(session) : EXIT_OK;
}
