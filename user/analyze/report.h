/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What netstall knows at the end (and, for a single stall, on the way): the one
 * thing that renderers see. Built by analyze/, const for everybody else.
 *
 * All times are CLOCK_MONOTONIC in ns, all durations ns.
 */
#ifndef NETSTALL_ANALYZE_REPORT_H
#define NETSTALL_ANALYZE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/cause.h"
#include "user/analyze/path.h"
#include "user/analyze/stall_facts.h"
#include "user/analyze/waits/acks.h"
#include "user/model/events.h"

struct report_process {
	uint32_t pid;
	uint32_t ns_pid;                  /* in its own pid namespace when that differs, else 0 */
	uint32_t role;                    /* NS_ROLE_* */
	uint32_t master;                  /* its parent, whose worker it is, 0 nobody's */
	char container[NS_CONTAINER_LEN]; /* as ns_process has it */
	bool exited;
	uint64_t ended; /* which of all exits was its own, 0 none */
	char comm[NS_COMM_LEN];
	/* Of its connections that are not listed. */
	uint64_t past_bytes;
	uint64_t past_exchanges;
};

struct report_thread {
	uint32_t pid;
	uint32_t tid;
	uint32_t role;
	uint32_t voluntary;
	uint32_t involuntary;
	uint64_t on_cpu_ns;
	uint64_t blocked_ns;
	uint64_t runqueue_ns;
	uint32_t migrations;
	uint32_t wakes;
	uint32_t empty_wakes;
	uint64_t ended; /* which of all ends of threads was its own, 0 none */
	char comm[NS_COMM_LEN];
};

/* So many ended processes are listed, and as many threads, and all that stalls and connections
 * name. */
#define REPORT_ENDED 8192

struct report_conn {
	struct ns_conn id; /* addresses, owner, fd, role */
	struct ns_conn_totals totals;
	uint32_t peer; /* the other end's number, 0 when it is not on this host or not seen */
	bool closed;
	uint64_t closing;    /* which closing of all it was */
	uint64_t stalled_ns; /* stalls at this end */
	uint64_t stalled_by; /* a bit for each enum cause, and one for the pace */
	struct acks acks;    /* what the end that opened it writes may be none */
};

/* So many ends of closed connections are listed, two for each stall that is, and more; the others
 * are sums (conns.h says which). */
#define REPORT_CLOSED 4096

#define TRAFFIC_FIN 1 /* what the kernel adds to the bytes received for a FIN */

/* TCP traffic of the target's connections, since netstall first saw each. */
struct traffic {
	size_t connections; /* with bytes in either direction, or an exchange */
	/*
	 * A request and its answer, whichever end the target is: turns between what one end
	 * writes and what it has read before. Where both ends are targets, it counts once.
	 */
	uint64_t exchanges;
	uint64_t bytes_out;
	uint64_t bytes_in; /* with TRAFFIC_FIN for each connection that the other end closed */
	size_t attempts; /* connections without a byte: connects that nobody answered, and idle ones
			  */
};

/* Connections, added up. */
struct conn_sums {
	uint64_t ends;  /* of connections */
	uint64_t conns; /* a peer's end not counted beside its target's */
	uint64_t found; /* of these, with a finding at either end (conns.h) */
	/* Of targets' ends. */
	uint64_t targets;
	uint64_t writes;
	uint64_t exchanges;
	uint64_t asked;    /* exchanges in which the target asks */
	uint64_t accepted; /* the other end has opened them: the target serves */
	struct traffic traffic;
};

/* An io_uring ring of a watched process. */
struct report_ring {
	struct ns_ring id; /* as told last */
};

struct report_uring_error {
	uint32_t error; /* ERRNO, positive */
	uint64_t count;
};

#define REPORT_URING_ERRORS 16 /* of an opcode, the most frequent; the others are one, error 0 */

