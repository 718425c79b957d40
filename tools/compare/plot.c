/* SPDX-License-Identifier: MIT */
/*
 * plot.c - a gnuplot script with its data inline.
 *
 * One panel for each metric: without a sweep the runs of each backend as dots,
 * median and interval over them, and the baseline's median as a line; with one
 * a curve for each backend. Servers have one more, memory over time. The last
 * panel is the key. A backend has the same colour in all of them.
 */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

enum { PANEL_WIDTH = 400, PANEL_HEIGHT = 280, COLUMNS_MAX = 3 };

/*
 * Okabe and Ito's colours, told apart also by the colour-blind, then two that
 * are still distinct from them; beyond that dashes tell them apart.
 */
static const unsigned colours[] = {0x000000, 0xe69f00, 0x56b4e9, 0x009e73,
	0xd55e00, 0x0072b2, 0xcc79a7, 0x999999, 0x7f3c8d, 0xb8a000};

enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

static unsigned colour(size_t subject)
{
	return colours[subject % COLOURS];
}

/* A string constant of gnuplot's: only the quote itself is special. */
static void plot_text(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text != '\0'; text++) {
		if (*text == '\'') {
			putc('\'', out);
		}
		putc(*text, out);
	}
	putc('\'', out);
}

static void plot_title(FILE *out, const char *title)
{
	fprintf(out, "set title ");
	plot_text(out, title);
	putc('\n', out);
}

/* The runs, and the medians with their intervals, of one metric. */
static void dots_data(
	FILE *out, const struct view *view, const struct view_column *column)
{
	const struct results *results = view->summary->results;
	const struct plan *plan = results->plan;
	const struct metric *metric = &plan->metrics[column->metric];
	double scale = view_scale(metric);

	fprintf(out, "$runs << EOD\n");
	for (size_t s = 0; s < plan->subject_count; s++) {
		const struct cell *cell =
			results_cell(results, column->point, s);

		for (size_t i = 0; i < cell->count; i++) {
			double value = cell->runs[i].values[column->metric];

			if (cell->runs[i].failure == NULL && isfinite(value)) {
				fprintf(out, "%.9g %zu %u\n", value * scale, s,
					colour(s));
			}
		}
	}
	fprintf(out, "EOD\n$medians << EOD\n");
	for (size_t s = 0; s < plan->subject_count; s++) {
		const struct figure *figure = view_figure(view, column, s);

		if (figure->count > 0) {
			fprintf(out, "%.9g %zu %.9g %.9g %u\n",
				figure->median * scale, s,
				figure->interval.low * scale,
				figure->interval.high * scale, colour(s));
		}
	}
	fprintf(out, "EOD\n");
}

/* 1, 2 or 5 times a power of ten: about a quarter of the range. */
static double tic_step(double range)
{
	double power = pow(10, floor(log10(range / 4)));
	double digit = range / 4 / power;

	return power * (digit > 5 ? 10 : digit > 2 ? 5 : digit > 1 ? 2 : 1);
}

/* What the panel has to show, with a margin; never empty. */
static void axis_of_values(
	FILE *out, const struct view *view, const struct view_column *column)
{
	const struct plan *plan = view->summary->results->plan;
	double scale = view_scale(&plan->metrics[column->metric]);
	double least = INFINITY;
	double most = -INFINITY;
	double margin;

	for (size_t s = 0; s < plan->subject_count; s++) {
		const struct cell *cell =
			results_cell(view->summary->results, column->point, s);

		for (size_t i = 0; i < cell->count; i++) {
			double value = cell->runs[i].values[column->metric];

			if (cell->runs[i].failure == NULL && isfinite(value)) {
				least = fmin(least, value * scale);
				most = fmax(most, value * scale);
			}
		}
	}
	margin = (most - least) / 20;
	if (!(margin > 0)) {
		margin = fabs(most) > 0 ? fabs(most) / 10 : 1;
	}
	fprintf(out, "set xrange [%.9g:%.9g]\nset xtics nomirror %.9g\n",
		least - margin, most + margin,
		tic_step(most - least + 2 * margin));
}

