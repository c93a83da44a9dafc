// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/record/facts.h"

#define FENTRY     (1u << WAY_FENTRY)
#define KPROBE     (1u << WAY_KPROBE)
#define TRACEPOINT (1u << WAY_TRACEPOINT)
#define ANY_WAY    (FENTRY | KPROBE | TRACEPOINT)

#define TP(program, name)                                                                          \
	{                                                                                          \
		program, HOOK_TRACEPOINT, name, 0, 0                                               \
	}
#define TP_OF(program, name, exactly)                                                              \
	{                                                                                          \
		program, HOOK_TRACEPOINT, name, 0, exactly                                         \
	}
/* Run by netstall itself. */
#define RUN(program, name)                                                                         \
	{                                                                                          \
		program, HOOK_RUN, name, 0, 0                                                      \
	}
#define FN(program, name)                                                                          \
	{                                                                                          \
		program, HOOK_FUNCTION, name, 0, 0                                                 \
	}

/* Beside what differs: all that Linux 6.1 and later have. */
#define URING_ALWAYS                                                                               \
	TP_OF("tp_uring_create", "io_uring_create", 5),                                            \
		TP("tp_uring_register", "io_uring_register"),                                      \
		TP_OF("tp_uring_failed", "io_uring_req_failed", 3),                                \
		TP_OF("tp_uring_overflow", "io_uring_cqe_overflow", 5), URING_TABLES

/* What is in the tables of rings and operations, for the reader. */
#define URING_TABLES                                                                               \
	RUN("each_ring", "raw_tp"), RUN("each_op", "raw_tp"), RUN("each_ring_files", "raw_tp")

