// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "user/base/array.h"
#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/kernel/container.h"
#include "user/record/facts.h"
#include "user/source/session_parts.h"

/* Owners and fds of new sockets are looked up by an iterator: soon, as who asks for the first time
 * has no better answer, but in no more than this part of the time, and not more often than this. */
#define RESCAN_PART 50
#define RESCAN_NS   20000000ull
/* How long the end waits for holds to end: the longest delayed ACK, TCP_DELACK_MAX, and a bit. */
#define LINGER_MS      250
#define LINGER_STEP_MS 5
/* How long names of call sites are waited for, as most come at once; then the others go on waiting
 * beside us. At the attach what the targets have mapped is to be opened before they can end. */
#define TURN_NS         100000000ull /* of reading records, at most */
#define NAMES_NS        10000000ull
#define NAMES_ATTACH_NS 1000000000ull
#define NAMES_END_NS    5000000000ull

/* ---- targets ---- */

static int open_tasks(void *context)
{
	return session__open_iterator(context, ITERATE_TASKS);
}

static void watch_process(struct session *session, uint32_t tgid)
{
	struct ns_proc_state proc = {.target = 1};

	if (bpf_map_update_elem(bpf_map__fd(session->skel->maps.procs), &tgid, &proc, BPF_ANY)) {
		session->skel->bss->lost[NS_LOST_PROCESSES]++;
		return;
	}
	session->skel->bss->proc_hints[tgid & (NS_PROC_HINTS - 1)] = (struct ns_proc_hint){1, 1};
}

static void leave_out(struct session *session, uint32_t tgid, bool by_pid)
{
	struct ns_proc_state proc = {.left_out = by_pid ? NS_LEFT_OUT_BY_PID : NS_LEFT_OUT_BY_COMM};

	bpf_map_update_elem(bpf_map__fd(session->skel->maps.procs), &tgid, &proc, BPF_ANY);
	session->skel->bss->proc_hints[tgid & (NS_PROC_HINTS - 1)].watched = 1;
}

/* netstall's number as the kernel counts: which of the tasks we are. */
static uint32_t own_number(const struct session *session)
{
	const struct ns_task_entry *self = tasks__by_view(enrich__tasks(session->enrich), getpid());

	return self ? self->tgid : (uint32_t)getpid();
}

static int find_targets(struct session *session)
{
	struct target target = *session->target;
	size_t i;
	int err = enrich__refresh(session->enrich);

	if (err) {
		log__error("cannot list the tasks of this machine: %s", strerror(-err));
		return err;
	}
	if (session->program_pid && target.pid_count < TARGET_PIDS)
		target.pids[target.pid_count++] = session->program_pid;
	err = target__resolve(&target, enrich__tasks(session->enrich), &session->set);
	if (err)
		return err;
	_Static_assert(TARGET_TIDS == NS_TIDS, "both sides have room for as many");
	memcpy(session->skel->bss->only_tids, session->set.only_tids,
	       sizeof(session->set.only_tids));
	session->skel->bss->self_tgid = own_number(session);
	for (i = 0; i < session->set.count; i++)
		watch_process(session, session->set.processes[i].tgid);
	for (i = 0; i < session->set.left_out_count; i++)
		leave_out(session, session->set.left_out[i], i < session->set.left_out_by_pid);
	for (i = 0; i < session->set.cgroup_count; i++) {
		uint32_t one = 1;

		bpf_map_update_elem(bpf_map__fd(session->skel->maps.cgroups),
				    &session->set.cgroups[i], &one, BPF_ANY);
	}
	return 0;
}

static void note_exit(struct session *session, uint32_t tgid)
{
	size_t i;

	for (i = 0; i < session->set.count; i++)
		if (session->set.processes[i].tgid == tgid)
			session->targets_exited++;
	session__chain_ended(session, tgid);
	if (!session->options.untraced)
		session__note_ended(session, tgid, clock__now());
	bpf_map_delete_elem(bpf_map__fd(session->skel->maps.pythons), &tgid);
}

