/* SPDX-License-Identifier: MIT */
/*
 * print_json.c - everything compare knows as JSON: the plan, each run, and the
 * figures made of them. load.c reads the plan and the runs back.
 *
 * Values of runs are in the units that the metrics name; unknown ones are null.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "print.h"
#include "tool.h"
#include "version.h"

static struct json_object *json_number(double value)
{
	return isfinite(value) ? json_object_new_double(value) : NULL;
}

static struct json_object *json_string(const char *text)
{
	return text != NULL ? json_object_new_string(text) : NULL;
}

static struct json_object *json_interval(const struct interval *interval)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "low", json_number(interval->low));
	json_object_object_add(object, "high", json_number(interval->high));
	json_object_object_add(
		object, "coverage", json_number(interval->coverage));
	return object;
}

static struct json_object *json_metrics(const struct plan *plan)
{
	struct json_object *array = json_object_new_array();

	for (size_t m = 0; m < plan->metric_count; m++) {
		const struct metric *metric = &plan->metrics[m];
		struct json_object *object = json_object_new_object();

		json_object_object_add(
			object, "name", json_string(metric->name));
		json_object_object_add(
			object, "title", json_string(metric->title));
		json_object_object_add(
			object, "unit", json_string(metric->unit));
		json_object_object_add(object, "more_is_better",
			json_object_new_boolean(metric->more_is_better));
		json_object_object_add(object, "shown",
			json_object_new_boolean(metric->is_shown));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_subjects(const struct plan *plan)
{
	static const char *const kinds[] = {
		[SUBJECT_SHIM] = "shim",
		[SUBJECT_PRELOAD] = "preload",
		[SUBJECT_NONE] = "none",
	};
	struct json_object *array = json_object_new_array();

	for (size_t s = 0; s < plan->subject_count; s++) {
		const struct subject *subject = &plan->subjects[s];
		struct json_object *object = json_object_new_object();

		json_object_object_add(
			object, "label", json_string(subject->label));
		json_object_object_add(
			object, "how", json_string(kinds[subject->kind]));
		json_object_object_add(
			object, "backend", json_string(subject->backend));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_plan(const struct plan *plan)
{
	struct json_object *object = json_object_new_object();
	struct json_object *command = NULL;
	struct json_object *points = NULL;

	if (plan->command != NULL) {
		command = json_object_new_array();
		for (size_t i = 0; plan->command[i] != NULL; i++) {
			json_object_array_add(
				command, json_string(plan->command[i]));
		}
	}
	if (plan->sweep_name != NULL) {
		points = json_object_new_array();
		for (size_t p = 0; p < plan->point_count; p++) {
			json_object_array_add(
				points, json_string(plan->points[p]));
		}
	}
	json_object_object_add(object, "command", command);
	json_object_object_add(object, "server", json_string(plan->server));
	json_object_object_add(object, "load", json_string(plan->load));
	json_object_object_add(object, "prepare", json_string(plan->prepare));
	json_object_object_add(object, "cleanup", json_string(plan->cleanup));
	json_object_object_add(object, "backends", json_subjects(plan));
	json_object_object_add(object, "baseline",
		json_string(plan->subjects[plan->baseline].label));
	json_object_object_add(object, "metrics", json_metrics(plan));
	json_object_object_add(object, "sweep", json_string(plan->sweep_name));
	json_object_object_add(object, "points", points);
	json_object_object_add(
		object, "runs", json_object_new_int((int)plan->runs));
	json_object_object_add(
		object, "warmup", json_object_new_int((int)plan->warmup));
	json_object_object_add(
		object, "seed", json_object_new_int64((int64_t)plan->seed));
	return object;
}

static struct json_object *json_samples(const struct run *run)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < run->sample_count; i++) {
		struct json_object *pair = json_object_new_array();

		json_object_array_add(pair, json_number(run->samples[i].time));
		json_object_array_add(pair, json_number(run->samples[i].rss));
		if (run->samples[i].live > 0) {
			json_object_array_add(
				pair, json_number(run->samples[i].live));
		}
		json_object_array_add(array, pair);
	}
	return array;
}

static struct json_object *json_run(
	const struct plan *plan, const struct run *run)
{
	struct json_object *object = json_object_new_object();
	struct json_object *values = json_object_new_object();

	for (size_t m = 0; m < plan->metric_count; m++) {
		json_object_object_add(values, plan->metrics[m].name,
			json_number(run->values[m]));
	}
	json_object_object_add(object, "failure", json_string(run->failure));
	json_object_object_add(object, "values", values);
	if (run->sample_count > 0) {
		/* Time, KiB, and KiB live if they are known. */
		json_object_object_add(
			object, "rss_over_time", json_samples(run));
	}
	return object;
}

