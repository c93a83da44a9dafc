// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the kernel refuses to a session: noted for another plan, or why there is none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/record/facts.h"
#include "user/source/session_parts.h"

/* Of what any program needs, so that to go without this one does not help. */
static bool is_short_of(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

int session__fail(struct session *session, int err, char *why)
{
	free(session->why);
	session->why = why;
	return err;
}

static int fail_short(struct session *session, int err)
{
	const char *smaller = session->offcpu ? "--stack-storage-size=N" : SMALL_TABLES;

	if (err != -ENOMEM)
		return session__fail(session, err, xstrdup(caps__refused_with(-err)));
	return session__fail(session, err,
			     xasprintf("%s, or make the tables smaller with %s",
				       caps__refused_with(ENOMEM), smaller));
}

/* Tables of the programs' own data, without which none of them loads. */
static bool is_of_all(const struct ns_refused *refused)
{
	return !refused->program[0] && strchr(refused->table, '.');
}

static int note_refusal(struct session *session, const struct ns_refused *refused)
{
	char *text = fact__refusal_text(refused);

	log__debug("%s", text);
	if (!is_of_all(refused) && caps__refuse(&session->caps, refused)) {
		free(text);
		return -EAGAIN;
	}
	return session__fail(session, -(int)refused->error, text);
}

int session__refused(struct session *session, const struct bpf_program *program,
		     enum ns_refused_step step, int err)
{
	struct ns_refused refused = {.step = step, .error = (uint32_t)-err};

	if (is_short_of(err))
		return fail_short(session, err);
	snprintf(refused.program, sizeof(refused.program), "%s", bpf_program__name(program));
	return note_refusal(session, &refused);
}

int session__refused_in_load(struct session *session, int err)
{
	struct ns_refused refused;

	if (caps__lacks_types())
		return session__fail(
			session, err,
			xstrdup("the kernel did not take the types (BTF) of netstall's programs, "
				"for want of memory perhaps: try again"));
	if (is_short_of(err))
		return fail_short(session, err);
	if (caps__refused_in_load(err, &refused))
		return note_refusal(session, &refused);
	if (err == -ESRCH)
		return session__fail(session, err, xstrdup(caps__refused_with(ESRCH)));
	return session__fail(
		session, err,
		xasprintf("the kernel did not take netstall's programs: %s (-v shows its messages)",
			  strerror(-err)));
}
