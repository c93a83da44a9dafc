// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What is said of requests against how they were, in simulated worlds: how often that is right, by
 * kind of world and by whom netstall watches. Below build/tests/unit/analyze:
 *
 * test_oracle SEED [VIEW]           truth, and what is said; VIEW: client, server or both
 * test_oracle SEED VIEW --trace     its records, as text
 * test_oracle --seeds FIRST COUNT   the table, of others
 * test_oracle --update [--lower]    right.txt, where nothing fell; or in any case
 */
#include "tests/unit/analyze/simulator/simulator.h"
#include "user/analyze/pipeline.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/record/text.h"

#define RIGHT_FILE "tests/unit/analyze/simulator/right.txt"
#define SEEDS      280 /* each kind alone, and with others, as often */
#define MORE_SEEDS 40  /* likewise */
#define MIX_EVERY  8   /* of these worlds the records come in other orders as well */
#define LOST_OF    20  /* and as often with one of so many missing */

/* Rows behind those of worlds of one kind. */
enum {
	MIXED = SIM_KINDS, /* worlds of several kinds */
	WORLDS,
	LATE = WORLDS, /* requests of which the same is said when records come late */
	LOST,          /* of which no more is said without some records */
	ROWS,
};

/* ---- right, or not ---- */

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool is_length_right(uint64_t said, uint64_t truth)
{
	uint64_t slack = truth / 100;

	return apart(said, truth) <= (slack > 50 * SIM_US ? slack : 50 * SIM_US);
}

static bool is_part_right(uint64_t said, uint64_t truth, uint64_t whole)
{
	uint64_t slack = whole / 20;

	return apart(said, truth) <= (slack > 100 * SIM_US ? slack : 100 * SIM_US);
}

struct score {
	unsigned right, of;
};

/* Of one kind of world in one view. */
struct row {
	struct score requests, lengths, stalls, told, verdicts, worlds;
};

/* Of a request: what is said. */
struct said {
	bool is_there;
	bool is_inferred;
	uint64_t length;
	uint64_t ns[CAUSE_COUNT];
};

/* Of wrong requests: what most of the missing time is, and what was said in its place. */
struct fault {
	unsigned count;
	uint64_t seed; /* of the first one */
};

static struct fault faults[SIM_VIEWS][2][CAUSE_COUNT][CAUSE_COUNT];

struct judged {
	const struct sim_world *world;
	enum sim_view view;
	struct row row;
	const struct report *report;
	struct said *said[2]; /* of each of the world's requests: made, served */
	uint64_t shifted;     /* all times of its records */
	FILE *out;            /* NULL: nothing is printed */
	uint64_t sums[2][CAUSE_COUNT];
	uint64_t longest[CAUSE_COUNT];
	struct truth {
		uint32_t tid;
		struct oracle_view view;
	} * truths; /* of the requests that were judged */
	size_t truth_count;
	size_t truth_size;
};

/* The times of an end's requests do not overlap. */
static struct said *find_said(const struct judged *judged, const struct walked_request *walked)
{
	const struct sim_world *world = judged->world;
	uint64_t ts = walked->begin_ts - TEXT_TRACE_ORIGIN_NS - judged->shifted;

	for (size_t i = 0; i < world->requests.count; i++) {
		const struct sim_request *request = &world->requests.v[i];
		int end = walked->role == REQUEST_MADE ? request->end
						       : world->ends[request->end].peer;

		if (walked->conn == sim_end__number(end) && ts >= request->asked &&
		    ts <= request->answered)
			return &judged->said[walked->role][i];
	}
	return NULL;
}

static void check_slices(const struct request_view *view)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < view->slice_count; i++)
		sum += view->slices[i].ns;
	assert_int_equal(sum, view->total_ns);
}

static void take(void *context, const struct walked_request *walked)
{
	struct judged *judged = context;
	const struct request_view *view = &walked->view;
	struct said *said = find_said(judged, walked);

	check_slices(view);
	if (!said)
		return;
	said->is_there = true;
	said->is_inferred = view->confidence == CONFIDENCE_INFERRED;
	said->length = view->total_ns;
	for (size_t i = 0; i < view->slice_count; i++)
		said->ns[view->slices[i].cause] += view->slices[i].ns;
}

