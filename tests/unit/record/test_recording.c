// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A recording gives what was put into it; a damaged one a part of that, and says so. */
#include "tests/unit/feed.h"
#include "tests/unit/record/blocks.h"
#include "user/record/recording.h"

struct file {
	char *bytes;
	size_t size;
};

struct read {
	size_t count, idles;
	union record v[FEED_MOST];
	struct recording_about about;
	const char *why;
};

static struct file write_all(const struct feed *feed)
{
	struct file file = {0};
	FILE *out = open_memstream(&file.bytes, &file.size);
	struct recording_writer *writer = recording__begin(out, "host", "9.9", 1234);

	for (size_t i = 0; i < feed->count; i++) {
		recording__add(writer, &feed->v[i], feed->v[i].head.len);
		/* A block of its own for each three. */
		if (i % 3 == 2)
			recording__idle(writer, (i + 1) * 2000000000ull);
	}
	recording__end(writer);
	fclose(out);
	return file;
}

static struct read *read_all(const char *bytes, size_t size)
{
	struct read *read = calloc(1, sizeof(*read));
	FILE *in = fmemopen((void *)bytes, size ? size : 1, "r");
	struct recording *recording = size ? recording__open(in, &read->why) : NULL;
	enum recording_gives gives;
	const void *record;
	size_t len;

	while (recording && (gives = recording__next(recording, &record, &len)) != RECORDING_ENDS) {
		read->idles += gives == RECORDING_IDLE;
		if (gives == RECORDING_RECORD)
			memcpy(&read->v[read->count++], record, len);
	}
	if (recording) {
		read->about = *recording__about(recording);
		recording__free(recording);
	}
	fclose(in);
	return read;
}

/* What was read is what was written from there on. */
static void assert_part(const struct read *read, const struct feed *feed)
{
	size_t at = 0;

	for (size_t i = 0; i < read->count; i++) {
		while (at < feed->count &&
		       memcmp(&read->v[i], &feed->v[at], feed->v[at].head.len) != 0)
			at++;
		assert_true(at++ < feed->count);
	}
}

static void test_gives_what_was_put_in(void **state)
{
	struct feed feed = feed__golden("nagle-delack");
	struct file file = write_all(&feed);
	struct read *read = read_all(file.bytes, file.size);

	(void)state;
	assert_int_equal(read->count, feed.count);
	assert_int_equal(read->idles, feed.count / 3);
	assert_part(read, &feed);
	assert_true(read->about.ended);
	assert_int_equal(read->about.damaged + read->about.missing + read->about.skipped, 0);
	assert_int_equal(read->about.records, feed.count);
	assert_string_equal(read->about.host, "host");
	assert_string_equal(read->about.tool, "9.9");
	assert_int_equal(read->about.created_s, 1234);
	free(read);
	free(file.bytes);
	free(feed.v);
}

/* Few records, as each byte is looked at. */
static struct feed some(void)
{
	return feed__text(
		"0 session way=fentry kernel=6 arch=x target=\"pid 1\" threshold=10\n"
		"0 process tgid=5 role=target comm=one\n"
		"1 wait tgid=5 tid=5 off=0.5 wake=0.9 state=1\n"
		"2 wait tgid=5 tid=5 off=1.5 wake=1.9 state=1\n"
		"3 wait tgid=5 tid=5 off=2.5 wake=2.9 state=1\n"
		"4 exit tgid=5\n"
		"5 end\n");
}

static void test_cut_anywhere(void **state)
{
	struct feed feed = some();
	struct file file = write_all(&feed);
	size_t last = 0;

	(void)state;
	for (size_t size = 0; size < file.size; size++) {
		struct read *read = read_all(file.bytes, size);

		assert_false(read->about.ended);
		assert_true(read->count >= last);
		last = read->count;
		assert_part(read, &feed);
		free(read);
	}
	assert_int_equal(last, feed.count);
	free(file.bytes);
	free(feed.v);
}

