// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Call sites of the two small writes: which calls belong to which stall, and their words. */
#include "tests/unit/analyze/outcome.h"
#include "user/analyze/sites.h"
#include "user/analyze/tally.h"
#include "user/explain/call_site.h"

#define AT_HEAD "write+0x10;put_head+0x1c;exchange+0x33;main+0x80;[libc.so.6]+0x2724a;_start+0x21"
#define AT_BODY "write+0x10;put_body+0x2c;exchange+0x43;main+0x80;[libc.so.6]+0x2724a;_start+0x21"

/* A connection whose client is the target. */
#define SETTING                                                                                    \
	"0 session way=fentry kernel=6.12 arch=x86_64 target=t threshold=10\n"                     \
	"0 process tgid=10 role=target comm=client\n"                                              \
	"0 conn conn=1 tgid=10 role=target local=127.0.0.1:4000 remote=127.0.0.1:80 fd=5 "         \
	"origin=existed opener=self comm=client\n"                                                 \
	"0 stack id=1 text=" AT_HEAD                                                               \
	"\n"                                                                                       \
	"0 stack id=2 text=" AT_BODY                                                               \
	"\n"                                                                                       \
	"0 stack id=3 text=other+0x1;main+0x80\n"

/* A request in two pieces at AT ms, from sequence number SEQ: held until AT + 40. */
static void add_request(struct feed *feed, double at, unsigned seq, unsigned first, unsigned second,
			const char *reason)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "%.3f send conn=1 tgid=10 tid=10 bytes=%u fd=5 write_seq=%u snd_nxt=%u snd_una=%u",
		 at, first, seq + first, seq + first, seq);
	feed__add_line(feed, line);
	snprintf(line, sizeof(line),
		 "%.3f send conn=1 tgid=10 tid=10 bytes=%u fd=5 write_seq=%u snd_nxt=%u snd_una=%u",
		 at + 0.1, second, seq + first + second, seq + first, seq);
	feed__add_line(feed, line);
	snprintf(line, sizeof(line),
		 "%.3f hold conn=1 tgid=10 tid=10 reason=%s seq=%u end=%u unacked=%u mss=1448 "
		 "packets_out=1 cwnd=10 snd_wnd=65536 srtt_us=90 min_rtt_us=41 fd=5",
		 at + 0.1, reason, seq + first, seq + first + second, first);
	feed__add_line(feed, line);
	snprintf(line, sizeof(line), "%.3f release conn=1 held=40 seq=%u end=%u reason=%s",
		 at + 40.1, seq + first, seq + first + second, reason);
	feed__add_line(feed, line);
}

static void add_call(struct feed *feed, double at, unsigned conn, unsigned write_seq,
		     unsigned bytes, unsigned stack, unsigned held)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "%.3f call conn=%u tgid=10 tid=10 write_seq=%u bytes=%u stack_id=%u held=%u", at,
		 conn, write_seq, bytes, stack, held);
	feed__add_line(feed, line);
}

static void assert_sites(const struct stall *stall, const char *first, const char *second)
{
	assert_non_null(stall);
	if (first) {
		assert_non_null(stall->sites.first_write);
		assert_string_equal(stall->sites.first_write, first);
	} else {
		assert_null(stall->sites.first_write);
	}
	if (second) {
		assert_non_null(stall->sites.second_write);
		assert_string_equal(stall->sites.second_write, second);
	} else {
		assert_null(stall->sites.second_write);
	}
}

static void its_own_calls_are_taken(void **state)
{
	struct feed feed = feed__text(SETTING);
	struct outcome outcome;

	(void)state;
	add_request(&feed, 1, 1000, 40, 136, "nagle");
	add_call(&feed, 1, 1, 1040, 40, 1, 0);
	add_call(&feed, 1.1, 1, 1176, 136, 2, 1);
	/* Later ones of the same sizes are not preferred to them. */
	add_call(&feed, 60, 1, 5040, 40, 3, 0);
	add_call(&feed, 60.1, 1, 5176, 136, 3, 1);
	outcome = analyze(feed);
	assert_sites(outcome.stall, AT_HEAD, AT_BODY);
	pipeline__free(outcome.pipeline);
}

