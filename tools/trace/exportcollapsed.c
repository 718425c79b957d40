/* SPDX-License-Identifier: MIT */
/*
 * exportcollapsed.c - one line a stack: "main;f;g 123", root first.
 *
 * A semicolon separates frames and the last space the number, so that a
 * semicolon in a name becomes a colon.
 */
#include <inttypes.h>

#include "exportform.h"

static void print_frame(FILE *out, const char *name)
{
	for (; *name != '\0'; name++) {
		fputc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, out);
	}
}

bool export_collapsed(const struct export_request *request)
{
	const struct view *view = request->view;

	for (uint32_t i = 0; i < view->stack_count; i++) {
		const struct view_stack *stack = &view->stacks[i];
		uint64_t value = stack->cost.metric[request->metric];

		if (value == 0) {
			continue;
		}
		if (stack->count == 0) {
			fputs("[unknown]", request->out);
		}
		for (uint32_t j = stack->count; j-- > 0;) {
			uint32_t place = view->paths[stack->first + j];

			print_frame(request->out,
				view->symbols.places[place].function);
			if (j > 0) {
				fputc(';', request->out);
			}
		}
		fprintf(request->out, " %" PRIu64 "\n", value);
	}
	return true;
}
