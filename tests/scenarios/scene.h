/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Labelled scenarios: each is a handful of processes that wait for one known cause, and their own
 * record of it. A scene is a row: a function for each of its processes (roles), which find what
 * they share on the stage. Role 0 is the client; it waits at a gate until the tracer stands, and
 * its end ends the scene.
 *
 * All times are CLOCK_MONOTONIC in ns. Whatever cannot be done ends the process with a sentence on
 * stderr, and then the scene with status 1 (77: this machine does not have what it needs).
 */
#ifndef NETSTALL_TESTS_SCENE_H
#define NETSTALL_TESTS_SCENE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SCENE_ROLES    5
#define SCENE_THREADS  80
#define SCENE_STALLS   4096
#define SCENE_REQUESTS 4096

#define MS(n)    ((n)*1000000ull)
#define STALL_NS MS(10) /* of the scores: the default threshold */

/* A pause that a role's own clock saw. */
struct pause {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t queued_ns; /* in it, the scene's threads waited for a CPU */
	uint32_t tid;
	char cause[20]; /* by construction, or runqueue when that was most of it */
};

/* A request by the clock of the thread that makes it: from its first write to its last read, or
 * from the connect() that was just before it. */
struct request {
	uint64_t start_ns;
	uint64_t written_ns; /* its first write began */
	uint64_t end_ns;
	uint64_t ran_ns; /* since the one before, the scene's threads; 0 not known */
};

/* What a path between two network namespaces does to segments; dir 0 is from the client. */
struct path {
	_Atomic uint32_t drop_data[2]; /* so many of the next segments with data are lost */
	_Atomic uint32_t skip_data[2]; /* after so many that pass */
	_Atomic uint32_t drop_syn;
	_Atomic uint32_t dropped;
	_Atomic uint32_t delay_us; /* each way */
};

/* In memory that all roles share. */
struct stage {
	const struct scene *scene;
	uint32_t count; /* of repetitions, unless it is the scene's */
	int gate[2];
	atomic_bool at_gate; /* role 0 stands there: what it prepares is done */
	int listener;
	uint16_t port;
	int datagrams; /* UDP, bound in the server's namespace */
	uint16_t datagram_port;
	int listener_behind; /* of a server behind the server */
	uint16_t port_behind;
	uint32_t address; /* that the client connects to, network byte order */
	bool ipv6;
	int tun[2];
	struct path path;
	int duct[4][2]; /* pipes or socket pairs between roles, as the scene likes */
	pid_t pids[SCENE_ROLES];
	_Atomic uint32_t thread_count;
	_Atomic uint32_t tids[SCENE_THREADS]; /* whose waits for a CPU are measured */
	_Atomic uint64_t begin_ns;
	_Atomic uint64_t end_ns;
	_Atomic uint32_t exchanges;
	_Atomic uint32_t stall_count;
	_Atomic uint32_t request_count;
	_Atomic uint64_t part_ns;   /* of the requests' time, what the verdict must be about */
	_Atomic uint64_t queued_ns; /* from begin to end, the scene's threads waited for a CPU */
	_Atomic uint32_t word;      /* for the scene: a lock, a flag */
	struct pause stalls[SCENE_STALLS];
	struct request requests[SCENE_REQUESTS];
};

typedef void role_fn(struct stage *stage);

struct scene {
	const char *name;
	void (*setup)(struct stage *stage); /* before the roles start; NULL: listen on loopback */
	role_fn *roles[SCENE_ROLES];
	uint32_t targets;   /* bit for each role that is to be traced */
	uint32_t count;     /* repetitions */
	const void *script; /* what a generic role works by */
	struct {
		const char *cause; /* NULL: it has no stall */
		uint32_t count;    /* so many of them at least, by its own truth */
		double share;      /* of its own time, likewise */
	} makes;
	/*
	 * What the report must lead with, and the share of the requests' time that part__end()
	 * counted; the requests must last as long as they did. Such a scene is played under a
	 * netstall of its own, and unless it is about CPUs it goes ahead of other programs.
	 */
	struct {
		const char *cause; /* NULL: not judged; "none": nothing held the target back */
		const char *says;  /* a regular expression: what its sentences must say */
		const char *never; /* and what they must not */
		const char *part;  /* kind and cause of the part with most time: "computes self" */
	} verdict;
	/*
	 * The script of the same scene where what the verdict advises has been done (scene -f), or,
	 * in vain, what it must not advise: then the requests take as long as before.
	 */
	const void *followed;
	bool in_vain;
	bool quick;        /* also on emulated machines */
	bool computes;     /* takes a CPU: no other that goes ahead plays beside it */
	bool alone;        /* on the machine: it is about its CPUs or disks, or cannot share them */
	bool is_about_cpu; /* nobody goes ahead of other programs: that escapes quotas */
	bool open;         /* what netstall says of it is still wrong: played only by name */
	const char *options; /* of netstall trace */
};

