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

struct flight {
	const char *dir;
	struct recording_writer *last;
	struct writer *writer;
	unsigned most, put;
	unsigned left_out;                /* beyond most */
	uint64_t due_ns[CAUSE_COUNT + 1]; /* that one of this cause is to be kept; 0: none is */
	uint64_t kept_ns[CAUSE_COUNT + 1];
};

static bool is_ours(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".nsr");
}

int flight__open(const char *dir, unsigned most, struct recording_writer *last, struct flight **out)
{
	struct writer *writer;
	int err = writer__open(dir, is_ours, &writer);

	*out = NULL;
	if (err)
		return err;
	*out = xcalloc(1, sizeof(**out));
	**out = (struct flight){
		.dir = dir, .last = last, .writer = writer, .most = most ? most : FLIGHT_FILES};
	return 0;
}

void flight__stall(struct flight *flight, const struct stall *stall)
{
	uint64_t *kept_ns = flight ? &flight->kept_ns[stall->cause] : NULL;

	if (!flight || (*kept_ns && stall->end_ts < *kept_ns + SAME_NS))
		return;
	*kept_ns = stall->end_ts;
	flight->due_ns[stall->cause] = stall->end_ts + BEHIND_NS;
}

void flight__ask(struct flight *flight, uint64_t now_ns)
{
	if (flight)
		flight->due_ns[CAUSE_ASKED] = now_ns;
}

static void save(struct flight *flight, enum cause cause)
{
	char name[WRITER_NAME], *bytes;
	size_t size;
	FILE *out;

	if (flight->put == flight->most) {
		flight->left_out++;
		return;
	}
	out = xmemstream(&bytes, &size);
	recording__save(flight->last, out);
	fclose(out);
	snprintf(name, sizeof(name), "%03u-%s.nsr", ++flight->put,
		 cause == CAUSE_ASKED ? "asked" : cause__info(cause)->id);
	writer__put(flight->writer, name, bytes, size);
	free(bytes);
}

static void save_due(struct flight *flight, uint64_t now_ns)
{
	for (unsigned cause = 0; cause <= CAUSE_ASKED; cause++) {
		uint64_t due_ns = flight->due_ns[cause];

		if (!due_ns || now_ns < due_ns)
			continue;
		flight->due_ns[cause] = 0;
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
		log__note("%u more are not kept in %s: the first %u are (--keep-max)",
			  flight->left_out, dir, flight->most);
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
	free(flight);
}
