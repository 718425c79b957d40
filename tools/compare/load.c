/* SPDX-License-Identifier: MIT */
/*
 * load.c - the inverse of print_json.c, for reports without new runs and for
 * measurements made in pieces.
 *
 * Figures in the file are not read: they are made again from the runs.
 */
#include "load.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* A file is refused at the first thing that is not as expected. */
struct reader {
	const char *path;
	bool failed;
};

static void reader_fail(struct reader *reader, const char *what)
{
	if (!reader->failed) {
		tool_error("%s: no results of `allocmux compare': %s",
			reader->path, what);
	}
	reader->failed = true;
}

static struct json_object *member(struct reader *reader,
	struct json_object *object, const char *name, enum json_type type)
{
	struct json_object *value = NULL;

	if (!json_object_is_type(object, json_type_object) ||
		!json_object_object_get_ex(object, name, &value) ||
		!json_object_is_type(value, type)) {
		reader_fail(reader, name);
		return NULL;
	}
	return value;
}

/* NULL in the file, or a failure, gives NULL. The caller frees it. */
static char *text_or_null(
	struct reader *reader, struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, name, &value)) {
		reader_fail(reader, name);
	}
	if (value == NULL) {
		return NULL;
	}
	if (!json_object_is_type(value, json_type_string)) {
		reader_fail(reader, name);
		return NULL;
	}
	return tool_strdup(json_object_get_string(value));
}

static const char *text(
	struct reader *reader, struct json_object *object, const char *name)
{
	struct json_object *value =
		member(reader, object, name, json_type_string);

	return value != NULL ? json_object_get_string(value) : "";
}

/* json-c keeps whole numbers apart from others. */
static bool is_number(struct json_object *value)
{
	return json_object_is_type(value, json_type_double) ||
	       json_object_is_type(value, json_type_int);
}

static size_t length(struct json_object *array)
{
	return array != NULL ? json_object_array_length(array) : 0;
}

static void subjects_read(
	struct reader *reader, struct plan *plan, struct json_object *object)
{
	struct json_object *array =
		member(reader, object, "backends", json_type_array);
	int baseline;

	for (size_t i = 0; i < length(array); i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		const char *label = text(reader, item, "label");
		const char *how = text(reader, item, "how");

		if (reader->failed || plan_subject(plan, label) >= 0) {
			continue;
		}
		plan_append_subject(plan,
			(struct subject){
				.kind = strcmp(how, "none") == 0 ? SUBJECT_NONE
					: strcmp(how, "preload") == 0
						? SUBJECT_PRELOAD
						: SUBJECT_SHIM,
				.label = tool_strdup(label),
				.backend =
					text_or_null(reader, item, "backend"),
			});
	}
	baseline = plan_subject(plan, text(reader, object, "baseline"));
	if (baseline < 0) {
		reader_fail(reader, "baseline");
	} else {
		plan->baseline = (size_t)baseline;
	}
}

/* The first file's own metrics are added; those of others must be known. */
static void metrics_read(struct reader *reader, struct plan *plan,
	struct json_object *object, bool first)
{
	struct json_object *array =
		member(reader, object, "metrics", json_type_array);

	for (size_t i = 0; i < length(array); i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		const char *name = text(reader, item, "name");
		struct json_object *more = member(
			reader, item, "more_is_better", json_type_boolean);
		struct json_object *shown =
			member(reader, item, "shown", json_type_boolean);
		int known = plan_metric(plan, name);

		if (reader->failed) {
			return;
		}
		if (known < 0 && !first) {
			reader_fail(reader, "its metrics are others");
		} else if (known < 0) {
			plan_append_metric(plan,
				(struct metric){
					.name = tool_strdup(name),
					.title = text_or_null(
						reader, item, "title"),
					.unit = text_or_null(
						reader, item, "unit"),
					.more_is_better =
						json_object_get_boolean(more),
					.is_shown =
						json_object_get_boolean(shown),
				});
		} else if (first) {
			plan->metrics[known].is_shown =
				json_object_get_boolean(shown);
		}
	}
}

static int point_find(const struct plan *plan, const char *value)
{
	for (size_t i = 0; value != NULL && i < plan->point_count; i++) {
		if (strcmp(plan->points[i], value) == 0) {
			return (int)i;
		}
	}
	return value == NULL ? 0 : -1;
}

static void points_read(struct reader *reader, struct plan *plan,
	struct json_object *object, bool first)
{
	char *sweep = text_or_null(reader, object, "sweep");
	struct json_object *array;

	if (!first && (sweep == NULL) != (plan->sweep_name == NULL)) {
		reader_fail(reader, "its sweep is another");
	} else if (!first && sweep != NULL &&
		   strcmp(sweep, plan->sweep_name) != 0) {
		reader_fail(reader, "its sweep is another");
	}
	if (sweep == NULL || reader->failed) {
		free(sweep);
		return;
	}
	if (first) {
		plan->sweep_name = sweep;
		plan->point_count = 0;
	} else {
		free(sweep);
	}
	array = member(reader, object, "points", json_type_array);
	for (size_t i = 0; i < length(array); i++) {
		const char *value = json_object_get_string(
			json_object_array_get_idx(array, i));

		if (value == NULL || point_find(plan, value) >= 0) {
			continue;
		}
		plan->points = tool_realloc(plan->points,
			(plan->point_count + 1) * sizeof(*plan->points));
		plan->points[plan->point_count++] = tool_strdup(value);
	}
}

static void command_read(
	struct reader *reader, struct plan *plan, struct json_object *object)
{
	struct json_object *array = NULL;
	size_t count;

