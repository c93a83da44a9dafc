// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The places of an off-CPU profile, read from the kernel's tables, their stacks made text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/source/offcpu_parts.h"
#include "user/symbols/python/python.h"

#define STACK_TEXT RESOLVER_TEXT

struct offcpu_texts {
	struct offcpu *offcpu;
	struct offcpu_place *places; /* sorted by number */
	size_t count, room;
	char text[STACK_TEXT];
};

static int by_number(const void *a, const void *b)
{
	const struct offcpu_place *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

struct offcpu_texts *offcpu_texts__read(struct offcpu *offcpu)
{
	struct offcpu_texts *texts = xcalloc(1, sizeof(*texts));
	int fd = bpf_map__fd(offcpu->session->skel->maps.places);
	struct ns_offcpu_place_key key, *last = NULL;
	struct ns_offcpu_place place;

	texts->offcpu = offcpu;
	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &place))
			continue;
		texts->places =
			xgrow(texts->places, texts->count, &texts->room, sizeof(*texts->places));
		texts->places[texts->count++] = (struct offcpu_place){.key = key, .id = place.id};
	}
	sort_array(texts->places, texts->count, sizeof(*texts->places), by_number);
	return texts;
}

void offcpu_texts__free(struct offcpu_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->places[i].kernel);
		free(texts->places[i].user);
	}
	free(texts->places);
	free(texts);
}

static size_t read_stack(const struct offcpu_texts *texts, __u64 hash, struct ns_offcpu_stack *out)
{
	size_t count = 0;

	if (hash <= NS_OFFCPU_LOST_STACK ||
	    bpf_map_lookup_elem(bpf_map__fd(texts->offcpu->session->skel->maps.stacks), &hash, out))
		return 0;
	while (count < NS_OFFCPU_FRAMES && out->frames[count])
		count++;
	return count;
}

static char *kernel_text(struct offcpu_texts *texts, struct offcpu_place *place)
{
	struct ns_offcpu_stack stack;
	size_t count = read_stack(texts, place->key.kernel, &stack);

	if (place->key.kernel == NS_OFFCPU_LOST_STACK) {
		place->lost = true;
		return xstrdup(PROFILE_LOST_STACK);
	}
	if (!count || !kallsyms__stack(texts->offcpu->session->kallsyms, stack.frames, count,
				       texts->text, sizeof(texts->text)))
		return NULL;
	return xstrdup(texts->text);
}

/* Addresses of the user stack, by frame pointers or unwound. */
static size_t user_frames(struct offcpu_texts *texts, const struct offcpu_place *place,
			  struct ns_offcpu_stack *stack, const uint64_t **out)
{
	struct offcpu *offcpu = texts->offcpu;
	const struct unwound_spot spot = {place->key.tgid, place->key.ip, place->key.sp};
	const struct offcpu_seed *seed =
		place->key.kind == NS_OFFCPU_SEED ? table__get(offcpu->seeds, place->id) : NULL;
	size_t count = read_stack(texts, place->key.user, stack);

	*out = (const uint64_t *)stack->frames;
	if (seed) {
		*out = seed->frames;
		count = seed->count;
	}
	if (offcpu->unwound)
		return unwound__stack(offcpu->unwound, place->id, &spot, *out, count, out);
	return count;
}

/* Of "send (/srv/app.py:21)", where lines were not asked for: "send (app.py)". */
static char *without_lines(const char *functions)
{
	char *out = xcalloc(1, strlen(functions) + 2), *to = out;

	for (const char *at = functions, *end; *at; at = end + (*end == ';')) {
		const char *place, *slash, *colon;

		end = strchrnul(at, ';');
		place = memmem(at, (size_t)(end - at), " (", 2);
		slash = place ? memrchr(place, '/', (size_t)(end - place)) : NULL;
		colon = place ? memrchr(place, ':', (size_t)(end - place)) : NULL;
		if (!colon || (slash && slash > colon)) {
			to += sprintf(to, "%.*s;", (int)(end - at), at);
			continue;
		}
		slash = slash ? slash + 1 : place + 2;
		to += sprintf(to, "%.*s (%.*s);", (int)(place - at), at, (int)(colon - slash),
			      slash);
	}
	if (to > out)
		to[-1] = '\0';
	return out;
}

