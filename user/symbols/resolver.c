// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/resolver.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/symbols/images/own_code.h"
#include "user/symbols/resolver_parts.h"

/* Who waits for an answer has so much time for those that take longer than a second, in all. */
#define SLOW_NS     1000000000ull
#define PATIENCE_NS 25000000000ull
/* Answers come so soon after one another, unless there is much to read. */
#define BUSY_NS 50000000ull

#define NOT_KNOWN "[unread]"

/* A question that is not answered yet. */
struct asked {
	struct asked *next;
	struct question *question; /* NULL: it was sent */
	uint64_t number;
	resolver_done *done; /* NULL: nobody cares */
	void *context;
	uint64_t tag;
};

struct resolver {
	struct file_broker *broker;
	struct resolver_shared *shared;
	pid_t pid;
	int socket;
	bool over; /* nobody is there any more */
	struct asked *first, **end;
	struct asked *unsent; /* of these, the first */
	size_t backlog;       /* bytes that were not sent */
	uint64_t numbers;
	uint64_t replied_ns; /* when the latest answer came */
	bool stuck;          /* none has come when there was no room for more */
	uint64_t slow_ns;
	uint64_t refused;
	struct resolver_answer reply; /* the latest */
};

struct resolver *resolver__new(const char *own)
{
	struct resolver *resolver = xcalloc(1, sizeof(*resolver));

