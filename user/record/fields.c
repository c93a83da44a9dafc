// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The records and their fields as tables: a new record is a row, a new field as well. */
#include <string.h>
#include <sys/socket.h>

#include "user/record/losses.h"
#include "user/record/record.h"

/* ---- how a row is written ---- */

#define FIELD(kind, type, member, name)                                                            \
	{                                                                                          \
		name, kind, offsetof(struct type, member), 0, NULL                                 \
	}
#define U32(type, member)        FIELD(FIELD_U32, type, member, #member)
#define U64(type, member)        FIELD(FIELD_U64, type, member, #member)
#define S32(type, member)        FIELD(FIELD_S32, type, member, #member)
#define HEX(type, member)        FIELD(FIELD_HEX32, type, member, #member)
#define HEX64(type, member)      FIELD(FIELD_HEX64, type, member, #member)
#define ERRNO(type, member)      FIELD(FIELD_ERRNO, type, member, #member)
#define OPCODE(type, member)     FIELD(FIELD_OPCODE, type, member, #member)
#define TIME(type, member, name) FIELD(FIELD_TIME, type, member, name)
#define MS(type, member, name)   FIELD(FIELD_MS, type, member, name)
#define FD(type, member)         FIELD(FIELD_FD, type, member, #member)
#define STRING(type, member)                                                                       \
	{                                                                                          \
#member, FIELD_STRING, offsetof(struct type, member),                              \
			sizeof(((struct type *)0)->member), NULL                                   \
	}
#define NAME(type, member, values)                                                                 \
	{                                                                                          \
#member, FIELD_NAME, offsetof(struct type, member), 0, values                      \
	}
#define ADDRESS(type, name, member, port)                                                          \
	{                                                                                          \
		name, FIELD_ADDRESS, offsetof(struct type, member), offsetof(struct type, port),   \
			NULL                                                                       \
	}
#define NAMED(type, member, name) FIELD(FIELD_U32, type, member, name)
#define SPENT(type)                                                                                \
	NAMED(type, spent.run_us, "run_us"), NAMED(type, spent.ready_us, "ready_us"),              \
		NAMED(type, spent.short_us[NS_SHORT_TIMER], "short_timer_us"),                     \
		NAMED(type, spent.short_us[NS_SHORT_INPUT], "short_input_us"),                     \
		NAMED(type, spent.short_us[NS_SHORT_LOCK], "short_lock_us"),                       \
		NAMED(type, spent.short_us[NS_SHORT_DISK], "short_disk_us"),                       \
		NAMED(type, spent.short_us[NS_SHORT_URING], "short_uring_us"),                     \
		NAMED(type, spent.short_us[NS_SHORT_OTHER], "short_other_us"),                     \
		NAMED(type, spent.short_us[NS_SHORT_REPLY], "short_reply_us"),                     \
		NAMED(type, spent.short_us[NS_SHORT_DATAGRAM], "short_datagram_us"),               \
		NAMED(type, spent.short_us[NS_SHORT_NAME], "short_name_us"),                       \
		NAMED(type, spent.shorts[NS_SHORT_TIMER], "shorts_timer"),                         \
		NAMED(type, spent.shorts[NS_SHORT_INPUT], "shorts_input"),                         \
		NAMED(type, spent.shorts[NS_SHORT_LOCK], "shorts_lock"),                           \
		NAMED(type, spent.shorts[NS_SHORT_DISK], "shorts_disk"),                           \
		NAMED(type, spent.shorts[NS_SHORT_URING], "shorts_uring"),                         \
		NAMED(type, spent.shorts[NS_SHORT_OTHER], "shorts_other"),                         \
		NAMED(type, spent.shorts[NS_SHORT_REPLY], "shorts_reply"),                         \
		NAMED(type, spent.shorts[NS_SHORT_DATAGRAM], "shorts_datagram"),                   \
		NAMED(type, spent.shorts[NS_SHORT_NAME], "shorts_name")
#define END                                                                                        \
	{                                                                                          \
		NULL, FIELD_U32, 0, 0, NULL                                                        \
	}

/* ---- names of values ---- */

static const char *const role_names[] = {"none", "target", "peer", "both",  "4",
					 "5",    "6",      "7",    "chain", NULL};
