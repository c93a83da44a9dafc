/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the stacks of a chain come to, in words. Each writes to dst (size > 0) and returns it. */
#ifndef NETSTALL_RENDER_WORDS_CHAIN_WORDS_H
#define NETSTALL_RENDER_WORDS_CHAIN_WORDS_H

#include "user/analyze/profile/profile.h"

#define CHAIN_WORDS 512

/* "data of a socket, in read()"; the innermost functions when nothing better is known. */
char *chain__slept_in(char *dst, size_t size, uint32_t state, const char *kernel);
/* "sent a segment, in write()"; "TCP's delayed-ACK timer expired"; "" when nothing is known. */
char *chain__woke_by(char *dst, size_t size, const struct profile_hop *hop);
/* The program's own functions, leaf first: "receive <- step <- main"; "" when there are none. */
char *chain__callers(char *dst, size_t size, const char *user);
/* The kernel's, without those that every wait has. */
char *chain__kernel(char *dst, size_t size, const char *kernel, unsigned most);

enum profile_note {
	PROFILE_NOTE_UNSLEPT, /* time without a CPU that is in no chain */
	PROFILE_NOTE_SAMPLE,  /* which of many short waits were looked at, and what that costs */
	PROFILE_NOTES
};

/* What is to be known beside the chains; NULL: nothing. */
char *profile__note(char *dst, size_t size, const struct profile *profile, enum profile_note note);
/* "7 stacks without room (--stack-storage-size): 3.00 ms, 3.1% of the time" */
char *profile__lost(char *dst, size_t size, const struct profile *profile,
		    enum profile_loss_kind kind);

#endif