static void a_later_stall_of_the_same_sizes_serves(void **state)
{
	struct feed feed = feed__text(SETTING);
	const struct tally *main;
	struct outcome outcome;

	(void)state;
	add_request(&feed, 1, 1000, 40, 136, "nagle");
	add_call(&feed, 1.1, 1, 1176, 136, 2, 1);
	add_request(&feed, 101, 2000, 40, 136, "nagle");
	add_call(&feed, 101, 1, 2040, 40, 1, 0);
	outcome = analyze(feed);
	assert_int_equal(outcome.report->stall_count, 2);
	assert_sites(&outcome.report->stalls[0], AT_HEAD, AT_BODY);
	assert_sites(&outcome.report->stalls[1], AT_HEAD, AT_BODY);
	main = report__leading(outcome.report)->main;
	assert_non_null(main->sites.first_write);
	assert_string_equal(main->sites.first_write, AT_HEAD);
	assert_string_equal(main->sites.second_write, AT_BODY);
	pipeline__free(outcome.pipeline);
}

static void other_sizes_and_connections_do_not_serve(void **state)
{
	struct feed feed = feed__text(SETTING);
	struct outcome outcome;

	(void)state;
	add_request(&feed, 1, 1000, 40, 136, "nagle");
	add_call(&feed, 60, 1, 5041, 41, 3, 0);
	add_call(&feed, 60, 1, 5176, 135, 3, 1);
	add_call(&feed, 61, 2, 6040, 40, 3, 0);
	add_call(&feed, 61, 2, 6176, 136, 3, 1);
	outcome = analyze(feed);
	assert_sites(outcome.stall, NULL, NULL);
	assert_null(report__leading(outcome.report)->main->sites.first_write);
	pipeline__free(outcome.pipeline);
}

/* Both writes of 40 bytes: which was held tells them apart. */
static void writes_of_one_size_are_told_apart(void **state)
{
	struct feed feed = feed__text(SETTING);
	struct outcome outcome;

	(void)state;
	add_request(&feed, 1, 1000, 40, 40, "nagle");
	add_call(&feed, 60, 1, 5040, 40, 1, 0);
	add_call(&feed, 61, 1, 6080, 40, 2, 1);
	outcome = analyze(feed);
	assert_sites(outcome.stall, AT_HEAD, AT_BODY);
	pipeline__free(outcome.pipeline);
}

static void a_cork_has_no_first_write(void **state)
{
	struct feed feed = feed__text(SETTING);
	struct outcome outcome;

	(void)state;
	add_request(&feed, 1, 1000, 40, 136, "cork");
	add_call(&feed, 1, 1, 1040, 40, 1, 0);
	add_call(&feed, 1.1, 1, 1176, 136, 2, 1);
	outcome = analyze(feed);
	assert_sites(outcome.stall, NULL, AT_BODY);
	pipeline__free(outcome.pipeline);
}

struct sleep_of {
	unsigned ms, stack; /* that its call was copied as; 0: it was not */
};

/* A thread that sleeps so, each 100 ms, for the connection that its waits have. */
static struct outcome analyze_sleeps_on(const char *conn, const struct sleep_of *sleeps,
					unsigned count)
{
	struct feed feed = feed__text(SETTING);
	struct outcome outcome;
	char line[256];

	feed__add_line(&feed, "0 stack id=4 text=schedule;do_nanosleep;hrtimer_nanosleep");
	for (unsigned i = 0; i < count; i++) {
		unsigned at = 100 * (i + 1), end = at + sleeps[i].ms;

		snprintf(line, sizeof(line),
			 "%u call tgid=10 tid=11 what=wait off=%u syscall=230 stack_id=%u", at, at,
			 sleeps[i].stack);
		if (sleeps[i].stack)
			feed__add_line(&feed, line);
		snprintf(line, sizeof(line),
			 "%u wait %stgid=10 tid=11 off=%u wake=%u state=1 syscall=230 stack_id=4 "
			 "comm=client",
			 end, conn, at, end);
		feed__add_line(&feed, line);
	}
	outcome = analyze(feed);
	assert_int_equal(outcome.report->stall_count, count);
	return outcome;
}

