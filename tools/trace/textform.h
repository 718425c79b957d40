/* SPDX-License-Identifier: MIT */
/*
 * textform.h - numbers and names as people read them.
 */
#ifndef AMUX_TOOLS_TEXTFORM_H
#define AMUX_TOOLS_TEXTFORM_H

#include <stddef.h>
#include <stdint.h>

#include "heapview.h"

#define TEXT_NUMBER 32 /* room for any number */

/* "12.3 MiB". */
const char *text_bytes(char text[TEXT_NUMBER], uint64_t bytes);

/* "1,234,567". */
const char *text_count(char text[TEXT_NUMBER], uint64_t count);

/* One of the two, as the metric says. */
const char *text_metric(
	char text[TEXT_NUMBER], enum metric metric, uint64_t value);

/* "3.20 s", "15.0 ms". */
const char *text_time(char text[TEXT_NUMBER], uint64_t ns);

/* part of whole in percent; 0 if there is no whole. */
double text_percent(uint64_t part, uint64_t whole);

/*
 * A function name in at most `width` bytes: parameters go first, then template
 * arguments, then what is in the middle.
 */
void text_name(char *out, size_t size, const char *name, size_t width);

/* "file.c:12", the object's name, or "". */
void text_source(
	char *out, size_t size, const struct view *view, uint32_t place);

/* Columns of the terminal on stdout; 80 if it is none and COLUMNS not set. */
int text_width(void);

#endif
