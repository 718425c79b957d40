/* SPDX-License-Identifier: MIT */
/*
 * print_csv.c - compare's figures as comma-separated values (RFC 4180, with
 * plain newlines): one line for each point, backend and metric.
 */
#include <math.h>
#include <string.h>

#include "print.h"

static void csv_text(FILE *out, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"') {
			putc('"', out);
		}
		putc(*text, out);
	}
	putc('"', out);
}

/* Unknown values are empty. */
static void csv_number(FILE *out, double value)
{
	putc(',', out);
	if (isfinite(value)) {
		fprintf(out, "%.9g", value);
	}
}

static const char *csv_verdict(
	const struct summary *summary, size_t p, size_t m, size_t s)
{
	const struct figure *figure = summary_figure(summary, p, m, s);

	if (summary_verdict(summary, p, m)->winner == (int)s) {
		return "winner";
	}
	return figure->is_better ? "better" : figure->is_worse ? "worse" : "";
}

static void csv_line(
	FILE *out, const struct summary *summary, size_t p, size_t m, size_t s)
{
	const struct results *results = summary->results;
	const struct plan *plan = results->plan;
	const struct figure *figure = summary_figure(summary, p, m, s);
	const struct cell *cell = results_cell(results, p, s);

	csv_text(out, plan->sweep_name != NULL ? plan->points[p] : "");
	putc(',', out);
	csv_text(out, plan->subjects[s].label);
	putc(',', out);
	csv_text(out, plan->metrics[m].name);
	putc(',', out);
	csv_text(out, plan->metrics[m].unit);
	fprintf(out, ",%zu,%zu", figure->count, cell->count - cell_good(cell));
	csv_number(out, figure->median);
	csv_number(out, figure->count > 0 ? figure->interval.low : NAN);
	csv_number(out, figure->count > 0 ? figure->interval.high : NAN);
	csv_number(out, figure->mean);
	csv_number(out, figure->deviation);
	csv_number(out, figure->ratio);
	csv_number(out, figure->p);
	fprintf(out, ",%s\n", csv_verdict(summary, p, m, s));
}

void print_csv(FILE *out, const struct view *view)
{
	const struct plan *plan = view->summary->results->plan;

	csv_text(out, plan->sweep_name != NULL ? plan->sweep_name : "point");
	fprintf(out,
		",backend,metric,unit,runs,failed,median,low,high,mean,deviation,ratio,p,"
		"verdict\n");
	for (size_t p = 0; p < plan->point_count; p++) {
		for (size_t s = 0; s < plan->subject_count; s++) {
			for (size_t m = 0; m < plan->metric_count; m++) {
				csv_line(out, view->summary, p, m, s);
			}
		}
	}
}
