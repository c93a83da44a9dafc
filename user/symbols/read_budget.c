// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/read_budget.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/text.h"

/* The clock is looked at once in so many bytes. */
#define LOOK_BYTES (64u << 10)

static struct read_budget_book own, *book = &own;
static uint64_t begun_ns, entered_ns, run_ns;
static uint64_t most_resident; /* 0: any */
static void (*at_enter)(void); /* NULL: nothing */
static size_t taken, looked;
static bool used_up;

/* What others have the machine do meanwhile does not count. */
static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

void read_budget__use(struct read_budget_book *other)
{
	book = other;
}

struct read_budget_book *read_budget__book(void)
{
	return book;
}

static void note_first(struct read_budget_book *in)
{
	if (!in->first[0])
		memcpy(in->first, in->path, sizeof(in->first));
}

void read_budget__begin(void)
{
	begun_ns = now_ns();
	taken = looked = 0;
	used_up = false;
}

void read_budget__exceed(void)
{
	book->exceeded++;
	note_first(book);
}

bool read_budget__take(size_t bytes)
{
	if (used_up)
		return false;
	taken += bytes;
	if (taken <= READ_BUDGET_BYTES && taken - looked < LOOK_BYTES)
		return true;
	looked = taken;
	if (!begun_ns)
		begun_ns = now_ns();
	if (taken <= READ_BUDGET_BYTES && now_ns() - begun_ns < READ_BUDGET_NS)
		return true;
	used_up = true;
	read_budget__exceed();
	return false;
}

static bool is_refused(const struct read_budget_subject *subject)
{
	for (uint32_t i = 0; i < book->refused_count && i < READ_BUDGET_REFUSED; i++)
		if (!memcmp(&book->refused[i], subject, sizeof(*subject)))
			return true;
	return false;
}

bool read_budget__enter(const struct read_budget_subject *subject, const char *path,
			const uint64_t *spent_ns)
{
	if (is_refused(subject))
		return false;
	snprintf(book->path, sizeof(book->path), "%s", path);
	if (spent_ns && (*spent_ns >= READ_BUDGET_FILE_NS || run_ns >= READ_BUDGET_RUN_NS)) {
		read_budget__exceed();
		return false;
	}
	read_budget__begin();
	book->subject = *subject;
	entered_ns = now_ns();
	if (at_enter)
		at_enter();
	return true;
}

bool read_budget__lines(void)
{
	struct read_budget_subject lines = book->subject;

	lines.lines = 1;
	if (is_refused(&lines))
		return false;
	book->subject = lines;
	return true;
}

void read_budget__limit(uint64_t bytes, void (*begin)(void))
{
	most_resident = bytes;
	at_enter = begin;
}

static bool is_too_large(void)
{
	struct rusage usage;

	return most_resident && !getrusage(RUSAGE_SELF, &usage) &&
	       (uint64_t)usage.ru_maxrss * 1024 > most_resident;
}

void read_budget__leave(uint64_t *spent_ns)
{
	uint64_t ns = now_ns() - entered_ns;

	if (is_too_large())
		_exit(1); /* whoever started us sees what it was at */
	memset(&book->subject, 0, sizeof(book->subject));
	book->path[0] = '\0';
	if (!spent_ns)
		return;
	*spent_ns += ns;
	run_ns += ns;
}

bool read_budget__ended(struct read_budget_book *of)
{
	static const struct read_budget_subject nothing;

	of->ended++;
	note_first(of);
	if (memcmp(&of->subject, &nothing, sizeof(nothing)) &&
	    of->refused_count < READ_BUDGET_REFUSED)
		of->refused[of->refused_count++] = of->subject;
	memset(&of->subject, 0, sizeof(of->subject));
	of->path[0] = '\0';
	return of->ended < READ_BUDGET_REFUSED;
}

static bool only_lines(const struct read_budget_book *of)
{
	for (uint32_t i = 0; i < of->refused_count && i < READ_BUDGET_REFUSED; i++)
		if (!of->refused[i].lines)
			return false;
	return of->refused_count == of->ended;
}

void read_budget__report(const struct read_budget_book *of)
{
	char path[TEXT_SAFE(sizeof(of->first))];

	text__safe(path, sizeof(path), of->first, sizeof(of->first));
	if (of->cut)
		log__note(
			"a program or library was overwritten in place while its names were "
			"read: some of them may be missing or wrong");
	if (of->ended)
		log__note(
			"%s are missing: the process that reads them ended %u time%s, first at %s "
			"(too large, too slow to read, or damaged)",
			only_lines(of) ? "lines of source" : "names of functions", of->ended,
			of->ended == 1 ? "" : "s", path[0] ? path : "no file that is known");
	else if (of->exceeded)
		log__note(
			"names of functions are missing: %s has more to read than netstall "
			"reads (docs/symbols.md)",
			path[0] ? path : "a process");
}