static const char *const origin_names[] = {"unknown", "existed", "connect", "accept", "use", NULL};
static const char *const opener_names[] = {"unknown", "self", "peer", NULL};
static const char *const refused_names[] = {"table", "load", "attach", "run", NULL};
static const char *const basis_names[] = {"state", "xmit", NULL};
static const char *const begun_names[] = {"send", "partly", "changed", "later", NULL};
static const char *const retrans_names[] = {"unknown", "rto", "tlp", "fast", "syn", NULL};
static const char *const conn_basis_names[] = {"none", "written", "fd", "ready", NULL};
static const char *const socket_role_names[] = {"unknown", "asks", "answers", NULL};
static const char *const turn_names[] = {"unknown", "wrote", "read", NULL};
static const char *const wait_end_names[] = {"seen", "woken", "bound", "lasts", "killed", NULL};
static const char *const side_names[] = {"none", "asked", "served", NULL};
static const char *const exchange_end_names[] = {"answered", "followed", "closed", "open", NULL};
static const char *const via_names[] = {"call", "uring", "worker", NULL};
static const char *const hold_names[] = {"unknown",     "nagle",  "cork",   "msg-more", "rwnd",
					 "zero-window", "cwnd",   "pacing", "tsq",      "tso-defer",
					 "autocork",    "sndbuf", NULL};

static const char *const uring_how_names[] = {"unknown", "inline", "poll", "worker", "later", NULL};
static const char *const uring_file_names[] = {"none", "tcp",   "socket", "disk",
					       "pipe", "other", NULL};
static const char *const call_names[] = {"write",   "read", "answer", "wait",
					 "release", "busy", NULL};
static const char *const waker_names[] = {"unknown", "thread", "softirq", "irq", NULL};
static const char *const step_names[] = {"none", "submitted", "queued", "armed", "done", NULL};

/* ---- the records ---- */

const struct field record_head_fields[] = {
	U32(ns_head, conn), U32(ns_head, tgid), U32(ns_head, tid), U32(ns_head, cpu), END,
};

static const struct field no_fields[] = {END};

static const struct field session_fields[] = {
	STRING(ns_session, way),
	STRING(ns_session, kernel),
	STRING(ns_session, arch),
	STRING(ns_session, target),
	MS(ns_session, threshold_ns, "threshold"),
	U32(ns_session, verbose),
	U32(ns_session, machine),
	HEX(ns_session, missing),
	FIELD(FIELD_U64, ns_session, wall_offset_ns, "wall_offset_ns"),
	END,
};

static const struct field process_fields[] = {
	NAME(ns_process, role, role_names), U32(ns_process, ns_pid),
	STRING(ns_process, comm),           U32(ns_process, master),
	STRING(ns_process, container),      END,
};

static const struct field conn_fields[] = {
	NAME(ns_conn, role, role_names),
	ADDRESS(ns_conn, "local", laddr, lport),
	ADDRESS(ns_conn, "remote", raddr, rport),
	FD(ns_conn, fd),
	NAME(ns_conn, origin, origin_names),
	NAME(ns_conn, opener, opener_names),
	U32(ns_conn, netns),
	STRING(ns_conn, comm),
	END,
};

static const struct field peer_fields[] = {U32(ns_peer, peer), END};

static const struct field send_fields[] = {
	U32(ns_send, bytes),           FD(ns_send, fd),
	U32(ns_send, write_seq),       U32(ns_send, snd_nxt),
	U32(ns_send, snd_una),         HEX(ns_send, msg_flags),
	NAME(ns_send, via, via_names), END,
};

static const struct field hold_fields[] = {
	NAME(ns_hold, reason, hold_names),
	NAME(ns_hold, basis, basis_names),
	U32(ns_hold, seq),
	U32(ns_hold, end),
	U32(ns_hold, unacked),
	U32(ns_hold, mss),
	U32(ns_hold, nonagle),
	U32(ns_hold, packets_out),
	U32(ns_hold, cwnd),
	U32(ns_hold, snd_wnd),
	U32(ns_hold, srtt_us),
	U32(ns_hold, min_rtt_us),
	TIME(ns_hold, last_tx_ts, "last_tx"),
	FD(ns_hold, fd),
	NAME(ns_hold, begun, begun_names),
	U64(ns_hold, pacing_rate),
	U32(ns_hold, pacing_us),
	U32(ns_hold, in_flight),
	U32(ns_hold, wmem_alloc),
	U32(ns_hold, wmem_queued),
	U32(ns_hold, sndbuf),
	U32(ns_hold, ack_due_us),
	END,
};

static const struct field segment_fields[] = {
	U32(ns_segment, seq),   U32(ns_segment, end),     U32(ns_segment, ack),
	HEX(ns_segment, flags), STRING(ns_segment, comm), END,
};

static const struct field delack_fields[] = {
	U32(ns_delack, delay_us), U32(ns_delack, pending), U32(ns_delack, ato_us),
	U32(ns_delack, owned),    STRING(ns_delack, comm), END,
};