/* What the targets did with one opcode of io_uring, all their rings together. */
struct report_uring {
	uint32_t opcode;
	uint64_t submitted;
	uint64_t completed; /* CQEs without notifications */
	uint64_t finished;
	uint64_t errors;
	uint64_t notified;
	uint64_t overflowed;
	uint64_t how[NS_URING_HOWS]; /* of completed */
	uint64_t p50_ns;             /* of submission to first completion; 0 with max_ns 0 */
	uint64_t p99_ns;
	uint64_t max_ns;
	size_t error_count;
	struct report_uring_error error[REPORT_URING_ERRORS]; /* most frequent first */
};

struct slice {
	enum cause cause;
	uint64_t ns;
};

#define STALL_SLICES 16

/*
 * One link of the wake chain that a stall was explained by, from the delayed thread backwards:
 * this thread waited from start_ts to end_ts, and what ended that is the next link's matter.
 */
struct stall_link {
	enum cause cause; /* what this link by itself is: peer-app, lock, timer, nagle-delack ... */
	uint64_t start_ts;
	uint64_t end_ts;
	struct ns_wait wait;
	const char *wait_stack;
	const char *waker_stack;
};

#define STALL_LINKS 8

/* A wait that showed the same incident. */
struct stall_wait {
	uint32_t pid;
	uint32_t tid;
	uint32_t conn; /* 0 none */
	uint64_t off_ts;
	uint64_t end_ts;
};

#define SITE_LOOKS 64 /* at a thread that computes: the last ones */

/* Where in their programs: user stacks, text as wait_stack; NULL not taken. */
struct call_sites {
	const char *first_write; /* the two of a hold, */
	const char *second_write;
	const char *read;   /* what the thread had waited for, */
	const char *answer; /* and where the other end wrote that */
	const char *wait;   /* of the chain's last wait that is on no connection: where it begins */
	const char *lock;   /* likewise of its last one for a lock, */
	const char *release; /* and where another thread lets that go */
	const char
		*busy; /* where the thread is that computes, which is most of it: the first look */
	const char *busy_looks[SITE_LOOKS]; /* all of them, in the stall or, of a tally, in its
					       stalls */
	uint32_t busy_count;
	const char *computes; /* what that thread was seen to compute at any time */
	uint32_t wait_pid;    /* whose wait, */
	uint32_t wait_tid;
	uint32_t wait_call; /* in which system call, */
	uint32_t wait_link; /* and of which link of the chain, from 1 on; 0 the stall's own */
	/* How long it waited there, of all its waits in that call of which the place is known, in
	 * the stall or, of a tally, in its stalls; and where it waited most besides. */
	uint64_t wait_ns;
	uint64_t wait_of_ns;
	const char *wait_besides;
	/* Of a tally: in how many of its stalls that have a place. Where some of them are at the
	 * one place and others at the other: in how many at each; else 0. */
	uint32_t wait_of_count;
	uint32_t wait_count;
	uint32_t besides_count;
	uint64_t besides_ns;
};

#define STALL_WAITS 8

/*
 * What the thread that was to read did while bytes were held for it. Only as long as it waited for
 * data, with none left to read, did it lack what was held.
 */
struct stall_reader {
	bool seen; /* else nothing is known */
	uint32_t pid;
	uint32_t tid;
	uint64_t waited_ns; /* for data */
	uint64_t ran_ns;    /* on a CPU */
	uint64_t away_ns;   /* in other waits */
	enum cause away;    /* of most of these; idle: for something else to do */
};

/* The listen queue that a connection lay in. */
struct stall_queue {
	uint32_t port;    /* 0: it is about none */
	uint32_t length;  /* as the connection came, itself included; 0 not known */
	uint32_t backlog; /* of listen() */
	uint32_t somaxconn;
};

/*
 * One incident. Slices are in time order, but see slices__add(), disjoint, and sum to end_ts -
 * start_ts. Steps are the events around it in time order: the writes before, the hold, the timer,
 * the ACK, the release, the wakes; all that a time line shows.
 */