static void print_said(const struct judged *judged, const struct oracle_view *truth,
		       const struct said *said, bool is_right)
{
	fprintf(judged->out, "    %s length %.3f", is_right ? "right" : "WRONG",
		(double)(truth->to - truth->from) / SIM_MS);
	if (!said->is_there) {
		fprintf(judged->out, ", not there\n");
		return;
	}
	if (!is_length_right(said->length, truth->to - truth->from))
		fprintf(judged->out, " (said %.3f)", (double)said->length / SIM_MS);
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (!truth->ns[i] && !said->ns[i])
			continue;
		fprintf(judged->out, ", %s %.3f", cause__info((enum cause)i)->id,
			(double)truth->ns[i] / SIM_MS);
		if (!is_part_right(said->ns[i], truth->ns[i], truth->to - truth->from))
			fprintf(judged->out, " (said %.3f)", (double)said->ns[i] / SIM_MS);
	}
	fprintf(judged->out, "\n");
}

static void print_truth(const struct judged *judged, const struct sim_request *request,
			const struct oracle_view *truth, bool served)
{
	const struct sim_world *world = judged->world;

	fprintf(judged->out, "  connection %u %s, from %.3f to %.3f, thread %u:\n",
		sim_end__number(served ? world->ends[request->end].peer : request->end),
		served ? "serves" : "asks", (double)truth->from / SIM_MS,
		(double)truth->to / SIM_MS,
		world->threads[served ? request->answerer : request->thread].tid);
	for (size_t i = 0; i < truth->count; i++) {
		const struct oracle_piece *piece = &truth->pieces[i];

		fprintf(judged->out, "      %10.3f %8.3f %s", (double)piece->from / SIM_MS,
			(double)(piece->to - piece->from) / SIM_MS, cause__info(piece->cause)->id);
		if (piece->thread != SIM_NOBODY)
			fprintf(judged->out, " %u", world->threads[piece->thread].tid);
		fprintf(judged->out, "\n");
	}
}

static void note_fault(const struct judged *judged, const struct said *said,
		       const struct oracle_view *truth, bool served)
{
	int64_t less = 0, more = 0;
	size_t under = CAUSE_UNKNOWN, over = CAUSE_UNKNOWN;
	struct fault *fault;

	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		int64_t off = (int64_t)said->ns[i] - (int64_t)truth->ns[i];

		if (off < less) {
			less = off;
			under = i;
		} else if (off > more) {
			more = off;
			over = i;
		}
	}
	fault = &faults[judged->view][served][under][over];
	if (!fault->count++)
		fault->seed = judged->world->seed;
}

static uint64_t common(const struct stall *stall, uint64_t from, uint64_t to)
{
	return clock__common(stall->start_ts, stall->end_ts, from + TEXT_TRACE_ORIGIN_NS,
			     to + TEXT_TRACE_ORIGIN_NS);
}

/* What lasts as long as a stall is one, of that cause, unless a thread computes. */
static void judge_stalls(struct judged *judged, const struct oracle_view *truth)
{
	const struct report *report = judged->report;

	for (size_t i = 0; i < truth->count; i++) {
		const struct oracle_piece *piece = &truth->pieces[i];
		uint64_t length = piece->to - piece->from;
		bool is_told = false;

		if (length < SIM_THRESHOLD || piece->cause == CAUSE_SELF)
			continue;
		for (size_t k = 0; k < report->stall_count; k++) {
			const struct stall *stall = &report->stalls[k];

			is_told |= stall->cause == piece->cause &&
				   2 * common(stall, piece->from, piece->to) >= length;
		}
		judged->row.stalls.of++;
		judged->row.stalls.right += is_told;
		if (judged->out && !is_told)
			fprintf(judged->out, "    WRONG no such stall: %.3f, %.3f of %s\n",
				(double)piece->from / SIM_MS, (double)length / SIM_MS,
				cause__info(piece->cause)->id);
	}
}

/* Was it told already, of the same thread and cause? */
static bool is_told_twice(const struct report *report, const struct stall *stall)
{
	for (const struct stall *other = report->stalls; other < stall; other++) {
		if (other->cause == stall->cause && other->tid == stall->tid &&
		    2 * clock__common(other->start_ts, other->end_ts, stall->start_ts,
				      stall->end_ts) >=
			    stall->end_ts - stall->start_ts)
			return true;
	}
	return false;
}

