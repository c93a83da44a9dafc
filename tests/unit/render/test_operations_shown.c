// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* io_uring's operations in the summary, the verdict, and the judgement of a check. */
#include "tests/unit/analyze/requests/operations.h"

#include "user/check/judge/gate.h"
#include "user/render/render.h"
#include "user/render/terminal/wrap.h"

static char *tables_of(const struct report *report, unsigned width)
{
	const struct render_style style = {.width = width, .verbose = true};
	const struct verdict verdict = {.headline = (char *)""};

	return PRINTED(out, render__report(out, report, &verdict, &style, false));
}

static void test_table_fits(void **state)
{
	static const char *const names[] = {"uring-table-mix", "uring-table-many"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pipeline *pipeline = feed__pipeline(feed__golden(names[i]));
		char *text;

		text = tables_of(pipeline__finish(pipeline), 120);
		assert_in(text, "OPERATION");
		assert_null(strchr(text, '\x1b'));
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(wrap__columns(line) <= 120);
		free(text);
		pipeline__free(pipeline);
	}
}

/* Without rings not a word of them; a ring without operations is told. */
static void test_nothing_of_nothing(void **state)
{
	struct pipeline *pipeline = pipeline_of(
		TARGETS "9 uring-totals tgid=50 opcode=RECV completed=70\n9 ring tgid=50 ring=1\n");
	char *text = tables_of(pipeline__finish(pipeline), 120);

	(void)state;
	assert_null(strstr(text, "OPERATION"));
	assert_null(strstr(text, "ring"));
	free(text);
	pipeline__free(pipeline);
	pipeline = pipeline_of(TARGETS "9 ring tgid=42 ring=7 sq_entries=8 cq_entries=16\n");
	text = tables_of(pipeline__finish(pipeline), 120);
	assert_null(strstr(text, "OPERATION"));
	assert_says(text, "ring 7: client/42", "8 + 16 entries");
	free(text);
	pipeline__free(pipeline);
}

#define CONN                                                                                       \
	"0 conn conn=1 tgid=42 role=target local=127.0.0.1:5 remote=127.0.0.1:6 fd=3\n"            \
	"9 conn-totals conn=1 tgid=42 writes=40 bytes_out=4000 bytes_in=90 exchanges=%u\n"

static void test_silence_counts_operations(void **state)
{
	char text[2048];
	struct pipeline *pipeline;
	struct verdict verdict;

	(void)state;
	snprintf(text, sizeof(text), TARGETS CONN "%s", 20,
		 "9 uring-totals tgid=42 opcode=RECV completed=20000\n10 end\n");
	pipeline = pipeline_of(text);
	verdict__write(&verdict, pipeline__finish(pipeline));
	assert_says(verdict.text, "1 connection", "20 exchanges", "20,000 io_uring operations",
		    "0 threads");
	verdict__clear(&verdict);
	pipeline__free(pipeline);
	/* Lost ones are no evidence. */
	strcat(text, "10 lost kind=9 count=1\n");
	pipeline = pipeline_of(text);
	verdict__write(&verdict, pipeline__finish(pipeline));
	assert_says(verdict.title, "no evidence");
	assert_says(verdict.text, "1 event lost", "1 io_uring ring");
	verdict__clear(&verdict);
	pipeline__free(pipeline);
}

/* A program that sends and receives by its ring alone is traffic: a check of it is conclusive. */
static void test_rings_are_traffic(void **state)
{
	struct gate_facts facts = {.target = "client"};
	struct gate_options options = {.min_exchanges = 1};
	struct budgets budgets;
	char text[2048];

	(void)state;
	budgets__default(&budgets);
	options.budgets = &budgets;
	for (unsigned exchanges = 0; exchanges < 2; exchanges++) {
		struct pipeline *pipeline;
		struct outcome *outcome;

		snprintf(text, sizeof(text), TARGETS CONN "%s", exchanges,
			 "2 send conn=1 tgid=42 tid=42 bytes=100 write_seq=101 snd_nxt=101 "
			 "snd_una=1 via=uring\n"
			 "3 send conn=1 tgid=42 tid=60 bytes=100 write_seq=201 snd_nxt=201 "
			 "snd_una=101 via=worker\n"
			 "9 uring-totals tgid=42 opcode=SEND completed=2\n1000 end\n");
		pipeline = pipeline_of(text);
		outcome = outcome__new(pipeline__finish(pipeline), &options, &facts);
		assert_int_equal(outcome->verdict, exchanges ? CHECK_WITHIN : CHECK_INCONCLUSIVE);
		assert_int_equal(outcome->connections, 1);
		outcome__free(outcome);
		pipeline__free(pipeline);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_fits),
		cmocka_unit_test(test_nothing_of_nothing),
		cmocka_unit_test(test_silence_counts_operations),
		cmocka_unit_test(test_rings_are_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