struct stall {
	uint32_t number; /* from 1, in order of their ends */
	enum cause cause;
	enum confidence confidence;
	uint64_t start_ts;
	uint64_t end_ts;
	uint32_t conn; /* the end that held, or waited; 0 none */
	uint32_t peer; /* the other end, 0 not watched */
	/* Whom it delayed, a target if there is one. When no wait was seen: the target that
	 * has this connection, and tid is 0. */
	uint32_t pid;
	uint32_t tid;
	size_t slice_count;
	struct slice slices[STALL_SLICES];
	struct path path; /* whose time it was; count 0: of a hold, which its slices say all of */
	enum stall_missing missing;
	enum stall_inferred inferred; /* with CONFIDENCE_INFERRED */
	enum stall_release released_by;
	bool exact;       /* false: an end of it was not seen itself */
	bool open;        /* it still lasted when the window, or the connection, closed */
	bool tried_again; /* a thread looked for its lock again and again, by a time-out */
	bool is_between;  /* a thread that makes requests was in none */

	uint32_t reason;       /* NS_HOLD_* of what was held */
	uint32_t held_bytes;   /* 0: nothing was held, the stall is a wait */
	struct ns_hold hold;   /* head.type 0: nothing was held, or its record was not seen */
	struct ns_send first;  /* the write that was unacknowledged; head.type 0: not seen */
	struct ns_send second; /* the write that was held */
	uint32_t joined;       /* further writes that were held behind it */
	struct ns_delack arm;  /* the peer's timer was armed (delay_us); head.type 0: not seen */
	struct ns_delack fire; /* the timer; head.type 0: none */
	struct ns_segment ack; /* as it reached the holder; head.type 0: none */
	struct ns_wait wait;   /* the thread that it delayed; head.type 0: not seen */
	/* In it, of a thread of the chain, the longest one; head.type 0: none. */
	struct ns_throttle throttle;
	/* Likewise of a wait for a CPU: who ran there. */
	struct ns_ran ran;
	struct ns_retrans retrans; /* what recovered the loss; head.type 0: nothing was lost */
	uint32_t retransmits;      /* segments sent again during the stall */
	struct call_sites
		sites; /* those of the writes may come from a later stall of this connection */
	struct stall_queue queue;   /* of a connection that was not accepted */
	struct stall_reader reader; /* of a closed or full window, of a full send buffer */
	size_t link_count;          /* 0: the hold explains it, no chain had to be walked */
	struct stall_link links[STALL_LINKS];
	uint32_t wait_count; /* waits that showed this incident; the first STALL_WAITS are kept */
	struct stall_wait waits[STALL_WAITS];
	uint32_t
		others; /* requests on other connections that the busy thread answered meanwhile, */
	uint64_t others_ns; /* and how long it was at them */
	uint32_t request;   /* its own is on this connection; 0: conn says so, if any */
	uint32_t delayed;   /* further ones that it held up, by when it is told */

	size_t step_count; /* 0: figures only, see REPORT_WHOLE_STALLS; at most STALL_STEPS */
	union event *steps;
	const char *wait_stack; /* text, leaf first, ';' between; NULL none */
	const char *waker_stack;
};

/* A stall that has more keeps those which prove it and the earliest of the others. */
#define STALL_STEPS 40
/* Of each cause on each connection this many stalls keep their steps. */
#define REPORT_WHOLE_STALLS 16
/* And all stalls together so many steps. */
#define REPORT_STEPS 16384
/* So many stalls are listed; of the others a brief is left (stalls.h says which). */
#define REPORT_STALLS 1000
/* And of so many of these; further ones only count in the causes. */
#define REPORT_BRIEFS 262144

/* What else a judgement asks of a stall. */
enum stall_trait {
	STALL_WHOLE = 1,       /* every link was seen, and both ends of it exactly */
	STALL_END_GUESSED = 2, /* held, and nobody knows when it was released */
	STALL_PEER_UNSEEN = 4, /* held, and the other end's part in it was not seen */
	STALL_ON_CONN = 8,     /* there is a connection in it */
	STALL_HELD = 16,       /* bytes were held */
	STALL_BETWEEN = 32,    /* struct stall.is_between */
	STALL_PACE = 64,       /* stall__is_pace() */
};

