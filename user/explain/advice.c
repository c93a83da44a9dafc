// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/advice.h"

#include <string.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/explain/template.h"

/*
 * Of each cause what is to be recommended first comes first.
 * For a cause without a row it is what the row of the cause says.
 */

#define NAGLES  FOR(NAGLE_DELACK) | FOR(NAGLE)
#define LOSSES  FOR(RTO) | FOR(TLP) | FOR(FAST_RETRANSMIT)
#define READERS FOR(RWND) | FOR(ZERO_WINDOW) | FOR(SNDBUF)
/* Behind "do not"; an event loop sleeps for its next timer. */
#define SLEEP_THERE                                                                                \
	"[{?is_in_loop}wait for a timer of its event loop ({doer_call}[ in {sleep_place}])"        \
	"|sleep[ in {doer_call}][, called in {sleep_place},]]"
#define ROOTED FOR(PEER_APP) | FOR(LOCK) | FOR(IPC) | FOR(UDP) | FOR(DNS)

/* clang-format off */
static const struct template advice[] = {
	{NAGLES, "{?receiver}"
	 "In the program at {other}, write all pieces of a message at once (one buffer, writev(), or MSG_MORE on all but "
	 "the last): {saves}."},
	{NAGLES, "{?receiver}"
	 "Or set TCP_NODELAY there: {saves}, with a segment for each piece."},
	{NAGLES, "{?by_ring}{!receiver}{?two}"
	 "In {program},[ in {both_in},] submit both pieces as one operation (one buffer, or one IORING_OP_SENDMSG with an iovec for "
	 "each): {saves}, and one segment fewer."},
	{NAGLES, "{?by_ring}{!receiver}{?two}"
	 "Or set MSG_MORE in sqe->msg_flags of the first SEND, and link them (IOSQE_IO_LINK) so that they stay in order: "
	 "the same saving."},
	{NAGLES, "{?by_ring}{!receiver}{!two}"
	 "In {program},[ in {both_in},] submit {pieces} pieces as one operation (one buffer, or one IORING_OP_SENDMSG with an iovec for "
	 "each): {saves}, and one segment fewer."},
	{NAGLES, "{?by_ring}{!receiver}{!two}"
	 "Or set MSG_MORE in sqe->msg_flags of all SENDs but the last, and link them (IOSQE_IO_LINK) so that they stay "
	 "in order: the same saving."},
	{NAGLES, "{!by_ring}{!receiver}{?two}"
	 "In {program},[ in {both_in},] write both pieces at once (one buffer, writev(), or MSG_MORE on the first): {saves}, and one "
	 "segment fewer."},
	{NAGLES, "{!by_ring}{!receiver}{!two}"
	 "In {program},[ in {both_in},] write all {pieces} pieces at once (one buffer, writev(), or MSG_MORE on all but the last): "
	 "{saves}, and one segment fewer."},
	/* With TCP_NODELAY each write is a segment; held ones left together in one. */
	{NAGLES, "{!by_ring}{!receiver}{?two}"
	 "Set TCP_NODELAY on {fd} in {sender}: {saves}, with as many segments as now[: {segments_now} for each request]."},
	{NAGLES, "{?by_ring}{!receiver}{?two}"
	 "Set TCP_NODELAY on {fd} in {sender} (setsockopt(), once, no ring needed): {saves}, with as many segments as "
	 "now[: {segments_now} for each request]."},
	{NAGLES, "{!by_ring}{!receiver}{!two}"
	 "Set TCP_NODELAY on {fd} in {sender}: {saves}, at the price of up to {more_segments} more segment[{!one_more_segment}s] for {a_message} than "
	 "now[: {segments_now} for each request]."},
	{NAGLES, "{?by_ring}{!receiver}{!two}"
	 "Set TCP_NODELAY on {fd} in {sender} (setsockopt(), once, no ring needed): {saves}, at the price of up to "
	 "{more_segments} more segment[{!one_more_segment}s] for {a_message} than now[: {segments_now} for each request]."},
	{NAGLES, "{!by_ring}{!receiver}"
	 "Where the pieces come from code that cannot be joined: set TCP_CORK on {fd} before the first and clear it after "
	 "the last: the same saving, one segment fewer, two system calls more."},

	{FOR(CORK), "{?msg_more}{?by_ring}"
	 "In {program}, leave MSG_MORE out of sqe->msg_flags of the last SEND of {a_message} on {fd}: {saves}, with as "
	 "many segments as now."},
	{FOR(CORK), "{?msg_more}{!by_ring}"
	 "In {program}, leave MSG_MORE out of the last write of {a_message} on {fd}: {saves}, with as many segments as "
	 "now."},
	{FOR(CORK), "{!msg_more}"
	 "In {program}, clear TCP_CORK on {fd} right after the last write of {a_message}: {saves}, with as many segments "
	 "as now."},
	{FOR(CORK), "{!by_ring}"
	 "Write the whole {message} with one writev() and hold nothing back: the same saving, with as many segments as "
	 "now."},
	{FOR(CORK), "{?by_ring}"
	 "Write the whole {message} with one IORING_OP_SENDMSG and hold nothing back: the same saving, with as many "
	 "segments as now."},

	{FOR(CWND), "{?conn_resent}"
	 "Find the loss on the way to {other} first: it is what keeps the window small ({saves} at most)."},
	{FOR(CWND), "{?is_kept}"
	 "Set net.ipv4.tcp_slow_start_after_idle=0, where the path can bear that: else each pause of the connection makes the "
	 "window small again. At most this {saves}."},
	{FOR(CWND), "{!is_kept}"
	 "Keep one connection to {other_program} open and in use rather than new ones: its window has grown already. A "
	 "pause makes it small again unless net.ipv4.tcp_slow_start_after_idle is 0. At most this {saves}."},
	{FOR(CWND),
	 "Send less, or let the route begin with a larger window (ip route change ... initcwnd N), if the path can bear "
	 "that."},

	/* A larger window or buffer is filled as fast, and then it is as before. */
	{READERS, "{?reader_does}"
	 "Let {reader} read sooner, in a thread of its own, or before it does other work: at most this {saves}. No window and "
	 "no buffer does: it would be filled, and then it is as before."},
	{READERS, "{?reader_computes}"
	 "Let {reader} compute less between two reads: {reader_profile} shows where. No window and no buffer makes "
	 "it faster; one that holds a whole {message} only lets {sender} go on before the reader is done."},
	{FOR(RWND) | FOR(ZERO_WINDOW), "{?reader_waits}"
	 "Give the receiver ({other}) a larger window: set no SO_RCVBUF there, so that the kernel adapts it, or a larger "
	 "one; or raise the third number of net.ipv4.tcp_rmem: {saves}."},
	{FOR(SNDBUF), "{?reader_waits}"
	 "In {program}, set no SO_SNDBUF on {fd}, so that the kernel adapts it, or a larger one; or raise the third "
	 "number of net.ipv4.tcp_wmem: {saves}."},
	{FOR(RWND), "{!reader}"
	 "See what the program at {other} does meanwhile (netstall at that end). If it waits for data, give it a larger "
	 "window: set no SO_RCVBUF there, or a larger one. If it does not, no buffer helps: let it read sooner."},
	{FOR(ZERO_WINDOW), "{!reader}"
	 "See what the program at {other} does instead of reading (netstall at that end), and let it read sooner: no window "
	 "and no buffer helps."},
	{FOR(SNDBUF), "{!reader}"
	 "See what the program at {other} does meanwhile (netstall at that end). If it waits for data, set no SO_SNDBUF on "
	 "{fd} in {program}, or a larger one. If it does not, no buffer helps: let it read sooner."},
	{FOR(SNDBUF), "{!reader}"
	 "Write without blocking (O_NONBLOCK and poll), where {program} has other work to do meanwhile."},

	{FOR(PACING),
	 "In {program}, raise or drop SO_MAX_PACING_RATE on {fd}, if it is set there: {saves}."},
	{FOR(PACING),
	 "If the congestion control paces by itself (bbr does), the rate is what it measured of the path: ss -ti shows it "
	 "as pacing_rate."},
	/* Had it sent the small segment at once, that would have waited in the device's queue. */
	{FOR(TSQ) | FOR(AUTOCORK),
	 "Look why the device is behind: its queue (tc -s qdisc), a rate limit there, a virtual device whose host is "
	 "busy: at most this {saves}."},
	{FOR(TSO_DEFER),
	 "Write the end of {a_message} together with what goes before it, so that TCP sees that nothing follows: at most "
	 "this {saves}."},
	{FOR(AUTOCORK),
	 "Where the device is not behind and only reports late what it has sent (interrupts that it joins), write each "
	 "{message} at once in {program} (one buffer, or writev()), or set net.ipv4.tcp_autocorking=0. What must wait in its "
	 "queue is no sooner there by that."},

	{LOSSES,
	 "Find where segments between here and {other} are dropped: counters of the devices (ip -s link, ethtool -S), of "
	 "queues (tc -s qdisc) and of the kernel (nstat) at both ends, firewalls on the way: without the loss this "
	 "{saves}."},
	{FOR(RTO),
	 "If the round trip is far below 200 ms and loss cannot be avoided, a shorter least time-out on the route (ip "
	 "route change ... rto_min 20ms) shortens each such wait. It does not mend the loss."},
	{FOR(SYN_RETRANSMIT), "{?is_queue_full}"
	 "Let the program that listens on port {listen_port} call accept() sooner: in a thread of its own, or in more "
	 "processes. Answered at once it {saves}."},
	{FOR(SYN_RETRANSMIT), "{?is_queue_full}"
	 "Where connections come in bursts, set a larger backlog in listen() there (it is {listen_backlog})[, and "
	 "net.core.somaxconn at least as large (it is {somaxconn})]."},
	{FOR(SYN_RETRANSMIT), "{!is_queue_full}"
	 "At {other}, look whether the listen queue overflows (nstat -az TcpExtListenDrops TcpExtListenOverflows; ss -ltn "
	 "shows queue and limit); then accept() sooner, or set a larger backlog in listen() and net.core.somaxconn. Answered "
	 "at once it {saves}."},
	{FOR(SYN_RETRANSMIT), "{!is_queue_full}"
	 "If these counters stand still, look for a firewall or for loss on the way."},
	{FOR(SYN_RETRANSMIT),
	 "Keep connections open and use them again: each new one can meet this."},

	{FOR(PEER_APP) | FOR(NETWORK), "{!acked}{?conn_busy}"
	 "If requests wait in front of this connection, let {program} have more to {other_program}: [{takers} threads take turns "
	 "on it, ]it is at a request for {conn_busy} of the time, and the next one follows [{follows} after each answer|at once]."},
	/* What a program does with its own time is not for netstall to mend; it names the thread and the call. */
	{ROOTED | FOR(SELF), "{?is_computing}{?is_collecting}"
	 "{doer} collects garbage, or does other work for which all threads stand still (-Xlog:gc,safepoint says which): let the program "
	 "allocate less[, as in {release_place}], or give it more heap (-Xmx) or a collector that stops it for shorter (-XX:+UseZGC): at most this {saves}."},
	{ROOTED | FOR(SELF), "{?is_computing}{!is_collecting}"
	 "Make what {doer} computes meanwhile[, {busy_low} to {busy_high} of it in {busy_place},|[, [{?is_busy_most}most|some] of it in {busy_place},]] cheaper; profile it on the CPU ({doer_profile}): at most this "
	 "{saves}."},
	{FOR(LOCK), "{?is_interpreter_lock}{?is_computing}"
	 "Move that to a process of its own (multiprocessing, ProcessPoolExecutor), or into code that lets go of the interpreter lock while "
	 "it computes: at most this {saves}."},
	{ROOTED, "{?is_unread}"
	 "Let {doer} read sooner: in a thread of its own, or before it does other work: at most this {saves}."},
	{FOR(PEER_APP) | FOR(SELF), "{?others}"
	 "Let more threads, or processes, answer than {doer} alone."},
	{FOR(PEER_APP) | FOR(TIMER) | FOR(LOCK) | FOR(IPC), "{?acked}"
	 "If the {acked} that {acker} writes acknowledge what it has read: nothing, until {pusher} has something to send."},
	{FOR(PEER_APP), "{?acked}{?is_sleeping}"
	 "If they ask for something: in {doer}, do not " SLEEP_THERE " before {pusher} answers[ in {doer_place}]; wait for the event itself."},
	{FOR(TIMER), "{?acked}"
	 "If they ask for something: shorten the time that [{doer}|{waiter}] asks for[ in {doer_call}][, called in {sleep_place}], or let "
	 "what it waits for wake it."},
	{FOR(PEER_APP), "{?is_sleeping}{?is_depending}"
	 "In {doer}, do not " SLEEP_THERE " while a client of {waiter} waits for what it sends; wait for the event "
	 "itself: at most this {saves}."},
	{FOR(PEER_APP) | FOR(UDP) | FOR(DNS), "{?is_sleeping}{!is_depending}"
	 "In {doer}, do not " SLEEP_THERE " between the request and its answer[, written in {doer_place}]; wait for the event itself: at most this "
	 "{saves}."},
	{FOR(LOCK), "{?is_sleeping}"
	 "In {doer}, do not " SLEEP_THERE " while another thread waits for its lock or signal; wait for the event "
	 "itself: at most this {saves}."},
	{FOR(IPC), "{?is_sleeping}"
	 "In {doer}, do not " SLEEP_THERE " while another thread or process waits for it; wait for the event "
	 "itself: at most this {saves}."},
	{ROOTED, "{?is_locked}"
	 "Shorten what is done under the lock that {doer} waits for[, which {release_place} lets go], or take it for less: at most "
	 "this {saves}."},
	{ROOTED, "{?does_io}"
	 "Take the block I/O of {doer}[ in {doer_call}] out of what others wait for (cache, another thread, a faster disk): at "
	 "most this {saves}."},
	{ROOTED, "{?is_at_quota}"
	 "Give [cgroup {cgroup}|the cgroup of {doer}] a larger CPU quota[ than {quota} in each {period}] (cpu.max, or "
	 "cpu.cfs_quota_us), or none: at most this {saves}."},
	{ROOTED, "{?has_no_cpu}{!is_at_quota}"
	 "Give {doer} a CPU sooner: see the quota of its cgroup (cpu.max, cpu.stat), priorities, and the load of its "
	 "CPUs: at most this {saves}."},
	{FOR(DNS), "{?is_unanswered}"
	 "Take {other} out of /etc/resolv.conf, or mend it: while it stands there, each lookup that comes to it waits. \"options "
	 "timeout:1 attempts:2\" there makes that shorter: {saves}."},
	{FOR(DNS), "{?in_turn}"
	 "Ask for both kinds of address at a time, or only for the one that is used (AF_INET, AI_ADDRCONFIG). Where "
	 "/etc/resolv.conf has \"options single-request\", take that out."},
	{FOR(DNS),
	 "Ask the name once and keep the address, or ask ahead, off the way of a request."},
	{FOR(DNS),
	 "Let a resolver on this host that caches stand between (systemd-resolved, unbound, dnsmasq; nscd): a name that was asked "
	 "before is answered at once."},
	{FOR(UDP), "{?is_unanswered}"
	 "See whether anybody listens at {other}, and whether what it receives is dropped: there nstat -az UdpNoPorts "
	 "UdpRcvbufErrors UdpInErrors, on the way firewalls and counters of the devices. {program} waits out its own time-out "
	 "each time: {saves}."},
	{FOR(UDP) | FOR(DNS), "{?drops}"
	 "Give the socket a larger receive buffer (SO_RCVBUF; net.core.rmem_max bounds it), or read sooner: what finds no room is "
	 "lost."},
	{FOR(UDP), "{!is_unanswered}{?is_open_ended}"
	 "Look at what takes that long at {answerer}; send the next datagram without waiting for the answer to this one, where the "
	 "protocol allows: at most this {saves}."},
	{FOR(ACCEPT_QUEUE), "{?serves_others}"
	 "Let more processes or threads answer what comes[ on port {listen_port}], or let each answer sooner: {acceptor} is at another request "
	 "meanwhile, and to accept() sooner would leave this one in a queue of its own. At most this {saves}."},
	{FOR(ACCEPT_QUEUE), "{!serves_others}"
	 "Let {acceptor} call accept() sooner: in a thread of its own that does nothing else, not between requests: at most "
	 "this {saves}."},
	{FOR(ACCEPT_QUEUE), "{!serves_others}"
	 "Or let more processes or threads accept[ on port {listen_port}], each from a queue of its own (SO_REUSEPORT)."},
	{FOR(ACCEPT_QUEUE),
	 "A longer queue (the backlog of listen(), net.core.somaxconn) makes nobody wait for less, and more connections make "
	 "all wait for more."},
	{FOR(URING),
	 "See the operations of its rings one by one while this happens: netstall trace --events=uring {wait_target}"},
	{FOR(PEER_APP) | FOR(UNKNOWN), "{?is_open_ended}{?is_of_shorts}"
	 "See what {doer} waits for, however short each wait is: netstall offwake {doer_target}"},
	{FOR(PEER_APP), "{?is_open_ended}{!is_of_shorts}{look_there}"},
	{FOR(URING), "{?local}{look_there}"},
	{FOR(UNKNOWN), "{!is_of_shorts}{?local}{?asks}{!is_held}{look_there}"},
	{FOR(UNKNOWN), "{!is_of_shorts}{!asks}{!is_held}See all that {waiter} waits for, however short each wait is: netstall offwake {wait_target}"},
	{FOR(PEER_APP), "{!acked}{?is_depending}"
	 "If it cannot send sooner: see what makes a request depend on it (a queue that it fills, a pool of one, a lock that it holds)."},
	{FOR(PEER_APP), "{!acked}{!is_depending}{!conn_busy}"
	 "If {other_program} cannot answer sooner: send further requests meanwhile (pipelining, or more connections) "
	 "rather than wait for each in turn."},
	{FOR(LOCK), "{?is_open_ended}"
	 "Look at what {waker} does before it wakes {waiter}: a lock that is held for too long, or work that it waits to "
	 "be handed: at most this {saves}."},
	{FOR(LOCK), "{?is_open_ended}{!waker}"
	 "Look for the lock that {waiter} waits for, and for who holds it: at most this {saves}."},
	{FOR(IPC), "{?is_open_ended}"
	 "Look at what {waker} does before it [{?is_for_its_reader}reads what {waiter} writes to it|writes or signals to {waiter}]: at most this {saves}."},
	{FOR(IPC), "{?is_open_ended}{!waker}"
	 "Look at who [{?is_for_its_reader}reads what {waiter} writes there, and how soon|writes to what {waiter} waits for]: at most this {saves}."},
	{FOR(NETWORK),
	 "Fewer round trips: ask for more at once, send requests without waiting for each answer, keep connections open. "
	 "Nothing in this host makes the way to {other} shorter."},
	{FOR(THROTTLED),
	 "Give [cgroup {cgroup}|its cgroup] a larger CPU quota[ than {quota} in each {period}] (cpu.max, or cpu.cfs_quota_us; a CPU "
	 "limit of its container), or none: at most this {saves}."},
	{FOR(THROTTLED),
	 "Where the quota must stay: fewer threads that run at a time (a pool as large as the quota, not as the machine), or "
	 "less work in a burst. A shorter period with the same share makes each such wait shorter, not rarer."},
	{FOR(RUNQUEUE), "{?is_most_steal}{ask_the_host}"},
	{FOR(RUNQUEUE), "{?is_most_irq}{move_interrupts}"},
	{FOR(RUNQUEUE), "{?one_cpu}"
	 "Let {queued} run on more than that one CPU (taskset, cpuset.cpus), or keep {runner} off it: at most this {saves}."},
	{FOR(RUNQUEUE), "{?allowed}{!one_cpu}"
	 "Let {queued} run on more than {allowed} of the {cpus} CPUs (taskset, cpuset.cpus), or keep {runner} off these: at most "
	 "this {saves}."},
	{FOR(RUNQUEUE), "{?is_background}"
	 "Give {queued} its normal priority (renice 0, chrt -o): at most this {saves}."},
	{FOR(RUNQUEUE), "{?is_real_time}"
	 "Take real-time priority from {runner}, or keep it to CPUs of its own: at most this {saves}."},
	{FOR(RUNQUEUE), "{?is_own}"
	 "Let fewer threads of {program} run at a time than there are CPUs for it: at most this {saves}."},
	{FOR(RUNQUEUE), "{?irq_time}{!is_most_irq}{move_interrupts}"},
	{FOR(RUNQUEUE), "{?steal_time}{!is_most_steal}{ask_the_host}"},
	{FOR(RUNQUEUE),
	 "Look for a shortage of CPU: a quota of its cgroup (cpu.max; nr_throttled in cpu.stat), more runnable threads "
	 "than CPUs (vmstat, column r), an affinity that puts several on one CPU: at most this {saves}."},
	{FOR(RUNQUEUE),
	 "If {queued} matters more than what else runs here: a higher weight (cpu.weight, nice), or CPUs of its own."},
	{FOR(DISK), "{?ring}"
	 "{waiter} submits its block I/O to a ring and then waits for it all the same: submit it earlier, or go on with "
	 "other completions meanwhile: at most this {saves}."},
	{FOR(DISK),
	 "Take block I/O off the way of {waiter}: a thread of its own for it, a cache, fewer fsync(), a faster disk: at "
	 "most this {saves}."},
	{FOR(STOPPED), "{?by_freezer}"
	 "Look for who freezes its cgroup (docker pause, systemctl freeze, a checkpoint)[; {resumer} let it go on]: at most this "
	 "{saves}."},
	{FOR(STOPPED), "{?by_debugger}"
	 "Do not trace {program} with a debugger or strace while it serves[; {resumer} let it go on]: at most this {saves}."},
	{FOR(STOPPED), "{!by_freezer}{!by_debugger}"
	 "Look for who stops it: kill -STOP, a shell's job control[; {resumer} let it go on]: at most this {saves}."},
	{FOR(MEMORY),
	 "Give {program} more memory: a higher memory.high or memory.max of its cgroup (memory.events there counts high and max), "
	 "or memory of the machine (vmstat, /proc/pressure/memory): at most this {saves}."},
	{FOR(MEMORY),
	 "Or let it use less: smaller caches and buffers, allocated before requests come."},
	/* Its pace is its own choice. */
	{FOR(TIMER), "{!is_pace}"
	 "If [{doer}|{waiter}] need not wait that long[ in {doer_call}|{?sleep_place} in {call}][, called in {sleep_place}]: shorten the time that it asks "
	 "for, or let what it waits for wake it: at most this {saves}."},
};
/* clang-format on */

