// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The decision whether a change helps, on machines of known truth: quiet, noisy, drifting,
 * bursting, with a memory; closed loops, whose rate is judged, and open ones, whose latency is. How
 * often it is wrong is printed.
 */
#include <math.h>

#include "tests/unit/test.h"
#include "user/base/array.h"
#include "user/check/judge/effect.h"

#define RUNS   1000
#define BLOCKS 24 /* of both kinds */

/* ---- a machine ---- */

static uint64_t state;

static double chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / (double)(1ull << 53);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - chance())) * cos(6.283185307179586 * chance());
}

struct machine {
	const char *name;
	double noise;    /* of each window, of its logarithm */
	double memory;   /* part of the last window's noise that is in this one */
	double drift;    /* from the first window to the last, of the logarithm */
	double burst;    /* chance to become slow, or quick again, with each window */
	double slow;     /* so much slower then */
	unsigned events; /* of a window: exponential latencies, whose mean counts; 0: none */
};

static const struct machine machines[] = {
	{"quiet", .noise = 0.01},
	{"noisy", .noise = 0.2},
	{"drifting", .noise = 0.05, .drift = -0.7},
	{"bursting", .noise = 0.02, .burst = 0.2, .slow = 0.5},
	{"with a memory", .noise = 0.1, .memory = 0.8},
	{"open loop", .events = 40},
	{"open loop, bursting", .events = 40, .burst = 0.1, .slow = 0.3},
};

struct now {
	double last;
	bool is_slow;
	unsigned window;
};

static double window_of(const struct machine *machine, struct now *now, double effect)
{
	double sum = 0, speed = effect;

	now->last = machine->memory * now->last +
		    sqrt(1 - machine->memory * machine->memory) * machine->noise * normal();
	if (chance() < machine->burst)
		now->is_slow = !now->is_slow;
	if (now->is_slow)
		speed *= machine->slow;
	speed *= exp(now->last + machine->drift * now->window++ / (4 * BLOCKS));
	for (unsigned i = 0; i < machine->events; i++)
		sum -= log(1 - chance());
	return machine->events ? speed * machine->events / sum : speed;
}

static struct effect_block block_of(const struct machine *machine, struct now *now, double effect,
				    bool is_control)
{
	struct effect_block block = {.is_control = is_control};
	bool begins_with = chance() < 0.5; /* BAAB */

	for (size_t i = 0; i < 4; i++) {
		bool with = (i == 0 || i == 3) == begins_with;
		double *windows = with ? block.with : block.without;

		windows[i / 2] = window_of(machine, now, with && !is_control ? effect : 1);
	}
	return block;
}

static enum effect_outcome run(const struct machine *machine, double effect, struct effect *out)
{
	struct effect_block blocks[BLOCKS];
	struct now now = {0};

	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = block_of(machine, &now, effect, i % 2);
	effect__judge(out, blocks, BLOCKS);
	return out->outcome;
}

static void count_runs(const struct machine *machine, double effect, unsigned counts[4])
{
	struct effect result;

	memset(counts, 0, 4 * sizeof(counts[0]));
	state = 0x9e3779b97f4a7c15ull;
	for (unsigned i = 0; i < RUNS; i++)
		counts[run(machine, effect, &result)]++;
	print_message(
		"%-20s x%-5g proven %5.1f%%  none %5.1f%%  worse %5.1f%%  inconclusive "
		"%5.1f%%\n",
		machine->name, effect, 100.0 * counts[EFFECT_PROVEN] / RUNS,
		100.0 * counts[EFFECT_NONE] / RUNS, 100.0 * counts[EFFECT_WORSE] / RUNS,
		100.0 * counts[EFFECT_INCONCLUSIVE] / RUNS);
}

#define EACH(machine) (size_t machine = 0; machine < COUNT_OF(machines); machine++)

static void nothing_is_proven_where_nothing_changed(void **context)
{
	unsigned counts[4];

	(void)context;
	for
		EACH(i)
		{
			count_runs(&machines[i], 1, counts);
			assert_true(counts[EFFECT_PROVEN] + counts[EFFECT_WORSE] <= RUNS / 20);
		}
	count_runs(&machines[0], 1, counts);
	assert_true(counts[EFFECT_NONE] >= RUNS * 95 / 100);
}

static void what_helps_is_proven(void **context)
{
	unsigned counts[4];

	(void)context;
	for
		EACH(i)
		{
			count_runs(&machines[i], 100, counts);
			assert_int_equal(counts[EFFECT_PROVEN], RUNS);
			count_runs(&machines[i], 2, counts);
			assert_int_equal(counts[EFFECT_NONE] + counts[EFFECT_WORSE], 0);
			assert_true(counts[EFFECT_PROVEN] >= RUNS * 3 / 4);
			count_runs(&machines[i], 0.5, counts);
			assert_int_equal(counts[EFFECT_NONE] + counts[EFFECT_PROVEN], 0);
		}
}

