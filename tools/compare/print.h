/* SPDX-License-Identifier: MIT */
/*
 * print.h - the forms in which compare gives its results.
 *
 * Each writes the whole form to `out`; the caller checks the stream for errors.
 */
#ifndef AMUX_TOOLS_PRINT_H
#define AMUX_TOOLS_PRINT_H

#include <stdio.h>

#include "view.h"

/* `width` in columns, 0 for as wide as it gets. */
void print_text(FILE *out, const struct view *view, int width);
void print_markdown(FILE *out, const struct view *view);
void print_csv(FILE *out, const struct view *view);
void print_json(FILE *out, const struct view *view);
/* `svg`: a plot to be taken in, or NULL. */
void print_html(FILE *out, const struct view *view, const char *svg);

#endif
