/* SPDX-License-Identifier: MIT */
/*
 * plan.c - building a plan from option values, and the store of results.
 */
#include "plan.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const struct {
	const char *name;
	const char *unit;
	const char *title;
} builtin_metrics[METRIC_BUILTIN] = {
	[METRIC_WALL] = {"wall", "s", "wall time"},
	[METRIC_USER] = {"user", "s", "user time"},
	[METRIC_SYSTEM] = {"sys", "s", "system time"},
	[METRIC_PEAK_RSS] = {"peak_rss", "KiB", "peak RSS"},
	[METRIC_END_RSS] = {"end_rss", "KiB", "RSS at end"},
	[METRIC_MINOR_FAULTS] = {"faults", "", "minor faults"},
	[METRIC_MAJOR_FAULTS] = {"major_faults", "", "major faults"},
	[METRIC_VOLUNTARY] = {"voluntary", "", "vol. switches"},
	[METRIC_INVOLUNTARY] = {"involuntary", "", "invol. switches"},
};

void plan_init(struct plan *plan)
{
	*plan = (struct plan){
		.runs = 10,
		.warmup = 1,
		.seed = 1,
		.ready_timeout = 60,
		.stop_signal = SIGTERM,
		.point_count = 1,
	};
	plan->points = tool_alloc(sizeof(*plan->points));
	for (int i = 0; i < METRIC_BUILTIN; i++) {
		plan_append_metric(plan,
			(struct metric){
				.name = tool_strdup(builtin_metrics[i].name),
				.unit = tool_strdup(builtin_metrics[i].unit),
				.title = tool_strdup(builtin_metrics[i].title),
				.is_shown = true,
			});
	}
}

void plan_append_subject(struct plan *plan, struct subject subject)
{
	plan->subjects = tool_realloc(plan->subjects,
		(plan->subject_count + 1) * sizeof(*plan->subjects));
	plan->subjects[plan->subject_count++] = subject;
}

void plan_append_metric(struct plan *plan, struct metric metric)
{
	plan->metrics = tool_realloc(plan->metrics,
		(plan->metric_count + 1) * sizeof(*plan->metrics));
	plan->metrics[plan->metric_count++] = metric;
}

int plan_subject(const struct plan *plan, const char *label)
{
	for (size_t i = 0; i < plan->subject_count; i++) {
		if (strcmp(plan->subjects[i].label, label) == 0) {
			return (int)i;
		}
	}
	return -1;
}