static void test_damaged_anywhere(void **state)
{
	struct feed feed = some();
	struct file file = write_all(&feed);

	(void)state;
	for (size_t at = 0; at < file.size; at++) {
		struct read *read;

		file.bytes[at] ^= 0x41;
		read = read_all(file.bytes, file.size);
		assert_part(read, &feed);
		assert_true(read->why || !read->about.ended ||
			    read->count + read->about.missing == feed.count);
		assert_true(read->count == feed.count || read->why || !read->about.ended ||
			    read->about.damaged);
		free(read);
		file.bytes[at] ^= 0x41;
	}
	free(file.bytes);
	free(feed.v);
}

/* ---- of another version ---- */

#define HEAD(number, size, when)                                                                   \
	{                                                                                          \
		.type = number, .len = size, .ts = when, .tgid = 5                                 \
	}

static const char about[] =
	"{\"netstall-recording\":7,\"host\":\"h\",\"tool\":\"8\",\"types\":["
	"{\"type\":44,\"name\":\"process\",\"size\":72,\"fields\":["
	"{\"name\":\"comm\",\"kind\":10,\"offset\":40,\"size\":8},"
	"{\"name\":\"colour\",\"kind\":0,\"offset\":36,\"size\":0},"
	"{\"name\":\"master\",\"kind\":1,\"offset\":56,\"size\":0},"
	"{\"name\":\"role\",\"kind\":11,\"offset\":64,\"size\":0,\"values\":[\"chain\",\"x\",\"target\"]}]},"
	"{\"type\":45,\"name\":\"nothing of ours\",\"size\":40,\"fields\":[]},"
	"{\"type\":46,\"name\":\"exit\",\"size\":32,\"fields\":[]},"
	"{\"type\":47,\"name\":\"conn\",\"size\":80,\"fields\":["
	"{\"name\":\"fd\",\"kind\":12,\"offset\":79,\"size\":0},"
	"{\"name\":\"comm\",\"kind\":10,\"offset\":70,\"size\":60000}]}]}";

static void test_another_version(void **state)
{
	struct {
		struct ns_head head;
		uint32_t before, colour;
		char comm[16];
		uint64_t master;
		uint32_t role, behind;
	} process = { HEAD(44, 72, 1), 0, 3, "elsewhere-called", 9, 2, 0 };
	struct {
		struct ns_head head;
		char unknown[8];
	} other = { HEAD(45, 40, 2), "unknown" };
	struct ns_head exit = HEAD(46, 32, 3)
	, shorter = HEAD(44, 40, 4);
	struct {
		struct ns_head head;
		char rest[48];
	} conn = { HEAD(47, 80, 5), "fields of which lie beyond its end" };
	struct file records = {0}, file = {0};
	FILE *out = open_memstream(&records.bytes, &records.size);
	struct read *read;

	(void)state;
	_Static_assert(sizeof(process) == 72, "as about[] says");
	fwrite(&process, sizeof(process), 1, out);
	fwrite(&other, sizeof(other), 1, out);
	fwrite(&exit, sizeof(exit), 1, out);
	fwrite(&shorter, sizeof(shorter), 1, out);
	fwrite("12345678", 1, 8, out);
	fwrite(&conn, sizeof(conn), 1, out);
	fclose(out);
	out = open_memstream(&file.bytes, &file.size);
	put_block(out, BLOCK_ABOUT, about, strlen(about), 0);
	put_block(out, BLOCK_RECORDS, records.bytes, records.size, 5);
	put_block(out, 99, "later versions", 14, 0);
	put_block(out, BLOCK_END, "", 0, 5);
	fclose(out);
	read = read_all(file.bytes, file.size);
	assert_null(read->why);
	assert_true(read->about.ended);
	assert_int_equal(read->about.skipped, 2);
	assert_int_equal(read->about.damaged + read->about.missing, 0);
	assert_int_equal(read->count, 3);
	assert_int_equal(read->v[0].head.type, NS_PROCESS);
	assert_int_equal(read->v[0].head.len, sizeof(struct ns_process));
	assert_int_equal(read->v[0].head.tgid, 5);
	assert_int_equal(read->v[0].process.role, NS_ROLE_TARGET);
	assert_string_equal(read->v[0].process.comm, "elsewhe");
	assert_int_equal(read->v[0].process.master, 0); /* another kind of field */
	assert_int_equal(read->v[1].head.type, NS_EXIT);
	assert_int_equal(read->v[2].head.type, NS_CONN);
	assert_string_equal(read->v[2].conn.comm, "");
	free(read);
	free(file.bytes);
	free(records.bytes);
}

