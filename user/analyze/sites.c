// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"

/* Frames of the program that a person is shown; the JSON has them all. */
#define SHOWN_FRAMES 5

struct calls {
	size_t count; /* ever */
	struct ns_call v[SITES_CALLS];
};

struct sites {
	struct table *conns;
};

struct sites *sites__new(void)
{
	struct sites *sites = xcalloc(1, sizeof(*sites));

	sites->conns = table__new(SITES_CONNS);
	return sites;
}

void sites__free(struct sites *sites)
{
	if (!sites)
		return;
	table__free(sites->conns, free);
	free(sites);
}

void sites__learn(struct sites *sites, const struct ns_call *call)
{
	struct calls *calls = table__get(sites->conns, call->head.conn);

	if (!call->stack_id)
		return;
	if (!calls) {
		calls = xcalloc(1, sizeof(*calls));
		if (!table__put(sites->conns, call->head.conn, calls)) {
			free(calls);
			return;
		}
	}
	calls->v[calls->count++ % SITES_CALLS] = *call;
}

/* ---- which call was it ---- */

/* What is known of the write whose call is sought. */
struct wanted {
	bool known;
	uint32_t write_seq;
	uint32_t bytes;
	uint32_t held;
};

/* The very same write, else the latest of the same size that went the same way. */
static const struct ns_call *find(const struct calls *calls, const struct wanted *wanted)
{
	const struct ns_call *like = NULL;
	size_t kept = calls->count < SITES_CALLS ? calls->count : SITES_CALLS;

	for (size_t i = 0; wanted->known && i < kept; i++) {
		const struct ns_call *call = &calls->v[i];

		if (call->write_seq == wanted->write_seq && call->bytes == wanted->bytes)
			return call;
		if (call->bytes == wanted->bytes && call->held == wanted->held &&
		    (!like || call->head.ts >= like->head.ts))
			like = call;
	}
	return like;
}

static struct wanted first_of(const struct stall *stall)
{
	const struct ns_send *first = &stall->first;
	struct wanted wanted = {.known = first->head.type || stall->hold.head.type,
				.write_seq = stall->hold.seq,
				.bytes = stall->hold.unacked};

	if (first->head.type) {
		wanted.write_seq = first->write_seq;
		wanted.bytes = first->bytes;
	}
	return wanted;
}

static struct wanted second_of(const struct stall *stall)
{
	const struct ns_send *second = &stall->second;
	struct wanted wanted = {.known = second->head.type || stall->held_bytes,
				.write_seq = stall->hold.end,
				.bytes = stall->held_bytes,
				.held = 1};

	if (second->head.type) {
		wanted.write_seq = second->write_seq;
		wanted.bytes = second->bytes;
	}
	return wanted;
}

void sites__join(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct calls *calls = stall->conn ? table__get(sites->conns, stall->conn) : NULL;
	bool nagle = stall->reason == NS_HOLD_NAGLE;
	struct wanted first = first_of(stall), second = second_of(stall);
	const struct ns_call *call;

	if (!calls || !stall->held_bytes)
		return;
	if (!nagle && stall->reason != NS_HOLD_CORK && stall->reason != NS_HOLD_MSG_MORE)
		return;
	/* A cork holds by itself: what was written before it is of no matter. */
	call = nagle && !stall->first_site ? find(calls, &first) : NULL;
	if (call)
		stall->first_site = model__stack(model, call->stack_id);
	call = stall->second_site ? NULL : find(calls, &second);
	if (call)
		stall->second_site = model__stack(model, call->stack_id);
}

/* ---- in words ---- */

struct frame {
	const char *text;
	size_t len; /* of text, with its offset */
	size_t name_len;
};

static bool next_frame(const char **at, struct frame *frame)
{
	const char *plus;

	*at += strspn(*at, ";");
	if (!**at)
		return false;
	frame->text = *at;
	frame->len = strcspn(*at, ";");
	plus = memrchr(frame->text, '+', frame->len);
	frame->name_len = plus && plus != frame->text ? (size_t)(plus - frame->text) : frame->len;
	*at += frame->len;
	return true;
}

static bool is_named(const struct frame *frame, const char *const names[])
{
	const char *name = frame->text;
	size_t len = frame->name_len;

	while (len && *name == '_') {
		name++;
		len--;
	}
	for (; *names; names++)
		if (strlen(*names) == len && !strncmp(*names, name, len))
			return true;
	return false;
}

/* A frame without a name of its own: "[libc.so.6]+0x2724a". */
static bool is_in_libc(const struct frame *frame)
{
	static const char *const modules[] = {"[libc.so", "[libc-", "[libpthread", "[ld-musl"};

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (frame->len > strlen(modules[i]) &&
		    !strncmp(frame->text, modules[i], strlen(modules[i])))
			return true;
	return false;
}

/* The C library's way into the kernel: every program's sends end there. */
static bool is_wrapper(const struct frame *frame)
{
	static const char *const names[] = {
		"write",        "writev",          "pwritev2",
		"send",         "sendto",          "sendmsg",
		"sendmmsg",     "sendfile",        "sendfile64",
		"splice",       "syscall",         "libc_write",
		"libc_writev",  "libc_send",       "libc_sendto",
		"libc_sendmsg", "IO_file_write",   "IO_new_file_write",
		"IO_do_write",  "IO_new_do_write", "syscall_cp",
		"syscall_cp_c", "stdio_write",     NULL,
	};

	return is_named(frame, names) || is_in_libc(frame);
}

/* What stands before every program's own code. */
static bool is_startup(const struct frame *frame)
{
	static const char *const names[] = {"libc_start_main",
					    "libc_start_call_main",
					    "start",
					    "start_thread",
					    "clone",
					    "clone3",
					    NULL};

	return is_named(frame, names) || is_in_libc(frame);
}

static void add(char *dst, size_t size, const char *lead, const char *text, size_t len)
{
	char safe[TEXT_SAFE(96)];
	size_t used = strlen(dst);

	text__safe(safe, sizeof(safe), text, len < 96 ? len : 96);
	snprintf(dst + used, size - used, "%s%s", lead, safe);
}

char *site__describe(char *dst, size_t size, const char *frames)
{
	struct frame list[64], frame;
	size_t count = 0, from = 0, to, i;

	dst[0] = '\0';
	while (count < 64 && next_frame(&frames, &frame))
		list[count++] = frame;
	while (from < count && is_wrapper(&list[from]))
		from++;
	if (from == count)
		from = 0;
	for (to = count; to > from + 1 && is_startup(&list[to - 1]);)
		to--;
	for (i = from; i < to && i < from + SHOWN_FRAMES; i++)
		add(dst, size, i > from ? " <- " : "", list[i].text, list[i].len);
	if (i < to)
		add(dst, size, " <- ", "...", 3);
	return dst;
}

char *site__line(char *dst, size_t size, const struct stall *stall, unsigned index)
{
	const char *site = index ? stall->second_site : stall->first_site;
	char text[SITE_TEXT];
	const char *which = "first write";

	if (!site)
		return NULL;
	if (index)
		which = stall->reason == NS_HOLD_NAGLE ? "second write" : "held write";
	snprintf(dst, size, "%s: %s", which, site__describe(text, sizeof(text), site));
	return dst;
}
