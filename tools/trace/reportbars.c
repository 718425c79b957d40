/* SPDX-License-Identifier: MIT */
/*
 * reportbars.c - see reportbars.h.
 */
#include "reportbars.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "textform.h"

enum { BAR_WIDTH = 20, CHART_ROWS = 6 };

static void print_bar(int indent, uint64_t value, uint64_t whole)
{
	int length = (int)(text_percent(value, whole) * BAR_WIDTH / 100 + 0.5);

	static const char full[] = "####################";

	static_assert(sizeof(full) == BAR_WIDTH + 1, "a bar's length");
	printf(length > 0 ? "%*s%.*s\n" : "\n", indent, "", length, full);
}

void bars_size_label(char *text, size_t size, unsigned index)
{
	char low[TEXT_NUMBER];
	char high[TEXT_NUMBER];

	if (index == 0) {
		snprintf(text, size, "0 B");
	} else if (index < 5) {
		snprintf(text, size, "%u to %u B", 1u << (index - 1),
			(1u << index) - 1);
	} else if (index == SIZE_CLASSES - 1) {
		snprintf(text, size, "%s and more",
			text_bytes(low, (uint64_t)1 << (index - 1)));
	} else {
		snprintf(text, size, "%s to < %s",
			text_bytes(low, (uint64_t)1 << (index - 1)),
			text_bytes(high, (uint64_t)1 << index));
	}
}

void bars_sizes(const struct account *account)
{
	char label[64];
	char a[TEXT_NUMBER];
	char b[TEXT_NUMBER];

	if (account->total.allocs == 0) {
		return;
	}
	printf("\nBy requested size            %14s %12s\n", "calls",
		"allocated");
	for (unsigned i = 0; i < SIZE_CLASSES; i++) {
		const struct size_class *c = &account->sizes[i];

		if (c->allocs == 0) {
			continue;
		}
		bars_size_label(label, sizeof(label), i);
		printf("  %-26s %14s %12s", label, text_count(a, c->allocs),
			text_bytes(b, c->bytes));
		print_bar(2, c->allocs, account->total.allocs);
	}
}

void bars_lifetime_label(char *text, size_t size, unsigned index)
{
	char low[TEXT_NUMBER];
	char high[TEXT_NUMBER];
	uint64_t upper = (uint64_t)1000000 << (2 * index);

	if (index == 0) {
		snprintf(text, size, "within a tick");
	} else if (index == 1) {
		snprintf(text, size, "up to %s", text_time(high, upper));
	} else if (index == AMUX_TRACE_LIFETIMES - 1) {
		snprintf(text, size, "%s and more", text_time(low, upper / 4));
	} else {
		snprintf(text, size, "%s to < %s", text_time(low, upper / 4),
			text_time(high, upper));
	}
}

void bars_lifetimes(const struct account *account)
{
	const struct totals *t = &account->total;
	uint64_t live = t->allocs > t->frees ? t->allocs - t->frees : 0;
	char label[64];
	char a[TEXT_NUMBER];

	if (t->allocs == 0) {
		return;
	}
	printf("\nBy lifetime                  %14s\n", "calls");
	for (unsigned i = 0; i < AMUX_TRACE_LIFETIMES; i++) {
		if (account->lifetimes[i] == 0) {
			continue;
		}
		bars_lifetime_label(label, sizeof(label), i);
		printf("  %-26s %14s", label,
			text_count(a, account->lifetimes[i]));
		print_bar(15, account->lifetimes[i], t->allocs);
	}
	if (live > 0) {
		printf("  %-26s %14s", "not freed", text_count(a, live));
		print_bar(15, live, t->allocs);
	}
}

/* The greatest live bytes in column `i` of `columns`. */
static uint64_t column_peak(const struct timeline *t, int i, int columns)
{
	uint32_t from = (uint32_t)((uint64_t)t->count * (unsigned)i /
				   (unsigned)columns);
	uint32_t to = (uint32_t)((uint64_t)t->count * ((unsigned)i + 1) /
				 (unsigned)columns);
	uint64_t peak = 0;

	if (to <= from) {
		to = from + 1;
	}
	for (uint32_t j = from; j < to && j < t->count; j++) {
		if (t->steps[j].peak > peak) {
			peak = t->steps[j].peak;
		}
	}
	return peak;
}

void bars_timeline(const struct account *account)
{
	const struct timeline *t = &account->timeline;
	uint64_t peak = account->total.peak_bytes;
	int columns = text_width() - 16;
	char label[TEXT_NUMBER];
	char end[TEXT_NUMBER];

	if (peak == 0 || t->count < 2) {
		return;
	}
	if ((uint32_t)columns > t->count) {
		columns = (int)t->count;
	}
	printf("\nLive bytes over time\n");
	for (int row = CHART_ROWS; row > 0; row--) {
		printf("  %10s |",
			row == CHART_ROWS ? text_bytes(label, peak) : "");
		for (int i = 0; i < columns; i++) {
			double v = (double)column_peak(t, i, columns) *
				   CHART_ROWS / (double)peak;

			putchar(v >= row - 0.25   ? '#'
				: v >= row - 0.75 ? ':'
				: v > row - 1     ? '.'
						  : ' ');
		}
		putchar('\n');
	}
	printf("  %10s +", "0");
	for (int i = 0; i < columns; i++) {
		putchar('-');
	}
	printf("\n%*s0%*s\n", 13, "", columns - 1,
		text_time(end, t->width * t->count));
}
