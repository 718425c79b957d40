/* SPDX-License-Identifier: MIT */
/* print_text.c - compare's table for a terminal, at most `width` wide. */
#include <stdlib.h>
#include <string.h>

#include "print.h"

enum { CELL = 20, LABEL_MIN = 10, MEDIAN = 9 };

static int label_width(const struct plan *plan)
{
	size_t width = LABEL_MIN;

	for (size_t s = 0; s < plan->subject_count; s++) {
		size_t length = strlen(plan->subjects[s].label);

		width = length > width ? length : width;
	}
	return (int)width;
}

static void print_wrapped(FILE *out, const char *text, int width)
{
	int at = 0;

	while (*text != '\0') {
		int length = (int)strcspn(text, " ");

		if (at > 0 && width > 0 && at + 1 + length > width) {
			putc('\n', out);
			at = 0;
		}
		at += fprintf(out, "%s%.*s", at > 0 ? " " : "", length, text);
		text += length + (text[length] == ' ');
	}
	putc('\n', out);
}

static void print_row(FILE *out, const struct view *view,
	const struct view_column *columns, size_t count, size_t row, int label)
{
	const struct results *results = view->summary->results;
	char median[VIEW_TEXT];
	char other[VIEW_TEXT];
	char cell[3 * VIEW_TEXT];

	fprintf(out, "%-*s%s", label, results->plan->subjects[row].label,
		view_has_failures(results, row) ? "!" : " ");
	for (size_t c = 0; c < count; c++) {
		snprintf(cell, sizeof(cell), "%*s %6s %-2s", MEDIAN,
			view_median(view, &columns[c], row, median),
			view_ratio(view, &columns[c], row, other),
			view_mark(view, &columns[c], row));
		fprintf(out, " %-*s", CELL - 1, cell);
	}
	fprintf(out, "\n%*s", label + 1, "");
	for (size_t c = 0; c < count; c++) {
		snprintf(cell, sizeof(cell), "%*s", MEDIAN + 7,
			view_interval(view, &columns[c], row, other, " - "));
		fprintf(out, " %-*s", CELL - 1, cell);
	}
	putc('\n', out);
}

static void print_winners(FILE *out, const struct view *view,
	const struct view_column *columns, size_t count, int label)
{
	fprintf(out, "%-*s ", label, "winner");
	for (size_t c = 0; c < count; c++) {
		char *winner = view_winner(view, &columns[c]);

		/* The marks tell who is among the best. */
		winner[strcspn(winner, ":")] = '\0';
		fprintf(out, " %*s%-*s", MEDIAN, winner, CELL - 1 - MEDIAN, "");
		free(winner);
	}
	putc('\n', out);
}

static void print_block(FILE *out, const struct view *view,
	const struct view_column *columns, size_t count, int label)
{
	const struct plan *plan = view->summary->results->plan;

	fprintf(out, "%*s", label + 1, "");
	for (size_t c = 0; c < count; c++) {
		fprintf(out, " %-*.*s", CELL - 1, CELL - 1, columns[c].head);
	}
	putc('\n', out);
	for (size_t s = 0; s < plan->subject_count; s++) {
		print_row(out, view, columns, count, s, label);
	}
	print_winners(out, view, columns, count, label);
	putc('\n', out);
}

static void print_failures(FILE *out, const struct results *results)
{
	const struct plan *plan = results->plan;

	for (size_t p = 0; p < plan->point_count; p++) {
		for (size_t s = 0; s < plan->subject_count; s++) {
			char *text = view_failures(results, p, s);

			if (text != NULL) {
				fprintf(out, "! %s%s%s%s%s: %s\n",
					plan->subjects[s].label,
					plan->sweep_name ? ", " : "",
					plan->sweep_name ? plan->sweep_name
							 : "",
					plan->sweep_name ? "=" : "",
					plan->sweep_name ? plan->points[p] : "",
					text);
			}
			free(text);
		}
	}
}

void print_text(FILE *out, const struct view *view, int width)
{
	const struct results *results = view->summary->results;
	int label = label_width(results->plan);
	size_t fit = width > label + 1 + CELL
			     ? (size_t)(width - label - 1) / CELL
		     : width > 0 ? 1
				 : (size_t)-1;
	char *method = view_method(view);
	char *command = view_command(results->plan);

	fprintf(out, "%s\n%s\n\n", command, results->machine);
	for (size_t t = 0; t < view->count; t++) {
		const struct view_table *table = &view->tables[t];

		if (table->title != NULL) {
			fprintf(out, "%s\n", table->title);
		}
		for (size_t c = 0; c < table->count; c += fit) {
			size_t left = table->count - c;

			print_block(out, view, table->columns + c,
				left < fit ? left : fit, label);
		}
	}
	print_failures(out, results);
	putc('\n', out);
	print_wrapped(out, method, width);
	free(method);
	free(command);
}
