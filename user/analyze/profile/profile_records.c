// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/profile/profile_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/text.h"
#include "user/base/texts.h"
#include "user/base/xalloc.h"

_Static_assert(NS_PROFILE_LOSSES == PROFILE_LOST_KINDS, "each has its field");
_Static_assert((int)WAKER_IS_UNKNOWN == NS_PROFILE_WAKER_UNKNOWN &&
		       (int)WAKER_IS_THREAD == NS_PROFILE_WAKER_THREAD &&
		       (int)WAKER_IS_SOFTIRQ == NS_PROFILE_WAKER_SOFTIRQ &&
		       (int)WAKER_IS_IRQ == NS_PROFILE_WAKER_IRQ,
	       "wakers have the same numbers in records");

/* ---- written ---- */

struct writing {
	const struct profile *profile;
	struct texts *texts;
	void (*emit)(void *context, const void *record, size_t len);
	void *context;
};

static struct ns_head head_of(const struct writing *writing, uint32_t type)
{
	return (struct ns_head){
		.type = type, .len = record__size(type), .ts = writing->profile->end_ts};
}

static void write_about(const struct writing *writing)
{
	const struct profile *profile = writing->profile;
	struct ns_profile out = {.head = head_of(writing, NS_PROFILE),
				 .start_ts = profile->start_ts,
				 .wall_offset_ns = (uint64_t)profile->wall_offset_ns,
				 .least_ns = profile->least_ns,
				 .most_ns = profile->most_ns,
				 .sample_waits = profile->sample.waits,
				 .sample_ns = profile->sample.ns,
				 .sample_looked_at = profile->sample.looked_at,
				 .depth = profile->depth,
				 .per_thread = profile->per_thread,
				 .by_cause = profile->by_cause};

	out.runqueue_ns = profile->runqueue_ns;
	for (size_t i = 0; i < profile->entry_count; i++)
		out.runqueue_ns -= profile->entries[i].runqueue_ns;
	for (size_t kind = 0; kind < PROFILE_LOST_KINDS; kind++) {
		out.lost[kind] = profile->lost[kind].count;
		out.lost_ns[kind] = profile->lost[kind].ns;
	}
	print_to(out.target, "%s", profile->target);
	print_to(out.kernel, "%s", profile->kernel_release);
	print_to(out.arch, "%s", profile->arch);
	print_to(out.hidden, "%s", profile->hidden ? profile->hidden : "");
	writing->emit(writing->context, &out, sizeof(out));
}

/* How much of it goes into one record: whole frames, if there is a whole one. */
static size_t piece_of(const char *text)
{
	const char *cut;
	size_t len = strlen(text);

	if (len < NS_PROFILE_TEXT_MAX)
		return len;
	cut = memrchr(text, ';', NS_PROFILE_TEXT_MAX - 1);
	return cut && cut > text ? (size_t)(cut - text) : NS_PROFILE_TEXT_MAX - 1;
}

static void write_text(const struct writing *writing, uint32_t id, const char *text)
{
	struct ns_profile_text out = {.head = head_of(writing, NS_PROFILE_TEXT), .id = id};
	size_t piece;

	do {
		piece = piece_of(text);
		memset(out.text, 0, sizeof(out.text));
		memcpy(out.text, text, piece);
		writing->emit(writing->context, &out, sizeof(out));
		text += piece;
	} while (*text);
}

/* Its number. A new text is written. */
static uint32_t number_of(const struct writing *writing, const char *text)
{
	size_t before = texts__count(writing->texts);
	uint32_t id;

	if (!text)
		return 0;
	texts__keep(writing->texts, text);
	id = (uint32_t)texts__number(writing->texts, text);
	if (id > before)
		write_text(writing, id, text);
	return id;
}

static void write_wake(const struct writing *writing, const struct profile_hop *hop)
{
	struct ns_profile_wake out = {.head = head_of(writing, NS_PROFILE_WAKE),
				      .kind = hop->kind,
				      .kernel = number_of(writing, hop->kernel),
				      .user = number_of(writing, hop->user),
				      .wait_kernel = number_of(writing, hop->wait_kernel),
				      .wait_user = number_of(writing, hop->wait_user)};

	out.head.tgid = hop->pid;
	out.head.tid = hop->tid;
	print_to(out.comm, "%s", hop->name ? hop->name : "");
	writing->emit(writing->context, &out, sizeof(out));
}

/* A wake is of the entry that was written last: texts may stand between. */
static void write_entry(const struct writing *writing, const struct profile_entry *entry)
{
	struct ns_profile_entry out = {.head = head_of(writing, NS_PROFILE_ENTRY),
				       .count = entry->count,
				       .blocked_ns = entry->ns,
				       .runqueue_ns = entry->runqueue_ns,
				       .kernel = number_of(writing, entry->kernel),
				       .user = number_of(writing, entry->user),
				       .state = entry->state};

	out.head.tgid = entry->pid;
	out.head.tid = entry->tid;
	print_to(out.comm, "%s", entry->comm ? entry->comm : "");
	if (entry->has_cause)
		print_to(out.cause, "%s", profile__cause(entry->cause));
	writing->emit(writing->context, &out, sizeof(out));
	for (size_t i = 0; i < entry->hop_count; i++)
		write_wake(writing, &entry->hops[i]);
}

void profile__write(const struct profile *profile,
		    void (*emit)(void *context, const void *record, size_t len), void *context)
{
	const struct writing writing = {profile, texts__new(), emit, context};

	write_about(&writing);
	for (size_t i = 0; i < profile->entry_count; i++)
		write_entry(&writing, &profile->entries[i]);
	texts__free(writing.texts);
}

