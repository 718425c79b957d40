/* SPDX-License-Identifier: MIT */
/*
 * reportargs.c - see reportargs.h.
 */
#include "reportargs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

void report_args_init(struct report_args *args)
{
	memset(args, 0, sizeof(*args));
	args->view.filter = filter_create();
	args->report.sort = METRIC_COUNT;
	args->report.minimum = 1;
}

void report_args_fini(struct report_args *args)
{
	filter_destroy(args->view.filter);
}

static int take_regex(struct report_args *args, int bit, const char *regex)
{
	return filter_add(args->view.filter, bit, regex) ? TOOL_OK : TOOL_USAGE;
}

static int take_limit(struct report_args *args, const char *value)
{
	char *end;
	unsigned long limit;

	errno = 0;
	limit = strtoul(value, &end, 10);
	if (errno != 0 || *end != '\0' || end == value || limit == 0 ||
		limit > UINT_MAX || *value == '-') {
		return tool_usage("`%s' is no number of entries", value);
	}
	args->report.limit = (uint32_t)limit;
	return TOOL_OK;
}

static int take_minimum(struct report_args *args, const char *value)
{
	char *end;

	args->report.minimum = strtod(value, &end);
	if (*end != '\0' || end == value || !(args->report.minimum >= 0) ||
		args->report.minimum > 100) {
		return tool_usage("`%s' is no percentage", value);
	}
	return TOOL_OK;
}

int report_args_take(struct report_args *args, int key, const char *value)
{
	switch (key) {
	case KEY_SORT:
		args->report.sort = metric_find(value);
		return args->report.sort != METRIC_COUNT
			       ? TOOL_OK
			       : tool_usage("no metric `%s'", value);
	case KEY_LIMIT:
		return take_limit(args, value);
	case KEY_MINIMUM:
		return take_minimum(args, value);
	case KEY_FULL_NAMES:
		args->report.full_names = true;
		return TOOL_OK;
	case KEY_FOCUS:
		return take_regex(args, PLACE_FOCUS, value);
	case KEY_IGNORE:
		return take_regex(args, PLACE_IGNORE, value);
	case KEY_HIDE:
		return take_regex(args, PLACE_HIDE, value);
	case KEY_SUPPRESSIONS:
		return filter_suppressions(args->view.filter, value)
			       ? TOOL_OK
			       : TOOL_BROKEN;
	case KEY_ALL_FRAMES:
		args->view.all_frames = true;
		return TOOL_OK;
	case KEY_NO_LINES:
		args->view.no_lines = true;
		return TOOL_OK;
	default:
		return TOOL_USAGE;
	}
}