/* A stall that is not listed. */
struct stall_brief {
	uint64_t start_ts;
	uint64_t ns;
	uint32_t conn;
	uint16_t cause;  /* enum cause */
	uint16_t traits; /* enum stall_trait */
};

struct tally;

#define CAUSE_ENDS 4 /* listed of a cause */

/* Of the stalls of a cause those on the connections of one endpoint. */
struct cause_end {
	uint64_t count;
	uint64_t total_ns;
	uint64_t p50_ns;
	uint64_t conns;
	const struct tally *main; /* the connection on which it took most */
};

struct report_cause {
	enum cause cause;
	bool is_pace; /* stall__is_pace() is true of all of them, else of none */
	uint32_t count;
	/* That these stalls held up, 0: no more than one each. One thread may have many at a time.
	 */
	uint64_t requests;
	uint64_t total_ns;
	uint64_t max_ns;
	/* Filled at the end: */
	uint64_t p50_ns;
	uint64_t p99_ns;
	uint64_t covered_ns;     /* of the window: what several stalls have in common counts once */
	uint64_t in_requests_ns; /* likewise, of stalls that are not between requests */
	/* What it took of requests of at least the threshold: of those made or of those served,
	 * whichever took more. */
	uint64_t slow_ns;
	double share; /* of the window, 0..1: covered_ns */
	double in_requests_share;
	uint64_t whole;           /* stalls of which every link was seen */
	uint64_t inferred;        /* stalls of which a link is deduced */
	uint64_t conns;           /* connections it was seen on */
	uint64_t served;          /* stalls on connections that a target accepted, */
	uint64_t made;            /* and on others */
	const struct tally *main; /* the connection on which it took most; NULL: none */
	/* Where TCP or the other end is the cause at several endpoints, each with a tenth of its
	 * time at least: these, most first, and `main` is of the first one. 0: of one alone. */
	size_t end_count;
	struct cause_end ends[CAUSE_ENDS];
};

#define REPORT_CAUSES (CAUSE_COUNT + 1) /* the pace beside the other stalls of its cause */

/* Where an exchange's time went: a cause for each part, in time order. */
struct request_view {
	uint64_t total_ns;
	enum confidence confidence; /* inferred: the other end's part was not seen itself */
	size_t slice_count;
	struct slice slices[STALL_SLICES];
};

#define REQUEST_BIN_SLICES 6

/* Requests that took from_ns to less than to_ns. */
struct request_bin {
	uint64_t from_ns, to_ns;
	uint64_t count; /* in the window, by the sample */
	/* The mean of some of them: by cause, most first; causes beyond these are left out. */
	size_t slice_count;
	struct slice slices[REQUEST_BIN_SLICES];
};

enum request_role {
	REQUEST_MADE, /* by a target */
	REQUEST_SERVED,
	REQUEST_ROLES
};

/* Who asks or serves, and where. port 0: several together, or not known. */
struct request_end {
	char comm[NS_COMM_LEN]; /* of the target */
	uint32_t family;        /* of the address that it asks; 0: it serves, at any of its own */
	uint32_t addr[4];
	uint32_t port;
};

#define REPORT_PAST_ENDS 256 /* endpoints of connections that are not listed */

/* What targets' connections that are not listed had in common. */
struct past_end {
	enum request_role role;
	struct request_end end;
	uint64_t connections;
	uint64_t exchanges;
};

#define REPORT_SERVICES 1024 /* as the kernel side has: NS_SERVICES */

#define REQUEST_CONNS 32 /* connections listed, most exchanges first */

/* Who answers requests, as far as it is on this host, and how often they come. */
struct request_service {
	uint32_t threads; /* that serve one at a time; 0: one of them several, or not seen */
	uint64_t each_ns; /* from when one of these has read it to its last write, at the mean */
	uint32_t callers; /* connections */
	/* On each of these, from an answer to the next request, at the median; UINT64_MAX: there is
	 * none. */
	uint64_t pause_ns;
};

