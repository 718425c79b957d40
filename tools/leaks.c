/* SPDX-License-Identifier: MIT */
/*
 * leaks.c - `allocmux leaks`: what a program never freed, with an exit status
 * for scripts.
 */
#include <getopt.h>
#include <json.h>
#include <stdio.h>

#include "reportargs.h"
#include "reportjson.h"
#include "reporttext.h"
#include "textform.h"
#include "tool.h"

static int leaks_main(int argc, char **argv);

enum {
	KEY_ALL = 256,
	KEY_JSON,
	LEAKS_FOUND = 1,
};

static const struct tool_option options[] = {
	{"all", KEY_ALL, NULL,
		"Also what is meant to live until the end: stdio's buffers, "
		"the emergency pool of C++ exceptions, the loader's and the "
		"locale's blocks",
		VALUE_ANY},
	{"json", KEY_JSON, NULL, "Write them as JSON", VALUE_ANY},
	{"limit", KEY_LIMIT, "COUNT", "Show so many call sites (default 50)",
		VALUE_ANY},
	{"full-names", KEY_FULL_NAMES, NULL,
		"Do not shorten names to the width of the terminal", VALUE_ANY},
	REPORT_FILTER_OPTIONS,
	{NULL, 0, NULL, NULL, VALUE_ANY},
};

const struct command command_leaks = {
	.name = "leaks",
	.usage = "[OPTION]... FILE",
	.summary = "Show what a traced program did not free",
	.text = "Every block that is live at the end of the trace counts, "
		"whether or not a pointer to it is left, except what "
		"suppressions name.\n\n"
		"Exit status: 0, nothing; 1, there are leaks; 2, wrong usage; "
		"3, the trace cannot be read, or shows no leak but is "
		"incomplete.",
	.options = options,
	.main = leaks_main,
};

static void print_json(const struct view *view, const struct report_args *args)
{
	json_object *o = json_object_new_object();
	json_object *array = json_object_new_array();
	struct flat flat;

	flat_sites(&flat, view);
	flat_sort(&flat, METRIC_LEAKED, false);
	for (uint32_t i = 0; i < flat.count; i++) {
		const struct flat_entry *e = &flat.entries[i];
		json_object *leak;

		if (e->self.leaked_calls == 0 ||
			(args->report.limit > 0 && i >= args->report.limit)) {
			continue;
		}
		leak = json_object_new_object();
		json_object_object_add(
			leak, "site", json_place(view, e->place));
		json_object_object_add(leak, "bytes",
			json_number(e->self.metric[METRIC_LEAKED]));
		json_object_object_add(
			leak, "blocks", json_number(e->self.leaked_calls));
		json_object_object_add(leak, "stack",
			json_stack(view, e->place, METRIC_LEAKED));
		json_object_array_add(array, leak);
	}
	flat_fini(&flat);
	json_object_object_add(o, "summary", json_summary(view));
	json_object_object_add(o, "leaks", array);
	json_print(o);
}

static void print_text(const struct view *view, const struct report_args *args)
{
	char a[TEXT_NUMBER];
	char b[TEXT_NUMBER];

	report_leaks(view, &args->report);
	printf("%s in %s blocks not freed",
		text_bytes(a, view->total.metric[METRIC_LEAKED]),
		text_count(b, view->total.leaked_calls));
	if (view->suppressed_calls > 0) {
		printf("; suppressed: %s in %s blocks",
			text_bytes(a, view->suppressed_bytes),
			text_count(b, view->suppressed_calls));
	}
	printf("\n");
}

static int find(struct report_args *args, bool json, const char *path)
{
	struct trace trace;
	struct view view;
	int status;

	if (!trace_load(&trace, path)) {
		return TOOL_BROKEN;
	}
	status = trace_warn(&trace) != TOOL_OK || trace.lost_events > 0
			 ? TOOL_BROKEN
			 : TOOL_OK;
	view_init(&view, &trace, &args->view);
	symbols_warn(&view.symbols, &trace.info);
	if (json) {
		print_json(&view, args);
	} else {
		print_text(&view, args);
	}
	if (view.total.leaked_calls > 0) {
		status = LEAKS_FOUND;
	}
	view_fini(&view);
	trace_unload(&trace);
	return status;
}

static int leaks_main(int argc, char **argv)
{
	struct report_args args;
	const char *value;
	bool all = false;
	bool json = false;
	int status = TOOL_OK;
	int key;

	report_args_init(&args);
	while ((key = option_next(&command_leaks, argc, argv, &value)) > 0) {
		if (key == KEY_ALL) {
			all = true;
		} else if (key == KEY_JSON) {
			json = true;
		} else if ((status = report_args_take(&args, key, value)) !=
			   TOOL_OK) {
			break;
		}
	}
	if (key < 0) {
		status = TOOL_USAGE;
	} else if (status == TOOL_OK && argc != optind + 1) {
		status = tool_usage("name one trace file");
	}
	if (!all) {
		filter_suppress_known(args.view.filter);
	}
	if (status == TOOL_OK) {
		status = find(&args, json, argv[optind]);
	}
	report_args_fini(&args);
	return status;
}
