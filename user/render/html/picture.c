// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/html/picture.h"

#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/render/words/names.h"
#include "user/render/words/names_uring.h"

enum lane_kind { LANE_WAIT, LANE_THREAD, LANE_OPERATION, LANE_END, LANE_FAR_END };

/* clang-format off */
static const struct picture_look_info infos[LOOKS] = {
	[LOOK_SLICE] = {.name = "slice", .shape = SHAPE_BAR, .height = 14, .least = 1, .light = true},
	[LOOK_RUNS] = {.name = "runs", .shape = SHAPE_BAR, .height = 4},
	[LOOK_WAITS] = {.name = "waits", .shape = SHAPE_BAR, .height = 18, .radius = 3, .least = 1, .light = true},
	[LOOK_ASLEEP] = {.name = "asleep", .shape = SHAPE_BAR, .height = 18, .radius = 3, .least = 1},
	[LOOK_READY] = {.name = "ready", .shape = SHAPE_BAR, .height = 18, .least = 1},
	[LOOK_ACT] = {.name = "act", .shape = SHAPE_DOT, .height = 8},
	[LOOK_OPERATION] = {.name = "operation", .shape = SHAPE_BAR, .height = 12, .radius = 6, .least = 3},
	[LOOK_HELD] = {.name = "held", .shape = SHAPE_BAR, .height = 16, .radius = 3, .least = 2},
	[LOOK_TIMER] = {.name = "timer", .shape = SHAPE_BAR, .height = 10, .radius = 5, .least = 2, .dashed = true, .hollow = true, .beside = true},
	[LOOK_FIRE] = {.name = "fire", .shape = SHAPE_DOT, .height = 12},
	[LOOK_WRITTEN] = {.name = "written", .shape = SHAPE_BAR, .height = 10, .down = -7, .least = 6},
	[LOOK_READ] = {.name = "read", .shape = SHAPE_BAR, .height = 10, .down = 7, .least = 6},
	[LOOK_AGAIN] = {.name = "again", .shape = SHAPE_DOT, .height = 12},
	[LOOK_SEGMENT] = {.name = "segment", .shape = SHAPE_ARROW},
	[LOOK_ACK] = {.name = "ack", .shape = SHAPE_ARROW, .dashed = true},
	[LOOK_WAKE] = {.name = "wake", .shape = SHAPE_ARROW},
};
/* clang-format on */

/* A picture as it is made. */
struct drawing {
	struct picture *picture;
	const struct report *report;
	const struct stall *stall;
	const struct lines *lines;
};

const char *picture__colour(enum cause cause)
{
	static const char *const groups[CAUSE_GROUPS] = {
		[CAUSE_GROUP_UNKNOWN] = "unknown", [CAUSE_GROUP_WRITES] = "writes",
		[CAUSE_GROUP_TCP] = "tcp",         [CAUSE_GROUP_LOSS] = "loss",
		[CAUSE_GROUP_PEER] = "peer",       [CAUSE_GROUP_MACHINE] = "machine",
		[CAUSE_GROUP_PROGRAM] = "program",
	};
	const char *colour = groups[cause__info(cause)->group];

	return colour ? colour : "unknown";
}

/* ---- lanes ---- */

static struct picture_lane *find_lane(const struct drawing *drawing, enum lane_kind kind,
				      uint64_t number)
{
	struct picture *picture = drawing->picture;

	for (size_t i = 0; i < picture->lane_count; i++)
		if (picture->lanes[i].kind == (int)kind && picture->lanes[i].number == number)
			return &picture->lanes[i];
	return NULL;
}

/* In the middle of so many pixels below the others. The name is the picture's then. */
static struct picture_lane *add_lane(struct drawing *drawing, enum lane_kind kind, uint64_t number,
				     char *name, int height)
{
	struct picture *picture = drawing->picture;
	struct picture_lane *lane;

	picture->lanes = xgrow(picture->lanes, picture->lane_count, &picture->lane_room,
			       sizeof(*picture->lanes));
	lane = &picture->lanes[picture->lane_count++];
	*lane = (struct picture_lane){
		.name = name,
		.y = picture->height + height / 2,
		.line = kind != LANE_WAIT && kind != LANE_OPERATION,
		.kind = kind,
		.number = number,
	};
	picture->height += height;
	return lane;
}