static void dots_panel(
	FILE *out, const struct view *view, const struct view_column *column)
{
	const struct plan *plan = view->summary->results->plan;
	const struct figure *base = view_figure(view, column, plan->baseline);
	double scale = view_scale(&plan->metrics[column->metric]);

	dots_data(out, view, column);
	plot_title(out, column->head);
	axis_of_values(out, view, column);
	fprintf(out, "set ytics (");
	for (size_t s = 0; s < plan->subject_count; s++) {
		fprintf(out, "%s", s > 0 ? ", " : "");
		plot_text(out, plan->subjects[s].label);
		fprintf(out, " %zu", s);
	}
	fprintf(out, ")\nset yrange [%zu.5:-0.5]\n", plan->subject_count - 1);
	if (base->count > 0) {
		fprintf(out,
			"set arrow from %.9g, graph 0 to %.9g, graph 1 "
			"nohead dashtype 2 linecolor rgb '#888888'\n",
			base->median * scale, base->median * scale);
	}
	for (size_t s = 0; s < plan->subject_count; s++) {
		if (view_figure(view, column, s)->count == 0) {
			fprintf(out,
				"set label 'failed' at graph 0.02, "
				"first %zu textcolor rgb '#a40000'\n",
				s);
		}
	}
	fprintf(out, "plot $runs using 1:($2+0.25):3 with points pointtype 7 "
		     "pointsize 0.3 linecolor rgb variable notitle, "
		     "$medians using 1:2:3:4:5 with xerrorbars pointtype 13 "
		     "pointsize 1.1 linewidth 2 linecolor rgb variable "
		     "notitle\nunset arrow\nunset label\n");
}

/* The value of a point as a place on the axis: a number, or its index. */
static bool points_are_numbers(const struct plan *plan)
{
	for (size_t p = 0; p < plan->point_count; p++) {
		char *end;

		strtod(plan->points[p], &end);
		if (*end != '\0') {
			return false;
		}
	}
	return true;
}

static double point_place(const struct plan *plan, size_t p, bool numbers)
{
	return numbers ? strtod(plan->points[p], NULL) : (double)p;
}

static void axis_of_points(FILE *out, const struct plan *plan, bool numbers)
{
	double least = INFINITY;
	double most = -INFINITY;
	bool logarithmic;

	fprintf(out, "set xtics nomirror (");
	for (size_t p = 0; p < plan->point_count; p++) {
		double at = point_place(plan, p, numbers);

		least = fmin(least, at);
		most = fmax(most, at);
		fprintf(out, "%s", p > 0 ? ", " : "");
		plot_text(out, plan->points[p]);
		fprintf(out, " %.9g", at);
	}
	fprintf(out, ")\n");
	logarithmic = numbers && least > 0 && most >= 8 * least;
	if (logarithmic) {
		fprintf(out, "set logscale x 2\nset xrange [%.9g:%.9g]\n",
			least / 1.2, most * 1.2);
	} else {
		fprintf(out, "set xrange [%.9g:%.9g]\n",
			least - 0.05 * (most - least) - 1e-9,
			most + 0.05 * (most - least) + 1e-9);
	}
}

static const char *dash(size_t subject)
{
	return subject < COLOURS ? "1" : "2";
}

/* Are all medians so near to each other that from 0 on they are one line? */
static bool is_narrow(const struct view *view, const struct view_table *table)
{
	double least = INFINITY;
	double most = 0;

	for (size_t c = 0; c < table->count; c++) {
		for (size_t s = 0;
			s < view->summary->results->plan->subject_count; s++) {
			const struct figure *figure =
				view_figure(view, &table->columns[c], s);

			if (figure->count > 0) {
				least = fmin(least, figure->median);
				most = fmax(most, figure->median);
			}
		}
	}
	return least > 0.6 * most;
}

