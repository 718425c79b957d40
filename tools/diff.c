/* SPDX-License-Identifier: MIT */
/*
 * diff.c - `allocmux diff`: what changed between two traces, by function.
 *
 * Functions are matched by name and module's file name, so that traces of two
 * builds, whose lines and addresses differ, can be compared.
 */
#include <getopt.h>
#include <inttypes.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "reportargs.h"
#include "reportjson.h"
#include "textform.h"
#include "tool.h"

static int diff_main(int argc, char **argv);

enum {
	KEY_JSON = 256,
	NAME_ROOM = 4096,
};

static const struct tool_option options[] = {
	{"json", KEY_JSON, NULL, "Write all differences as JSON", VALUE_ANY},
	{"sort", KEY_SORT, "METRIC",
		"Compare bytes, calls, peak, leaked or temporary (default: "
		"each)",
		VALUE_ANY},
	{"limit", KEY_LIMIT, "COUNT", "Show so many functions", VALUE_ANY},
	{"full-names", KEY_FULL_NAMES, NULL,
		"Do not shorten names to the width of the terminal", VALUE_ANY},
	REPORT_FILTER_OPTIONS,
	{NULL, 0, NULL, NULL, VALUE_ANY},
};

const struct command command_diff = {
	.name = "diff",
	.usage = "[OPTION]... A B",
	.summary = "Compare two traces by function",
	.text = "Shows what B has more (+) or less (-) than A, by the "
		"function that allocates.\n\n"
		"Exit status: 0, done; 1, a trace is damaged and the rest was "
		"compared; 2, wrong usage; 3, a trace cannot be read.",
	.options = options,
	.main = diff_main,
};

struct side {
	struct trace trace;
	struct view view;
	bool loaded;
};

struct change {
	const char *function;
	const char *object;
	struct cost cost[2];
};

struct changes {
	struct change *list;
	size_t count;
};

static int name_compare(const void *a, const void *b)
{
	const struct change *x = a;
	const struct change *y = b;
	int order = strcmp(x->function, y->function);

	return order != 0 ? order : strcmp(x->object, y->object);
}

/* The functions of both sides, those of equal name joined. */
static void changes_collect(struct changes *changes, struct side sides[2])
{
	size_t kept = 0;

	changes->list = NULL;
	changes->count = 0;
	for (int i = 0; i < 2; i++) {
		const struct view *view = &sides[i].view;
		struct flat flat;

		flat_functions(&flat, view);
		changes->list = tool_realloc(changes->list,
			(changes->count + flat.count) * sizeof(*changes->list));
		for (uint32_t j = 0; j < flat.count; j++) {
			const struct flat_entry *e = &flat.entries[j];
			struct change *c = &changes->list[changes->count++];

			memset(c, 0, sizeof(*c));
			c->function = view->symbols.places[e->place].function;
			c->object = view_object_name(view, e->place);
			c->cost[i] = e->self;
		}
		flat_fini(&flat);
	}
	if (changes->count == 0) {
		return;
	}
	qsort(changes->list, changes->count, sizeof(*changes->list),
		name_compare);
	for (size_t i = 0; i < changes->count; i++) {
		struct change *last =
			kept > 0 ? &changes->list[kept - 1] : NULL;

		if (last != NULL &&
			name_compare(last, &changes->list[i]) == 0) {
			cost_add(&last->cost[0], &changes->list[i].cost[0]);
			cost_add(&last->cost[1], &changes->list[i].cost[1]);
		} else {
			changes->list[kept++] = changes->list[i];
		}
	}
	changes->count = kept;
}

static int64_t difference(const struct cost cost[2], enum metric metric)
{
	return (int64_t)(cost[1].metric[metric] - cost[0].metric[metric]);
}

static enum metric order; /* of change_compare() */

static int change_compare(const void *a, const void *b)
{
	const struct change *x = a;
	const struct change *y = b;
	int64_t v = llabs(difference(x->cost, order));
	int64_t w = llabs(difference(y->cost, order));

	if (v != w) {
		return v > w ? -1 : 1;
	}
	return name_compare(a, b);
}

/* "+1.2 MiB" */
static const char *text_signed(
	char text[TEXT_NUMBER + 1], enum metric metric, int64_t value)
{
	text[0] = value < 0 ? '-' : '+';
	text_metric(text + 1, metric, (uint64_t)llabs(value));
	return value != 0 ? text : "=";
}

