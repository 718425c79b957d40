/* SPDX-License-Identifier: MIT */
/* view.c - see view.h. */
#include "view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

const char *view_unit(const struct metric *metric)
{
	return strcmp(metric->unit, "KiB") == 0 ? "MiB" : metric->unit;
}

double view_scale(const struct metric *metric)
{
	return strcmp(metric->unit, "KiB") == 0 ? 1.0 / 1024 : 1;
}

/* Four digits where the number has a fraction, all of a whole number. */
static void number_format(const struct metric *metric, double value, char *text)
{
	double size = fabs(value *= view_scale(metric));

	if (isnan(value)) {
		snprintf(text, VIEW_TEXT, "-");
	} else if (size >= 1000 || value == floor(value)) {
		snprintf(text, VIEW_TEXT, "%.0f", value);
	} else {
		snprintf(text, VIEW_TEXT, "%.*f",
			size >= 100   ? 1
			: size >= 10  ? 2
			: size >= 0.1 ? 3
				      : 4,
			value);
	}
}

static char *metric_head(const struct metric *metric)
{
	const char *unit = view_unit(metric);

	return tool_format("%s%s%s", metric->title, *unit ? ", " : "", unit);
}

static void table_append(
	struct view_table *table, char *head, size_t metric, size_t point)
{
	table->columns = tool_realloc(
		table->columns, (table->count + 1) * sizeof(*table->columns));
	table->columns[table->count++] =
		(struct view_column){head, metric, point};
}

static struct view_table *view_append(struct view *view)
{
	view->tables = tool_realloc(
		view->tables, (view->count + 1) * sizeof(*view->tables));
	view->tables[view->count] = (struct view_table){0};
	return &view->tables[view->count++];
}

void view_make(struct view *view, const struct summary *summary)
{
	const struct plan *plan = summary->results->plan;
	struct view_table *table = NULL;

	*view = (struct view){.summary = summary};
	for (size_t m = 0; m < plan->metric_count; m++) {
		const struct metric *metric = &plan->metrics[m];

		if (!metric->is_shown || !summary_has_metric(summary, m)) {
			continue;
		}
		if (plan->sweep_name == NULL) {
			table = table != NULL ? table : view_append(view);
			table_append(table, metric_head(metric), m, 0);
			continue;
		}
		table = view_append(view);
		table->title = metric_head(metric);
		for (size_t p = 0; p < plan->point_count; p++) {
			table_append(table,
				tool_format("%s=%s", plan->sweep_name,
					plan->points[p]),
				m, p);
		}
	}
}

void view_free(struct view *view)
{
	for (size_t t = 0; t < view->count; t++) {
		for (size_t c = 0; c < view->tables[t].count; c++) {
			free(view->tables[t].columns[c].head);
		}
		free(view->tables[t].columns);
		free(view->tables[t].title);
	}
	free(view->tables);
}

const struct figure *view_figure(
	const struct view *view, const struct view_column *column, size_t row)
{
	return summary_figure(
		view->summary, column->point, column->metric, row);
}

static const struct metric *column_metric(
	const struct view *view, const struct view_column *column)
{
	return &view->summary->results->plan->metrics[column->metric];
}

char *view_median(const struct view *view, const struct view_column *column,
	size_t row, char *text)
{
	const struct cell *cell =
		results_cell(view->summary->results, column->point, row);

	if (cell->count > 0 && cell_good(cell) == 0) {
		snprintf(text, VIEW_TEXT, "failed");
	} else {
		number_format(column_metric(view, column),
			view_figure(view, column, row)->median, text);
	}
	return text;
}

char *view_interval(const struct view *view, const struct view_column *column,
	size_t row, char *text, const char *between)
{
	const struct figure *figure = view_figure(view, column, row);
	char low[VIEW_TEXT];
	char high[VIEW_TEXT];

	*text = '\0';
	if (figure->count > 1) {
		number_format(
			column_metric(view, column), figure->interval.low, low);
		number_format(column_metric(view, column),
			figure->interval.high, high);
		snprintf(text, VIEW_TEXT, "%.20s%s%.20s", low, between, high);
	}
	return text;
}

char *view_ratio(const struct view *view, const struct view_column *column,
	size_t row, char *text)
{
	const struct figure *figure = view_figure(view, column, row);

	*text = '\0';
	if (row != view->summary->results->plan->baseline &&
		!isnan(figure->ratio)) {
		snprintf(text, VIEW_TEXT,
			figure->ratio < 10 ? "%.2fx" : "%.1fx", figure->ratio);
	}
	return text;
}

/* Then there is nothing to mark. */
static bool all_are_best(
	const struct view *view, const struct view_column *column)
{
	for (size_t s = 0; s < view->summary->results->plan->subject_count;
		s++) {
		const struct figure *figure = view_figure(view, column, s);

		if (figure->count > 0 && !figure->is_best) {
			return false;
		}
	}
	return true;
}

