/* SPDX-License-Identifier: MIT */
/*
 * bench.c - `allocmux bench`: which backend should this machine have by
 * default?
 *
 * The project's workloads (tests/bench) under each backend, run and judged as
 * `allocmux compare` does with a sweep over them. They do a fixed amount of
 * work, so time is wall time and memory is peak RSS; what is shown are ratios
 * to the baseline, one line a workload, and their geometric means.
 */
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "execute.h"
#include "print.h"
#include "subjects.h"
#include "tool.h"
#include "version.h"

enum { KEY_BASELINE = 256, KEY_WORKLOADS, KEY_SCALE, KEY_JSON };

/* PROGRAM or PROGRAM.MODE of tests/bench, in which w_ stands before PROGRAM. */
#define WORKLOADS                                                              \
	"larson,xmalloc,mstress,lifetimes.alone,lifetimes.shared,"             \
	"churn.small,churn.large,threads.mix,threads.cross,thread_churn,"      \
	"realloc.strings,realloc.vectors,big.random,drift"

static const struct tool_option bench_options[] = {
	{"backends", 'b', "LIST", "As for `allocmux compare' (default: all)",
		VALUE_BACKEND},
	{"baseline", KEY_BASELINE, "LABEL",
		"Ratios are to this one (default: system)", VALUE_BACKEND},
	{"runs", 'n', "N", "Runs of each (default: 5)", VALUE_ANY},
	{"scale", KEY_SCALE, "PERCENT",
		"Of the usual work; less is faster and less certain (default: "
		"20)",
		VALUE_ANY},
	{"workloads", KEY_WORKLOADS, "LIST",
		"Only these, separated by commas (default: fourteen of them)",
		VALUE_ANY},
	{"json", KEY_JSON, "FILE",
		"Write everything to FILE, for `allocmux compare --from FILE'",
		VALUE_FILE},
	{0},
};

static int bench_main(int argc, char **argv);

const struct command command_bench = {
	.name = "bench",
	.usage = "[OPTION]...",
	.summary = "Run the project's workloads to choose a default backend",
	.text = "Prints for each workload the wall time and the peak memory "
		"under each backend as ratios to the baseline, then their "
		"geometric means, and which backends no other one beats in "
		"both. Run it on an idle machine: it takes some minutes.",
	.options = bench_options,
	.main = bench_main,
};

/* The folder of the workloads, or NULL when it has been reported missing. */
static char *programs_find(void)
{
	static const char *const places[] = {
		AMUX_BINDIR_TO_LIBEXECDIR "/allocmux/bench", /* installed */
		"../tests/bench",                            /* build tree */
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
		char *folder = tool_format("%s/%s", self, places[i]);
		char *program = tool_format("%s/w_larson", folder);
		bool found = access(program, X_OK) == 0;

		free(program);
		if (found) {
			return folder;
		}
		free(folder);
	}
	tool_error("the workloads are not there; build the target "
		   "bench_programs, and install again if this is installed");
	return NULL;
}

static void plan_fill(struct plan *plan, char *folder, unsigned scale)
{
	/* $0 is the folder; the rest is one word of the sweep. */
	static const char script[] =
		"w={workload}; p=${w%%%%.*}; m=${w#\"$p\"}; "
		"exec \"$0/w_$p\" -s %u ${m#.}";
	char **command = tool_alloc(5 * sizeof(*command));

	command[0] = tool_strdup("sh");
	command[1] = tool_strdup("-c");
	command[2] = tool_format(script, scale);
	command[3] = folder;
	plan->command = command;
	plan->warmup = 0;
	plan->timeout = 600;
}

/* Ratio to the baseline; NaN if there is none. */
static double ratio_of(
	const struct summary *summary, size_t metric, size_t point, size_t s)
{
	return summary_figure(summary, point, metric, s)->ratio;
}

/* Over the workloads that both it and the baseline finished. */
static double mean_ratio(
	const struct summary *summary, size_t metric, size_t subject)
{
	const struct plan *plan = summary->results->plan;
	double sum = 0;
	size_t count = 0;

	for (size_t p = 0; p < plan->point_count; p++) {
		double ratio = ratio_of(summary, metric, p, subject);

		if (ratio > 0) {
			sum += log(ratio);
			count++;
		}
	}
	return count == plan->point_count ? exp(sum / (double)count) : NAN;
}

enum { NAME_WIDTH = 18 };

static int column_width(const struct plan *plan, size_t subject)
{
	int length = (int)strlen(plan->subjects[subject].label);

	return length > 7 ? length : 7;
}

static void print_ratio(double ratio, const char *mark, int width)
{
	if (isnan(ratio)) {
		printf(" %*s%-1s", width, "-", "");
	} else {
		printf(" %*.2f%-1s", width, ratio, mark);
	}
}

