// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>

#include "user/explain/advice_parts.h"

void advise__loss(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "Find where segments between here and %s are dropped: counters of the "
		     "devices (ip -s link, ethtool -S), of queues (tc -s qdisc) and of the kernel "
		     "(nstat) at both ends, firewalls on the way: without the loss this %s.",
		     story->other, saves);
	if (story->tally->cause == CAUSE_RTO)
		advice__give(verdict,
			     "If the round trip is far below 200 ms and loss cannot be avoided, a "
			     "shorter least time-out on the route (ip route change ... rto_min "
			     "20ms) shortens each such wait. It does not mend the loss.");
	free(saves);
}

void advise__syn_retransmit(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "At %s, look whether the listen queue overflows (nstat -az TcpExtListenDrops "
		     "TcpExtListenOverflows; ss -ltn shows queue and limit): accept() sooner, or "
		     "a larger backlog in listen() and net.core.somaxconn: this %s.",
		     story->other, saves);
	advice__give(verdict,
		     "If these counters stand still, look for a firewall or for loss on the way.");
	advice__give(verdict,
		     "Keep connections open and use them again: each new one can meet this.");
	free(saves);
}
