// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What is hidden is hidden everywhere, is the same each time, and what it means stays. */
#include "tests/unit/feed.h"
#include "user/record/anonymize.h"

static union record read_line(const char *line)
{
	union record record;
	char error[256];

	if (text__parse(line, &record, error, sizeof(error)) != 1)
		fail_msg("%s: %s", line, error);
	return record;
}

/* What netstall, or the kernel, says of itself. */
static bool stays(uint32_t type, const char *field)
{
	static const char *const names[] = {"way",   "kernel", "arch", "hidden",
					    "cause", "table",  NULL};

	for (size_t i = 0; names[i]; i++)
		if (!strcmp(field, names[i]))
			return true;
	return type == NS_REFUSED;
}

static void check_line(struct anonymizer *anonymizer, const char *line, const char *hidden)
{
	union record record = read_line(line), wanted = read_line(hidden);

	anonymizer__record(anonymizer, &record);
	if (memcmp(&record, &wanted, wanted.head.len) != 0) {
		char *is = PRINTED(out, text__print(out, &record, TEXT_TRACE_ORIGIN_NS));

		fail_msg("%s became %s", line, is);
	}
}

static void test_names_and_addresses(void **state)
{
	struct anonymizer *anonymizer = anonymizer__new();

	(void)state;
	check_line(anonymizer, "0 session way=fentry kernel=6.1 arch=x86_64 target=\"comm orders\"",
		   "0 session way=fentry kernel=6.1 arch=x86_64 target=name-1");
	check_line(anonymizer, "0 process tgid=5 role=target comm=orders container=\"docker 3f2a\"",
		   "0 process tgid=5 role=target comm=program-1 container=name-2");
	check_line(
		anonymizer,
		"1 conn conn=1 role=target local=192.0.2.7:3764 remote=198.51.100.1:443 comm=orders",
		"1 conn conn=1 role=target local=10.0.0.1:3764 remote=10.0.0.2:443 comm=program-1");
	check_line(
		anonymizer,
		"1 conn conn=2 role=target local=127.0.0.1:3764 remote=192.0.2.7:443 comm=swapper/1",
		"1 conn conn=2 role=target local=127.0.0.1:3764 remote=10.0.0.1:443 comm=swapper/1");
	check_line(anonymizer,
		   "1 conn conn=3 role=target local=[2001:db8::9]:1 remote=[::1]:2 comm=cart",
		   "1 conn conn=3 role=target local=[fd00::1]:1 remote=[::1]:2 comm=program-2");
	check_line(
		anonymizer,
		"2 wait tid=5 off=1 wake=1.5 comm=orders waker_comm=cart socket_path=/run/secret.sock",
		"2 wait tid=5 off=1 wake=1.5 comm=program-1 waker_comm=program-2 socket_path=name-3");
	check_line(
		anonymizer,
		"3 stack id=1 text=\"send (/srv/my(app)/a.py:21);f<a>::g(int) (x.cc:3);write+0x10 (../sysdeps/write.c:26) [libc.so.6];main [libfoo.so];(anonymous) (a b)\"",
		"3 stack id=1 text=\"send (file-4.py:21);f<a>::g(int) (file-5.cc:3);write+0x10 (file-6.c:26) [libc.so.6];main [file-7.so];(anonymous) (file-8)\"");
	check_line(
		anonymizer,
		"3 stack id=3 text=\"[acme-orders]+0x1261;[a b]+0x1 [libc.so.6];srv (app.py);LazyCompile:~ask /srv/x y/app.js:12:3;~b file:///srv/c.mjs:4:5;[unknown];[jit];[libc.so.6]+0x2;[vdso]+0x3;f<void (int)>(int);operator/(a)\"",
		"3 stack id=3 text=\"[file-9]+0x1261;[file-8]+0x1 [libc.so.6];srv (file-10.py);LazyCompile:~ask file-11.js:12:3;~b file-12.mjs:4:5;[unknown];[jit];[libc.so.6]+0x2;[vdso]+0x3;f<void (int)>(int);operator/(a)\"");
	check_line(anonymizer, "3 stack id=2 text=\"read (/srv/my(app)/a.py:7);schedule\"",
		   "3 stack id=2 text=\"read (file-4.py:7);schedule\"");
	check_line(anonymizer, "4 profile target=\"comm orders\" kernel=6.1 arch=x86_64",
		   "4 profile target=name-1 kernel=6.1 arch=x86_64");
	check_line(anonymizer, "4 profile-text id=1 text=\"send (/srv/my(app)/a.py:9);main\"",
		   "4 profile-text id=1 text=\"send (file-4.py:9);main\"");
	check_line(anonymizer, "4 profile-entry comm=orders cause=nagle-delack count=1",
		   "4 profile-entry comm=program-1 cause=nagle-delack count=1");
	check_line(anonymizer, "4 profile-wake kind=softirq comm=softirq:timer",
		   "4 profile-wake kind=softirq comm=softirq:timer");
	check_line(anonymizer, "4 profile-wake kind=irq comm=irq:nvme0q1",
		   "4 profile-wake kind=irq comm=irq:nvme0q1");
	check_line(anonymizer, "4 profile-wake kind=thread comm=cart",
		   "4 profile-wake kind=thread comm=program-2");
	anonymizer__free(anonymizer);
}

