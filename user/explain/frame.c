// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/frame.h"

#include <ctype.h>
#include <string.h>

#include "user/base/array.h"

/* ---- its parts ---- */

/* The offset at the end of text: "+0x1f"; len when there is none. */
static size_t offset_at(const char *text, size_t len)
{
	size_t digits = len;

	while (digits > 0 && isxdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits < len && digits > 3 && !memcmp(text + digits - 3, "+0x", 3))
		return digits - 3;
	return len;
}

/* The blank before " (path/file.c:123)" at the end of text; len when there is no such place. */
static size_t place_at(const char *text, size_t len)
{
	size_t digits = len - 1, open;

	if (len < 6 || text[len - 1] != ')')
		return len;
	while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits == len - 1 || digits < 2 || text[digits - 1] != ':')
		return len;
	/* A path may have parentheses, so that the first one behind the offset counts. */
	for (open = 1; open + 3 < digits; open++) {
		if (text[open] == ' ' && text[open + 1] == '(' &&
		    (offset_at(text, open) < open || !memmem(text + open, len - open, "+0x", 3)))
			return open;
	}
	return len;
}

/* The blank before " [libc.so.6]" at the end of text; len: there is none. */
static size_t module_at(const char *text, size_t len)
{
	size_t at = len;

	if (len < 4 || text[len - 1] != ']')
		return len;
	while (at > 1 && text[at - 1] != '[' && text[at - 1] != ' ')
		at--;
	return at > 1 && text[at - 1] == '[' && text[at - 2] == ' ' ? at - 2 : len;
}

/* ---- whose it is ---- */

static bool is_named(const struct frame *frame, const char *const names[])
{
	const char *name = frame->text;
	size_t len = frame->name_len;

	/* glibc calls its own functions by names of their own: __GI___libc_write. */
	for (size_t skip = 1; skip; name += skip, len -= skip)
		skip = len && *name == '_' ? 1 : len > 3 && !strncmp(name, "GI_", 3) ? 3 : 0;
	for (; *names; names++)
		if (strlen(*names) == len && !strncmp(*names, name, len))
			return true;
	return false;
}

/* A frame without a name of its own: "[libc.so.6]+0x2724a". */
static bool is_in_libc(const char *text, size_t len)
{
	static const char *const libs[] = {"[libc.so", "[libc-", "[libpthread", "[ld-musl"};

	for (size_t i = 0; i < COUNT_OF(libs); i++)
		if (len > strlen(libs[i]) && !strncmp(text, libs[i], strlen(libs[i])))
			return true;
	return false;
}

bool frame__is_wrapper(const struct frame *frame)
{
	static const char *const names[] = {
		"write",         "writev",
		"pwritev2",      "send",
		"sendto",        "sendmsg",
		"sendmmsg",      "sendfile",
		"sendfile64",    "splice",
		"syscall",       "libc_write",
		"libc_writev",   "libc_send",
		"libc_sendto",   "libc_sendmsg",
		"IO_file_write", "IO_new_file_write",
		"IO_do_write",   "IO_new_do_write",
		"syscall_cp",    "syscall_cp_c",
		"stdio_write",   "new_do_write",
		"libc_sendmmsg", NULL,
	};

	return is_named(frame, names) || is_in_libc(frame->text, frame->len);
}

bool frame__is_startup(const struct frame *frame)
{
	static const char *const names[] = {"libc_start_main",
					    "libc_start_main_impl",
					    "libc_start_call_main",
					    "start",
					    "start_thread",
					    "clone",
					    "clone3",
					    NULL};

	return is_named(frame, names) || is_in_libc(frame->text, frame->len);
}

/* What a module's name begins with. */
static const struct {
	const char *module;
	enum frame_class class;
} modules[] = {
	{"libc.so", FRAME_LIBC},       {"libc-", FRAME_LIBC},        {"libpthread", FRAME_LIBC},
	{"ld-linux", FRAME_LIBC},      {"ld-musl", FRAME_LIBC},      {"vdso", FRAME_LIBC},
	{"python", FRAME_RUNTIME},     {"libpython", FRAME_RUNTIME}, {"node", FRAME_RUNTIME},
	{"java", FRAME_RUNTIME},       {"libj", FRAME_RUNTIME},      {"libnio.so", FRAME_RUNTIME},
	{"libnet.so", FRAME_RUNTIME},  {"ruby", FRAME_RUNTIME},      {"libruby", FRAME_RUNTIME},
	{"perl", FRAME_RUNTIME},       {"php", FRAME_RUNTIME},       {"lua", FRAME_RUNTIME},
	{"libstdc++", FRAME_RUNTIME},  {"libgcc_s", FRAME_RUNTIME},  {"dotnet", FRAME_RUNTIME},
	{"libcoreclr", FRAME_RUNTIME}, {"beam", FRAME_RUNTIME},      {"mono", FRAME_RUNTIME},
	{"tclsh", FRAME_RUNTIME},      {"wish", FRAME_RUNTIME},      {"racket", FRAME_RUNTIME},
	{"swipl", FRAME_RUNTIME},      {"pypy", FRAME_RUNTIME},      {"sbcl", FRAME_RUNTIME},
	{"julia", FRAME_RUNTIME},      {"tarantool", FRAME_RUNTIME}, {"deno", FRAME_RUNTIME},
	{"bun", FRAME_RUNTIME},        {"libswipl", FRAME_RUNTIME},  {"libtcl", FRAME_RUNTIME},
	{"guile", FRAME_RUNTIME},      {"libguile", FRAME_RUNTIME},  {"liblua", FRAME_RUNTIME},
	{"libjulia", FRAME_RUNTIME},
};

