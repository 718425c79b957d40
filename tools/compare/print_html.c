/* SPDX-License-Identifier: MIT */
/* print_html.c - compare's results as one page that needs no other file. */
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "version.h"

static const char style[] =
	"body{font:15px/1.5 system-ui,sans-serif;max-width:80rem;"
	"margin:2rem auto;padding:0 1rem;color:#222}"
	"table{border-collapse:collapse;margin:1rem 0}"
	"th,td{padding:.3rem .7rem;border-bottom:1px solid #ddd;"
	"text-align:right;white-space:nowrap}"
	"th:first-child,td:first-child{text-align:left}"
	"small{color:#666;display:block}"
	".winner{background:#c8ecd0;font-weight:600}"
	".better{background:#e8f6ea}.worse{background:#fbe6e2}"
	".failed{color:#a40000}code{white-space:pre-wrap}"
	"svg{max-width:100%;height:auto}.wide{overflow-x:auto}";

static void html_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			putc(*text, out);
		}
	}
}

static void html_cell(FILE *out, const struct view *view,
	const struct view_column *column, size_t row)
{
	const char *mark = view_mark(view, column, row);
	char median[VIEW_TEXT];
	char interval[VIEW_TEXT];
	char ratio[VIEW_TEXT];

	fprintf(out, "<td%s>",
		*mark == '*'   ? " class=winner"
		: *mark == '+' ? " class=better"
		: *mark == '-' ? " class=worse"
			       : "");
	html_text(out, view_median(view, column, row, median));
	view_ratio(view, column, row, ratio);
	if (*ratio != '\0') {
		fprintf(out, " &ensp;");
		html_text(out, ratio);
	}
	if (*mark != '\0') {
		fprintf(out, " ");
		html_text(out, mark);
	}
	fprintf(out, "<small>");
	html_text(out, view_interval(view, column, row, interval, " to "));
	fprintf(out, "</small></td>");
}

static void html_table(
	FILE *out, const struct view *view, const struct view_table *table)
{
	const struct plan *plan = view->summary->results->plan;

	if (table->title != NULL) {
		fprintf(out, "<h2>");
		html_text(out, table->title);
		fprintf(out, "</h2>\n");
	}
	fprintf(out, "<div class=wide><table>\n<tr><th>backend</th>");
	for (size_t c = 0; c < table->count; c++) {
		fprintf(out, "<th>");
		html_text(out, table->columns[c].head);
		fprintf(out, "</th>");
	}
	fprintf(out, "</tr>\n");
	for (size_t s = 0; s < plan->subject_count; s++) {
		fprintf(out, "<tr><td>");
		html_text(out, plan->subjects[s].label);
		fprintf(out, "</td>");
		for (size_t c = 0; c < table->count; c++) {
			html_cell(out, view, &table->columns[c], s);
		}
		fprintf(out, "</tr>\n");
	}
	fprintf(out, "<tr><td>winner</td>");
	for (size_t c = 0; c < table->count; c++) {
		char *winner = view_winner(view, &table->columns[c]);
		char *tie = strchr(winner, ':');

		if (tie != NULL) {
			*tie = '\0';
		}
		fprintf(out, "<td>");
		html_text(out, winner);
		if (tie != NULL) {
			fprintf(out, "<small>");
			html_text(out, tie + 2);
			fprintf(out, "</small>");
		}
		fprintf(out, "</td>");
		free(winner);
	}
	fprintf(out, "</tr>\n</table></div>\n");
}

static void html_failures(FILE *out, const struct results *results)
{
	const struct plan *plan = results->plan;

	for (size_t p = 0; p < plan->point_count; p++) {
		for (size_t s = 0; s < plan->subject_count; s++) {
			char *text = view_failures(results, p, s);

			if (text != NULL) {
				fprintf(out, "<p class=failed>");
				html_text(out, plan->subjects[s].label);
				if (plan->sweep_name != NULL) {
					fprintf(out, ", ");
					html_text(out, plan->sweep_name);
					putc('=', out);
					html_text(out, plan->points[p]);
				}
				fprintf(out, ": ");
				html_text(out, text);
				fprintf(out, "</p>\n");
			}
			free(text);
		}
	}
}

void print_html(FILE *out, const struct view *view, const char *svg)
{
	const struct results *results = view->summary->results;
	char *method = view_method(view);
	char *command = view_command(results->plan);
	const char *drawing = svg != NULL ? strstr(svg, "<svg") : NULL;

	fprintf(out,
		"<!DOCTYPE html>\n<html lang=en><head>"
		"<meta charset=utf-8>\n<title>allocmux compare</title>\n"
		"<style>%s</style></head>\n<body>\n"
		"<h1>Which allocator?</h1>\n<p><code>",
		style);
	html_text(out, command);
	fprintf(out, "</code></p>\n<p>");
	html_text(out, results->machine);
	fprintf(out, "; ");
	html_text(out, results->date);
	fprintf(out, "; allocmux " AMUX_VERSION_TEXT "</p>\n");
	for (size_t t = 0; t < view->count; t++) {
		html_table(out, view, &view->tables[t]);
	}
	html_failures(out, results);
	if (drawing != NULL) {
		fprintf(out, "<div class=wide>%s</div>\n", drawing);
	}
	fprintf(out, "<p>");
	html_text(out, method);
	fprintf(out, "</p>\n</body></html>\n");
	free(method);
	free(command);
}
