// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/wakers.h"

#include <stdio.h>
#include <string.h>

#include "user/analyze/waits/kernel_stack.h"
#include "user/base/array.h"
#include "user/record/kernel_functions.h"

struct frame {
	const char *text;
	size_t length; /* without a suffix such as ".isra.0" */
	size_t end;    /* of the stack's text, this frame included */
};

/* The next frame of a stack from *at on; false at its end. */
static bool next_frame(const char *stack, size_t *at, struct frame *frame)
{
	size_t bytes;

	if (!stack || !stack[*at])
		return false;
	frame->text = stack + *at;
	frame->length = strcspn(frame->text, ";.+");
	bytes = strcspn(frame->text, ";");
	frame->end = *at + bytes;
	*at = frame->end + (frame->text[bytes] == ';');
	return true;
}

static bool begins(const struct frame *frame, const char *with)
{
	size_t length = strlen(with);

	return frame->length >= length && !memcmp(frame->text, with, length);
}

static bool is_softirq_entry(const struct frame *frame)
{
	return frame__is(frame->text, KFN_SOFTIRQ);
}

static bool is_interrupt_entry(const struct frame *frame)
{
	return begins(frame, "asm_sysvec_") || begins(frame, "sysvec_") ||
	       begins(frame, "__sysvec_") || frame__is(frame->text, KFN_INTERRUPT "|" KFN_IRQ_EXIT);
}

/* A softirq's name is that of kernel/softirq.c: softirq_to_name, by the action of each. */
static const char *name_of(const struct frame *frame)
{
	static const struct {
		const char *functions, *name;
	} rows[] = {
		{"net_rx_action", "softirq:net_rx"},
		{"net_tx_action", "softirq:net_tx"},
		{KFN_TIMER_SOFTIRQ, "softirq:timer"},
		{"hrtimer_run_softirq", "softirq:hrtimer"},
		{"blk_done_softirq", "softirq:block"},
		{"irq_poll_softirq", "softirq:irq_poll"},
		{"tasklet_action", "softirq:tasklet"},
		{"tasklet_hi_action", "softirq:hi"},
		{KFN_SCHED_SOFTIRQ, "softirq:sched"},
		{"rcu_core_si", "softirq:rcu"},
		{KFN_SOFTIRQ, "softirq:other"},
		{"hrtimer_interrupt|tick_handle_periodic", "irq:timer"},
		{"sysvec_apic_timer_interrupt|asm_sysvec_apic_timer_interrupt", "irq:timer"},
		{"sysvec_reschedule_ipi", "irq:reschedule"},
		{KFN_SMP_CALLS, "irq:call_function"},
		{"irq_work_run", "irq:irq_work"},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (frame__is(frame->text, rows[i].functions))
			return rows[i].name;
	}
	return NULL;
}

/* A hard interrupt's: of the device's handler, or of the vector. */
static void name_waker(const struct frame *frame, const struct frame *leafward,
		       struct wake_judged *out)
{
	static const char handlers[] =
		"__handle_irq_event_percpu|handle_irq_event_percpu|handle_percpu_devid_irq";
	const char *name = name_of(frame);

	if (name)
		snprintf(out->name, sizeof(out->name), "%s", name);
	else if (frame__is(frame->text, handlers) && leafward->text &&
		 !frame__is(leafward->text, handlers))
		snprintf(out->name, sizeof(out->name), "irq:%.*s", (int)leafward->length,
			 leafward->text);
	else if (begins(frame, "sysvec_"))
		snprintf(out->name, sizeof(out->name), "irq:%.*s", (int)frame->length - 7,
			 frame->text + 7);
}

/* What a stack shows of interrupts. */
struct traits {
	bool interrupted;     /* an interrupt's entry is on it */
	bool softirq;         /* nearest to the wake is a softirq, no hard interrupt */
	bool backlog;         /* it received what this CPU had sent to itself */
	size_t interrupt_end; /* of the outermost entry */
	size_t softirq_end;   /* of the innermost */
};

static void look_at(const char *stack, struct traits *traits, struct wake_judged *out)
{
	struct frame frame, leafward = {0};

	memset(traits, 0, sizeof(*traits));
	for (size_t at = 0; next_frame(stack, &at, &frame); leafward = frame) {
		if (!out->name[0])
			name_waker(&frame, &leafward, out);
		if (frame__is(frame.text, "process_backlog"))
			traits->backlog = true;
		if (is_softirq_entry(&frame) && !traits->softirq_end)
			traits->softirq_end = frame.end;
		if (is_interrupt_entry(&frame)) {
			traits->interrupted = true;
			traits->interrupt_end = frame.end;
		}
	}
	traits->softirq = !strncmp(out->name, "softirq:", 8);
}

/* Threads of the kernel that run softirqs and interrupt handlers for others. */
static bool runs_interrupts(const char *comm)
{
	return !strncmp(comm, "ksoftirqd/", 10) || !strncmp(comm, "ktimers/", 8) ||
	       !strncmp(comm, "irq/", 4);
}

static void name_after_thread(const char *comm, struct wake_judged *out)
{
	const char *dash = strchr(comm, '-');

	if (!strncmp(comm, "irq/", 4) && dash)
		snprintf(out->name, sizeof(out->name), "irq:%.32s", dash + 1);
}

/* A softirq inside a thread's own call is its doing when it received what the thread had sent. */
static bool is_own_softirq(const struct traits *traits, const struct wake_context *context,
			   const struct wake_judged *judged)
{
	return judged->received && traits->backlog && !context->by_timer;
}

void wake__judge(const struct wake_context *context, struct wake_judged *out)
{
	bool nobody = !context->comm || !*context->comm || runs_interrupts(context->comm);
	struct traits traits;

	memset(out, 0, sizeof(*out));
	look_at(context->kernel, &traits, out);
	out->kernel_length = context->kernel ? strlen(context->kernel) : 0;
	out->received = !strcmp(out->name, "softirq:net_rx");
	if (!nobody && !traits.interrupted &&
	    (!traits.softirq || is_own_softirq(&traits, context, out))) {
		out->kind = WAKER_IS_THREAD;
		out->name[0] = '\0';
		return;
	}
	out->kind = traits.softirq ? WAKER_IS_SOFTIRQ : WAKER_IS_IRQ;
	if (!traits.softirq && context->comm && *context->comm)
		name_after_thread(context->comm, out);
	if (!out->name[0])
		snprintf(out->name, sizeof(out->name), "irq:other");
	/* How a softirq came to run there is as much chance as what it interrupted. */
	if (traits.softirq && traits.softirq_end)
		out->kernel_length = traits.softirq_end;
	else if (traits.interrupted)
		out->kernel_length = traits.interrupt_end;
}

bool wake__is_by_sender(const struct wake_context *context)
{
	struct wake_judged judged;

	wake__judge(context, &judged);
	/* Through a TUN or TAP device come the packets of others: of a VPN, of a guest. */
	return judged.kind == WAKER_IS_THREAD &&
	       !stack__has(context->kernel, "tun_get_user|tap_get_user");
}

bool stack__in_interrupt(const char *stack)
{
	struct frame frame;

	for (size_t at = 0; next_frame(stack, &at, &frame);)
		if (is_softirq_entry(&frame) || is_interrupt_entry(&frame))
			return true;
	return false;
}
