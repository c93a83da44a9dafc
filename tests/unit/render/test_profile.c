// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The builder of profiles, and what shows them. `--list` names the fixtures, `--dump FORMAT NAME`
 * prints one, for tests/profile/ and tests/schema/.
 */
#include "tests/unit/render/profile_fixture.h"
#include "user/analyze/profile/profile_records.h"
#include "user/base/array.h"
#include "user/render/profile/frames.h"

static void print_top(FILE *out, const struct profile *profile)
{
	const struct render_style style = {.width = 120};

	render__profile_top(out, profile, &style);
}

/* What a renderer writes; the profile is freed. */
static char *text_of(struct profile *profile, void (*render)(FILE *, const struct profile *))
{
	char *text = PRINTED(out, render(out, profile));

	profile__free(profile);
	return text;
}

static void assert_folded(struct profile *profile, const char *wanted)
{
	char *text = text_of(profile, render__folded);

	assert_string_equal(text, wanted);
	free(text);
}

static void equal_chains_are_joined(void **state)
{
	struct profile *profile = profile__new();
	struct profile_entry entry = {
		.pid = 1, .comm = "a", .user = "leaf;root", .count = 2, .ns = 300};
	char other[] = "leaf;root"; /* equal, and elsewhere */

	profile__add(profile, &entry);
	entry.ns = 1000;
	entry.pid = 2;
	profile__add(profile, &entry);
	entry.pid = 1;
	entry.user = other;
	entry.runqueue_ns = 70;
	profile__add(profile, &entry);
	other[0] = 'L'; /* the profile has its own copy */
	profile__finish(profile);
	assert_int_equal(profile->entry_count, 2);
	assert_int_equal(profile->total_ns, 2300);
	assert_int_equal(profile->waits, 6);
	assert_int_equal(profile->entries[0].ns, 1300);
	assert_int_equal(profile->entries[0].runqueue_ns, 70);
	assert_int_equal(profile->entries[0].count, 4);
	assert_string_equal(profile->entries[0].user, "leaf;root");
	profile__free(profile);
	(void)state;
}

static void hops_and_causes_keep_entries_apart(void **state)
{
	struct profile *profile = profile__new();
	struct profile_entry entry = {
		.comm = "a", .hop_count = 1, .hops = {{.name = "w"}}, .count = 1, .ns = 1};

	profile__add(profile, &entry);
	entry.hops[0].wait_user = "x";
	profile__add(profile, &entry);
	entry.hop_count = 0;
	profile__add(profile, &entry);
	entry.has_cause = true;
	profile__add(profile, &entry);
	entry.cause = CAUSE_LOCK;
	profile__add(profile, &entry);
	profile__finish(profile);
	assert_int_equal(profile->entry_count, 5);
	profile__free(profile);
	(void)state;
}

static void unknown_frames_are_counted(void **state)
{
	struct profile *profile = demo_profile();

	assert_int_equal(profile->frames, 7 + 7 + 6 + 2);
	assert_int_equal(profile->unknown_frames, 1);
	profile__free(profile);
	(void)state;
}

static void folded_has_the_documented_form(void **state)
{
	struct profile *profile = profile__new();
	struct profile_entry entry = {
		.comm = "app",
		.kernel = "k_leaf;k_root",
		.user = "u_leaf;u_root",
		.hop_count = 2,
		.hops = {{.kind = WAKER_IS_THREAD,
			  .name = "w1",
			  .kernel = "wk1;wk2",
			  .user = "wu1;wu2"},
			 {.kind = WAKER_IS_SOFTIRQ, .name = "softirq:net_rx", .kernel = "net_rx"}},
		.count = 1,
		.ns = 5 * US,
	};

	profile__add(profile, &entry);
	profile__finish(profile);
	assert_folded(profile,
		      "app;u_root;u_leaf;k_root;k_leaf;--;wk1;wk2;wu1;wu2;w1"
		      ";--;net_rx;softirq:net_rx 5\n");

	profile = profile__new();
	profile->delimited = profile->by_cause = true;
	entry.has_cause = true;
	entry.cause = CAUSE_NAGLE_DELACK;
	profile__add(profile, &entry);
	profile__finish(profile);
	assert_folded(profile,
		      "app;nagle-delack;u_root;u_leaf;-;k_root;k_leaf;--;wk1;wk2;-;wu1;wu2;w1"
		      ";--;net_rx;softirq:net_rx 5\n");
	(void)state;
}

