/* SPDX-License-Identifier: MIT */
/*
 * reportargs.h - options that several subcommands on traces share.
 */
#ifndef AMUX_TOOLS_REPORTARGS_H
#define AMUX_TOOLS_REPORTARGS_H

#include "heapview.h"
#include "reporttext.h"

enum {
	KEY_SORT = 's',
	KEY_LIMIT = 'n',
	KEY_MINIMUM = 300,
	KEY_FULL_NAMES,
	KEY_FOCUS,
	KEY_IGNORE,
	KEY_HIDE,
	KEY_SUPPRESSIONS,
	KEY_ALL_FRAMES,
	KEY_NO_LINES,
};

/* clang-format off: a table */
#define REPORT_SORT_OPTIONS                                                    \
	{"sort", KEY_SORT, "METRIC",                                           \
		"Order by bytes, calls, peak, leaked or temporary",            \
		VALUE_ANY},                                                    \
		{"limit", KEY_LIMIT, "COUNT", "Show so many entries",          \
			VALUE_ANY},                                            \
		{"min", KEY_MINIMUM, "PERCENT",                                \
			"Leave out of trees what is less (default 1)",         \
			VALUE_ANY},                                            \
	{                                                                      \
		"full-names", KEY_FULL_NAMES, NULL,                            \
			"Do not shorten names to the width of the terminal",   \
			VALUE_ANY                                              \
	}

#define REPORT_FILTER_OPTIONS                                                      \
	{"focus", KEY_FOCUS, "REGEX",                                              \
		"Only stacks with a function, source file or module that "         \
		"matches",                                                         \
		VALUE_ANY},                                                        \
		{"ignore", KEY_IGNORE, "REGEX", "No stacks with such a one",       \
			VALUE_ANY},                                                \
		{"hide", KEY_HIDE, "REGEX", "Leave such frames out",               \
			VALUE_ANY},                                                \
		{"suppressions", KEY_SUPPRESSIONS, "FILE",                         \
			"Leaks that are none, as LeakSanitizer's: lines "          \
			"`leak:PATTERN'",                                          \
			VALUE_FILE},                                               \
		{"all-frames", KEY_ALL_FRAMES, NULL,                               \
			"Show operator new and the like as callers",               \
			VALUE_ANY},                                                \
	{                                                                          \
		"no-lines", KEY_NO_LINES, NULL,                                    \
			"Functions by symbol tables only: faster, without source " \
			"lines and inlined calls",                                 \
			VALUE_ANY                                                  \
	}
/* clang-format on */

struct report_args {
	struct view_options view;
	struct report_options report;
};

void report_args_init(struct report_args *args);
void report_args_fini(struct report_args *args);

/* Take one of the options above; TOOL_OK, or a status whose cause was said. */
int report_args_take(struct report_args *args, int key, const char *value);

#endif
