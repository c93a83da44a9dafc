// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The workload's modes. */
#include <string.h>

#include "user/demo/workload.h"

/* clang-format off */
static const struct workload_script scripts[WORKLOAD_MODES] = {
	[WORKLOAD_SPLIT] = {
		.mode = WORKLOAD_SPLIT, .name = "split", .cause = "nagle-delack",
		.description = "two writes, then wait: Nagle's algorithm against a delayed ACK",
		.first_bytes = 40, .rest_bytes = 136, .reply_bytes = 96,
	},
	[WORKLOAD_SINGLE] = {
		.mode = WORKLOAD_SINGLE, .name = "single",
		.description = "one write, then wait: nothing is held",
		.first_bytes = 176, .reply_bytes = 96,
	},
	[WORKLOAD_NODELAY] = {
		.mode = WORKLOAD_NODELAY, .name = "nodelay",
		.description = "two writes with TCP_NODELAY, then wait: nothing is held",
		.first_bytes = 40, .rest_bytes = 136, .reply_bytes = 96,
		.nodelay = true,
	},
	[WORKLOAD_CORK] = {
		.mode = WORKLOAD_CORK, .name = "cork", .cause = "cork",
		.description = "one write under TCP_CORK, which is pulled 30 ms later",
		.first_bytes = 100, .reply_bytes = 96,
		.cork = true, .gap_us = 30000,
	},
	[WORKLOAD_MORE] = {
		.mode = WORKLOAD_MORE, .name = "more", .cause = "cork",
		.description = "one write with MSG_MORE, which TCP_NODELAY pushes out 30 ms later",
		.first_bytes = 100, .reply_bytes = 96,
		.more = true, .gap_us = 30000,
	},
	[WORKLOAD_PIGGYBACK] = {
		.mode = WORKLOAD_PIGGYBACK, .name = "piggyback", .cause = "nagle",
		.description = "two writes, the first answered once no more comes for 20 ms: Nagle without a timer",
		.first_bytes = 40, .rest_bytes = 136, .reply_bytes = 96,
		.early_reply_us = 20000, .early_reply_bytes = 40,
	},
	[WORKLOAD_LATE_SERVER] = {
		.mode = WORKLOAD_LATE_SERVER, .name = "late-server", .cause = "peer-app",
		.description = "one write, the server takes 40 ms to answer: nothing is held",
		.first_bytes = 176, .reply_bytes = 96,
		.reply_delay_us = 40000,
	},
	[WORKLOAD_PACED] = {
		.mode = WORKLOAD_PACED, .name = "paced",
		.description = "bursts of 5 exchanges, 60 ms apart: delayed ACKs that delay nobody",
		.first_bytes = 176, .reply_bytes = 96,
		.burst = 5, .interval_us = 60000,
	},
};
/* clang-format on */

const struct workload_script *workload__script(unsigned int mode)
{
	return mode < WORKLOAD_MODES ? &scripts[mode] : NULL;
}

const struct workload_script *workload__find(const char *name)
{
	for (unsigned int mode = 0; mode < WORKLOAD_MODES; mode++)
		if (!strcmp(scripts[mode].name, name))
			return &scripts[mode];
	return NULL;
}