static void curves_panel(
	FILE *out, const struct view *view, const struct view_table *table)
{
	const struct plan *plan = view->summary->results->plan;
	bool numbers = points_are_numbers(plan);

	for (size_t s = 0; s < plan->subject_count; s++) {
		fprintf(out, "$curve%zu << EOD\n", s);
		for (size_t c = 0; c < table->count; c++) {
			const struct view_column *column = &table->columns[c];
			const struct figure *figure =
				view_figure(view, column, s);
			double scale =
				view_scale(&plan->metrics[column->metric]);

			if (figure->count == 0) {
				fprintf(out, "\n"); /* a gap in the curve */
				continue;
			}
			fprintf(out, "%.9g %.9g %.9g %.9g\n",
				point_place(plan, column->point, numbers),
				figure->median * scale,
				figure->interval.low * scale,
				figure->interval.high * scale);
		}
		fprintf(out, "EOD\n");
	}
	plot_title(out, table->title);
	axis_of_points(out, plan, numbers);
	fprintf(out, "set xlabel ");
	plot_text(out, plan->sweep_name);
	fprintf(out, "\nset ytics nomirror autofreq\nset yrange [%s:*]\nplot ",
		is_narrow(view, table) ? "*" : "0");
	for (size_t s = 0; s < plan->subject_count; s++) {
		fprintf(out,
			"%s$curve%zu using 1:2:3:4 with yerrorlines pointtype "
			"7 pointsize 0.5 linewidth 1.5 dashtype %s linecolor "
			"rgb '#%06x' notitle",
			s > 0 ? ", " : "", s, dash(s), colour(s));
	}
	fprintf(out, "\nunset logscale x\nunset xlabel\n");
}

/* The first good run that was sampled, or NULL. */
static const struct run *sampled_run(
	const struct results *results, size_t point, size_t subject)
{
	const struct cell *cell = results_cell(results, point, subject);

	for (size_t i = 0; i < cell->count; i++) {
		if (cell->runs[i].failure == NULL &&
			cell->runs[i].sample_count > 0) {
			return &cell->runs[i];
		}
	}
	return NULL;
}

static bool has_samples(const struct results *results)
{
	for (size_t s = 0; s < results->plan->subject_count; s++) {
		if (sampled_run(results, results->plan->point_count - 1, s)) {
			return true;
		}
	}
	return false;
}

static void memory_panel(FILE *out, const struct results *results)
{
	const struct plan *plan = results->plan;
	size_t point = plan->point_count - 1;
	const char *comma = "";
	const struct run *first = NULL;
	char *title = tool_format("%s%s%s%s%s",
		plan->sample_title ? plan->sample_title
				   : "RSS during the load, MiB, over s",
		plan->sweep_name ? ", " : "",
		plan->sweep_name ? plan->sweep_name : "",
		plan->sweep_name ? "=" : "",
		plan->sweep_name ? plan->points[point] : "");

	for (size_t s = 0; s < plan->subject_count; s++) {
		const struct run *run = sampled_run(results, point, s);

		first = first != NULL ? first : run;
		fprintf(out, "$memory%zu << EOD\n", s);
		for (size_t i = 0; run != NULL && i < run->sample_count; i++) {
			fprintf(out, "%.4f %.3f\n", run->samples[i].time,
				run->samples[i].rss / 1024);
		}
		fprintf(out, "EOD\n");
	}
	fprintf(out, "$live << EOD\n");
	for (size_t i = 0; first != NULL && i < first->sample_count; i++) {
		fprintf(out, "%.4f %.3f\n", first->samples[i].time,
			first->samples[i].live / 1024);
	}
	fprintf(out, "EOD\n");
	plot_title(out, title);
	free(title);
	fprintf(out, "set xtics nomirror autofreq\nset xrange [0:*]\n"
		     "set ytics nomirror autofreq\nset yrange [0:*]\nplot ");
	for (size_t s = 0; s < plan->subject_count; s++) {
		if (sampled_run(results, point, s) != NULL) {
			fprintf(out,
				"%s$memory%zu using 1:2 with lines linewidth "
				"1.5 dashtype %s linecolor rgb '#%06x' notitle",
				comma, s, dash(s), colour(s));
			comma = ", ";
		}
	}
	if (first != NULL && first->samples[first->sample_count / 2].live > 0) {
		/* What the program held: nobody can be below it. */
		fprintf(out,
			"%s$live using 1:2 with lines linewidth 1 "
			"dashtype 3 linecolor rgb '#888888' notitle",
			comma);
	}
	putc('\n', out);
}

