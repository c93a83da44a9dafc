// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a process did with io_uring, as JSON. */
#include <string.h>

#include "tests/workload/uring.h"

/* In the order of IORING_OP_*: netstall's own table is not asked. */
/* clang-format off */
static const char *const names[] = {
	"NOP", "READV", "WRITEV", "FSYNC", "READ_FIXED", "WRITE_FIXED", "POLL_ADD",
	"POLL_REMOVE", "SYNC_FILE_RANGE", "SENDMSG", "RECVMSG", "TIMEOUT", "TIMEOUT_REMOVE",
	"ACCEPT", "ASYNC_CANCEL", "LINK_TIMEOUT", "CONNECT", "FALLOCATE", "OPENAT", "CLOSE",
	"FILES_UPDATE", "STATX", "READ", "WRITE", "FADVISE", "MADVISE", "SEND", "RECV",
	"OPENAT2", "EPOLL_CTL", "SPLICE", "PROVIDE_BUFFERS", "REMOVE_BUFFERS", "TEE", "SHUTDOWN",
	"RENAMEAT", "UNLINKAT", "MKDIRAT", "SYMLINKAT", "LINKAT", "MSG_RING", "FSETXATTR",
	"SETXATTR", "FGETXATTR", "GETXATTR", "SOCKET", "URING_CMD", "SEND_ZC", "SENDMSG_ZC",
};
/* clang-format on */

static void print_results(const uint64_t *results)
{
	const char *comma = "";

	for (unsigned error = 0; error < RESULTS; error++) {
		const char *name = error ? strerrorname_np(error) : "ok";

		if (!results[error])
			continue;
		if (name)
			printf("%s\"%s\": %lu", comma, name, results[error]);
		else
			printf("%s\"%u\": %lu", comma, error, results[error]);
		comma = ", ";
	}
}

uint64_t tally__results(const struct tally *tally, unsigned opcode)
{
	uint64_t sum = 0;

	for (unsigned error = 0; error < RESULTS; error++)
		sum += tally->results[opcode][error];
	return sum;
}

static const char *name_of(unsigned opcode)
{
	return opcode < sizeof(names) / sizeof(names[0]) ? names[opcode] : "?";
}

void tally__print_missing(const struct tally *tally, FILE *to)
{
	for (unsigned i = 0; i < OPCODES; i++)
		if (tally->submitted[i] != tally__results(tally, i))
			fprintf(to, "%s: %lu submitted, %lu completed\n", name_of(i),
				tally->submitted[i], tally__results(tally, i));
}

void tally__print(const struct tally *tally, const char *mode)
{
	const char *comma = "";

	printf("{\"mode\": \"%s\", \"pid\": %d, \"ops\": {", mode, tally->pid);
	for (unsigned i = 0; i < OPCODES; i++) {
		if (!tally->submitted[i] && !tally__results(tally, i))
			continue;
		printf("%s\"%s\": {\"submitted\": %lu, \"refused\": %lu, \"early\": %lu, "
		       "\"notified\": %lu, \"results\": {",
		       comma, name_of(i), tally->submitted[i], tally->refused[i], tally->early[i],
		       tally->notified[i]);
		print_results(tally->results[i]);
		printf("}}");
		comma = ", ";
	}
	printf("}, \"overflowed\": %lu, \"dropped\": %lu, \"left_out\": [%s]}\n", tally->overflowed,
	       tally->dropped, tally->left_out);
}
