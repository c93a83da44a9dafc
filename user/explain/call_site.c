// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/call_site.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/frame.h"

/* Frames that a person is shown; the JSON has them all. */
#define SHOWN_OWN   3
#define SHOWN_OTHER 5  /* where none is of the program's own code */
#define NAME_SHOWN  96 /* bytes of a name */

/* A stack without what no program has of its own: its frames are from to to. */
struct site {
	struct frame frames[FRAMES_MOST];
	size_t from, to;
	struct frame own[FRAMES_MOST];
	size_t own_count;
	const struct frame
		*through; /* what the innermost own one called; NULL: a system call's wrapper */
};

static void read_site(const char *frames, struct site *site)
{
	size_t count = frames__list(frames, site->frames), i;

	site->from = 0;
	site->own_count = 0;
	site->through = NULL;
	while (site->from < count && site->frames[site->from].class == FRAME_LIBC &&
	       frame__is_wrapper(&site->frames[site->from]))
		site->from++;
	if (site->from == count)
		site->from = 0;
	for (site->to = count;
	     site->to > site->from + 1 && frame__is_startup(&site->frames[site->to - 1]);)
		site->to--;
	for (i = site->from; i < site->to; i++) {
		if (site->frames[i].class != FRAME_OWN)
			continue;
		if (!site->own_count && i > site->from)
			site->through = &site->frames[i - 1];
		site->own[site->own_count++] = site->frames[i];
	}
}

/* ---- text ---- */

static void add(char *dst, size_t size, const char *text, size_t len)
{
	char safe[TEXT_SAFE(NAME_SHOWN)];
	size_t used = strlen(dst);

	text__safe(safe, sizeof(safe), text, len < NAME_SHOWN ? len : NAME_SHOWN);
	snprintf(dst + used, size - used, "%s", safe);
}

static void add_word(char *dst, size_t size, const char *word)
{
	add(dst, size, word, strlen(word));
}

/* "file.c:123" */
static void add_line(char *dst, size_t size, const struct frame *frame)
{
	const char *path = frame->text + frame->place + 2, *end = frame->text + frame->len - 1;
	const char *slash = memrchr(path, '/', end - path);

	path = slash ? slash + 1 : path;
	add(dst, size, path, end - path);
}

/* "name+0x12", or with a place "name (file.c:123)". */
static void add_frame(char *dst, size_t size, const struct frame *frame)
{
	if (frame->place == frame->len) {
		add(dst, size, frame->text, frame->len);
		return;
	}
	add(dst, size, frame->text, frame->name_len);
	add_word(dst, size, " (");
	add_line(dst, size, frame);
	add_word(dst, size, ")");
}

/* "name (file.c)": each of its two calls has a line of its own. */
static void add_function(char *dst, size_t size, const struct frame *frame)
{
	char line[NAME_SHOWN] = "";

	if (frame->place == frame->len) {
		add(dst, size, frame->text,
		    frame__is_nameless(frame) ? frame->len : frame->name_len);
		return;
	}
	add(dst, size, frame->text, frame->name_len);
	add_line(line, sizeof(line), frame);
	add_word(dst, size, " (");
	add(dst, size, line, strcspn(line, ":"));
	add_word(dst, size, ")");
}

static void add_frames(char *dst, size_t size, const struct frame *frames, size_t count,
		       size_t most)
{
	size_t i;

	for (i = 0; i < count && i < most; i++) {
		add_word(dst, size, i ? " <- " : "");
		add_frame(dst, size, &frames[i]);
	}
	if (i < count)
		add_word(dst, size, " <- ...");
}

static void add_through(char *dst, size_t size, const struct frame *frame)
{
	if (!frame || frame__is_nameless(frame))
		return;
	add_word(dst, size, ", through ");
	add(dst, size, frame->text, frame->name_len);
}