static struct outcome analyze_sleeps(const struct sleep_of *sleeps, unsigned count)
{
	return analyze_sleeps_on("", sleeps, count);
}

/* Of sleeps in one function, whose lengths tell them apart. */
static void a_wait_has_the_place_of_those_like_it(void **state)
{
	static const struct sleep_of sleeps[] = {{40, 0}, {40, 1}, {15, 3}, {42, 0}};
	struct outcome outcome = analyze_sleeps(sleeps, 4);

	(void)state;
	assert_string_equal(outcome.report->stalls[0].sites.wait, AT_HEAD);
	assert_string_equal(outcome.report->stalls[1].sites.wait, AT_HEAD);
	assert_string_equal(outcome.report->stalls[2].sites.wait, "other+0x1;main+0x80");
	assert_string_equal(outcome.report->stalls[3].sites.wait, AT_HEAD);
	pipeline__free(outcome.pipeline);
}

/* What it wrote on before it slept is not what it sleeps for: the place is its own all the same. */
static void a_guessed_connection_takes_no_place_away(void **state)
{
	static const struct sleep_of sleeps[] = {{40, 1}, {40, 0}};
	struct outcome outcome = analyze_sleeps_on("conn=1 conn_basis=written ", sleeps, 2);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(outcome.report->stalls[i].sites.wait);
		assert_string_equal(outcome.report->stalls[i].sites.wait, AT_HEAD);
	}
	pipeline__free(outcome.pipeline);
}

/* Of two that are alike neither is that of a third. */
static void a_wait_has_no_place_where_they_differ(void **state)
{
	static const struct sleep_of sleeps[] = {{40, 1}, {40, 3}, {40, 0}};
	struct outcome outcome = analyze_sleeps(sleeps, 3);

	(void)state;
	assert_string_equal(outcome.report->stalls[0].sites.wait, AT_HEAD);
	assert_string_equal(outcome.report->stalls[1].sites.wait, "other+0x1;main+0x80");
	assert_null(outcome.report->stalls[2].sites.wait);
	pipeline__free(outcome.pipeline);
}

/* A sleep by a condition variable: its lock may be waited for at another time, and is let go then.
 */
static void nobody_releases_a_time_out(void **state)
{
	struct outcome outcome = analyze(feed__text(
		SETTING
		"0 stack id=4 text=try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues\n"
		"40.9 call tgid=10 tid=12 what=release off=1 syscall=202 slept=11 stack_id=3\n"
		"41 wait tgid=10 tid=11 off=1 wake=41 state=1 syscall=202 waker_stack_id=4\n"
		"50 call tgid=10 tid=11 what=wait off=50 syscall=202 stack_id=1\n"
		"90 wait tgid=10 tid=11 off=50 wake=90 state=1 syscall=202 waker_stack_id=4\n"
		"200 end\n"));

	(void)state;
	assert_int_equal(outcome.stall->cause, CAUSE_TIMER);
	assert_string_equal(outcome.stall->sites.wait, AT_HEAD);
	assert_null(outcome.stall->sites.lock);
	assert_null(outcome.stall->sites.release);
	pipeline__free(outcome.pipeline);
}

static void a_window_is_not_where_it_was_written(void **state)
{
	struct feed feed = feed__text(SETTING);
	struct outcome outcome;

	(void)state;
	add_request(&feed, 1, 1000, 40, 136, "rwnd");
	add_call(&feed, 60, 1, 5040, 40, 1, 0);
	add_call(&feed, 60.1, 1, 5176, 136, 2, 1);
	outcome = analyze(feed);
	assert_sites(outcome.stall, NULL, NULL);
	pipeline__free(outcome.pipeline);
}

