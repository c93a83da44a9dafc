// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The request view: one exchange in slices, and which one stands for a quantile. */
#include "tests/unit/analyze/outcome.h"
#include "user/analyze/requests/requests.h"

#define SERVED "exchange conn=2 tgid=20 tid=20 side=served "
#define ASKED  "exchange conn=1 tgid=10 tid=10 side=asked "

static void assert_sum(const struct request_view *view)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < view->slice_count; i++) {
		assert_true(view->slices[i].ns > 0);
		sum += view->slices[i].ns;
	}
	assert_int_equal(sum, view->total_ns);
}

/* "self 1, nagle-delack 40": ms, in order; each view's slices have to sum to its total. */
static void assert_slices(const struct request_view *view, const char *wanted)
{
	char text[512] = "";

	for (size_t i = 0; i < view->slice_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %g", i ? ", " : "",
			 cause__info(view->slices[i].cause)->id, (double)view->slices[i].ns / 1e6);
	assert_sum(view);
	assert_string_equal(text, wanted);
}

static const struct request_view *median(const struct outcome *outcome)
{
	assert_true(outcome->report->requests_count > 0);
	return &outcome->report->requests[0].median;
}

static void assert_median(const char *lines, const char *wanted, enum confidence confidence)
{
	struct outcome outcome = analyze(feed__text(lines));

	assert_slices(median(&outcome), wanted);
	assert_int_equal(median(&outcome)->confidence, confidence);
	done(&outcome);
}

static void test_prompt(void **state)
{
	(void)state;
	assert_median(HEAD PEER "7 " SERVED
				"begin=2 ready=3 off=0.5 weight=1\n"
				"10 " ASKED "begin=1 ready=1 off=1.5 wake=8 weight=1\n",
		      "network 1, runqueue 1, peer-app 4, network 1, runqueue 2",
		      CONFIDENCE_OBSERVED);
}

/* The server was at another request when it came. */
static void test_unread(void **state)
{
	(void)state;
	assert_median(HEAD PEER "22 " SERVED
				"arrived=2 begin=20 ready=20 weight=1\n"
				"24 " ASKED "begin=1 ready=1 off=1.5 wake=23 weight=1\n",
		      "network 1, peer-app 20, network 1, runqueue 1", CONFIDENCE_OBSERVED);
}

#define QUEUED "queued=1 accepted=18 accept_tid=20 listen_port=7000 backlog=1 backlog_max=5 "

#define FAR_QUEUED "queued=5 accepted=18 accept_tid=20 listen_port=7000 backlog=1 backlog_max=5 "

/* It lay in the listen queue: either end's record says so, and one is enough. */
static void test_queued(void **state)
{
	const char *wanted = "accept-queue 17, peer-app 4, network 1, runqueue 1";

	(void)state;
	assert_median(HEAD PEER "22 " SERVED "arrived=1.5 begin=18 ready=18 weight=1 " QUEUED
				"\n"
				"24 " ASKED "begin=1 ready=1 off=1.5 wake=23 weight=1\n",
		      wanted, CONFIDENCE_OBSERVED);
	assert_median(HEAD PEER "22 " SERVED "arrived=5.5 begin=18 ready=18 weight=1 " FAR_QUEUED
				"\n"
				"24 " ASKED "begin=1 ready=1 off=1.5 wake=23 weight=1\n",
		      "network 4, accept-queue 13, peer-app 4, network 1, runqueue 1",
		      CONFIDENCE_OBSERVED);
	assert_median(HEAD PEER "22 " SERVED
				"arrived=1.5 begin=18 ready=18 weight=1\n"
				"24 " ASKED "begin=1 ready=1 off=1.5 wake=23 weight=1 " QUEUED "\n",
		      wanted, CONFIDENCE_OBSERVED);
}

/* The connection was made for it; what else a connection's first request may wait for comes behind.
 */
static void test_connected(void **state)
{
	(void)state;
	assert_median(HEAD PEER "22 " SERVED
				"begin=18 ready=18 weight=1\n"
				"24 " ASKED
				"connect=1 connected=11 begin=12 ready=12 off=12.5 "
				"wake=23 weight=1\n",
		      "network 10, self 1, peer-app 10, network 1, runqueue 1",
		      CONFIDENCE_OBSERVED);
	assert_median(HEAD PEER "22 " SERVED
				"begin=18 ready=18 weight=1\n"
				"24 " ASKED
				"connect=1 connected=11 connect_syns=1 begin=12 "
				"ready=12 off=12.5 wake=23 weight=1\n",
		      "syn-retransmit 10, self 1, peer-app 10, network 1, runqueue 1",
		      CONFIDENCE_OBSERVED);
}

/* 40 B, then 136 B that Nagle's algorithm holds until the other end's timer has fired. */
static void test_held(void **state)
{
	(void)state;
	assert_median(HEAD PEER "43 " SERVED
				"begin=42 ready=42.5 off=1.5 weight=1\n"
				"45 " ASKED
				"begin=1 ready=2 off=2.5 wake=44 held=39 hold_reason=nagle "
				"delack=40.9 writes=2 weight=1\n",
		      "self 1, nagle-delack 39, network 1, runqueue 0.5, peer-app 0.5, network 1, "
		      "runqueue 1",
		      CONFIDENCE_OBSERVED);
	/* Without a timer it is Nagle's algorithm alone, whatever it lasted. */
	assert_median(HEAD PEER "43 " SERVED
				"begin=42 ready=42.5 off=1.5 weight=1\n"
				"45 " ASKED
				"begin=1 ready=2 off=2.5 wake=44 held=39 hold_reason=nagle "
				"writes=2 weight=1\n",
		      "self 1, nagle 39, network 1, runqueue 0.5, peer-app 0.5, network 1, "
		      "runqueue 1",
		      CONFIDENCE_OBSERVED);
}