/* "name [libc.so.6]": "name" */
static void drop_modules(char *stack)
{
	char *to = stack;

	for (const char *at = stack, *end; *at; at = end) {
		const char *module = NULL;

		end = strchrnul(at, ';');
		if (end[-1] == ']' && *at != '[')
			module = memmem(at, (size_t)(end - at), " [", 2);
		end += *end == ';';
		memmove(to, at, (size_t)((module ? module : end) - at));
		to += (module ? module : end) - at;
		if (module && end[-1] == ';')
			*to++ = ';';
	}
	*to = '\0';
}

/* NULL: CPython runs nothing there that has names. */
static const char *functions_of(const struct offcpu *offcpu, const struct offcpu_place *place)
{
	const struct offcpu_seed *seed =
		place->key.kind == NS_OFFCPU_SEED ? table__get(offcpu->seeds, place->id) : NULL;

	return offcpu_python__text(offcpu, seed ? seed->python : place->key.python);
}

/* The user side of a place where CPython runs functions. */
static char *python_text(struct offcpu_texts *texts, const struct offcpu_place *place,
			 const uint64_t *frames, size_t count, const char *functions)
{
	const struct offcpu *offcpu = texts->offcpu;
	bool lines = offcpu->options.lines;
	char *of_python = lines ? xstrdup(functions) : without_lines(functions);

	texts->text[0] = '\0';
	if (count)
		resolver__stack(offcpu->session->options.resolver, place->pid, frames, count,
				SYMBOLS_MODULES | (lines ? SYMBOLS_LINES : 0), texts->text,
				sizeof(texts->text));
	python_text__join(texts->text, sizeof(texts->text), of_python);
	free(of_python);
	drop_modules(texts->text);
	return xstrdup(texts->text);
}

static char *user_text(struct offcpu_texts *texts, struct offcpu_place *place)
{
	const struct offcpu *offcpu = texts->offcpu;
	struct ns_offcpu_stack stack;
	const char *functions;
	const uint64_t *frames;
	size_t count;

	if (offcpu->options.no_user_stacks)
		return NULL;
	count = user_frames(texts, place, &stack, &frames);
	functions = functions_of(offcpu, place);
	if (functions)
		return python_text(texts, place, frames, count, functions);
	if (!count && place->key.user == NS_OFFCPU_LOST_STACK) {
		place->lost = true;
		return xstrdup(PROFILE_LOST_STACK);
	}
	if (!count || !resolver__stack(offcpu->session->options.resolver, place->pid, frames, count,
				       offcpu->options.lines ? SYMBOLS_LINES : 0, texts->text,
				       sizeof(texts->text)))
		return NULL;
	return xstrdup(texts->text);
}

static void resolve(struct offcpu_texts *texts, struct offcpu_place *place)
{
	struct offcpu *offcpu = texts->offcpu;
	const struct offcpu_process *process = table__get(offcpu->processes, place->key.tgid);

	place->resolved = true;
	place->pid =
		process ? process->pid : enrich__view(offcpu->session->enrich, place->key.tgid);
	place->tid = place->key.kind == NS_OFFCPU_SEED &&
				     !offcpu->session->skel->rodata->offcpu.per_thread
			     ? 0
			     : enrich__view(offcpu->session->enrich, place->key.tid);
	text__safe(place->comm, sizeof(place->comm), place->key.comm, NS_COMM_LEN);
	place->kernel = kernel_text(texts, place);
	place->user = user_text(texts, place);
}

size_t offcpu_texts__not_unwound(const struct offcpu_texts *texts)
{
	const struct offcpu *offcpu = texts->offcpu;
	const __u8 *is_long = offcpu->session->skel->bss->long_places;
	size_t marks = sizeof(offcpu->session->skel->bss->long_places), count = 0;

	for (size_t i = 0; i < texts->count; i++) {
		const struct offcpu_place *place = &texts->places[i];

		if (place->key.user && is_long[place->id & (marks - 1)] &&
		    !unwound__has(offcpu->unwound, place->id))
			count++;
	}
	return count;
}

const struct offcpu_place *offcpu_texts__place(struct offcpu_texts *texts, uint32_t id)
{
	struct offcpu_place wanted = {.id = id}, *found = NULL;

	if (texts->count && id != NS_OFFCPU_NOWHERE && id != NS_OFFCPU_LOST_PLACE)
		found = bsearch(&wanted, texts->places, texts->count, sizeof(wanted), by_number);
	if (found && !found->resolved)
		resolve(texts, found);
	return found;
}
