// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs on io_uring that count what they do:
 *
 *	$ uring --mode mix -n 200
 *	ready client_pid=812 server_pid=813 port=0
 *	{"mode": "mix", "pid": 812, "ops": {"NOP": {"submitted": 400, "refused": 0, "early": 0,
 *	    "notified": 0, "results": {"ok": 400}}, ...}, "overflowed": 0, "dropped": 0,
 *	    "left_out": []}
 *	done mode=mix exchanges=0 stalls=0 median_us=0.0 max_us=0.0 cpu_ns_per_op=1204
 *
 * One line of JSON for each process that has rings. "ok" is a result of 0 or more. `refused` are
 * such as the kernel refuses before it begins with them, `early` those before the gate.
 * Exit status: 0 done, 1 it failed, 3 this kernel has not got what the mode is about, 64 usage.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/workload/uring.h"

#define EXIT_CANNOT 3
#define EXIT_USAGE  64
#define LIMIT_S     100 /* then it hangs: less than a case waits for its end */

struct arguments asked = {.count = 200, .batch = 1};
struct tally *client, *server;

static const struct {
	const char *name;
	const char *what;
	void (*run)(void);
} modes[] = {
	{"mix", "some of all, with their errors", mode_mix},
	{"split", "exchanges with a plain server: WRITE 40 B, WRITE 136 B, RECV", mode_split},
	{"fixed", "the same, of a socket that is a registered file alone", mode_fixed},
	{"echo", "exchanges of one SEND and one RECV, both ends on rings", mode_echo},
	{"nop", "NOPs, --batch at a time", mode_nop},
	{"rings", "one ring after the other", mode_rings},
	{"worker", "reads of a file by worker threads", mode_worker},
	{"direct", "reads of a file past the page cache", mode_direct},
	{"overflow", "more completions than the completion queue holds", mode_overflow},
	{"backlog", "NOPs after completions that wait for room since before the gate",
	 mode_backlog},
	{"threads", "one ring of two threads, and three with a ring each", mode_threads},
	{"armed", "a ring whose registered socket is received from before the gate", mode_armed},
	{"buffers", "zero-copy sends, whose buffers are awaited", mode_buffers},
	{"timer", "a server that lets 300 ms pass on its ring before each answer", mode_timer},
	{"idle", "a ring that accepts, where nobody comes", mode_idle},
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static bool gated;
static int server_pid, port_shown;
static uint64_t cpu_at_gate;

/* ---- what all use ---- */

void die(const char *what, int error)
{
	fprintf(stderr, "uring: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

void cannot(const char *what)
{
	fprintf(stderr, "uring: this kernel has no %s\n", what);
	exit(EXIT_CANNOT);
}

void left_out(const char *what)
{
	size_t used = strlen(client->left_out);

	snprintf(client->left_out + used, sizeof(client->left_out) - used, "%s\"%s\"",
		 used ? ", " : "", what);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

void note_exchange(uint64_t begin_ns)
{
	if (client->exchanges < SAMPLES)
		client->samples[client->exchanges++] = now_ns() - begin_ns;
}

int listen_here(int *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) || listen(fd, 64) ||
	    getsockname(fd, (void *)&at, &length))
		die("listen", errno);
	*port = ntohs(at.sin_port);
	return fd;
}

int connect_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
		die("connect", errno);
	return fd;
}

void tcp_pair(int ends[2])
{
	int port, one = 1, listener = listen_here(&port);

	ends[0] = connect_to(port);
	ends[1] = accept(listener, NULL, NULL);
	if (ends[1] < 0)
		die("accept", errno);
	setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

int scratch_file(size_t size)
{
	char path[] = "/tmp/uring-XXXXXX", zero[4096] = {0};
	int fd = mkstemp(path);

	if (fd < 0)
		die("mkstemp", errno);
	unlink(path);
	for (size_t done = 0; done < size; done += sizeof(zero))
		if (write(fd, zero, sizeof(zero)) != sizeof(zero))
			die("write", errno);
	return fd;
}

int with_server(void (*serve)(int fd))
{
	int fd, listener = listen_here(&port_shown);

	server_pid = fork();
	if (server_pid < 0)
		die("fork", errno);
	if (!server_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "uring-server");
		server->pid = getpid();
		serve(accept(listener, NULL, NULL));
		_exit(0);
	}
	fd = connect_to(port_shown);
	close(listener);
	return fd;
}

static uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

void gate(void)
{
	char go;

	printf("ready client_pid=%d server_pid=%d fd=-1 port=%d\n", getpid(), server_pid,
	       port_shown);
	fflush(stdout);
	memcpy(client->early, client->submitted, sizeof(client->early));
	while (gated && read(STDIN_FILENO, &go, 1) == 1 && go != '\n')
		;
	cpu_at_gate = cpu_ns();
}

/* ---- the end ---- */

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_done(const char *mode)
{
	uint64_t cpu = cpu_ns() - cpu_at_gate, operations = 0, n = client->exchanges, stalls = 0;

	for (unsigned i = 0; i < OPCODES; i++)
		operations += client->submitted[i] - client->early[i];
	for (uint64_t i = 0; i < n; i++)
		stalls += client->samples[i] >= STALL_NS;
	qsort(client->samples, n, sizeof(client->samples[0]), by_length);
	printf("done mode=%s exchanges=%lu stalls=%lu median_us=%.1f max_us=%.1f operations=%lu "
	       "cpu_ns_per_op=%lu\n",
	       mode, n, stalls, n ? client->samples[n / 2] / 1e3 : 0,
	       n ? client->samples[n - 1] / 1e3 : 0, operations, operations ? cpu / operations : 0);
}

/* ---- the run ---- */

static void *shared_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap", errno);
	return at;
}

