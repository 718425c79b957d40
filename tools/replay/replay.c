/* SPDX-License-Identifier: MIT */
/*
 * replay.c - `allocmux replay`: a trace as a benchmark.
 *
 * The trace becomes a list of calls (convert.c), which a small program makes
 * under each backend (player.c), run and judged as `allocmux compare` does.
 */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert.h"
#include "execute.h"
#include "forms.h"
#include "subjects.h"
#include "tool.h"
#include "version.h"

enum { KEY_BASELINE = KEY_FORMS_END, KEY_TOUCH };

static const struct tool_option replay_options[] = {
	{"backends", 'b', "LIST", "As for `allocmux compare' (default: all)",
		VALUE_BACKEND},
	{"baseline", KEY_BASELINE, "LABEL",
		"Ratios are to this one (default: system)", VALUE_BACKEND},
	{"runs", 'n', "N", "Runs of each (default: 5)", VALUE_ANY},
	{"touch", KEY_TOUCH, "WHAT",
		"What is written of each block: none, one byte of all its "
		"pages, or all of it (default: pages)",
		VALUE_ANY},
	FORM_OPTIONS,
	{0},
};

static int replay_main(int argc, char **argv);

const struct command command_replay = {
	.name = "replay",
	.usage = "[OPTION]... TRACE",
	.summary = "Make the calls of a recorded trace under several backends",
	.text = "TRACE was recorded with every event. Threads, sizes, "
		"alignments, lifetimes and the order of all calls are those of "
		"the trace; one call is made at a time, so that each replay "
		"does the same, and contention does not show. Figures are the "
		"time in calls and touching, and memory: anonymous resident "
		"pages at most, on average, and as a multiple of what was "
		"live. Plots show memory over the course of the trace.",
	.options = replay_options,
	.main = replay_main,
};

static const struct {
	const char *name;
	const char *unit;
	const char *title;
	const char *regex;
} figures[] = {
	{"calls", "s", "time in calls", "^seconds ([0-9.]+)"},
	{"peak", "KiB", "peak memory", "^peak_kib ([0-9]+)"},
	{"mean", "KiB", "mean memory", "^mean_kib ([0-9.]+)"},
	{"end", "KiB", "memory at end", "^end_kib ([0-9]+)"},
	{"over_live", "", "memory over live", "^over_live ([0-9.]+)"},
	{"peak_live", "", "peak live bytes", "^peak_live_bytes ([0-9]+)"},
};

static void metrics_add(struct plan *plan)
{
	for (size_t i = 0; i < plan->metric_count; i++) {
		plan->metrics[i].is_shown = false;
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		struct metric metric = {
			.name = tool_strdup(figures[i].name),
			.unit = tool_strdup(figures[i].unit),
			.title = tool_strdup(figures[i].title),
			/* All replays hold the same: it is no contest. */
			.is_shown = strcmp(figures[i].name, "peak_live") != 0,
			.regex = tool_alloc(sizeof(*metric.regex)),
		};

		if (regcomp(metric.regex, figures[i].regex,
			    REG_EXTENDED | REG_NEWLINE) != 0) {
			tool_error("regcomp");
			exit(TOOL_BROKEN);
		}
		plan_append_metric(plan, metric);
	}
}

/* "sample PART KIB BYTES" lines. */
static void samples_take(const char *text, struct run *run)
{
	while (text != NULL) {
		double part;
		double kib;
		double live;

		if (sscanf(text, "sample %lf %lf %lf\n", &part, &kib, &live) ==
			3) {
			run->samples = tool_realloc(
				run->samples, (run->sample_count + 1) *
						      sizeof(*run->samples));
			run->samples[run->sample_count++] =
				(struct sample){100 * part, kib, live / 1024};
		}
		text = strchr(text, '\n');
		text = text != NULL ? text + 1 : NULL;
	}
}

static char *player_find(void)
{
	static const char *const places[] = {
		AMUX_BINDIR_TO_LIBEXECDIR "/allocmux/allocmux-replay",
		"allocmux-replay", /* build tree */
	};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0) {
		tool_perror("cannot read /proc/self/exe");
		return NULL;
	}
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = tool_format("%s/%s", self, places[i]);

		if (access(path, X_OK) == 0) {
			return path;
		}
		free(path);
	}
	tool_error("allocmux-replay is not beside this program");
	return NULL;
}