/* What the name of a language's own function begins with, compiled into the program as they are. */
static const char *const runtime_names[] = {
	"std::",    "core::",    "alloc::", "__gnu_cxx::", "__rust", "rust_begin_unwind",
	"node:",    "$global::", "java.",   "javax.",      "jdk.",   "sun.",
	"com.sun.", "Ljava/",    "Ljdk/",   "Lsun/",
};

/* Crates of Rust that are linked into the program as they are; only those whose names mean nothing
 * else. */
/* clang-format off */
static const char *const crates[] = {
	"tokio", "tokio_util", "tokio_stream", "tokio_rustls", "tokio_native_tls", "tokio_postgres", "mio", "socket2",
	"hyper", "hyper_util", "h2", "reqwest", "ureq", "axum", "tonic", "quinn", "tungstenite", "rustls", "native_tls",
	"actix_rt", "actix_http", "actix_server", "actix_web", "futures_util", "futures_core", "futures_executor",
	"futures_channel", "async_std", "async_io", "async_executor", "async_global_executor", "parking_lot",
	"parking_lot_core", "rayon_core", "crossbeam_utils", "crossbeam_channel",
};
/* clang-format on */

/* Packages of Go's standard library, by the first part of their names. */
static const char *const go_packages[] = {
	"runtime",  "syscall", "internal", "net",      "os",       "io",     "bufio",   "fmt",
	"sync",     "time",    "crypto",   "encoding", "compress", "log",    "reflect", "context",
	"database", "vendor",  "bytes",    "strings",  "sort",     "errors", "mime",    "html",
	"text",     "testing", "archive",  "regexp",   "hash",     "iter",
};

/* A source lies there. */
static const struct {
	const char *part;
	bool begins;
	enum frame_class class;
} sources[] = {
	{"/node_modules/", false, FRAME_LIBRARY},    {"node:", true, FRAME_RUNTIME},
	{"/site-packages/", false, FRAME_LIBRARY},   {"/dist-packages/", false, FRAME_LIBRARY},
	{"/lib/python3", false, FRAME_RUNTIME},      {"<frozen ", true, FRAME_RUNTIME},
	{"/usr/include/c++/", true, FRAME_RUNTIME},  {"/usr/include/", true, FRAME_LIBRARY},
	{"/usr/lib/go", true, FRAME_RUNTIME},        {"/usr/share/go", true, FRAME_RUNTIME},
	{"/usr/local/go/src/", true, FRAME_RUNTIME}, {"/rustc/", true, FRAME_RUNTIME},
	{"/usr/src/", true, FRAME_LIBRARY},          {"/pkg/mod/", false, FRAME_LIBRARY},
	{"/.cargo/", false, FRAME_LIBRARY},          {"/cargo/registry/", false, FRAME_LIBRARY},
};

static bool begins(const char *text, size_t len, const char *with)
{
	size_t size = strlen(with);

	return len >= size && !memcmp(text, with, size);
}

/* "net.(*conn).Write", "internal/poll.(*FD).Write"; not "log.constprop.0", which a C compiler made.
 */
static bool is_of_go(const struct frame *frame)
{
	static const char *const clones[] = {"constprop", "isra", "part", "cold", "lto_priv"};

	for (size_t i = 0; i < COUNT_OF(go_packages); i++) {
		size_t len = strlen(go_packages[i]);
		const char *rest = frame->text + len + 1;

		if (frame->name_len <= len + 1 ||
		    !begins(frame->text, frame->name_len, go_packages[i]) ||
		    (rest[-1] != '.' && rest[-1] != '/'))
			continue;
		for (size_t j = 0; j < COUNT_OF(clones); j++)
			if (begins(rest, frame->name_len - len - 1, clones[j]))
				return false;
		return true;
	}
	return false;
}

/* Behind what Rust writes before a path: "<&mut T as tokio::io::AsyncWrite>::poll_write" is that
 * trait's. */
static struct frame without_receiver(const struct frame *frame)
{
	static const char *const leads[] = {"<", "&", "*", "mut ", "const ", "dyn "};
	struct frame path = *frame;
	const char *as;

