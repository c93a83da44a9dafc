// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Plays a scene and prints what really happened, for a tracer to be measured by:
 *
 *	$ scene split
 *	ready target=812 port=46465 pids=812,811
 *	stall start_ns=1004118... end_ns=1004162... queued_ns=20110 tid=812 cause=nagle-delack
 *	...
 *	request start_ns=1004118... written_ns=1004118... end_ns=1004162... ran_ns=211020
 *	verdict cause=nagle-delack role=makes part_ns=643118... queued_ns=82115
 *	done scene=split exchanges=16 stalls=15 total_ms=660.1 begin_ns=1004... end_ns=1004...
 *
 * Waits for a line on stdin after "ready"; -n sets the repetitions, -f plays the scene with what
 * the verdict advises done. --list prints a line for each scene: its name, the cause that it makes
 * (or none), how many stalls of that at least, which share of its time these take at least,
 *`quick`, `full` or `open`, its company (`any` others, others under their netstalls beside its
 *`own`, no other that takes a CPU in its `turn`, or none, `alone`), whether following advice
 *`helps`, is in `vain` or is not played (`-`), and options (struct scene). Exit status: 0 done, 1
 *it failed, 64 usage, 77 this machine does not have what it needs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

#define EXIT_USAGE 64

static const struct scene *const groups[] = {
	hold_scenes,     window_scenes, loss_scenes,    wait_scenes,   chain_scenes,
	uring_scenes,    pool_scenes,   timeout_scenes, advice_scenes, path_scenes,
	datagram_scenes, cpu_scenes,    accept_scenes};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static const struct scene *find(const char *name)
{
	for (size_t g = 0; g < GROUPS; g++)
		for (const struct scene *scene = groups[g]; scene->name; scene++)
			if (!strcmp(scene->name, name))
				return scene;
	fprintf(stderr, "scene: there is no scene '%s'; --list shows all\n", name);
	exit(EXIT_USAGE);
}

/* Beside what it may be played. */
static const char *company(const struct scene *scene)
{
	if (scene->alone)
		return "alone";
	if (scene->computes)
		return "turn";
	return scene->verdict.cause || scene->followed || scene->options ? "own" : "any";
}

static void list(void)
{
	for (size_t g = 0; g < GROUPS; g++)
		for (const struct scene *scene = groups[g]; scene->name; scene++)
			printf("%s %s %u %.2f %s %s %s %s\n", scene->name,
			       scene->makes.cause ? scene->makes.cause : "none", scene->makes.count,
			       scene->makes.share,
			       scene->open    ? "open"
			       : scene->quick ? "quick"
					      : "full",
			       company(scene),
			       scene->in_vain    ? "vain"
			       : scene->followed ? "helps"
						 : "-",
			       scene->options ? scene->options : "");
	exit(EXIT_SUCCESS);
}

/* The same, with what the verdict advises done. */
static const struct scene *followed(const struct scene *scene)
{
	static struct scene other;

	if (!scene->followed)
		return NULL;
	other = *scene;
	other.script = scene->followed;
	return &other;
}

static struct stage *new_stage(const struct scene *scene)
{
	struct stage *stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (stage == MAP_FAILED)
		die("no memory: %s", strerror(errno));
	stage->scene = scene;
	stage->count = scene->count;
	stage->address = htonl(INADDR_LOOPBACK);
	if (pipe(stage->gate))
		die("no pipe: %s", strerror(errno));
	return stage;
}

/* As in real programs, only servers have what they listen on. */
static void forget_listeners(const struct stage *stage)
{
	if (stage->listener > 0)
		close(stage->listener);
	if (stage->listener_behind > 0)
		close(stage->listener_behind);
}

static void end(struct stage *stage)
{
	atomic_store(&stage->end_ns, now_ns());
	atomic_store(&stage->queued_ns, stage__queued(stage) - atomic_load(&stage->queued_ns));
}

static void play(struct stage *stage, unsigned int role)
{
	static const char *const names[SCENE_ROLES] = {"scene-client", "scene-server",
						       "scene-third", "scene-fourth", "scene-path"};
	const struct scene *scene = stage->scene;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, scene->roles[role] == play_path ? "scene-path" : names[role]);
	/* The gate of the others: nobody but the parent may hold it open. */
	if (role)
		close(stage->gate[1]);
	if (!role || scene->roles[role] == play_path)
		forget_listeners(stage);
	stage__is_target(scene->targets & 1u << role);
	if (scene->verdict.cause && strcmp(scene->verdict.cause, "runqueue") &&
	    !scene->is_about_cpu)
		go_ahead();
	stage__enter(stage);
	scene->roles[role](stage);
	if (!role)
		end(stage);
	_exit(0);
}