static void print_table(
	const struct view *view, size_t metric, const char *title)
{
	const struct summary *summary = view->summary;
	const struct plan *plan = summary->results->plan;

	printf("%-*s", NAME_WIDTH, title);
	for (size_t s = 0; s < plan->subject_count; s++) {
		printf(" %*s ", column_width(plan, s), plan->subjects[s].label);
	}
	putchar('\n');
	for (size_t p = 0; p < plan->point_count; p++) {
		struct view_column column = {NULL, metric, p};

		printf("%-*s", NAME_WIDTH, plan->points[p]);
		for (size_t s = 0; s < plan->subject_count; s++) {
			const char *mark = view_mark(view, &column, s);

			print_ratio(ratio_of(summary, metric, p, s),
				*mark == '=' ? "" : (char[]){*mark, '\0'},
				column_width(plan, s));
		}
		putchar('\n');
	}
	printf("%-*s", NAME_WIDTH, "geometric mean");
	for (size_t s = 0; s < plan->subject_count; s++) {
		print_ratio(mean_ratio(summary, metric, s), "",
			column_width(plan, s));
	}
	printf("\n\n");
}

/* Is a at least as good as b in both, and better in one? */
static bool beats(const struct summary *summary, size_t a, size_t b)
{
	double time_a = mean_ratio(summary, METRIC_WALL, a);
	double time_b = mean_ratio(summary, METRIC_WALL, b);
	double peak_a = mean_ratio(summary, METRIC_PEAK_RSS, a);
	double peak_b = mean_ratio(summary, METRIC_PEAK_RSS, b);

	return time_a <= time_b && peak_a <= peak_b &&
	       (time_a < time_b || peak_a < peak_b);
}

static void print_choice(const struct summary *summary)
{
	const struct plan *plan = summary->results->plan;

	printf("Not beaten in both means by any other:");
	for (size_t s = 0; s < plan->subject_count; s++) {
		bool beaten = isnan(mean_ratio(summary, METRIC_WALL, s));

		for (size_t other = 0; other < plan->subject_count; other++) {
			beaten |= beats(summary, other, s);
		}
		if (!beaten) {
			printf(" %s (time %.2f, memory %.2f)",
				plan->subjects[s].label,
				mean_ratio(summary, METRIC_WALL, s),
				mean_ratio(summary, METRIC_PEAK_RSS, s));
		}
	}
	printf("\n");
}

static bool print_failures(const struct results *results)
{
	const struct plan *plan = results->plan;
	bool any = false;

	for (size_t p = 0; p < plan->point_count; p++) {
		for (size_t s = 0; s < plan->subject_count; s++) {
			char *text = view_failures(results, p, s);

			if (text != NULL) {
				printf("! %s, %s: %s\n",
					plan->subjects[s].label,
					plan->points[p], text);
				any = true;
			}
			free(text);
		}
	}
	return any;
}

static int bench_report(const struct results *results, const char *json)
{
	struct summary summary;
	struct view view;
	int status = TOOL_OK;
	FILE *out;

	summary_make(&summary, results);
	view_make(&view, &summary);
	print_table(&view, METRIC_WALL, "time");
	print_table(&view, METRIC_PEAK_RSS, "peak memory");
	if (print_failures(results)) {
		status = TOOL_FAILED;
	}
	print_choice(&summary);
	if (json != NULL) {
		out = fopen(json, "we");
		if (out != NULL) {
			print_json(out, &view);
		}
		if (out == NULL || ferror(out) | fclose(out)) {
			tool_perror("%s", json);
			status = TOOL_BROKEN;
		}
	}
	view_free(&view);
	summary_free(&summary);
	return status;
}

static int bench_main(int argc, char **argv)
{
	const char *backends = "all";
	const char *baseline = NULL;
	const char *workloads = WORKLOADS;
	const char *json = NULL;
	unsigned scale = 20;
	struct plan plan;
	struct results results;
	const char *value;
	char *sweep;
	char *folder;
	int key;

	plan_init(&plan);
	plan.runs = 5;
	while ((key = option_next(&command_bench, argc, argv, &value)) > 0) {
		switch (key) {
		case 'b':
			backends = value;
			break;
		case KEY_BASELINE:
			baseline = value;
			break;
		case KEY_WORKLOADS:
			workloads = value;
			break;
		case KEY_JSON:
			json = value;
			break;
		case KEY_SCALE:
			if (count_parse("scale", value, 1, &scale) != 0) {
				return TOOL_USAGE;
			}
			break;
		case 'n':
			if (count_parse("runs", value, 1, &plan.runs) != 0) {
				return TOOL_USAGE;
			}
			break;
		}
	}
	if (key < 0) {
		return TOOL_USAGE;
	}
	if (optind != argc) {
		return tool_usage("no arguments are taken");
	}
	folder = programs_find();
	if (folder == NULL) {
		return TOOL_BROKEN;
	}
	sweep = tool_format("workload=%s", workloads);
	plan_fill(&plan, folder, scale);
	if (plan_set_sweep(&plan, sweep) != 0 ||
		subjects_set(&plan, backends, baseline) != 0) {
		return TOOL_USAGE;
	}
	free(sweep);
	results_init(&results, &plan);
	execute_plan(&plan, &results);
	return bench_report(&results, json);
}