/* What is told of the time of a request is of its cause there, most of it, and is told once. */
static void judge_told(struct judged *judged)
{
	const struct report *report = judged->report;

	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = &report->stalls[i];
		uint64_t length = stall->end_ts - stall->start_ts;
		bool is_within = false, is_right = false;

		for (size_t k = 0; k < judged->truth_count; k++) {
			const struct oracle_view *truth = &judged->truths[k].view;
			uint64_t ns = 0;

			if (stall->tid != judged->truths[k].tid ||
			    2 * common(stall, truth->from, truth->to) < length)
				continue;
			is_within = true;
			for (size_t n = 0; n < truth->count; n++) {
				if (truth->pieces[n].cause == stall->cause)
					ns += common(stall, truth->pieces[n].from,
						     truth->pieces[n].to);
			}
			is_right |= 2 * ns >= length;
		}
		if (!is_within || stall->is_between)
			continue;
		is_right = is_right && !is_told_twice(report, stall);
		judged->row.told.of++;
		judged->row.told.right += is_right;
		if (judged->out && !is_right)
			fprintf(judged->out, "  WRONG stall %u: %.3f, %.3f of %s, thread %u\n",
				stall->number,
				(double)(stall->start_ts - TEXT_TRACE_ORIGIN_NS) / SIM_MS,
				(double)length / SIM_MS, cause__info(stall->cause)->id, stall->tid);
	}
}

static void judge_request(struct judged *judged, size_t number, bool served)
{
	const struct sim_world *world = judged->world;
	const struct sim_request *request = &world->requests.v[number];
	const struct said *said = &judged->said[served][number];
	struct oracle_view truth;
	bool length, parts;

	oracle__view(judged->world, judged->view, request, served, &truth);
	/* It was put off by who was to be woken for it, and came to it by another way. */
	if (truth.ns[CAUSE_UNKNOWN])
		return;
	judged->truths = xgrow(judged->truths, judged->truth_count, &judged->truth_size,
			       sizeof(*judged->truths));
	judged->truths[judged->truth_count++] = (struct truth){
		world->threads[served ? request->answerer : request->thread].tid, truth};
	for (size_t i = 0; i < truth.count; i++) {
		const struct oracle_piece *piece = &truth.pieces[i];

		if (piece->to - piece->from > judged->longest[piece->cause])
			judged->longest[piece->cause] = piece->to - piece->from;
	}
	for (size_t i = 0; truth.to - truth.from >= SIM_THRESHOLD && i < CAUSE_COUNT; i++)
		judged->sums[served][i] += truth.ns[i];
	/* The first one of a connection is not in the sample. */
	if (!number || request[-1].end != request->end)
		return;
	length = parts = said->is_there && is_length_right(said->length, truth.to - truth.from);
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		parts &= is_part_right(said->ns[i], truth.ns[i], truth.to - truth.from);
	judged->row.requests.of++;
	judged->row.requests.right += parts;
	judged->row.lengths.of++;
	judged->row.lengths.right += length;
	if (!parts)
		note_fault(judged, said, &truth, served);
	if (judged->out) {
		print_truth(judged, request, &truth, served);
		print_said(judged, &truth, said, parts);
	}
	judge_stalls(judged, &truth);
}

/* Clear enough: what takes a quarter more than all else, in pieces as long as a stall. */
static void judge_verdict(struct judged *judged, const struct report *report)
{
	const struct report_cause *leading = report__leading(report);
	enum cause most = CAUSE_UNKNOWN;
	uint64_t made = 0, served = 0, *sums;
	bool is_clear = true;

	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		made += judged->sums[false][i];
		served += judged->sums[true][i];
	}
	sums = judged->sums[served > made];
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (sums[i] > sums[most])
			most = (enum cause)i;
	}
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		is_clear &= i == most || 4 * sums[most] > 5 * sums[i];
	if (!is_clear || judged->longest[most] < SIM_THRESHOLD || !sums[most])
		return;
	judged->row.verdicts.of++;
	judged->row.verdicts.right += leading && leading->cause == most;
	if (judged->out)
		fprintf(judged->out, "  %s verdict %s, said %s\n",
			leading && leading->cause == most ? "right" : "WRONG",
			cause__info(most)->id, leading ? cause__info(leading->cause)->id : "none");
}

/* What the window cuts off has no end. */
static bool is_over(const struct sim_request *request, bool served)
{
	return served ? request->answer_is_over : request->is_followed;
}

