/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What things are called in the output. All names of processes are made safe to
 * print here and nowhere else.
 */
#ifndef NETSTALL_RENDER_WORDS_NAMES_H
#define NETSTALL_RENDER_WORDS_NAMES_H

#include "user/analyze/report.h"
#include "user/base/text.h"

#define NAME_SIZE 96

/* "client/4242"; "tid 4242" when its comm is not known. */
char *name__thread(char *dst, size_t size, const struct report *report, uint32_t pid, uint32_t tid);

/* "client/4242"; "pid 4242" when its comm is not known, "?" for 0. */
char *name__process(char *dst, size_t size, const struct report *report, uint32_t pid);

/* The process of a connection's end; empty when it is not known, or conn is NULL. */
char *name__owner(char *dst, size_t size, const struct report *report,
		  const struct report_conn *conn);

/*
 * One end of a connection, short: "client"; "python/4242" when both ends are
 * called alike; "python:7000" when both ends are in one process.
 */
char *name__end(char *dst, size_t size, const struct report *report, uint32_t conn);

/* The other end: a name when it is on this host, else its address. */
char *name__far_end(char *dst, size_t size, const struct report *report, uint32_t conn);

/* "127.0.0.1:37640 -> 127.0.0.1:7000": ours first, whoever opened it. */
char *name__addresses(char *dst, size_t size, const struct ns_conn *conn);

/* Who asks or serves, and where: "orders -> 10.0.0.2:5432", "nginx :443" */
char *name__endpoint(char *dst, size_t size, const struct request_end *end);

/* What a thread waits in: "read fd 8", "futex"; "a call not known". */
char *name__syscall(char *dst, size_t size, const struct report *report,
		    const struct ns_wait *wait);

/* What was lost: "1 record (ring buffer full)", "1,234 records (ring buffer full)" */
char *name__lost(char *dst, size_t size, uint32_t kind, uint64_t count);

/* The leaf frames of a stack: "tcp_recvmsg <- inet_recvmsg <- sock_read_iter <- ..." */
char *name__stack(char *dst, size_t size, const char *frames, unsigned most);

/* The same in room of their own, which lasts as long as the block: see base/text.h. */
#define NAMED(function, size, ...)    function((char[size]){""}, size, __VA_ARGS__)
#define thread_text(report, pid, tid) NAMED(name__thread, NAME_SIZE, report, pid, tid)
#define process_text(report, pid)     NAMED(name__process, NAME_SIZE, report, pid)
#define owner_text(report, conn)      NAMED(name__owner, NAME_SIZE, report, conn)
#define end_text(report, conn)        NAMED(name__end, NAME_SIZE, report, conn)
#define far_end_text(report, conn)    NAMED(name__far_end, NAME_SIZE, report, conn)
#define addresses_text(conn)          NAMED(name__addresses, 2 * TEXT_ADDRESS + 4, conn)
#define syscall_text(report, wait)    NAMED(name__syscall, 64, report, wait)
#define lost_text(kind, count)        NAMED(name__lost, 160, kind, count)

#endif