static void the_oldest_call_makes_room(void **state)
{
	struct feed feed = feed__text(SETTING);
	struct outcome outcome;

	(void)state;
	add_request(&feed, 1, 1000, 40, 136, "nagle");
	add_call(&feed, 1.1, 1, 1176, 136, 2, 1);
	for (unsigned i = 0; i < SITES_CALLS; i++)
		add_call(&feed, 2 + i, 1, 5000 + i, 7, 3, 0);
	outcome = analyze(feed);
	assert_sites(outcome.stall, NULL, NULL);
	pipeline__free(outcome.pipeline);
}

static void described(const char *frames, const char *wanted)
{
	char text[SITE_TEXT];

	assert_string_equal(site__describe(text, sizeof(text), frames), wanted);
}

static void a_site_begins_and_ends_in_the_program(void **state)
{
	(void)state;
	described(AT_HEAD, "put_head+0x1c <- exchange+0x33 <- main+0x80");
	described("__send+0x5;[libc.so.6]+0x8eae2;_IO_do_write+0x9;fflush+0x7;say+0x4;main+0x1",
		  "fflush+0x7 <- say+0x4 <- main+0x1");
	described("a+0x1;b+0x2;c+0x3;d+0x4;e+0x5;f+0x6", "a+0x1 <- b+0x2 <- c+0x3 <- ...");
	described("a+0x1;b+0x2;c+0x3;d+0x4;e+0x5;start_thread+0x6;__clone3+0x7",
		  "a+0x1 <- b+0x2 <- c+0x3 <- ...");
}

static void a_stripped_program_keeps_addresses(void **state)
{
	(void)state;
	described("write+0x10;[server]+0x1234;[server]+0x2345;[libc.so.6]+0x2724a",
		  "[server]+0x1234 <- [server]+0x2345");
	described("write+0x10;[libfoo.so.1]+0x99;main+0x3", "[libfoo.so.1]+0x99 <- main+0x3");
}

static void what_is_odd_stays_readable(void **state)
{
	char text[16];

	(void)state;
	described("", "");
	described("[the process was gone]", "[the process was gone]");
	described("write+0x10", "write+0x10");
	described("_start+0x1", "_start+0x1");
	described("a\033[2Jb+0x1", "a\\x1b[2Jb+0x1");
	described("+0x1;;+", "+0x1 <- +");
	site__describe(text, sizeof(text), "a_function_with_a_long_name+0x1;b+0x1");
	assert_string_equal(text, "a_function_with");
}

static void placed(const char *frames, const char *file, unsigned line)
{
	struct site_place place = {0};

	assert_int_equal(site__place(frames, NULL, &place), file != NULL);
	if (file) {
		assert_string_equal(place.file, file);
		assert_int_equal(place.line, line);
	}
}

static void the_place_is_the_programs_own_line(void **state)
{
	(void)state;
	placed("__send+0x5 (../sysdeps/unix/send.c:28);put+0x1c (src/client.c:88);main+0x80 (a.c:9)",
	       "src/client.c", 88);
	placed("write+0x5;[libssl.so.3]+0x99;put+0x1c (/src/c++/client.cc:88)",
	       "/src/c++/client.cc", 88);
	placed("std::f(int (*)(char))+0x1c (a (copy)/x+0x2.cc:7)", "a (copy)/x+0x2.cc", 7);
	placed("inlined (lib/x.h:3);put+0x1c (b.c:1)", "lib/x.h", 3);
	placed("put+0x1c;main+0x80;__libc_start_main+0x1 (csu/libc-start.c:3)", NULL, 0);
	placed("put+0x1c (client.c:0);main+0x80 (client.c)", NULL, 0);
	placed("(:1);(:);) (;f (g:)", NULL, 0);
	placed("", NULL, 0);
	placed(NULL, NULL, 0);
	described(
		"__send+0x5 (../send.c:28);put+0x1c (src/client.c:88);__libc_start_main+0x1 (c:3)",
		"put (client.c:88)");
	described("net::send (/src/a/b.cc:9);put+0x1c (c.cc:88);main+0x1",
		  "net::send (b.cc:9) <- put (c.cc:88) <- main+0x1");
	described(
		"__GI___libc_write (../sysdeps/write.c:26);write+0x5 (../sysdeps/write.c:24);"
		"put+0x1;start_thread+0x305 (nptl/pthread_create.c:442)",
		"put+0x1");
}

