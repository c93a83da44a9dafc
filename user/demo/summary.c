// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the workload measured, in a few figures. */
#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/demo/workload.h"

/* Nearest rank: the smallest latency that at least @percent of all do not exceed. */
static double percentile_us(const uint64_t *sorted, size_t n, unsigned int percent)
{
	return sorted[(n * percent + 99) / 100 - 1] / 1e3;
}

void workload__summarize(const struct workload_result *r, struct workload_summary *summary)
{
	uint64_t exchanges = atomic_load_explicit(&r->exchanges, memory_order_acquire);
	size_t n = exchanges < WORKLOAD_SAMPLES ? exchanges : WORKLOAD_SAMPLES;
	uint64_t *latencies;

	*summary = (struct workload_summary){0};
	if (!n)
		return;
	latencies = xcalloc(n, sizeof(*latencies));
	for (size_t i = 0; i < n; i++)
		latencies[i] = r->samples[i].latency_ns;
	sort_values(latencies, n);
	summary->exchanges = exchanges;
	summary->seconds = r->window_ns / 1e9;
	summary->max_us = r->max_ns / 1e3;
	summary->stalls = r->stalls;
	summary->median_us = percentile_us(latencies, n, 50);
	summary->p99_us = percentile_us(latencies, n, 99);
	summary->cpu_us_per_exchange = (r->client_cpu_ns + r->server_cpu_ns) / 1e3 / exchanges;
	free(latencies);
}
