// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/cmd/live.h"
#include "user/process/report_file.h"
#include "user/render/html/html.h"
#include "user/render/html/picture.h"
#include "user/render/profile/profile.h"
#include "user/render/words/chain_words.h"

/* All 0: it is no terminal. */
static struct winsize terminal_size(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? (struct winsize){0} : size;
}

static unsigned terminal_width(int fd)
{
	unsigned columns = terminal_size(fd).ws_col;

	if (columns < 60)
		return 0;
	return columns < 140 ? columns : 140;
}

static bool is_dumb(void)
{
	const char *terminal = getenv("TERM");

	return terminal && !strcmp(terminal, "dumb");
}

bool output__has_progress(void)
{
	return isatty(STDERR_FILENO) && !is_dumb();
}

void output__style(struct render_style *style, FILE *file, bool no_color)
{
	const char *wish = getenv("NO_COLOR");
	bool has_colours = isatty(fileno(file)) && !is_dumb();

	style->width = terminal_width(fileno(file));
	style->colour = has_colours && !no_color && !(wish && *wish);
}

int output__open(struct output *output, const struct options *options)
{
	memset(output, 0, sizeof(*output));
	output->file = stdout;
	output->path = options->output;
	output->style.verbose = options->verbose;
	output->style.connections = options->connections;
	output->style.full_stacks = options->full_stacks;
	for (size_t i = 0; i < EXTRAS; i++) {
		struct extra_file *extra = &output->extras[i];

		extra->path = options->extras[i];
		if (extra->path && !(extra->file = report_file__open(extra->path)))
			return -EIO;
	}
	if (!output->path) {
		output__style(&output->style, stdout, options->no_color);
		return 0;
	}
	output->file = report_file__open(output->path);
	return output->file ? 0 : -EIO;
}

int output__close(struct output *output)
{
	int err = output->path ? report_file__close(output->file, output->path, 0) : 0;

	for (size_t i = 0; i < EXTRAS; i++) {
		struct extra_file *extra = &output->extras[i];
		int of_extra =
			extra->file ? report_file__close(extra->file, extra->path, extra->err) : 0;

		err = err ? err : of_extra;
	}
	return err;
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

void printer__init(struct printer *printer, struct output *output, const struct options *options)
{
	memset(printer, 0, sizeof(*printer));
	printer->output = output;
	printer->options = options;
	if (options->events == EVENTS_URING && !options->json)
		printer->uring = uring_list__new(output->file, &output->style);
	if (output->extras[EXTRA_PCAPNG].file)
		printer->pcapng = pcapng__new();
	if (output->extras[EXTRA_PERFETTO].file)
		printer->perfetto = perfetto__new();
}

void printer__free(struct printer *printer)
{
	uring_list__free(printer->uring);
	pcapng__free(printer->pcapng);
	perfetto__free(printer->perfetto);
	printer->uring = NULL;
}

/* Is this one of the first --show stalls of its cause on its connection, or the first of them
 * that was seen whole? */
static bool to_be_shown(struct printer *printer, const struct stall *stall)
{
	size_t i;

	for (i = 0; i < printer->seen_count; i++) {
		struct seen *seen = &printer->seen[i];

		if (seen->cause != stall->cause || seen->conn != stall->conn)
			continue;
		/* The first ones may lack what is watched only from then on. */
		if (seen->shown++ >= printer->options->show &&
		    (seen->whole || stall->missing || !printer->options->show))
			return false;
		seen->whole |= !stall->missing;
		return true;
	}
	if (printer->seen_count == sizeof(printer->seen) / sizeof(printer->seen[0]))
		return false;
	printer->seen[i].cause = stall->cause;
	printer->seen[i].conn = stall->conn;
	printer->seen[i].shown = 1;
	printer->seen[printer->seen_count].whole = !stall->missing;
	printer->seen_count++;
	return printer->options->show > 0;
}

static void show(struct printer *printer, const struct report *so_far, const struct stall *stall)
{
	if (!to_be_shown(printer, stall))
		return;
	live__clear_progress();
	render__stall(printer->output->file, so_far, stall, &printer->output->style);
	fflush(printer->output->file);
	printer->stalls_shown++;
}

/* Time lines are printed as their stalls end; else they are a part of the report. */
static bool is_streaming(const struct printer *printer)
{
	return printer->options->show != SHOW_IN_REPORT;
}

static void on_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	struct printer *printer = context;

	if (printer->perfetto)
		perfetto__stall(printer->perfetto, stall);
	if (printer->options->json && printer->options->events != EVENTS_URING) {
		render__json_stall(printer->output->file, so_far, stall);
		fflush(printer->output->file); /* somebody may wait for it */
	} else if (!printer->options->json && !printer->uring && is_streaming(printer)) {
		show(printer, so_far, stall);
	}
}