	own_code__add(own);
	resolver->end = &resolver->first;
	resolver->broker = file_broker__new();
	resolver->shared = mmap(NULL, sizeof(*resolver->shared), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	resolver->socket = -1;
	if (resolver->broker && resolver->shared != MAP_FAILED) {
		resolver->pid = helper__fork(SOCK_SEQPACKET, &resolver->socket);
		if (!resolver->pid)
			resolver__run(resolver->shared, resolver->broker, resolver->socket);
	}
	if (resolver->pid > 0)
		return resolver;
	log__debug("no names of user stacks: %s", strerror(-resolver->pid));
	resolver__free(resolver);
	return NULL;
}

/* ---- questions ---- */

static size_t size_of(const struct question *question)
{
	return sizeof(*question) + question->len;
}

/* The one that waits longest. */
static void finish_first(struct resolver *resolver, const struct resolver_answer *answer)
{
	struct asked *asked = resolver->first;

	resolver->first = asked->next;
	if (!resolver->first)
		resolver->end = &resolver->first;
	if (resolver->unsent == asked)
		resolver->unsent = asked->next;
	if (asked->question)
		resolver->backlog -= size_of(asked->question);
	if (asked->done)
		asked->done(asked->context, asked->tag, answer);
	free(asked->question);
	free(asked);
}

/* Nobody is there any more: nothing will be answered. */
static void end(struct resolver *resolver)
{
	resolver->over = true;
	while (resolver->first)
		finish_first(resolver, NULL);
}

static void send_questions(struct resolver *resolver)
{
	struct asked *asked;

	while ((asked = resolver->unsent)) {
		const struct question *question = asked->question;

		if (send(resolver->socket, question, size_of(question),
			 MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
			if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
				resolver->over = true;
			return;
		}
		resolver->backlog -= size_of(question);
		free(asked->question);
		asked->question = NULL;
		resolver->unsent = asked->next;
	}
}

/* A burst of questions is waited for, as long as it is being answered. */
static bool make_room(struct resolver *resolver, size_t bytes)
{
	uint64_t since_ns = clock__now();

	while (!resolver->over && !resolver->stuck &&
	       resolver->backlog + bytes > RESOLVER_BACKLOG) {
		resolver__poll(resolver, BUSY_NS / 10);
		if (since_ns < resolver->replied_ns)
			since_ns = resolver->replied_ns;
		resolver->stuck = clock__now() - since_ns > BUSY_NS;
	}
	return !resolver->over && resolver->backlog + bytes <= RESOLVER_BACKLOG;
}

/* The bytes of data follow the head. Its answer goes to done, also when there will be none. */
static void ask(struct resolver *resolver, const struct question *head, const void *data,
		const struct asked *to)
{
	struct asked *asked;

	if (!resolver || head->len > RESOLVER_DATA || !make_room(resolver, size_of(head))) {
		if (resolver && !resolver->over)
			resolver->refused++;
		if (to->done)
			to->done(to->context, to->tag, NULL);
		return;
	}
	asked = xmemdup(to, sizeof(*to));
	asked->number = ++resolver->numbers;
	asked->question = xcalloc(1, size_of(head));
	*asked->question = *head;
	asked->question->number = asked->number;
	if (head->len)
		memcpy(asked->question->data, data, head->len);
	resolver->backlog += size_of(head);
	*resolver->end = asked;
	resolver->end = &asked->next;
	if (!resolver->unsent)
		resolver->unsent = asked;
	send_questions(resolver);
}

void resolver__note(struct resolver *resolver, pid_t pid, bool unwinds)
{
	ask(resolver,
	    &(struct question){.what = unwinds ? RESOLVER_NOTE_UNWINDS : RESOLVER_NOTE, .pid = pid},
	    NULL, &(struct asked){0});
}

void resolver__fork(struct resolver *resolver, pid_t parent, pid_t child)
{
	ask(resolver, &(struct question){.what = RESOLVER_FORK, .pid = parent, .child = child},
	    NULL, &(struct asked){0});
}

void resolver__python(struct resolver *resolver, pid_t pid, resolver_done *done, void *context,
		      uint64_t tag)
{
	ask(resolver, &(struct question){.what = RESOLVER_PYTHON, .pid = pid}, NULL,
	    &(struct asked){.done = done, .context = context, .tag = tag});
}

void resolver__call(struct resolver *resolver, pid_t pid, const struct ns_call_raw *call,
		    resolver_done *done, void *context, uint64_t tag)
{
	ask(resolver, &(struct question){.what = RESOLVER_CALL, .pid = pid, .len = sizeof(*call)},
	    call, &(struct asked){.done = done, .context = context, .tag = tag});
}

void resolver__python_names(struct resolver *resolver, pid_t pid,
			    const struct ns_python_frame *frames, size_t count, resolver_done *done,
			    void *context, uint64_t tag)
{
	ask(resolver,
	    &(struct question){
		    .what = RESOLVER_PYTHON_NAMES, .pid = pid, .len = count * sizeof(*frames)},
	    frames, &(struct asked){.done = done, .context = context, .tag = tag});
}

void resolver__sample(struct resolver *resolver, pid_t pid, const void *sample, size_t len,
		      resolver_done *done, void *context, uint64_t tag)
{
	ask(resolver, &(struct question){.what = RESOLVER_SAMPLE, .pid = pid, .len = len}, sample,
	    &(struct asked){.done = done, .context = context, .tag = tag});
}

/* ---- answers ---- */

static void take_reply(struct resolver *resolver, size_t len)
{
	struct resolver_answer *reply = &resolver->reply;

	if (len < offsetof(struct resolver_answer, text))
		return;
	resolver->replied_ns = clock__now();
	resolver->stuck = false;
	/* It read what anybody may have written, and is believed no more than that. */
	((char *)reply)[len < sizeof(*reply) ? len : sizeof(*reply) - 1] = '\0';
	if (reply->count > UNWIND_FRAMES)
		reply->count = UNWIND_FRAMES;
	while (resolver->first && !resolver->first->question &&
	       resolver->first->number < reply->number)
		finish_first(resolver, NULL);
	if (resolver->first && !resolver->first->question &&
	    resolver->first->number == reply->number)
		finish_first(resolver, reply->known ? reply : NULL);
}

/* Whatever is there. */
static void take_replies(struct resolver *resolver)
{
	ssize_t got;

	while ((got = recv(resolver->socket, &resolver->reply, sizeof(resolver->reply),
			   MSG_DONTWAIT)) > 0)
		take_reply(resolver, got);
	if (!got || (errno != EAGAIN && errno != EINTR))
		resolver->over = true;
}

bool resolver__poll(struct resolver *resolver, uint64_t wait_ns)
{
	uint64_t end_ns = clock__now() + wait_ns, now;

	if (!resolver)
		return true;
	for (;;) {
		struct pollfd news = {.fd = resolver->socket, .events = POLLIN};

		if (!resolver->over)
			take_replies(resolver);
		if (!resolver->over)
			send_questions(resolver);
		if (resolver->over)
			end(resolver);
		now = clock__now();
		if (!resolver->first || now >= end_ns)
			return !resolver->first;
		if (resolver->unsent)
			news.events |= POLLOUT;
		poll(&news, 1, (int)((end_ns - now + 999999) / 1000000));
	}
}

void resolver__forget(struct resolver *resolver, const void *context)
{
	for (struct asked *asked = resolver ? resolver->first : NULL; asked; asked = asked->next)
		if (asked->context == context)
			asked->done = NULL;
}

/* Who waits for a stack's names. */
struct waiter {
	char *out;
	size_t size, written;
	bool answered;
};

static void take_stack(void *context, uint64_t count, const struct resolver_answer *answer)
{
	struct waiter *waiter = context;

	waiter->answered = true;
	if (!answer || strlen(answer->text) >= waiter->size)
		return;
	strcpy(waiter->out, answer->text);
	waiter->written = answer->count < count ? answer->count : count;
}

size_t resolver__stack(struct resolver *resolver, pid_t pid, const uint64_t *pcs, size_t count,
		       unsigned style, char *out, size_t size)
{
	struct waiter waiter = {.out = out, .size = size, .written = 1};
	uint64_t begin_ns = clock__now(), took_ns;

	snprintf(out, size, NOT_KNOWN);
	if (resolver && resolver->slow_ns >= PATIENCE_NS)
		return 1;
	ask(resolver,
	    &(struct question){.what = RESOLVER_STACK,
			       .pid = pid,
			       .style = style,
			       .len = count * sizeof(*pcs)},
	    pcs, &(struct asked){.done = take_stack, .context = &waiter, .tag = count});
	while (!waiter.answered && clock__now() - begin_ns < PATIENCE_NS)
		resolver__poll(resolver, SLOW_NS);
	resolver__forget(resolver, &waiter);
	took_ns = clock__now() - begin_ns;
	if (resolver && took_ns >= SLOW_NS)
		resolver->slow_ns += took_ns;
	return waiter.written;
}

/* ---- the end ---- */

void resolver__free(struct resolver *resolver)
{
	bool ended, killed;

	if (!resolver)
		return;
	end(resolver);
	if (resolver->pid > 0) {
		ended = helper__has_ended(resolver->pid, &killed);
		if (killed)
			log__note(
				"names of functions may be missing: netstall's helper that "
				"reads them, netstall-names, was ended");
		if (!ended) {
			kill(resolver->pid, SIGKILL);
			helper__end(resolver->pid, 0);
		}
		read_budget__report(&resolver->shared->book);
		if (resolver->refused)
			log__note(
				"names of functions are missing: %llu stacks were not looked at, as "
				"too many others waited for their names",
				(unsigned long long)resolver->refused);
	}
	if (resolver->socket >= 0)
		close(resolver->socket);
	if (resolver->shared != MAP_FAILED)
		munmap(resolver->shared, sizeof(*resolver->shared));
	file_broker__free(resolver->broker);
	free(resolver);
}