const char *view_mark(
	const struct view *view, const struct view_column *column, size_t row)
{
	const struct figure *figure = view_figure(view, column, row);
	const struct verdict *verdict =
		summary_verdict(view->summary, column->point, column->metric);

	if (verdict->winner == (int)row) {
		return "*";
	}
	if (verdict->winner < 0 && figure->is_best &&
		!all_are_best(view, column)) {
		return figure->is_better ? "+=" : figure->is_worse ? "-=" : "=";
	}
	return figure->is_better ? "+" : figure->is_worse ? "-" : "";
}

char *view_winner(const struct view *view, const struct view_column *column)
{
	const struct plan *plan = view->summary->results->plan;
	const struct verdict *verdict =
		summary_verdict(view->summary, column->point, column->metric);
	char *text;

	if (verdict->winner >= 0) {
		return tool_strdup(plan->subjects[verdict->winner].label);
	}
	text = tool_strdup("no winner");
	for (size_t s = 0; verdict->best >= 0 && s < plan->subject_count; s++) {
		if (view_figure(view, column, s)->is_best) {
			char *longer = tool_format("%s%s%s", text,
				strchr(text, ':') ? ", " : ": ",
				plan->subjects[s].label);

			free(text);
			text = longer;
		}
	}
	return text;
}

/* Of the subject that has most: of all, unless some runs failed. */
static unsigned runs_made(const struct results *results)
{
	const struct plan *plan = results->plan;
	size_t most = 0;

	for (size_t i = 0; i < plan->point_count * plan->subject_count; i++) {
		size_t count = cell_good(&results->cells[i]);

		most = count > most ? count : most;
	}
	return (unsigned)most;
}

/* Of all intervals; above 1 if there is none. */
static double least_coverage(const struct summary *summary)
{
	const struct plan *plan = summary->results->plan;
	size_t count =
		plan->point_count * plan->metric_count * plan->subject_count;
	double least = INFINITY;

	for (size_t i = 0; i < count; i++) {
		if (summary->figures[i].count > 1) {
			least = fmin(
				least, summary->figures[i].interval.coverage);
		}
	}
	return least;
}

char *view_method(const struct view *view)
{
	const struct plan *plan = view->summary->results->plan;
	const char *baseline = plan->subjects[plan->baseline].label;
	unsigned least = summary_least_runs(plan);
	unsigned runs = runs_made(view->summary->results);
	double coverage = least_coverage(view->summary);
	char *interval =
		coverage <= 1
			? tool_format(
				  ", with its interval from order statistics, "
				  "which covers %.0f %% at least",
				  floor(100 * coverage))
			: tool_strdup("");
	char *hint =
		runs < least
			? tool_format(
				  " With %u runs no difference among %zu backends "
				  "can be significant: it takes %u.",
				  runs, plan->subject_count, least)
			: tool_strdup("");
	char *text = tool_format(
		"Median of %u runs each, interleaved, after %u to warm up%s. "
		"x: ratio of the median to that of %s. + better, - worse than "
		"%s; * winner, better than each of the others; = no winner, "
		"among the best: rank-sum test (Mann-Whitney, exact), p at "
		"most %.2g after Holm's correction over the backends of a "
		"column.%s",
		runs, plan->warmup, interval, baseline, baseline,
		STATISTIC_ALPHA, hint);

	free(interval);
	free(hint);
	return text;
}

char *view_failures(const struct results *results, size_t point, size_t subject)
{
	const struct cell *cell = results_cell(results, point, subject);
	size_t failed = cell->count - cell_good(cell);
	char *text;

	if (failed == 0) {
		return NULL;
	}
	text = tool_format("%zu of %zu runs failed", failed, cell->count);
	for (size_t i = 0; i < cell->count; i++) {
		size_t same = 0;
		char *longer;

		if (cell->runs[i].failure == NULL) {
			continue;
		}
		for (size_t k = 0; k < i; k++) {
			same += cell->runs[k].failure != NULL &&
				strcmp(cell->runs[k].failure,
					cell->runs[i].failure) == 0;
		}
		if (same > 0) {
			continue;
		}
		longer = tool_format("%s%s%s", text,
			strchr(text, ':') ? "; " : ": ", cell->runs[i].failure);
		free(text);
		text = longer;
	}
	return text;
}

bool view_has_failures(const struct results *results, size_t subject)
{
	for (size_t p = 0; p < results->plan->point_count; p++) {
		const struct cell *cell = results_cell(results, p, subject);

		if (cell_good(cell) < cell->count) {
			return true;
		}
	}
	return false;
}

char *view_command(const struct plan *plan)
{
	char *text;

	if (plan->server != NULL) {
		return tool_format("server: %s; load: %s", plan->server,
			plan->load != NULL ? plan->load : "");
	}
	text = tool_strdup("");
	for (size_t i = 0; plan->command != NULL && plan->command[i] != NULL;
		i++) {
		char *longer = tool_format(
			"%s%s%s", text, i > 0 ? " " : "", plan->command[i]);

		free(text);
		text = longer;
	}
	return text;
}
