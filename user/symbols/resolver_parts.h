/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What goes between netstall and its resolver's process; for resolver*.c alone. */
#ifndef NETSTALL_SYMBOLS_RESOLVER_PARTS_H
#define NETSTALL_SYMBOLS_RESOLVER_PARTS_H

#include <stdint.h>

#include "bpf/offcpu_sample.h"
#include "user/symbols/file_broker.h"
#include "user/symbols/read_budget.h"
#include "user/symbols/resolver.h"

enum resolver_what {
	RESOLVER_NOTE,
	RESOLVER_NOTE_UNWINDS,
	RESOLVER_FORK,
	RESOLVER_PYTHON,
	RESOLVER_PYTHON_NAMES,
	RESOLVER_CALL,
	RESOLVER_SAMPLE,
	RESOLVER_STACK,
};

#define RESOLVER_DATA (sizeof(struct ns_offcpu_sample) + NS_OFFCPU_STACK_MOST)

struct question {
	uint64_t number; /* from 1 on */
	uint32_t what;   /* enum resolver_what */
	int32_t pid;
	int32_t child;
	uint32_t style;
	uint64_t len; /* of what follows: a call, a sample, addresses */
	unsigned char data[];
};

/* In memory that all of them share. */
struct resolver_shared {
	struct read_budget_book book;
	uint64_t question; /* that is being answered, 0 none */
};

/* The process that keeps one at work which answers what comes by the socket; never returns. */
_Noreturn void resolver__run(struct resolver_shared *shared, struct file_broker *broker,
			     int socket);

#endif
