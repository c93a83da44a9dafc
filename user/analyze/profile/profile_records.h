/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A profile as records of a recording, and made of these again. */
#ifndef NETSTALL_ANALYZE_PROFILE_PROFILE_RECORDS_H
#define NETSTALL_ANALYZE_PROFILE_PROFILE_RECORDS_H

#include "user/analyze/profile/profile.h"
#include "user/record/record.h"

/* A finished one: emit gets each record, as recording__add() takes it. */
void profile__write(const struct profile *profile,
		    void (*emit)(void *context, const void *record, size_t len), void *context);

struct profile_reader;

struct profile_reader *profile_reader__new(void);
void profile_reader__free(struct profile_reader *reader);
/* Records of this type are a profile's. */
bool profile_reader__is_its(uint32_t type);
/* The record is a decoded one, any. It need not come from profile__write(): a text that is missing
 * is "[lost stack]". */
void profile_reader__take(struct profile_reader *reader, const union record *record);
/* What has come, finished: the caller's; with causes, if it has them and they are wanted. NULL:
 * there is no profile. */
struct profile *profile_reader__finish(struct profile_reader *reader, bool by_cause);

#endif