/* A timer that fires during an exchange in which nothing was held has nothing to do with it. */
static void test_harmless_timer(void **state)
{
	(void)state;
	assert_median(HEAD PEER "41 " SERVED
				"begin=1 ready=1 off=0.5 weight=1\n"
				"41 " ASKED "begin=1 ready=1 off=1 wake=41 delack=40 weight=1\n",
		      "peer-app 40", CONFIDENCE_OBSERVED);
}

/* A cork holds from the first write on: nothing is left for the pause between the writes. */
/* Until its last write the request is the program's affair, behind it the cork's. */
static void test_cork(void **state)
{
	(void)state;
	assert_median(HEAD PEER "32 " SERVED
				"begin=31.5 ready=31.5 off=0.5 weight=1\n"
				"33 " ASKED
				"begin=1 ready=31 off=31.1 wake=33 held=30 hold_reason=cork "
				"writes=2 weight=1\n",
		      "unknown 30, network 0.5, peer-app 0.5, network 1", CONFIDENCE_OBSERVED);
	assert_median(HEAD PEER "32 " SERVED
				"begin=31.5 ready=31.5 off=0.5 weight=1\n"
				"33 " ASKED
				"begin=1 ready=3 off=3.1 wake=33 held=30 hold_reason=cork "
				"writes=2 weight=1\n",
		      "unknown 2, cork 28, network 0.5, peer-app 0.5, network 1",
		      CONFIDENCE_OBSERVED);
}

/* What was held lay unread at last: the other program was at something else all the while. */
static void test_hold_unawaited(void **state)
{
	(void)state;
	assert_median(HEAD PEER "62 " SERVED
				"begin=61.5 ready=61.5 arrived=42 off=0.5 weight=1\n"
				"63 " ASKED
				"begin=1 ready=2 off=2.5 wake=63 held=39 hold_reason=nagle "
				"writes=2 weight=1\n",
		      "self 1, peer-app 60, network 1", CONFIDENCE_OBSERVED);
}

/* The thread that answers was busy when the request came: its last sleep was over. */
static void test_busy_peer(void **state)
{
	(void)state;
	assert_median(HEAD PEER "9 " SERVED
				"begin=0.2 ready=0.5 off=0.1 weight=1\n"
				"10 " ASKED "begin=1 ready=1 off=1.5 wake=10 weight=1\n",
		      "peer-app 8, network 1", CONFIDENCE_OBSERVED);
}

static void test_awake(void **state)
{
	(void)state;
	assert_median(HEAD PEER "4 " SERVED
				"begin=2 ready=2 off=0.5 weight=1\n"
				"10 " ASKED "begin=1 ready=1 weight=1\n",
		      "network 1, peer-app 2, self 6", CONFIDENCE_OBSERVED);
}

/* Another host: the least round trip is the network's, the rest the other program's. */
static void test_far(void **state)
{
	(void)state;
	assert_median(HEAD "41 " ASKED "begin=1 ready=1 off=1 wake=40 min_rtt_us=4000 weight=1\n",
		      "network 2, peer-app 35, network 2, runqueue 1", CONFIDENCE_INFERRED);
	assert_median(HEAD "41 " ASKED "begin=1 ready=1 off=1 wake=40 weight=1\n",
		      "unknown 39, runqueue 1", CONFIDENCE_INFERRED);
	/* When the answer left was seen, but not what its thread had done before. */
	assert_median(HEAD PEER "30 " SERVED
				"weight=1\n"
				"41 " ASKED
				"begin=1 ready=1 off=1 wake=40 min_rtt_us=4000 weight=1\n",
		      "peer-app 29, network 10, runqueue 1", CONFIDENCE_INFERRED);
}

/* Stalls of the time know more: a hold by Nagle with the timer on another host. */
static void test_stall_names_it(void **state)
{
	struct outcome outcome = analyze(feed__text(
		HEAD PEER FIRST SECOND FIRE LEFT ARRIVED GONE
		"50.2 " SERVED
		"begin=50.1 ready=50.1 off=9.9 weight=1\n"
		"51 " ASKED
		"begin=9.8 ready=10 off=10.1 wake=51 held=40 hold_reason=nagle weight=1\n"));

	(void)state;
	assert_int_equal(outcome.stall->cause, CAUSE_NAGLE_DELACK);
	assert_slices(median(&outcome),
		      "self 0.2, nagle-delack 40, network 0.1, peer-app 0.1, network 0.8");
	done(&outcome);
}

/* The two sides come in any order, and one that belongs to another exchange is not taken. */
static void test_joined(void **state)
{
	(void)state;
	assert_median(HEAD PEER "10 " ASKED
				"begin=1 ready=1 off=1.5 wake=8 weight=1\n"
				"7 " SERVED "begin=2 ready=3 off=0.5 weight=1\n",
		      "network 1, runqueue 1, peer-app 4, network 1, runqueue 2",
		      CONFIDENCE_OBSERVED);
	assert_median(HEAD PEER "0.9 " SERVED
				"begin=0.2 ready=0.3 off=0.1 weight=1\n"
				"10 " ASKED
				"begin=1 ready=1 off=1.5 wake=8 weight=1\n"
				"12 " SERVED "begin=11 ready=11 off=10 weight=1\n",
		      "peer-app 7, runqueue 2", CONFIDENCE_INFERRED);
}

static void add_asked(struct feed *feed, double begin, double ms, unsigned weight, unsigned conn)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "%.6f exchange conn=%u tgid=10 tid=10 side=asked begin=%.6f ready=%.6f off=%.6f "
		 "wake=%.6f weight=%u",
		 begin + ms, conn, begin, begin, begin, begin + ms, weight);
	feed__add_line(feed, line);
}