static void test_what_is_none(void **state)
{
	static const char *const abouts[] = {"", "{", "[]", "{\"types\":[]}",
					     "{\"netstall-recording\":\"1\"}"};

	(void)state;
	for (size_t i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++) {
		struct file file = {0};
		FILE *out = open_memstream(&file.bytes, &file.size);
		struct read *read;

		put_block(out, BLOCK_ABOUT, abouts[i], strlen(abouts[i]), 0);
		fclose(out);
		read = read_all(file.bytes, file.size);
		assert_non_null(read->why);
		free(read);
		free(file.bytes);
	}
}

/* ---- a flight recorder ---- */

static void add_line(struct recording_writer *writer, const char *line)
{
	union record record;
	char error[256];

	assert_int_equal(text__parse(line, &record, error, sizeof(error)), 1);
	recording__add(writer, &record, record.head.len);
}

static struct read *saved(struct recording_writer *writer)
{
	struct file file = {0};
	FILE *out = open_memstream(&file.bytes, &file.size);
	struct read *read;

	recording__save(writer, out);
	fclose(out);
	read = read_all(file.bytes, file.size);
	free(file.bytes);
	return read;
}

static size_t count_of(const struct read *read, uint32_t type)
{
	size_t count = 0;

	for (size_t i = 0; i < read->count; i++)
		count += read->v[i].head.type == type;
	return count;
}

/* Of ten seconds the last three, and what must be known from before. */
static void test_the_last_seconds(void **state)
{
	struct recording_writer *writer =
		recording__begin_last("host", "9.9", 1, 3000000000ull, 1 << 20);
	struct read *read;
	char line[128];

	(void)state;
	add_line(writer, "0 session way=fentry kernel=6 arch=x target=\"pid 1\" threshold=10");
	add_line(writer, "0 process tgid=5 role=target comm=one");
	add_line(writer, "0 process tgid=6 role=target comm=two");
	add_line(writer, "0 conn conn=1 role=target local=127.0.0.1:1 remote=127.0.0.1:2");
	add_line(writer, "0 conn conn=2 role=target local=127.0.0.1:3 remote=127.0.0.1:4");
	add_line(writer, "0 stack id=7 text=main");
	add_line(writer, "1 conn-totals conn=1 writes=3");
	add_line(writer, "1500 close conn=2");
	add_line(writer, "1500 exit tgid=6");
	for (unsigned second = 1; second <= 10; second++) {
		snprintf(line, sizeof(line), "%u wait tgid=5 tid=5 off=%u wake=%u state=1",
			 1000 * second, 1000 * second - 20, 1000 * second);
		add_line(writer, line);
		recording__idle(writer, TEXT_TRACE_ORIGIN_NS + second * 1000000000ull);
	}
	for (unsigned times = 0; times < 2; times++) {
		read = saved(writer);
		assert_true(read->about.ended);
		assert_int_equal(read->about.damaged + read->about.missing, 0);
		assert_int_equal(read->v[0].head.type, NS_SESSION);
		assert_int_equal(count_of(read, NS_SESSION), 1);
		assert_int_equal(count_of(read, NS_PROCESS), 1);
		assert_int_equal(count_of(read, NS_CONN), 1);
		assert_int_equal(count_of(read, NS_STACK), 1);
		assert_int_equal(count_of(read, NS_CONN_TOTALS), 0);
		assert_in_range(count_of(read, NS_WAIT), 3, 4);
		assert_int_equal(read->v[read->count - 1].head.ts,
				 TEXT_TRACE_ORIGIN_NS + 10000000000ull);
		/* The window begins with what there is. */
		for (size_t i = 0; i < read->count; i++)
			assert_true(read->v[i].head.ts >= read->v[0].head.ts);
		assert_true(read->v[0].head.ts >= TEXT_TRACE_ORIGIN_NS + 6000000000ull);
		free(read);
	}
	recording__end(writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gives_what_was_put_in),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_damaged_anywhere),
		cmocka_unit_test(test_another_version),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_the_last_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
