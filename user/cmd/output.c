// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "user/cmd/live.h"
#include "user/process/report_file.h"

static unsigned terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 60)
		return 0;
	return size.ws_col < 140 ? size.ws_col : 140;
}

void output__style(struct render_style *style, FILE *file, bool no_color)
{
	const char *wish = getenv("NO_COLOR");

	style->width = terminal_width(fileno(file));
	style->colour = isatty(fileno(file)) && !no_color && !(wish && *wish);
}

int output__open(struct output *output, const struct options *options)
{
	memset(output, 0, sizeof(*output));
	output->file = stdout;
	output->path = options->output;
	output->style.verbose = options->verbose;
	if (!output->path) {
		output__style(&output->style, stdout, options->no_color);
		return 0;
	}
	output->file = report_file__open(output->path);
	return output->file ? 0 : -EIO;
}

int output__close(struct output *output)
{
	return output->path ? report_file__close(output->file, output->path, 0) : 0;
}

/* As a write to a pipe that nobody reads ends other programs; sooner, it would leave files and
 * processes of ours half done. */
static void end_by_pipe(void)
{
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &pipe, NULL);
	raise(SIGPIPE);
}

static void close_stdout(void)
{
	int err = report_file__close(stdout, "stdout", 0);

	if (err == -EPIPE)
		end_by_pipe();
	if (err)
		_exit(EXIT_UNABLE);
}

void output__watch_stdout(void)
{
	atexit(close_stdout);
}

void teller__init(struct teller *teller, struct output *output, const struct options *options)
{
	memset(teller, 0, sizeof(*teller));
	teller->output = output;
	teller->options = options;
	if (options->events_uring && !options->json)
		teller->uring = uring_list__new(output->file, &output->style);
}

void teller__free(struct teller *teller)
{
	uring_list__free(teller->uring);
	teller->uring = NULL;
}

/* Is this one of the first --show stalls of its cause on its connection, or the first of them
 * that was seen whole? */
static bool to_be_shown(struct teller *teller, const struct stall *stall)
{
	size_t i;

	for (i = 0; i < teller->seen_count; i++) {
		struct seen *seen = &teller->seen[i];

		if (seen->cause != stall->cause || seen->conn != stall->conn)
			continue;
		/* The first ones may lack what is watched only from then on. */
		if (seen->shown++ >= teller->options->show &&
		    (seen->whole || stall->missing || !teller->options->show))
			return false;
		seen->whole |= !stall->missing;
		return true;
	}
	if (teller->seen_count == sizeof(teller->seen) / sizeof(teller->seen[0]))
		return false;
	teller->seen[i].cause = stall->cause;
	teller->seen[i].conn = stall->conn;
	teller->seen[i].shown = 1;
	teller->seen[teller->seen_count].whole = !stall->missing;
	teller->seen_count++;
	return teller->options->show > 0;
}

static void show(struct teller *teller, const struct report *so_far, const struct stall *stall)
{
	if (!to_be_shown(teller, stall))
		return;
	live__clear_progress();
	render__stall(teller->output->file, so_far, stall, &teller->output->style);
	fflush(teller->output->file);
	teller->stalls_shown++;
}

/* Time lines are printed as their stalls end; else they are a part of the report. */
static bool is_streaming(const struct teller *teller)
{
	return teller->options->show != SHOW_IN_REPORT;
}

static void on_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	struct teller *teller = context;

	if (!teller->options->json && !teller->uring && is_streaming(teller))
		show(teller, so_far, stall);
}

static void on_record(void *context, const struct report *so_far, const union record *record)
{
	struct teller *teller = context;

	if (teller->uring) {
		live__clear_progress();
		uring_list__record(teller->uring, so_far, record);
		return;
	}
	if (teller->options->json) {
		if (!teller->options->events_uring || uring_list__is_of_it(record->head.type))
			render__json_record(teller->output->file, so_far, record);
		return;
	}
	live__clear_progress();
	render__record(teller->output->file, so_far, record, &teller->output->style);
}

struct pipeline_sink teller__sink(struct teller *teller)
{
	bool records = teller->options->json || teller->options->all || teller->uring;

	return (struct pipeline_sink){
		.on_record = records ? on_record : NULL, .on_stall = on_stall, .context = teller};
}

void teller__idle(struct teller *teller, const struct report *so_far, uint64_t now_ns)
{
	if (!teller->uring)
		return;
	uring_list__idle(teller->uring, so_far, now_ns);
	fflush(teller->output->file);
}

void teller__finish(struct teller *teller, const struct report *report)
{
	FILE *out = teller->output->file;
	struct verdict verdict;
	size_t more;

	live__clear_progress();
	verdict__write(&verdict, report);
	if (teller->options->json) {
		render__json(out, report, &verdict, 0);
		verdict__clear(&verdict);
		return;
	}
	if (teller->uring) {
		uring_list__finish(teller->uring, report);
		for (size_t i = 0; i < report->stall_count && is_streaming(teller); i++)
			show(teller, report, &report->stalls[i]);
	}
	more = report->stall_count + report->stalls_not_kept - teller->stalls_shown;
	if (teller->stalls_shown && more)
		fprintf(out, "\n... and %zu more (--show=all prints each)\n", more);
	render__report(out, report, &verdict, &teller->output->style, !is_streaming(teller));
	verdict__clear(&verdict);
}
