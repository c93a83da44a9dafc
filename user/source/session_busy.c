// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Where busy threads are: a clock on each CPU runs a program that copies the stack of a watched
 * thread which has not slept for long. It ticks only while something waits long.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/source/session_parts.h"

#define BUSY_FOR_NS 2000000000ull /* behind the last long wait */

static void let_tick(struct session *session, bool tick)
{
	for (size_t i = 0; i < session->clock_count; i++)
		ioctl(session->clocks[i].fd, tick ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
		      0);
	session->clocks_tick = tick;
}

/* A CPU that is not online has none. */
int session__open_clocks(struct session *session)
{
	struct bpf_program *program = session->skel->progs.pe_busy;
	int cpus = libbpf_num_possible_cpus();

	if (!bpf_program__autoload(program) || cpus <= 0)
		return 0;
	session->clocks = xcalloc((size_t)cpus, sizeof(*session->clocks));
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct session_clock *clock = &session->clocks[session->clock_count];
		int err;

		clock->fd = caps__open_clock(cpu);
		if (clock->fd < 0 && (errno == ENODEV || errno == EINVAL))
			continue;
		clock->link =
			clock->fd < 0 ? NULL : bpf_program__attach_perf_event(program, clock->fd);
		if (!clock->link) {
			err = -errno;
			if (clock->fd >= 0)
				close(clock->fd);
			/* Each CPU takes two files: without them the rest has to do. */
			if (err == -EMFILE || err == -ENFILE || err == -ENOMEM) {
				log__debug("not every CPU has a clock: %s", strerror(-err));
				break;
			}
			return session__refused(session, program, NS_REFUSED_ATTACH, err);
		}
		session->clock_count++;
	}
	let_tick(session, false); /* to attach has begun it */
	return 0;
}

void session__close_clocks(struct session *session)
{
	while (session->clock_count)
		bpf_link__destroy(session->clocks[--session->clock_count].link);
	free(session->clocks);
	session->clocks = NULL;
}

static bool is_long(const struct session *session, const struct ns_head *head)
{
	uint64_t since = head->ts;

	if (head->type == NS_WAIT)
		since = ((const struct ns_wait *)head)->off_ts;
	else if (head->type == NS_EXCHANGE)
		since = ((const struct ns_exchange *)head)->begin_ts;
	return head->ts - since >= session->options.threshold_ns;
}

void session__look_for_busy(struct session *session, const struct ns_head *head)
{
	if (!is_long(session, head))
		return;
	session->long_seen_ns = head->ts;
	if (!session->clocks_tick && session->clock_count)
		let_tick(session, true);
}

void session__pace_clocks(struct session *session, uint64_t now)
{
	if (session->clocks_tick && now > session->long_seen_ns &&
	    now - session->long_seen_ns > BUSY_FOR_NS)
		let_tick(session, false);
}