static const struct field release_fields[] = {
	MS(ns_release, held_ns, "held"),
	U32(ns_release, seq),
	U32(ns_release, end),
	NAME(ns_release, reason, hold_names),
	U32(ns_release, inexact),
	U32(ns_release, nonagle),
	U32(ns_release, nonagle_known),
	U32(ns_release, unread),
	U32(ns_release, unread_known),
	END,
};

static const struct field recv_fields[] = {U32(ns_recv, bytes), FD(ns_recv, fd), END};

static const struct field wait_fields[] = {
	TIME(ns_wait, off_ts, "off"),
	TIME(ns_wait, wake_ts, "wake"),
	U32(ns_wait, state),
	FD(ns_wait, syscall),
	U32(ns_wait, arg0),
	U32(ns_wait, waker_tgid),
	U32(ns_wait, waker_tid),
	U32(ns_wait, stack_id),
	U32(ns_wait, waker_stack_id),
	STRING(ns_wait, comm),
	STRING(ns_wait, waker_comm),
	U32(ns_wait, arg1),
	U32(ns_wait, arg2),
	NAME(ns_wait, conn_basis, conn_basis_names),
	NAME(ns_wait, turn, turn_names),
	U32(ns_wait, srtt_us),
	U32(ns_wait, min_rtt_us),
	U32(ns_wait, ring),
	NAME(ns_wait, ended, wait_end_names),
	U32(ns_wait, op_known),
	OPCODE(ns_wait, op_code),
	HEX64(ns_wait, op_user_data),
	TIME(ns_wait, op_submit_ts, "op_submit"),
	TIME(ns_wait, op_done_ts, "op_done"),
	FD(ns_wait, op_fd),
	HEX(ns_wait, op_flags),
	NAME(ns_wait, op_file, uring_file_names),
	NAME(ns_wait, op_how, uring_how_names),
	U32(ns_wait, op_tid),
	U32(ns_wait, op_by_tid),
	U32(ns_wait, spent_known),
	SPENT(ns_wait),
	TIME(ns_wait, began_ts, "began"),
	NAMED(ns_wait, socket.family, "socket_family"),
	NAMED(ns_wait, socket.type, "socket_type"),
	NAMED(ns_wait, socket.protocol, "socket_protocol"),
	NAMED(ns_wait, socket.lport, "socket_lport"),
	ADDRESS(ns_wait, "socket_remote", socket.raddr, socket.rport),
	{"socket_role", FIELD_NAME, offsetof(struct ns_wait, socket.role), 0, socket_role_names},
	NAMED(ns_wait, socket.is_followed, "socket_followed"),
	NAMED(ns_wait, socket.tries, "socket_tries"),
	NAMED(ns_wait, socket.drops, "socket_drops"),
	NAMED(ns_wait, socket.is_ready, "socket_ready"),
	NAMED(ns_wait, socket.peer_tgid, "socket_peer"),
	{"socket_path", FIELD_STRING, offsetof(struct ns_wait, socket.path), NS_SOCKET_PATH, NULL},
	TIME(ns_wait, socket.asked_ts, "socket_asked"),
	TIME(ns_wait, turn_ts, "turn_began"),
	TIME(ns_wait, ready_sent_ts, "ready_sent"),
	U32(ns_wait, ready_brings),
	END,
};

static const struct field marked_fields[] = {
	STRING(ns_marked, text),
	END,
};

static const struct field refused_fields[] = {
	U32(ns_refused, fact),     NAME(ns_refused, step, refused_names),
	U32(ns_refused, error),    STRING(ns_refused, program),
	STRING(ns_refused, table), END,
};

static const struct field profile_fields[] = {
	STRING(ns_profile, target),
	STRING(ns_profile, kernel),
	STRING(ns_profile, arch),
	TIME(ns_profile, start_ts, "from"),
	U64(ns_profile, wall_offset_ns),
	U32(ns_profile, depth),
	U32(ns_profile, per_thread),
	U32(ns_profile, by_cause),
	MS(ns_profile, least_ns, "least"),
	MS(ns_profile, most_ns, "most"),
	MS(ns_profile, runqueue_ns, "runqueue"),
	U64(ns_profile, sample_waits),
	MS(ns_profile, sample_ns, "sample"),
	U64(ns_profile, sample_looked_at),
	FIELD(FIELD_U64, ns_profile, lost[0], "lost_stacks"),
	FIELD(FIELD_U64, ns_profile, lost[1], "lost_chains"),
	FIELD(FIELD_U64, ns_profile, lost[2], "lost_threads"),
	FIELD(FIELD_U64, ns_profile, lost[3], "lost_unwinds"),
	FIELD(FIELD_U64, ns_profile, lost[4], "lost_records"),
	MS(ns_profile, lost_ns[0], "in_lost_stacks"),
	MS(ns_profile, lost_ns[1], "in_lost_chains"),
	STRING(ns_profile, hidden),
	END,
};