	for (size_t i = 0; i < COUNT_OF(leads); i++) {
		size_t len = strlen(leads[i]);

		if (!begins(path.text, path.name_len, leads[i]))
			continue;
		path.text += len;
		path.name_len -= len;
		i = (size_t)-1;
	}
	as = *frame->text == '<' ? memmem(path.text, path.name_len, " as ", 4) : NULL;
	if (as && !memmem(path.text, (size_t)(as - path.text), "::", 2)) {
		path.name_len -= (size_t)(as + 4 - path.text);
		path.text = as + 4;
	}
	return path;
}

static bool is_of_crate(const struct frame *path)
{
	const char *end = memmem(path->text, path->name_len, "::", 2);

	for (size_t i = 0; end && i < COUNT_OF(crates); i++)
		if (strlen(crates[i]) == (size_t)(end - path->text) &&
		    begins(path->text, path->name_len, crates[i]))
			return true;
	return false;
}

static enum frame_class class_by_source(const struct frame *frame)
{
	const char *path = frame->text + frame->place + 2;
	size_t len = frame->len - frame->place - 2;

	for (size_t i = 0; frame->place < frame->len && i < COUNT_OF(sources); i++) {
		const char *part = sources[i].part;

		if (sources[i].begins ? begins(path, len, part)
				      : memmem(path, len, part, strlen(part)) != NULL)
			return sources[i].class;
	}
	return FRAME_OWN;
}

/* Linked into the program, it has no source there but its own: a program's send() has. */
static bool is_c_librarys(const struct frame *frame)
{
	const char *path = frame->text + frame->place + 2;

	return frame->place == frame->len || *frame->text == '_' ||
	       begins(path, frame->len - frame->place - 2, "../") ||
	       begins(path, frame->len - frame->place - 2, "csu/");
}

static enum frame_class class_of(const struct frame *frame)
{
	const struct frame path = without_receiver(frame);

	for (size_t i = 0; frame->module_len && i < COUNT_OF(modules); i++)
		if (begins(frame->module, frame->module_len, modules[i].module))
			return modules[i].class;
	if (frame->module_len)
		return FRAME_LIBRARY;
	if (is_c_librarys(frame) && (frame__is_wrapper(frame) || frame__is_startup(frame)))
		return FRAME_LIBC;
	/* Generated, and nobody wrote down its name, or in no file at all: that says nothing. */
	if (begins(frame->text, frame->name_len, "[jit]") ||
	    begins(frame->text, frame->name_len, "[unknown]"))
		return FRAME_RUNTIME;
	for (size_t i = 0; i < COUNT_OF(runtime_names); i++)
		if (begins(path.text, path.name_len, runtime_names[i]))
			return FRAME_RUNTIME;
	/* Without a source there is no more than the name. */
	if (frame->place == frame->len && is_of_crate(&path))
		return FRAME_LIBRARY;
	/* What Java makes of an expression, and calls its method. */
	if (memmem(frame->text, frame->name_len, "$$Lambda", strlen("$$Lambda")))
		return FRAME_RUNTIME;
	return is_of_go(frame) ? FRAME_RUNTIME : class_by_source(frame);
}

const char *frame_class__id(enum frame_class class)
{
	static const char *const ids[] = {"own", "library", "runtime", "libc"};

	return ids[class];
}

/* ---- lists ---- */

static bool next_frame(const char **at, struct frame *frame)
{
	size_t len;

	*at += strspn(*at, ";");
	if (!**at)
		return false;
	*frame = (struct frame){.text = *at};
	len = strcspn(*at, ";");
	*at += len;
	frame->len = module_at(frame->text, len);
	if (frame->len < len) {
		frame->module = frame->text + frame->len + 2;
		frame->module_len = len - frame->len - 3;
	}
	frame->place = place_at(frame->text, frame->len);
	frame->name_len = offset_at(frame->text, frame->place);
	frame->class = class_of(frame);
	return true;
}

size_t frames__list(const char *frames, struct frame list[FRAMES_MOST])
{
	size_t count = 0;

	while (frames && count < FRAMES_MOST && next_frame(&frames, &list[count]))
		count++;
	return count;
}

static size_t place_len(const struct frame *frame)
{
	return frame->len - frame->place;
}

bool frame__is_same(const struct frame *a, const struct frame *b)
{
	if (!place_len(a) || !place_len(b))
		return a->len == b->len && !memcmp(a->text, b->text, a->len);
	return place_len(a) == place_len(b) &&
	       !memcmp(a->text + a->place, b->text + b->place, place_len(a));
}

bool frame__is_nameless(const struct frame *frame)
{
	return *frame->text == '[';
}

bool frame__is_same_function(const struct frame *a, const struct frame *b)
{
	return !frame__is_nameless(a) && a->name_len == b->name_len &&
	       !memcmp(a->text, b->text, a->name_len);
}
