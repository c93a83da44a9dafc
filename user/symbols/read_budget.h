/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the reading of other people's files may cost. Every reader of ELF files, debug information
 * and perf maps asks here: once for each file, and again in every long loop. What was refused costs
 * names, and the user is told so once (read_budget__report()).
 *
 * Loops within libelf and libdw ask nobody: for these the process that reads has a timer and a
 * bound on its memory (resolver_process.c).
 */
#ifndef NETSTALL_SYMBOLS_READ_BUDGET_H
#define NETSTALL_SYMBOLS_READ_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the tables of one file, at one question: ten times the symbols of a web browser. */
#define READ_BUDGET_BYTES (256u << 20)
/* On a CPU, for one file at one question; for one file in a whole run; for all files in a whole
 * run. A web browser's symbols and lines take about a second. */
#define READ_BUDGET_NS      2000000000ull
#define READ_BUDGET_FILE_NS 5000000000ull
#define READ_BUDGET_RUN_NS  60000000000ull
/* Of files that are mapped whole, for names and again for unwinding: the one used longest ago is
 * closed. What does not fit at all is read section by section. */
#define READ_BUDGET_MAPPED (1ull << 30)
/* All that the process that reads may have, and half of what the machine has; with half of that
 * left over from a question it is ended, and with it what libdw keeps. */
#define READ_BUDGET_MEMORY (4ull << 30)
/* What ended the process that reads: it is not tried again. */
#define READ_BUDGET_REFUSED 8

/* A file, its debug information alone, or a process whose stacks are unwound. */
struct read_budget_subject {
	uint64_t device, inode;
	uint64_t pid;   /* 0: a file */
	uint64_t lines; /* 1: its debug information, without which it still has names */
};

/* In memory that the process that reads shares with those that wait for it. */
struct read_budget_book {
	struct read_budget_subject subject; /* what is being read; all 0: nothing */
	char path[256];                     /* of it; "": a process */
	struct read_budget_subject refused[READ_BUDGET_REFUSED];
	uint32_t refused_count;
	uint32_t cut;      /* a file was overwritten while it was read */
	uint32_t exceeded; /* how often a bound was met */
	uint32_t ended;    /* how often the process that reads ended, and was started anew */
	char first[256];   /* the file that met a bound first, or ended the process; "" none */
};

/* Where it is noted down from now on, by this process and its children. */
void read_budget__use(struct read_budget_book *book);
struct read_budget_book *read_budget__book(void);

/* Bytes and time count from now on. */
void read_budget__begin(void);
/* May it be read on? bytes: of a table, that are looked at next. */
bool read_budget__take(size_t bytes);
/* What is read now has more than there is room for. */
void read_budget__exceed(void);

/*
 * This is what is read from now on, up to read_budget__leave(), and a new beginning. spent_ns: on
 * it so far; NULL is not counted. False: it is refused, and not entered.
 */
bool read_budget__enter(const struct read_budget_subject *subject, const char *path,
			const uint64_t *spent_ns);
/* It is the debug information of what was entered, up to read_budget__leave(). False: it is
 * refused. */
bool read_budget__lines(void);
void read_budget__leave(uint64_t *spent_ns);
/*
 * From now on a file ends this process when it became larger than this with it; and begin is called
 * at each, which starts the timers.
 */
void read_budget__limit(uint64_t bytes, void (*begin)(void));

/* The process that reads has ended: what it was at is refused from now on. False: that happened
 * too often, and no other is to be started. */
bool read_budget__ended(struct read_budget_book *book);

/* One sentence about each sort of what was not read. */
void read_budget__report(const struct read_budget_book *book);

#endif