static void folded_tells_threads_apart_when_asked(void **state)
{
	struct profile *profile = profile__new();
	struct profile_entry entry = {
		.comm = "app",
		.tid = 7,
		.hop_count = 2,
		.hops = {{.kind = WAKER_IS_THREAD, .name = "app", .tid = 8}, {.tid = 9}},
		.count = 1,
		.ns = 5 * US,
	};

	profile->per_thread = true;
	profile__add(profile, &entry);
	profile__finish(profile);
	assert_folded(profile, "app/7;--;app/8;--;[unknown waker] 5\n");
	(void)state;
}

static void folded_keeps_the_sum(void **state)
{
	struct profile *profile = profile__new();
	struct profile_entry entry = {.comm = "a", .count = 1};
	const char *const users[] = {"a", "b", "c", "d", "e"};

	/* 0.6 + 0.6 + 0.6 + 0.6 + 0.1 us: 2.5 us in all, which is 3 */
	for (size_t i = 0; i < 5; i++) {
		entry.user = users[i];
		entry.ns = i < 4 ? 600 : 100;
		profile__add(profile, &entry);
	}
	profile__finish(profile);
	assert_folded(profile, "a;a 1\na;b 1\na;c 1\n");
	(void)state;
}

static void folded_joins_what_reads_alike(void **state)
{
	struct profile *profile = profile__new();
	struct profile_entry entry = {.comm = "a;b", .pid = 1, .state = 1, .count = 1, .ns = 700};

	profile__add(profile, &entry);
	entry.comm = "a:b";
	entry.pid = 2;
	profile__add(profile, &entry);
	entry.state = 2;
	profile__add(profile, &entry);
	profile__finish(profile);
	assert_int_equal(profile->entry_count, 3);
	assert_folded(profile, "a:b 2\n");
	(void)state;
}

static void folded_names_cannot_break_a_line(void **state)
{
	char *text = text_of(hostile_profile(), render__folded);

	assert_not_in(text, "\x1b");
	assert_not_in(text, ";--;--;");
	assert_not_in(text, ";-;");
	assert_in(text, "\nx\\x0ay;");
	assert_in(text, ";worker_12 20000\n");
	assert_in(text, "worker_12;main_1.5;");
	assert_in(text, "\n[no name];main_1.5;<b>&\"'\\x09</b>;operator_12;");
	free(text);
	(void)state;
}

/* flamegraph.pl's own rule: a blank, digits, and perhaps a point and digits again, at the end. */
static bool ends_in_number(const char *text)
{
	const char *blank = strrchr(text, ' ');
	size_t digits = blank ? strspn(blank + 1, "0123456789") : 0;
	const char *rest = blank ? blank + 1 + digits : text;

	return digits && (!*rest || (*rest == '.' && !rest[1 + strspn(rest + 1, "0123456789")]));
}

static void any_name_is_one_frame(void **state)
{
	static const char bytes[] = "a;- 1.\n\t\\\x1b\xc3\xa9\xff\xe2\x80\xae<&";
	char name[12], text[FRAME_TEXT];
	unsigned random = 1;

	for (int i = 0; i < 200000; i++) {
		size_t length = (random >> 16) % sizeof(name);

		for (size_t at = 0; at < length; at++) {
			random = random * 1103515245 + 12345;
			name[at] = bytes[(random >> 16) % (sizeof(bytes) - 1)];
		}
		random = random * 1103515245 + 12345;
		frame__text(text, name, length);
		assert_true(*text && strcmp(text, "-") && strcmp(text, "--"));
		assert_null(strpbrk(text, ";\n\t\x1b"));
		assert_true(text[strlen(text) - 1] != ' ');
		if (ends_in_number(text))
			fail_msg("'%s' ends in a number", text);
	}
	(void)state;
}

static void empty_profile_is_no_line(void **state)
{
	assert_folded(empty_profile(), "");
	(void)state;
}

static void top_tells_the_chain(void **state)
{
	char *text = text_of(demo_profile(), print_top);

	assert_in(text, "5.00 s watched, pid 4242: 4.96 s blocked in 120 waits");
	assert_in(text, "  1  4.34 s  87.5%  demo-client/4242  nagle-delack  106 waits of 41.0 ms");
	assert_in(text, "waits for        data of a socket, in read()\n");
	assert_in(text, "endpoint__receive <- client__step <- client__run <- main\n");
	assert_in(text, "woken by         demo-server/4243: sent a segment, in write()\n");
	assert_in(text, "which waits for  data of a socket, in read()\n");
	assert_in(text, "woken by         softirq:timer: TCP's delayed-ACK timer expired\n");
	assert_in(text, "and 1 more chain, 800 us, <0.1%\n"); /* too short to be told */
	assert_in(text, "4.5% of the user frames have no name");
	assert_not_in(text, "LOST");
	free(text);
	(void)state;
}