static void paired(const char *first, const char *second, const char *both, const char *one,
		   const char *other)
{
	struct site_pair pair;

	assert_true(site__pair(first, second, &pair));
	assert_string_equal(pair.both, both);
	assert_string_equal(pair.first, one);
	assert_string_equal(pair.second, other);
}

static void two_writes_are_one_picture(void **state)
{
	struct site_pair pair;

	(void)state;
	paired("write+0x5 [libc.so.6];head (s.c:40);handle (s.c:90);main (s.c:9)",
	       "write+0x5 [libc.so.6];body (s.c:61);handle (s.c:95);main (s.c:9)",
	       "handle (s.c) <- main (s.c:9)", "head (s.c:40), called at s.c:90",
	       "body (s.c:61), called at s.c:95");
	/* One function with two calls. */
	paired("write+0x5 [libc.so.6];handle (s.c:90);main (s.c:9)",
	       "write+0x5 [libc.so.6];handle (s.c:95);main (s.c:9)", "handle (s.c) <- main (s.c:9)",
	       "at s.c:90", "at s.c:95");
	/* By a helper of its own, and one of them by a function more. */
	paired("write+0x5 [libc.so.6];put (p.c:4);head (s.c:40);handle (s.c:90)",
	       "write+0x5 [libc.so.6];put (p.c:4);handle (s.c:95)", "handle (s.c)",
	       "head (s.c:40), called at s.c:90, through put", "at s.c:95, through put");
	/* The same line: a loop. */
	paired("write+0x5 [libc.so.6];put (p.c:4);main (s.c:9)",
	       "write+0x5 [libc.so.6];put (p.c:4);main (s.c:9)", "put (p.c:4) <- main (s.c:9)", "",
	       "");
	/* Go's, with its standard library in the program itself. */
	paired("internal/runtime/syscall.Syscall6 (a.s:1);syscall.write (z.go:5);"
	       "net.(*conn).Write (net.go:183);main.send (srv.go:14);main.main (srv.go:30);"
	       "runtime.main (proc.go:250)",
	       "internal/runtime/syscall.Syscall6 (a.s:1);syscall.write (z.go:5);"
	       "net.(*conn).Write (net.go:183);main.send (srv.go:15);main.main (srv.go:30);"
	       "runtime.main (proc.go:250)",
	       "main.send (srv.go) <- main.main (srv.go:30)",
	       "at srv.go:14, through net.(*conn).Write",
	       "at srv.go:15, through net.(*conn).Write");
	/* Inlined, so that each call is at an address of its own. */
	paired("write+0x5 [libc.so.6];put (s.rs:6);main+0x10 (s.rs:25)",
	       "write+0x5 [libc.so.6];put (s.rs:7);main+0x24 (s.rs:25)",
	       "put (s.rs) <- main (s.rs:25)", "at s.rs:6", "at s.rs:7");
	/* Without debug information. */
	paired("write+0x5 [libc.so.6];head+0x4;handle+0x90",
	       "write+0x5 [libc.so.6];body+0x4;handle+0x95", "handle",
	       "head+0x4, called at handle+0x90", "body+0x4, called at handle+0x95");
	/* V8 says of a function where it begins. */
	assert_true(site__pair(
		"write+0x5 [libc.so.6];writeGeneric+0x9 (node:net:148);request+0xdc (/srv/n.js:8)",
		"write+0x5 [libc.so.6];writeGeneric+0x9 (node:net:148);request+0xdc (/srv/n.js:8)",
		&pair));
	assert_string_equal(pair.both, "request (n.js:8), through writeGeneric");
	assert_true(pair.by_function);
	assert_false(site__pair("a+0x1", "b+0x1", &pair));
	assert_false(site__pair("a+0x1", NULL, &pair));
	assert_false(site__pair("write+0x5 [libc.so.6];f+0x1 [python3.11]",
				"write+0x5 [libc.so.6];f+0x1 [python3.11]", &pair));
}

