/* SPDX-License-Identifier: MIT */
/*
 * view.h - a summary as tables for people, before it becomes text, Markdown or
 * HTML: which columns there are, how figures and failures are written.
 *
 * Rows are always the subjects. Without a sweep there is one table whose
 * columns are metrics; with one there is a table for each metric, and the
 * columns are the values of the sweep.
 */
#ifndef AMUX_TOOLS_VIEW_H
#define AMUX_TOOLS_VIEW_H

#include "summary.h"

enum { VIEW_TEXT = 48 };

struct view_column {
	char *head;
	size_t metric;
	size_t point;
};

struct view_table {
	char *title; /* or NULL */
	struct view_column *columns;
	size_t count;
};

struct view {
	const struct summary *summary;
	struct view_table *tables;
	size_t count;
};

void view_make(struct view *view, const struct summary *summary);
void view_free(struct view *view);

const struct figure *view_figure(
	const struct view *view, const struct view_column *column, size_t row);

/* All of these fill `text`, VIEW_TEXT bytes, and return it. */
char *view_median(const struct view *view, const struct view_column *column,
	size_t row, char *text);
char *view_interval(const struct view *view, const struct view_column *column,
	size_t row, char *text, const char *between);
/* "1.05x", or nothing for the baseline and where it is unknown. */
char *view_ratio(const struct view *view, const struct view_column *column,
	size_t row, char *text);
/*
 * "*": the winner; "+" and "-": better and worse than the baseline; "=" after
 * it: where there is no winner, not told apart from the best; or "".
 */
const char *view_mark(
	const struct view *view, const struct view_column *column, size_t row);

/* "percpu", or "no winner: dl, system"; the caller frees it. */
char *view_winner(const struct view *view, const struct view_column *column);

/* What the figures mean and how they were made; the caller frees it. */
char *view_method(const struct view *view);

/*
 * Failures of one subject at one point, "3 of 10 runs failed: ...", or NULL if
 * there were none; the caller frees it.
 */
char *view_failures(
	const struct results *results, size_t point, size_t subject);
/* Did any of its runs fail, at any point? */
bool view_has_failures(const struct results *results, size_t subject);

/* A line that says what was run; the caller frees it. */
char *view_command(const struct plan *plan);

/* The unit in which people see it: MiB for KiB. */
const char *view_unit(const struct metric *metric);
double view_scale(const struct metric *metric);

#endif