static char *describe(char *dst, size_t size, const char *frames, size_t most)
{
	struct site site;
	size_t from;

	dst[0] = '\0';
	read_site(frames, &site);
	if (site.own_count) {
		add_frames(dst, size, site.own, site.own_count, most);
		add_through(dst, size, site.through);
		return dst;
	}
	for (from = site.from; from < site.to && site.frames[from].class == FRAME_LIBC;)
		from++;
	if (from == site.to)
		from = site.from;
	add_frames(dst, size, site.frames + from, site.to - from, SHOWN_OTHER);
	add_through(dst, size, from > site.from ? &site.frames[from - 1] : NULL);
	return dst;
}

char *site__describe(char *dst, size_t size, const char *frames)
{
	return describe(dst, size, frames, SHOWN_OWN);
}

char *site__callers(char *dst, size_t size, const char *frames)
{
	return describe(dst, size, frames, SHOWN_OTHER);
}

char *site__full(char *dst, size_t size, const char *frames)
{
	struct frame list[FRAMES_MOST];
	size_t count = frames__list(frames, list);

	dst[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		add_word(dst, size, i ? " <- " : "");
		add_frame(dst, size, &list[i]);
		if (list[i].module_len)
			add(dst, size, list[i].module - 2, list[i].module_len + 3);
	}
	return dst;
}

/* ---- two writes ---- */

/* Where the ways to two writes part: what of own each has in it. */
struct parting {
	size_t inner;         /* both have so many innermost: a helper that does both writes */
	size_t first, second; /* own frames of each up to the function that both are called from */
	const struct frame *callers; /* from that function on, as the first write's way has them */
	size_t caller_count;
	bool at_one_line;
};

static bool find_parting(const struct site *first, const struct site *second,
			 struct parting *parting)
{
	size_t a = first->own_count, b = second->own_count, least;

	while (a && b && frame__is_same(&first->own[a - 1], &second->own[b - 1]))
		a--, b--;
	*parting = (struct parting){.at_one_line = !a && !b};
	/* One function with two calls. */
	if (a && b && frame__is_same_function(&first->own[a - 1], &second->own[b - 1])) {
		parting->callers = &first->own[a - 1];
		parting->caller_count = first->own_count - a + 1;
		a--, b--;
	} else {
		parting->callers = &first->own[a];
		parting->caller_count = first->own_count - a;
	}
	parting->first = a;
	parting->second = b;
	least = a < b ? a : b;
	while (parting->inner < least &&
	       frame__is_same(&first->own[parting->inner], &second->own[parting->inner]))
		parting->inner++;
	return parting->caller_count > 0;
}

/* "write_header (server.c:40), called at server.c:90"; "at server.c:90" */
static void describe_write(char *dst, size_t size, const struct site *site, size_t up_to,
			   const struct parting *parting)
{
	const struct frame *from = &site->own[up_to];
	size_t inner = min_u64(parting->inner, up_to);
	/* Without a name it stands in "both in" as it is. */
	bool tells_from = inner == up_to || !frame__is_nameless(from);

	dst[0] = '\0';
	add_word(dst, size, tells_from ? "" : "at ");
	add_frames(dst, size, site->own + inner, up_to - inner, SHOWN_OWN);
	if (tells_from)
		add_word(dst, size, inner < up_to ? ", called at " : "at ");
	if (tells_from && from->place < from->len)
		add_line(dst, size, from);
	else if (tells_from)
		add_frame(dst, size, from);
	if (inner)
		add_through(dst, size, &site->own[inner - 1]);
	else
		add_through(dst, size, site->through);
}

static bool is_script(const struct frame *frame, const char *ending)
{
	return memmem(frame->text + frame->place, frame->len - frame->place, ending,
		      strlen(ending)) != NULL;
}

