/* SPDX-License-Identifier: MIT */
/*
 * forms.h - the forms in which results are written, as options that several
 * subcommands have.
 */
#ifndef AMUX_TOOLS_FORMS_H
#define AMUX_TOOLS_FORMS_H

#include "plan.h"

/* Keys of the options below; a subcommand's own begin at KEY_FORMS_END. */
enum {
	KEY_TEXT = 256,
	KEY_MARKDOWN,
	KEY_CSV,
	KEY_JSON,
	KEY_HTML,
	KEY_PLOT,
	KEY_FORMS_END,
};

/* For a table of struct tool_option. */
#define FORM_OPTIONS                                                           \
	{"text", KEY_TEXT, "[FILE]", "Write the table (default, to stdout)",   \
		VALUE_FILE},                                                   \
		{"markdown", KEY_MARKDOWN, "[FILE]", "Write Markdown",         \
			VALUE_FILE},                                           \
		{"csv", KEY_CSV, "[FILE]", "Write comma-separated values",     \
			VALUE_FILE},                                           \
		{"json", KEY_JSON, "[FILE]",                                   \
			"Write everything, each run included", VALUE_FILE},    \
		{"html", KEY_HTML, "[FILE]", "Write one page, with plots",     \
			VALUE_FILE},                                           \
	{                                                                      \
		"plot", KEY_PLOT, "FILE",                                      \
			"Draw plots with gnuplot: FILE ends in .svg or .png",  \
			VALUE_FILE                                             \
	}

struct form {
	int key;
	const char *path; /* NULL: stdout */
};

struct forms {
	struct form *list;
	size_t count;
	const char *plot; /* or NULL */
};

/* One of the options; 0, or -1 when it has been said what is wrong. */
int forms_take(struct forms *forms, int key, const char *value);

/*
 * Everything that can be known to fail is known before the first run: 0, or -1
 * when it has been reported. Adds the text on stdout if there is nothing else.
 */
int forms_check(struct forms *forms);

/* Write them all. Returns the exit status of the subcommand. */
int forms_write(const struct forms *forms, const struct results *results);

#endif