int plan_metric(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->metric_count; i++) {
		if (strcmp(plan->metrics[i].name, name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

/* The last part of a path, without "lib" and from ".so" on. */
static char *label_of(const char *backend)
{
	const char *slash = strrchr(backend, '/');
	char *label = tool_strdup(slash != NULL ? slash + 1 : backend);
	char *suffix = slash != NULL ? strstr(label, ".so") : NULL;

	if (suffix != NULL && suffix > label) {
		*suffix = '\0';
	}
	if (suffix != NULL && strncmp(label, "lib", 3) == 0 && label[3]) {
		memmove(label, label + 3, strlen(label + 3) + 1);
	}
	return label;
}

static int add_subject(struct plan *plan, const char *item)
{
	static const char preload[] = "preload:";
	const char *equals = strchr(item, '=');
	const char *slash = strchr(item, '/');
	struct subject subject = {0};

	if (equals != NULL && (slash == NULL || equals < slash)) {
		subject.label = strndup(item, (size_t)(equals - item));
		item = equals + 1;
	}
	if (*item == '\0' || (subject.label && subject.label[0] == '\0')) {
		tool_usage("an empty name in the list of backends");
		return -1;
	}
	if (strcmp(item, "none") == 0) {
		subject.kind = SUBJECT_NONE;
	} else if (strncmp(item, preload, sizeof(preload) - 1) == 0) {
		subject.kind = SUBJECT_PRELOAD;
		subject.backend = realpath(item + sizeof(preload) - 1, NULL);
		if (subject.backend == NULL) {
			tool_perror("%s", item);
			return -1;
		}
	} else if (strchr(item, '/') != NULL) {
		/* Commands may change directory. */
		subject.backend = realpath(item, NULL);
		if (subject.backend == NULL) {
			tool_perror("%s", item);
			return -1;
		}
	} else {
		subject.backend = tool_strdup(item);
	}
	if (subject.label == NULL) {
		subject.label = subject.kind == SUBJECT_NONE
					? tool_strdup("none")
					: label_of(item);
	}
	if (plan_subject(plan, subject.label) >= 0) {
		tool_usage("two backends are called `%s'; write LABEL=%s",
			subject.label, item);
		return -1;
	}
	plan_append_subject(plan, subject);
	return 0;
}

/* Call `each` for every part of a comma-separated list. */
static int for_list(struct plan *plan, const char *list,
	int (*each)(struct plan *plan, const char *item))
{
	char *copy = tool_strdup(list);
	char *rest = copy;
	char *item;
	int status = 0;

	while (status == 0 && (item = strsep(&rest, ",")) != NULL) {
		status = each(plan, item);
	}
	free(copy);
	return status;
}

int plan_add_subjects(struct plan *plan, const char *list)
{
	return for_list(plan, list, add_subject);
}

static bool is_name(const char *text, size_t size)
{
	return size > 0 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") >= size;
}

int plan_add_metric(struct plan *plan, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t head = equals != NULL ? (size_t)(equals - text) : 0;
	size_t name = strcspn(text, ":=");
	struct metric metric = {.is_shown = true};
	char reason[128];
	int error;

	if (equals == NULL || !is_name(text, name)) {
		tool_usage("--metric %s: expected NAME[:max|:min]=REGEX", text);
		return -1;
	}
	if (head != name) {
		metric.more_is_better = strncmp(text + name, ":max=", 5) == 0;
		if (!metric.more_is_better &&
			strncmp(text + name, ":min=", 5) != 0) {
			tool_usage("--metric %s: the name is followed by :max "
				   "or :min",
				text);
			return -1;
		}
	}
	metric.name = strndup(text, name);
	if (plan_metric(plan, metric.name) >= 0) {
		tool_usage("--metric %s: there is a metric of this name",
			metric.name);
		return -1;
	}
	metric.title = tool_strdup(metric.name);
	metric.unit = tool_strdup("");
	metric.regex = tool_alloc(sizeof(*metric.regex));
	error = regcomp(metric.regex, equals + 1, REG_EXTENDED | REG_NEWLINE);
	if (error != 0) {
		regerror(error, metric.regex, reason, sizeof(reason));
		tool_usage("--metric %s: %s", text, reason);
		return -1;
	}
	plan_append_metric(plan, metric);
	return 0;
}

static int add_point(struct plan *plan, const char *value)
{
	if (*value == '\0') {
		tool_usage("--sweep %s: an empty value", plan->sweep_name);
		return -1;
	}
	plan->points = tool_realloc(
		plan->points, (plan->point_count + 1) * sizeof(*plan->points));
	plan->points[plan->point_count++] = tool_strdup(value);
	return 0;
}

int plan_set_sweep(struct plan *plan, const char *text)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || !is_name(text, (size_t)(equals - text))) {
		tool_usage("--sweep %s: expected NAME=VALUE,VALUE,...", text);
		return -1;
	}
	if (plan->sweep_name != NULL) {
		tool_usage("one --sweep is enough");
		return -1;
	}
	plan->sweep_name = strndup(text, (size_t)(equals - text));
	plan->point_count = 0;
	return for_list(plan, equals + 1, add_point);
}

int plan_set_ready(struct plan *plan, const char *text)
{
	static const struct {
		const char *head;
		enum ready_kind kind;
	} kinds[] = {{"port=", READY_PORT}, {"line=", READY_LINE},
		{"command=", READY_COMMAND}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t length = strlen(kinds[i].head);

		if (strncmp(text, kinds[i].head, length) == 0 && text[length]) {
			plan->ready = kinds[i].kind;
			plan->ready_value = tool_strdup(text + length);
			return 0;
		}
	}
	tool_usage("--ready %s: expected port=NUMBER, line=REGEX or "
		   "command=COMMAND",
		text);
	return -1;
}

static int show_metric(struct plan *plan, const char *name)
{
	int i = plan_metric(plan, name);

	if (i < 0) {
		tool_usage("--show: no metric `%s'", name);
		return -1;
	}
	plan->metrics[i].is_shown = true;
	return 0;
}

int plan_set_shown(struct plan *plan, const char *list)
{
	for (size_t i = 0; i < plan->metric_count; i++) {
		plan->metrics[i].is_shown = false;
	}
	return for_list(plan, list, show_metric);
}

void results_init(struct results *results, const struct plan *plan)
{
	*results = (struct results){.plan = plan};
	results->cells = tool_alloc(plan->point_count * plan->subject_count *
				    sizeof(*results->cells));
}

struct cell *results_cell(
	const struct results *results, size_t point, size_t subject)
{
	return &results->cells[point * results->plan->subject_count + subject];
}

struct run run_empty(const struct plan *plan)
{
	struct run run = {0};

	run.values = tool_alloc(plan->metric_count * sizeof(*run.values));
	for (size_t i = 0; i < plan->metric_count; i++) {
		run.values[i] = NAN;
	}
	return run;
}

void cell_append(struct cell *cell, struct run run)
{
	cell->runs = tool_realloc(
		cell->runs, (cell->count + 1) * sizeof(*cell->runs));
	cell->runs[cell->count++] = run;
}

size_t cell_good(const struct cell *cell)
{
	size_t good = 0;

	for (size_t i = 0; i < cell->count; i++) {
		good += cell->runs[i].failure == NULL;
	}
	return good;
}