static void judge_requests(struct judged *judged)
{
	const struct sim_world *world = judged->world;

	for (size_t i = 0; i < world->requests.count; i++) {
		const struct sim_request *request = &world->requests.v[i];
		bool asks = sim_view__has(judged->view, world->ends[request->end].proc);
		int answers = world->ends[world->ends[request->end].peer].proc;

		if ((asks || sim_view__has(judged->view, answers)) && is_over(request, !asks))
			judge_request(judged, i, !asks);
	}
}

/* What is said of each request of the world, when records come in this order; NULL: in their own.
 */
static struct pipeline *hear(struct judged *judged, const struct sim_records *records,
			     const size_t *order, size_t count)
{
	const struct pipeline_sink sink = {.context = judged, .on_request = take};
	struct pipeline *pipeline = pipeline__new(&sink);

	for (int i = 0; i < 2; i++)
		judged->said[i] = calloc(judged->world->requests.count + 1, sizeof(struct said));
	for (size_t i = 0; i < count; i++) {
		const union record *record = sim_record(records, order ? order[i] : i);

		assert_int_equal(pipeline__feed(pipeline, record, record->head.len), 0);
	}
	pipeline__finish(pipeline);
	return pipeline;
}

static void forget(struct judged *judged, struct pipeline *pipeline)
{
	for (int i = 0; i < 2; i++)
		free(judged->said[i]);
	free(judged->truths);
	pipeline__free(pipeline);
}

static struct pipeline *judge(struct judged *judged, const struct sim_records *records)
{
	struct pipeline *pipeline = hear(judged, records, NULL, records->count);

	judged->report = pipeline__report(pipeline);
	judge_requests(judged);
	judge_told(judged);
	judge_verdict(judged, judged->report);
	judged->row.worlds.of = 1;
	judged->row.worlds.right = judged->row.requests.right == judged->row.requests.of &&
				   judged->row.verdicts.right == judged->row.verdicts.of;
	return pipeline;
}

/* ---- what must hold of all ---- */

/* Is what another order, or fewer records, make of a request as it has to be? */
typedef bool compare_fn(const struct said *before, const struct said *after);

static void compare(const struct judged *before, const struct judged *after, compare_fn *fn,
		    struct score *score)
{
	for (size_t i = 0; i < before->world->requests.count; i++) {
		score->of++;
		score->right +=
			fn(&before->said[REQUEST_MADE][i], &after->said[REQUEST_MADE][i]) &&
			fn(&before->said[REQUEST_SERVED][i], &after->said[REQUEST_SERVED][i]);
	}
}

static bool is_same(const struct said *a, const struct said *b)
{
	return a->is_there == b->is_there && a->length == b->length &&
	       a->is_inferred == b->is_inferred && !memcmp(a->ns, b->ns, sizeof(a->ns));
}

/* What a record less takes away becomes unknown, or says that it is a guess. */
static bool is_no_more(const struct said *before, const struct said *after)
{
	if (is_same(before, after) || after->is_inferred || !after->is_there)
		return true;
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (i != CAUSE_UNKNOWN && after->ns[i] > before->ns[i] &&
		    !is_part_right(after->ns[i], before->ns[i], before->length))
			return false;
	}
	return true;
}

struct placed {
	uint64_t key;
	size_t at;
};

