/* SPDX-License-Identifier: MIT */
/*
 * textform.c - see textform.h.
 */
#include "textform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *text_bytes(char text[TEXT_NUMBER], uint64_t bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	int unit = 0;

	while (value >= 1023.95 && unit < 6) {
		value /= 1024;
		unit++;
	}
	snprintf(text, TEXT_NUMBER, unit == 0 ? "%.0f %s" : "%.1f %s", value,
		units[unit]);
	return text;
}

const char *text_count(char text[TEXT_NUMBER], uint64_t count)
{
	char plain[TEXT_NUMBER];
	int length = snprintf(plain, sizeof(plain), "%" PRIu64, count);
	int at = 0;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0) {
			text[at++] = ',';
		}
		text[at++] = plain[i];
	}
	text[at] = '\0';
	return text;
}

const char *text_metric(
	char text[TEXT_NUMBER], enum metric metric, uint64_t value)
{
	return metric_is_bytes(metric) ? text_bytes(text, value)
				       : text_count(text, value);
}

const char *text_time(char text[TEXT_NUMBER], uint64_t ns)
{
	double s = (double)ns / 1e9;

	if (s >= 120) {
		snprintf(text, TEXT_NUMBER, "%.0f min %02.0f s",
			(double)((uint64_t)s / 60), (double)((uint64_t)s % 60));
	} else if (s >= 1) {
		snprintf(text, TEXT_NUMBER, "%.2f s", s);
	} else {
		snprintf(text, TEXT_NUMBER, "%.1f ms", s * 1000);
	}
	return text;
}

double text_percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Without what stands in brackets `open`...`close`, but for the brackets. */
static void brackets_empty(char *name, char open, char close)
{
	char *out = name;
	int depth = 0;

	for (const char *in = name; *in != '\0'; in++) {
		/* operator<, operator->, operator() are no brackets. */
		bool operator_name =
			in - name >= 8 && strncmp(in - 8, "operator", 8) == 0;
		bool arrow = *in == '>' && in > name && in[-1] == '-';

		if (*in == close && depth > 0 && !arrow) {
			depth--;
		}
		if (depth == 0) {
			*out++ = *in;
		}
		if (*in == open && !operator_name) {
			depth++;
		}
	}
	*out = '\0';
}

void text_name(char *out, size_t size, const char *name, size_t width)
{
	size_t length = strlen(name);
	char *work;

	if (width >= size) {
		width = size - 1;
	}
	if (length <= width) {
		memcpy(out, name, length + 1);
		return;
	}
	work = strdup(name);
	if (work != NULL) {
		brackets_empty(work, '(', ')');
		if (strlen(work) > width) {
			brackets_empty(work, '<', '>');
		}
		length = strlen(work);
	}
	if (work == NULL || length > width) {
		const char *from = work != NULL ? work : name;
		size_t head = width > 3 ? (width - 3) / 2 : 0;
		size_t tail = width > 3 ? width - 3 - head : 0;

		snprintf(out, size, "%.*s...%s", (int)head, from,
			from + length - tail);
	} else {
		memcpy(out, work, length + 1);
	}
	free(work);
}

void text_source(
	char *out, size_t size, const struct view *view, uint32_t place)
{
	const struct place *p = &view->symbols.places[place];
	const char *slash;

	if (p->file == NULL) {
		snprintf(out, size, "%s", view_object_name(view, place));
		return;
	}
	slash = strrchr(p->file, '/');
	snprintf(out, size, p->line > 0 ? "%s:%u" : "%s",
		slash != NULL ? slash + 1 : p->file, p->line);
}

int text_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize window;
	int width = 80;

	if (columns != NULL && atoi(columns) > 0) {
		width = atoi(columns);
	} else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 &&
		   window.ws_col > 0) {
		width = window.ws_col;
	}
	return width < 60 ? 60 : width > 200 ? 200 : width;
}