/* Of one fact the earlier variant is preferred. */
const struct variant plan_variants[] = {
	{NS_FACT_SEND, FENTRY, {FN("fexit_send", "tcp_sendmsg_locked")}},
	{NS_FACT_SEND,
	 KPROBE,
	 {FN("kprobe_send", "tcp_sendmsg_locked"), FN("kretprobe_send", "tcp_sendmsg_locked")}},
	{NS_FACT_SEND, TRACEPOINT, {TP("tp_send", "sock_send_length")}}, /* 6.3 */

	/* Before 6.5. */
	{NS_FACT_SENDPAGE, FENTRY, {FN("fexit_sendpage", "do_tcp_sendpages")}},
	{NS_FACT_SENDPAGE,
	 KPROBE,
	 {FN("kprobe_sendpage", "do_tcp_sendpages"), FN("kretprobe_sendpage", "do_tcp_sendpages")}},

	{NS_FACT_DECISION, FENTRY, {FN("fexit_decision", "tcp_write_xmit")}},
	{NS_FACT_DECISION, KPROBE, {FN("kprobe_decision", "tcp_write_xmit")}},

	{NS_FACT_TRANSMIT, FENTRY, {FN("fentry_transmit", "__tcp_transmit_skb")}},
	{NS_FACT_TRANSMIT, KPROBE, {FN("kprobe_transmit", "__tcp_transmit_skb")}},
	{NS_FACT_TRANSMIT, ANY_WAY, {TP("tp_transmit", "net_dev_queue")}},

	{NS_FACT_RECEIVE, FENTRY, {FN("fentry_receive", "tcp_rcv_established")}},
	{NS_FACT_RECEIVE, KPROBE, {FN("kprobe_receive", "tcp_rcv_established")}},
	{NS_FACT_RECEIVE, ANY_WAY, {TP("tp_receive", "tcp_probe")}},

	{NS_FACT_DELACK_ARM, ANY_WAY, {TP("tp_delack_arm", "timer_start")}},

	{NS_FACT_DELACK_FIRE, FENTRY, {FN("fentry_delack_fire", "tcp_delack_timer_handler")}},
	{NS_FACT_DELACK_FIRE, KPROBE, {FN("kprobe_delack_fire", "tcp_delack_timer_handler")}},
	{NS_FACT_DELACK_FIRE, ANY_WAY, {TP("tp_delack_fire", "timer_expire_entry")}},

	/* With the state since fa2c3254d7cf (5.18). */
	{NS_FACT_SCHED,
	 ANY_WAY,
	 {{"tp_switch", HOOK_TRACEPOINT, "sched_switch", 4, 0}, TP("tp_waking", "sched_waking")}},
	{NS_FACT_SCHED,
	 ANY_WAY,
	 {TP("tp_switch_3", "sched_switch"), TP("tp_waking", "sched_waking")}},

	{NS_FACT_LIFE,
	 ANY_WAY,
	 {TP("tp_set_state", "inet_sock_set_state"), TP("tp_destroy", "tcp_destroy_sock")}},

	/* With an error since 6.18. */
	{NS_FACT_RETRANS, ANY_WAY, {{"tp_retrans_3", HOOK_TRACEPOINT, "tcp_retransmit_skb", 3, 0}}},
	{NS_FACT_RETRANS, ANY_WAY, {TP("tp_retrans", "tcp_retransmit_skb")}},

	{NS_FACT_READ, ANY_WAY, {TP("tp_read", "tcp_rcv_space_adjust")}},

	{NS_FACT_DATAGRAM,
	 FENTRY,
	 {FN("fentry_udp_send", "udp_sendmsg"), FN("fentry_udp6_send", "udpv6_sendmsg"),
	  FN("fentry_udp_read", "skb_consume_udp")}},
	{NS_FACT_DATAGRAM,
	 KPROBE,
	 {FN("kprobe_udp_send", "udp_sendmsg"), FN("kprobe_udp6_send", "udpv6_sendmsg"),
	  FN("kprobe_udp_read", "skb_consume_udp")}},
	{NS_FACT_DATAGRAM,
	 TRACEPOINT,
	 {TP("tp_send", "sock_send_length"), TP("tp_udp_read", "sock_recv_length")}}, /* 6.3 */

	{NS_FACT_CHILDREN, ANY_WAY, {TP("tp_fork", "sched_process_fork")}},

	/* 7.x, 6.12, 6.1, and 5.10, by the kernels that were looked at. */
	{NS_FACT_URING,
	 ANY_WAY,
	 {TP_OF("tp_uring_submit", "io_uring_submit_req", 1),
	  TP_OF("tp_uring_done", "io_uring_complete", 3), URING_ALWAYS}},
	{NS_FACT_URING,
	 ANY_WAY,
	 {TP_OF("tp_uring_submit", "io_uring_submit_req", 1),
	  TP_OF("tp_uring_done_7", "io_uring_complete", 7), URING_ALWAYS}},
	{NS_FACT_URING,
	 ANY_WAY,
	 {TP_OF("tp_uring_submit_2", "io_uring_submit_sqe", 2),
	  TP_OF("tp_uring_done_7", "io_uring_complete", 7), URING_ALWAYS}},
	{NS_FACT_URING,
	 ANY_WAY,
	 {TP_OF("tp_uring_submit_7", "io_uring_submit_sqe", 7),
	  TP_OF("tp_uring_done_4", "io_uring_complete", 4),
	  TP_OF("tp_uring_create", "io_uring_create", 5),
	  TP("tp_uring_register", "io_uring_register"), URING_TABLES}},

	{NS_FACT_URING_COURSE,
	 ANY_WAY,
	 {TP_OF("tp_uring_queue", "io_uring_queue_async_work", 2),
	  TP_OF("tp_uring_arm", "io_uring_poll_arm", 3),
	  TP_OF("tp_uring_ready", "io_uring_task_add", 2),
	  TP_OF("tp_uring_wait", "io_uring_cqring_wait", 2)}},
	{NS_FACT_URING_COURSE,
	 ANY_WAY,
	 {TP_OF("tp_uring_queue_5", "io_uring_queue_async_work", 5),
	  TP_OF("tp_uring_arm_6", "io_uring_poll_arm", 6),
	  TP_OF("tp_uring_ready_4", "io_uring_task_add", 4),
	  TP_OF("tp_uring_wait", "io_uring_cqring_wait", 2)}},

	{NS_FACT_EARLY_SLEEPS, ANY_WAY, {RUN("iter_seed", "iter/task")}},
	{NS_FACT_OPEN_WAITS, ANY_WAY, {RUN("iter_waits", "iter/task")}},
	{NS_FACT_BUSY, ANY_WAY, {{"pe_busy", HOOK_CLOCK, "perf_event", 0, 0}}},
	{NS_FACT_SLEEPING_STACKS, ANY_WAY, {RUN("iter_sleepers", "iter.s/task")}},
};

const size_t plan_variant_count = sizeof(plan_variants) / sizeof(plan_variants[0]);

_Static_assert(sizeof(plan_variants) / sizeof(plan_variants[0]) <= 64, "variants fit their bits");

static const char *const ways[WAY_COUNT] = {
	[WAY_FENTRY] = "fentry",
	[WAY_KPROBE] = "kprobe",
	[WAY_TRACEPOINT] = "tracepoint",
};

