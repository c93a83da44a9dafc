// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The still picture: as page.js draws it at first, 1200 pixels wide. */
#include <math.h>
#include <string.h>

#include "user/base/embed.h"
#include "user/base/escape.h"
#include "user/base/text.h"
#include "user/render/html/picture.h"
#include "user/render/words/names.h"

#define WIDTH   1200
#define RIGHT   (WIDTH - PICTURE_RIGHT)
#define LETTER  6
#define CAPTION 22

EMBED(netstall_colours_css, "user/render/html/colours.css");

struct still {
	FILE *out;
	const struct report *report;
	const struct stall *stall;
	const struct picture *picture;
};

/* "#f0a35e": what stands first in colours.css, which is the light one. */
static const char *value_of(const char *colour, int *length)
{
	char name[32];
	const char *value;

	snprintf(name, sizeof(name), "--%s: ", colour);
	value = strstr(netstall_colours_css, name);
	value = value ? value + strlen(name) : "#000";
	*length = (int)strcspn(value, ";");
	return value;
}

/* An attribute. */
static void paint(FILE *out, const char *attribute, const char *colour)
{
	int length;
	const char *value = value_of(colour, &length);

	fprintf(out, " %s=\"%.*s\"", attribute, length, value);
}

/* What it says when it is hovered; NULL: nothing. */
static void say_title(FILE *out, const char *title)
{
	if (!title)
		return;
	fputs("<title>", out);
	escape__xml(out, title, false);
	fputs("</title>", out);
}

static void end_element(FILE *out, const char *element, const char *title)
{
	fputc('>', out);
	say_title(out, title);
	fprintf(out, "</%s>\n", element);
}

static void draw_text(FILE *out, double x, double y, const char *colour, const char *words)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
	paint(out, "fill", colour);
	fputc('>', out);
	escape__xml(out, words, false);
	fputs("</text>\n", out);
}

static void draw_line(FILE *out, double x1, double y1, double x2, double y2, double width,
		      const char *colour, const char *dashes)
{
	fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"%.1f\"",
		x1, y1, x2, y2, width);
	paint(out, "stroke", colour);
	if (dashes)
		fprintf(out, " stroke-dasharray=\"%s\"", dashes);
	end_element(out, "line", NULL);
}

static void draw_circle(FILE *out, double x, double y, double radius, const char *colour,
			const char *title)
{
	fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", x, y, radius);
	paint(out, "fill", colour);
	end_element(out, "circle", title);
}

static double x_of(const struct still *still, uint64_t ts)
{
	const struct picture *picture = still->picture;
	double whole = (double)(picture->to_ts - picture->from_ts);

	return PICTURE_LEFT +
	       ((double)ts - (double)picture->from_ts) / whole * (RIGHT - PICTURE_LEFT);
}

static double clamped(double x)
{
	return fmin(fmax(x, PICTURE_LEFT), RIGHT);
}

/* From one label to the next: about eight of them. */
static uint64_t tick_ns(uint64_t span_ns)
{
	static const unsigned steps[] = {1, 2, 5, 10};
	uint64_t base = 1;
	size_t i = 0;

	while (base * 80 < span_ns)
		base *= 10;
	while (steps[i] * base * 8 < span_ns)
		i++;
	return steps[i] * base;
}

static void draw_axis(const struct still *still)
{
	const struct picture *picture = still->picture;
	uint64_t step = tick_ns(picture->to_ts - picture->from_ts);
	int64_t begins = (int64_t)(picture->from_ts - still->stall->start_ts);
	int64_t ends = (int64_t)(picture->to_ts - still->stall->start_ts);

	for (int64_t at = begins / (int64_t)step * (int64_t)step; at <= ends; at += (int64_t)step) {
		double x = x_of(still, still->stall->start_ts + (uint64_t)at);
		char words[32];

		if (at < begins)
			continue;
		draw_line(still->out, x, PICTURE_AXIS - 4, x, picture->height, 0.6, "line", NULL);
		snprintf(words, sizeof(words), "%g ms", (double)at / 1e6);
		draw_text(still->out, x + 3, PICTURE_AXIS - 8, "faint", words);
	}
}

static void draw_lane(FILE *out, const struct picture_lane *lane)
{
	draw_text(out, 8, lane->y + 4, lane->line && !lane->absent ? "ink" : "faint", lane->name);
	if (lane->line)
		draw_line(out, PICTURE_LEFT, lane->y, RIGHT, lane->y, 2, "line",
			  lane->absent ? "2 5" : NULL);
	if (lane->dot)
		draw_circle(out, PICTURE_LEFT - 8, lane->y, 3, lane->dot, NULL);
}

static void draw_bar(const struct still *still, const struct picture_mark *mark,
		     const struct picture_look_info *look, double y)
{
	double from = fmax(x_of(still, mark->from_ts), PICTURE_LEFT);
	double to = fmin(x_of(still, mark->to_ts), RIGHT);
	FILE *out = still->out;

	if (to < from || from > RIGHT)
		return;
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"%d\"",
		mark->from_ts == mark->to_ts ? from - look->least / 2.0 : from,
		y - look->height / 2.0, fmax(look->least, to - from), look->height, look->radius);
	if (look->hollow)
		fputs(" fill=\"none\" stroke-width=\"1.5\"", out);
	paint(out, look->hollow ? "stroke" : "fill", mark->colour);
	if (look->dashed)
		fputs(" stroke-dasharray=\"3 3\"", out);
	end_element(out, "rect", mark->title);
	if (mark->label && to - from >= (double)strlen(mark->label) * LETTER + 12)
		draw_text(out, from + (look->beside ? 10 : 6), y + (look->beside ? -9 : 4),
			  look->beside  ? "faint"
			  : look->light ? "paper"
					: "ink",
			  mark->label);
}