/* An effect that is there and too small to matter, and one that the noise hides. */
static void small_effects_are_not_wrong(void **context)
{
	unsigned counts[4];

	(void)context;
	count_runs(&machines[0], 1.02, counts);
	assert_true(counts[EFFECT_NONE] >= RUNS * 95 / 100);
	for
		EACH(i)
		{
			count_runs(&machines[i], 1.1, counts);
			assert_true(counts[EFFECT_NONE] + counts[EFFECT_WORSE] <= RUNS / 20);
		}
}

/* The interval has the true ratio in it as often as it says. */
static void intervals_hold_what_they_say(void **context)
{
	(void)context;
	for
		EACH(i)
		{
			unsigned inside = 0;

			state = 0xdeadbeef12345678ull;
			for (unsigned n = 0; n < RUNS; n++) {
				struct effect result;

				run(&machines[i], 1.5, &result);
				inside += result.change.low <= 1.5 && 1.5 <= result.change.high;
			}
			print_message("%-20s the truth is in %.1f%% of the intervals\n",
				      machines[i].name, 100.0 * inside / RUNS);
			assert_true(inside >= RUNS * 93 / 100);
		}
}

static void too_few_blocks_say_how_many(void **context)
{
	struct effect_block blocks[20] = {0};
	struct effect result;

	(void)context;
	effect__judge(&result, blocks, 0);
	assert_int_equal(result.outcome, EFFECT_INCONCLUSIVE);
	assert_int_equal(result.blocks_wanted, EFFECT_BLOCKS_LEAST);
	for (size_t i = 0; i < 20; i++)
		blocks[i] = (struct effect_block){{i % 2 ? 1 : 9, i % 2 ? 1 : 9}, {1, 1}, i % 2};
	effect__judge(&result, blocks, 14);
	assert_int_equal(result.outcome, EFFECT_INCONCLUSIVE);
	assert_int_equal(result.change.blocks, 0);
	effect__judge(&result, blocks, 20);
	assert_int_equal(result.outcome, EFFECT_PROVEN);
	assert_float_equal(result.change.ratio, 9, 1e-9);
	assert_float_equal(result.change.low, 9, 1e-9);
	assert_float_equal(result.control.ratio, 1, 1e-9);
	/* A window without requests says nothing of either. */
	for (size_t i = 0; i < 8; i += 2)
		blocks[i].without[1] = 0;
	effect__judge(&result, blocks, 20);
	assert_int_equal(result.outcome, EFFECT_INCONCLUSIVE);
}

/* What the control shows as well is the machine's. */
static void the_control_has_a_say(void **context)
{
	struct effect_block blocks[20];
	struct effect result;

	(void)context;
	for (size_t i = 0; i < 20; i++)
		blocks[i] = (struct effect_block){{1.3, 1.3}, {1, 1}, i % 2};
	effect__judge(&result, blocks, 20);
	assert_int_equal(result.outcome, EFFECT_INCONCLUSIVE);
}

/* A machine that becomes quick in the windows with the change, by chance or by somebody's hand. */
static void what_was_not_changed_has_a_say(void **context)
{
	struct effect_block blocks[2 * EFFECT_BLOCKS_LEAST] = {0}, others[COUNT_OF(blocks)] = {0};
	static const struct {
		double of_others;
		enum effect_outcome outcome;
	} rows[] = {{1, EFFECT_PROVEN},
		    {1.2, EFFECT_PROVEN},
		    {1 / 1.9, EFFECT_PROVEN}, /* the CPU that it takes now is theirs no more */
		    {1.6, EFFECT_INCONCLUSIVE},
		    {4, EFFECT_INCONCLUSIVE}};
	struct effect effect;

	(void)context;
	for (size_t row = 0; row < COUNT_OF(rows); row++) {
		for (size_t i = 0; i < COUNT_OF(blocks); i++) {
			bool control = i % 2;

			blocks[i] = others[i] = (struct effect_block){
				.without = {1, 1.01}, .with = {1.01, 1}, .is_control = control};
			for (size_t j = 0; !control && j < 2; j++) {
				blocks[i].with[j] *= 2;
				others[i].with[j] *= rows[row].of_others;
			}
		}
		effect__judge(&effect, blocks, COUNT_OF(blocks));
		effect__judge_others(&effect, others, COUNT_OF(others));
		assert_int_equal(effect.outcome, rows[row].outcome);
		assert_int_equal(effect.moved_too, rows[row].outcome == EFFECT_INCONCLUSIVE);
	}
	effect__judge(&effect, blocks, COUNT_OF(blocks));
	effect__judge_others(&effect, others, 0);
	assert_int_equal(effect.outcome, EFFECT_PROVEN);
	assert_int_equal(effect.others.blocks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_proven_where_nothing_changed),
		cmocka_unit_test(what_helps_is_proven),
		cmocka_unit_test(small_effects_are_not_wrong),
		cmocka_unit_test(intervals_hold_what_they_say),
		cmocka_unit_test(too_few_blocks_say_how_many),
		cmocka_unit_test(the_control_has_a_say),
		cmocka_unit_test(what_was_not_changed_has_a_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