const char *way__name(enum way way)
{
	return way < WAY_COUNT ? ways[way] : "auto";
}

enum way way__find(const char *name)
{
	int way;

	for (way = 0; way < WAY_COUNT; way++)
		if (!strcmp(ways[way], name))
			return way;
	return WAY_COUNT;
}

bool plan__has_program(const struct plan *plan, const char *program)
{
	size_t i;

	for (i = 0; i < plan->program_count; i++)
		if (!strcmp(plan->programs[i], program))
			return true;
	return false;
}

static void add_program(struct plan *plan, const char *program)
{
	if (plan->program_count < PLAN_PROGRAMS && !plan__has_program(plan, program))
		plan->programs[plan->program_count++] = program;
}

/* The first of these variants that gives the fact in one of the ways, NULL none. */
static const struct variant *choose_variant(uint64_t variants, unsigned allowed, enum ns_fact fact)
{
	for (size_t i = 0; i < plan_variant_count; i++)
		if (plan_variants[i].fact == fact && plan_variants[i].ways & allowed &&
		    variants & 1ull << i)
			return &plan_variants[i];
	return NULL;
}

bool plan__gives(const struct plan *plan, enum ns_fact fact)
{
	return choose_variant(plan->variants, ANY_WAY, fact);
}

/* When a program is wanted that is in no variant of a fact. */
enum when {
	ALWAYS,
	FOR_TRACE,
	FOR_PROFILE,
	FOR_CHILDREN,
	FOR_COMM,
	FOR_CGROUP,
};

/* All programs but those of the facts, and the spares. None of them is optional. */
static const struct {
	const char *program;
	enum when when;
	const char *shows; /* "without it netstall does not see ..." */
} common[] = {
	{"iter_tasks", ALWAYS, "which tasks there are"},
	{"iter_files", FOR_TRACE, "which connections are open already"},
	{"each_conn", FOR_TRACE, "what a connection did in all"},
	{"tp_exit", ALWAYS, "when threads and processes end"},
	{"tp_fork", FOR_CHILDREN, "who is a child of the target"},
	{"tp_exec", ALWAYS, "which program a process becomes later"},
	{"tp_rename", FOR_COMM, "who takes that name later"},
	{"tp_cgroup_attach", FOR_CGROUP, "who joins the cgroup later"},
	{"tp_softirq_entry", FOR_PROFILE, "which segments a timer sends"},
	{"tp_softirq_exit", FOR_PROFILE, "which segments a timer sends"},
	{"tp_segment_sent", FOR_PROFILE, "which segments a timer sends"},
	{"tp_segment_received", FOR_PROFILE, "whom a segment wakes"},
};

#define COMMON (sizeof(common) / sizeof(common[0]))

static bool is_wanted(const struct plan_request *request, enum when when)
{
	switch (when) {
	case FOR_CHILDREN:
		return request->by_children || request->by_comm;
	case FOR_TRACE:
		return !request->untraced;
	case FOR_PROFILE:
		return request->profile;
	case FOR_COMM:
		return request->by_comm;
	case FOR_CGROUP:
		return request->by_cgroup;
	default:
		return true;
	}
}

static const struct ns_refused *find_refusal(const struct caps *caps, const char *program)
{
	for (size_t i = 0; i < caps->refusal_count; i++)
		if (!strcmp(caps->refusals[i].program, program))
			return &caps->refusals[i];
	return NULL;
}

/* The plan is not possible, and this is the first reason. */
static void block(struct plan *plan, const struct ns_refused *refusal, const char *without)
{
	plan->possible = false;
	if (!refusal || plan->refusal)
		return;
	plan->refusal = refusal;
	plan->without = without;
}

static void add_common(const struct caps *caps, const struct plan_request *request,
		       struct plan *plan)
{
	for (size_t i = 0; i < COMMON; i++) {
		const struct ns_refused *refusal = find_refusal(caps, common[i].program);

		if (!is_wanted(request, common[i].when))
			continue;
		if (refusal)
			block(plan, refusal, common[i].shows);
		add_program(plan, common[i].program);
	}
}

static void strike_variants(struct caps *caps, const char *program)
{
	for (size_t i = 0; i < plan_variant_count; i++)
		for (int j = 0; j < VARIANT_HOOKS && plan_variants[i].hooks[j].program; j++)
			if (!strcmp(plan_variants[i].hooks[j].program, program))
				caps->variants &= ~(1ull << i);
}