/* How long the server takes for each is that of those that were seen as it read them. */
static void test_service(void **state)
{
	struct feed feed = feed__text(HEAD PEER);
	struct outcome outcome;
	char line[256];

	(void)state;
	for (int i = 0; i < 30; i++) {
		if (i == 7)
			snprintf(line, sizeof(line), "%d " SERVED "weight=1", 100 * i + 16);
		else
			snprintf(line, sizeof(line), "%d " SERVED "begin=%d ready=%d weight=1",
				 100 * i + 16, 100 * i + 11, 100 * i + 12);
		feed__add_line(&feed, line);
		add_asked(&feed, 100 * i + 10, 8, 1, 1);
	}
	outcome = analyze(feed);
	assert_int_equal(outcome.report->requests[0].service.threads, 1);
	assert_int_equal(outcome.report->requests[0].service.each_ns, 5000000);
	done(&outcome);
}

/* 99 quick ones for each of few records, and all the slow ones: the ranks go by weight. */
static void test_weights(void **state)
{
	struct feed feed = feed__text(HEAD);
	struct outcome outcome;

	(void)state;
	for (int i = 0; i < 10; i++)
		add_asked(&feed, 100 * i, 1 + 0.1 * i, 99, 1);
	for (int i = 0; i < 10; i++)
		add_asked(&feed, 100 * i + 50, 20 + i, 1, 1);
	outcome = analyze(feed);
	/* 1000 in all: rank 500 is in the sixth quick record, rank 990 in the last of them. */
	assert_int_equal(median(&outcome)->total_ns, 1500000);
	assert_int_equal(outcome.report->requests[0].p99.total_ns, 1900000);
	assert_int_equal(outcome.report->requests[0].sampled, 20);
	done(&outcome);
}

static void test_slow_ones_make_the_p99(void **state)
{
	struct feed feed = feed__text(HEAD);
	struct outcome outcome;

	(void)state;
	for (int i = 0; i < 10; i++)
		add_asked(&feed, 100 * i, 1, 98, 1);
	for (int i = 0; i < 20; i++)
		add_asked(&feed, 100 * i + 50, 20 + i, 1, 1);
	outcome = analyze(feed);
	/* Rank 990 of 1000: the tenth of the twenty slow ones. */
	assert_int_equal(outcome.report->requests[0].p99.total_ns, 29000000);
	done(&outcome);
}

/* A quick one that was chosen among many at first, and then there were few: it is one of these. */
static void test_one_of_few(void **state)
{
	struct feed feed = feed__text(HEAD);
	struct outcome outcome;

	(void)state;
	add_asked(&feed, 1, 1, 16, 1);
	for (int i = 1; i < 12; i++)
		add_asked(&feed, 100 * i, 40 + i, 1, 1);
	feed__add_line(&feed, "1300 conn-totals conn=1 writes=12 exchanges=12");
	outcome = analyze(feed);
	assert_int_equal(median(&outcome)->total_ns, 45000000);
	assert_int_equal(outcome.report->requests[0].p99.total_ns, 51000000);
	assert_int_equal(outcome.report->requests[1].median.total_ns, 45000000);
	done(&outcome);
	/* Of hundreds of quick ones a few were chosen, by whatever chance. */
	feed = feed__text(HEAD);
	for (int i = 0; i < 2; i++)
		add_asked(&feed, 100 * i, 1 + i, 50, 1);
	for (int i = 0; i < 20; i++)
		add_asked(&feed, 100 * i + 50, 40 + i, 1, 1);
	feed__add_line(&feed, "2100 conn-totals conn=1 writes=820 exchanges=820");
	outcome = analyze(feed);
	assert_int_equal(median(&outcome)->total_ns, 2000000);
	/* Rank 812: the twelfth of the slow ones behind 800. */
	assert_int_equal(outcome.report->requests[0].p99.total_ns, 51000000);
	done(&outcome);
}

/* Next to the rank the exchange that was seen whole is taken, further away it is not. */
static void test_whole_one_is_taken(void **state)
{
	struct feed feed = feed__text(HEAD PEER);
	struct outcome outcome;

	(void)state;
	/* Of the 53rd and of the 80th by duration. */
	feed__add_line(&feed, "5201.2 " SERVED "begin=5201 ready=5201 off=5190 weight=1");
	feed__add_line(&feed, "7901.2 " SERVED "begin=7901 ready=7901 off=7890 weight=1");
	for (int i = 0; i < 100; i++)
		add_asked(&feed, 100 * i, 1 + 0.01 * i, 1, 1);
	outcome = analyze(feed);
	assert_int_equal(median(&outcome)->total_ns, 1520000);
	assert_int_equal(median(&outcome)->confidence, CONFIDENCE_OBSERVED);
	assert_int_equal(outcome.report->requests[0].p99.confidence, CONFIDENCE_INFERRED);
	done(&outcome);
}

static void test_connections(void **state)
{
	struct feed feed = feed__text(
		HEAD
		"0 conn conn=3 tgid=10 role=target local=127.0.0.1:3 remote=127.0.0.1:2 opener=self\n"
		"0 conn conn=5 tgid=10 role=target local=127.0.0.1:9 remote=127.0.0.1:8 opener=peer\n");
	struct outcome outcome;

	(void)state;
	add_asked(&feed, 1, 2, 5, 1);
	add_asked(&feed, 1, 4, 5, 3);
	add_asked(&feed, 9, 4, 5, 3);
	feed__add_line(&feed, "90 conn-totals conn=1 writes=10 exchanges=10");
	feed__add_line(&feed, "90 conn-totals conn=3 writes=70 exchanges=70");
	feed__add_line(&feed, "90 conn-totals conn=5 writes=70 exchanges=1000");
	outcome = analyze(feed);
	assert_int_equal(outcome.report->requests_count, 3);
	assert_int_equal(outcome.report->requests[0].conn, 0);
	/* Not those of the connection on which the target answers. */
	assert_int_equal(outcome.report->requests[0].count, 80);
	assert_int_equal(outcome.report->requests[1].conn, 3);
	assert_int_equal(outcome.report->requests[1].count, 70);
	assert_int_equal(outcome.report->requests[1].median.total_ns, 4000000);
	assert_int_equal(outcome.report->requests[2].conn, 1);
	assert_int_equal(outcome.report->requests[2].median.total_ns, 2000000);
	done(&outcome);
}

