/* SPDX-License-Identifier: MIT */
/*
 * reporttext.h - reports for a terminal, on stdout.
 */
#ifndef AMUX_TOOLS_REPORTTEXT_H
#define AMUX_TOOLS_REPORTTEXT_H

#include "heapview.h"

struct report_options {
	enum metric sort; /* METRIC_COUNT: each in turn */
	uint32_t limit;   /* entries of a list; 0: the default */
	double minimum;   /* percent of the whole below which nodes are cut */
	bool full_names;
};

/* Everything at a glance. */
void report_summary(
	const struct view *view, const struct report_options *options);

/* The two trees, and the list of functions. */
void report_tree(const struct view *view, const struct report_options *options,
	bool callers);
void report_flat(const struct view *view, const struct report_options *options);

/* What was live at the end, by call site with its stacks. */
void report_leaks(
	const struct view *view, const struct report_options *options);

#endif
