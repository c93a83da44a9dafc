/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a row of a field table is written; for fields*.c alone. */
#ifndef NETSTALL_RECORD_FIELDS_PARTS_H
#define NETSTALL_RECORD_FIELDS_PARTS_H

#include "user/record/record.h"

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
#define END                                                                                        \
	{                                                                                          \
		NULL, FIELD_U32, 0, 0, NULL                                                        \
	}

/* fields_uring.c */
extern const char *const uring_how_names[];
extern const char *const uring_file_names[];
extern const struct field ring_fields[];
extern const struct field uring_fields[];
extern const struct field reap_fields[];
extern const struct field uring_totals_fields[];
extern const struct field uring_error_fields[];

/* fields.c */
extern const char *const origin_names[];
extern const char *const turn_names[];

#endif