static struct json_object *json_figure(
	const struct summary *summary, size_t p, size_t m, size_t s)
{
	const struct figure *figure = summary_figure(summary, p, m, s);
	struct json_object *object = json_object_new_object();

	json_object_object_add(
		object, "count", json_object_new_int((int)figure->count));
	json_object_object_add(object, "median", json_number(figure->median));
	json_object_object_add(
		object, "interval", json_interval(&figure->interval));
	json_object_object_add(object, "mean", json_number(figure->mean));
	json_object_object_add(
		object, "deviation", json_number(figure->deviation));
	json_object_object_add(object, "ratio", json_number(figure->ratio));
	json_object_object_add(object, "shift", json_number(figure->shift));
	json_object_object_add(object, "shift_interval",
		json_interval(&figure->shift_interval));
	json_object_object_add(object, "p", json_number(figure->p));
	json_object_object_add(
		object, "better", json_object_new_boolean(figure->is_better));
	json_object_object_add(
		object, "worse", json_object_new_boolean(figure->is_worse));
	json_object_object_add(object, "winner",
		json_object_new_boolean(
			summary_verdict(summary, p, m)->winner == (int)s));
	return object;
}

static struct json_object *json_cell(
	const struct summary *summary, size_t p, size_t s)
{
	const struct plan *plan = summary->results->plan;
	const struct cell *cell = results_cell(summary->results, p, s);
	struct json_object *object = json_object_new_object();
	struct json_object *runs = json_object_new_array();
	struct json_object *figures = json_object_new_object();

	for (size_t i = 0; i < cell->count; i++) {
		json_object_array_add(runs, json_run(plan, &cell->runs[i]));
	}
	for (size_t m = 0; m < plan->metric_count; m++) {
		json_object_object_add(figures, plan->metrics[m].name,
			json_figure(summary, p, m, s));
	}
	json_object_object_add(
		object, "backend", json_string(plan->subjects[s].label));
	json_object_object_add(object, "point",
		plan->sweep_name != NULL ? json_string(plan->points[p]) : NULL);
	json_object_object_add(object, "runs", runs);
	json_object_object_add(object, "figures", figures);
	return object;
}

void print_json(FILE *out, const struct view *view)
{
	const struct summary *summary = view->summary;
	const struct plan *plan = summary->results->plan;
	struct json_object *root = json_object_new_object();
	struct json_object *cells = json_object_new_array();
	char *method = view_method(view);

	for (size_t p = 0; p < plan->point_count; p++) {
		for (size_t s = 0; s < plan->subject_count; s++) {
			json_object_array_add(cells, json_cell(summary, p, s));
		}
	}
	json_object_object_add(
		root, "allocmux", json_string(AMUX_VERSION_TEXT));
	json_object_object_add(root, "kind", json_string("compare"));
	json_object_object_add(
		root, "date", json_string(summary->results->date));
	json_object_object_add(
		root, "machine", json_string(summary->results->machine));
	json_object_object_add(root, "method", json_string(method));
	json_object_object_add(root, "plan", json_plan(plan));
	json_object_object_add(root, "results", cells);
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(root,
			JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
				JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	free(method);
}