/* The clock is looked at now and then. */
static bool turn_is_over(struct session *session)
{
	return session->turn_end_ns && !(++session->turn_records % 64) &&
	       clock__now() >= session->turn_end_ns;
}

static void take_record(struct session *session, void *data, size_t size)
{
	const struct ns_head *head = data;

	if (session->offcpu && offcpu__record(session->offcpu, data, size))
		return;
	/* A slot of a history comes whole, whatever the length of its record. */
	if (size >= sizeof(*head) && head->len >= sizeof(*head) && head->len < size)
		size = head->len;
	if (size >= sizeof(*head) && head->type == NS_EXIT)
		note_exit(session, head->tgid);
	if (session->options.untraced)
		return;
	if ((head->type == NS_WAIT && size >= sizeof(struct ns_wait)) ||
	    (head->type == NS_EXCHANGE && size >= sizeof(struct ns_exchange)))
		session__look_for_busy(session, head);
	enrich__record(session->enrich, data, size);
}

static int on_ring_record(void *context, void *data, size_t size)
{
	take_record(context, data, size);
	return turn_is_over(context) ? -EAGAIN : 0;
}

static int make_plan(struct session *session)
{
	const struct plan *plan = &session->plan;
	char *why_not;
	int err;

	plan__make(&session->caps, &session->request, &session->plan);
	if (plan->possible)
		return 0;
	why_not = plan__why_not(plan);
	err = session__fail(session, -ENOTSUP,
			    plan->refusal
				    ? xstrdup(why_not)
				    : xasprintf("%s%s (see `netstall doctor`)", why_not,
						plan->ask_less ? ": leave out -C attach" : ""));
	free(why_not);
	return err;
}

/* Call sites and places have its functions too from now on. */
static void note_python(void *context, uint32_t tgid, const struct ns_python *python)
{
	struct session *session = context;

	bpf_map_update_elem(bpf_map__fd(session->skel->maps.pythons), &tgid, python, BPF_ANY);
	session->skel->bss->pythons_known = 1;
}

static void detach(struct session *session)
{
	session__close_clocks(session);
	while (session->hook_count)
		bpf_link__destroy(session->hooks[--session->hook_count]);
}

/* The reverse of prepare() and of the attach. */
static void tear_down(struct session *session)
{
	detach(session);
	for (size_t i = 0; i < ITERATORS; i++) {
		bpf_link__destroy(session->iterators[i]);
		session->iterators[i] = NULL;
	}
	memset(session->each, 0, sizeof(session->each));
	ring_buffer__free(session->ring);
	session->ring = NULL;
	enrich__free(session->enrich);
	session->enrich = NULL;
	netstall_bpf__destroy(session->skel);
	session->skel = NULL;
	target_set__clear(&session->set);
}

/* Loaded, with what the kernel refuses left out: until nothing is refused or something is needed.
 */
static int load_what_goes(struct session *session)
{
	int err;

	do {
		tear_down(session);
		err = make_plan(session);
		if (!err)
			err = session__load(session);
		if (!err)
			err = session__make_iterators(session);
	} while (err == -EAGAIN);
	return err;
}

/* All that comes before the attach. */
static int prepare(struct session *session)
{
	const struct enrich_ways ways = {.sink = session->sink,
					 .sink_context = session->context,
					 .open_tasks = open_tasks,
					 .role = session__role_of,
					 .waker = session__join_chain,
					 .python = note_python,
					 .context = session,
					 .kallsyms = session->kallsyms,
					 .resolver = session->options.resolver};
	int err = load_what_goes(session);

	if (err || session->is_trial)
		return err;
	session->enrich = enrich__new(&ways);
	err = find_targets(session);
	if (!err && session->offcpu)
		offcpu__prepare(session->offcpu);
	return err;
}

