// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/profile/frames.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "user/base/text.h"

/* Where the blank stands before a number that ends the text, else NULL. */
static char *blank_before_number(char *text)
{
	char *at = text + strlen(text);
	bool digit = false;

	while (at > text && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
		digit |= isdigit((unsigned char)*--at) != 0;
	return digit && at > text && at[-1] == ' ' ? at - 1 : NULL;
}

void frame__text(char *dst, const char *text, size_t bytes)
{
	char *blank;

	text__safe(dst, FRAME_TEXT, text, bytes < FRAME_BYTES ? bytes : FRAME_BYTES);
	for (char *at = dst; *at; at++) {
		if (*at == ';')
			*at = ':';
	}
	if (*dst && dst[strlen(dst) - 1] == ' ')
		dst[strlen(dst) - 1] = '_';
	if ((blank = blank_before_number(dst)))
		*blank = '_';
	if (!*dst)
		strcpy(dst, "[no name]");
	else if (!strcmp(dst, "-") || !strcmp(dst, "--"))
		memset(dst, '_', strlen(dst));
}

struct output {
	const struct profile *profile;
	frames_sink *sink;
	void *context;
	unsigned hop;
};

static void emit(const struct output *output, enum frame_kind kind, const char *text, size_t bytes)
{
	char safe[FRAME_TEXT];

	frame__text(safe, text, bytes);
	output->sink(output->context, kind, output->hop, safe);
}

static void leaf_to_root(const struct output *output, enum frame_kind kind, const char *stack)
{
	while (stack && *stack) {
		size_t bytes = strcspn(stack, ";");

		if (bytes)
			emit(output, kind, stack, bytes);
		stack += bytes + (stack[bytes] == ';');
	}
}

static void root_to_leaf(const struct output *output, enum frame_kind kind, const char *stack)
{
	const char *end = stack ? stack + strlen(stack) : NULL;

	while (end > stack) {
		const char *begin = end;

		while (begin > stack && begin[-1] != ';')
			begin--;
		if (end > begin)
			emit(output, kind, begin, (size_t)(end - begin));
		end = begin > stack ? begin - 1 : stack;
	}
}

static void delimit(const struct output *output, const char *kernel, const char *user)
{
	if (output->profile->delimited && kernel && *kernel && user && *user)
		output->sink(output->context, FRAME_DELIMITER, output->hop, "-");
}

/* Threads that are kept apart are called by their number too: many have one name. */
static void emit_thread(const struct output *output, enum frame_kind kind, const char *comm,
			uint32_t tid)
{
	char name[FRAME_BYTES];

	print_to(name, "%s", comm ? comm : "");
	if (output->profile->per_thread && tid)
		add_to(name, "", "/%u", tid);
	emit(output, kind, name, sizeof(name));
}

static void emit_sleeper(const struct output *output, const struct profile_entry *entry)
{
	emit_thread(output, FRAME_THREAD, entry->comm, entry->tid);
	if (output->profile->by_cause && entry->has_cause) {
		const char *id = profile__cause(entry->cause);

		emit(output, FRAME_CAUSE, id, strlen(id));
	}
	root_to_leaf(output, FRAME_USER, entry->user);
	delimit(output, entry->kernel, entry->user);
	root_to_leaf(output, FRAME_KERNEL, entry->kernel);
}

static void emit_hop(const struct output *output, const struct profile_hop *hop)
{
	static const char nobody[] = "[unknown waker]";

	output->sink(output->context, FRAME_SEPARATOR, output->hop, "--");
	leaf_to_root(output, FRAME_WAKER_KERNEL, hop->kernel);
	delimit(output, hop->kernel, hop->user);
	leaf_to_root(output, FRAME_WAKER_USER, hop->user);
	if (hop->kind == WAKER_IS_UNKNOWN)
		emit(output, FRAME_WAKER, nobody, sizeof(nobody));
	else
		emit_thread(output, FRAME_WAKER, hop->name,
			    hop->kind == WAKER_IS_THREAD ? hop->tid : 0);
}

void frames__of(const struct profile *profile, const struct profile_entry *entry, frames_sink *sink,
		void *context)
{
	struct output output = {.profile = profile, .sink = sink, .context = context};

	emit_sleeper(&output, entry);
	for (size_t i = 0; i < entry->hop_count && i < PROFILE_HOPS; i++) {
		output.hop = (unsigned)i + 1;
		emit_hop(&output, &entry->hops[i]);
	}
}