static void key_panel(FILE *out, const struct plan *plan)
{
	fprintf(out, "unset title\nunset border\nunset xtics\nunset ytics\n"
		     "unset grid\nset key center center vertical\n"
		     "set xrange [0:1]\nset yrange [0:1]\nplot ");
	for (size_t s = 0; s < plan->subject_count; s++) {
		fprintf(out,
			"%sNaN with linespoints pointtype 7 linewidth 1.5 "
			"dashtype %s linecolor rgb '#%06x' title ",
			s > 0 ? ", " : "", dash(s), colour(s));
		plot_text(out, plan->subjects[s].label);
	}
	putc('\n', out);
}

static size_t panel_count(const struct view *view)
{
	const struct plan *plan = view->summary->results->plan;
	size_t count = has_samples(view->summary->results) ? 1 : 0;

	if (plan->sweep_name != NULL) {
		return count + view->count + 1;
	}
	for (size_t t = 0; t < view->count; t++) {
		count += view->tables[t].count;
	}
	/* Rows of dots are labelled; only memory curves need a key. */
	return count + (has_samples(view->summary->results) ? 1 : 0);
}

static void script_write(FILE *out, const struct view *view, const char *path)
{
	const struct results *results = view->summary->results;
	bool sweeps = results->plan->sweep_name != NULL;
	size_t panels = panel_count(view);
	size_t columns = panels <= 4 ? (panels + 1) / 2 : COLUMNS_MAX;
	size_t rows;
	bool png = strcmp(path + strlen(path) - 4, ".png") == 0;

	columns = columns > 0 ? columns : 1;
	rows = (panels + columns - 1) / columns;
	fprintf(out,
		"set terminal %s size %zu,%zu noenhanced font "
		"'sans,%d' background '#ffffff'\nset output ",
		png ? "pngcairo" : "svg", columns * PANEL_WIDTH,
		rows * PANEL_HEIGHT, 10);
	plot_text(out, path);
	fprintf(out,
		"\nset grid linecolor rgb '#dddddd'\nunset key\n"
		"set border 3\nset tics nomirror\n"
		"set multiplot layout %zu,%zu\n",
		rows, columns);
	for (size_t t = 0; t < view->count; t++) {
		if (sweeps) {
			curves_panel(out, view, &view->tables[t]);
			continue;
		}
		for (size_t c = 0; c < view->tables[t].count; c++) {
			dots_panel(out, view, &view->tables[t].columns[c]);
		}
	}
	if (has_samples(results)) {
		memory_panel(out, results);
	}
	if (sweeps || has_samples(results)) {
		key_panel(out, results->plan);
	}
	fprintf(out, "unset multiplot\nunset output\n");
}

int plot_check(const char *path)
{
	size_t length = strlen(path);

	if (length < 5 || (strcmp(path + length - 4, ".svg") != 0 &&
				  strcmp(path + length - 4, ".png") != 0)) {
		tool_usage("%s: plots are .svg or .png", path);
		return -1;
	}
	if (system("gnuplot --version >/dev/null 2>&1") != 0) {
		tool_error("plots need gnuplot (Debian: apt-get install "
			   "gnuplot-nox)");
		return -1;
	}
	return 0;
}

int plot_write(const struct view *view, const char *path)
{
	FILE *out;
	int status;

	if (view->count == 0) {
		tool_error("%s: nothing to draw, since every run failed", path);
		return 0;
	}
	out = popen("gnuplot", "we");
	if (out == NULL) {
		tool_perror("cannot start gnuplot");
		return -1;
	}
	script_write(out, view, path);
	status = pclose(out);
	if (status != 0) {
		tool_error("gnuplot could not draw %s", path);
		return -1;
	}
	return 0;
}