static void add_thread(struct drawing *drawing, uint32_t pid, uint32_t tid)
{
	if (tid && !find_lane(drawing, LANE_THREAD, tid))
		add_lane(drawing, LANE_THREAD, tid,
			 xasprintf("%s", thread_text(drawing->report, pid, tid)), 34);
}

static bool is_act(const union event *step)
{
	return step->head.type == NS_SEND || step->head.type == NS_RECV;
}

static void add_threads(struct drawing *drawing)
{
	const struct stall *stall = drawing->stall;

	add_thread(drawing, stall->pid, stall->tid);
	for (size_t i = 0; i < stall->step_count; i++) {
		const union event *step = &stall->steps[i];

		if (step->head.type == NS_WAIT || is_act(step))
			add_thread(drawing, step->head.tgid, step->head.tid);
	}
}

static bool is_operation(const union event *step)
{
	return step->head.type == NS_URING && step->uring.step == NS_URING_DONE;
}

static void add_operations(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->stall->step_count; i++) {
		const struct ns_uring *op = &drawing->stall->steps[i].uring;

		if (is_operation(&drawing->stall->steps[i]))
			add_lane(drawing, LANE_OPERATION, i,
				 xasprintf("ring %u: %s", op->ring,
					   uring_op_text(op->opcode, op->fd, op->flags)),
				 22);
	}
}

static uint32_t peer_of(const struct drawing *drawing, uint32_t number)
{
	const struct report_conn *conn = number ? report__conn(drawing->report, number) : NULL;

	return conn ? conn->peer : 0;
}

static char *name_of_far_end(const struct drawing *drawing, uint32_t number)
{
	const struct report_conn *conn = report__conn(drawing->report, number);

	if (!conn)
		return xstrdup("the other end, not watched");
	return xasprintf("%s, not watched",
			 address_text(conn->id.family, conn->id.raddr, conn->id.rport));
}

static void add_end(struct drawing *drawing, uint32_t number, uint32_t of, size_t other)
{
	struct picture_lane *lane;

	if (number)
		lane = add_lane(drawing, LANE_END, number,
				xasprintf("%s's TCP", end_text(drawing->report, number)), 40);
	else
		lane = add_lane(drawing, LANE_FAR_END, of, name_of_far_end(drawing, of), 40);
	lane->absent = !number;
	lane->other = other;
	if (number && drawing->stall->conn)
		lane->dot = number == drawing->stall->conn ? picture__colour(drawing->stall->cause)
							   : "faint";
}

/* Both ends of a connection, with room for what goes from one to the other. */
static void add_pair(struct drawing *drawing, uint32_t number)
{
	uint32_t own = drawing->stall->conn, first = number, second = peer_of(drawing, number);
	size_t at = drawing->picture->lane_count;

	/* Of a connection whose own record got lost only the other end knows that they are a pair.
	 */
	if (second == own && own) {
		first = own;
		second = number;
	}
	add_end(drawing, first, 0, at + 1);
	drawing->picture->height += 16;
	add_end(drawing, second, first, at);
}

static bool is_of_tcp(const union event *step)
{
	return step->head.conn && step->head.type != NS_WAIT && step->head.type != NS_URING;
}

static void add_pairs(struct drawing *drawing)
{
	const struct stall *stall = drawing->stall;

	for (size_t i = 0; i < stall->step_count; i++)
		if (is_of_tcp(&stall->steps[i]) &&
		    !find_lane(drawing, LANE_END, stall->steps[i].head.conn))
			add_pair(drawing, stall->steps[i].head.conn);
}

/* ---- marks ---- */

static struct picture_mark *add_mark(struct drawing *drawing, enum picture_look look,
				     const struct picture_lane *lane, const char *colour,
				     uint64_t from_ts, uint64_t to_ts)
{
	struct picture *picture = drawing->picture;
	struct picture_mark *mark;

	picture->marks = xgrow(picture->marks, picture->mark_count, &picture->mark_room,
			       sizeof(*picture->marks));
	mark = &picture->marks[picture->mark_count++];
	*mark = (struct picture_mark){
		.look = look,
		.lane = (size_t)(lane - picture->lanes),
		.colour = colour,
		.from_ts = from_ts,
		.to_ts = to_ts,
	};
	return mark;
}

