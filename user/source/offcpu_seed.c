// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Threads that sleep since before the attach. The kernel side can read their kernel stacks but
 * not their memory, so their frame pointers are followed from here, while we have the right to.
 */
#include <stdlib.h>

#include "user/base/xalloc.h"
#include "user/source/offcpu_parts.h"

/* What a frame pointer points to, on x86-64 and arm64 alike. */
struct frame_record {
	uint64_t caller; /* the caller's frame pointer */
	uint64_t returns_to;
};

static void follow_frames(pid_t pid, const struct ns_offcpu_seed *told, struct offcpu_seed *out)
{
	struct frame_record record;
	uint64_t fp = told->fp;

	out->frames[out->count++] = told->ip;
	while (out->count < NS_OFFCPU_FRAMES && fp >= told->sp && fp % sizeof(uint64_t) == 0 &&
	       read_memory(pid, fp, &record, sizeof(record)) && record.returns_to) {
		out->frames[out->count++] = record.returns_to;
		if (record.caller <= fp)
			break;
		fp = record.caller;
	}
}

void offcpu__seed(struct offcpu *offcpu, const struct ns_offcpu_seed *told)
{
	struct offcpu_seed *seed;
	pid_t pid;

	if (!told->ip)
		return;
	offcpu__process(offcpu, told->tgid, 0);
	pid = enrich__view(offcpu->session->enrich, told->tgid);
	if (!pid || offcpu->options.no_user_stacks || table__get(offcpu->seeds, told->place))
		return;
	seed = xcalloc(1, sizeof(*seed));
	follow_frames(pid, told, seed);
	seed->python = offcpu_python__seed(offcpu, told, pid);
	if (!table__put(offcpu->seeds, told->place, seed))
		free(seed);
}