static void top_tells_losses_with_their_share(void **state)
{
	char *text = text_of(deep_profile(), print_top);

	assert_in(text, "LOST  7 stacks without room (--stack-storage-size): 3.00 ms, 3.1% of");
	assert_in(text, "LOST  8 waits without room, in none of the chains: 6.00 ms, 6.3% of");
	assert_in(text, "LOST  9 threads without room, not watched: ");
	assert_in(text, "LOST  10 user stacks not copied or not unwound: ");
	assert_in(text, "woken by         softirq:net_rx: a segment arrived\n");
	assert_in(text, "kernel addresses are hidden: set kernel.kptr_restrict to 1\n");
	free(text);
	(void)state;
}

static void top_is_bounded_and_safe(void **state)
{
	char *text = text_of(wide_profile(), print_top);
	size_t lines = 0;

	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	assert_true(lines < 80);
	assert_in(text, "and 19,990 more chains, 4.30 s, 81.8%\n");
	free(text);

	text = text_of(hostile_profile(), print_top);
	assert_not_in(text, "\x1b");
	assert_in(text, "and 3 more threads");
	free(text);

	text = text_of(empty_profile(), print_top);
	assert_in(text, "0 ns blocked in 0 waits\n  No wait ended in this time.\n");
	free(text);
	(void)state;
}

/* A shell's children: each wakes it once, and sleeps once. What comes again keeps its number. */
static struct profile *children_profile(void)
{
	struct profile *profile = new_profile("comm sh");

	for (unsigned i = 0; i < 100; i++) {
		struct profile_entry entry = {
			.pid = 500,
			.comm = "sh",
			.state = 1,
			.kernel = "schedule;do_wait;kernel_wait4",
			.user = "wait4;main",
			.hop_count = 1,
			.hops = {{.kind = WAKER_IS_THREAD,
				  .pid = 1000 + i,
				  .name = "sleep",
				  .kernel = "do_exit"}},
			.count = i < 97 ? 1 : 2,
			.ns = 30 * MS,
		};

		profile__add(profile, &entry);
		entry.pid = 1000 + i;
		entry.comm = "sleep";
		entry.kernel = "schedule;do_nanosleep";
		entry.user = i % 2 ? "nanosleep;main" : "nanosleep;other";
		entry.hop_count = 0;
		entry.count = 1;
		profile__add(profile, &entry);
	}
	profile__finish(profile);
	return profile;
}

static void top_joins_what_comes_once(void **state)
{
	char *text = text_of(children_profile(), print_top);

	assert_in(text, "  1  2.91 s  48.5%  sh/500  97 waits of 30.0 ms on average\n");
	assert_in(text, "sleep, 50 threads  50 waits of 30.0 ms on average\n");
	assert_in(text, "  6  30.0 ms  0.5%  sh/500  2 waits of 15.0 ms on average\n");
	assert_in(text, "woken by         sleep/1099");
	assert_not_in(text, "more chain");
	free(text);
	(void)state;
}

/* ---- as records, and back ---- */

/* A thread that nobody woke in all the time is no news, however long that was. */
static void top_has_what_rests_last(void **state)
{
	struct profile *profile = profile__new();
	struct profile_entry entry = {.pid = 1,
				      .comm = "rests",
				      .state = 1,
				      .count = 1,
				      .ns = 9000000000,
				      .hop_count = 1,
				      .hops = {{.kind = WAKER_IS_UNKNOWN}}};
	char *text;

	profile__add(profile, &entry);
	entry.pid = 2;
	entry.comm = "works";
	entry.ns = 20000000;
	entry.hops[0].kind = WAKER_IS_SOFTIRQ;
	entry.hops[0].name = "softirq:net_rx";
	profile__add(profile, &entry);
	profile__finish(profile);
	text = text_of(profile, print_top);
	assert_true(strstr(text, "works/2") < strstr(text, "rests/1"));
	assert_in(text, "  1  20.0 ms  0.2%  works/2");
	assert_in(text, "  2  9.00 s  99.8%  rests/1");
	assert_in(text, "nobody that was seen");
	free(text);
	(void)state;
}

static void take_one(void *reader, const void *bytes, size_t len)
{
	union record record;

	assert_int_equal(record__decode(bytes, len, &record), 0);
	profile_reader__take(reader, &record);
}