static int by_key(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Each comes up to so late; what says who is who comes first. */
static size_t *shuffled(const struct sim_records *records, uint64_t late_ns, uint64_t *random)
{
	struct placed *placed = calloc(records->count + 1, sizeof(*placed));
	size_t *order = calloc(records->count + 1, sizeof(*order));

	for (size_t i = 0; i < records->count; i++) {
		const union record *record = sim_record(records, i);

		placed[i].at = i;
		placed[i].key = record->head.ts + random_below(random, late_ns);
		if (record->head.ts < TEXT_TRACE_ORIGIN_NS + SIM_MS / 2)
			placed[i].key = i;
	}
	qsort(placed, records->count, sizeof(*placed), by_key);
	for (size_t i = 0; i < records->count; i++)
		order[i] = placed[i].at;
	free(placed);
	return order;
}

#define LATE_NS 45000000 /* of the 50 ms that the analysis waits for: SETTLE_NS */

static void hear_again(const struct judged *before, const struct sim_records *records,
		       const size_t *order, size_t count, compare_fn *fn, struct score *score)
{
	struct judged after = {.world = before->world, .view = before->view};
	struct pipeline *pipeline = hear(&after, records, order, count);

	compare(before, &after, fn, score);
	forget(&after, pipeline);
}

static void come_late(const struct judged *judged, const struct sim_records *records,
		      struct score *score)
{
	uint64_t random = judged->world->seed + 11;
	size_t *order = shuffled(records, LATE_NS, &random);

	hear_again(judged, records, order, records->count, is_same, score);
	free(order);
}

static bool may_be_lost(const union record *record)
{
	switch (record->head.type) {
	case NS_WAIT:
	case NS_SUMS:
	case NS_EXCHANGE:
	case NS_RELEASE:
	case NS_DELACK_FIRE:
		return true;
	default:
		return false;
	}
}

/* One of so many records is missing, and nothing says so. */
static void lose_some(const struct judged *judged, const struct sim_records *records,
		      struct score *score)
{
	uint64_t random = judged->world->seed + 7;
	size_t *order = calloc(records->count + 1, sizeof(*order)), count = 0;

	for (size_t i = 0; i < records->count; i++) {
		if (random_below(&random, LOST_OF) || !may_be_lost(sim_record(records, i)))
			order[count++] = i;
	}
	hear_again(judged, records, order, count, is_no_more, score);
	free(order);
}

/* All times in it, which are those that its fields say are times. */
static void shift(union record *record, uint64_t ns)
{
	const struct record_type *type = record_type__by_number(record->head.type);

	record->head.ts += ns;
	for (const struct field *field = type->fields; field->name; field++) {
		if (field->kind == FIELD_TIME && field__number(record, field))
			field__set_number(record, field, field__number(record, field) + ns);
	}
}

static unsigned differ_in_time(const struct judged *as_it_is, const struct sim_records *records,
			       uint64_t ns)
{
	struct judged later = {.world = as_it_is->world, .view = as_it_is->view, .shifted = ns};
	struct sim_records copy = *records;
	struct score same = {0};
	struct pipeline *pipeline;

	copy.bytes = malloc(records->len);
	memcpy(copy.bytes, records->bytes, records->len);
	for (size_t i = 0; i < copy.count; i++)
		shift(sim_record(&copy, i), ns);
	pipeline = hear(&later, &copy, NULL, copy.count);
	compare(as_it_is, &later, is_same, &same);
	forget(&later, pipeline);
	free(copy.bytes);
	return same.of - same.right;
}

/* ---- many ---- */

static void add_score(struct score *sum, const struct score *score)
{
	sum->right += score->right;
	sum->of += score->of;
}

static void add_row(struct row *sum, const struct row *row)
{
	add_score(&sum->requests, &row->requests);
	add_score(&sum->lengths, &row->lengths);
	add_score(&sum->stalls, &row->stalls);
	add_score(&sum->told, &row->told);
	add_score(&sum->verdicts, &row->verdicts);
	add_score(&sum->worlds, &row->worlds);
}

static void judge_seeds(uint64_t first, uint64_t count, struct row rows[ROWS][SIM_VIEWS])
{
	struct sim_records records = {0};

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct sim_world *world = sim_world__run(seed);
		size_t number = world->is_mixed ? MIXED : (size_t)world->kind;

		for (int view = 0; view < SIM_VIEWS; view++) {
			struct judged judged = {.world = world, .view = (enum sim_view)view};
			struct pipeline *pipeline;

			kernel_side__record(world, judged.view, &records);
			pipeline = judge(&judged, &records);
			add_row(&rows[number][view], &judged.row);
			if (world->is_mixed && seed / 2 % MIX_EVERY == 0) {
				assert_int_equal(differ_in_time(&judged, &records, 123456789), 0);
				come_late(&judged, &records, &rows[LATE][view].requests);
				lose_some(&judged, &records, &rows[LOST][view].requests);
			}
			forget(&judged, pipeline);
		}
		sim_world__free(world);
	}
	sim_records__free(&records);
}

static const char *row_name(size_t row)
{
	switch (row) {
	case MIXED:
		return "mixed";
	case LATE:
		return "late";
	case LOST:
		return "lost";
	default:
		return sim_kind__name((enum sim_kind)row);
	}
}