static bool prints_records(const struct printer *printer)
{
	return (printer->options->json && printer->options->events != EVENTS_STALLS) ||
	       printer->options->all || printer->uring;
}

static void on_record(void *context, const struct report *so_far, const union record *record)
{
	struct printer *printer = context;

	if (printer->pcapng)
		pcapng__record(printer->pcapng, so_far, record);
	if (printer->perfetto)
		perfetto__record(printer->perfetto, so_far, record);
	if (!prints_records(printer))
		return;
	if (printer->uring) {
		live__clear_progress();
		uring_list__record(printer->uring, so_far, record);
		return;
	}
	if (printer->options->json) {
		if (printer->options->events == EVENTS_ALL ||
		    uring_list__is_of_it(record->head.type))
			render__json_record(printer->output->file, so_far, record);
		return;
	}
	live__clear_progress();
	render__record(printer->output->file, so_far, record, &printer->output->style);
}

struct pipeline_sink printer__sink(struct printer *printer)
{
	bool records = prints_records(printer) || printer->pcapng || printer->perfetto;

	return (struct pipeline_sink){
		.on_record = records ? on_record : NULL, .on_stall = on_stall, .context = printer};
}

void printer__idle(struct printer *printer, const struct report *so_far, uint64_t now_ns)
{
	if (!printer->uring)
		return;
	uring_list__idle(printer->uring, so_far, now_ns);
	fflush(printer->output->file);
}

static bool is_chosen(const struct stall_choice *choice, const struct report *report,
		      const struct stall *stall)
{
	double begin = ((double)stall->start_ts - (double)report->start_ts) / 1e9;
	double end = ((double)stall->end_ts - (double)report->start_ts) / 1e9;

	return (!choice->number || choice->number == stall->number) &&
	       (!choice->cause || !strcmp(choice->cause, cause__info(stall->cause)->id)) &&
	       (!choice->thread || choice->thread == stall->tid || choice->thread == stall->pid) &&
	       (!choice->connection || choice->connection == stall->conn ||
		choice->connection == stall->peer) &&
	       (!choice->from || end > choice->from) && (!choice->to || begin < choice->to);
}

static void print_chosen(const struct printer *printer, const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->stall_count; i++) {
		if (!is_chosen(&printer->options->stalls, report, &report->stalls[i]))
			continue;
		render__stall(printer->output->file, report, &report->stalls[i],
			      &printer->output->style);
		count++;
	}
	log__note("showing %s of %s%s", count_text(count),
		  text__counted((char[TEXT_COUNTED]){""}, TEXT_COUNTED,
				report->stall_count + report->stalls_not_kept, "stall"),
		  report->stalls_not_kept ? ", some of which were not kept" : "");
}

/* The stall that was asked for, or the one that a page opens with. */
static const struct stall *stall_to_draw(const struct printer *printer, const struct report *report,
					 const struct verdict *verdict)
{
	uint32_t number = printer->options->stalls.number;

	return number ? report__stall(report, number) : picture__first(report, verdict->cause);
}

static void write_others(struct printer *printer, const struct report *report,
			 const struct verdict *verdict)
{
	uint64_t left_out = 0;

	if (printer->output->extras[EXTRA_HTML].file)
		render__html(printer->output->extras[EXTRA_HTML].file, report, verdict, NULL);
	if (printer->output->extras[EXTRA_SVG].file)
		picture__svg(printer->output->extras[EXTRA_SVG].file, report,
			     stall_to_draw(printer, report, verdict));
	if (printer->pcapng)
		pcapng__write(printer->pcapng, printer->output->extras[EXTRA_PCAPNG].file, report);
	if (printer->perfetto)
		left_out = perfetto__write(printer->perfetto,
					   printer->output->extras[EXTRA_PERFETTO].file, report);
	if (left_out)
		log__note("%s events had no room in %s", count_text(left_out),
			  printer->output->extras[EXTRA_PERFETTO].path);
}

