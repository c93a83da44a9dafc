// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/explanation.h"

#include "user/base/text.h"
#include "user/explain/template.h"

/* ---- the explanations of the causes, by the names of cause.def ---- */

/* clang-format off */
static const char unknown[] =
	"[{?is_held}{held}."
	"|{?local}{?asks}{sender} wrote on {fd}{connection} and then waited[ in {call}] for {other}.[{made_of}]"
	"|{?is_of_shorts}{waiter} waited again and again, each time too shortly to be kept by itself.[{made_of}]"
	"|{waited}.[{made_of}]]";

/* Where the other end is out of sight, the timer may have been this end's: see remote_nagle.h. */
static const char nagle_delack[] =
	"[{?receiver}The cause lies at the other end: {other} seems to write in small pieces{connection}. The first arrives, "
	"and Nagle's algorithm there holds the rest back until it is acknowledged. {sender} waits for the rest on {fd} and has "
	"nothing to send yet, so its kernel delays that acknowledgement[ by {delack}]. When the timer had run out and the "
	"acknowledgement had left, the rest came one round trip later."
	"|{writes}{nagles_rule} "
	"[{?is_ack_deduced}{other_end} ({other}) delays the acknowledgement, by a timer that was out of sight[: it came after "
	"{ack_took}, while a round trip here takes {hold_min_rtt}]."
	"|{other_end} ({other}) has nothing to send yet, so its kernel delays the acknowledgement[ by {delack}], in the hope of "
	"sending it along with data; it leaves only when that timer runs out, and until then both ends wait for each other.]]";

static const char nagle[] =
	"{writes}{nagles_rule}[{!missing} {other_end} ({other}) "
	"[{?by_data}sends the acknowledgement together with data, when it answers: no timer is in play, the hold lasts as long "
	"as that answer takes."
	"|acknowledges without delay: no timer is in play, the hold lasts a round trip.]]";

static const char cork[] =
	"{whose}{sender} [{?by_ring}submits a send|writes] [[{?by_ring}of ]{second_bytes} ][{?joined}and then more ]on "
	"{fd}{connection}{through_ring} "
	"[{?msg_more}with MSG_MORE, which promises more to come. TCP keeps such bytes until a segment is full, until a write "
	"without MSG_MORE, or for at most 200 ms."
	"|while the socket is corked (TCP_CORK). TCP keeps such bytes until a segment is full, until the program clears "
	"TCP_CORK, or for at most 200 ms.]";

static const char network[] =
	"{waited}[{?local}{connection} for {other}]: the bytes were under way for that time.{ruled_out}{round_trip}";

static const char runqueue[] =
	"{queued} was ready to run and waited for a CPU[: {queued_time} passed until it ran]."
	"[{?has_ran} That CPU ran {runners} meanwhile."
	"|{!is_most_irq}{!is_most_steal} Which threads had the CPUs meanwhile was not recorded.]"
	"[ It may run on {allowed} of {cpus} CPUs only.][{?is_background} Its priority is low[ (nice {nice})].]"
	"[{?is_another_queued} {waiter} waited for it.]"
	"[ Of that wait {irq_time} went to interrupts (hard and soft) on CPU {ran_cpu}[{?has_ran}, which are in the time of the "
	"threads that they interrupted].]"
	"[ Of that wait {steal_time} went to other guests of this host (steal time).]";

static const char throttled[] =
	"{throttled} was ready to run, but [cgroup {cgroup}|its cgroup] had used up its CPU quota[ of {quota} in each {period}][: "
	"{throttled_time} passed until it ran again].[ The quota has stopped that cgroup in {throttled_periods} of {periods} "
	"periods since it exists.][{?is_another_throttled} {waiter} waited for it.]";

static const char cwnd[] =
	"{held}: the congestion window was full[, with {in_flight} packets in flight of the {cwnd} that it allows]. TCP starts "
	"a connection, and goes on after a pause or a loss, with a small window that grows with every acknowledgement[; a round "
	"trip takes {hold_rtt} here].[ Loss made it smaller: {conn_resent} of this connection's segments were sent again.]";

static const char rwnd[] =
	"{held}: the window that {other} offers was full[, with {unacked} in flight of the {snd_wnd} that it allows]. It opens "
	"again when the program there reads, or when its kernel gives the socket a larger buffer.{meanwhile}[{chain}]";