static const struct field profile_text_fields[] = {
	U32(ns_profile_text, id),
	STRING(ns_profile_text, text),
	END,
};

static const struct field profile_entry_fields[] = {
	STRING(ns_profile_entry, comm),
	U32(ns_profile_entry, state),
	STRING(ns_profile_entry, cause),
	U32(ns_profile_entry, kernel),
	U32(ns_profile_entry, user),
	U64(ns_profile_entry, count),
	MS(ns_profile_entry, blocked_ns, "blocked"),
	MS(ns_profile_entry, runqueue_ns, "runqueue"),
	END,
};

static const struct field profile_wake_fields[] = {
	NAME(ns_profile_wake, kind, waker_names),
	STRING(ns_profile_wake, comm),
	U32(ns_profile_wake, kernel),
	U32(ns_profile_wake, user),
	U32(ns_profile_wake, wait_kernel),
	U32(ns_profile_wake, wait_user),
	END,
};

static const struct field failed_fields[] = {
	ERRNO(ns_failed, error),
	U32(ns_failed, syns),
	ADDRESS(ns_failed, "remote", raddr, rport),
	TIME(ns_failed, began_ts, "began"),
	END,
};

static const struct field listener_fields[] = {
	U32(ns_listener, listen_port),
	U32(ns_listener, drops),
	U32(ns_listener, backlog_max),
	U32(ns_listener, somaxconn),
	END,
};

static const struct field service_fields[] = {
	NAME(ns_service, opener, opener_names),
	ADDRESS(ns_service, "at", addr, port),
	U32(ns_service, last),
	U64(ns_service, ends),
	U64(ns_service, targets),
	U64(ns_service, accepted),
	U64(ns_service, exchanges),
	U64(ns_service, asked),
	U64(ns_service, writes),
	U64(ns_service, used),
	U64(ns_service, attempts),
	U64(ns_service, used_exchanges),
	U64(ns_service, bytes_out),
	U64(ns_service, bytes_in),
	END,
};

static const struct field retrans_fields[] = {
	NAME(ns_retrans, kind, retrans_names),
	U32(ns_retrans, seq),
	U32(ns_retrans, end),
	U32(ns_retrans, rto_us),
	U32(ns_retrans, retries),
	U32(ns_retrans, srtt_us),
	U32(ns_retrans, min_rtt_us),
	U32(ns_retrans, cwnd),
	U32(ns_retrans, in_flight),
	U32(ns_retrans, ca_state),
	TIME(ns_retrans, sent_ts, "sent"),
	U32(ns_retrans, arrived),
	U32(ns_retrans, listen_port),
	U32(ns_retrans, backlog),
	U32(ns_retrans, backlog_max),
	U32(ns_retrans, somaxconn),
	END,
};

static const struct field sums_fields[] = {TIME(ns_sums, on_ts, "on"), SPENT(ns_sums),
					   STRING(ns_sums, comm), END};

static const struct field throttle_fields[] = {
	TIME(ns_throttle, since_ts, "since"),
	U32(ns_throttle, quota_us),
	U32(ns_throttle, period_us),
	U32(ns_throttle, periods),
	U32(ns_throttle, throttled_periods),
	STRING(ns_throttle, cgroup),
	STRING(ns_throttle, cgroup_above),
	STRING(ns_throttle, cgroup_top),
	U32(ns_throttle, deeper),
	END,
};