static void print_row(FILE *out, const char *prefix, const char *name, int view,
		      const struct row *row)
{
	fprintf(out, "%s%-19s %-7s %5u /%5u %5u /%5u %5u /%5u %5u /%5u %4u /%4u %4u /%4u\n", prefix,
		name, sim_view__name((enum sim_view)view), row->requests.right, row->requests.of,
		row->lengths.right, row->lengths.of, row->stalls.right, row->stalls.of,
		row->told.right, row->told.of, row->verdicts.right, row->verdicts.of,
		row->worlds.right, row->worlds.of);
}

static void print_rows(FILE *out, const char *prefix, struct row rows[ROWS][SIM_VIEWS])
{
	fprintf(out, "%s%-19s %-7s %12s %12s %12s %12s %10s %10s\n", prefix, "world", "view",
		"requests", "lengths", "stalls", "told", "verdicts", "worlds");
	for (size_t row = 0; row < ROWS; row++) {
		for (int view = 0; view < SIM_VIEWS; view++)
			print_row(out, prefix, row_name(row), view, &rows[row][view]);
	}
}

static void print_sums(FILE *out, const char *prefix, struct row rows[ROWS][SIM_VIEWS])
{
	for (int view = 0; view < SIM_VIEWS; view++) {
		struct row sum = {0};

		for (size_t row = 0; row < WORLDS; row++)
			add_row(&sum, &rows[row][view]);
		print_row(out, prefix, "all", view, &sum);
	}
}

static void print_faults(FILE *out)
{
	for (int view = 0; view < SIM_VIEWS; view++) {
		for (int served = 0; served < 2; served++) {
			for (size_t i = 0; i < CAUSE_COUNT * CAUSE_COUNT; i++) {
				enum cause truth = i / CAUSE_COUNT, said = i % CAUSE_COUNT;
				const struct fault *fault = &faults[view][served][truth][said];

				if (!fault->count)
					continue;
				fprintf(out, "%-7s %-6s %5u: truth %s, said %s: seed %llu\n",
					sim_view__name((enum sim_view)view),
					served ? "serves" : "asks", fault->count,
					cause__info(truth)->id,
					said == CAUSE_UNKNOWN ? "less" : cause__info(said)->id,
					(unsigned long long)fault->seed);
			}
		}
	}
}

/* ---- what was right when it was written down ---- */

static bool read_score(const char **text, struct score *score)
{
	int len = 0;

	if (sscanf(*text, " %u / %u%n", &score->right, &score->of, &len) != 2)
		return false;
	*text += len;
	return true;
}

static bool read_row(const char *line, char name[32], char view[16], struct row *row)
{
	int len = 0;

	if (sscanf(line, "%31s %15s%n", name, view, &len) != 2)
		return false;
	line += len;
	return read_score(&line, &row->requests) && read_score(&line, &row->lengths) &&
	       read_score(&line, &row->stalls) && read_score(&line, &row->told) &&
	       read_score(&line, &row->verdicts) && read_score(&line, &row->worlds);
}

static struct row *find_row(struct row rows[ROWS][SIM_VIEWS], const char *name, const char *view)
{
	for (size_t row = 0; row < ROWS; row++) {
		for (int i = 0; i < SIM_VIEWS; i++) {
			if (!strcmp(name, row_name(row)) &&
			    !strcmp(view, sim_view__name((enum sim_view)i)))
				return &rows[row][i];
		}
	}
	return NULL;
}

/* Returns 1 where it has become less; another number of requests is another simulator. */
static unsigned is_worse(const char *name, const char *view, const char *what,
			 const struct score *now, const struct score *then)
{
	if (now->of != then->of) {
		printf("# %s %s: %u %s, and %u when %s was written\n", name, view, now->of, what,
		       then->of, RIGHT_FILE);
		return 1;
	}
	if (now->right > then->right)
		printf("# %s %s: %u %s right, more than %u: test_oracle --update\n", name, view,
		       now->right, what, then->right);
	if (now->right < then->right)
		printf("# %s %s: %u %s right, %u before\n", name, view, now->right, what,
		       then->right);
	return now->right < then->right;
}