static struct plan_request request_of(const struct session *session)
{
	return (struct plan_request){.way = session->options.way,
				     .untraced = session->options.untraced,
				     .profile = session->offcpu,
				     .unwind = session->offcpu && offcpu__unwinds(session->offcpu),
				     .by_comm = session->target->comm || session->target->not_comm,
				     .by_cgroup = session->target->cgroup,
				     .by_children = target__takes_children(session->target)};
}

static struct session *make_session(const struct session_options *options,
				    const struct target *target)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->options = *options;
	session->target = target;
	session->kallsyms = kallsyms__new();
	if (options->offcpu)
		session->offcpu = offcpu__new(session);
	session->request = request_of(session);
	return session;
}

/* As a cgroup counts, in MB: at the verifier's height, and when it traces. */
struct memory_taken {
	unsigned most, then;
};

/* Over its limit it would be killed without a word. */
static void look_at_memory_limit(const struct session *session)
{
	const struct session_options *options = &session->options;
	const struct memory_taken taken = session->caps.grows ? (struct memory_taken){98, 70}
							      : (struct memory_taken){105, 78};
	uint64_t limit;

	if (options->untraced || options->max_conns)
		return;
	limit = container__memory_limit();
	if (limit >= taken.most * 1100000ull)
		return;
	log__note(
		"its cgroup may have %s of memory, and netstall takes %u MB for a moment while it "
		"starts, then %u: if it is killed, raise the limit, or make its tables smaller, "
		"to 61 MB in all: " SMALL_TABLES,
		bytes_text(limit), taken.most, taken.then);
}

/* What is known already has been reported: find_targets() says itself what it does not find. */
static int report_why(const struct session *session, int err)
{
	if (err && session->why)
		log__error("%s", session->why);
	return err;
}

int session__open(const struct session_options *options, const struct target *target,
		  pid_t program_pid, session_sink *sink, void *context, struct session **out)
{
	struct session *session = make_session(options, target);
	int err;

	session->program_pid = program_pid;
	session->sink = sink;
	session->context = context;
	caps__free_btf(caps__probe(&session->caps, options->btf_path));
	look_at_memory_limit(session);
	/* Now, not at the first stall: a chain is followed while it happens. */
	kallsyms__load(session->kallsyms);
	err = report_why(session, prepare(session));
	if (err)
		session__close(session);
	else
		*out = session;
	return err;
}

/* ---- attach ---- */

/* Only what hangs on a place of the kernel: iterators and clocks are attached elsewhere. */
static bool is_hook(const struct bpf_program *program)
{
	static const char *const others[] = {"iter_", "each_", "pe_"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(bpf_program__name(program), others[i], strlen(others[i])))
			return false;
	return bpf_program__autoload(program);
}

/* As session__load(). */
static int attach_hooks(struct session *session)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, session->skel->obj)
	{
		struct bpf_link *link;

		if (!is_hook(program))
			continue;
		link = bpf_program__attach(program);
		if (!link)
			return session__refused(session, program, NS_REFUSED_ATTACH, -errno);
		session->hooks[session->hook_count++] = link;
	}
	return session__open_clocks(session);
}

static void set_window(struct session *session, uint64_t end)
{
	__atomic_store_n(&session->skel->bss->window_end, end, __ATOMIC_SEQ_CST);
}

/* All programs are attached: from here on they note what they see. */
static uint64_t open_window(struct session *session)
{
	uint64_t begin = clock__now();

	session->skel->bss->window_begin = begin;
	set_window(session, NS_WINDOW_OPEN);
	return begin;
}

/* And now no more, whichever of them leaves first. All that they noted is earlier than the end. */
static uint64_t close_window(struct session *session)
{
	uint64_t end;

	set_window(session, clock__now());
	end = clock__now();
	set_window(session, end);
	return end;
}

