// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/flight.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/process/writer.h"

#define NAME_SHOWN  200
#define SAME_NS     10000000000ull
#define BEHIND_NS   1000000000ull
#define CAUSE_ASKED CAUSE_COUNT

/* Of one cause. */
struct wanted {
	uint64_t due_ns;   /* that one is to be kept; 0: none is */
	uint64_t ended_ns; /* the stall for which that is, or was; 0: there was none */
	uint64_t took_ns;  /* that stall */
};

struct kept {
	char name[WRITER_NAME];
	uint64_t took_ns; /* its stall; UINT64_MAX: somebody asked for it */
};

struct flight {
	const char *dir;
	struct recording_writer *last;
	struct writer *writer;
	bool worst;
	struct kept *kept; /* in the order in which they came, count of most */
	unsigned most, count;
	unsigned numbers;
	unsigned left_out; /* beyond most */
	struct wanted wanted[CAUSE_COUNT + 1];
};

static bool is_ours(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".nsr");
}

int flight__open(const char *dir, unsigned most, bool worst, struct recording_writer *last,
		 struct flight **out)
{
	struct writer *writer;
	int err = writer__open(dir, is_ours, &writer);

	*out = NULL;
	if (err)
		return err;
	*out = xcalloc(1, sizeof(**out));
	most = most ? most : FLIGHT_FILES;
	**out = (struct flight){.dir = dir,
				.last = last,
				.writer = writer,
				.worst = worst,
				.kept = xcalloc(most, sizeof(*(*out)->kept)),
				.most = most};
	return 0;
}

void flight__stall(struct flight *flight, const struct stall *stall)
{
	struct wanted *wanted = flight ? &flight->wanted[stall->cause] : NULL;
	uint64_t took_ns = stall->end_ts - stall->start_ts;

	if (!flight)
		return;
	/* The worst is not missed because a short one came first; twice as long bounds how many. */
	if (wanted->ended_ns && stall->end_ts < wanted->ended_ns + SAME_NS &&
	    !(flight->worst && took_ns / 2 > wanted->took_ns))
		return;
	*wanted = (struct wanted){stall->end_ts + BEHIND_NS, stall->end_ts, took_ns};
}

void flight__ask(struct flight *flight, uint64_t now_ns)
{
	if (flight)
		flight->wanted[CAUSE_ASKED] = (struct wanted){now_ns, now_ns, UINT64_MAX};
}

/* Of those that are kept, the one that makes room. */
static unsigned least(const struct flight *flight)
{
	unsigned least = 0;

	for (unsigned i = 1; flight->worst && i < flight->count; i++)
		if (flight->kept[i].took_ns < flight->kept[least].took_ns)
			least = i;
	return least;
}

static void save(struct flight *flight, enum cause cause)
{
	struct kept kept = {.took_ns = flight->wanted[cause].took_ns}, gone = {0};
	bool full = flight->count == flight->most;
	unsigned i = full ? least(flight) : 0;
	char *bytes;
	size_t size;
	FILE *out;

	flight->left_out += full;
	if (full && flight->worst && kept.took_ns < flight->kept[i].took_ns)
		return;
	snprintf(kept.name, sizeof(kept.name), "%03u-%s.nsr", ++flight->numbers,
		 cause == CAUSE_ASKED ? "asked" : cause__info(cause)->id);
	if (full) {
		gone = flight->kept[i];
		flight->count--;
		memmove(flight->kept + i, flight->kept + i + 1, (flight->count - i) * sizeof(kept));
	}
	flight->kept[flight->count++] = kept;
	out = xmemstream(&bytes, &size);
	recording__save(flight->last, out);
	fclose(out);
	writer__put(flight->writer, kept.name, full ? gone.name : NULL, bytes, size);
	free(bytes);
}

static void save_due(struct flight *flight, uint64_t now_ns)
{
	for (unsigned cause = 0; cause <= CAUSE_ASKED; cause++) {
		uint64_t due_ns = flight->wanted[cause].due_ns;

		if (!due_ns || now_ns < due_ns)
			continue;
		flight->wanted[cause].due_ns = 0;
		save(flight, (enum cause)cause);
	}
}

void flight__poll(struct flight *flight, uint64_t now_ns)
{
	if (!flight)
		return;
	save_due(flight, now_ns);
	writer__push(flight->writer);
}

int flight__finish(struct flight *flight)
{
	char dir[TEXT_SAFE(NAME_SHOWN)];
	int err;

	if (!flight)
		return 0;
	save_due(flight, UINT64_MAX);
	err = writer__finish(flight->writer);
	text__safe(dir, sizeof(dir), flight->dir, NAME_SHOWN);
	if (flight->left_out)
		log__note("not kept in %s: %s (--keep-max is %u)", dir,
			  counted_text(flight->left_out,
				       flight->worst ? "shorter stall" : "earlier stall"),
			  flight->most);
	log__note("%s kept in %s: `netstall report` shows each",
		  counted_text(writer__count(flight->writer), "recording"), dir);
	return err;
}

size_t flight__kept(const struct flight *flight)
{
	return flight ? writer__count(flight->writer) : 0;
}

void flight__free(struct flight *flight)
{
	if (!flight)
		return;
	writer__free(flight->writer);
	free(flight->kept);
	free(flight);
}