/*
 * The requests that a target made, or served, by their sample: all, or those of an endpoint, so
 * that two services do not share a median, or of a connection.
 */
struct report_requests {
	enum request_role role;
	struct request_end end;
	uint32_t conn;        /* 0: of several connections together */
	uint64_t connections; /* of this endpoint, also those without a request; conn: 1 */
	uint64_t count;       /* exchanges in the window */
	uint64_t sampled;     /* of these, taken apart */
	/* Connections of these on which bytes went both ways at a time: no turns, and no requests
	 * one by one. */
	uint64_t several;
	/* Of a connection, else 0: for how much of the window it was at one of them, and how many
	 * threads made, or served, those that were taken apart. */
	double busy;
	uint32_t threads;
	struct request_service service; /* of one endpoint alone */
	struct request_view median;
	struct request_view p99;
	/* From the shortest to the longest, also those without a request; not of a connection. */
	size_t bin_count;
	struct request_bin *bins;
};

#define REPORT_PROGRAMS 64 /* listed, the worst first */

/*
 * What the requests of a process come to, of those it serves where it serves any, else of those it
 * makes; and the stalls in both, also where the other end is a target and has them too.
 */
struct report_program {
	uint32_t pid;
	uint64_t made;   /* requests in the window */
	uint64_t served; /* likewise */
	uint64_t median_ns;
	uint64_t p99_ns;          /* 0: none was taken apart */
	uint64_t stalls;          /* of all causes, between requests none */
	uint64_t stalled_ns;      /* of the window: what several have in common counts once */
	enum cause cause;         /* that took most of it, with stalls */
	uint64_t of_cause;        /* stalls */
	const struct tally *main; /* its connection on which that was most; NULL not known */
};

#define REPORT_OPEN 16 /* open requests listed, the oldest first */

/* A request without an answer when the window ends. */
struct report_open {
	enum request_role role;
	struct request_end end;
	uint32_t conn;
	uint64_t age_ns;
	bool is_older;            /* it began before the window, so long ago or longer */
	struct request_view view; /* of its time in the window */
};

/* Something about how the program uses its connections or CPUs that is out of the ordinary. */
enum habit {
	HABIT_WAKE_BOUND,
	HABIT_SWITCHES,
	HABIT_LATENT,
	HABIT_SMALL_WRITES,
	HABIT_EMPTY_WAKES,
	HABIT_PREEMPTED,
	HABIT_KINDS
};

struct report_habit {
	enum habit habit;
	uint32_t pid;
	uint32_t tid;  /* 0: of a connection, or the process */
	uint32_t conn; /* 0: of a thread */
	/* As far as they belong to it: */
	uint64_t count;     /* writes; held ones; threads */
	uint64_t bytes;     /* of a write on average, or for each wake */
	double per_s;       /* wakes or preemptions; MiB of a bulk transfer */
	double share;       /* of the wakes or writes; of the requests; of the time it has work */
	double close_share; /* of the writes: they follow another at once */
	double switches;    /* for each exchange, or each MiB */
	bool is_local;      /* the other end is on this host, and */
	bool by_acks;       /* it acknowledges without data; else its answers do */
};

#define REPORT_HABITS 32

#define REPORT_FAILED 16

/* Connects to one address that ended in one way. */
struct report_failed {
	uint64_t last_ts;
	uint32_t pid;   /* of that last one */
	uint32_t error; /* errno; 0: the program gave up */
	uint32_t family;
	uint32_t addr[4];
	uint32_t port;
	uint64_t count;
	uint64_t total_ns;
};

#define REPORT_LISTENERS 16

/* What the listeners of targets on a port dropped. */
struct report_listener {
	uint64_t last_ts;
	uint32_t pid; /* of that last drop */
	uint32_t port;
	uint32_t backlog; /* of listen() */
	uint32_t somaxconn;
	uint64_t drops; /* SYNs and last ACKs of handshakes */
};