static void tell_session(struct session *session, uint64_t begin)
{
	struct ns_session out = {.head = {.type = NS_SESSION, .len = sizeof(out)}};
	struct utsname uts;

	out.head.ts = begin;
	out.wall_offset_ns = (uint64_t)clock__wall_offset();
	out.threshold_ns = session->options.threshold_ns;
	out.verbose = session->options.verbose;
	out.missing = session->plan.missing;
	out.machine = session->target->everything;
	snprintf(out.way, sizeof(out.way), "%s", way__name(session->plan.way));
	if (!uname(&uts)) {
		snprintf(out.kernel, sizeof(out.kernel), "%.63s", uts.release);
		snprintf(out.arch, sizeof(out.arch), "%.15s", uts.machine);
	}
	target__describe(session->target, out.target, sizeof(out.target));
	session->sink(session->context, &out, sizeof(out));
}

/* Presence of a function is no proof that a program attaches to it. */
static int attach_or_replan(struct session *session)
{
	int err;

	while ((err = attach_hooks(session)) == -EAGAIN) {
		err = prepare(session);
		if (err)
			break;
	}
	return err;
}

/* A fact that no report would speak of is noted at once. */
static void report_refused(struct session *session, uint64_t begin)
{
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		const struct ns_refused *refusal = caps__refusal_of(&session->caps, fact);
		struct ns_refused out;
		char *why;

		if (!refusal || !(session->plan.missing >> fact & 1))
			continue;
		out = *refusal;
		out.head = (struct ns_head){.type = NS_REFUSED, .len = sizeof(out), .ts = begin};
		out.fact = fact;
		if (!session->options.untraced)
			session->sink(session->context, &out, sizeof(out));
		if (!session->offcpu)
			continue;
		why = fact__refusal_text(&out);
		log__note("not watched: %s (%s)", fact__row(fact)->words, why);
		free(why);
	}
}

/* What was vital is read behind the other: there is some only when that one was full before. */
static int map_rings(struct session *session)
{
	int records = bpf_map__fd(session->skel->maps.records);
	int vital = bpf_map__fd(session->skel->maps.vital_records);

	session->ring = ring_buffer__new(records, on_ring_record, session, NULL);
	if (session->ring && !ring_buffer__add(session->ring, vital, on_ring_record, session) &&
	    (!session->offcpu ||
	     !ring_buffer__add(session->ring, bpf_map__fd(session->skel->maps.samples),
			       offcpu__sample, session->offcpu)))
		return 0;
	log__error("cannot map the ring buffer: %s", strerror(errno));
	return -errno;
}

/* What there is already: sockets, registered files, and what these lead to. */
static void look_around(struct session *session)
{
	for (size_t i = 0; i < session->set.count; i++)
		enrich__process(session->enrich, session->set.processes[i].tgid);
	session__scan_sockets(session, NS_SCAN_TARGETS);
	session__scan_registered(session, NS_SCAN_TARGETS);
	session__scan_sockets(session, NS_SCAN_PEERS);
	session__scan_sockets(session, NS_SCAN_PEERS); /* and what these have opened */
	session__scan_registered(session, NS_SCAN_PEERS);
	session->unsure_seen = session->skel->bss->unsure_owners;
}

int session__attach(struct session *session)
{
	uint64_t begin;
	int err = report_why(session, attach_or_replan(session));

	if (err)
		return err;
	err = map_rings(session);
	if (err)
		return err;
	/* So that the first call site has its functions already. */
	for (size_t i = 0; i < session->set.count; i++)
		enrich__look_for_python(session->enrich, session->set.processes[i].tgid,
					session->set.processes[i].view_tgid);
	resolver__poll(session->options.resolver, NAMES_ATTACH_NS);
	begin = open_window(session);
	session->sampled_ns = begin;
	if (!session->options.untraced) {
		tell_session(session, begin);
		session__keep_room_for_others(session);
	}
	report_refused(session, begin);
	if (session->offcpu)
		offcpu__begin(session->offcpu, begin);
	session__seed_threads(session);
	if (!session->options.untraced) {
		look_around(session);
		session__seed_threads(session); /* of peers that owe an answer */
	}
	enrich__settle(session->enrich, 0);
	resolver__poll(session->options.resolver, NAMES_ATTACH_NS);
	session->next_scan_ns = clock__now() + RESCAN_NS;
	if (session->offcpu)
		offcpu__poll(session->offcpu);
	return 0;
}