bool site__pair(const char *first, const char *second, struct site_pair *pair)
{
	struct site one, other;
	struct parting parting;

	if (!first || !second)
		return false;
	read_site(first, &one);
	read_site(second, &other);
	if (!find_parting(&one, &other, &parting))
		return false;
	pair->both[0] = pair->first[0] = pair->second[0] = '\0';
	/* V8 says of a function where it begins. */
	pair->by_function = is_script(parting.callers, "js:") || is_script(parting.callers, "ts:");
	if (parting.at_one_line) {
		add_frames(pair->both, sizeof(pair->both), one.own, one.own_count, SHOWN_OWN);
		add_through(pair->both, sizeof(pair->both), one.through);
		return true;
	}
	add_function(pair->both, sizeof(pair->both), parting.callers);
	if (parting.caller_count > 1) {
		add_word(pair->both, sizeof(pair->both), " <- ");
		add_frames(pair->both, sizeof(pair->both), parting.callers + 1,
			   parting.caller_count - 1, SHOWN_OWN - 1);
	}
	describe_write(pair->first, sizeof(pair->first), &one, parting.first, &parting);
	describe_write(pair->second, sizeof(pair->second), &other, parting.second, &parting);
	return true;
}

char *site__both(char *dst, size_t size, const char *first, const char *second)
{
	struct site one, other;
	struct parting parting;

	read_site(first, &one);
	read_site(second, &other);
	if (!find_parting(&one, &other, &parting) || frame__is_nameless(parting.callers))
		return NULL;
	dst[0] = '\0';
	add_function(dst, size, parting.callers);
	return dst;
}

char *site__function(char *dst, size_t size, const char *frames)
{
	struct site site;

	read_site(frames, &site);
	if (!site.own_count || frame__is_nameless(site.own))
		return NULL;
	dst[0] = '\0';
	add_function(dst, size, site.own);
	return dst;
}

/* ---- where it computes ---- */

#define LOOK_DEEP 16 /* own functions, from the innermost on */

/* 95% of what chance does lies within so many standard deviations. */
#define CHANCE 1.96

struct look {
	const char *frames;
	struct frame own[LOOK_DEEP];
	size_t count;
};

static void read_look(const char *frames, struct look *look)
{
	struct site site;

	read_site(frames, &site);
	look->frames = frames;
	look->count = min_u64(site.own_count, LOOK_DEEP);
	memcpy(look->own, site.own, look->count * sizeof(look->own[0]));
}

static bool is_below(const struct look *look, const struct frame *function, size_t deep)
{
	for (size_t i = 0; i < look->count && i < deep; i++)
		if (frame__is_same_function(&look->own[i], function))
			return true;
	return false;
}

/* How many looks found the function, so deep at most. */
static unsigned found_in(const struct look *looks, unsigned count, const struct frame *function,
			 size_t deep)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found += is_below(&looks[i], function, deep);
	return found;
}

/* With that many looks, half of the time would not show as so many by chance. */
static bool is_surely_most(unsigned same, unsigned of)
{
	return (double)same - of / 2.0 > CHANCE * sqrt(of / 4.0);
}

/* Wilson's interval of a share. */
static void add_error(struct site_busy *busy)
{
	double n = busy->of, share = busy->same / n, z = CHANCE * CHANCE / n;
	double middle = (share + z / 2) / (1 + z);
	double error = CHANCE * sqrt(share * (1 - share) / n + z / (4 * n)) / (1 + z);

	if (busy->of < SITE_LOOKS_LEAST)
		return;
	busy->low = middle - error;
	busy->high = middle + error;
}

/* Prefer what has less and has surely most: it is further in. */
static void find_most(const struct look *looks, unsigned count, struct site_busy *busy)
{
	for (size_t deep = 0; deep < LOOK_DEEP; deep++) {
		for (unsigned i = 0; i < count; i++) {
			const struct frame *function = &looks[i].own[deep];
			unsigned same;

			if (deep >= looks[i].count || frame__is_nameless(function))
				continue;
			same = found_in(looks, count, function, LOOK_DEEP);
			if ((same < count && !is_surely_most(same, count)) ||
			    (busy->is_common && same >= busy->same))
				continue;
			*busy = (struct site_busy){
				.frames = deep ? function->text : looks[i].frames,
				.same = same,
				.of = count,
				.is_common = true,
				.is_sure = is_surely_most(same, count),
				.is_caller = 2 * found_in(looks, count, function, 1) < same,
			};
		}
	}
}

static void find_more_than_others(const struct look *looks, unsigned count, struct site_busy *busy)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned same = looks[i].count ? found_in(looks, count, looks[i].own, 1) : 0;

		if (same > busy->same)
			*busy = (struct site_busy){
				.frames = looks[i].frames, .same = same, .of = count};
	}
}

