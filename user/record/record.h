/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One decoded record: the wire contract of bpf/event.h after every length,
 * string and range was checked. Everything behind the decoder trusts it.
 */
#ifndef NETSTALL_RECORD_RECORD_H
#define NETSTALL_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "user/record/uring_ops.h"

/* A wait of at least so long is a stall, unless the session says otherwise. */
#define DEFAULT_THRESHOLD_NS 10000000ull

union record {
	struct ns_head head;
	struct ns_session session;
	struct ns_process process;
	struct ns_conn conn;
	struct ns_peer peer;
	struct ns_send send;
	struct ns_hold hold;
	struct ns_segment segment; /* NS_TX, NS_ACK, NS_RX */
	struct ns_delack delack;   /* NS_DELACK_ARM, NS_DELACK_FIRE */
	struct ns_release release;
	struct ns_recv recv;
	struct ns_wait wait;
	struct ns_sums sums;
	struct ns_throttle throttle;
	struct ns_ran ran;
	struct ns_retrans retrans;
	struct ns_failed failed;
	struct ns_listener listener;
	struct ns_service service;
	struct ns_marked mark;
	struct ns_call call;
	struct ns_exchange exchange;
	struct ns_conn_totals conn_totals;
	struct ns_thread_totals thread_totals;
	struct ns_exit exit;
	struct ns_lost lost;
	struct ns_stack stack;
	struct ns_end end;
	struct ns_ring ring;
	struct ns_uring uring;
	struct ns_reap reap;
	struct ns_uring_totals uring_totals;
	struct ns_uring_error uring_error;
	struct ns_profile profile;
	struct ns_profile_text profile_text;
	struct ns_profile_entry profile_entry;
	struct ns_profile_wake profile_wake;
	struct ns_refused refused;
};

/*
 * Check the record of len bytes at data and copy it to out; what the record is
 * longer than its type is left, strings get their NUL. Returns 0, -ENOMSG for a
 * type this version does not know (skip it), -EBADMSG for a damaged one.
 */
int record__decode(const void *data, size_t len, union record *out);

/*
 * Times that cannot be, out of order or below zero or longer than what has passed since start_ts
 * (0: not known), are made the nearest that can; true when there were any.
 */
bool record__correct(union record *record, uint64_t start_ts);

/* What is wrong with a record whose head and length are right, a clause; NULL: nothing. */
const char *record__damage(const union record *record);

/* Bytes of a record of this type, 0 for an unknown one. */
size_t record__size(uint32_t type);
bool record__is_event(uint32_t type);

/* By user space, before it has read what happened meanwhile: what follows may be older. */
bool record__is_told_ahead(uint32_t type);

/*
 * The fields of a record as a table: the text trace, the event lines of --all
 * and JSON are all written from it, so that they name the same things alike.
 */
enum field_kind {
	FIELD_U32,
	FIELD_U64,
	FIELD_S32, /* u32, two's complement */
	FIELD_HEX32,
	FIELD_HEX64,   /* what a program chose: a pointer as often as not */
	FIELD_ERRNO,   /* u32, by name */
	FIELD_OPCODE,  /* u32, see uring_op__text() */
	FIELD_MS,      /* u64 ns, written as ms with six decimals */
	FIELD_TIME,    /* u64 CLOCK_MONOTONIC ns, written as ms since the session began */
	FIELD_ADDRESS, /* address and port, see fields.c */
	FIELD_STRING,
	FIELD_NAME, /* u32 with a table of names: reasons, roles, origins */
	FIELD_FD, /* u32, "-" when NS_FD_UNKNOWN; also system calls, NS_SYSCALL_NONE is the same */
};

struct field {
	const char *name;
	enum field_kind kind;
	uint16_t offset;
	uint16_t size; /* FIELD_STRING: bytes with the NUL; FIELD_ADDRESS: offset of the port */
	const char *const *values; /* FIELD_NAME: NULL-terminated, by number */
};

enum record_trait {
	RECORD_ON_CONN = 1, /* its head must name a connection */
	RECORD_EVENT = 2,   /* something that happens to a connection or a thread: see events.h */
};

struct record_type {
	uint32_t type;
	const char *name;           /* "delack-fire" */
	const struct field *fields; /* behind the head, ended by a NULL name */
	size_t size;
	unsigned traits; /* enum record_trait */
};

/* The fields of every head: conn, tgid, tid, cpu. Ended by a NULL name. */
extern const struct field record_head_fields[];

/* NULL for an unknown type or name. */
const struct record_type *record_type__by_number(uint32_t type);
const struct record_type *record_type__by_name(const char *name);

/* Of every kind but FIELD_ADDRESS and FIELD_STRING. */
uint64_t field__number(const union record *record, const struct field *field);
void field__set_number(union record *record, const struct field *field, uint64_t number);
const char *field__string(const union record *record, const struct field *field);
/* Of a record with a FIELD_ADDRESS: where its AF_* is. */
uint32_t *field__family(union record *record);
/* Of FIELD_ADDRESS: what text__address() wants. */
void field__address(const union record *record, const struct field *field, uint32_t *family,
		    const uint32_t **addr, uint32_t *port);
/* Of FIELD_NAME: NULL beyond its table. */
const char *field__value_name(const struct field *field, uint64_t number);
/* False when it has the value that absence means: zero, empty, an unknown fd. */
bool field__is_set(const union record *record, const struct field *field);
/* False for a field that other fields of its record say is not there. */
bool field__means_something(const union record *record, const struct field *field);

/* "nagle", "cork", ... of enum ns_hold_reason; "unknown" beyond the table. */
const char *hold_reason__name(uint32_t reason);

#endif