char *session__try(const struct session_options *options, const struct target *target,
		   const struct plan_request *more, struct caps *caps, struct plan *plan)
{
	struct session *session = make_session(options, target);
	char *why = NULL;
	int err;

	session->is_trial = true;
	session->caps = *caps;
	session->request.by_children |= more->by_children;
	session->request.by_comm |= more->by_comm;
	session->request.by_cgroup |= more->by_cgroup;
	err = prepare(session);
	if (!err)
		err = attach_or_replan(session);
	*caps = session->caps;
	plan__make(caps, &session->request, plan);
	if (err) {
		why = session->why;
		session->why = NULL;
	}
	session__close(session);
	return why;
}

/* ---- run ---- */

int session__news_fd(const struct session *session)
{
	return session->offcpu ? ring_buffer__epoll_fd(session->ring) : -1;
}

uint64_t session__due_ns(const struct session *session)
{
	uint64_t due_ns = enrich__due_ns(session->enrich);

	if (session->options.untraced || session->skel->bss->unsure_owners == session->unsure_seen)
		return due_ns;
	return min_u64(due_ns, session->next_scan_ns);
}

/* Who has the other ends of what has come. */
static void look_for_owners(struct session *session)
{
	uint32_t unsure = session->skel->bss->unsure_owners;
	uint64_t begun_ns = clock__now(), took_ns;

	if (unsure == session->unsure_seen || begun_ns < session->next_scan_ns)
		return;
	session->unsure_seen = unsure;
	session__scan_sockets(session, NS_SCAN_PEERS);
	took_ns = clock__now() - begun_ns;
	session->next_scan_ns =
		begun_ns + (took_ns * RESCAN_PART > RESCAN_NS ? took_ns * RESCAN_PART : RESCAN_NS);
}

bool session__poll(struct session *session)
{
	uint64_t now = clock__now();
	bool all;

	if (!session->options.untraced) {
		look_for_owners(session);
		session__look_for_losses(session, now);
	}
	all = session__read_records(session, TURN_NS);
	if (!session->options.untraced) {
		session__sweep_uring(session, now);
		session__sweep_services(session, now);
	}
	if (session->offcpu)
		offcpu__poll(session->offcpu);
	return enrich__settle(session->enrich, NAMES_NS) && all;
}