/* The answer's first byte at 5, its last at 65: of the other end's doing, but for the way. */
static void test_whole_answer(void **state)
{
	(void)state;
	assert_median(HEAD PEER "64 " SERVED
				"begin=2 ready=3 off=0.5 answer=4 arrived=2 weight=1\n"
				"65 " ASKED
				"begin=1 ready=1 off=1.5 wake=4 answer=5 reads=2 ended=followed "
				"weight=1\n",
		      "network 1, runqueue 1, peer-app 61, self 1", CONFIDENCE_OBSERVED);
	assert_median(HEAD "65 " ASKED
			   "begin=1 ready=1 off=1.5 wake=4 answer=5 reads=2 "
			   "ended=followed min_rtt_us=1000 weight=1\n",
		      "network 0.5, peer-app 2, network 0.5, runqueue 1, unknown 60",
		      CONFIDENCE_INFERRED);
}

/* What has no end in the window is no request of that length. */
static void test_unfinished(void **state)
{
	struct outcome outcome = analyze(feed__text(
		HEAD "10 " ASKED "begin=1 ready=1 answer=8 ended=followed weight=1\n"
		     /* A pause of 60 after it: it is over. */
		     "40 " ASKED "begin=15 ready=15 answer=30 ended=open weight=1\n"
		     /* It streams to the end. */
		     "99 " ASKED "begin=1 ready=1 answer=2 reads=90 ended=open weight=1\n"
		     "100 " ASKED "begin=50 ready=50 ended=open weight=1\n"
		     "70 " ASKED "begin=50 ready=50 ended=closed weight=1\n"
		     "100 end\n"));

	(void)state;
	assert_int_equal(outcome.report->requests[0].sampled, 2);
	assert_int_equal(outcome.report->requests[0].p99.total_ns, 25000000);
	done(&outcome);
}

/* Who waited for an answer and closed the connection gave up; a farewell has no answer. */
static void test_unanswered(void **state)
{
	static const char asked[] = "51 " ASKED "begin=1 ready=1 ended=closed weight=1\n";
	static const struct {
		const char *lines;
		unsigned count;
	} rows[] = {
		{"50 wait conn=1 tgid=10 tid=10 off=1.1 wake=50 state=1 syscall=7 conn_basis=fd\n",
		 1},
		{"50 wait tgid=10 tid=10 off=1.1 wake=50 state=1 syscall=35\n", 0},
		{"20 wait conn=1 tgid=10 tid=10 off=1.1 wake=20 state=1 syscall=7 conn_basis=fd\n",
		 0},
		{"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome outcome;
		char text[1024];

		snprintf(text, sizeof(text), HEAD PEER "%s%s60 end\n", rows[i].lines, asked);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->unanswered_count, rows[i].count);
		assert_int_equal(outcome.report->unanswered_ns, rows[i].count * 50000000);
		assert_int_equal(outcome.report->requests_count, 0);
		done(&outcome);
	}
}

#define SERVER                                                                                     \
	"0 session threshold=10 arch=x86_64\n"                                                     \
	"0 process tgid=20 role=target comm=srv\n"                                                 \
	"0 conn conn=2 tgid=20 role=target local=127.0.0.1:2 remote=127.0.0.1:1 opener=peer\n"

#define OPEN  "begin=0 ready=0 ended=open weight=1 since=-40\n"
#define LASTS "state=1 ended=lasts\n"