/* What the time line says of a step; NULL: nothing. */
static char *step_text(const struct drawing *drawing, const union event *step)
{
	const struct lines *lines = drawing->lines;
	char *text;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	for (size_t i = 0; i < lines->count; i++) {
		const struct words *words = &lines->words[i];

		if (words->step == step)
			fprintf(out, "%s ms  %s  %s %s%s%s\n",
				ms_text((int64_t)(words->ts - drawing->stall->start_ts)),
				words->actor, words->what, words->amount, *words->note ? "\n" : "",
				words->note);
	}
	fclose(out);
	if (size) {
		text[size - 1] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

/* Of a moment. */
static void add_point(struct drawing *drawing, enum picture_look look,
		      const struct picture_lane *lane, const char *colour, const union event *step)
{
	add_mark(drawing, look, lane, colour, step->head.ts, step->head.ts)->title =
		step_text(drawing, step);
}

static void add_slices(struct drawing *drawing)
{
	const struct stall *stall = drawing->stall;
	const struct picture_lane *lane = find_lane(drawing, LANE_WAIT, 0);
	uint64_t at = stall->start_ts;

	for (size_t i = 0; i < stall->slice_count; i++) {
		const struct slice *slice = &stall->slices[i];
		const char *id = cause__info(slice->cause)->id;
		struct picture_mark *mark =
			add_mark(drawing, LOOK_SLICE, lane, picture__colour(slice->cause), at,
				 at + slice->ns);

		mark->label = xasprintf("%s %s", id, duration_text(slice->ns));
		mark->title = xasprintf("%s: %s of %s", id, duration_text(slice->ns),
					duration_text(stall->end_ts - stall->start_ts));
		at += slice->ns;
	}
}

/* The last step of a type before number i, of its connection; NULL: none. */
static const union event *last_of(const struct drawing *drawing, size_t i, uint32_t type)
{
	const union event *steps = drawing->stall->steps;

	for (size_t k = i; k > 0; k--)
		if (steps[k - 1].head.type == type && steps[k - 1].head.conn == steps[i].head.conn)
			return &steps[k - 1];
	return NULL;
}

/* The next step of a type behind number i: of a thread, or of a connection. */
static const union event *next_of(const struct drawing *drawing, size_t i, uint32_t type,
				  uint32_t tid, uint32_t conn)
{
	const struct stall *stall = drawing->stall;

	for (i++; i < stall->step_count; i++) {
		const struct ns_head *head = &stall->steps[i].head;

		if (head->type == type && (tid ? head->tid == tid : head->conn == conn))
			return &stall->steps[i];
	}
	return NULL;
}

static void add_wait(struct drawing *drawing, size_t i)
{
	const struct ns_wait *wait = &drawing->stall->steps[i].wait;
	const struct picture_lane *lane = find_lane(drawing, LANE_THREAD, wait->head.tid);
	const struct picture_lane *waker = find_lane(drawing, LANE_THREAD, wait->waker_tid);
	uint64_t wake = wait->wake_ts ? wait->wake_ts : wait->head.ts;
	const union event *next = next_of(drawing, i, NS_WAIT, wait->head.tid, 0);
	bool own = wait->head.tid == drawing->stall->tid;
	struct picture_mark *mark;

	if (!lane)
		return;
	if (next && next->wait.off_ts > wait->head.ts) {
		mark = add_mark(drawing, LOOK_RUNS, lane, "program", wait->head.ts,
				next->wait.off_ts);
		mark->title = xasprintf("%s runs for %s", lane->name,
					duration_text(next->wait.off_ts - wait->head.ts));
	}
	mark = add_mark(drawing, own ? LOOK_WAITS : LOOK_ASLEEP, lane,
			own ? picture__colour(drawing->stall->cause) : "asleep", wait->off_ts,
			wake);
	mark->label = xasprintf("waits in %s", syscall_text(drawing->report, wait));
	mark->title = step_text(drawing, &drawing->stall->steps[i]);
	if (wait->head.ts > wake) {
		mark = add_mark(drawing, LOOK_READY, lane, "machine", wake, wait->head.ts);
		mark->title = xasprintf("%s waits %s for a CPU", lane->name,
					duration_text(wait->head.ts - wake));
	}
	if (!waker || waker == lane || !wait->wake_ts)
		return;
	mark = add_mark(drawing, LOOK_WAKE, waker, "ink", wake, wake);
	mark->to = (size_t)(lane - drawing->picture->lanes);
	mark->title = xasprintf("%s wakes %s", waker->name, lane->name);
}

static void add_operation(struct drawing *drawing, size_t i)
{
	const union event *step = &drawing->stall->steps[i];
	uint64_t from = step->uring.submit_ts ? step->uring.submit_ts : step->head.ts;
	struct picture_mark *mark =
		add_mark(drawing, LOOK_OPERATION, find_lane(drawing, LANE_OPERATION, i), "program",
			 from, step->head.ts);

	mark->title = step_text(drawing, step);
}

static struct picture_mark *add_held_bytes(struct drawing *drawing, const struct picture_lane *lane,
					   uint64_t from_ts, uint64_t to_ts, uint32_t bytes,
					   uint32_t reason)
{
	struct picture_mark *mark = add_mark(drawing, LOOK_HELD, lane, "held", from_ts, to_ts);

	mark->label = xasprintf("%s held: %s", bytes_text(bytes), hold_reason__name(reason));
	return mark;
}

/* Until the next reason, or until they leave. */
static void add_hold(struct drawing *drawing, size_t i, const struct picture_lane *lane)
{
	const struct ns_hold *hold = &drawing->stall->steps[i].hold;
	const union event *other = next_of(drawing, i, NS_HOLD, 0, hold->head.conn);
	const union event *release = next_of(drawing, i, NS_RELEASE, 0, hold->head.conn);
	uint64_t end = drawing->picture->to_ts;
	struct picture_mark *mark;
	char *begins, *ends;

	/* At the same time a new hold begins and the old one ends: this is the new one. */
	if (release && other && other->head.ts <= release->head.ts)
		release = NULL;
	if (release || other)
		end = release ? release->head.ts : other->head.ts;
	begins = step_text(drawing, &drawing->stall->steps[i]);
	ends = release ? step_text(drawing, release) : NULL;
	mark = add_held_bytes(drawing, lane, hold->head.ts, end, hold->end - hold->seq,
			      hold->reason);
	mark->title = xasprintf("%s, %s%s%s%s%s", mark->label, duration_text(end - hold->head.ts),
				begins ? "\n" : "", begins ? begins : "", ends ? "\n" : "",
				ends ? ends : "");
	free(begins);
	free(ends);
}

/* Where what was held before it was not seen. */
static void add_release(struct drawing *drawing, size_t i, const struct picture_lane *lane)
{
	const union event *step = &drawing->stall->steps[i];
	const struct ns_release *release = &step->release;

	if (!last_of(drawing, i, NS_HOLD))
		add_held_bytes(drawing, lane, step->head.ts - release->held_ns, step->head.ts,
			       release->end - release->seq, release->reason)
			->title = step_text(drawing, step);
}

static void add_timer(struct drawing *drawing, size_t i, const struct picture_lane *lane)
{
	const union event *step = &drawing->stall->steps[i];
	const union event *armed = last_of(drawing, i, NS_DELACK_ARM);
	uint64_t from = armed ? armed->head.ts : step->head.ts - 1000ull * step->delack.ato_us;
	struct picture_mark *mark = add_mark(drawing, LOOK_TIMER, lane, "tcp", from, step->head.ts);

	mark->label = xstrdup("delayed-ACK timer");
	mark->title = xasprintf("the delayed-ACK timer ticks for %s",
				duration_text(step->head.ts - from));
	add_point(drawing, LOOK_FIRE, lane, "tcp", step);
}

static bool is_sent(const union event *step)
{
	return step->head.type == NS_TX || step->head.type == NS_ACK;
}

/* A segment as it left, and as it came to the other end. */
static bool is_same_segment(const union event *sent, const union event *came)
{
	return is_sent(sent) && came->head.type == NS_RX && sent->head.conn != came->head.conn &&
	       came->head.ts + 1000 >= sent->head.ts && sent->segment.end == came->segment.end &&
	       sent->segment.ack == came->segment.ack;
}

static void add_segment(struct drawing *drawing, size_t i, const struct picture_lane *lane)
{
	const struct stall *stall = drawing->stall;
	const struct picture_lane *other = &drawing->picture->lanes[lane->other];
	const union event *step = &stall->steps[i];
	bool sent = is_sent(step), pure = step->segment.seq == step->segment.end;
	struct picture_mark *mark;
	uint64_t came = 0;

	for (size_t k = 0; k < stall->step_count && !came; k++) {
		if (!sent && is_same_segment(&stall->steps[k], step))
			return; /* drawn where it left */
		if (sent && is_same_segment(step, &stall->steps[k]))
			came = stall->steps[k].head.ts;
	}
	mark = add_mark(drawing, pure ? LOOK_ACK : LOOK_SEGMENT, sent ? lane : other,
			pure ? "faint" : "peer", sent ? step->head.ts : 0,
			sent ? came : step->head.ts);
	mark->to = (size_t)((sent ? other : lane) - drawing->picture->lanes);
	mark->title = step_text(drawing, step);
}

static void add_of_tcp(struct drawing *drawing, size_t i)
{
	const union event *step = &drawing->stall->steps[i];
	const struct picture_lane *lane = find_lane(drawing, LANE_END, step->head.conn);

	switch (step->head.type) {
	case NS_HOLD:
		add_hold(drawing, i, lane);
		break;
	case NS_RELEASE:
		add_release(drawing, i, lane);
		break;
	case NS_DELACK_FIRE:
		add_timer(drawing, i, lane);
		break;
	case NS_SEND:
		add_point(drawing, LOOK_WRITTEN, lane, "ink", step);
		break;
	case NS_RECV:
		add_point(drawing, LOOK_READ, lane, "faint", step);
		break;
	case NS_RETRANS:
		add_point(drawing, LOOK_AGAIN, lane, "loss", step);
		break;
	case NS_TX:
	case NS_ACK:
	case NS_RX:
		add_segment(drawing, i, lane);
		break;
	default:
		break;
	}
}

static void add_marks(struct drawing *drawing)
{
	const struct stall *stall = drawing->stall;

	add_slices(drawing);
	for (size_t i = 0; i < stall->step_count; i++) {
		const union event *step = &stall->steps[i];

		if (step->head.type == NS_WAIT)
			add_wait(drawing, i);
		else if (is_operation(step))
			add_operation(drawing, i);
		else if (is_of_tcp(step))
			add_of_tcp(drawing, i);
		if (is_act(step) && step->head.tid)
			add_point(drawing, LOOK_ACT,
				  find_lane(drawing, LANE_THREAD, step->head.tid), "ink", step);
	}
}

/* ---- the whole ---- */

/* The stall, and of what was before and behind it a quarter as much. */
static void choose_view(struct picture *picture, const struct stall *stall)
{
	uint64_t from = stall->start_ts, to = stall->end_ts;
	uint64_t quarter = (stall->end_ts - stall->start_ts) / 4, pad;

	for (size_t i = 0; i < stall->step_count; i++) {
		uint64_t ts = stall->steps[i].head.ts;

		from = ts < from ? ts : from;
		to = ts > to ? ts : to;
	}
	pad = (to - from) * 3 / 100;
	pad = pad ? pad : 1000000;
	if (from + quarter < stall->start_ts)
		from = stall->start_ts - quarter;
	picture->from_ts = from > pad ? from - pad : 0;
	picture->to_ts = min_u64(to, stall->end_ts + quarter) + pad;
}

struct picture *picture__new(const struct report *report, const struct stall *stall,
			     const struct lines *lines)
{
	struct picture *picture = xcalloc(1, sizeof(*picture));
	struct drawing drawing = {
		.picture = picture, .report = report, .stall = stall, .lines = lines};

	picture->height = PICTURE_AXIS;
	choose_view(picture, stall);
	add_lane(&drawing, LANE_WAIT, 0, xstrdup("the wait is"), 18);
	picture->height += 8;
	add_threads(&drawing);
	add_operations(&drawing);
	add_pairs(&drawing);
	picture->height += 8;
	add_marks(&drawing);
	return picture;
}

void picture__free(struct picture *picture)
{
	for (size_t i = 0; i < picture->lane_count; i++)
		free(picture->lanes[i].name);
	for (size_t i = 0; i < picture->mark_count; i++) {
		free(picture->marks[i].label);
		free(picture->marks[i].title);
	}
	free(picture->lanes);
	free(picture->marks);
	free(picture);
}

const struct stall *picture__first(const struct report *report, enum cause cause)
{
	const struct stall *first = report__example(report, cause, 0);

	for (size_t i = 0; i < report->stall_count && !first; i++)
		if (report->stalls[i].step_count)
			first = &report->stalls[i];
	return first;
}

const struct picture_look_info *picture_look__info(enum picture_look look)
{
	return &infos[look];
}