extern const struct scene hold_scenes[], window_scenes[], loss_scenes[], wait_scenes[],
	chain_scenes[], uring_scenes[], pool_scenes[], timeout_scenes[], advice_scenes[],
	path_scenes[], datagram_scenes[], cpu_scenes[], accept_scenes[];

/* ---- truth.c ---- */

uint64_t now_ns(void);
void sleep_until(uint64_t ns);
void sleep_ms(uint32_t ms);
/*
 * The calling thread, and those that it starts, go ahead of other programs of this machine if that
 * is allowed: else these would be the cause. Returns whether they did not before.
 */
bool go_ahead(void);
/* Computes, ahead of others; a target's waits for a CPU in it are stalls. */
void spin_ms(struct stage *stage, uint32_t ms);
/* Computes for so long, not ahead of anybody; where it had no CPU meanwhile that is a stall of this
 * cause. NULL: of none. */
void compute_ms(struct stage *stage, uint32_t ms, const char *cause);

/* The time of one thread, cut into phases without gaps. */
struct phases {
	struct stage *stage;
	uint64_t start_ns;
	uint64_t queued_ns; /* all threads of the scene */
	uint64_t own_ns;    /* this one */
	uint32_t tid;
};

/* Whether the stalls of this process are the scene's matter also where no phases are. */
void stage__is_target(bool is_target);

/* The calling thread belongs to the scene: its waits for a CPU are measured from here on. */
void stage__enter(struct stage *stage);

/* Role 0: waits at the gate; everything before is not part of the scene. */
void stage__wait_at_gate(struct stage *stage);

void phases__begin(struct phases *phases, struct stage *stage);

/*
 * Ends a phase. One that lasted is a stall of @cause, or of runqueue if this thread waited for a
 * CPU in most of it; and "unclear" if it would have been no stall, had other threads of the scene
 * not waited for a CPU. NULL: nothing makes this phase slow, so if it was, that is unclear as well;
 * "idle", "cpu": slow by nature, and no stall.
 */
void phases__end(struct phases *phases, const char *cause);

/* A request that began then ends now. */
void stage__request(struct stage *stage, uint64_t start_ns);

/* Of the calling thread, from then to now, whatever it waited for a CPU in it;
 * the verdict must be about it. */
void stage__stall(struct stage *stage, uint64_t start_ns, const char *cause);

/* Time of a request that the verdict must be about; not what the thread waited for a CPU in it. */
struct part {
	uint64_t start_ns;
	uint64_t queued_ns;
};

struct part part__begin(void);
void part__end(struct stage *stage, const struct part *part);

/* What all threads of the scene have waited for a CPU. */
uint64_t stage__queued(struct stage *stage);