/* Is one of before the window open, that nobody has answered? So who is at it says. */
static void test_open(void **state)
{
	static const char served[] = "60 exchange conn=2 tgid=20 side=served arrived=0 " OPEN;
	static const char asked[] = "60 exchange conn=1 tgid=10 side=asked " OPEN;
	static const struct {
		const char *head, *exchange, *waits;
		unsigned count;
		enum cause cause;
	} rows[] = {
		/* It is at something that it has to do first. */
		{SERVER, served, "60 wait tgid=20 tid=20 off=0 syscall=35 " LASTS, 1, CAUSE_TIMER},
		{SERVER, served, "60 wait tgid=20 tid=20 off=0 syscall=61 " LASTS, 1, CAUSE_IPC},
		/* And was killed at that. */
		{SERVER, served, "60 wait tgid=20 tid=20 off=0 syscall=61 state=1 ended=killed\n",
		 1, CAUSE_IPC},
		/* It waits for more there, or for whatever comes. */
		{SERVER, served,
		 "60 wait conn=2 tgid=20 tid=20 off=0 syscall=45 conn_basis=fd turn=read " LASTS, 0,
		 0},
		{SERVER, served, "60 wait tgid=20 tid=20 off=0 syscall=232 " LASTS, 0, 0},
		{SERVER, served,
		 "20 wait tgid=20 tid=20 off=0 wake=20 state=1 syscall=232\n"
		 "60 wait tgid=20 tid=20 off=20 syscall=35 " LASTS,
		 0, 0},
		{SERVER, served, "60 wait tgid=20 tid=20 off=0 syscall=43 " LASTS, 0, 0},
		/* One thread for those that connect, one for this. */
		{SERVER, served,
		 "60 wait tgid=20 tid=20 off=0 syscall=7 arg1=1 " LASTS
		 "60 wait tgid=20 tid=21 off=0 syscall=35 " LASTS,
		 1, CAUSE_TIMER},
		/* One of two: which, is not known. */
		{SERVER, served,
		 "60 wait tgid=20 tid=20 off=0 syscall=35 " LASTS
		 "60 wait tgid=20 tid=21 off=0 syscall=35 " LASTS,
		 1, CAUSE_UNKNOWN},
		/* It computes; or slept, for what is not known. */
		{SERVER, served, "60 thread-totals tgid=20 tid=20 on_cpu=60\n", 1, CAUSE_SELF},
		{SERVER, served, "60 thread-totals tgid=20 tid=20 on_cpu=30 blocked=30\n", 0, 0},
		/* Who asked waits for it, or the other end is at it. */
		{HEAD PEER, asked,
		 "60 wait conn=1 tgid=10 tid=10 off=0 syscall=45 conn_basis=fd turn=wrote " LASTS,
		 1, CAUSE_PEER_APP},
		{HEAD PEER, asked,
		 "60 wait tgid=10 tid=10 off=0 syscall=232 " LASTS
		 "60 wait tgid=20 tid=20 off=0 syscall=35 " LASTS,
		 1, CAUSE_PEER_APP},
		/* A message. */
		{HEAD PEER, asked,
		 "60 wait tgid=10 tid=10 off=0 syscall=232 " LASTS
		 "60 wait conn=2 tgid=20 tid=20 off=0 syscall=45 conn_basis=fd turn=read " LASTS,
		 0, 0},
		{HEAD PEER, asked, "60 wait tgid=10 tid=10 off=0 syscall=35 " LASTS, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct report_open *open;
		struct outcome outcome;
		char text[2048];

		/* The waits may come behind it: their stacks take longer. */
		snprintf(text, sizeof(text), "%s60 end\n%s%s", rows[i].head, rows[i].exchange,
			 rows[i].waits);
		outcome = analyze(feed__text(text));
		open = &outcome.report->open[0];
		if (outcome.report->open_count != rows[i].count)
			fail_msg("row %zu: %d open", i, (int)outcome.report->open_count);
		assert_int_equal(outcome.report->stall_count,
				 rows[i].count && rows[i].cause != CAUSE_UNKNOWN);
		assert_int_equal(outcome.report->requests_count, 0);
		if (rows[i].count) {
			assert_int_equal(open->age_ns, 100000000);
			assert_true(open->is_older);
			assert_int_equal(open->view.total_ns, 60000000);
			assert_int_equal(open->view.slices[0].cause, rows[i].cause);
			assert_sum(&open->view);
		}
		done(&outcome);
	}
}

/* What a served request's thread did, and did not sleep for. */
#define SPENT "spent_known=1 run_us=29000 ready_us=1000 short_timer_us=5000 shorts_timer=10 "
#define ONE   "begin=11 ready=15 answer=40 arrived=10 ended=followed weight=1"

/* Nobody who asks is a target: the requests that it serves, from their arrival on, by their path.
 */
static void test_served(void **state)
{
	struct feed feed = feed__text(SERVER);
	struct outcome outcome;

	(void)state;
	feed__add_line(&feed, "50 " SERVED SPENT ONE);
	outcome = analyze(feed);
	assert_int_equal(outcome.report->requests_count, 2);
	assert_int_equal(outcome.report->requests[0].role, REQUEST_SERVED);
	assert_int_equal(outcome.report->requests[1].conn, 2);
	assert_slices(median(&outcome), "self 1, runqueue 4, timer 5, runqueue 1, self 29");
	/* Its thread, which may have been made for it, never slept long. */
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_SELF);
	done(&outcome);
	/* The end that asks is of a target's too, and tells of it. */
	feed = feed__text(SERVER
			  "0 conn conn=1 tgid=20 role=target local=127.0.0.1:1 "
			  "remote=127.0.0.1:2 opener=self\n" PEER);
	feed__add_line(&feed, "50 " SERVED ONE);
	outcome = analyze(feed);
	assert_int_equal(outcome.report->requests_count, 0);
	done(&outcome);
}

static void assert_served(const char *lines, const char *wanted)
{
	struct feed feed = feed__text(SERVER);
	struct outcome outcome;

	for (const char *line = lines; *line; line = strchr(line, '\n') + 1) {
		char one[512];

		snprintf(one, sizeof(one), "%.*s", (int)strcspn(line, "\n"), line);
		feed__add_line(&feed, one);
	}
	outcome = analyze(feed);
	assert_slices(median(&outcome), wanted);
	done(&outcome);
}

/* Its own waits are in it, several of them, also those that began before it read the request. */
/* Nagle's algorithm holds the second piece of an answer: the request is over when that has left. */
static void test_served_and_held(void **state)
{
	struct outcome outcome = analyze(
		feed__text(SERVER
			   "9.8 send conn=2 tgid=20 tid=20 bytes=40 write_seq=140 snd_nxt=140 "
			   "snd_una=100\n"
			   "10 send conn=2 tgid=20 tid=20 bytes=60 write_seq=200 snd_nxt=140 "
			   "snd_una=100\n"
			   "10 hold conn=2 tgid=20 tid=20 reason=nagle seq=140 end=200 unacked=40 "
			   "mss=1000 min_rtt_us=50\n"
			   "50 tx conn=2 seq=140 end=200 ack=500\n"
			   "50 release conn=2 held=40 seq=140 end=200 reason=nagle\n"
			   "10.1 " SERVED "arrived=8 begin=8 ready=9 answer=9.8 ended=followed "
			   "weight=1 spent_known=1 run_us=1100\n"
			   "70 end\n"));

	(void)state;
	assert_slices(median(&outcome), "runqueue 1, self 1.1, nagle 39.9");
	done(&outcome);
}