/* ---- read ---- */

#define TEXTS_MOST (1u << 20)
#define TEXT_MOST  (1u << 20) /* bytes of one */

struct profile_reader {
	struct profile *profile; /* NULL: none has come */
	struct table *texts;     /* char * by number */
	struct profile_entry entry;
	bool has_entry; /* it is to be added, with the wakes that have come */
};

struct profile_reader *profile_reader__new(void)
{
	struct profile_reader *reader = xcalloc(1, sizeof(*reader));

	reader->texts = table__new(TEXTS_MOST);
	return reader;
}

void profile_reader__free(struct profile_reader *reader)
{
	if (!reader)
		return;
	profile__free(reader->profile);
	table__free(reader->texts, free);
	free(reader);
}

static void add_entry(struct profile_reader *reader)
{
	if (reader->has_entry)
		profile__add(reader->profile, &reader->entry);
	reader->has_entry = false;
}

static void take_about(struct profile_reader *reader, const struct ns_profile *in)
{
	struct profile *profile = reader->profile;

	profile->start_ts = in->start_ts;
	profile->end_ts = in->head.ts;
	profile->wall_offset_ns = (int64_t)in->wall_offset_ns;
	profile->least_ns = in->least_ns;
	profile->most_ns = in->most_ns;
	profile->runqueue_ns = in->runqueue_ns;
	profile->sample =
		(struct profile_sample){in->sample_waits, in->sample_ns, in->sample_looked_at};
	profile->depth = in->depth;
	profile->per_thread = in->per_thread;
	profile->by_cause = in->by_cause;
	for (size_t kind = 0; kind < PROFILE_LOST_KINDS; kind++)
		profile->lost[kind] = (struct profile_loss){in->lost[kind], in->lost_ns[kind]};
	print_to(profile->target, "%s", in->target);
	print_to(profile->kernel_release, "%s", in->kernel);
	print_to(profile->arch, "%s", in->arch);
	profile->hidden = *in->hidden ? profile__text(profile, in->hidden) : NULL;
}

static void take_text(struct profile_reader *reader, const struct ns_profile_text *in)
{
	char *before = table__take(reader->texts, in->id), *text;

	if (before && strlen(before) + strlen(in->text) < TEXT_MOST)
		text = xasprintf("%s%s", before, in->text);
	else
		text = xstrdup(in->text);
	free(before);
	if (!table__put(reader->texts, in->id, text))
		free(text);
}

static const char *text_of(struct profile_reader *reader, uint32_t id)
{
	const char *text = id ? table__get(reader->texts, id) : NULL;

	return profile__text(reader->profile, id && !text ? PROFILE_LOST_STACK : text);
}

static void take_entry(struct profile_reader *reader, const struct ns_profile_entry *in)
{
	struct profile_entry *entry = &reader->entry;

	*entry = (struct profile_entry){.pid = in->head.tgid,
					.tid = in->head.tid,
					.comm = profile__text(reader->profile, in->comm),
					.state = in->state,
					.has_cause = *in->cause,
					.cause = cause__find(in->cause, strlen(in->cause)),
					.kernel = text_of(reader, in->kernel),
					.user = text_of(reader, in->user),
					.count = in->count,
					.ns = in->blocked_ns,
					.runqueue_ns = in->runqueue_ns};
	reader->has_entry = true;
}

static void take_wake(struct profile_reader *reader, const struct ns_profile_wake *in)
{
	struct profile_entry *entry = &reader->entry;

	if (!reader->has_entry || entry->hop_count == PROFILE_HOPS)
		return;
	entry->hops[entry->hop_count++] = (struct profile_hop){
		.kind = (enum waker_kind)in->kind,
		.pid = in->head.tgid,
		.tid = in->head.tid,
		.name = in->kind || *in->comm ? profile__text(reader->profile, in->comm) : NULL,
		.kernel = text_of(reader, in->kernel),
		.user = text_of(reader, in->user),
		.wait_kernel = text_of(reader, in->wait_kernel),
		.wait_user = text_of(reader, in->wait_user)};
}

bool profile_reader__is_its(uint32_t type)
{
	return type == NS_PROFILE || type == NS_PROFILE_TEXT || type == NS_PROFILE_ENTRY ||
	       type == NS_PROFILE_WAKE;
}

void profile_reader__take(struct profile_reader *reader, const union record *record)
{
	uint32_t type = record->head.type;

	if (!profile_reader__is_its(type))
		return;
	if (!reader->profile)
		reader->profile = profile__new();
	if (type != NS_PROFILE_TEXT && type != NS_PROFILE_WAKE)
		add_entry(reader);
	if (type == NS_PROFILE)
		take_about(reader, &record->profile);
	else if (type == NS_PROFILE_TEXT)
		take_text(reader, &record->profile_text);
	else if (type == NS_PROFILE_ENTRY)
		take_entry(reader, &record->profile_entry);
	else
		take_wake(reader, &record->profile_wake);
}

struct profile *profile_reader__finish(struct profile_reader *reader, bool by_cause)
{
	struct profile *profile = reader->profile;

	if (!profile)
		return NULL;
	add_entry(reader);
	profile->by_cause &= by_cause;
	for (size_t i = 0; i < profile->entry_count; i++)
		profile->entries[i].has_cause &= profile->by_cause;
	profile__finish(profile);
	reader->profile = NULL;
	return profile;
}
