/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Puts a nearly sorted stream of records in order: each is held for a while, and the
 * earliest goes first. Bounded: when it is full, the earliest goes at once. The kernel side now and
 * then tells a record twice (mark__leave() of bpf/lib/history.bpf.h); it comes out once.
 */
#ifndef NETSTALL_ANALYZE_ORDER_H
#define NETSTALL_ANALYZE_ORDER_H

#include "user/record/record.h"

#define ORDER_RECORDS 4096

struct order;

struct order *order__new(void);
void order__free(struct order *order);
void order__push(struct order *order, const union record *record);
/*
 * Takes the earliest record that is not later than until, any when the order is overfull.
 * NULL: none. It is valid until the next call.
 */
const union record *order__pop(struct order *order, uint64_t until);

#endif