static void draw_arrow(FILE *out, double x1, double y1, double x2, double y2,
		       const struct picture_mark *mark, bool dashed)
{
	double angle = atan2(y2 - y1, x2 - x1);

	fputs("<g", out);
	paint(out, "fill", mark->colour);
	fputc('>', out);
	say_title(out, mark->title);
	draw_line(out, x1, y1, x2, y2, 1.6, mark->colour, dashed ? "4 3" : NULL);
	fprintf(out, "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/></g>\n", x2, y2,
		x2 - 8 * cos(angle + 0.4), y2 - 8 * sin(angle + 0.4), x2 - 8 * cos(angle - 0.4),
		y2 - 8 * sin(angle - 0.4));
}

static bool is_seen(double x)
{
	return x >= PICTURE_LEFT - 20 && x <= RIGHT + 20;
}

static void draw_mark(const struct still *still, const struct picture_mark *mark)
{
	const struct picture_look_info *look = picture_look__info(mark->look);
	const struct picture_lane *lanes = still->picture->lanes;
	double y = lanes[mark->lane].y + look->down, from, to;

	if (look->shape == SHAPE_BAR) {
		draw_bar(still, mark, look, y);
		return;
	}
	to = mark->to_ts ? x_of(still, mark->to_ts) : x_of(still, mark->from_ts) + 10;
	from = mark->from_ts ? x_of(still, mark->from_ts) : to - 10;
	if (!is_seen(from) || !is_seen(to))
		return;
	if (look->shape == SHAPE_ARROW) {
		draw_arrow(still->out, from, y, to, lanes[mark->to].y, mark, look->dashed);
		return;
	}
	draw_circle(still->out, from, y, look->height / 2.0, mark->colour, mark->title);
}

/* What the user said meanwhile. */
static void draw_said(const struct still *still)
{
	const struct report *report = still->report;
	int foot = still->picture->height;

	for (size_t i = 0; i < report->mark_count; i++) {
		const struct report_mark *mark = &report->marks[i];
		double x = x_of(still, mark->ts);

		if (mark->ts < still->picture->from_ts || mark->ts > still->picture->to_ts)
			continue;
		draw_line(still->out, x, PICTURE_AXIS, x, foot, 1.2, "ink", "5 3");
		draw_text(still->out, x + 6, foot - 2, "ink", safe_text(mark->text, NS_MARK_LEN));
	}
}

static void draw_caption(const struct still *still)
{
	const struct stall *stall = still->stall;
	const struct report_conn *conn =
		stall->conn ? report__conn(still->report, stall->conn) : NULL;
	char words[512];

	snprintf(words, sizeof(words), "%s, %s of %s", cause__info(stall->cause)->id,
		 duration_text(stall->end_ts - stall->start_ts),
		 thread_text(still->report, stall->pid, stall->tid));
	if (conn)
		add_to(words, ": ", "%s", addresses_text(&conn->id));
	draw_text(still->out, 8, still->picture->height + CAPTION - 7, "ink", words);
}

static void draw_paper(const struct still *still)
{
	const struct picture *picture = still->picture;
	double from = clamped(x_of(still, still->stall->start_ts));
	double to = clamped(x_of(still, still->stall->end_ts));

	fputs("<rect width=\"100%\" height=\"100%\"", still->out);
	paint(still->out, "fill", "paper");
	end_element(still->out, "rect", NULL);
	fprintf(still->out,
		"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill-opacity=\"0.6\"", from,
		PICTURE_AXIS, fmax(1, to - from), picture->height - PICTURE_AXIS);
	paint(still->out, "fill", "shade");
	end_element(still->out, "rect", NULL);
}

static void begin_picture(FILE *out, int height)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"system-ui, sans-serif\" "
		"font-size=\"11.5\">\n",
		WIDTH, height, WIDTH, height);
}

static void draw_none(FILE *out)
{
	begin_picture(out, 2 * PICTURE_AXIS);
	draw_text(out, 8, PICTURE_AXIS, "ink", "No stall was found that could be drawn.");
	fputs("</svg>\n", out);
}

void picture__svg(FILE *out, const struct report *report, const struct stall *stall)
{
	struct still still = {.out = out, .report = report, .stall = stall};
	struct picture *picture;
	struct lines *lines;

	if (!stall) {
		draw_none(out);
		return;
	}
	lines = lines__new(report, stall);
	picture = picture__new(report, stall, lines);
	still.picture = picture;
	begin_picture(out, picture->height + CAPTION);
	draw_paper(&still);
	draw_axis(&still);
	draw_said(&still);
	for (size_t i = 0; i < picture->lane_count; i++)
		draw_lane(out, &picture->lanes[i]);
	for (size_t i = 0; i < picture->mark_count; i++)
		draw_mark(&still, &picture->marks[i]);
	draw_caption(&still);
	fputs("</svg>\n", out);
	picture__free(picture);
	lines__free(lines);
}