static const char zero_window[] =
	"{held}: {other} has closed its receive window, because the program there has not read what already "
	"arrived.{meanwhile}[{chain}]";

static const char pacing[] =
	"{held}: it paces this socket[ to {pacing_rate} a second][, and its timer let the next segment go only after "
	"{pacing_timer}].";

static const char tsq[] =
	"{held}: earlier segments of this socket still lie with the network device[ or its queue ({wmem_alloc})], and TCP small "
	"queues lets only about a millisecond's worth lie there.";

static const char tso_defer[] =
	"{held} to fill a larger burst (TSO): it expects an acknowledgement soon that lets it send more at once[; {in_flight} "
	"of {cwnd} packets were in flight].";

static const char autocork[] =
	"{held} to join it with later writes (automatic corking): an earlier segment of this socket had not left the device "
	"yet.";

static const char sndbuf[] =
	"{whose}[{waiter} waited for its {operation} through ring {ring}|{waiter} waited inside a write on {fd}]{connection}"
	"[{?ring}{?operation}, which waited] for room in the socket's send buffer[, in which {wmem_queued} of {sndbuf} were "
	"taken]. Room comes as {other} acknowledges, and that takes a round trip and, when its window is full, a program there "
	"that reads.{meanwhile}[{chain}]";

static const char rto[] =
	"{lost}, nothing that was sent behind it told of the loss, and so TCP waited for its retransmission timer[ of {rto}]"
	"[ (a round trip takes {lost_rtt})] before it sent it again[, for the {retries}[{?second_time}nd|{?third_time}rd|th] "
	"time, with the timer doubled each time].{lost_where}";

static const char tlp[] =
	"{lost}. Nothing sent behind it told of the loss, until a tail loss probe went out: two round trips later, or with a "
	"single segment under way only when the retransmission timer would have run out[{?was_probed}. It took along bytes that "
	"were held back, and what came back for these made TCP send the lost ones again].{lost_where}";

static const char fast_retransmit[] =
	"{lost} while later ones were: those acknowledgements told TCP of the loss, and it sent it again without waiting for a "
	"timer[, about a round trip later ({lost_rtt})].{lost_where}";

static const char syn_retransmit[] =
	"{whose}{sender} asked for a connection{connection}, and nobody answered until the timer[ of {rto}] ran out and the "
	"request (SYN) was sent again[, {retries} times in all]. [{?is_queue_full}The listen queue on port {listen_port} was full "
	"when it came, and so the kernel dropped it: {queue_length} connections lay there that the program had not accepted, and "
	"listen() allows {listen_backlog}[ (net.core.somaxconn is {somaxconn})]."
	"|Whether the SYN was lost on the way, dropped at a full listen queue, or filtered is not visible from this end.]";

static const char peer_app[] =
	"[{?is_depending}{waiter} had a request to answer, and waited[ in {call}] for what [{waker}|{other}] was to send[{?is_accepting} on {fd}{connection}]: the "
	"program there took that time."
	"|{sender} wrote on {fd}{connection} and then waited[ in {call}] for {other} to answer[{?is_unfinished}, which it had not "
	"done when the window ended.|: the program there took that time.]]{ruled_out}[{made_of}]{answered_others}{at_quota}[{!peer}{round_trip}]";

static const char lock[] =
	"[{waited} until {waker} woke it:|{waited}] for [{?is_interpreter_lock}CPython's interpreter lock (the GIL), without which no thread of "
	"a process runs Python code|a lock that another thread held, or for a signal between threads].{what_ended_it}[{made_of}]{at_quota}";

static const char ipc[] =
	"{waited}[ until {waker} woke it]: "
	"[{?is_for_a_child}for a child's end, not for the network."
	"|{?is_asleep}a signal, which ended its sleep early."
	"|{?on_unix}for what comes through the Unix socket {other}[, at which {listener} listens], not for the network."
	"|for a pipe, a Unix socket, an eventfd or the like, not for the network.]{what_ended_it}[{made_of}]{at_quota}";

static const char disk[] = "{waited} for block I/O.{what_ended_it}[{chain}]";

static const char stopped[] =
	"{waiter} was [{?by_debugger}stopped by a debugger (ptrace)|{?by_signal}stopped by a signal (SIGSTOP or the like)"
	"|{?by_freezer}frozen, with its cgroup|stopped, or frozen], and could not run[ until {resumer} let it go on].";

static const char memory[] =
	"{waiter} waited for memory: it had to free some first, or its cgroup had more than its memory.high.";