static void print_line(enum metric metric, const struct cost cost[2],
	const char *name, const char *object, bool full)
{
	char a[TEXT_NUMBER];
	char b[TEXT_NUMBER];
	char c[TEXT_NUMBER + 1];
	char short_name[NAME_ROOM];
	int used = printf("%13s %12s -> %12s  ",
		text_signed(c, metric, difference(cost, metric)),
		text_metric(a, metric, cost[0].metric[metric]),
		text_metric(b, metric, cost[1].metric[metric]));
	int left = text_width() - used - (int)strlen(object) - 2;

	text_name(short_name, sizeof(short_name), name,
		full        ? sizeof(short_name) - 1
		: left < 20 ? 20
			    : (size_t)left);
	printf("%s%s%s\n", short_name, object[0] != '\0' ? "  " : "", object);
}

static void print_metric(struct changes *changes, struct side sides[2],
	enum metric metric, const struct report_options *report)
{
	uint32_t limit = report->limit > 0              ? report->limit
			 : report->sort != METRIC_COUNT ? 20
							: 5;
	struct cost total[2] = {sides[0].view.total, sides[1].view.total};

	printf("%s\n", metric_names[metric]);
	print_line(metric, total, "in all", "", false);
	order = metric;
	if (changes->count > 0) {
		qsort(changes->list, changes->count, sizeof(*changes->list),
			change_compare);
	}
	for (size_t i = 0; i < changes->count && i < limit; i++) {
		const struct change *c = &changes->list[i];

		if (difference(c->cost, metric) == 0) {
			break;
		}
		print_line(metric, c->cost, c->function, c->object,
			report->full_names);
	}
	printf("\n");
}

static void print_json(struct changes *changes, struct side sides[2],
	const struct report_options *report)
{
	json_object *o = json_object_new_object();
	json_object *array = json_object_new_array();

	order = report->sort == METRIC_COUNT ? METRIC_BYTES : report->sort;
	if (changes->count > 0) {
		qsort(changes->list, changes->count, sizeof(*changes->list),
			change_compare);
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *c = &changes->list[i];
		json_object *entry = json_object_new_object();

		if (report->limit > 0 && i >= report->limit) {
			json_object_put(entry);
			break;
		}
		json_object_object_add(
			entry, "function", json_text(c->function));
		json_object_object_add(entry, "module", json_text(c->object));
		json_object_object_add(
			entry, "a", json_cost(&sides[0].view, &c->cost[0]));
		json_object_object_add(
			entry, "b", json_cost(&sides[1].view, &c->cost[1]));
		json_object_array_add(array, entry);
	}
	json_object_object_add(o, "a", json_summary(&sides[0].view));
	json_object_object_add(o, "b", json_summary(&sides[1].view));
	json_object_object_add(o, "functions", array);
	json_print(o);
}

static int compare(struct report_args *args, bool json, char **paths)
{
	struct side sides[2] = {0};
	struct changes changes;
	int status = TOOL_OK;

	for (int i = 0; i < 2; i++) {
		sides[i].loaded = trace_load(&sides[i].trace, paths[i]);
		if (!sides[i].loaded) {
			status = TOOL_BROKEN;
			break;
		}
		if (trace_warn(&sides[i].trace) != TOOL_OK) {
			status = TOOL_FAILED;
		}
		view_init(&sides[i].view, &sides[i].trace, &args->view);
		symbols_warn(&sides[i].view.symbols, &sides[i].trace.info);
	}
	if (status != TOOL_BROKEN) {
		changes_collect(&changes, sides);
		if (json) {
			print_json(&changes, sides, &args->report);
		}
		for (int i = 0; !json && i < METRIC_COUNT; i++) {
			if (args->report.sort == METRIC_COUNT ||
				args->report.sort == (enum metric)i) {
				print_metric(&changes, sides, (enum metric)i,
					&args->report);
			}
		}
		free(changes.list);
	}
	for (int i = 0; i < 2; i++) {
		if (sides[i].loaded) {
			view_fini(&sides[i].view);
			trace_unload(&sides[i].trace);
		}
	}
	return status;
}

static int diff_main(int argc, char **argv)
{
	struct report_args args;
	const char *value;
	bool json = false;
	int status = TOOL_OK;
	int key;

	report_args_init(&args);
	while ((key = option_next(&command_diff, argc, argv, &value)) > 0) {
		if (key == KEY_JSON) {
			json = true;
		} else if ((status = report_args_take(&args, key, value)) !=
			   TOOL_OK) {
			break;
		}
	}
	if (key < 0) {
		status = TOOL_USAGE;
	} else if (status == TOOL_OK && argc != optind + 2) {
		status = tool_usage("name two trace files");
	}
	if (status == TOOL_OK) {
		status = compare(&args, json, argv + optind);
	}
	report_args_fini(&args);
	return status;
}
