/* SPDX-License-Identifier: MIT */
/*
 * report.c - `allocmux report`: what a trace says, as text, JSON or HTML.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "reportargs.h"
#include "reportjson.h"
#include "reporttext.h"
#include "tool.h"

static int report_main(int argc, char **argv);

enum {
	KEY_TREE = 256,
	KEY_CALLER,
	KEY_FLAT,
	KEY_JSON,
};

static const struct tool_option options[] = {
	{"tree", KEY_TREE, NULL, "Show calls from main() inwards", VALUE_ANY},
	{"caller", KEY_CALLER, NULL,
		"Show callers from the allocations outwards", VALUE_ANY},
	{"flat", KEY_FLAT, NULL, "Show functions, each with what it calls",
		VALUE_ANY},
	{"json", KEY_JSON, NULL, "Write everything as JSON", VALUE_ANY},
	REPORT_SORT_OPTIONS,
	REPORT_FILTER_OPTIONS,
	{NULL, 0, NULL, NULL, VALUE_ANY},
};

const struct command command_report = {
	.name = "report",
	.usage = "[OPTION]... FILE",
	.summary = "Show who allocates, how much, and for how long",
	.text = "FILE is a trace that `allocmux trace' wrote. Call sites are "
		"listed by bytes allocated, by calls, by bytes live at the "
		"peak, by bytes not freed, and by temporary allocations; with "
		"them threads, modules, sizes and lifetimes.\n\n"
		"Source lines come from debug information in the files "
		"themselves, below /usr/lib/debug and the directories of "
		"ALLOCMUX_DEBUG_PATH, or from debuginfod if DEBUGINFOD_URLS "
		"is set.\n\n"
		"Exit status: 0, done; 1, the trace is damaged and the report "
		"shows the rest; 2, wrong usage; 3, nothing can be shown.",
	.options = options,
	.main = report_main,
};

enum form { FORM_SUMMARY, FORM_TREE, FORM_CALLER, FORM_FLAT, FORM_JSON };

static int print(struct report_args *args, enum form form, const char *path)
{
	struct trace trace;
	struct view view;
	int status;

	if (!trace_load(&trace, path)) {
		return TOOL_BROKEN;
	}
	status = trace_warn(&trace);
	view_init(&view, &trace, &args->view);
	symbols_warn(&view.symbols, &trace.info);
	switch (form) {
	case FORM_SUMMARY:
		report_summary(&view, &args->report);
		break;
	case FORM_TREE:
	case FORM_CALLER:
		report_tree(&view, &args->report, form == FORM_CALLER);
		break;
	case FORM_FLAT:
		report_flat(&view, &args->report);
		break;
	case FORM_JSON:
		report_json(&view, &args->report);
		break;
	}
	view_fini(&view);
	trace_unload(&trace);
	return status;
}

static int report_main(int argc, char **argv)
{
	struct report_args args;
	enum form form = FORM_SUMMARY;
	const char *value;
	int status = TOOL_OK;
	int key;

	report_args_init(&args);
	while ((key = option_next(&command_report, argc, argv, &value)) > 0) {
		if (key >= KEY_TREE && key <= KEY_JSON) {
			form = key == KEY_TREE     ? FORM_TREE
			       : key == KEY_CALLER ? FORM_CALLER
			       : key == KEY_FLAT   ? FORM_FLAT
						   : FORM_JSON;
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
	if (status == TOOL_OK) {
		status = print(&args, form, argv[optind]);
	}
	report_args_fini(&args);
	return status;
}