#define REPORT_MARKS 64

/* What the user said then, and what came behind it, up to the next one. */
struct report_mark {
	uint64_t ts;
	char text[NS_MARK_LEN];
	uint64_t stalls; /* that began then */
	uint64_t stalled_ns;
};

struct report {
	struct ns_session session;
	struct ns_refused refused[NS_FACT_COUNT]; /* by fact; without a type: it was not */
	uint64_t start_ts;
	uint64_t end_ts;
	uint64_t events; /* records that came in */
	uint64_t lost[NS_LOST_KINDS];
	bool complete;     /* nothing lost that could hide a stall */
	bool interim;      /* the run went on */
	uint64_t blind_ns; /* of the window, time in which such was lost */
	uint32_t children; /* processes below a target, not watched, that had connections */

	size_t process_count;
	struct report_process *processes;
	uint64_t processes_ended;
	uint64_t processes_not_kept; /* of these, not listed */
	size_t thread_count;
	struct report_thread *threads;
	uint64_t threads_ended;
	uint64_t threads_not_kept;
	uint64_t ended_cut_at; /* so many ends: both lists are looked through; 0 not said yet */
	size_t conn_count;     /* listed */
	struct report_conn *conns;
	size_t closed_count; /* of these */
	uint64_t closings;
	uint64_t conns_cut_at; /* so many of these: the list is looked through, if it is too long */
	struct conn_sums past; /* connections that are not listed */
	/* Those of targets, by endpoint, and how many there was no room for. */
	size_t past_end_count;
	struct past_end past_ends[REPORT_PAST_ENDS];
	uint64_t past_without_end;
	size_t service_count; /* of those that the kernel side added up: as they were told last */
	struct ns_service *services;
	size_t ring_count; /* at the end those of targets, by number; on the way peers' as well */
	struct report_ring *rings;
	size_t uring_count; /* opcodes that occurred, most completions first; filled at the end */
	struct report_uring *uring;
	size_t stall_count; /* listed, in the order of their numbers */
	struct stall *stalls;
	size_t step_count;      /* of all these */
	size_t stalls_not_kept; /* not listed */
	size_t brief_count;     /* of these */
	struct stall_brief *briefs;
	uint64_t judged_from; /* the first stalls from then on are listed too; 0 no such time */
	size_t cause_count;   /* only causes that occurred; at the end by covered_ns, most first */
	struct report_cause causes[REPORT_CAUSES];
	uint64_t longest_wait_ns; /* of a target thread with work owed, no stall; 0: not seen */
	enum cause longest_wait_cause;
	/* The longest wait of a target for what an end that it did not ask, as far as was seen,
	 * sends next; type 0: none. */
	struct ns_wait not_asked;
	uint64_t unfollowed_ns;      /* in long waits on sockets that netstall does not follow, */
	const char *unfollowed_kind; /* of which most is of this kind; NULL: none */
	/* What the target's threads waited for, by cause, in waits of at least the threshold;
	 * idle among them. */
	uint64_t waited_ns[CAUSE_COUNT];
	size_t requests_count;
	/* Those made, then those served; of each all together first, where there are several
	 * endpoints then by endpoint, then by connection, most first. */
	struct report_requests *requests;
	/* Where every process is a target (session.machine); those without a request or stall are
	 * not counted. */
	size_t program_count;
	uint64_t programs_not_listed;
	struct report_program *programs;
	/* Requests of targets that got no answer, until their connection was closed; of the median
	 * one so long. */
	uint64_t unanswered_count;
	uint64_t unanswered_ns;
	uint64_t open_count; /* requests of targets that have none yet, of at least the threshold */
	struct report_open open[REPORT_OPEN];
	size_t failed_count; /* connects of targets that came to nothing, by whom they were to
				reach; */
	struct report_failed failed[REPORT_FAILED];
	uint64_t failed_not_kept; /* and those for which there was no room */
	size_t listener_count;    /* ports of targets at which connection attempts were dropped, */
	struct report_listener listeners[REPORT_LISTENERS];
	uint64_t drops_not_kept; /* and how many were at ports for which there was no room */
	size_t mark_count;       /* in their order, */
	struct report_mark marks[REPORT_MARKS];
	uint64_t marks_not_kept; /* and those for which there was no room */
	size_t habit_count;
	struct report_habit habits[REPORT_HABITS];
};