struct site_busy site__busy(const struct call_sites *sites)
{
	struct site_busy busy = {.frames = sites->busy};
	unsigned count = min_u64(sites->busy_count, SITE_LOOKS);
	struct look *looks;

	if (count < 2)
		return busy;
	looks = xcalloc(count, sizeof(*looks)); /* the stack may be small */
	for (unsigned i = 0; i < count; i++)
		read_look(sites->busy_looks[i], &looks[i]);
	find_most(looks, count, &busy);
	if (busy.is_common)
		add_error(&busy);
	else
		find_more_than_others(looks, count, &busy);
	free(looks);
	return busy;
}

char *site__busy_place(char *dst, size_t size, const struct call_sites *sites)
{
	const struct site_busy busy = site__busy(sites);
	char function[SITE_TEXT];

	if ((busy.of && !busy.is_common) ||
	    !site__function(function, sizeof(function), busy.frames))
		return NULL;
	snprintf(dst, size, busy.is_caller ? "what %s calls" : "%s", function);
	return dst;
}

/* Of a file, or of what had none: "<string>". */
static bool is_python(const struct frame *frame)
{
	return is_script(frame, ".py:") || is_script(frame, "(<");
}

static bool runs_python(const char *frames)
{
	struct frame list[FRAMES_MOST];

	return frames__list(frames, list) && is_python(&list[0]);
}

static bool waits_as_interpreter(const char *frames)
{
	static const char call[] = "pthread_cond_timedwait";
	struct frame list[FRAMES_MOST];
	size_t count = frames__list(frames, list);

	for (size_t i = 0; i + 1 < count; i++)
		if (list[i].name_len == strlen(call) && !memcmp(list[i].text, call, strlen(call)))
			return is_python(&list[i + 1]);
	return false;
}

bool site__is_interpreter_lock(const struct stall *stall, const struct call_sites *sites)
{
	return waits_as_interpreter(sites->wait) ||
	       (stall->tried_again && runs_python(sites->computes));
}

const char *site__names_hint(const char *frames)
{
	struct site site;

	read_site(frames, &site);
	for (size_t i = 0; !site.own_count && i < site.to; i++) {
		const struct frame *frame = &site.frames[i];

		if (frame->module_len == 4 && !memcmp(frame->module, "node", 4))
			return "run it with node --perf-basic-prof --interpreted-frames-native-stack";
		if (!strstr(frames, "[jit]"))
			continue;
		if (frame->module_len == 9 && !memcmp(frame->module, "libjvm.so", 9))
			return "run jcmd PID Compiler.perfmap as its user first (Java 17 and later)";
		if (frame->module_len == 8 && !memcmp(frame->module, "beam.smp", 8))
			return "run it with erl +JPperf true (Erlang/OTP 25 and later)";
	}
	return NULL;
}

/* ---- the line ---- */

static bool read_place(const struct frame *frame, struct site_place *place)
{
	const char *path = frame->text + frame->place + 2, *colon;

	if (frame->place == frame->len)
		return false;
	colon = memrchr(path, ':', frame->len - frame->place - 2);
	snprintf(place->file, sizeof(place->file), "%.*s", (int)(colon - path), path);
	snprintf(place->function, sizeof(place->function), "%.*s", (int)frame->name_len,
		 frame->text);
	place->line = (unsigned)strtoul(colon + 1, NULL, 10);
	return (size_t)(colon - path) < sizeof(place->file) && place->line > 0;
}

/* The innermost of count frames that has one. */
static bool first_place(const struct frame *frames, size_t count, struct site_place *place)
{
	for (size_t i = 0; i < count; i++)
		if (read_place(&frames[i], place))
			return true;
	return false;
}

bool site__place(const char *frames, const char *other, struct site_place *place)
{
	struct site one, two;
	size_t inner = 0;

	read_site(frames, &one);
	read_site(other, &two);
	while (inner < one.own_count && inner < two.own_count &&
	       frame__is_same(&one.own[inner], &two.own[inner]))
		inner++;
	return first_place(one.own + inner, one.own_count - inner, place) ||
	       first_place(one.own, one.own_count, place) ||
	       (!one.own_count && first_place(one.frames + one.from, one.to - one.from, place));
}