static void generated_code_without_names_has_a_hint(void **state)
{
	(void)state;
	assert_string_equal(site__names_hint("write+0x1 [libc.so.6];[jit];Builtins_X+0x1 [node]"),
			    "run it with node --perf-basic-prof --interpreted-frames-native-stack");
	assert_non_null(
		site__names_hint("write+0x1 [libc.so.6];NET_Send+0x1 [libnet.so];[jit];"
				 "JavaCalls::call+0x4 [libjvm.so]"));
	assert_null(site__names_hint("write+0x1 [libc.so.6];request+0xdc (/n.js:8);B+0x1 [node]"));
	assert_non_null(site__names_hint("[beam.smp]+0x1 [beam.smp];[jit]"));
	assert_null(site__names_hint("[beam.smp]+0x1 [beam.smp];$global::call_shared+0x1"));
	assert_null(site__names_hint("write+0x1 [libc.so.6];main+0x1"));
}

static void others_code_is_folded(void **state)
{
	(void)state;
	described("write+0x5 [libc.so.6];SSL_write+0x9 [libssl.so.3];say (a.c:4);main (a.c:9)",
		  "say (a.c:4) <- main (a.c:9), through SSL_write");
	described("send (a.c:4);main (a.c:9)", "send (a.c:4) <- main (a.c:9)");
	described(
		"write+0x5 [libc.so.6];std::ostream::flush+0x4 [libstdc++.so.6];"
		"std::endl (/usr/include/c++/12/ostream:9);say (a.cc:4)",
		"say (a.cc:4), through std::endl");
	described("write+0x5;log.constprop.0+0x4;main+0x9", "log.constprop.0+0x4 <- main+0x9");
	described("write+0x5 [libc.so.6];sock_send+0x4 [python3.11];call+0x1 [python3.11]",
		  "sock_send+0x4 <- call+0x1");
	described(
		"Syscall6 (/usr/lib/go-1.19/src/x.s:1);github.com/a/b.Do (/go/pkg/mod/b@v1/b.go:7);"
		"main.f (/src/f.go:2)",
		"main.f (f.go:2), through github.com/a/b.Do");
	/* Rust's crates: by where their source lies, or by name where none is known. */
	described(
		"send+0x1 [libc.so.6];<&mio::net::TcpStream as std::io::Write>::write::{{closure}} "
		"(/usr/share/cargo/registry/mio-0.8.4/src/net/tcp/stream.rs:306);"
		"<&mut T as tokio::io::AsyncWrite>::poll_write+0x4;ask::{{closure}} (/src/main.rs:5)",
		"ask::{{closure}} (main.rs:5), through <&mut T as tokio::io::AsyncWrite>::poll_write");
	described(
		"send+0x1 [libc.so.6];<tokio::net::TcpStream as tokio::io::AsyncWrite>::poll_write+0x9;"
		"<app::Conn as tokio::io::AsyncWrite>::poll_write+0x4;tokio_app::main+0x7",
		"<app::Conn as tokio::io::AsyncWrite>::poll_write+0x4 <- tokio_app::main+0x7, "
		"through <tokio::net::TcpStream as tokio::io::AsyncWrite>::poll_write");
	described("write+0x5 [libc.so.6];mio::say (/src/a.cc:4)", "mio::say (a.cc:4)");
}

/* A helper that does both writes is not what is to be changed. */
static void the_place_is_where_the_two_writes_part(void **state)
{
	static const char *const first =
		"write+0x10 (../sysdeps/write.c:26);flow (flow.c:41);head+0x4 (rpc.c:88);main+0x1 (m.c:2)";
	static const char *const second =
		"write+0x10 (../sysdeps/write.c:26);flow (flow.c:41);body+0x4 (rpc.c:91);main+0x1 (m.c:2)";
	static const char *const bare =
		"write+0x10 (../sysdeps/write.c:26);flow (flow.c:41);other+0x1;start_thread+0x1";
	struct site_place place;

	(void)state;
	assert_true(site__place(first, second, &place));
	assert_string_equal(place.file, "rpc.c");
	assert_int_equal(place.line, 88);
	assert_true(site__place(second, first, &place));
	assert_int_equal(place.line, 91);
	assert_true(site__place(first, first, &place)); /* they never part */
	assert_int_equal(place.line, 41);
	assert_true(site__place(bare, first, &place)); /* nothing is known of where they do */
	assert_int_equal(place.line, 41);
	assert_false(site__place(NULL, first, &place));
}