static unsigned count_worse(struct row rows[ROWS][SIM_VIEWS])
{
	FILE *file = fopen(RIGHT_FILE, "r");
	char line[256], name[32], view[16];
	unsigned worse = 0, read = 0;
	struct row then;

	if (!file)
		fail_msg("%s cannot be opened: run the tests from the root of the repository",
			 RIGHT_FILE);
	while (fgets(line, sizeof(line), file)) {
		const struct row *now;

		if (line[0] == '#' || !read_row(line, name, view, &then))
			continue;
		now = find_row(rows, name, view);
		if (!now)
			fail_msg("%s: no such row: %s", RIGHT_FILE, line);
		worse += is_worse(name, view, "requests", &now->requests, &then.requests);
		worse += is_worse(name, view, "lengths", &now->lengths, &then.lengths);
		worse += is_worse(name, view, "stalls", &now->stalls, &then.stalls);
		worse += is_worse(name, view, "told", &now->told, &then.told);
		worse += is_worse(name, view, "verdicts", &now->verdicts, &then.verdicts);
		worse += is_worse(name, view, "worlds", &now->worlds, &then.worlds);
		read++;
	}
	fclose(file);
	assert_int_equal(read, ROWS * SIM_VIEWS);
	return worse;
}

/* Nobody reads what fell in a list of what rose: it is not written down unless asked for. */
static int update(bool lower)
{
	static struct row rows[ROWS][SIM_VIEWS];
	FILE *file;

	judge_seeds(0, SEEDS, rows);
	judge_seeds(1000, MORE_SEEDS, rows);
	judge_seeds(2000, MORE_SEEDS, rows);
	if (count_worse(rows) && !lower) {
		printf("# %s is as it was: --update --lower writes what is less, or of another "
		       "number, as well\n",
		       RIGHT_FILE);
		return 1;
	}
	file = fopen(RIGHT_FILE, "w");
	if (!file) {
		perror(RIGHT_FILE);
		return 1;
	}
	fprintf(file,
		"# How often test_oracle finds right what is said: by kind of world, and who "
		"is watched. These\n# numbers may rise. Written by test_oracle --update.\n");
	print_rows(file, "", rows);
	fclose(file);
	return 0;
}

/* ---- one ---- */

static int show(uint64_t seed, int only)
{
	struct sim_world *world = sim_world__run(seed);
	struct sim_records records = {0};
	char label[256];

	printf("seed %llu: %s\n", (unsigned long long)seed,
	       sim_world__label(world, label, sizeof(label)));
	for (int view = 0; view < SIM_VIEWS; view++) {
		struct judged judged = {.world = world, .view = (enum sim_view)view, .out = stdout};

		if (only >= 0 && view != only)
			continue;
		printf("%s\n", sim_view__name(judged.view));
		kernel_side__record(world, judged.view, &records);
		forget(&judged, judge(&judged, &records));
		printf("  %u of %u requests right\n", judged.row.requests.right,
		       judged.row.requests.of);
	}
	sim_records__free(&records);
	sim_world__free(world);
	return 0;
}

static int print_trace(uint64_t seed, enum sim_view view)
{
	struct sim_world *world = sim_world__run(seed);
	struct sim_records records = {0};

	kernel_side__record(world, view, &records);
	for (size_t i = 0; i < records.count; i++)
		text__print(stdout, sim_record(&records, i), TEXT_TRACE_ORIGIN_NS);
	sim_records__free(&records);
	sim_world__free(world);
	return 0;
}

static int tool(int argc, char **argv)
{
	struct row rows[ROWS][SIM_VIEWS] = {0};
	int only = -1;

	if (!strcmp(argv[1], "--update"))
		return update(argc > 2 && !strcmp(argv[2], "--lower"));
	if (!strcmp(argv[1], "--seeds") && argc == 4) {
		judge_seeds(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), rows);
		print_rows(stdout, "", rows);
		print_sums(stdout, "", rows);
		print_faults(stdout);
		return 0;
	}
	for (int view = 0; argc > 2 && view < SIM_VIEWS; view++) {
		if (!strcmp(argv[2], sim_view__name((enum sim_view)view)))
			only = view;
	}
	if (argc == 4 && only >= 0 && !strcmp(argv[3], "--trace"))
		return print_trace(strtoull(argv[1], NULL, 10), (enum sim_view)only);
	return show(strtoull(argv[1], NULL, 10), only);
}

static void test_requests(void **state)
{
	static struct row rows[ROWS][SIM_VIEWS];

	(void)state;
	judge_seeds(0, SEEDS, rows);
	judge_seeds(1000, MORE_SEEDS, rows);
	judge_seeds(2000, MORE_SEEDS, rows);
	print_rows(stdout, "# ", rows);
	print_sums(stdout, "# ", rows);
	assert_int_equal(count_worse(rows), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
	};

	if (argc > 1)
		return tool(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