static void test_served_waits(void **state)
{
	(void)state;
	/* It slept until the request was there, and wakes of it are no wait of the request's. */
	assert_served(
		"15 wait conn=2 tgid=20 tid=20 off=1 wake=11 state=1 syscall=0 arg0=8\n"
		"30 wait tgid=20 tid=20 off=20 wake=29.5 state=1 syscall=35\n"
		"45 wait tgid=20 tid=20 off=33 wake=45 state=2 syscall=74\n"
		"50 " SERVED "spent_known=1 run_us=13000 " ONE "\n",
		"self 1, runqueue 4, self 5, timer 9.5, runqueue 0.5, self 3, disk 12, self 5");
	/* It looks for requests by a clock of its own. */
	assert_served(
		"15 wait tgid=20 tid=20 off=1 wake=14.5 state=1 syscall=35\n"
		"50 " SERVED
		"spent_known=1 run_us=35000 begin=14.5 ready=15 answer=40 "
		"arrived=10 ended=followed weight=1\n",
		"timer 4.5, runqueue 0.5, self 35");
	/* What it did in that time nobody saw. */
	assert_served("50 " SERVED ONE "\n", "self 1, runqueue 4, unknown 35");
	/* Its sums are of 3 ms: what is left it has spent in waits whose records were lost. */
	assert_served("50 " SERVED
		      "spent_known=1 run_us=1000 short_input_us=2000 shorts_input=4 " ONE "\n",
		      "self 1, runqueue 4, ipc 2, unknown 32, self 1");
	/* Less than any wait that has a record. */
	assert_served("50 " SERVED
		      "spent_known=1 run_us=32000 short_input_us=2000 shorts_input=4 " ONE "\n",
		      "self 1, runqueue 4, ipc 2, self 33");
}

/* What the asking end's TCP held back had been written: from then on it is the server's request
 * too. */
static void test_served_since_written(void **state)
{
	struct outcome outcome = analyze(
		feed__text(SERVER
			   "0 process tgid=10 role=peer comm=client\n"
			   "0 conn conn=1 tgid=10 role=peer local=127.0.0.1:1 remote=127.0.0.1:2 "
			   "opener=self\n" PEER FIRST SECOND FIRE LEFT ARRIVED GONE "50.3 " SERVED
			   "begin=50.1 ready=50.1 off=9.9 arrived=50.1 answer=50.3 ended=followed "
			   "weight=1\n"));

	(void)state;
	assert_int_equal(outcome.stall->cause, CAUSE_NAGLE_DELACK);
	assert_int_equal(outcome.report->requests[0].role, REQUEST_SERVED);
	assert_slices(median(&outcome), "nagle-delack 40, network 0.1, self 0.2");
	done(&outcome);
}

/* Two services of one process, and two servers that it asks: rows of their own. */
static void test_endpoints(void **state)
{
	struct feed feed = feed__text(
		SERVER
		"0 conn conn=3 tgid=20 role=target local=127.0.0.1:9 remote=127.0.0.1:1 opener=peer\n"
		"0 conn conn=4 tgid=20 role=target local=127.0.0.1:9 remote=127.0.0.1:3 opener=peer\n"
		"0 conn conn=5 tgid=20 role=target local=127.0.0.1:8 remote=127.0.0.1:5432 opener=self\n");
	const struct report_requests *rows;
	struct outcome outcome;

	(void)state;
	feed__add_line(&feed, "50 " SERVED ONE);
	feed__add_line(&feed,
		       "63 exchange conn=3 tgid=20 tid=20 side=served begin=60 ready=60 "
		       "answer=63 arrived=60 ended=followed weight=1");
	feed__add_line(&feed,
		       "65 exchange conn=4 tgid=20 tid=20 side=served begin=60 ready=60 "
		       "answer=65 arrived=60 ended=followed weight=1");
	feed__add_line(&feed,
		       "71 exchange conn=5 tgid=20 tid=20 side=asked begin=70 ready=70 "
		       "answer=71 ended=followed weight=1");
	feed__add_line(&feed, "90 conn-totals conn=2 exchanges=1");
	feed__add_line(&feed, "90 conn-totals conn=3 exchanges=30");
	feed__add_line(&feed, "90 conn-totals conn=4 exchanges=40");
	outcome = analyze(feed);
	rows = outcome.report->requests;
	/* That of the only server that it asks is that of all, and the one of its connection. */
	assert_int_equal(outcome.report->requests_count, 2 + 6);
	assert_int_equal(rows[0].role, REQUEST_MADE);
	assert_int_equal(rows[0].end.port, 5432);
	assert_int_equal(rows[1].conn, 5);
	assert_int_equal(rows[2].end.port, 0);
	assert_int_equal(rows[2].count, 71);
	assert_int_equal(rows[2].connections, 3);
	assert_int_equal(rows[3].end.port, 9);
	assert_string_equal(rows[3].end.comm, "srv");
	assert_int_equal(rows[3].end.family, 0);
	assert_int_equal(rows[3].conn, 0);
	assert_int_equal(rows[3].count, 70);
	assert_int_equal(rows[3].connections, 2);
	assert_int_equal(rows[3].median.total_ns, 3000000);
	assert_int_equal(rows[4].end.port, 2);
	assert_int_equal(rows[4].count, 1);
	assert_int_equal(rows[4].median.total_ns, 40000000);
	assert_int_equal(rows[5].conn, 4);
	assert_int_equal(rows[5].end.port, 9);
	done(&outcome);
}