void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void cannot(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- net.c ---- */

void stage__listen(struct stage *stage, int backlog);
/* By two listeners, which share the port (SO_REUSEPORT): the other one is listener_behind. */
void stage__listen_twice(struct stage *stage, int backlog);
void stage__listen_ipv6(struct stage *stage);
int connect_to(const struct stage *stage);
int connect_with(const struct stage *stage, int sndbuf);
/* When a request began that this thread began to write then: as it connected, if that was for it.
 */
uint64_t asked_since(uint64_t start_ns);
int accept_one(const struct stage *stage);
/* The same for a server behind the server. */
void stage__listen_behind(struct stage *stage);
int connect_behind(const struct stage *stage);
int accept_behind(const struct stage *stage);
void set_option(int fd, int level, int option, int value);
void write_all(int fd, size_t bytes);
void send_all(int fd, size_t bytes, int flags);
/* Returns whether all came; false at the end of the stream. */
bool read_all(int fd, size_t bytes);
/* A client's request of one write, and its answer; both are recorded. Returns when it began. */
uint64_t stage__ask(struct stage *stage, int fd, size_t request, size_t answer);
void sysctl(const char *name, const char *value);
/* A counter of TcpExt, of the calling process's network namespace. */
uint64_t tcp_counter(const char *name);
void start_thread(void *(*body)(void *), void *arg);

/* ---- path.c ---- */

/* A network namespace of its own, where only loopback is; its routes and sysctls are the scene's.
 */
void stage__private_loopback(struct stage *stage);
/* Two namespaces; role play_path() must carry the segments. @delay_us: each way. */
void stage__path(struct stage *stage, uint32_t delay_us);
/* And with a sysctl of both. */
void stage__path_with(struct stage *stage, uint32_t delay_us, const char *name, const char *value);
role_fn play_path;

/* ---- uring.c ---- */

void uring__open(void);
/* Submits a read and waits for its completion. Returns what read(2) would, or -errno. */
int uring__read(int fd, void *buffer, size_t size);
/* Sends the pieces (0 ends them), one after the other, and receives the answer. */
void uring__exchange(int fd, const uint32_t *pieces, size_t answer);
/* False at the end of the stream. */
bool uring__receive(int fd, size_t bytes);
bool uring__send(int fd, size_t bytes);
/* Takes a request, sleeps by the ring, and answers; false at the end of the stream. */
bool uring__serve(int fd, size_t request, size_t answer, uint32_t late_ms);
/* By a TIMEOUT. */
void uring__sleep(uint32_t ms);
/* A RECV with a LINK_TIMEOUT, which runs out. */
void uring__receive_in_vain(int fd, uint32_t ms);
/* One WRITE. */
void uring__store(int fd, const void *block, size_t size);

/* ---- script.c ---- */

enum piece_way { BY_WRITE, BY_WRITEV, BY_SENDMSG, BY_SENDFILE, BY_SPLICE, BY_MORE };

#define PIECES 6

/* One exchange after the other on one connection. Zero: no such part. */
struct script {
	uint32_t request[PIECES]; /* bytes of each write */
	enum piece_way way;       /* of all but the first; writev: of all in one call */
	uint32_t gap_us;          /* before each but the first */
	uint32_t pipelined;       /* requests before the first reply is awaited */
	uint32_t early_us;        /* after the first piece the server awaits more for so long ... */
	uint32_t early_bytes;     /* ... and sends so many */
	uint32_t serve_us;        /* the server sleeps before it replies */
	uint32_t spin_us;         /* the server computes before it replies */
	uint32_t reply[PIECES];
	uint32_t reply_gap_us;
	uint32_t pause_us; /* between exchanges */
	uint32_t burst;    /* of exchanges, between pauses; 0: one */
	bool nodelay;
	bool cork;                /* around the request, pulled after gap_us */
	uint32_t nodelay_late_us; /* TCP_NODELAY so long after the request */
	bool quickack;            /* the server acknowledges at once */
	uint32_t warmup;          /* exchanges before the gate */
	bool late;                /* connect behind the gate */
	const char *
		unheld_cause; /* where TCP held nothing: a first exchange is acknowledged at once */
	const char *cause;    /* of the time until the reply's first byte */
	uint32_t beside_us;   /* of that, what the cause has no part in: the way back */
	const char *reply_cause; /* from there to its last */
	const char *pause_cause;
};

role_fn play_client, play_server;
/* Behind the gate, one request after the other: what ask() returns is the cause of its time. */
void ask_by_turns(struct stage *stage, int fd, const char *(*ask)(struct phases *phases, int fd));
/* Whether the verdict must be about the server's own time. */
bool is_about_server(const struct stage *stage);
/* One that is not counted. The first behind a sleep takes some tenths of a millisecond more, on
 * cold caches, of which most is before its write. */
void warm_up(int fd, const struct script *script);
/* One, counted; its phases are ended by the script's causes. */
void exchange(struct phases *phases, int fd, const struct script *script);
/* Serves until the other end hangs up. */
void serve(struct stage *stage, int fd, const struct script *script);

#endif