/* No more than what a case's failure is to tell: nothing is safe any more at that point. */
static void on_limit(int signal_number)
{
	(void)signal_number;
	fprintf(stderr, "uring: no end after %d s\n", LIMIT_S);
	tally__print_missing(client, stderr);
	_exit(EXIT_FAILURE);
}

static void run(unsigned mode)
{
	client = shared_memory(sizeof(*client));
	server = shared_memory(sizeof(*server));
	client->pid = getpid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, on_limit);
	alarm(LIMIT_S);
	modes[mode].run();
	if (server_pid)
		waitpid(server_pid, NULL, 0);
	tally__print(client, modes[mode].name);
	if (server->pid)
		tally__print(server, modes[mode].name);
	print_done(modes[mode].name);
}

static unsigned setup_flag(const char *name)
{
	static const struct {
		const char *name;
		unsigned flags;
	} setups[] = {{"plain", 0},
		      {"sqpoll", IORING_SETUP_SQPOLL},
		      {"coop", IORING_SETUP_COOP_TASKRUN},
		      {"single", IORING_SETUP_SINGLE_ISSUER},
		      {"defer", IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN},
		      {"sqe128", IORING_SETUP_SQE128},
		      {"cqe32", IORING_SETUP_CQE32}};

	for (unsigned i = 0; i < sizeof(setups) / sizeof(setups[0]); i++)
		if (!strcmp(setups[i].name, name))
			return setups[i].flags;
	fprintf(stderr, "uring: no setup %s\n", name);
	exit(EXIT_USAGE);
}

static int list(void)
{
	for (unsigned i = 0; i < MODES; i++)
		printf("%-10s %s\n", modes[i].name, modes[i].what);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	enum { SWITCH = 1 };
	static int before, eventfd, one, late;
	static const struct option options[] = {{"mode", required_argument, NULL, 'm'},
						{"gate", required_argument, NULL, 'g'},
						{"batch", required_argument, NULL, 'b'},
						{"setup", required_argument, NULL, 's'},
						{"before", no_argument, &before, SWITCH},
						{"eventfd", no_argument, &eventfd, SWITCH},
						{"one-by-one", no_argument, &one, SWITCH},
						{"late", no_argument, &late, SWITCH},
						{0}};
	const char *name = "list";
	int option;

	while ((option = getopt_long(argc, argv, "n:", options, NULL)) != -1) {
		if (option == 'm')
			name = optarg;
		else if (option == 'g')
			gated = !strcmp(optarg, "stdin");
		else if (option == 'b')
			asked.batch = strtoul(optarg, NULL, 10);
		else if (option == 's')
			asked.setup |= setup_flag(optarg);
		else if (option == 'n')
			asked.count = strtoul(optarg, NULL, 10);
		else if (option)
			return list();
	}
	asked.before = before;
	asked.eventfd = eventfd;
	asked.one = one;
	asked.late = late;
	for (unsigned i = 0; asked.count && asked.batch && i < MODES; i++) {
		if (strcmp(name, modes[i].name))
			continue;
		run(i);
		return EXIT_SUCCESS;
	}
	return list();
}
