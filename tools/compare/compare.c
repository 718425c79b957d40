/* SPDX-License-Identifier: MIT */
/*
 * compare.c - `allocmux compare`: which allocator is best for a program?
 *
 * From options to a plan (plan.c), from the plan to runs (execute.c) or from
 * files to runs (load.c), to figures (summary.c) and to tables and plots.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute.h"
#include "forms.h"
#include "load.h"
#include "subjects.h"
#include "tool.h"

enum {
	KEY_BASELINE = KEY_FORMS_END,
	KEY_SERVER,
	KEY_LOAD,
	KEY_READY,
	KEY_READY_TIMEOUT,
	KEY_STOP_SIGNAL,
	KEY_PREPARE,
	KEY_CLEANUP,
	KEY_SWEEP,
	KEY_TIMEOUT,
	KEY_SAME_OUTPUT,
	KEY_SEED,
	KEY_SHOW,
	KEY_FROM,
};

static const struct tool_option compare_options[] = {
	{"backends", 'b', "LIST",
		"Compare these, separated by commas: names or paths as in "
		"`allocmux run', `all', `none' (the program as it is), "
		"`preload:PATH' (a library preloaded without Allocmux); "
		"LABEL=NAME calls it LABEL (default: all)",
		VALUE_BACKEND},
	{"baseline", KEY_BASELINE, "LABEL",
		"Ratios are to this one (default: system, which is added if it "
		"is missing)",
		VALUE_BACKEND},
	{"runs", 'n', "N", "Runs of each (default: 10)", VALUE_ANY},
	{"warmup", 'w', "N", "Runs of each before those (default: 1)",
		VALUE_ANY},
	{"metric", 'm', "NAME=REGEX",
		"Also take a number from the output: the last match of the "
		"extended regular expression, its first group if it has one, "
		"on stdout or else on stderr. With NAME:max more is better",
		VALUE_ANY},
	{"show", KEY_SHOW, "LIST",
		"Only these metrics in tables and plots: wall, user, sys, "
		"peak_rss, end_rss, faults, major_faults, voluntary, "
		"involuntary, or names given with --metric",
		VALUE_ANY},
	{"sweep", KEY_SWEEP, "NAME=V,V,...",
		"Everything once for each value, which replaces {NAME} in the "
		"commands",
		VALUE_ANY},
	{"server", KEY_SERVER, "COMMAND",
		"Start this server under the backend instead of a program",
		VALUE_COMMAND},
	{"load", KEY_LOAD, "COMMAND",
		"With --server: what drives it, outside the shim",
		VALUE_COMMAND},
	{"ready", KEY_READY, "WHEN",
		"When the server is ready: port=NUMBER answers on loopback, "
		"line=REGEX was written, or command=COMMAND succeeds",
		VALUE_ANY},
	{"ready-timeout", KEY_READY_TIMEOUT, "SECONDS",
		"How long to wait for that (default: 60)", VALUE_ANY},
	{"stop-signal", KEY_STOP_SIGNAL, "NAME",
		"What stops the server (default: TERM)", VALUE_ANY},
	{"prepare", KEY_PREPARE, "COMMAND", "Before each run, not measured",
		VALUE_COMMAND},
	{"cleanup", KEY_CLEANUP, "COMMAND", "After each run, not measured",
		VALUE_COMMAND},
	{"timeout", KEY_TIMEOUT, "SECONDS",
		"A command that takes longer is killed and has failed",
		VALUE_ANY},
	{"same-output", KEY_SAME_OUTPUT, NULL,
		"A run whose stdout differs from the baseline's has failed",
		VALUE_ANY},
	{"seed", KEY_SEED, "N", "Of the random order in a round (default: 1)",
		VALUE_ANY},
	{"from", KEY_FROM, "FILE",
		"Run nothing: report what --json wrote; more files are pooled",
		VALUE_FILE},
	FORM_OPTIONS,
	{0},
};

static int compare_main(int argc, char **argv);

const struct command command_compare = {
	.name = "compare",
	.usage = "[OPTION]... [--] COMMAND [ARGUMENT]...",
	.summary = "Measure a program or a server under several backends",
	.text = "Runs COMMAND under each backend in turn, in rounds of random "
		"order, and prints medians with intervals, ratios to the "
		"baseline, what is significant, and the winner of each column "
		"if there is one. Peak RSS is that of the largest process, as "
		"in time(1); RSS at the end is read when that process exits. "
		"With --server the figures are the server's, with all its "
		"processes, while the load runs.\n\n"
		"{backend} in a command is replaced by the backend's label, "
		"{run} by the number of the run, {pid} by the server's process "
		"id.\n\n"
		"Status 1 means that some runs failed; each is told in its row. "
		"A backend that fails twice without one success is not tried "
		"again.",
	.options = compare_options,
	.main = compare_main,
};

struct request {
	struct plan plan;
	const char *backends;
	const char *baseline;
	const char *show;
	const char **from;
	size_t from_count;
	struct forms forms;
};

static int signal_parse(const char *text, int *number)
{
	if (strncmp(text, "SIG", 3) == 0) {
		text += 3;
	}
	for (int i = 1; i < NSIG; i++) {
		const char *name = sigabbrev_np(i);

		if (name != NULL && strcmp(name, text) == 0) {
			*number = i;
			return 0;
		}
	}
	tool_usage("--stop-signal %s: no such signal", text);
	return -1;
}

static void from_append(struct request *request, const char *path)
{
	request->from = tool_realloc(request->from,
		(request->from_count + 1) * sizeof(*request->from));
	request->from[request->from_count++] = path;
}

static int option_take(struct request *request, int key, const char *value)
{
	struct plan *plan = &request->plan;
	double number;

	switch (key) {
	case 'b':
		request->backends = value;
		return 0;
	case KEY_BASELINE:
		request->baseline = value;
		return 0;
	case 'n':
		return count_parse("runs", value, 1, &plan->runs);
	case 'w':
		return count_parse("warmup", value, 0, &plan->warmup);
	case 'm':
		return plan_add_metric(plan, value);
	case KEY_SHOW:
		request->show = value;
		return 0;
	case KEY_SWEEP:
		return plan_set_sweep(plan, value);
	case KEY_SERVER:
		plan->server = tool_strdup(value);
		return 0;
	case KEY_LOAD:
		plan->load = tool_strdup(value);
		return 0;
	case KEY_READY:
		return plan_set_ready(plan, value);
	case KEY_READY_TIMEOUT:
		return number_parse(
			"ready-timeout", value, 0, &plan->ready_timeout);
	case KEY_STOP_SIGNAL:
		return signal_parse(value, &plan->stop_signal);
	case KEY_PREPARE:
		plan->prepare = tool_strdup(value);
		return 0;
	case KEY_CLEANUP:
		plan->cleanup = tool_strdup(value);
		return 0;
	case KEY_TIMEOUT:
		return number_parse("timeout", value, 0, &plan->timeout);
	case KEY_SAME_OUTPUT:
		plan->same_output = true;
		return 0;
	case KEY_SEED:
		if (number_parse("seed", value, 0, &number) != 0) {
			return -1;
		}
		plan->seed = (uint64_t)number;
		return 0;
	case KEY_FROM:
		from_append(request, value);
		return 0;
	default:
		return forms_take(&request->forms, key, value);
	}
}

/* Do the options make sense together? */
static int request_check(struct request *request, int argc, char **argv)
{
	struct plan *plan = &request->plan;
	bool has_command = optind < argc;

	if (request->from_count > 0) {
		if (has_command || plan->server != NULL) {
			tool_usage("--from reports old runs, so there is no "
				   "command to run");
			return -1;
		}
		return 0;
	}
	if (plan->server != NULL && has_command) {
		tool_usage("either --server or a command");
		return -1;
	}
	if (plan->server == NULL && !has_command) {
		tool_usage("no command to run");
		return -1;
	}
	if ((plan->server != NULL) != (plan->load != NULL)) {
		tool_usage("--server and --load need each other");
		return -1;
	}
	if (plan->server != NULL && plan->ready == READY_NONE) {
		tool_usage("--server needs --ready, to know when to begin");
		return -1;
	}
	if (has_command) {
		plan->command = argv + optind;
	}
	return subjects_set(plan, request->backends, request->baseline);
}

static int compare_main(int argc, char **argv)
{
	struct request request = {.backends = "all"};
	struct results results;
	const char *value;
	int key;

	plan_init(&request.plan);
	while ((key = option_next(&command_compare, argc, argv, &value)) > 0) {
		if (option_take(&request, key, value) != 0) {
			return TOOL_USAGE;
		}
	}
	if (key < 0 || request_check(&request, argc, argv) != 0) {
		return TOOL_USAGE;
	}
	if (forms_check(&request.forms) != 0) {
		return TOOL_BROKEN;
	}
	if (request.from_count > 0) {
		if (results_load(&request.plan, &results, request.from,
			    request.from_count) != 0) {
			return TOOL_BROKEN;
		}
	}
	if (request.show != NULL &&
		plan_set_shown(&request.plan, request.show) != 0) {
		return TOOL_USAGE;
	}
	if (request.from_count == 0) {
		results_init(&results, &request.plan);
		execute_plan(&request.plan, &results);
	}
	return forms_write(&request.forms, &results);
}