/* A mark in each string of each kind of record, in each of the shapes that it can have: none is
 * left. */
static void test_no_string_is_left(void **state)
{
	static const char *const frames[] = {"[MARK]+0x12",
					     "[MARK]",
					     "f (MARK)",
					     "f (/srv/MARK/a.py:3)",
					     "f+0x1 [MARK]",
					     "f (a.c:3) [MARK.so]",
					     "~f /srv/MARK.js:1:2",
					     "~f file:///MARK.js:1:2",
					     "~f /srv/a MARK/b.js:1:2",
					     "f;[MARK];g"};
	struct anonymizer *anonymizer = anonymizer__new();
	unsigned count = 0;

	(void)state;
	for (uint32_t number = 1; number < 256; number++) {
		const struct record_type *type = record_type__by_number(number);

		for (const struct field *field = type ? type->fields : NULL; field && field->name;
		     field++) {
			bool is_stack = number == NS_STACK || number == NS_PROFILE_TEXT;

			if (field->kind != FIELD_STRING || stays(number, field->name))
				continue;
			for (size_t i = 0; i < (is_stack ? sizeof(frames) / sizeof(frames[0]) : 1);
			     i++) {
				union record record = {.head.type = number};
				char *text = (char *)&record + field->offset;

				snprintf(text, field->size, "%s", is_stack ? frames[i] : "xMARK");
				anonymizer__record(anonymizer, &record);
				if (strstr(text, "MARK"))
					fail_msg("%s of %s: %s", field->name, type->name, text);
				count++;
			}
		}
	}
	assert_true(count > 30);
	anonymizer__free(anonymizer);
}

/* Every golden trace: the same causes, and none of its names and addresses. */
static void test_verdicts_stay(void **state)
{
	struct feed feed = feed__golden("nagle-delack");
	const struct pipeline_sink sink = {0};
	struct pipeline *before = pipeline__new(&sink), *after = pipeline__new(&sink);
	struct anonymizer *anonymizer = anonymizer__new();
	const struct report *was, *is;

	(void)state;
	for (size_t i = 0; i < feed.count; i++) {
		union record record = feed.v[i];

		pipeline__feed(before, &record, record.head.len);
		anonymizer__record(anonymizer, &record);
		pipeline__feed(after, &record, record.head.len);
	}
	was = pipeline__finish(before);
	is = pipeline__finish(after);
	assert_int_equal(is->stall_count, was->stall_count);
	assert_int_equal(is->stalls[0].cause, was->stalls[0].cause);
	assert_int_equal(is->stalls[0].end_ts, was->stalls[0].end_ts);
	for (size_t i = 0; i < is->process_count; i++)
		assert_true(!strncmp(is->processes[i].comm, "program-", 8));
	anonymizer__free(anonymizer);
	pipeline__free(before);
	pipeline__free(after);
	free(feed.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_addresses),
		cmocka_unit_test(test_no_string_is_left),
		cmocka_unit_test(test_verdicts_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