/* NULL when the number is not there. */
const struct report_conn *report__conn(const struct report *report, uint32_t number);
/* The other end on this host; NULL when there is none, or conn is NULL. */
const struct report_conn *report__peer(const struct report *report, const struct report_conn *conn);
/* It is not just the other end of a target's connection, which tells of both. */
bool report__stands_for_itself(const struct report *report, const struct report_conn *conn);
const struct report_process *report__process(const struct report *report, uint32_t pid);
/* What the thread (tid 0: the process) calls itself; NULL when nobody knows. A thread of its own
 * name goes before its process. Not made safe to print. */
const char *report__comm(const struct report *report, uint32_t pid, uint32_t tid);
/* The process that has a connection, by what is known of it or by the connection's own record. */
const char *report__end_comm(const struct report *report, const struct report_conn *conn);
const struct stall *report__stall(const struct report *report, uint32_t number);
/* Of other stalls than the pace, where there are any. */
const struct report_cause *report__cause(const struct report *report, enum cause cause);
/*
 * The cause that a verdict is about: the one that took most of slow requests (slow_ns, at most
 * twice what its stalls held requests up), or of the window in what is not between requests
 * (in_requests_ns), or where nothing was in any most of all (covered_ns). One that can be changed
 * goes before one that is given (struct cause_info.is_given) if it took at least half as much; the
 * pace leads alone. Of a whole machine that of programs[0], the worst, and never the pace. NULL:
 * none.
 */
const struct report_cause *report__leading(const struct report *report);
/* What a target's end of a connection does there, and where. comm: of its process, NULL not known.
 */
enum request_role request_role__of(const struct ns_conn *conn);
/* The port that names its service: of the end that did not connect. */
uint32_t service__port(const struct ns_conn *conn);
struct request_end request_end__of(const struct ns_conn *conn, const char *comm,
				   enum request_role role);
struct request_end report_conn__end(const struct report *report, const struct report_conn *conn);
bool request_end__is(const struct request_end *a, const struct request_end *b);
/*
 * Do two connections, by number, go to one endpoint, whoever asks there? Where a program's own
 * writes are the cause (CAUSE_GROUP_WRITES), the same program must ask. Not if one is unknown.
 */
bool report__have_same_end(const struct report *report, enum cause cause, uint32_t a, uint32_t b);
/* The one of its endpoints that this connection is of; NULL: of none that is listed. */
const struct cause_end *report__cause_end(const struct report *report,
					  const struct report_cause *cause, uint32_t conn);
/*
 * The stall that stands for all of this cause on this connection (0: on any, of several endpoints
 * of the first), in whatever shows one: a typical one, of their median. NULL: none has its steps.
 */
const struct stall *report__example(const struct report *report, enum cause cause, uint32_t conn);
/* "makes", "serves": in JSON */
const char *request_role__id(enum request_role role);
/* So much of its time is of that cause. */
uint64_t request_view__part(const struct request_view *view, enum cause cause);
/* What most of its time is; unknown: of nothing. */
enum cause request_view__most(const struct request_view *view);
/* Of requests[row]: those of one endpoint; where a role has but one, all together are its. */
bool report__is_endpoint(const struct report *report, size_t row);
/* Nothing that could hide a stall was lost or is not visible. */
bool report__is_complete(const struct report *report);
/* All facts were in sight, and what was lost is of a hundredth of the window at most. */
bool report__is_nearly_complete(const struct report *report);
/* Shorter waits were not looked at. */
uint64_t report__threshold(const struct report *report);

#endif