/* The first advice that names a saving tells what that makes of a request. */
static void add_saving(const struct context *context, struct verdict *verdict, char **line)
{
	struct saving saving = context__saving(context);

	if (verdict->saves_of_ns || (!saving.ns && !saving.service))
		return;
	verdict->saves_ns = saving.ns;
	verdict->saves_of_ns = saving.of_ns;
	template__add(line, "{would_take}", context);
}

static void note_place(const struct context *context, struct verdict *verdict)
{
	struct saving saving = context__saving(context);
	size_t i = verdict->place_count++;

	verdict->places[i].saves_ns = saving.ns;
	verdict->places[i].stalls = saving.count;
}

void advice__write(const struct context *context, struct verdict *verdict)
{
	enum cause cause = context->tally->cause;
	struct tally tally;
	struct context besides;
	bool is_listed = false, is_at_two = context__besides(context, &tally, &besides);

	for (size_t i = 0; i < COUNT_OF(advice); i++) {
		char **line = &verdict->advice[verdict->advice_count];

		is_listed |= advice[i].causes >> cause & 1;
		if (verdict->advice_count == VERDICT_ADVICE ||
		    !template__add_row(line, &advice[i], context))
			continue;
		verdict->advice_count++;
		if (strstr(advice[i].text, "{saves}"))
			add_saving(context, verdict, line);
		if (is_at_two && strstr(advice[i].text, "{sleep_place}"))
			template__add(line, "{likewise}", &besides);
	}
	if (is_at_two && verdict->saves_ns) {
		note_place(context, verdict);
		note_place(&besides, verdict);
	}
	if (!is_listed && !cause__info(cause)->never_of_stall)
		verdict->advice[verdict->advice_count++] = xstrdup(cause__info(cause)->remedy);
}
