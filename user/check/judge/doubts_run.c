// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The run as a whole: was there anything to judge, and did it last long enough? */
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/judge/doubts.h"

static char *duration(char *out, size_t size, double seconds)
{
	return text__duration(out, size, (uint64_t)(seconds * 1e9));
}

static char *no_traffic(const struct outcome *outcome, const struct traffic *traffic)
{
	char lasted[TEXT_DURATION], count[TEXT_COUNT];
	size_t connections = traffic->connections + traffic->attempts;

	duration(lasted, sizeof(lasted), outcome->seconds);
	if (!connections && outcome->report && outcome->report->children)
		return xasprintf(
			"the target had no TCP connection in %s, and %s of its children had: "
			"check these too, with --children",
			lasted, text__count(count, sizeof(count), outcome->report->children));
	if (!connections)
		return xasprintf(
			"the target had no TCP connection in %s: check a program that uses "
			"the network while it is checked, or allow this with "
			"--allow-no-traffic",
			lasted);
	return xasprintf(
		"no byte went over the target's %s TCP connection%s in %s (not answered, or "
		"idle): check it while it works, or allow this with --allow-no-traffic",
		text__count(count, sizeof(count), connections), connections == 1 ? "" : "s",
		lasted);
}

static char *few_exchanges(const struct outcome *outcome, const struct traffic *traffic)
{
	char seen[TEXT_COUNT], wanted[TEXT_COUNT], out[TEXT_BYTES], in[TEXT_BYTES];

	if (!traffic->exchanges)
		return xasprintf(
			"%s were sent and %s received, and no request was followed by an "
			"answer, so no exchange could show a stall: check it while it asks "
			"and answers, or allow this with --min-exchanges=0",
			text__bytes(out, sizeof(out), traffic->bytes_out),
			text__bytes(in, sizeof(in), traffic->bytes_in));
	return xasprintf(
		"%s exchange%s (a request and its answer) %s seen, --min-exchanges wants "
		"%s: check for longer, or give a lower number",
		text__count(seen, sizeof(seen), traffic->exchanges),
		traffic->exchanges == 1 ? "" : "s", traffic->exchanges == 1 ? "was" : "were",
		text__count(wanted, sizeof(wanted), outcome->min_exchanges));
}

/* What came in may be nothing but the ends of connections. */
static bool is_nothing(const struct traffic *traffic)
{
	return !traffic->bytes_out && !traffic->exchanges &&
	       traffic->bytes_in <= TRAFFIC_FIN * (traffic->connections + traffic->attempts);
}

static void judge_traffic(struct outcome *outcome, const struct gate_options *options,
			  const struct traffic *traffic)
{
	bool nothing = is_nothing(traffic);

	if (nothing && options->allow_no_traffic)
		return;
	if (nothing)
		doubt__add(outcome, DOUBT_NO_TRAFFIC, no_traffic(outcome, traffic), NULL, NULL);
	else if (traffic->exchanges < options->min_exchanges)
		doubt__add(outcome, DOUBT_EXCHANGES, few_exchanges(outcome, traffic), NULL, NULL);
}

void doubts__of_run(struct outcome *outcome, const struct gate_options *options,
		    const struct gate_facts *facts, const struct traffic *traffic)
{
	char lasted[TEXT_DURATION];

	if (facts->no_target)
		doubt__add(outcome, DOUBT_NO_TARGET,
			   xstrdup("the target had gone before netstall could attach: let netstall "
				   "start it, with `netstall check -- PROGRAM`, or begin earlier"),
			   NULL, NULL);
	if (facts->cut_short)
		doubt__add(
			outcome, DOUBT_CUT_SHORT,
			xasprintf("a signal ended the check after %s, before its time: let it run "
				  "to its end, or ask for less with -d",
				  duration(lasted, sizeof(lasted), outcome->seconds)),
			NULL, NULL);
	/* Whatever else is allowed: nothing of it was looked at. */
	if (outcome->warmup_seconds > 0 && !(outcome->seconds > 0))
		doubt__add(
			outcome, DOUBT_CUT_SHORT,
			xasprintf("it ended after %s, before that which was to be judged began: %s",
				  duration(lasted, sizeof(lasted), outcome->warmup_seconds),
				  facts->program.wait_port
					  ? "see that it listens at its --wait-port, and for "
					    "how long"
					  : "check for longer, or make the --warmup shorter"),
			NULL, NULL);
	else if (traffic)
		judge_traffic(outcome, options, traffic);
}