static bool has_ended(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/* With the children that they have started, and these theirs: one is forgotten when it exits. */
static bool a_target_lives(const struct session *session)
{
	int fd = bpf_map__fd(session->skel->maps.procs);
	struct ns_proc_state proc;
	__u32 tgid, *last = NULL;

	for (; !bpf_map_get_next_key(fd, last, &tgid); last = &tgid) {
		if (bpf_map_lookup_elem(fd, &tgid, &proc) ||
		    !(ns_proc_role(&proc) & NS_ROLE_TARGET))
			continue;
		if (!has_ended(enrich__view(session->enrich, tgid)))
			return true;
	}
	return false;
}

bool session__targets_gone(const struct session *session)
{
	const struct target *target = session->target;
	size_t i;

	if (target->comm || target->cgroup || !session->set.count)
		return false;
	if (target->children)
		return !a_target_lives(session);
	if (session->targets_exited >= session->set.count)
		return true; /* also when nobody has waited for them yet */
	for (i = 0; i < session->set.count; i++)
		if (!has_ended(session->set.processes[i].view_tgid))
			return false;
	return true;
}

/* ---- the end ---- */

/*
 * A process whose end the kernel ran no program for (Linux 7.0 on: that of another one was
 * preempted on that CPU) is still in the table.
 */
static void tell_unseen_exits(struct session *session)
{
	int fd = bpf_map__fd(session->skel->maps.procs);
	struct ns_proc_state proc;
	__u32 tgid, *last = NULL;

	while (!bpf_map_get_next_key(fd, last, &tgid)) {
		struct ns_head out = {.ts = session->end_ts, .type = NS_EXIT, .tgid = tgid};

		last = &tgid;
		if (bpf_map_lookup_elem(fd, &tgid, &proc) || !ns_proc_role(&proc) ||
		    !has_ended(enrich__view(session->enrich, tgid)) ||
		    bpf_map_delete_elem(fd, &tgid))
			continue;
		out.tid = tgid;
		out.len = sizeof(out);
		take_record(session, &out, sizeof(out));
		last = NULL;
	}
}

/* A stall is told with its end, so one that is under way gets the time to come to it. */
static void await_releases(struct session *session)
{
	int waited;

	session->skel->bss->closing = 1;
	for (waited = 0; waited < LINGER_MS && session->skel->bss->active_holds > 0;
	     waited += LINGER_STEP_MS)
		usleep(LINGER_STEP_MS * 1000);
}

/* First of all: what a program that was under way then still noted is later than this. */
static void tell_end(struct session *session)
{
	struct ns_end out = {.head = {.type = NS_END, .len = sizeof(out)}};

	out.children = session->children;
	out.head.ts = session->end_ts;
	session->sink(session->context, &out, sizeof(out));
	session__iterate(session, ITERATE_WAITS);
	session__each(session, EACH_CONN);
}

void session__finish(struct session *session)
{
	bool traced = !session->options.untraced;

	if (session->finished)
		return;
	session->finished = true;
	if (traced) {
		await_releases(session);
		session__scan_sockets(session, NS_SCAN_PEERS); /* owners of what came last */
	}
	if (session->offcpu)
		offcpu__closing(session->offcpu);
	session->end_ts = close_window(session);
	if (traced)
		tell_end(session);
	ring_buffer__consume(session->ring);
	tell_unseen_exits(session);
	if (session->offcpu)
		offcpu__end(session->offcpu);
	resolver__poll(session->options.resolver, session->offcpu ? NAMES_END_NS : 0);
	if (!enrich__settle(session->enrich, NAMES_END_NS))
		enrich__flush(session->enrich);
	if (traced) {
		session__tell_threads(session, session->end_ts);
		session__tell_services(session, session->end_ts);
		session__tell_uring(session, session->end_ts);
		session__tell_lost(session, session->end_ts);
	}
	detach(session);
}

struct profile *session__profile(struct session *session)
{
	return session->offcpu ? offcpu__profile(session->offcpu) : NULL;
}

void session__close(struct session *session)
{
	if (!session)
		return;
	tear_down(session);
	free(session->why);
	offcpu__free(session->offcpu);
	kallsyms__free(session->kallsyms);
	free(session);
}

enum way session__way(const struct session *session)
{
	return session->plan.way;
}

unsigned session__conns_found(const struct session *session)
{
	return session->skel->bss->conns_found;
}

unsigned session__children(const struct session *session)
{
	return session->children;
}

size_t session__target_count(const struct session *session)
{
	return session->set.count;
}

void session__first_target(const struct session *session, char *out, size_t size)
{
	char safe[TEXT_SAFE(NS_COMM_LEN)];
	const struct ns_task_entry *first = session->set.processes;

	out[0] = '\0';
	if (session->set.count)
		snprintf(out, size, "%s (%u)",
			 text__safe(safe, sizeof(safe), first->comm, NS_COMM_LEN),
			 first->view_tgid);
}