/* The calls of the trace in a file, whose name is the result; or NULL. */
static char *calls_make(const char *path)
{
	const char *folder = getenv("TMPDIR");
	struct ops_header header = {0};
	struct trace trace;
	char *name;
	int fd;
	int status;

	if (!trace_load(&trace, path)) {
		return NULL;
	}
	if (trace.header.mode != AMUX_TRACE_RECORD) {
		tool_error("%s does not have every event: record it with "
			   "ALLOC_TRACE=record",
			path);
		trace_unload(&trace);
		return NULL;
	}
	trace_warn(&trace);
	name = tool_format("%s/allocmux-calls-XXXXXX",
		folder != NULL && *folder ? folder : "/tmp");
	fd = mkstemp(name);
	if (fd < 0) {
		tool_perror("%s", name);
		trace_unload(&trace);
		free(name);
		return NULL;
	}
	status = ops_write(&trace, fd, &header);
	close(fd);
	trace_unload(&trace);
	if (status == 0 && header.count == 0) {
		tool_error("%s: no calls in it", path);
		status = -1;
	}
	if (status != 0) {
		unlink(name);
		free(name);
		return NULL;
	}
	return name;
}

struct request {
	struct plan plan;
	const char *backends;
	const char *baseline;
	const char *touch;
	struct forms forms;
};

static int option_take(struct request *request, int key, const char *value)
{
	switch (key) {
	case 'b':
		request->backends = value;
		return 0;
	case 'n':
		return count_parse("runs", value, 1, &request->plan.runs);
	case KEY_BASELINE:
		request->baseline = value;
		return 0;
	case KEY_TOUCH:
		request->touch = value;
		if (strcmp(value, "none") != 0 && strcmp(value, "pages") != 0 &&
			strcmp(value, "all") != 0) {
			tool_usage("--touch %s: expected none, pages or all",
				value);
			return -1;
		}
		return 0;
	default:
		return forms_take(&request->forms, key, value);
	}
}

static int play(struct request *request, char *calls, const char *trace)
{
	struct plan *plan = &request->plan;
	char *player = player_find();
	struct results results;
	int status;
	/* The player does not read the last one: it is for the reader. */
	char *command[] = {
		player, calls, (char *)request->touch, (char *)trace, NULL};

	if (player == NULL) {
		return TOOL_BROKEN;
	}
	plan->command = command;
	results_init(&results, plan);
	execute_plan(plan, &results);
	status = forms_write(&request->forms, &results);
	free(player);
	return status;
}

static int replay_main(int argc, char **argv)
{
	struct request request = {.backends = "all", .touch = "pages"};
	const char *path = NULL;
	const char *value;
	char *calls;
	int key;
	int status;

	plan_init(&request.plan);
	request.plan.runs = 5;
	request.plan.warmup = 0;
	request.plan.sample_title = "memory, MiB, over % of the trace";
	request.plan.take_output = samples_take;
	metrics_add(&request.plan);
	while ((key = option_next(&command_replay, argc, argv, &value)) > 0 ||
		(key == 0 && optind < argc)) {
		if (key == 0) {
			/* Options may follow the trace. */
			path = path == NULL ? argv[optind++] : NULL;
			if (path == NULL) {
				return tool_usage("name one trace");
			}
		} else if (option_take(&request, key, value) != 0) {
			return TOOL_USAGE;
		}
	}
	if (key < 0) {
		return TOOL_USAGE;
	}
	if (path == NULL) {
		return tool_usage("name one trace");
	}
	if (subjects_set(&request.plan, request.backends, request.baseline) !=
		0) {
		return TOOL_USAGE;
	}
	if (forms_check(&request.forms) != 0) {
		return TOOL_BROKEN;
	}
	calls = calls_make(path);
	if (calls == NULL) {
		return TOOL_BROKEN;
	}
	status = play(&request, calls, path);
	unlink(calls);
	free(calls);
	return status;
}