	plan->server = text_or_null(reader, object, "server");
	plan->load = text_or_null(reader, object, "load");
	plan->prepare = text_or_null(reader, object, "prepare");
	plan->cleanup = text_or_null(reader, object, "cleanup");
	json_object_object_get_ex(object, "command", &array);
	if (!json_object_is_type(array, json_type_array)) {
		return;
	}
	count = length(array);
	plan->command = tool_alloc((count + 1) * sizeof(*plan->command));
	for (size_t i = 0; i < count; i++) {
		const char *word = json_object_get_string(
			json_object_array_get_idx(array, i));

		plan->command[i] = tool_strdup(word != NULL ? word : "");
	}
}

static unsigned count_read(
	struct reader *reader, struct json_object *object, const char *name)
{
	struct json_object *value = member(reader, object, name, json_type_int);
	int count = value != NULL ? json_object_get_int(value) : 0;

	if (count < 0) {
		reader_fail(reader, name);
	}
	return (unsigned)count;
}

static void plan_read(struct reader *reader, struct plan *plan,
	struct json_object *root, bool first)
{
	struct json_object *object =
		member(reader, root, "plan", json_type_object);

	if (object == NULL) {
		return;
	}
	subjects_read(reader, plan, object);
	metrics_read(reader, plan, object, first);
	points_read(reader, plan, object, first);
	if (first) {
		command_read(reader, plan, object);
		plan->warmup = count_read(reader, object, "warmup");
		plan->runs = count_read(reader, object, "runs");
	}
}

static void samples_read(struct run *run, struct json_object *array)
{
	run->sample_count = 0;
	run->samples = tool_alloc(length(array) * sizeof(*run->samples));
	for (size_t i = 0; i < length(array); i++) {
		struct json_object *pair = json_object_array_get_idx(array, i);

		if (json_object_is_type(pair, json_type_array) &&
			length(pair) >= 2) {
			run->samples[run->sample_count++] = (struct sample){
				json_object_get_double(
					json_object_array_get_idx(pair, 0)),
				json_object_get_double(
					json_object_array_get_idx(pair, 1)),
				json_object_get_double(
					json_object_array_get_idx(pair, 2)),
			};
		}
	}
}

static void run_read(struct reader *reader, const struct plan *plan,
	struct cell *cell, struct json_object *object)
{
	struct run run = run_empty(plan);
	struct json_object *values =
		member(reader, object, "values", json_type_object);
	struct json_object *value = NULL;

	if (values == NULL) {
		return;
	}
	run.failure = text_or_null(reader, object, "failure");
	for (size_t m = 0; m < plan->metric_count; m++) {
		if (json_object_object_get_ex(
			    values, plan->metrics[m].name, &value) &&
			is_number(value)) {
			run.values[m] = json_object_get_double(value);
		}
	}
	if (json_object_object_get_ex(object, "rss_over_time", &value) &&
		json_object_is_type(value, json_type_array)) {
		samples_read(&run, value);
	}
	cell_append(cell, run);
}

static void cells_read(struct reader *reader, const struct plan *plan,
	struct results *results, struct json_object *root)
{
	struct json_object *cells =
		member(reader, root, "results", json_type_array);

	for (size_t i = 0; i < length(cells); i++) {
		struct json_object *item = json_object_array_get_idx(cells, i);
		int subject = plan_subject(plan, text(reader, item, "backend"));
		char *value = text_or_null(reader, item, "point");
		int point = point_find(plan, value);
		struct json_object *runs =
			member(reader, item, "runs", json_type_array);

		free(value);
		if (subject < 0 || point < 0) {
			reader_fail(reader, "a result of no backend or point");
			return;
		}
		for (size_t r = 0; r < length(runs); r++) {
			run_read(reader, plan,
				results_cell(results, (size_t)point,
					(size_t)subject),
				json_object_array_get_idx(runs, r));
		}
	}
}

static int point_compare(const void *left, const void *right)
{
	double l = strtod(*(char *const *)left, NULL);
	double r = strtod(*(char *const *)right, NULL);

	return (l > r) - (l < r);
}

/* Points of several files that are numbers, in order. */
static void points_sort(struct plan *plan)
{
	for (size_t p = 0; p < plan->point_count; p++) {
		char *end = NULL;

		if (plan->points[p] != NULL) {
			strtod(plan->points[p], &end);
		}
		if (end == NULL || *end != '\0') {
			return;
		}
	}
	qsort(plan->points, plan->point_count, sizeof(*plan->points),
		point_compare);
}

int results_load(struct plan *plan, struct results *results,
	const char *const *paths, size_t count)
{
	struct json_object **roots =
		tool_alloc(count * sizeof(struct json_object *));
	struct reader reader = {0};

	for (size_t i = 0; i < count && !reader.failed; i++) {
		reader.path = paths[i];
		roots[i] = json_object_from_file(paths[i]);
		if (roots[i] == NULL) {
			reader_fail(&reader, json_util_get_last_err());
			break;
		}
		plan_read(&reader, plan, roots[i], i == 0);
	}
	if (!reader.failed) {
		points_sort(plan);
		results_init(results, plan);
		results->machine =
			tool_strdup(text(&reader, roots[0], "machine"));
		results->date = tool_strdup(text(&reader, roots[0], "date"));
	}
	for (size_t i = 0; i < count && !reader.failed; i++) {
		reader.path = paths[i];
		cells_read(&reader, plan, results, roots[i]);
	}
	for (size_t i = 0; i < count; i++) {
		json_object_put(roots[i]);
	}
	free(roots);
	return reader.failed ? -1 : 0;
}