/* What looks tell, a letter each: 'a' and 'b' are found in functions of these names, called by
 * main(). */
static void looked(const char *looks, const char *place, const char *row)
{
	struct call_sites sites = {.busy_count = strlen(looks)};
	char text[SITE_TEXT], *seen;
	struct site_row rows[SITE_ROWS];

	for (size_t i = 0; looks[i]; i++)
		sites.busy_looks[i] = looks[i] == 'a'   ? "a (x.c:1);main (x.c:9)"
				      : looks[i] == 'b' ? "b (x.c:2);main (x.c:8)"
							: "[jit]";
	sites.busy = sites.busy_looks[0];
	seen = site__busy_place(text, sizeof(text), &sites);
	if (place) {
		assert_non_null(seen);
		assert_string_equal(seen, place);
	} else {
		assert_null(seen);
	}
	site__rows(&sites, false, rows);
	assert_string_equal(site__describe_row(text, sizeof(text), &rows[SITE_ROWS - 1]), row);
}

/* Of two functions with half of the time each one is found more often. */
static void a_few_looks_name_no_function_of_many(void **state)
{
	(void)state;
	looked("a", "a (x.c)", "a (x.c:1) <- main (x.c:9)");
	looked("aaa", "a (x.c)", "3 of 3 looks: a (x.c:1) <- main (x.c:9)");
	looked("aab", "what main (x.c) calls",
	       "3 of 3 looks: what main (x.c) calls, in none of it mostly");
	looked("abbabab", "what main (x.c) calls",
	       "7 of 7 looks: what main (x.c) calls, in none of it mostly");
	looked("aabaaaaa", "a (x.c)", "7 of 8 looks: a (x.c:1) <- main (x.c:9)");
	looked("aaj", NULL, "2 of 3 looks, which may be chance: a (x.c:1) <- main (x.c:9)");
	looked("aaaaaaaaaaaaaaaaaaaa", "a (x.c)",
	       "20 of 20 looks (84 to 100%): a (x.c:1) <- main (x.c:9)");
	looked("aaabaaabaaabaaaaaaaaaaaa", "a (x.c)",
	       "21 of 24 looks (69 to 96%): a (x.c:1) <- main (x.c:9)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_own_calls_are_taken),
		cmocka_unit_test(a_later_stall_of_the_same_sizes_serves),
		cmocka_unit_test(other_sizes_and_connections_do_not_serve),
		cmocka_unit_test(writes_of_one_size_are_told_apart),
		cmocka_unit_test(a_cork_has_no_first_write),
		cmocka_unit_test(a_wait_has_the_place_of_those_like_it),
		cmocka_unit_test(a_guessed_connection_takes_no_place_away),
		cmocka_unit_test(a_wait_has_no_place_where_they_differ),
		cmocka_unit_test(nobody_releases_a_time_out),
		cmocka_unit_test(a_window_is_not_where_it_was_written),
		cmocka_unit_test(the_oldest_call_makes_room),
		cmocka_unit_test(a_site_begins_and_ends_in_the_program),
		cmocka_unit_test(a_stripped_program_keeps_addresses),
		cmocka_unit_test(what_is_odd_stays_readable),
		cmocka_unit_test(the_place_is_the_programs_own_line),
		cmocka_unit_test(two_writes_are_one_picture),
		cmocka_unit_test(others_code_is_folded),
		cmocka_unit_test(generated_code_without_names_has_a_hint),
		cmocka_unit_test(the_place_is_where_the_two_writes_part),
		cmocka_unit_test(a_few_looks_name_no_function_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
