/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The words for each type of record, inside render/ only. A function gets words with what the
 * table of words.c has for the type, and adds the rest.
 */
#ifndef NETSTALL_RENDER_WORDS_WORDS_PARTS_H
#define NETSTALL_RENDER_WORDS_WORDS_PARTS_H

#include "user/render/words/words.h"

typedef void words_fn(const struct scene *scene, struct words *words);

words_fn words__send;
words_fn words__hold;
words_fn words__release;
words_fn words__segment;
words_fn words__delack_arm;
words_fn words__delack_fire;
words_fn words__recv;
words_fn words__wait;
words_fn words__session;
words_fn words__process;
words_fn words__conn;
words_fn words__peer;
words_fn words__conn_totals;
words_fn words__thread_totals;
words_fn words__lost;
words_fn words__stack;
words_fn words__failed, words__listener, words__service, words__retrans, words__mark;
words_fn words__refused;
words_fn words__call;
words_fn words__exchange;
words_fn words__sums;
words_fn words__throttle;
words_fn words__ran;
words_fn words__ring;
words_fn words__uring;
words_fn words__reap;
words_fn words__uring_totals;
words_fn words__uring_error;

#endif