/* The client last: it knows then who the others are. */
static void start(struct stage *stage)
{
	for (int role = SCENE_ROLES - 1; role >= 0; role--) {
		pid_t pid;

		if (!stage->scene->roles[role])
			continue;
		pid = fork();
		if (pid < 0)
			die("no process: %s", strerror(errno));
		if (!pid)
			play(stage, role);
		stage->pids[role] = pid;
	}
	forget_listeners(stage);
}

static void stop(struct stage *stage)
{
	for (int role = 1; role < SCENE_ROLES; role++)
		if (stage->pids[role] > 0) {
			kill(stage->pids[role], SIGKILL);
			waitpid(stage->pids[role], NULL, 0);
		}
}

static void print_pids(const struct stage *stage, const char *label, uint32_t mask)
{
	const char *separator = "";

	printf(" %s=", label);
	for (int role = 0; role < SCENE_ROLES; role++)
		if (stage->pids[role] && (mask & 1u << role)) {
			printf("%s%d", separator, stage->pids[role]);
			separator = ",";
		}
}

static void print_ready(const struct stage *stage)
{
	printf("ready");
	print_pids(stage, "target", stage->scene->targets);
	printf(" port=%u", stage->port);
	print_pids(stage, "pids", ~0u);
	puts("");
	fflush(stdout);
}

static void print_verdict(const struct stage *stage)
{
	const struct scene *scene = stage->scene;

	if (!scene->verdict.cause)
		return;
	printf("verdict cause=%s role=%s part_ns=%" PRIu64 " queued_ns=%" PRIu64 "\n",
	       scene->verdict.cause, scene->targets & 1 ? "makes" : "serves", stage->part_ns,
	       stage->queued_ns);
	if (scene->verdict.says)
		printf("says %s\n", scene->verdict.says);
	if (scene->verdict.never)
		printf("never %s\n", scene->verdict.never);
	if (scene->verdict.part)
		printf("part %s\n", scene->verdict.part);
}

static void print_truth(const struct stage *stage)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < stage->stall_count; i++) {
		const struct pause *p = &stage->stalls[i];

		printf("stall start_ns=%" PRIu64 " end_ns=%" PRIu64 " queued_ns=%" PRIu64
		       " tid=%u cause=%s\n",
		       p->start_ns, p->end_ns, p->queued_ns, p->tid, p->cause);
		total += p->end_ns - p->start_ns;
	}
	for (uint32_t i = 0; i < stage->request_count; i++)
		printf("request start_ns=%" PRIu64 " written_ns=%" PRIu64 " end_ns=%" PRIu64
		       " ran_ns=%" PRIu64 "\n",
		       stage->requests[i].start_ns, stage->requests[i].written_ns,
		       stage->requests[i].end_ns, stage->requests[i].ran_ns);
	print_verdict(stage);
	printf("done scene=%s exchanges=%u stalls=%u total_ms=%.1f begin_ns=%" PRIu64
	       " end_ns=%" PRIu64 " dropped=%u\n",
	       stage->scene->name, stage->exchanges, stage->stall_count, total / 1e6,
	       stage->begin_ns, stage->end_ns, stage->path.dropped);
	fflush(stdout);
}

/* What role 0 prepares is not to be traced. Returns whether it is at its gate. */
static bool await_gate(const struct stage *stage)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	siginfo_t ended = {0};

	while (!atomic_load(&stage->at_gate) &&
	       !waitid(P_PID, (id_t)stage->pids[0], &ended, WEXITED | WNOHANG | WNOWAIT) &&
	       !ended.si_pid)
		nanosleep(&nap, NULL);
	return !ended.si_pid;
}

static int run(struct stage *stage)
{
	int status;
	char byte;

	if (stage->scene->setup)
		stage->scene->setup(stage);
	else
		stage__listen(stage, 64);
	start(stage);
	close(stage->gate[0]);
	if (await_gate(stage)) {
		print_ready(stage);
		while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
			;
		if (write(stage->gate[1], "", 1) != 1)
			die("the gate does not open");
	}
	waitpid(stage->pids[0], &status, 0);
	stop(stage);
	if (!WIFEXITED(status))
		return EXIT_FAILURE;
	if (!WEXITSTATUS(status))
		print_truth(stage);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const struct scene *scene;
	struct stage *stage;
	int option;
	uint32_t count = 0;
	bool follow = false;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		list();
	while ((option = getopt(argc, argv, "fn:")) != -1) {
		follow |= option == 'f';
		if (option != 'f' && (option != 'n' || !(count = strtoul(optarg, NULL, 10))))
			return EXIT_USAGE;
	}
	if (optind + 1 != argc) {
		fputs("Usage: scene [-f] [-n COUNT] NAME | --list\n", stderr);
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	scene = find(argv[optind]);
	if (follow && !(scene = followed(scene))) {
		fprintf(stderr, "scene: '%s' has nothing to follow\n", argv[optind]);
		return EXIT_USAGE;
	}
	stage = new_stage(scene);
	if (count)
		stage->count = count;
	return run(stage);
}