/* What nobody knew the name of at first, and what takes another one meanwhile, is one endpoint. */
static void test_endpoint_named_late(void **state)
{
	struct feed feed = feed__text(
		"0 session threshold=10 arch=x86_64\n"
		"0 conn conn=2 tgid=20 role=target local=127.0.0.1:2 "
		"remote=127.0.0.1:1 opener=peer\n");
	struct outcome outcome;

	(void)state;
	feed__add_line(&feed, "50 " SERVED ONE);
	feed__add_line(&feed, "55 process tgid=20 role=target comm=sh");
	feed__add_line(&feed, "60 " SERVED
			      "begin=52 ready=52 answer=60 arrived=52 ended=followed weight=1");
	feed__add_line(&feed, "65 process tgid=20 role=target comm=srv");
	feed__add_line(&feed, "70 " SERVED
			      "begin=62 ready=62 answer=70 arrived=62 ended=followed weight=1");
	outcome = analyze(feed);
	assert_int_equal(outcome.report->requests_count, 2);
	assert_int_equal(outcome.report->requests[0].sampled, 3);
	assert_string_equal(outcome.report->requests[0].end.comm, "srv");
	assert_int_equal(outcome.report->requests[1].sampled, 3);
	assert_string_equal(outcome.report->requests[1].end.comm, "srv");
	done(&outcome);
}

/* It lay there when the window began: so much of that as is in the window. */
static void test_arrived_before(void **state)
{
	struct feed feed = feed__text(
		"5 session threshold=10 arch=x86_64\n"
		"5 process tgid=20 role=target comm=srv\n"
		"5 conn conn=2 tgid=20 role=target local=127.0.0.1:2 "
		"remote=127.0.0.1:1 opener=peer\n");
	struct outcome outcome;

	(void)state;
	feed__add_line(&feed, "50 " SERVED
			      "begin=12 ready=15 answer=40 arrived=2 ended=followed weight=1");
	outcome = analyze(feed);
	assert_int_equal(median(&outcome)->total_ns, 45000000);
	assert_int_equal(outcome.report->lost[NS_LOST_DAMAGED], 0);
	done(&outcome);
}

#define PAUSE(off, ts, tid, conn)                                                                  \
#ts " wait conn=" #conn " tgid=" #tid " tid=" #tid " off=" #off " wake=" #ts               \
	    " state=1 syscall=0 arg0=7\n"
#define PAUSES PAUSE(5, 30, 10, 1) PAUSE(31, 50, 10, 1) PAUSE(51, 70, 10, 1)

/*
 * Pushes: the request is what was answered at once. What is sent later nobody asked for, and the
 * wait for it is nobody's fault. With fewer pauses it is the rest of an answer.
 */
static void test_subscription(void **state)
{
	static const char asked[] =
		"73 " ASKED "begin=1 ready=1 off=1 wake=3 answer=4 reads=4 weight=1 ended=";
	static const struct {
		const char *pauses;
		const char *ended;
		uint64_t ms; /* 0: no request */
	} rows[] = {
		{PAUSES, "open", 3},
		{PAUSE(5, 30, 10, 1) PAUSE(31, 70, 10, 1), "open", 0},
		{PAUSES, "followed", 72},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome outcome;
		char text[2048];

		snprintf(text, sizeof(text), HEAD PEER "%s%s%s\n75 end\n", rows[i].pauses, asked,
			 rows[i].ended);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->requests_count, rows[i].ms ? 2 : 0);
		if (rows[i].ms)
			assert_int_equal(median(&outcome)->total_ns, rows[i].ms * 1000000);
		/* Nor does it keep the one that waits. */
		if (rows[i].ms == 3)
			assert_null(outcome.stall);
		else
			assert_non_null(outcome.stall);
		done(&outcome);
	}
}

/* The end that serves sends what it was asked for, then pushes: it owes nothing in between. */
static void test_serves_subscription(void **state)
{
	struct outcome outcome = analyze(feed__text(SERVER PAUSE(17, 30, 20, 2) PAUSE(31, 50, 20, 2) PAUSE(
		51, 70,
		20,
		2) "72 " SERVED
		   "begin=12 ready=15 answer=16 arrived=10 ended=open weight=1 writes=4\n75 end\n"));

	(void)state;
	assert_int_equal(median(&outcome)->total_ns, 6000000);
	assert_null(outcome.stall);
	done(&outcome);
}