static void recorded_it_is_the_same(void **state)
{
	for (size_t i = 0; i < COUNT_OF(profile_fixtures); i++) {
		struct profile *profile = profile_fixtures[i].make(), *read;
		struct profile_reader *reader = profile_reader__new();
		char *text, *again;

		profile__write(profile, take_one, reader);
		read = profile_reader__finish(reader, true);
		profile_reader__free(reader);
		assert_non_null(read);
		text = text_of(profile, render__profile_json);
		again = text_of(read, render__profile_json);
		assert_string_equal(text, again);
		free(text);
		free(again);
	}
	(void)state;
}

static void long_stacks_are_recorded_whole(void **state)
{
	struct profile *profile = profile__new(), *read;
	struct profile_reader *reader = profile_reader__new();
	char stack[9000] = "", frame[5000] = "";

	while (strlen(stack) < 3000)
		strcat(stack, "a_function_of_some_length;");
	memset(frame, 'f', sizeof(frame) - 1); /* longer than a record */
	strcat(stack, frame);
	profile__add(profile,
		     &(struct profile_entry){
			     .comm = "a", .user = stack, .kernel = "main", .count = 1, .ns = 1});
	profile__finish(profile);
	profile__write(profile, take_one, reader);
	profile__free(profile);
	read = profile_reader__finish(reader, false);
	assert_string_equal(read->entries[0].user, stack);
	assert_string_equal(read->entries[0].kernel, "main");
	profile__free(read);
	assert_null(profile_reader__finish(reader, false));
	profile_reader__free(reader);
	(void)state;
}

static void take_but_texts(void *reader, const void *bytes, size_t len)
{
	const struct ns_head *head = bytes;

	if (head->type != NS_PROFILE_TEXT)
		take_one(reader, bytes, len);
}

static void what_is_missing_in_it_is_a_lost_stack(void **state)
{
	struct profile_reader *reader = profile_reader__new();
	struct profile *profile = profile__new(), *read;

	profile__add(profile, &(struct profile_entry){.comm = "a", .user = "main", .ns = 1});
	profile__finish(profile);
	profile__write(profile, take_but_texts, reader);
	profile__free(profile);
	read = profile_reader__finish(reader, false);
	assert_string_equal(read->entries[0].user, PROFILE_LOST_STACK);
	assert_null(read->entries[0].kernel);
	profile__free(read);
	profile_reader__free(reader);
	(void)state;
}

static int dump(const char *format, const char *name)
{
	static const struct {
		const char *name;
		void (*render)(FILE *, const struct profile *);
	} formats[] = {
		{"folded", render__folded},
		{"top", print_top},
		{"json", render__profile_json},
		{"svg", render__profile_svg},
	};
	struct profile *profile = NULL;
	int status = 64;

	for (size_t i = 0; i < sizeof(profile_fixtures) / sizeof(profile_fixtures[0]); i++) {
		if (!strcmp(profile_fixtures[i].name, name))
			profile = profile_fixtures[i].make();
	}
	if (!profile)
		return status;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, format) != 0)
			continue;
		formats[i].render(stdout, profile);
		status = 0;
	}
	if (!strcmp(format, "pprof"))
		status = render__profile_pprof(stdout, profile) ? 1 : 0;
	profile__free(profile);
	return status;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_chains_are_joined),
		cmocka_unit_test(hops_and_causes_keep_entries_apart),
		cmocka_unit_test(unknown_frames_are_counted),
		cmocka_unit_test(folded_has_the_documented_form),
		cmocka_unit_test(folded_tells_threads_apart_when_asked),
		cmocka_unit_test(folded_keeps_the_sum),
		cmocka_unit_test(folded_joins_what_reads_alike),
		cmocka_unit_test(folded_names_cannot_break_a_line),
		cmocka_unit_test(any_name_is_one_frame),
		cmocka_unit_test(empty_profile_is_no_line),
		cmocka_unit_test(top_tells_the_chain),
		cmocka_unit_test(top_tells_losses_with_their_share),
		cmocka_unit_test(top_is_bounded_and_safe),
		cmocka_unit_test(top_joins_what_comes_once),
		cmocka_unit_test(top_has_what_rests_last),
		cmocka_unit_test(recorded_it_is_the_same),
		cmocka_unit_test(long_stacks_are_recorded_whole),
		cmocka_unit_test(what_is_missing_in_it_is_a_lost_stack),
	};

	if (argc == 4 && !strcmp(argv[1], "--dump"))
		return dump(argv[2], argv[3]);
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < sizeof(profile_fixtures) / sizeof(profile_fixtures[0]); i++)
			puts(profile_fixtures[i].name);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