static const char timer[] =
	"[{?operation}{waiter} waited {ring_wait} for completions of ring {ring}, until "
	"[{?is_timer_operation}a {operation} that was submitted there ran out: nothing else that it waited for completed."
	"|a timer ended {operation} there before what it waited for came.]{what_ended_it}"
	"|{?is_signalled}{waited}[ until {waker} woke it]."
	"|{?is_time_out}{waited} until the time-out[ of {time_out}] that it had set itself ran out: nothing that it waited for "
	"came."
	"|{waiter} slept[ in {call}], as long as it had asked for.][{made_of}]"
	"[{?is_pace} That is its pace: none of its requests waited for it[, and they take {median_request} at the median].]";

static const char uring[] = "{waited} for a completion of io_uring[, on ring {ring}].{what_ended_it}[{chain}]";

static const char udp[] =
	"{waiter} sent [a datagram|{tries} datagrams] to {answerer} (UDP) and waited[ in {call}] for the answer.[{servers}]{dropped}"
	"[{made_of}]{at_quota}";

static const char dns[] =
	"{waiter} waited[ in {call}] for the name service at {answerer}[, to which it had sent {tries} datagrams].[{servers}]{dropped} The name "
	"that was asked for is payload, and was not looked at.[{?in_turn} [{?is_one_in_turn}Once|{in_turn} times] {waiter} asked as soon as "
	"it had the answer to the question before: one after the other, as for a name's two kinds of address (A, AAAA).]"
	"[{made_of}]{at_quota}";

static const char accept_queue[] =
	"[{?is_accepting}A connection to {sender} [on port {listen_port} ]lay in the listen queue"
	"|{sender} wrote on {fd}{connection}, and the connection lay in the listen queue of {other}[, on port {listen_port}]]: "
	"the handshake was over and the request there, but the program had not called accept().[ As the connection came, "
	"{queue_length} lay in the queue; listen() allows {listen_backlog}[, net.core.somaxconn {somaxconn}].][{made_of}]{answered_others}";

static const char self[] =
	"[{doer}|{waiter}] itself was busy: in no wait that was seen.[{made_of}]{answered_others}";
/* clang-format on */

static const char *const explanations[CAUSE_COUNT] = {
#define CAUSE(name, id, explanation, ...) [CAUSE_##name] = explanation,
#include "user/analyze/cause.def"
#undef CAUSE
};

/* ---- what every explanation goes on with ---- */

/* " Of one stall's 40.2 ms, 12.0 ms were cork.": what else is to be changed, in a stall that one
 * cause began and another one went on with. */
static void add_other_causes(const struct context *context, char **text)
{
	const struct stall *stall = context->stall;
	uint64_t all = stall->end_ts - stall->start_ts, ns[CAUSE_COUNT] = {0};
	bool begun = false;

	for (size_t i = 0; i < stall->slice_count; i++)
		ns[stall->slices[i].cause] += stall->slices[i].ns;
	ns[stall->cause] = ns[CAUSE_NETWORK] = 0;
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (cause__rank((enum cause)i) != CAUSE_RANK_NETWORK || !ns[i] || 10 * ns[i] < all)
			continue;
		if (begun)
			builder__add(text, ", ");
		else
			builder__add(text, " Of one stall's %s, ", duration_text(all));
		builder__add(text, "%s were %s", duration_text(ns[i]),
			     cause__info((enum cause)i)->id);
		begun = true;
	}
	if (begun)
		builder__add(text, ".");
}

void explanation__add_frequency(const struct context *context, char **text)
{
	template__add(text, "{frequency}", context);
}

/* clang-format off */
/* Both look alike by their bytes. */
static const char perhaps_nothing_due[] =
	"[ Whether anything was due is not to be seen: {acker} writes {acked} each time, at once after what it has read, and that is "
	"more. So does who acknowledges what {pusher} sends when it likes (a subscription, a queue): then {acker} is idle meanwhile. "
	"So does who asks for the same again and again: then {pusher} takes that long.]";
/* clang-format on */

void explanation__write(const struct context *context, char **text)
{
	template__add(text, explanations[context->tally->cause], context);
	template__add(text, perhaps_nothing_due, context);
	template__add(text, "[ The bytes were released by {release}.]", context);
	add_other_causes(context, text);
	template__add(text, "[ Not seen: {missing}.][ This is deduced: {inferred}.]", context);
}