/* Of two ends that take turns both have as many. */
static void test_several_at_a_time(void **state)
{
	static const struct {
		unsigned asks, serves, bytes;
		bool several;
	} rows[] = {
		{40, 40, 4000, false},
		{40, 38, 4000, false}, /* first seen in the middle of a turn */
		{40, 20, 4000, true},
		{20, 40, 4000,
		 false}, /* many at once, and all answers read before it writes again */
		{40, 20, 2000, false}, /* the other end was seen later */
		{40, 0, 4000, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct feed feed = feed__text(HEAD PEER);
		struct outcome outcome;
		char line[128];

		add_asked(&feed, 1, 2, 1, 1);
		snprintf(line, sizeof(line), "90 conn-totals conn=1 bytes_out=4000 exchanges=%u",
			 rows[i].asks);
		feed__add_line(&feed, line);
		snprintf(line, sizeof(line), "90 conn-totals conn=2 bytes_in=%u exchanges=%u",
			 rows[i].bytes, rows[i].serves);
		feed__add_line(&feed, line);
		outcome = analyze(feed);
		assert_int_equal(outcome.report->requests_count, 2);
		for (size_t row = 0; row < 2; row++)
			assert_int_equal(outcome.report->requests[row].several, rows[i].several);
		done(&outcome);
	}
}

/* More than there is room for: half of them stand for all. */
static void test_bound(void **state)
{
	struct pipeline *pipeline = feed__pipeline(feed__text(HEAD));
	const struct report *report;
	union record record;

	(void)state;
	struct feed feed = {0};
	add_asked(&feed, 1, 2, 1, 1);
	record = feed.v[0];
	feed__free(&feed);
	for (unsigned i = 0; i < 3 * REQUEST_SAMPLES; i++) {
		record.head.ts++;
		record.exchange.wake_ts++;
		pipeline__feed(pipeline, &record, record.head.len);
	}
	report = pipeline__finish(pipeline);
	assert_int_equal(report->requests[0].sampled, 3 * REQUEST_SAMPLES);
	/* Durations grow by 1 ns from 2 ms on: the median is in the middle of all. */
	assert_in_range(report->requests[0].median.total_ns, 2000000 + 3 * REQUEST_SAMPLES * 0.48,
			2000000 + 3 * REQUEST_SAMPLES * 0.52);
	pipeline__free(pipeline);
}

/* Any times at all, at both ends: slices sum to the whole. */
static void test_random_exchanges(void **state)
{
	uint64_t random = 77;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct feed feed = feed__text(HEAD PEER);
		union record asked, served;
		struct outcome outcome;
		struct ns_exchange *of;

		add_asked(&feed, 1, 2, 1, 1);
		asked = served = feed.v[--feed.count];
		of = &asked.exchange;
		of->begin_ts = of->head.ts;
		of->head.ts = of->begin_ts + random_below(&random, 50);
		of->ready_ts = of->begin_ts - 10 + random_below(&random, 70);
		of->answer_ts = of->begin_ts + random_below(&random, 70);
		of->off_ts = random_below(&random, 2) ? of->begin_ts + 5 : 0;
		of->wake_ts =
			random_below(&random, 4) ? of->begin_ts + random_below(&random, 60) : 0;
		of->held_ns = random_below(&random, 3) * random_below(&random, 60);
		of->hold_reason = random_below(&random, 2) ? NS_HOLD_NAGLE : NS_HOLD_CORK;
		of->connect_ts = random_below(&random, 2) ? of->begin_ts - 7 : 0;
		of->connected_ts = of->begin_ts - random_below(&random, 8);
		if (random_below(&random, 3)) {
			served.exchange.side = NS_EXCHANGE_SERVED;
			served.exchange.head.conn = 2;
			served.exchange.head.tgid = served.exchange.head.tid = 20;
			of = &served.exchange;
			of->answer_ts = asked.exchange.begin_ts + random_below(&random, 60);
			of->head.ts = of->answer_ts + random_below(&random, 20);
			of->begin_ts = of->head.ts - random_below(&random, 70);
			of->ready_ts = asked.exchange.begin_ts - 10 + random_below(&random, 70);
			of->arrived_ts = asked.exchange.begin_ts - 10 + random_below(&random, 70);
			feed.v[feed.count++] = served;
		}
		feed.v[feed.count++] = asked;
		outcome = analyze(feed);
		assert_int_equal(outcome.report->requests_count, 2);
		assert_sum(median(&outcome));
		done(&outcome);
	}
}

#define MACHINE_PROGRAMS (REPORT_PROGRAMS + 6)

/* Of a whole machine: those of one process together, the slowest first, and no more than there is
 * room for. */
static void test_programs_of_a_machine(void **state)
{
	char text[64 * 1024] = "0 session threshold=10 machine=1\n";
	const struct report *report;
	struct outcome outcome;

	(void)state;
	for (unsigned i = 1; i <= MACHINE_PROGRAMS; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "1 process tgid=%u role=target comm=p%u\n"
			 "1 conn conn=%u tgid=%u role=target local=10.0.0.1:%u remote=10.0.0.2:80 "
			 "origin=connect opener=self comm=p%u\n",
			 i, i, i, i, i, i);
	for (unsigned i = 1; i <= MACHINE_PROGRAMS; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%.1f exchange conn=%u tgid=%u tid=%u side=asked begin=100 ready=100 "
			 "off=100 wake=%.1f weight=1 answer=%.1f ended=followed\n",
			 100 + 0.1 * i, i, i, i, 100 + 0.1 * i, 100 + 0.1 * i);
	strcat(text, "300 end\n");
	outcome = analyze(feed__text(text));
	report = outcome.report;
	assert_int_equal(report->program_count, REPORT_PROGRAMS);
	assert_int_equal(report->programs_not_listed, 6);
	assert_int_equal(report->programs[0].pid, MACHINE_PROGRAMS);
	assert_int_equal(report->programs[0].made, 1);
	assert_int_equal(report->programs[0].served, 0);
	assert_int_equal(report->programs[0].median_ns, 7000000);
	assert_int_equal(report->programs[REPORT_PROGRAMS - 1].p99_ns, 700000);
	assert_int_equal(report->programs[0].stalls, 0);
	done(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prompt),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_queued),
		cmocka_unit_test(test_connected),
		cmocka_unit_test(test_programs_of_a_machine),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_harmless_timer),
		cmocka_unit_test(test_cork),
		cmocka_unit_test(test_hold_unawaited),
		cmocka_unit_test(test_busy_peer),
		cmocka_unit_test(test_awake),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_stall_names_it),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_service),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_slow_ones_make_the_p99),
		cmocka_unit_test(test_one_of_few),
		cmocka_unit_test(test_whole_one_is_taken),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_whole_answer),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_unanswered),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_served),
		cmocka_unit_test(test_served_and_held),
		cmocka_unit_test(test_served_waits),
		cmocka_unit_test(test_served_since_written),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_endpoint_named_late),
		cmocka_unit_test(test_arrived_before),
		cmocka_unit_test(test_subscription),
		cmocka_unit_test(test_serves_subscription),
		cmocka_unit_test(test_several_at_a_time),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_random_exchanges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