static const struct ns_refused *find_table(const struct caps *caps, const char *table)
{
	for (size_t i = 0; i < caps->refusal_count; i++)
		if (!caps->refusals[i].program[0] && !strcmp(caps->refusals[i].table, table))
			return &caps->refusals[i];
	return NULL;
}

bool caps__refuses_table(const struct caps *caps, const char *table)
{
	return find_table(caps, table);
}

bool caps__refuse(struct caps *caps, const struct ns_refused *refusal)
{
	const struct ns_refused *table = find_table(caps, refusal->table);
	struct ns_refused *new = &caps->refusals[caps->refusal_count];

	if (refusal->program[0] ? find_refusal(caps, refusal->program) != NULL : table != NULL)
		return false;
	if (caps->refusal_count == MOST_REFUSALS)
		return false;
	*new = *refusal;
	/* A program is refused because the table is not there; why that is not is of interest. */
	if (table)
		new->error = table->error;
	caps->refusal_count++;
	if (strstr(new->program, "_spare"))
		caps->preempted = false;
	strike_variants(caps, new->program);
	return true;
}

static bool gives(const struct variant *variant, enum ns_fact fact, const char *program)
{
	for (int j = 0; variant->fact == fact && j < VARIANT_HOOKS && variant->hooks[j].program;
	     j++)
		if (!strcmp(variant->hooks[j].program, program))
			return true;
	return false;
}

const struct ns_refused *caps__refusal_of(const struct caps *caps, enum ns_fact fact)
{
	for (size_t i = caps->refusal_count; i--;)
		for (size_t j = 0; j < plan_variant_count; j++)
			if (gives(&plan_variants[j], fact, caps->refusals[i].program))
				return &caps->refusals[i];
	return NULL;
}

/* What may help, by what the kernel answers. */
static const char *remedy_of(const struct ns_refused *refusal)
{
	switch (refusal->step == NS_REFUSED_ATTACH ? refusal->error : 0) {
	case EBUSY:
	case EEXIST:
	case E2BIG:
	case ENOSPC:
		return "other tracers may have taken its place: end them";
	default:
		return "`netstall doctor` shows what this kernel can do, and -v the kernel's own messages";
	}
}

char *plan__why_not(const struct plan *plan)
{
	char *refused, *sentence;

	if (!plan->refusal)
		return xasprintf("%s", plan->why_not);
	refused = fact__refusal_text(plan->refusal);
	sentence = xasprintf("%s; without it netstall does not see %s; %s", refused, plan->without,
			     remedy_of(plan->refusal));
	free(refused);
	return sentence;
}

/* Is there nothing to hook: known otherwise, or not in this kernel because nothing needs it there?
 */
static bool not_needed(const struct caps *caps, enum ns_fact fact)
{
	if (fact == NS_FACT_NAMES)
		return caps->kernel_names;
	if (fact == NS_FACT_URING || fact == NS_FACT_URING_COURSE)
		return !caps->uring;
	return fact == NS_FACT_SENDPAGE && !choose_variant(caps->variants, ANY_WAY, fact);
}

/* Is the fact of use at all, and can it be had by the kernel as such? */
static bool is_asked(const struct caps *caps, const struct plan_request *request, enum ns_fact fact)
{
	switch (fact) {
	case NS_FACT_SCHED:
	case NS_FACT_EARLY_SLEEPS:
		return true;
	case NS_FACT_SLEEPING_STACKS:
		return request->unwind && caps->copies;
	case NS_FACT_BUSY:
		return !request->untraced && caps->clocks;
	default:
		return !request->untraced;
	}
}

static void make_way(const struct caps *caps, const struct plan_request *request, enum way way,
		     struct plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->way = way;
	plan->possible = true;
	for (enum ns_fact fact = 0; fact < NS_FACT_COUNT; fact++) {
		const struct variant *variant = choose_variant(caps->variants, 1u << way, fact);

		if (!is_asked(caps, request, fact))
			continue;
		if (!variant && !not_needed(caps, fact)) {
			plan->missing |= 1u << fact;
			if (fact__row(fact)->is_essential)
				block(plan, caps__refusal_of(caps, fact), fact__row(fact)->words);
		}
		if (!variant)
			continue;
		plan->variants |= 1ull << (variant - plan_variants);
		for (int i = 0; i < VARIANT_HOOKS && variant->hooks[i].program; i++)
			add_program(plan, variant->hooks[i].program);
	}
	add_common(caps, request, plan);
}