/* Those of the two writes. Returns how many lines there are. */
static unsigned write_lines(const struct stall *stall, char lines[SITE_LINES][SITE_LINE])
{
	const char *second = stall->reason == NS_HOLD_NAGLE ? "second write" : "held write";
	const struct call_sites *sites = &stall->sites;
	struct site_pair pair;
	char text[SITE_TEXT];
	unsigned count = 0;

	if (site__pair(sites->first_write, sites->second_write, &pair)) {
		snprintf(lines[count++], SITE_LINE, "%s: %s",
			 pair.first[0] || pair.by_function ? "both in" : "both at", pair.both);
		if (!pair.first[0])
			return count;
		snprintf(lines[count++], SITE_LINE, "first write: %s", pair.first);
		snprintf(lines[count++], SITE_LINE, "%s: %s", second, pair.second);
		return count;
	}
	if (sites->first_write)
		snprintf(lines[count++], SITE_LINE, "first write: %s",
			 site__describe(text, sizeof(text), sites->first_write));
	if (sites->second_write)
		snprintf(lines[count++], SITE_LINE, "%s: %s", second,
			 site__describe(text, sizeof(text), sites->second_write));
	return count;
}

bool site__is_of(const struct call_sites *sites, const struct path_part *part)
{
	return part->tid == sites->wait_tid ||
	       (part->pid == sites->wait_pid && part->syscall == sites->wait_call);
}

static bool has_own(const char *frames)
{
	struct site site;

	if (!frames)
		return false;
	read_site(frames, &site);
	return site.own_count != 0;
}

void site__rows(const struct call_sites *sites, bool all_frames, struct site_row rows[SITE_ROWS])
{
	struct site_busy busy = site__busy(sites);
	bool is_shown = all_frames || has_own(sites->lock) || has_own(sites->release);
	const struct site_row all[SITE_ROWS] = {
		{"read in", sites->read, {0}},
		{"answered in", sites->answer, {0}},
		{"waits in", sites->wait, {0}},
		{"and in", sites->wait ? sites->wait_besides : NULL, {0}},
		{"locks in", is_shown ? sites->lock : NULL, {0}},
		{"released in", is_shown ? sites->release : NULL, {0}},
		{"computes in", busy.frames, busy},
	};

	memcpy(rows, all, sizeof(all));
}

/* "7 of 8 looks: " */
static size_t describe_looks(char *dst, size_t size, const struct site_busy *busy)
{
	char share[32] = "";

	if (!busy->of)
		return 0;
	if (busy->high > 0)
		snprintf(share, sizeof(share), " (%.0f to %.0f%%)", 100 * busy->low,
			 100 * busy->high);
	return (size_t)snprintf(dst, size, "%u of %u looks%s%s: ", busy->same, busy->of, share,
				busy->is_common ? "" : ", which may be chance");
}

char *site__describe_row(char *dst, size_t size, const struct site_row *row)
{
	size_t used = describe_looks(dst, size, &row->busy);
	char function[SITE_TEXT];

	if (row->busy.is_caller && site__function(function, sizeof(function), row->frames))
		snprintf(dst + used, size - used, "what %s calls, in none of it mostly", function);
	else
		site__describe(dst + used, size - used, row->frames);
	return dst;
}

unsigned site__lines(const struct stall *stall, char lines[SITE_LINES][SITE_LINE])
{
	struct site_row rows[SITE_ROWS];
	unsigned count = write_lines(stall, lines);
	char text[SITE_TEXT];

	if (count)
		return count;
	site__rows(&stall->sites, false, rows);
	for (size_t i = 0; i < SITE_ROWS; i++)
		if (rows[i].frames)
			snprintf(lines[count++], SITE_LINE, "%s: %s", rows[i].label,
				 site__describe_row(text, sizeof(text), &rows[i]));
	return count;
}
