/* SPDX-License-Identifier: MIT */
/*
 * reportlines.c - see reportlines.h.
 */
#include "reportlines.h"

#include <stdio.h>
#include <string.h>

#include "textform.h"

enum { NAME_MAX_TEXT = 4096, COLUMN = 24, FRAMES_SHOWN = 6 };

/* "function  file.c:12" in the columns that are left. */
static void print_place(const struct view *view,
	const struct report_options *options, uint32_t place, int indent)
{
	char name[NAME_MAX_TEXT];
	char source[256];
	int width = text_width() - indent;

	text_source(source, sizeof(source), view, place);
	width -= (int)strlen(source) + 2;
	if (width < 20) {
		width = 20;
	}
	text_name(name, sizeof(name), view->symbols.places[place].function,
		options->full_names ? sizeof(name) - 1 : (size_t)width);
	printf("%s%s%s\n", name, source[0] != '\0' ? "  " : "", source);
}

const struct view_stack *lines_top_stack(
	const struct view *view, uint32_t place, enum metric metric)
{
	const struct view_stack *top = NULL;

	for (uint32_t i = 0; i < view->stack_count; i++) {
		const struct view_stack *stack = &view->stacks[i];

		if ((stack->count > 0 ? view->paths[stack->first] : 0) ==
				place &&
			(top == NULL || stack->cost.metric[metric] >
						top->cost.metric[metric])) {
			top = stack;
		}
	}
	return top;
}

void lines_stack(const struct view *view, const struct report_options *options,
	const struct view_stack *stack, uint32_t skip, int indent)
{
	for (uint32_t i = skip; i < stack->count; i++) {
		printf("%*s", indent, "");
		print_place(
			view, options, view->paths[stack->first + i], indent);
	}
}

/* The next callers, as many as fit in one line. */
static void print_callers(
	const struct view *view, const struct view_stack *stack)
{
	int width = text_width() - COLUMN - 2;
	int used = 0;

	for (uint32_t i = 1; i < stack->count && i <= FRAMES_SHOWN; i++) {
		uint32_t place = view->paths[stack->first + i];
		char name[64];
		int length;

		text_name(name, sizeof(name),
			view->symbols.places[place].function, 40);
		length = (int)strlen(name) + 3;
		if (used + length > width) {
			break;
		}
		if (used == 0) {
			printf("%*s", COLUMN, "");
		}
		printf("%s%s", used > 0 ? " < " : "< ", name);
		used += length;
	}
	if (used > 0) {
		printf("\n");
	}
}

void lines_site(const struct view *view, const struct report_options *options,
	const struct flat_entry *entry, enum metric metric)
{
	const struct view_stack *top =
		lines_top_stack(view, entry->place, metric);
	uint64_t value = entry->self.metric[metric];
	char text[TEXT_NUMBER];

	printf("%13s %6.1f %%  ", text_metric(text, metric, value),
		text_percent(value, view->total.metric[metric]));
	if (entry->place == 0 && (top == NULL || top->count == 0)) {
		printf("(stack unknown)\n");
		return;
	}
	print_place(view, options, entry->place, COLUMN);
	if (top != NULL) {
		print_callers(view, top);
	}
}
