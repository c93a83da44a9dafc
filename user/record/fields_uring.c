// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The fields of the records of io_uring. */
#include "user/record/fields_parts.h"

const char *const uring_how_names[] = {"unknown", "inline", "poll", "worker", "later", NULL};
const char *const uring_file_names[] = {"none", "tcp", "socket", "disk", "pipe", "other", NULL};
static const char *const step_names[] = {"none", "submitted", "queued", "armed", "done", NULL};

const struct field ring_fields[] = {
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

const struct field uring_fields[] = {
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

const struct field reap_fields[] = {
	U32(ns_reap, ring), U32(ns_reap, upto), U32(ns_reap, left), U32(ns_reap, taken), END,
};

#define HOW(index, name) FIELD(FIELD_U64, ns_uring_totals, how[index], name)
#define BUCKET(index)    FIELD(FIELD_U32, ns_uring_totals, buckets[index], "bucket_" #index)

/* A histogram of many empty buckets: those that are set are written. */
#define BUCKETS_8(a, b, c, d, e, f, g, h)                                                          \
	BUCKET(a), BUCKET(b), BUCKET(c), BUCKET(d), BUCKET(e), BUCKET(f), BUCKET(g), BUCKET(h)

/* clang-format off */
const struct field uring_totals_fields[] = {
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
	BUCKETS_8(0, 1, 2, 3, 4, 5, 6, 7),
	BUCKETS_8(8, 9, 10, 11, 12, 13, 14, 15),
	BUCKETS_8(16, 17, 18, 19, 20, 21, 22, 23),
	BUCKETS_8(24, 25, 26, 27, 28, 29, 30, 31),
	BUCKETS_8(32, 33, 34, 35, 36, 37, 38, 39),
	BUCKETS_8(40, 41, 42, 43, 44, 45, 46, 47),
	BUCKETS_8(48, 49, 50, 51, 52, 53, 54, 55),
	BUCKETS_8(56, 57, 58, 59, 60, 61, 62, 63),
	BUCKETS_8(64, 65, 66, 67, 68, 69, 70, 71),
	BUCKETS_8(72, 73, 74, 75, 76, 77, 78, 79),
	BUCKETS_8(80, 81, 82, 83, 84, 85, 86, 87),
	BUCKETS_8(88, 89, 90, 91, 92, 93, 94, 95),
	BUCKETS_8(96, 97, 98, 99, 100, 101, 102, 103),
	BUCKETS_8(104, 105, 106, 107, 108, 109, 110, 111),
	BUCKETS_8(112, 113, 114, 115, 116, 117, 118, 119),
	BUCKETS_8(120, 121, 122, 123, 124, 125, 126, 127),
	BUCKETS_8(128, 129, 130, 131, 132, 133, 134, 135),
	BUCKETS_8(136, 137, 138, 139, 140, 141, 142, 143),
	BUCKETS_8(144, 145, 146, 147, 148, 149, 150, 151),
	BUCKETS_8(152, 153, 154, 155, 156, 157, 158, 159),
	BUCKETS_8(160, 161, 162, 163, 164, 165, 166, 167),
	BUCKETS_8(168, 169, 170, 171, 172, 173, 174, 175),
	BUCKETS_8(176, 177, 178, 179, 180, 181, 182, 183),
	BUCKETS_8(184, 185, 186, 187, 188, 189, 190, 191),
	END,
};
/* clang-format on */

const struct field uring_error_fields[] = {
	OPCODE(ns_uring_error, opcode),
	ERRNO(ns_uring_error, error),
	U64(ns_uring_error, count),
	END,
};