#define RUNNER(n)                                                                                  \
	NAMED(ns_ran, runners[n].tgid, "ran" #n "_tgid"), NAMED(ns_ran, runners[n].tid, "ran" #n), \
		NAMED(ns_ran, runners[n].us, "ran" #n "_us"),                                      \
		NAMED(ns_ran, runners[n].prio, "ran" #n "_prio"),                                  \
	{                                                                                          \
		"ran" #n "_comm", FIELD_STRING, offsetof(struct ns_ran, runners[n].comm),          \
			NS_COMM_LEN, NULL                                                          \
	}

static const struct field ran_fields[] = {
	TIME(ns_ran, from_ts, "from"),
	U32(ns_ran, allowed),
	U32(ns_ran, cpus),
	S32(ns_ran, nice),
	U32(ns_ran, policy),
	U32(ns_ran, others_us),
	U32(ns_ran, irq_us),
	U32(ns_ran, steal_us),
	U32(ns_ran, taken_known),
	RUNNER(0),
	RUNNER(1),
	RUNNER(2),
	END,
};

static const struct field call_fields[] = {
	U32(ns_call, write_seq),      U32(ns_call, bytes),
	U32(ns_call, stack_id),       U32(ns_call, truncated),
	U32(ns_call, held),           NAME(ns_call, what, call_names),
	TIME(ns_call, off_ts, "off"), U32(ns_call, syscall),
	U32(ns_call, slept),          END,
};

static const struct field exchange_fields[] = {
	NAME(ns_exchange, side, side_names),
	U32(ns_exchange, writes),
	TIME(ns_exchange, begin_ts, "begin"),
	TIME(ns_exchange, ready_ts, "ready"),
	TIME(ns_exchange, off_ts, "off"),
	TIME(ns_exchange, wake_ts, "wake"),
	MS(ns_exchange, held_ns, "held"),
	U32(ns_exchange, bytes_out),
	U32(ns_exchange, weight),
	TIME(ns_exchange, delack_ts, "delack"),
	NAME(ns_exchange, hold_reason, hold_names),
	U32(ns_exchange, min_rtt_us),
	TIME(ns_exchange, answer_ts, "answer"),
	TIME(ns_exchange, arrived_ts, "arrived"),
	NAME(ns_exchange, ended, exchange_end_names),
	U32(ns_exchange, bytes_in),
	U32(ns_exchange, reads),
	U32(ns_exchange, spent_known),
	SPENT(ns_exchange),
	TIME(ns_exchange, queued_ts, "queued"),
	TIME(ns_exchange, accepted_ts, "accepted"),
	U32(ns_exchange, accept_tid),
	U32(ns_exchange, listen_port),
	U32(ns_exchange, backlog),
	U32(ns_exchange, backlog_max),
	U32(ns_exchange, somaxconn),
	TIME(ns_exchange, connect_ts, "connect"),
	TIME(ns_exchange, connected_ts, "connected"),
	TIME(ns_exchange, since_ts, "since"),
	U32(ns_exchange, connect_syns),
	END,
};

#define HOLDS(index, name)   FIELD(FIELD_U32, ns_conn_totals, holds[index], name)
#define RETRANS(index, name) FIELD(FIELD_U32, ns_conn_totals, retrans_by[index], name)

static const struct field conn_totals_fields[] = {
	U64(ns_conn_totals, bytes_out),
	U64(ns_conn_totals, bytes_in),
	U32(ns_conn_totals, writes),
	U32(ns_conn_totals, reads),
	U32(ns_conn_totals, segs_out),
	U32(ns_conn_totals, data_segs_out),
	U32(ns_conn_totals, segs_in),
	U32(ns_conn_totals, retrans),
	U32(ns_conn_totals, delack_armed),
	U32(ns_conn_totals, delack_fired),
	HOLDS(NS_HOLD_UNKNOWN, "holds_unknown"),
	HOLDS(NS_HOLD_NAGLE, "holds_nagle"),
	HOLDS(NS_HOLD_CORK, "holds_cork"),
	HOLDS(NS_HOLD_MSG_MORE, "holds_msg_more"),
	HOLDS(NS_HOLD_RWND, "holds_rwnd"),
	HOLDS(NS_HOLD_ZERO_WINDOW, "holds_zero_window"),
	HOLDS(NS_HOLD_CWND, "holds_cwnd"),
	HOLDS(NS_HOLD_PACING, "holds_pacing"),
	HOLDS(NS_HOLD_TSQ, "holds_tsq"),
	HOLDS(NS_HOLD_TSO_DEFER, "holds_tso_defer"),
	HOLDS(NS_HOLD_AUTOCORK, "holds_autocork"),
	HOLDS(NS_HOLD_SNDBUF, "holds_sndbuf"),
	HOLDS(12, "holds_12"),
	HOLDS(13, "holds_13"),
	HOLDS(14, "holds_14"),
	HOLDS(15, "holds_15"),
	TIME(ns_conn_totals, first_ts, "first"),
	RETRANS(NS_RETRANS_UNKNOWN, "retrans_unknown"),
	RETRANS(NS_RETRANS_RTO, "retrans_rto"),
	RETRANS(NS_RETRANS_TLP, "retrans_tlp"),
	RETRANS(NS_RETRANS_FAST, "retrans_fast"),
	RETRANS(NS_RETRANS_SYN, "retrans_syn"),
	U32(ns_conn_totals, exchanges),
	U32(ns_conn_totals, small_writes),
	U32(ns_conn_totals, close_writes),
	U32(ns_conn_totals, mss),
	U32(ns_conn_totals, srtt_us),
	U32(ns_conn_totals, min_rtt_us),
	MS(ns_conn_totals, limited_ns[NS_LIMIT_RWND], "rwnd_limited"),
	MS(ns_conn_totals, limited_ns[NS_LIMIT_SNDBUF], "sndbuf_limited"),
	END,
};

static const struct field thread_totals_fields[] = {
	MS(ns_thread_totals, on_cpu_ns, "on_cpu"),
	MS(ns_thread_totals, blocked_ns, "blocked"),
	MS(ns_thread_totals, runqueue_ns, "runqueue"),
	U32(ns_thread_totals, voluntary),
	U32(ns_thread_totals, involuntary),
	STRING(ns_thread_totals, comm),
	U32(ns_thread_totals, migrations),
	U32(ns_thread_totals, wakes),
	U32(ns_thread_totals, empty_wakes),
	U32(ns_thread_totals, ended),
	END,
};

static const struct field lost_fields[] = {
	NAME(ns_lost, kind, loss_ids),
	U64(ns_lost, count),
	TIME(ns_lost, from_ts, "from"),
	END,
};

static const struct field end_fields[] = {U32(ns_end, children), END};

static const struct field stack_fields[] = {U32(ns_stack, id), STRING(ns_stack, text), END};

static const struct field ring_fields[] = {
	U32(ns_ring, ring),
	FD(ns_ring, fd),
	NAME(ns_ring, origin, origin_names),
	U32(ns_ring, sq_entries),
	U32(ns_ring, cq_entries),
	HEX(ns_ring, flags),
	U32(ns_ring, files),
	U32(ns_ring, sq_tid),
	U32(ns_ring, overflowed),
	U32(ns_ring, dropped),
	END,
};

static const struct field uring_fields[] = {
	U32(ns_uring, ring),
	NAME(ns_uring, step, step_names),
	OPCODE(ns_uring, opcode),
	HEX(ns_uring, flags),
	FD(ns_uring, fd),
	U32(ns_uring, len),
	HEX64(ns_uring, user_data),
	NAME(ns_uring, file, uring_file_names),
	TIME(ns_uring, submit_ts, "submit"),
	TIME(ns_uring, queued_ts, "queued"),
	TIME(ns_uring, armed_ts, "armed"),
	U32(ns_uring, linked),
	HEX64(ns_uring, link_head),
	S32(ns_uring, result),
	HEX(ns_uring, cqe_flags),
	NAME(ns_uring, how, uring_how_names),
	U32(ns_uring, shot),
	U32(ns_uring, cq_index),
	U32(ns_uring, overflow),
	U32(ns_uring, by_tid),
	NAME(ns_uring, turn, turn_names),
	U32(ns_uring, srtt_us),
	U32(ns_uring, min_rtt_us),
	STRING(ns_uring, by_comm),
	END,
};

static const struct field reap_fields[] = {
	U32(ns_reap, ring), U32(ns_reap, upto), U32(ns_reap, left), U32(ns_reap, taken), END,
};

#define HOW(index, name) FIELD(FIELD_U64, ns_uring_totals, how[index], name)
#define BUCKET(index)    FIELD(FIELD_U32, ns_uring_totals, buckets[index], "bucket_" #index)

/* A histogram of many empty buckets: those that are set are written. Ten numbers by their tens. */
#define BUCKETS(tens)                                                                              \
	BUCKET(tens##0), BUCKET(tens##1), BUCKET(tens##2), BUCKET(tens##3), BUCKET(tens##4),       \
		BUCKET(tens##5), BUCKET(tens##6), BUCKET(tens##7), BUCKET(tens##8),                \
		BUCKET(tens##9)

/* clang-format off */
static const struct field uring_totals_fields[] = {
	OPCODE(ns_uring_totals, opcode),
	U64(ns_uring_totals, submitted),
	U64(ns_uring_totals, completed),
	U64(ns_uring_totals, finished),
	U64(ns_uring_totals, errors),
	U64(ns_uring_totals, notified),
	U64(ns_uring_totals, overflowed),
	HOW(NS_URING_HOW_UNKNOWN, "how_unknown"),
	HOW(NS_URING_INLINE, "how_inline"),
	HOW(NS_URING_POLLED, "how_poll"),
	HOW(NS_URING_WORKER, "how_worker"),
	HOW(NS_URING_LATER, "how_later"),
	HOW(5, "how_5"),
	MS(ns_uring_totals, max_ns, "max"),
	BUCKETS(), BUCKETS(1), BUCKETS(2), BUCKETS(3), BUCKETS(4),
	BUCKETS(5), BUCKETS(6), BUCKETS(7), BUCKETS(8), BUCKETS(9),
	BUCKETS(10), BUCKETS(11), BUCKETS(12), BUCKETS(13), BUCKETS(14),
	BUCKETS(15), BUCKETS(16), BUCKETS(17), BUCKETS(18),
	BUCKET(190), BUCKET(191),
	END,
};
/* clang-format on */

_Static_assert(NS_URING_BUCKETS == 192, "a field for every bucket");

static const struct field uring_error_fields[] = {
	OPCODE(ns_uring_error, opcode),
	ERRNO(ns_uring_error, error),
	U64(ns_uring_error, count),
	END,
};

#define ROW(type, name, fields, what, traits)                                                      \
	{                                                                                          \
		type, name, fields, sizeof(struct what), traits                                    \
	}

static const struct record_type types[] = {
	ROW(NS_SESSION, "session", session_fields, ns_session, 0),
	ROW(NS_PROCESS, "process", process_fields, ns_process, 0),
	ROW(NS_CONN, "conn", conn_fields, ns_conn, RECORD_ON_CONN),
	ROW(NS_PEER, "peer", peer_fields, ns_peer, RECORD_ON_CONN),
	ROW(NS_SEND, "send", send_fields, ns_send, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_HOLD, "hold", hold_fields, ns_hold, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_TX, "tx", segment_fields, ns_segment, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_ACK, "ack", segment_fields, ns_segment, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_RX, "rx", segment_fields, ns_segment, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_DELACK_ARM, "delack-arm", delack_fields, ns_delack, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_DELACK_FIRE, "delack-fire", delack_fields, ns_delack, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_RELEASE, "release", release_fields, ns_release, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_RECV, "recv", recv_fields, ns_recv, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_WAIT, "wait", wait_fields, ns_wait, RECORD_EVENT),
	ROW(NS_CLOSE, "close", no_fields, ns_head, RECORD_ON_CONN),
	ROW(NS_CONN_TOTALS, "conn-totals", conn_totals_fields, ns_conn_totals, RECORD_ON_CONN),
	ROW(NS_THREAD_TOTALS, "thread-totals", thread_totals_fields, ns_thread_totals, 0),
	ROW(NS_EXIT, "exit", no_fields, ns_exit, 0),
	ROW(NS_LOST, "lost", lost_fields, ns_lost, 0),
	ROW(NS_STACK, "stack", stack_fields, ns_stack, 0),
	ROW(NS_END, "end", end_fields, ns_end, 0),
	ROW(NS_RETRANS, "retrans", retrans_fields, ns_retrans, RECORD_ON_CONN | RECORD_EVENT),
	ROW(NS_CALL, "call", call_fields, ns_call, 0),
	ROW(NS_EXCHANGE, "exchange", exchange_fields, ns_exchange, RECORD_ON_CONN),
	ROW(NS_RING, "ring", ring_fields, ns_ring, 0),
	ROW(NS_URING, "uring", uring_fields, ns_uring, RECORD_EVENT),
	ROW(NS_REAP, "reap", reap_fields, ns_reap, 0),
	ROW(NS_URING_TOTALS, "uring-totals", uring_totals_fields, ns_uring_totals, 0),
	ROW(NS_URING_ERROR, "uring-error", uring_error_fields, ns_uring_error, 0),
	ROW(NS_SUMS, "sums", sums_fields, ns_sums, 0),
	ROW(NS_THROTTLE, "throttle", throttle_fields, ns_throttle, 0),
	ROW(NS_RAN, "ran", ran_fields, ns_ran, 0),
	ROW(NS_FAILED, "failed", failed_fields, ns_failed, RECORD_ON_CONN),
	ROW(NS_LISTENER, "listener", listener_fields, ns_listener, 0),
	ROW(NS_SERVICE, "service", service_fields, ns_service, 0),
	ROW(NS_MARK, "mark", marked_fields, ns_marked, 0),
	ROW(NS_PROFILE, "profile", profile_fields, ns_profile, 0),
	ROW(NS_PROFILE_TEXT, "profile-text", profile_text_fields, ns_profile_text, 0),
	ROW(NS_PROFILE_ENTRY, "profile-entry", profile_entry_fields, ns_profile_entry, 0),
	ROW(NS_PROFILE_WAKE, "profile-wake", profile_wake_fields, ns_profile_wake, 0),
	ROW(NS_REFUSED, "refused", refused_fields, ns_refused, 0),
};

_Static_assert(sizeof(types) / sizeof(types[0]) == NS_TYPE_MAX - 1, "a row for every type");

const struct record_type *record_type__by_number(uint32_t type)
{
	/* The rows stand in the order of their numbers; a unit test says so. */
	return type && type < NS_TYPE_MAX ? &types[type - 1] : NULL;
}

const struct record_type *record_type__by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
	}
	return NULL;
}

const char *hold_reason__name(uint32_t reason)
{
	return reason <= NS_HOLD_SNDBUF ? hold_names[reason] : hold_names[NS_HOLD_UNKNOWN];
}

/* memcpy: the tables give offsets, and the compiler keeps its aliasing rules. */
static uint32_t u32_at(const union record *record, size_t offset)
{
	uint32_t value;

	memcpy(&value, (const char *)record + offset, sizeof(value));
	return value;
}

static bool is_wide(const struct field *field)
{
	return field->kind == FIELD_U64 || field->kind == FIELD_HEX64 || field->kind == FIELD_MS ||
	       field->kind == FIELD_TIME;
}

uint64_t field__number(const union record *record, const struct field *field)
{
	uint64_t value;

	if (!is_wide(field))
		return u32_at(record, field->offset);
	memcpy(&value, (const char *)record + field->offset, sizeof(value));
	return value;
}

void field__set_number(union record *record, const struct field *field, uint64_t number)
{
	uint32_t small = (uint32_t)number;

	if (is_wide(field))
		memcpy((char *)record + field->offset, &number, sizeof(number));
	else
		memcpy((char *)record + field->offset, &small, sizeof(small));
}

const char *field__string(const union record *record, const struct field *field)
{
	return (const char *)record + field->offset;
}

/* A connection has addresses, and a wait that of its socket. */
uint32_t *field__family(union record *record)
{
	switch (record->head.type) {
	case NS_WAIT:
		return &record->wait.socket.family;
	case NS_FAILED:
		return &record->failed.family;
	case NS_SERVICE:
		return &record->service.family;
	default:
		return &record->conn.family;
	}
}

void field__address(const union record *record, const struct field *field, uint32_t *family,
		    const uint32_t **addr, uint32_t *port)
{
	*family = *field__family((union record *)record);
	*addr = (const uint32_t *)(const void *)((const char *)record + field->offset);
	*port = u32_at(record, field->size);
}

const char *field__value_name(const struct field *field, uint64_t number)
{
	for (uint64_t i = 0; field->values[i]; i++) {
		if (i == number)
			return field->values[i];
	}
	return NULL;
}

bool field__is_set(const union record *record, const struct field *field)
{
	switch (field->kind) {
	case FIELD_STRING:
		return *field__string(record, field);
	case FIELD_ADDRESS:
		return true;
	case FIELD_FD:
		return field__number(record, field) != NS_FD_UNKNOWN;
	default:
		return field__number(record, field);
	}
}

/*
 * Of an operation that did not end a wait nothing is known, of one that goes on no result. How a
 * wait's end was seen is shown where it was not; the other end's timer where one is armed.
 */
bool field__means_something(const union record *record, const struct field *field)
{
	const struct record_type *type = record_type__by_number(record->head.type);

	if (!type)
		return true;
	if (type->type == NS_HOLD && field->offset == offsetof(struct ns_hold, ack_due_us))
		return record->hold.ack_due_us;
	if (type->type == NS_WAIT && field->offset == offsetof(struct ns_wait, ended))
		return record->wait.ended != NS_WAIT_SEEN;
	if (type->type == NS_WAIT && field->offset == offsetof(struct ns_wait, began_ts))
		return record->wait.began_ts;
	if (type->type == NS_WAIT && field->offset == offsetof(struct ns_wait, turn_ts))
		return record->wait.turn_ts;
	if (type->type == NS_WAIT && field->offset >= offsetof(struct ns_wait, ready_sent_ts))
		return record->wait.ready_sent_ts || record->wait.ready_brings;
	if (type->type == NS_WAIT && field->kind == FIELD_ADDRESS)
		return record->wait.socket.family == AF_INET ||
		       record->wait.socket.family == AF_INET6;
	if (type->type == NS_WAIT && field->offset >= offsetof(struct ns_wait, socket))
		return record->wait.socket.family;
	if (type->type == NS_WAIT && field->offset >= offsetof(struct ns_wait, spent_known))
		return record->wait.spent_known;
	if (type->type == NS_WAIT && !record->wait.op_known)
		return field->offset < offsetof(struct ns_wait, op_known);
	if (type->type == NS_EXCHANGE &&
	    field->offset >= offsetof(struct ns_exchange, spent_known) &&
	    field->offset < offsetof(struct ns_exchange, queued_ts))
		return record->exchange.spent_known;
	if (type->type == NS_URING && record->uring.step != NS_URING_DONE)
		return field->offset < offsetof(struct ns_uring, result);
	return true;
}