static bool way_attaches(const struct caps *caps, enum way way)
{
	switch (way) {
	case WAY_FENTRY:
		return caps->trampolines;
	case WAY_KPROBE:
		return caps->kprobes;
	default:
		return true;
	}
}

const char *caps__refused_with(int err)
{
	switch (err) {
	case EMFILE:
	case ENFILE:
		return "too few files may be open at once: raise the limit (ulimit -n, LimitNOFILE=) to 1024";
	case EPERM:
	case EACCES:
		return "the kernel refuses BPF programs to this process in spite of its capabilities: "
		       "a seccomp filter or a security policy forbids them (of a container, perhaps); "
		       "run it outside of that";
	case ESRCH: /* libbpf's word for types that it could not read */
		return "this kernel's type information (BTF) in /sys/kernel/btf/vmlinux cannot be read: it takes more memory "
		       "than there is (raise the limit, ulimit -v or that of its cgroup), or is damaged";
	case ENOMEM:
		return "the kernel has no memory for BPF programs and their tables: raise the limit of "
		       "locked memory (ulimit -l), or that of its cgroup";
	default:
		return "the kernel refuses BPF tracepoint programs: it needs CONFIG_BPF_SYSCALL=y and "
		       "CONFIG_BPF_EVENTS=y, and a security policy that lets them attach";
	}
}

const char *caps__refusal(const struct caps *caps)
{
	if (caps->refused == EMFILE || caps->refused == ENFILE)
		return caps__refused_with(caps->refused);
	if (!caps->btf && caps->refused == ESRCH)
		return caps__refused_with(ESRCH);
	if (!caps->btf)
		return "this kernel offers no type information (BTF) in /sys/kernel/btf/vmlinux: it needs "
		       "CONFIG_DEBUG_INFO_BTF=y, and /sys mounted";
	if (caps->bad_btf[0])
		return caps->bad_btf;
	if (caps->userns && (!caps->may_load || caps->refused == EPERM))
		return "it runs in a user namespace (a rootless container, or unshare -U), and BPF does not accept its capabilities: run it outside, as root of this host";
	if (!caps->may_load)
		return "loading BPF programs takes root, or the capabilities CAP_BPF and CAP_PERFMON: run it "
		       "with sudo";
	if (caps->lockdown)
		return "the kernel is locked down to confidentiality, which forbids BPF to read kernel "
		       "memory: boot with lockdown=integrity or none";
	return caps->tracepoints ? NULL : caps__refused_with(caps->refused);
}

/* Why a way that was asked for cannot be had. */
static const char *way_refusal(const struct caps *caps, enum way way)
{
	if (way_attaches(caps, way) && way == WAY_TRACEPOINT)
		return "tracepoints alone do not show the end of a send on this kernel (sock_send_length "
		       "came with Linux 6.3)";
	if (way_attaches(caps, way))
		return "a function that this way hangs on is not in this kernel";
	if (way == WAY_FENTRY)
		return "fentry programs do not attach on this kernel (trampolines are refused, or "
		       "CONFIG_FUNCTION_TRACER is off)";
	if (caps->perf_paranoid)
		return "kernel.perf_event_paranoid is above 2 here, which refuses kprobes to all but "
		       "CAP_SYS_ADMIN: run it with sudo, or sysctl kernel.perf_event_paranoid=2";
	return "kprobes do not attach on this kernel (CONFIG_KPROBES is off, or they are refused)";
}

void plan__make(const struct caps *caps, const struct plan_request *request, struct plan *plan)
{
	int way;

	memset(plan, 0, sizeof(*plan));
	plan->way = request->way;
	plan->why_not = caps__refusal(caps);
	if (plan->why_not)
		return;
	if (request->way != WAY_AUTO) {
		make_way(caps, request, request->way, plan);
		plan->possible = plan->possible && way_attaches(caps, request->way);
		if (!plan->possible && !plan->refusal)
			plan->why_not = way_refusal(caps, request->way);
		plan->ask_less = !plan->possible && !caps->perf_paranoid;
		return;
	}
	for (way = 0; way < WAY_COUNT; way++) {
		struct plan one;

		make_way(caps, request, way, &one);
		if (!way_attaches(caps, way))
			continue;
		/* What cannot be done is said of the way that comes nearest: the first one. */
		if (one.possible || !plan->refusal)
			*plan = one;
		if (one.possible)
			return;
	}
	if (!plan->refusal)
		plan->why_not =
			"fentry and kprobes do not attach on this kernel, and tracepoints alone do not show "
			"the end of a send here: it needs Linux 6.3 or later, or CONFIG_KPROBES=y";
}
