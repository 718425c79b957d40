/* SPDX-License-Identifier: MIT */
/* forms.c - see forms.h. */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "plot.h"
#include "print.h"
#include "spawn.h"
#include "tool.h"

static int form_append(struct forms *forms, int key, const char *path)
{
	for (size_t i = 0; i < forms->count; i++) {
		if (path == NULL && forms->list[i].path == NULL) {
			tool_usage("two forms cannot share stdout: write "
				   "--json=FILE or the like");
			return -1;
		}
	}
	forms->list = tool_realloc(
		forms->list, (forms->count + 1) * sizeof(*forms->list));
	forms->list[forms->count++] = (struct form){key, path};
	return 0;
}

int forms_take(struct forms *forms, int key, const char *value)
{
	if (key == KEY_PLOT) {
		forms->plot = value;
		return 0;
	}
	return form_append(forms, key, value);
}

static int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (isatty(STDOUT_FILENO) &&
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
		size.ws_col > 0) {
		return size.ws_col;
	}
	return columns != NULL && atoi(columns) > 0 ? atoi(columns) : 100;
}

static void html_write(FILE *out, const struct view *view)
{
	char path[] = "/tmp/allocmux-plot-XXXXXX.svg";
	int fd = mkstemps(path, 4);
	char *svg = NULL;

	if (fd >= 0) {
		if (plot_write(view, path) == 0) {
			svg = capture_read(fd, NULL);
		}
		unlink(path);
		close(fd);
	} else {
		tool_perror("%s", path);
	}
	print_html(out, view, svg);
	free(svg);
}

static int form_write(const struct form *form, const struct view *view)
{
	FILE *out = form->path != NULL ? fopen(form->path, "we") : stdout;
	int status = 0;

	if (out == NULL) {
		tool_perror("%s", form->path);
		return -1;
	}
	switch (form->key) {
	case KEY_TEXT:
		print_text(out, view, terminal_width());
		break;
	case KEY_MARKDOWN:
		print_markdown(out, view);
		break;
	case KEY_CSV:
		print_csv(out, view);
		break;
	case KEY_JSON:
		print_json(out, view);
		break;
	case KEY_HTML:
		html_write(out, view);
		break;
	}
	if (form->path != NULL) {
		status = ferror(out) | fclose(out);
		if (status != 0) {
			tool_perror("%s", form->path);
		}
	}
	return status != 0 ? -1 : 0;
}

int forms_write(const struct forms *forms, const struct results *results)
{
	struct summary summary;
	struct view view;
	int status = 0;

	summary_make(&summary, results);
	view_make(&view, &summary);
	for (size_t i = 0; i < forms->count; i++) {
		status |= form_write(&forms->list[i], &view);
	}
	if (forms->plot != NULL) {
		status |= plot_write(&view, forms->plot);
	}
	view_free(&view);
	summary_free(&summary);
	if (status != 0) {
		return TOOL_BROKEN;
	}
	for (size_t s = 0; s < results->plan->subject_count; s++) {
		if (view_has_failures(results, s)) {
			return TOOL_FAILED;
		}
	}
	return TOOL_OK;
}

int forms_check(struct forms *forms)
{
	bool draws = forms->plot != NULL;
	bool speaks = false;

	for (size_t i = 0; i < forms->count; i++) {
		const char *path = forms->list[i].path;
		FILE *out;

		speaks |= path == NULL;
		draws |= forms->list[i].key == KEY_HTML;
		out = path != NULL ? fopen(path, "ae") : stdout;
		if (out == NULL) {
			tool_perror("%s", path);
			return -1;
		}
		if (path != NULL) {
			fclose(out);
		}
	}
	if (!speaks && form_append(forms, KEY_TEXT, NULL) != 0) {
		return -1;
	}
	return draws ? plot_check(
			       forms->plot != NULL ? forms->plot : ".svg.svg")
		     : 0;
}
