/* SPDX-License-Identifier: MIT */
/*
 * export.c - `allocmux export`: a trace in formats that other programs open.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exportform.h"
#include "reportargs.h"
#include "tool.h"

static int export_main(int argc, char **argv);

static const struct tool_option options[] = {
	{"format", 'f', "FORMAT",
		"collapsed, pprof, speedscope, massif, heaptrack, sqlite, "
		"chrome or html",
		VALUE_ANY},
	{"output", 'o', "FILE",
		"Write to FILE (default: stdout, unless it is a terminal and "
		"the format is binary)",
		VALUE_FILE},
	{"metric", 's', "METRIC",
		"For collapsed: bytes, calls, peak, leaked or temporary "
		"(default bytes)",
		VALUE_ANY},
	REPORT_FILTER_OPTIONS,
	{NULL, 0, NULL, NULL, VALUE_ANY},
};

const struct command command_export = {
	.name = "export",
	.usage = "--format FORMAT [OPTION]... FILE",
	.summary = "Write a trace in a format that other programs open",
	.text = "collapsed is for flamegraph.pl, pprof for `pprof', speedscope "
		"for speedscope.app, massif for ms_print and "
		"massif-visualizer, heaptrack for heaptrack_print and "
		"heaptrack_gui, sqlite for sqlite3, chrome for Perfetto and "
		"chrome://tracing, html for any browser.\n\n"
		"Filters do not apply to heaptrack, which gets every event.\n\n"
		"Exit status: 0, done; 1, the trace is damaged and the rest "
		"was written; 2, wrong usage; 3, nothing was written.",
	.options = options,
	.main = export_main,
};

static const struct export_form *form_find(const char *name)
{
	for (const struct export_form *f = export_forms; f->name != NULL; f++) {
		if (strcmp(f->name, name) == 0) {
			return f;
		}
	}
	return NULL;
}

/* Can this trace be written so? Says why not. */
static bool form_fits(const struct export_form *form, const struct trace *trace)
{
	if (form->needs_events && !trace_has_events(trace)) {
		tool_error("%s: format %s needs events, and a trace of mode "
			   "profile has none",
			trace->path, form->name);
		return false;
	}
	if (form->needs_every && trace->header.mode != AMUX_TRACE_RECORD) {
		tool_error("%s: format %s needs every event; only traces of "
			   "mode record have them",
			trace->path, form->name);
		return false;
	}
	return true;
}

/* Write; on failure what was begun is removed. */
static bool write_form(
	const struct export_form *form, struct export_request *request)
{
	struct stat info;
	bool good;

	if (form->needs_path) {
		return form->write(request);
	}
	request->out =
		request->path != NULL ? fopen(request->path, "w") : stdout;
	if (request->out == NULL) {
		tool_perror("cannot write %s", request->path);
		return false;
	}
	good = form->write(request);
	if (good && (fflush(request->out) != 0 || ferror(request->out))) {
		tool_perror("cannot write %s",
			request->path != NULL ? request->path : "to stdout");
		good = false;
	}
	if (request->path != NULL) {
		bool regular = fstat(fileno(request->out), &info) == 0 &&
			       S_ISREG(info.st_mode);

		if (fclose(request->out) != 0 && good) {
			tool_perror("cannot write %s", request->path);
			good = false;
		}
		if (!good && regular) {
			unlink(request->path);
		}
	}
	return good;
}

static int export_trace(struct report_args *args,
	const struct export_form *form, const char *path, const char *output)
{
	struct trace trace;
	struct view view;
	struct export_request request = {.view = &view,
		.path = output,
		.metric = args->report.sort == METRIC_COUNT
				  ? METRIC_BYTES
				  : args->report.sort};
	int status;

	if (!trace_load(&trace, path)) {
		return TOOL_BROKEN;
	}
	status = trace_warn(&trace);
	if (!form_fits(form, &trace)) {
		trace_unload(&trace);
		return TOOL_BROKEN;
	}
	view_init(&view, &trace, &args->view);
	symbols_warn(&view.symbols, &trace.info);
	if (!write_form(form, &request)) {
		status = TOOL_BROKEN;
	}
	view_fini(&view);
	trace_unload(&trace);
	return status;
}

/* Everything but the trace. */
static int check(const struct export_form *form, const char *output, int left)
{
	if (form == NULL) {
		return tool_usage("name a format with --format");
	}
	if (left != 1) {
		return tool_usage("name one trace file");
	}
	if (form->write == NULL) {
		tool_error("format %s is not in this program: %s was missing "
			   "when it was built",
			form->name, form->missing);
		return TOOL_BROKEN;
	}
	if (form->needs_path && output == NULL) {
		return tool_usage("format %s needs --output FILE", form->name);
	}
	if (output == NULL && isatty(STDOUT_FILENO) &&
		strcmp(form->name, "pprof") == 0) {
		return tool_usage("pprof is binary: use --output FILE");
	}
	return TOOL_OK;
}

static int export_main(int argc, char **argv)
{
	struct report_args args;
	const struct export_form *form = NULL;
	const char *output = NULL;
	const char *value;
	int status = TOOL_OK;
	int key;

	report_args_init(&args);
	while ((key = option_next(&command_export, argc, argv, &value)) > 0) {
		if (key == 'f') {
			form = form_find(value);
			if (form == NULL) {
				status = tool_usage("no format `%s'", value);
				break;
			}
		} else if (key == 'o') {
			output = value;
		} else if ((status = report_args_take(&args, key, value)) !=
			   TOOL_OK) {
			break;
		}
	}
	if (key < 0) {
		status = TOOL_USAGE;
	} else if (status == TOOL_OK) {
		status = check(form, output, argc - optind);
	}
	if (status == TOOL_OK) {
		status = export_trace(&args, form, argv[optind], output);
	}
	report_args_fini(&args);
	return status;
}