/* Of a terminal, with the headline again below what has pushed it out of sight. */
static void print_report(struct printer *printer, const struct report *report,
			 const struct verdict *verdict)
{
	unsigned rows = terminal_size(fileno(printer->output->file)).ws_row, lines = 1;
	char *text;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	render__report(out, report, verdict, &printer->output->style, !is_streaming(printer));
	fclose(out);
	fputs(text, printer->output->file);
	for (const char *at = text; rows && (at = strchr(at, '\n')); at++)
		lines++;
	if (rows && lines > rows)
		render__headline(printer->output->file, verdict, &printer->output->style);
	free(text);
}

static void print(struct printer *printer, const struct report *report,
		  const struct verdict *verdict)
{
	FILE *out = printer->output->file;
	size_t more;

	if (printer->options->stalls.made) {
		print_chosen(printer, report);
		return;
	}
	if (printer->options->json) {
		render__json(out, report, verdict, 0, printer->options->connections);
		return;
	}
	if (printer->uring) {
		uring_list__finish(printer->uring, report);
		for (size_t i = 0; i < report->stall_count && is_streaming(printer); i++)
			show(printer, report, &report->stalls[i]);
	}
	more = report->stall_count + report->stalls_not_kept - printer->stalls_shown;
	if (printer->stalls_shown && more)
		fprintf(out, "\n... and %zu more (--show=all prints each)\n", more);
	/* Apart from what stands above it: of this output, or on the same terminal. */
	if (printer->stalls_shown || prints_records(printer))
		fputc('\n', out);
	else if (isatty(STDERR_FILENO) && isatty(fileno(out)))
		fputc('\n', stderr);
	print_report(printer, report, verdict);
}

void printer__interim(struct printer *printer, const struct report *report)
{
	FILE *out = printer->output->file;
	struct verdict verdict;

	verdict__write(&verdict, report);
	if (!printer->options->json)
		fprintf(out, "So far, in %s:\n", duration_text(report->end_ts - report->start_ts));
	print(printer, report, &verdict);
	if (!printer->options->json)
		fputc('\n', out);
	fflush(out);
}

void printer__finish(struct printer *printer, const struct report *report)
{
	struct verdict verdict;

	live__clear_progress();
	verdict__write(&verdict, report);
	write_others(printer, report, &verdict);
	print(printer, report, &verdict);
	verdict__clear(&verdict);
}

/* ---- a profile ---- */

/* What the folded stacks have no place for. */
static void say_losses(const struct profile *profile)
{
	char words[CHAIN_WORDS];

	for (size_t i = 0; i < PROFILE_LOST_KINDS; i++) {
		if (profile->lost[i].count)
			log__note("lost: %s", profile__lost(words, sizeof(words), profile, i));
	}
	for (enum profile_note note = 0; note < PROFILE_NOTES; note++) {
		if (profile__note(words, sizeof(words), profile, note))
			log__note("%s", words);
	}
	if (profile->hidden)
		log__note("%s", profile->hidden);
}

void output__profile(struct output *output, const struct options *options, struct profile *profile)
{
	bool terminal = !output->path && isatty(STDOUT_FILENO);
	struct extra_file *pprof = &output->extras[EXTRA_PPROF];

	profile->delimited = options->delimited;
	if (options->json) {
		render__profile_json(output->file, profile);
	} else if (options->folded || !terminal) {
		render__folded(output->file, profile);
		say_losses(profile);
		if (!profile->entry_count)
			log__note(
				"no wait was seen: the target did not sleep, it ended before the attach, or the options exclude its waits");
	} else {
		render__profile_top(output->file, profile, &output->style);
	}
	if (output->extras[EXTRA_SVG].file)
		render__profile_svg(output->extras[EXTRA_SVG].file, profile);
	if (pprof->file)
		pprof->err = render__profile_pprof(pprof->file, profile);
}
