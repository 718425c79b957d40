/* SPDX-License-Identifier: MIT */
/* print_markdown.c - compare's tables in Markdown, as GitHub renders it. */
#include <stdlib.h>

#include "print.h"

/* A cell may hold anything but the bar that ends it. */
static void markdown_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '|' || *text == '*' || *text == '_' ||
			*text == '<' || *text == '`' || *text == '\\') {
			putc('\\', out);
		}
		putc(*text == '\n' ? ' ' : *text, out);
	}
}

static void markdown_cell(FILE *out, const struct view *view,
	const struct view_column *column, size_t row)
{
	const char *mark = view_mark(view, column, row);
	bool wins = *mark == '*';
	char median[VIEW_TEXT];
	char interval[VIEW_TEXT];
	char ratio[VIEW_TEXT];

	view_median(view, column, row, median);
	view_interval(view, column, row, interval, " to ");
	view_ratio(view, column, row, ratio);
	fprintf(out, " %s%s%s%s%s%s%s%s%s%s |", wins ? "**" : "", median,
		wins ? "**" : "", *interval ? " (" : "", interval,
		*interval ? ")" : "", *ratio ? " " : "", ratio,
		*mark ? " " : "", wins ? "best" : mark);
}

static void markdown_table(
	FILE *out, const struct view *view, const struct view_table *table)
{
	const struct plan *plan = view->summary->results->plan;

	if (table->title != NULL) {
		fprintf(out, "### ");
		markdown_text(out, table->title);
		fprintf(out, "\n\n");
	}
	fprintf(out, "| |");
	for (size_t c = 0; c < table->count; c++) {
		fprintf(out, " ");
		markdown_text(out, table->columns[c].head);
		fprintf(out, " |");
	}
	fprintf(out, "\n|---|");
	for (size_t c = 0; c < table->count; c++) {
		fprintf(out, "---:|");
	}
	putc('\n', out);
	for (size_t s = 0; s < plan->subject_count; s++) {
		fprintf(out, "| ");
		markdown_text(out, plan->subjects[s].label);
		fprintf(out, " |");
		for (size_t c = 0; c < table->count; c++) {
			markdown_cell(out, view, &table->columns[c], s);
		}
		putc('\n', out);
	}
	fprintf(out, "| winner |");
	for (size_t c = 0; c < table->count; c++) {
		char *winner = view_winner(view, &table->columns[c]);

		putc(' ', out);
		markdown_text(out, winner);
		fprintf(out, " |");
		free(winner);
	}
	fprintf(out, "\n\n");
}

static void markdown_failures(FILE *out, const struct results *results)
{
	const struct plan *plan = results->plan;

	for (size_t p = 0; p < plan->point_count; p++) {
		for (size_t s = 0; s < plan->subject_count; s++) {
			char *text = view_failures(results, p, s);

			if (text != NULL) {
				fprintf(out, "- ");
				markdown_text(out, plan->subjects[s].label);
				if (plan->sweep_name != NULL) {
					fprintf(out, ", ");
					markdown_text(out, plan->sweep_name);
					putc('=', out);
					markdown_text(out, plan->points[p]);
				}
				fprintf(out, ": ");
				markdown_text(out, text);
				putc('\n', out);
			}
			free(text);
		}
	}
}

void print_markdown(FILE *out, const struct view *view)
{
	const struct results *results = view->summary->results;
	char *method = view_method(view);

	for (size_t t = 0; t < view->count; t++) {
		markdown_table(out, view, &view->tables[t]);
	}
	markdown_failures(out, results);
	fprintf(out, "\n%s, ", results->date);
	markdown_text(out, results->machine);
	fprintf(out, ". ");
	markdown_text(out, method);
	putc('\n', out);
	free(method);
}
